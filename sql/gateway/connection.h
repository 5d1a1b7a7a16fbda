// One client connection as a core: bytes in, bytes out, a Session behind it. No socket, no thread.
//
//   Startup -> Ready <-> Busy (a statement runs; input waits)
//                    <-> CopyIn (data goes to the session)
//   any -> Closed
//
// Rows go out as they come. While the client takes none the statement waits, and so does the next message:
// what a connection holds is bounded. A portal of which the client asks for some rows (Execute with a limit)
// leaves its statement waiting in Ready; before another statement runs, it is run to its end, its rows kept.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql/gateway/portal.h"
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
  size_t output_bytes_max = size_t{256} << 10;  // Unsent: then statements wait, and messages too.
  // Of what has to be kept: rows of a statement that can not wait, or of portals while another one runs, and
  // the portals' parameters.
  size_t result_bytes_max = size_t{256} << 20;
  std::string server_version = "15.0";  // As PostgreSQL's: clients decide by it what to send.
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
  // False while input waits for a statement or for output to be taken: read no more from the client.
  bool wants_input() const;
  // What to send; cleared by taking it. go_on() must follow.
  std::string take_output();
  // Goes on with what waited for the output to be taken.
  void go_on();
  bool has_output() const { return !output_.empty(); }
  bool closed() const { return state_ == State::Closed; }
  // The client has said who it is.
  bool started() const { return session_ != nullptr; }
  void cancel();
  const CancelKey& key() const { return key_; }

 private:
  enum class State : uint8_t { Startup, Ready, Busy, CopyIn, Closed };

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
  void begin_query();
  void run_next_of_query();
  void end_query();
  void on_parse(WireReader body);
  void on_bind(WireReader body);
  void on_describe(WireReader body);
  void on_execute(WireReader body);
  void on_close(WireReader body);
  void on_sync();
  void on_copy_message(char type, std::string_view body);

  // Runs a portal's statement, or goes on with it; `then` is called when it has ended, or the piece is full.
  void run(PortalPtr portal, Piece piece, std::function<void()> then);
  void go_on_with(const PortalPtr& portal, Piece piece, std::function<void()> then);
  void on_done(Result<std::string, SqlError> tag);
  // The statement that waits for the client to ask for more.
  bool is_suspended() const { return running_ != nullptr && state_ == State::Ready; }
  enum class Rest : uint8_t { Kept, Dropped };
  // Runs it to its end, if there is one; then `next`.
  void settle(Rest rest, std::function<void()> next);
  // What is left of a portal whose statement has ended.
  void execute_again(Portal& portal, Piece piece);
  // What follows the rows of an Execute.
  void end_piece(const Portal& portal);
  bool has_room() const { return output_.size() < options_.output_bytes_max; }
  Wanted keep_row(std::span<const Value> values);

  void fail(const SqlError& error, std::string_view statement = {});
  void fail_protocol(std::string_view what);
  void fatal(const SqlError& error);
  void close();

  // ResultSink.
  Wanted row(std::span<const Value> values) override;
  void paused() override;
  bool forget(std::string_view name) override;
  void setting(std::string_view name, std::string_view value) override;
  void copy_in(size_t columns) override;
  void notice(const SqlError& notice) override;

  size_t held_bytes_ = 0;  // By all portals, which it outlives.
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
  std::map<std::string, PortalPtr, std::less<>> portals_;
  bool skip_to_sync_ = false;

  // The statement that runs, or is suspended.
  enum class RowsTo : uint8_t { Client, Portal, Nowhere };
  PortalPtr running_;
  std::function<void()> then_;
  RowsTo rows_to_ = RowsTo::Client;
  Piece piece_;
  bool paused_ = false;
  bool overflowed_ = false;
  uint64_t runs_ = 0;  // What is left of older ones does nothing.
  bool processing_ = false;
};

}  // namespace tidemark::sql
