// One client connection as a core: bytes in, bytes out, a Session behind it. No socket, no thread.
//
//   Startup -> Ready <-> Busy (a statement runs; input waits)
//                    <-> CopyIn (data goes to the session)
//   any -> Closed
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql/gateway/session.h"
#include "sql/gateway/wire.h"

namespace tidemark::sql {

// How a client names a running statement to cancel it.
struct CancelKey {
  int32_t pid = 0;
  int32_t secret = 0;
  auto operator<=>(const CancelKey&) const = default;
};

struct ConnectionOptions {
  size_t result_bytes_max = size_t{256} << 20;  // Of one portal read in pieces, and of unsent output.
  std::string server_version = "15.0";          // As PostgreSQL's: clients decide by it what to send.
};

class Connection : private ResultSink {
 public:
  struct Outside {
    std::function<void()> on_progress;  // There may be output to send, or input is wanted again.
    std::function<void()> on_close;     // Send what is left, then close.
    std::function<void(CancelKey)> cancel;
  };

  Connection(CancelKey key, SessionFactory make_session, Outside outside, ConnectionOptions options = {});
  ~Connection() override;

  void feed(std::string_view bytes);
  // False while a statement runs or too much is buffered: read no more from the client.
  bool wants_input() const;
  // What to send; cleared by taking it.
  std::string take_output();
  bool has_output() const { return !output_.empty(); }
  bool closed() const { return state_ == State::Closed; }
  void cancel();
  const CancelKey& key() const { return key_; }

 private:
  enum class State : uint8_t { Startup, Ready, Busy, CopyIn, Closed };

  struct Portal {
    std::shared_ptr<const PreparedStatement> statement;
    std::string text;  // Of the statement, for positions in errors.
    std::vector<OwnedValue> parameters;
    std::vector<ValueFormat> formats;
    // Rows not yet asked for, as finished messages; filled when the portal is first executed in pieces.
    std::vector<std::string> rows;
    size_t rows_sent = 0;
    bool executed = false;
    std::string tag;
  };
  struct Named {
    std::shared_ptr<const PreparedStatement> statement;
    std::string text;
    std::vector<uint32_t> parameter_oids;  // As the client gave them; 0 or missing: not given.
  };

  void process();
  bool take_startup();
  bool take_message();
  void handle(char type, std::string_view body);
  void start(WireReader& body, int32_t version);

  void on_query(WireReader body);
  void run_next_of_query();
  void on_parse(WireReader body);
  void on_bind(WireReader body);
  void on_describe(WireReader body);
  void on_execute(WireReader body);
  void on_close(WireReader body);
  void on_sync();
  void on_copy_message(char type, std::string_view body);

  // Runs a statement; `then` is called with its tag, or its error.
  void run(const Portal& portal, std::function<void(Result<std::string, SqlError>)> then);
  void send_portal_rows(Portal& portal, int32_t rows_max);
  void fail(const SqlError& error, std::string_view statement = {});
  void fail_protocol(std::string_view what);
  void fatal(const SqlError& error);
  void close();

  // ResultSink.
  bool row(std::span<const Value> values) override;
  void copy_in(size_t columns) override;
  void notice(const SqlError& notice) override;

  CancelKey key_;
  SessionFactory make_session_;
  Outside outside_;
  ConnectionOptions options_;
  State state_ = State::Startup;
  std::string input_;
  size_t consumed_ = 0;
  std::string output_;
  WireWriter writer_{output_};
  std::unique_ptr<Session> session_;

  // A simple query under way: its statements still to be run.
  std::string query_;
  std::vector<std::string_view> query_statements_;
  size_t query_next_ = 0;
  bool in_query_ = false;

  // Extended query.
  std::map<std::string, Named, std::less<>> statements_;
  std::map<std::string, Portal, std::less<>> portals_;
  bool skip_to_sync_ = false;

  // The statement that runs.
  std::vector<ValueFormat> formats_;
  std::vector<std::string>* piecewise_ = nullptr;  // Where rows go that are asked for in pieces.
  size_t piecewise_bytes_ = 0;
  bool overflowed_ = false;
  bool processing_ = false;
};

}  // namespace tidemark::sql
