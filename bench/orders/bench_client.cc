#include "bench/orders/bench_client.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "coordinator/cluster_fact.h"
#include "server/entropy.h"

namespace tidemark::bench {

namespace {

constexpr std::chrono::milliseconds kLookInterval{5};
constexpr Micros kAskInterval{2'000'000};
constexpr Micros kProgressInterval{2'000};
constexpr uint32_t kScanRows = 5'000;

}  // namespace

BenchClient::BenchClient(Surroundings& surroundings, const std::string& name)
    : surroundings_(surroundings), name_(name), random_(entropy()), loop_(name) {
  std::promise<void> found;
  loop_.run([&] {
    coordination_ = surroundings_.coordination(loop_);
    await_cluster(*coordination_, loop_, [&](const pb::ClusterFact& fact) {
      shards_ = ShardCount{fact.shards()};
      auto endpoint = surroundings_.connect(loop_, {.name = name_, .cluster = fact.cluster(), .listen = {}});
      auto admin =
          surroundings_.connect(loop_, {.name = name_ + "-admin", .cluster = fact.cluster(), .listen = {}});
      TM_ASSERT(endpoint.ok());
      TM_ASSERT(admin.ok());
      endpoint_ = std::move(*endpoint);
      admin_endpoint_ = std::move(*admin);
      found.set_value();
    });
  });
  found.get_future().wait();
  loop_.run([this] { connect(); });
  catalog([](const pb::Catalog&) { return true; });
}

void BenchClient::connect() {
  directory_ = std::make_unique<WatchedDirectory>(*coordination_, loop_);
  ClientOptions options;
  options.shards = shards_;
  options.deadline = Micros{600'000'000};
  options.reply_timeout = Micros{30'000'000};
  client_ = std::make_unique<Client>(loop_, *endpoint_.transport, *directory_, random_, options);
  admin_endpoint_.transport->set_handlers(
      {[this](const Address&, MessagePtr message) { on_admin_message(*message); }, {}});
  catalog_watch_ = std::make_unique<FactWatch>(*coordination_, loop_, paths::kCatalog,
                                               [this](const std::optional<Fact>& fact) {
                                                 if (fact) catalog_.ParseFromString(fact->data);
                                               });
}

BenchClient::~BenchClient() {
  loop_.run([this] {
    catalog_watch_.reset();
    client_.reset();
    directory_.reset();
    endpoint_.transport.reset();
    admin_endpoint_.transport.reset();
  });
  loop_.stop();
}

pb::Catalog BenchClient::catalog(const std::function<bool(const pb::Catalog&)>& enough) {
  for (;;) {
    pb::Catalog out;
    bool served = false;
    loop_.run([&] {
      out = catalog_;
      served = !directory_->places().empty() &&
               std::none_of(directory_->places().begin(), directory_->places().end(),
                            [](const RegionPlace& place) { return place.address.value.empty(); });
    });
    if (served && enough(out)) return out;
    std::this_thread::sleep_for(kLookInterval);
  }
}

pb::Message BenchClient::ask(pb::Message message) {
  std::promise<pb::Message> answer;
  loop_.run([&] {
    message.set_request(next_question_++);
    question_ = std::make_shared<pb::Message>(std::move(message));
    on_answer_ = [&answer](const pb::Message& it) { answer.set_value(it); };
    send_question();
  });
  return answer.get_future().get();
}

void BenchClient::send_question() {
  if (!question_) return;
  const auto& places = directory_->places();
  if (!places.empty()) admin_endpoint_.transport->send(places.front().address, question_);
  loop_.post_after(kAskInterval, [this, number = question_->request()] {
    if (question_ && question_->request() == number) send_question();
  });
}

void BenchClient::on_admin_message(const pb::Message& message) {
  if (!question_ || message.request() != question_->request()) return;
  if (message.has_admin_reply() && message.admin_reply().more()) return rejoin(message.admin_reply());
  question_.reset();
  auto on_answer = std::move(on_answer_);
  on_answer(message);
}

// What was begun goes on: asked for its end soon, not begun again.
void BenchClient::rejoin(const pb::AdminReply& progress) {
  auto question = std::make_shared<pb::Message>(*question_);
  question->set_request(next_question_++);
  question->mutable_admin()->clear_words();
  question->mutable_admin()->set_operation(progress.operation());
  question_ = std::move(question);
  loop_.post_after(kProgressInterval, [this, number = question_->request()] {
    if (question_ && question_->request() == number) send_question();
  });
}

Result<pb::Catalog> BenchClient::create(
    const std::function<Result<std::vector<pb::TableDefinition>>(const pb::Catalog&)>& make) {
  const pb::Catalog before = catalog([](const pb::Catalog&) { return true; });
  auto tables = make(before);
  if (!tables.ok()) return tables.error();
  pb::Message message;
  pb::CatalogRequest& request = *message.mutable_change_catalog();
  request.set_expects_version(before.version());
  for (const pb::TableDefinition& table : *tables) *request.add_create() = table;
  const pb::Message answer = ask(std::move(message));
  if (!answer.catalog_changed().ok()) return Error{"the catalog: " + answer.catalog_changed().message()};
  const uint32_t last = tables->back().id();
  return catalog([&](const pb::Catalog& now) {
    return std::any_of(now.tables().begin(), now.tables().end(),
                       [&](const pb::TableDefinition& it) { return it.id() == last; }) &&
           std::all_of(now.tables().begin(), now.tables().end(), [](const pb::TableDefinition& it) {
             return it.kind() != pb::VIEW || it.begun() != 0;
           });
  });
}

pb::AdminReply BenchClient::admin(const std::vector<std::string>& words) {
  pb::Message message;
  for (const std::string& word : words) message.mutable_admin()->add_words(word);
  message.mutable_admin()->set_json(true);
  return ask(std::move(message)).admin_reply();
}

Status BenchClient::wait(const std::vector<TableId>& path, const LaneRuns& tokens) {
  std::promise<Status> done;
  loop_.post([&] {
    client_->wait(path, tokens, std::nullopt, [&](Result<std::monostate, ClientFailure> result) {
      done.set_value(result.ok() ? Status{}
                                 : Status{Error{"waiting for the view: " + result.error().message}});
    });
  });
  return done.get_future().get();
}

Status BenchClient::scan(TableId table, const std::function<Status(const StoredRow&)>& take) {
  ScanSpec spec;
  spec.table = table;
  spec.rows_max = kScanRows;
  for (std::optional<ScanPosition> from = ScanPosition{}; from;) {
    std::promise<Result<RowPage, ClientFailure>> done;
    loop_.post([&] {
      client_->scan(spec, *from,
                    [&](Result<RowPage, ClientFailure> page) { done.set_value(std::move(page)); });
    });
    Result<RowPage, ClientFailure> page = done.get_future().get();
    if (!page.ok()) return Error{"reading the view: " + page.error().message};
    RowReader reader(page->rows);
    for (StoredRow row; reader.next(row);) TM_TRY(take(row));
    from = page->next;
  }
  return {};
}

}  // namespace tidemark::bench
