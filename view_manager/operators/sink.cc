#include "view_manager/operators/sink.h"

#include "base/assert.h"

namespace tidemark {

std::unique_ptr<Sink> make_sink(const sql::SinkPlan& plan, const FindCodec& codec) {
  switch (plan.kind) {
    case sql::SinkKind::Put: return make_put_sink(plan, codec);
    case sql::SinkKind::Aggregate: return make_aggregate_sink(plan, codec);
    case sql::SinkKind::Multiset: return make_multiset_sink(plan, codec);
  }
  TM_UNREACHABLE();
}

}  // namespace tidemark
