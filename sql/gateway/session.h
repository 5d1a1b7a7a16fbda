// One client's conversation with the database, as the wire protocol sees it. Lives on one loop; one call of
// execute() or copy_data() is outstanding at a time. Callbacks run on the loop, never from inside a call.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sql/types/fault.h"
#include "sql/types/value.h"

namespace tidemark::sql {

struct ResultColumn {
  std::string name;
  SqlType type;
};

// A statement that was parsed and bound. Immutable.
class PreparedStatement {
 public:
  virtual ~PreparedStatement() = default;
  virtual const std::vector<TypeKind>& parameters() const = 0;
  // Empty: it returns no rows.
  virtual const std::vector<ResultColumn>& columns() const = 0;
};

// What a sink says to a row, which it has taken.
enum class Wanted : uint8_t {
  More,
  Later,   // Enough for now: a statement that can wait calls paused() and waits for Session::resume().
  NoMore,  // The statement ends as soon as it can.
};

// Takes what a statement gives. Values are good during the call.
class ResultSink {
 public:
  virtual ~ResultSink() = default;
  virtual Wanted row(std::span<const Value> values) = 0;
  // The statement waits: no row has come since the one that was answered with Later, and none comes before
  // Session::resume(). Not from inside row(). A statement that can not wait gives its other rows and ends.
  virtual void paused() = 0;
  // DEALLOCATE: forgets a prepared statement, or all if there is no name. False: it is not known.
  virtual bool forget(std::string_view name) = 0;
  // SET, RESET: the setting has this value now.
  virtual void setting(std::string_view name, std::string_view value) = 0;
  // The statement wants data of so many columns: copy_data() calls follow, then copy_end().
  virtual void copy_in(size_t columns) = 0;
  virtual void notice(const SqlError& notice) = 0;
};

enum class TransactionStatus : char { Idle = 'I', InTransaction = 'T', Failed = 'E' };

class Session {
 public:
  virtual ~Session() = default;  // Ends what is under way.

  // The statements of a string, in order; views into it.
  virtual Result<std::vector<std::string_view>, SqlError> split(std::string_view text) = 0;

  // Types of parameters may be given as Unknown, to be found.
  virtual Result<std::shared_ptr<const PreparedStatement>, SqlError> prepare(
      std::string_view statement, std::span<const TypeKind> parameters) = 0;

  using Done = std::function<void(Result<std::string, SqlError>)>;  // The command tag: "INSERT 0 1".

  // REQUIRES: the sink lives until `done` is called or the session is destroyed.
  virtual void execute(std::shared_ptr<const PreparedStatement> statement, std::vector<OwnedValue> parameters,
                       ResultSink& sink, Done done) = 0;

  // After ResultSink::paused(): the statement goes on.
  virtual void resume() = 0;

  // After ResultSink::copy_in(). `taken` is called when more may come: memory stays bounded. The `done` of
  // execute() follows copy_end(), or comes earlier with an error; then all further data is dropped.
  virtual void copy_data(std::string_view bytes, std::function<void()> taken) = 0;
  // With a message: the client gave up.
  virtual void copy_end(const std::string* failure) = 0;

  // From another connection: the statement under way, if any, ends with 57014, soon. One that waits too.
  virtual void cancel() = 0;

  virtual TransactionStatus transaction_status() const = 0;
  // The client was told of a mistake: an open transaction has failed, whoever found it.
  virtual void fail_transaction() = 0;
};

// Makes a session for each connection that passed the handshake.
struct StartupSetting {
  std::string name, value;
  // Given as -c of `options`: who can not have it, is refused. Others are wishes of the client's library.
  bool is_option = false;
};
struct SessionRequest {
  std::string user;
  std::string database;
  std::string application;
  std::vector<StartupSetting> settings = {};
};
using SessionFactory = std::function<Result<std::unique_ptr<Session>, SqlError>(const SessionRequest&)>;

}  // namespace tidemark::sql
