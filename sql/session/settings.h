// The settings of a session: those that Tidemark acts on, and those that clients of PostgreSQL set and ask
// for.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sql/gateway/session.h"
#include "sql/parse/ast.h"
#include "sql/parse/try.h"

namespace tidemark::sql {

enum class OnBackfill : uint8_t { Wait, Fail, Read };

class Settings {
 public:
  Settings();

  // 42704: there is no such setting; 22023: not a value of it; 55P02: it can not be changed.
  SqlStatus set(const ast::Set& statement);
  // The same, as what RESET goes back to.
  SqlStatus set_default(const StartupSetting& given);
  // The name as SHOW ALL has it: the setting that a statement is about. REQUIRES: there is one.
  static std::string_view shown_name(const std::string& name);
  void reset_all();
  Result<std::string, SqlError> show(const std::string& name) const;
  struct Shown {
    std::string name, value, description;
  };
  std::vector<Shown> show_all() const;
  void set_default(const std::string& name, const std::string& value);

  OnBackfill on_backfill() const;
  bool waits_for_own_writes() const;
  bool ignores_errors() const;
  int64_t statement_timeout_millis() const;  // 0: none.

 private:
  std::map<std::string, std::string> values_;  // By name in lower case; those that were changed.
  std::map<std::string, std::string> defaults_;
};

}  // namespace tidemark::sql
