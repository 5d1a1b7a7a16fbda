#include "tests/simulation/views.h"

#include "base/assert.h"

namespace tidemark::sim {

const char* to_string(ViewKind kind) {
  switch (kind) {
    case ViewKind::Copy: return "copy";
    case ViewKind::CopyAgain: return "again";
    case ViewKind::Large: return "large";
    case ViewKind::ByGroup: return "by_group";
    case ViewKind::Counts: return "counts";
    case ViewKind::Total: return "total";
    case ViewKind::Histogram: return "histogram";
    case ViewKind::Extremes: return "extremes";
    case ViewKind::Latest: return "latest";
    case ViewKind::Either: return "either";
    case ViewKind::Pairs: return "pairs";
    case ViewKind::LeftPairs: return "left_pairs";
    case ViewKind::PairSums: return "pair_sums";
  }
  TM_UNREACHABLE();
}

namespace {
std::string query_of(const ViewSpec& view) {
  const std::string& a = view.from;
  const std::string& b = view.with;
  switch (view.kind) {
    case ViewKind::Copy:
    case ViewKind::CopyAgain: return "select id, grp, val, stamp from " + a;
    case ViewKind::Large:
      return "select id, val * 2 as twice from " + a + " where val > " + std::to_string(view.limit);
    case ViewKind::ByGroup: return "select grp, id, val from " + a;
    case ViewKind::Counts: return "select grp, count(*) as n, sum(val) as total from " + a + " group by grp";
    case ViewKind::Total: return "select count(*) as n, sum(val) as total from " + a;
    case ViewKind::Histogram: return "select n, count(*) as groups from " + a + " group by n";
    case ViewKind::Extremes:
      return "select grp, min(val) as low, max(val) as high, count(distinct val) as kinds from " + a +
             " group by grp";
    case ViewKind::Latest:
      return "select distinct on (grp) grp, id, val, stamp from " + a + " order by grp, stamp desc";
    case ViewKind::Either: return "select id, val from " + a + " union all select id, val from " + b;
    case ViewKind::Pairs:
      return "select l.id as l_id, r.id as r_id, l.val + r.val as val from " + a + " l join " + b +
             " r on l.grp = r.grp";
    case ViewKind::LeftPairs:
      return "select l.id as l_id, r.id as r_id, l.val as l_val, r.val as r_val from " + a + " l left join " +
             b + " r on l.grp = r.grp";
    case ViewKind::PairSums:
      return "select l_id, count(*) as n, sum(val) as total from " + a + " group by l_id";
  }
  TM_UNREACHABLE();
}
}  // namespace

std::string statement_of(const ViewSpec& view) {
  const std::string with = view.kind == ViewKind::ByGroup ? " with (distribute_by = 'grp')" : "";
  return "create materialized view " + view.name + with + " as " + query_of(view);
}

std::string to_string(const Row& row) {
  std::string out;
  for (const Value& value : row) {
    if (!out.empty()) out += '|';
    out += value ? std::to_string(*value) : "NULL";
  }
  return out;
}

}  // namespace tidemark::sim
