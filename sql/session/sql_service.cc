#include "sql/session/sql_service.h"

#include "net/shared_transport.h"
#include "sql/session/cluster_tables.h"
#include "sql/session/errors.h"
#include "sql/session/service_state.h"
#include "sql/session/session.h"

namespace tidemark::sql {

namespace {

// From the epoch of Unix to that of SQL's timestamps.
constexpr int64_t kMicrosTo2000 = int64_t{946'684'800} * 1'000'000;

ClientOptions client_options(const SqlServiceOptions& options) {
  ClientOptions out = options.client;
  out.shards = options.shards;
  return out;
}

}  // namespace

void CatalogWaiters::call_all() {
  const std::vector<Waiting> ready = std::exchange(waiting_, {});
  for (const Waiting& one : ready) {
    if (!one.token.expired()) one.task();
  }
}

class SqlService::Impl {
 public:
  Impl(const ProcessContext& context, const SqlServiceOptions& options)
      : scheduler_(context.scheduler),
        shared_(context.transport),
        changer_side_(shared_.facet(CatalogChanger::is_answer)),
        client_side_(shared_.facet([](const pb::Message&) { return true; })),
        directory_(context.coordination, scheduler_),
        client_(scheduler_, *client_side_, directory_, context.random, client_options(options)),
        changer_(scheduler_, *changer_side_, directory_, context.random),
        tables_(context.coordination, scheduler_, plans_),
        catalog_watch_(context.coordination, scheduler_, paths::kCatalog,
                       [this](const std::optional<Fact>& fact) { on_catalog(fact); }),
        state_{context.scheduler, context.random,  options.shards,
               options.name,      now_of(options), directory_,
               client_,           changer_,        [this] { catalog_watch_.look_again(); },
               &tables_} {
    state_.query_bytes_max = options.query_bytes_max;
  }

  ServiceState& state() { return state_; }

  bool ready() const {
    ShardId at{0};
    for (const RegionPlace& place : directory_.places()) {
      if (place.shards.begin != at || place.address.value.empty()) return false;
      at = place.shards.end;
    }
    return state_.catalog != nullptr && at == state_.shards.all().end;
  }

 private:
  std::function<int64_t()> now_of(const SqlServiceOptions& options) {
    if (!options.wall_clock_micros) return [this] { return scheduler_.now().value; };
    return [clock = options.wall_clock_micros] { return clock() - kMicrosTo2000; };
  }

  void on_catalog(const std::optional<Fact>& fact) {
    pb::Catalog catalog;
    if (!fact || !catalog.ParseFromString(fact->data)) return;
    if (state_.catalog && catalog.version() <= state_.catalog->version()) return;
    std::vector<std::string> failures;  // Views of a newer release: they can not be read here.
    plans_.update(catalog, failures);
    const bool is_first = state_.catalog == nullptr;
    state_.catalog =
        std::make_shared<const CatalogSnapshot>(catalog, plans_, state_.catalog.get(), state_.virtual_tables);
    if (is_first) note_complete_views();
    tables_.set_catalog(catalog, state_.catalog);
    state_.catalog_waiters.call_all();
  }

  void note_complete_views() {
    for (const auto& [id, table] : state_.catalog->tables()) {
      if (table->definition.kind() == pb::VIEW && state_.catalog->is_readable(id))
        state_.complete_views.insert(id);
    }
  }

  GuardedScheduler scheduler_;
  SharedTransport shared_;
  std::unique_ptr<Transport> changer_side_;
  std::unique_ptr<Transport> client_side_;
  WatchedDirectory directory_;
  Client client_;
  CatalogChanger changer_;
  CatalogPlans plans_;
  ClusterTables tables_;
  FactWatch catalog_watch_;
  ServiceState state_;
};

SqlService::SqlService(const ProcessContext& context, SqlServiceOptions options)
    : impl_(std::make_unique<Impl>(context, options)) {}
SqlService::~SqlService() = default;

Result<std::unique_ptr<Session>, SqlError> SqlService::make_session(const SessionRequest& request) {
  if (impl_->state().catalog == nullptr) {
    return error(sqlstate::kCannotConnectNow, "the cluster is starting", "Try again in a moment.");
  }
  auto session = std::make_unique<ClusterSession>(impl_->state(), request);
  if (SqlStatus taken = session->take_settings(request.settings); !taken.ok()) return taken.error();
  return std::unique_ptr<Session>(std::move(session));
}

bool SqlService::ready() const {
  return impl_->ready();
}

}  // namespace tidemark::sql
