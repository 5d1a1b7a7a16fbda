// SQLite as `verify` uses it: a database in a temporary file, statements, values, and functions in C++.
// One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tidemark::verify {

struct Blob {
  std::string bytes;
};
// NULL, INTEGER, REAL, TEXT, BLOB.
using Value = std::variant<std::monostate, int64_t, double, std::string, Blob>;
using Values = std::span<const Value>;

inline bool is_null(const Value& value) {
  return std::holds_alternative<std::monostate>(value);
}

// A function of SQLite. Its error fails the statement.
using ScalarFunction = std::function<Result<Value>(Values)>;
enum class Nulls : bool {
  Strict,  // A NULL among the arguments makes the result NULL.
  Seen,    // The function gets them.
};

// An aggregate: one object a group.
class Aggregate {
 public:
  virtual ~Aggregate() = default;
  // Not called with NULL.
  virtual Status add(const Value& value) = 0;
  virtual Result<Value> result() = 0;
};
using MakeAggregate = std::unique_ptr<Aggregate> (*)();

class Statement {
 public:
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Places count from 0.
  void bind(int place, const Value& value);
  // True: there is a row. After the last, or with nothing to say: false.
  Result<bool> step();
  // Ready to run again; bindings go.
  void reset();
  int column_count() const;
  Value column(int place) const;
  std::string text(int place) const;

 private:
  sqlite3_stmt* statement_;
};

class Database {
 public:
  // A file of its own in `directory` that no other process opens, removed at the end. Holds `cache_bytes` in
  // memory, the rest and what sorting needs on disk.
  static Result<std::unique_ptr<Database>> create(const std::string& directory, int64_t cache_bytes);
  ~Database();

  Result<Statement> prepare(const std::string& sql);
  Status run(const std::string& sql);

  void add_function(const std::string& name, int arguments, Nulls nulls, ScalarFunction function);
  void add_aggregate(const std::string& name, MakeAggregate make);

 private:
  Database(sqlite3* database, std::string path) : database_(database), path_(std::move(path)) {}

  sqlite3* database_;
  std::string path_;
};

}  // namespace tidemark::verify
