#include "cli/admin_command.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <future>
#include <memory>
#include <thread>

#include "cli/command.h"
#include "net/tcp_transport.h"

namespace tidemark {

namespace {

constexpr std::chrono::seconds kAnswerDeadline{5};
constexpr std::chrono::milliseconds kProgressInterval{300};

class TcpAdminChannel final : public AdminChannel {
 public:
  explicit TcpAdminChannel(Address node) : node_(std::move(node)) {}
  ~TcpAdminChannel() override {
    loop_.run([this] { transport_.reset(); });
    loop_.stop();
  }

  Status connect() {
    Status status;
    loop_.run([&] {
      TcpOptions options;
      options.name = "admin";
      auto started = TcpTransport::start(loop_, options);
      if (!started.ok()) {
        status = started.error();
        return;
      }
      transport_ = std::move(*started);
      transport_->set_handlers(
          {[this](const Address&, MessagePtr message) { on_message(message); }, [](const Address&) {}});
    });
    return status;
  }

  Result<pb::AdminReply> ask(const pb::AdminRequest& request) override {
    auto message = std::make_shared<pb::Message>();
    std::future<pb::AdminReply> answer;
    loop_.run([&] {
      message->set_request(++asked_);
      *message->mutable_admin() = request;
      waiting_ = {};
      answer = waiting_.get_future();
      transport_->send(node_, message);
    });
    if (answer.wait_for(kAnswerDeadline) == std::future_status::ready) return answer.get();
    loop_.run([this] { ++asked_; });  // A late answer is for nobody.
    return Error{"no answer from " + node_.value};
  }

 private:
  void on_message(const MessagePtr& message) {
    if (!message->has_admin_reply() || message->request() != asked_ || answered_ == asked_) return;
    answered_ = asked_;
    waiting_.set_value(message->admin_reply());
  }

  const Address node_;
  AsioLoop loop_{"admin"};
  std::unique_ptr<TcpTransport> transport_;
  std::promise<pb::AdminReply> waiting_;
  uint64_t asked_ = 0;
  uint64_t answered_ = 0;
};

// A coordinator that dies is succeeded in seconds: asking again finds the next one.
Result<pb::AdminReply> ask_patiently(AdminChannel& channel, const pb::AdminRequest& request,
                                     const AdminConsole& console) {
  constexpr int kTries = 3;
  for (int i = 1;; ++i) {
    auto reply = channel.ask(request);
    if (reply.ok() || i == kTries) return reply;
    console.pause();
  }
}

constexpr const char* kExplanation =
    "status | history\n"
    "add-vm NAME [WEIGHT] | remove-vm NAME | recover-vm NAME\n"
    "add-node NAME [WEIGHT] | remove-node NAME\n"
    "move-region REGION NODE | split-region REGION [SHARD] | merge-regions REGION REGION\n"
    "discard-logs | rebalance\n"
    "backfill VIEW pause | resume | ROWS_PER_SECOND\n"
    "stage COMMAND... | plan | commit | cancel [OPERATION]\n"
    "start-vm NAME | kill-vm NAME                 of `tidemark up`, to try things out";

}  // namespace

int run_admin(AdminChannel& channel, const AdminArguments& arguments, const AdminConsole& console) {
  pb::AdminRequest request;
  request.mutable_words()->Add(arguments.words.begin(), arguments.words.end());
  request.set_json(arguments.json);
  request.set_operation(arguments.operation);
  std::string said;
  for (;;) {
    auto reply = ask_patiently(channel, request, console);
    if (!reply.ok()) {
      console.error(reply.error().message);
      return kFailed;
    }
    bool last = !reply->more() || !arguments.wait;
    if (reply->exit_code() != 0 && !arguments.json) {
      console.error(reply->out());
      return reply->exit_code();
    }
    // Progress is for people; a program wants one answer.
    if ((last || !arguments.json) && reply->out() != said) console.out(reply->out());
    if (last) return reply->exit_code();
    said = reply->out();
    request.clear_words();
    request.set_operation(reply->operation());
    console.pause();
  }
}

int admin_command(int argc, char** argv) {
  AdminArguments arguments;
  std::string node = "127.0.0.1:7400";
  bool leave = false;
  CLI::App app("Asks a cluster, and changes it.", "tidemark admin");
  app.footer(kExplanation);
  app.add_option("--connect", node, "HOST:PORT of any node")->capture_default_str();
  app.add_flag("--json", arguments.json, "for programs");
  app.add_flag("--no-wait", leave, "begin a long operation and leave it");
  app.add_option("--operation", arguments.operation, "rejoin an operation by its number");
  app.add_option("command", arguments.words, "what to do");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kWrongUsage;
  }
  arguments.wait = !leave;
  if (arguments.words.empty() && arguments.operation == 0) {
    std::fprintf(stderr, "%s", app.help().c_str());
    return kWrongUsage;
  }
  TcpAdminChannel channel(Address{node});
  if (Status status = channel.connect(); !status.ok()) {
    std::fprintf(stderr, "tidemark admin: %s\n", status.error().message.c_str());
    return kFailed;
  }
  return run_admin(channel, arguments,
                   {[](const std::string& text) { std::fputs(text.c_str(), stdout); },
                    [](const std::string& text) {
                      std::fprintf(stderr, "tidemark admin: %s%s", text.c_str(),
                                   text.ends_with('\n') ? "" : "\n");
                    },
                    [] { std::this_thread::sleep_for(kProgressInterval); }});
}

}  // namespace tidemark
