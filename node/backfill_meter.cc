#include "node/backfill_meter.h"

#include <algorithm>

#include "node/store/store_key.h"

namespace tidemark {

namespace {

constexpr uint32_t kWhole = 1'000'000;

uint32_t share_of(HashSpan hashes, uint64_t hash) {
  if (hash <= hashes.first) return 0;
  if (hash >= hashes.last) return kWhole;
  // Halved until nothing can overflow: a millionth needs no more.
  uint64_t done = (hash - hashes.first) >> 24;
  uint64_t all = std::max<uint64_t>(1, (hashes.last - hashes.first) >> 24);
  return static_cast<uint32_t>(std::min<uint64_t>(kWhole, done * kWhole / all));
}

std::optional<uint64_t> limit_of(const Table& view) {
  if (!view.definition->has_backfill_rows_per_second()) return std::nullopt;
  return view.definition->backfill_rows_per_second();
}

}  // namespace

uint32_t backfill_done_per_million(const RegionIdentity& identity, const Table& view,
                                   const Backfill& backfill) {
  if (backfill.done) return kWhole;
  std::optional<DecodedStoreKey> cursor = decode_store_key(backfill.cursor);
  if (!cursor || view.backfill_sources.empty()) return 0;
  const auto& sources = view.backfill_sources;
  auto passed = std::lower_bound(sources.begin(), sources.end(), cursor->table) - sources.begin();
  uint64_t within = share_of(hash_span(identity.shards, identity.shard_count), cursor->hash);
  uint64_t done = (static_cast<uint64_t>(passed) * kWhole + within) / sources.size();
  return static_cast<uint32_t>(std::min<uint64_t>(kWhole, done));
}

void BackfillMeter::sample(const RegionState& state, Micros now) {
  std::erase_if(views_, [&](const auto& it) { return !state.backfills().contains(it.first); });
  Micros passed{now.value - sampled_at_.value};
  bool first = sampled_at_.value < 0;
  if (!first && passed.value <= 0) return;
  sampled_at_ = now;
  for (const auto& [id, backfill] : state.backfills()) {
    const Table* table = state.catalog().find(id);
    if (table == nullptr) continue;
    View& view = views_[id];
    if (!first) view.rate.sample(view.rows, passed);
    view.rows = 0;
    uint32_t done = backfill_done_per_million(state.identity(), *table, backfill);
    if (!view.began_at || view.limit != limit_of(*table)) {  // How it went before tells nothing.
      view.began_at = now;
      view.began_done = done;
      view.limit = limit_of(*table);
      view.micros_left = Micros{-1};
    }
    if (done > view.began_done) {
      int64_t took = now.value - view.began_at->value;
      view.micros_left = Micros{took * int64_t{kWhole - done} / int64_t{done - view.began_done}};
    }
  }
}

void BackfillMeter::report(const RegionState& state, pb::RegionStatus& out) const {
  for (const auto& [id, backfill] : state.backfills()) {
    const Table* table = state.catalog().find(id);
    if (table == nullptr) continue;
    pb::BackfillProgress& progress = *out.add_backfills();
    progress.set_view(id.value);
    progress.set_done_per_million(backfill_done_per_million(state.identity(), *table, backfill));
    auto view = views_.find(id);
    progress.set_rows_per_second(view == views_.end() ? 0 : view->second.rate.per_second());
    progress.set_micros_left(backfill.done ? 0 : view == views_.end() ? -1 : view->second.micros_left.value);
  }
}

}  // namespace tidemark
