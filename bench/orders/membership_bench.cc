#include "bench/orders/membership_bench.h"

#include <chrono>
#include <thread>

#include "bench/orders/feed.h"
#include "bench/orders/tables.h"
#include "bench/orders/views.h"

namespace tidemark::bench {

namespace {

constexpr uint64_t kSweepOrders = 256;  // Spread over all lanes, each of a customer of its own.
constexpr std::chrono::milliseconds kLookInterval{1};
constexpr uint64_t kFeedUpserts = uint64_t{1} << 40;  // Until it is stopped.

using Clock = std::chrono::steady_clock;

double micros_since(Clock::time_point from) {
  return std::chrono::duration<double, std::micro>(Clock::now() - from).count();
}

class Run {
 public:
  explicit Run(const MembershipBenchOptions& options)
      : options_(options), workload_(options.shape, kSweepOrders) {}

  Result<MembershipBenchResult> run() {
    TM_TRY(set_up());
    OrdersFeed feed(*client_, workload_, find_table(catalog_, "orders"), CatalogVersion{catalog_.version()});
    FeedShape shape;
    shape.upserts = kFeedUpserts;
    shape.upserts_per_second = options_.upserts_per_second;
    shape.batch = static_cast<uint32_t>(std::max(1.0, options_.upserts_per_second / 200));
    std::future<FeedResult> feeding = feed.start(shape);
    const Status changed = change_members();
    feed.stop();
    FeedResult fed = feeding.get();
    TM_TRY(changed);
    if (fed.failure) return Error{"a write failed: " + *fed.failure};
    TM_TRY(client_->wait(path_to(find_table(catalog_, "v"), catalog_), fed.tokens));
    TM_TRY(verify());
    client_.reset();
    sweeper_.reset();
    cluster_->stop();
    return std::move(out_);
  }

 private:
  Status set_up() {
    auto started = BenchCluster::start(options_.cluster);
    if (!started.ok()) return started.error();
    cluster_ = std::move(*started);
    client_ = std::make_unique<BenchClient>(cluster_->surroundings(), "client");
    sweeper_ = std::make_unique<BenchClient>(cluster_->surroundings(), "probe");
    auto catalog = make_tables(*client_, ViewKind::Sum, 0);
    if (!catalog.ok()) return catalog.error();
    catalog_ = *catalog;
    sweep_check_ = std::make_unique<ViewCheck>(ViewKind::Sum, find_table(catalog_, "v"), workload_);
    sweep_feed_ = std::make_unique<OrdersFeed>(*sweeper_, workload_, find_table(catalog_, "orders"),
                                               CatalogVersion{catalog_.version()});
    return {};
  }

  Status change_members() {
    TM_TRY(sweep("first", Clock::now()));                   // What is opened on first use is open,
    if (options_.cluster.nodes > 1) TM_TRY(move_region());  // and standbys have their first checkpoints.
    out_.changes.clear();
    for (uint32_t round = 0; round < options_.rounds; ++round) {
      const std::string extra = "extra" + std::to_string(round);
      // It registers, and is added whether it is asked for or not.
      TM_TRY(operate("add-vm", {"add-vm", extra}, [&] { cluster_->start_view_manager(extra); }));
      TM_TRY(operate("remove-vm", {"remove-vm", extra}));
      cluster_->kill_view_manager(extra);
      if (options_.cluster.view_managers > 1) TM_TRY(kill_and_return("vm1"));
      if (options_.cluster.nodes > 1) TM_TRY(move_region());
    }
    return {};
  }

  Status operate(
      const std::string& what, const std::vector<std::string>& words,
      const std::function<void()>& prepare = [] {}) {
    const RingVersion before = cluster_->node_figures().pauses_ring;
    const Clock::time_point began = Clock::now();
    prepare();
    double took_micros = 0;
    std::future<pb::AdminReply> reply = std::async(std::launch::async, [&] {
      pb::AdminReply told = client_->admin(words);
      took_micros = micros_since(began);
      return told;
    });
    const Status swept = sweep(what, began);
    const pb::AdminReply told = reply.get();
    change(what).took_micros.push_back(took_micros);
    TM_TRY(swept);
    if (told.exit_code() != 0) return Error{what + ": " + told.out()};
    if (what != "move-region") take_pauses(what, before);
    return {};
  }

  // It dies, its lanes are spread, and it comes back under its name.
  Status kill_and_return(const std::string& name) {
    const RingVersion before = cluster_->node_figures().pauses_ring;
    const Clock::time_point began = Clock::now();
    cluster_->kill_view_manager(name);
    TM_TRY(sweep("kill -9", began));
    take_pauses("kill -9", before);
    const RingVersion spread = cluster_->node_figures().pauses_ring;
    cluster_->start_view_manager(name);
    while (cluster_->node_figures().pauses_ring <= spread) std::this_thread::sleep_for(kLookInterval);
    return sweep("return", Clock::now());
  }

  // There and back: whichever of the nodes has it, one of the two moves it.
  Status move_region() {
    TM_TRY(operate("move-region", {"move-region", "1", "node2"}));
    return operate("move-region", {"move-region", "1", "node1"});
  }

  void take_pauses(const std::string& what, RingVersion before) {
    NodeServer::Figures figures = cluster_->node_figures();
    while (figures.pauses_ring <= before || figures.lanes_waiting > 0) {
      std::this_thread::sleep_for(kLookInterval);
      figures = cluster_->node_figures();
    }
    for (Micros pause : figures.pauses)
      change(what).lane_pause_micros.push_back(static_cast<double>(pause.value));
  }

  // Writes to lanes all over, and waits until the view shows every one of them.
  Status sweep(const std::string& what, Clock::time_point since) {
    ++sweeps_;
    std::promise<Status> shown;
    sweeper_->loop().post([&] { write_sweep([&](const Status& status) { shown.set_value(status); }); });
    TM_TRY(shown.get_future().get());
    change(what).flowing_micros.push_back(micros_since(since));
    return {};
  }

  Order sweep_order(uint64_t index) const {
    return {static_cast<int64_t>(options_.shape.orders + index),
            static_cast<int32_t>(options_.shape.customers + 1 + index),
            static_cast<int32_t>(1 + (sweeps_ * kSweepOrders + index) % OrdersWorkload::kCentsMax)};
  }

  using Swept = std::function<void(const Status&)>;

  void write_sweep(Swept done) {
    std::vector<Order> orders;
    for (uint64_t i = 0; i < kSweepOrders; ++i) orders.push_back(sweep_order(i));
    sweep_feed_->write_some(orders, [this, done = std::move(done)](const Result<LaneRuns>& tokens) {
      if (!tokens.ok()) return done(Error{"a write of a sweep failed: " + tokens.error().message});
      look(done);
    });
  }

  void look(Swept done) {
    std::vector<KeyOfTable> keys(kSweepOrders);
    for (uint64_t i = 0; i < kSweepOrders; ++i) {
      sweep_check_->probe_key(sweep_order(i), keys[i].hash, keys[i].key);
    }
    sweeper_->client().get(TableId{find_table(catalog_, "v").id()}, std::move(keys),
                           [this, done = std::move(done)](const Result<std::string, ClientFailure>& rows) {
                             if (!rows.ok()) {
                               return done(Error{"a read of a sweep failed: " + rows.error().message});
                             }
                             if (count_shown(*rows) == kSweepOrders) return done({});
                             sweeper_->loop().post_after(Micros{kLookInterval.count() * 1000},
                                                         [this, done] { look(done); });
                           });
  }

  uint64_t count_shown(const std::string& rows) {
    std::map<std::string, uint64_t> index;
    for (uint64_t i = 0; i < kSweepOrders; ++i) {
      uint64_t hash = 0;
      std::string key;
      sweep_check_->probe_key(sweep_order(i), hash, key);
      index[key] = i;
    }
    uint64_t shown = 0;
    RowReader reader(rows);
    for (StoredRow row; reader.next(row);) {
      auto found = index.find(std::string(row.key));
      if (found == index.end()) continue;
      shown += sweep_check_->shows(sweep_order(found->second), row.key, row.row) ? 1 : 0;
    }
    return shown;
  }

  Status verify() {
    ViewCheck check(ViewKind::Sum, find_table(catalog_, "v"), workload_);
    TM_TRY(client_->scan(TableId{find_table(catalog_, "v").id()},
                         [&](const StoredRow& row) { return check.take(row.key, row.row); }));
    TM_TRY(check.end());
    out_.view_rows = check.rows();
    return {};
  }

  MembershipBenchResult::Change& change(const std::string& what) {
    for (MembershipBenchResult::Change& change : out_.changes) {
      if (change.what == what) return change;
    }
    out_.changes.emplace_back().what = what;
    return out_.changes.back();
  }

  const MembershipBenchOptions options_;
  OrdersWorkload workload_;
  std::unique_ptr<BenchCluster> cluster_;
  std::unique_ptr<BenchClient> client_;
  std::unique_ptr<BenchClient> sweeper_;
  std::unique_ptr<OrdersFeed> sweep_feed_;
  std::unique_ptr<ViewCheck> sweep_check_;
  pb::Catalog catalog_;
  uint64_t sweeps_ = 0;
  MembershipBenchResult out_;
};

}  // namespace

Result<MembershipBenchResult> run_membership_bench(const MembershipBenchOptions& options) {
  return Run(options).run();
}

}  // namespace tidemark::bench
