#include "verify/sqlite.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>

namespace tidemark::verify {

namespace {

Value value_of(sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER: return int64_t{sqlite3_value_int64(value)};
    case SQLITE_FLOAT: return sqlite3_value_double(value);
    case SQLITE_TEXT: {
      const char* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
      return std::string(text, static_cast<size_t>(sqlite3_value_bytes(value)));
    }
    case SQLITE_BLOB: {
      const char* bytes = static_cast<const char*>(sqlite3_value_blob(value));
      return Blob{std::string(bytes ? bytes : "", static_cast<size_t>(sqlite3_value_bytes(value)))};
    }
    default: return {};
  }
}

void answer(sqlite3_context* context, const Result<Value>& result) {
  if (!result.ok()) {
    sqlite3_result_error(context, result.error().message.c_str(), -1);
    return;
  }
  const Value& value = *result;
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    sqlite3_result_int64(context, *integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    if (std::isnan(*real)) {
      sqlite3_result_text(context, "NaN", 3, SQLITE_STATIC);  // SQLite would make it NULL.
    } else {
      sqlite3_result_double(context, *real);
    }
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    sqlite3_result_text64(context, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  } else if (const auto* blob = std::get_if<Blob>(&value)) {
    sqlite3_result_blob64(context, blob->bytes.data(), blob->bytes.size(), SQLITE_TRANSIENT);
  } else {
    sqlite3_result_null(context);
  }
}

struct Registered {
  ScalarFunction function;
  Nulls nulls;
};

void call_scalar(sqlite3_context* context, int count, sqlite3_value** arguments) {
  const auto& registered = *static_cast<const Registered*>(sqlite3_user_data(context));
  std::vector<Value> values;
  values.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    values.push_back(value_of(arguments[i]));
    if (registered.nulls == Nulls::Strict && is_null(values.back())) return sqlite3_result_null(context);
  }
  answer(context, registered.function(values));
}

struct Running {
  Aggregate* aggregate;
  bool failed;
};

Running* running(sqlite3_context* context) {
  auto* state = static_cast<Running*>(sqlite3_aggregate_context(context, sizeof(Running)));
  if (state != nullptr && state->aggregate == nullptr) {
    state->aggregate = reinterpret_cast<MakeAggregate>(sqlite3_user_data(context))().release();
  }
  return state;
}

void call_step(sqlite3_context* context, int, sqlite3_value** arguments) {
  if (sqlite3_value_type(arguments[0]) == SQLITE_NULL) return;
  Running* state = running(context);
  if (state == nullptr) return sqlite3_result_error_nomem(context);
  if (Status status = state->aggregate->add(value_of(arguments[0])); !status.ok()) {
    state->failed = true;
    sqlite3_result_error(context, status.error().message.c_str(), -1);
  }
}

void call_final(sqlite3_context* context) {
  Running* state = running(context);
  if (state == nullptr) return sqlite3_result_error_nomem(context);
  std::unique_ptr<Aggregate> aggregate(state->aggregate);
  if (!state->failed) answer(context, aggregate->result());
}

}  // namespace

Statement::Statement(Statement&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

void Statement::bind(int place, const Value& value) {
  const int at = place + 1;
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    sqlite3_bind_int64(statement_, at, *integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    sqlite3_bind_double(statement_, at, *real);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    sqlite3_bind_text64(statement_, at, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  } else if (const auto* blob = std::get_if<Blob>(&value)) {
    sqlite3_bind_blob64(statement_, at, blob->bytes.data(), blob->bytes.size(), SQLITE_TRANSIENT);
  } else {
    sqlite3_bind_null(statement_, at);
  }
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return Error{sqlite3_errmsg(sqlite3_db_handle(statement_))};
}

void Statement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

int Statement::column_count() const {
  return sqlite3_column_count(statement_);
}

Value Statement::column(int place) const {
  return value_of(sqlite3_column_value(statement_, place));
}

std::string Statement::text(int place) const {
  const Value value = column(place);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return {};
}

Result<std::unique_ptr<Database>> Database::create(const std::string& directory, int64_t cache_bytes) {
  std::string path = directory + "/tidemark-verify-XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) return Error{"can't make a file in " + directory};
  close(file);
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<Database> database(new Database(handle, path));
  if (code != SQLITE_OK) return Error{"can't open " + path + ": " + sqlite3_errstr(code)};
  const std::string cache = std::to_string(cache_bytes / 1024);
  for (const std::string& setting :
       {std::string("journal_mode = off"), std::string("synchronous = off"), std::string("temp_store = file"),
        "cache_size = -" + cache, std::string("locking_mode = exclusive"), "temp.cache_size = -" + cache,
        std::string("cache_spill = on")}) {
    TM_TRY(database->run("pragma " + setting));
  }
  return database;
}

Database::~Database() {
  sqlite3_close(database_);
  unlink(path_.c_str());
}

Result<Statement> Database::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    return Error{sqlite3_errmsg(database_)};
  }
  return Statement(statement);
}

Status Database::run(const std::string& sql) {
  Result<Statement> statement = prepare(sql);
  if (!statement.ok()) return statement.error();
  for (;;) {
    const Result<bool> row = statement->step();
    if (!row.ok()) return row.error();
    if (!*row) return {};
  }
}

void Database::add_function(const std::string& name, int arguments, Nulls nulls, ScalarFunction function) {
  auto* registered = new Registered{std::move(function), nulls};
  sqlite3_create_function_v2(database_, name.c_str(), arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                             registered, call_scalar, nullptr, nullptr,
                             [](void* data) { delete static_cast<Registered*>(data); });
}

void Database::add_aggregate(const std::string& name, MakeAggregate make) {
  sqlite3_create_function_v2(database_, name.c_str(), 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                             reinterpret_cast<void*>(make), nullptr, call_step, call_final, nullptr);
}

}  // namespace tidemark::verify
