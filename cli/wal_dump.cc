#include "cli/wal_dump.h"

#include <iomanip>
#include <sstream>

#include "cli/report.h"
#include "proto/log.pb.h"

namespace tidemark {
namespace {

std::string count_of(int count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string describe_commit(const pb::Commit& commit) {
  std::string text = "commit: " + std::to_string(commit.changes().size()) + " bytes of changes";
  if (commit.requests_size() > 0) text += ", " + count_of(commit.requests_size(), "request");
  if (commit.batches_size() > 0) {
    text +=
        ", " + std::to_string(commit.batches_size()) + (commit.batches_size() == 1 ? " batch" : " batches");
  }
  return text;
}

// ": lanes 0-8 to 1/460/0, ..." by generation, offset and step.
template <typename Runs>
std::string lanes_text(const Runs& runs) {
  std::string text;
  for (const pb::LaneRun& run : runs) {
    text += (text.empty() ? ": lanes " : ", ") + std::to_string(run.lanes().begin()) + "-" +
            std::to_string(run.lanes().end()) + " to " + std::to_string(run.position().generation()) + "/" +
            std::to_string(run.position().offset()) + "/" + std::to_string(run.position().step());
  }
  return text;
}

std::string describe_body(const pb::RecordBody& body) {
  const std::string catalog = " (catalog " + std::to_string(body.catalog_version()) + ")";
  switch (body.body_case()) {
    case pb::RecordBody::kCommit: return describe_commit(body.commit()) + catalog;
    case pb::RecordBody::kCut: return "cut: ring " + std::to_string(body.cut().ring_version());
    case pb::RecordBody::kCatalog:
      return "catalog " + std::to_string(body.catalog().version()) + ": " +
             count_of(body.catalog().tables_size(), "definition");
    case pb::RecordBody::kBackfillPage:
      return "backfill page of view " + std::to_string(body.backfill_page().view()) +
             (body.backfill_page().last() ? ", the last" : "");
    case pb::RecordBody::kProgress: return "progress" + lanes_text(body.progress().committed()) + catalog;
    case pb::RecordBody::kRaise: return "raise" + lanes_text(body.raise().committed()) + catalog;
    case pb::RecordBody::kMerging: return "merging: change " + std::to_string(body.merging().change());
    case pb::RecordBody::kUnmerge: return "unmerge: change " + std::to_string(body.unmerge().change());
    default: break;
  }
  const auto* field = pb::RecordBody::descriptor()->FindFieldByNumber(body.body_case());
  return (field == nullptr ? "empty" : field->name()) + catalog;
}

std::string describe_seal(const pb::Seal& seal) {
  std::string text =
      "change " + std::to_string(seal.change()) + ", generation " + std::to_string(seal.generation());
  for (const auto& child : seal.children()) text += ", region " + std::to_string(child.region());
  return text;
}

std::string verdict_text(const JudgedRecord& record, Judged judged) {
  if (judged == Judged::No) return "unjudged (the log begins after its fence)";
  if (record.verdict == Verdict::Valid) return "valid";
  return std::string("VOID (") + to_string(record.verdict) + ")";
}

}  // namespace

std::string describe_payload(RecordKind kind, std::string_view payload) {
  if (kind == RecordKind::Fence) return "";
  const std::string bytes(payload);
  if (kind == RecordKind::Seal) {
    pb::Seal seal;
    return seal.ParseFromString(bytes) ? describe_seal(seal) : "not a seal";
  }
  pb::RecordBody body;
  return body.ParseFromString(bytes) ? describe_body(body) : "not a record body";
}

std::string dump_as_text(const JudgedRecord& record, Judged judged, const DescribePayload& describe) {
  const RecordHeader& header = record.record.header;
  std::ostringstream line;
  line << std::setw(10) << record.at << "  " << std::left << std::setw(5) << to_string(header.kind) << "  "
       << verdict_text(record, judged) << "  ";
  if (header.kind == RecordKind::Fence) {
    line << "map " << header.map_version << " nonce " << header.nonce;
  } else {
    line << "incarnation " << header.incarnation << " expects " << header.expects << "  "
         << record.record.payload.size() << " bytes  " << describe(header.kind, record.record.payload);
  }
  return line.str();
}

std::string dump_as_json(const JudgedRecord& record, Judged judged, const DescribePayload& describe) {
  const RecordHeader& header = record.record.header;
  std::ostringstream line;
  line << "{\"offset\": " << record.at << ", \"kind\": \"" << to_string(header.kind) << "\"";
  if (judged == Judged::No) {
    line << ", \"valid\": null";
  } else {
    line << ", \"valid\": " << (record.verdict == Verdict::Valid ? "true" : "false");
    if (record.verdict != Verdict::Valid) line << ", \"why\": \"" << to_string(record.verdict) << "\"";
  }
  if (header.kind == RecordKind::Fence) {
    line << ", \"map_version\": " << header.map_version << ", \"nonce\": " << header.nonce;
  } else {
    line << ", \"incarnation\": " << header.incarnation << ", \"expects\": " << header.expects
         << ", \"payload_bytes\": " << record.record.payload.size()
         << ", \"payload\": " << Cell(describe(header.kind, record.record.payload)).json();
  }
  line << "}";
  return line.str();
}

}  // namespace tidemark
