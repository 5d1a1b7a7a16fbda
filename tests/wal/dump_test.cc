// `tidemark wal`, run as the command line runs it.
#include <gtest/gtest.h>

#include "cli/command.h"
#include "cli/wal_command.h"
#include "proto/log.pb.h"
#include "tests/wal/temporary_directory.h"
#include "tests/wal/test_loop.h"
#include "wal/file_log.h"
#include "wal/record.h"

namespace tidemark {
namespace {

constexpr StreamId kStream{0x2a, RegionId{7}};

class WalDump : public testing::Test {
 protected:
  // A stream in which every kind of record lies, and voids of several kinds.
  void SetUp() override {
    pb::RecordBody body;
    body.set_catalog_version(3);
    body.mutable_commit()->set_changes("abc");
    body.mutable_commit()->add_requests();
    pb::Seal seal;
    seal.set_change(5);
    seal.set_generation(2);
    seal.add_children()->set_region(8);
    append({.kind = RecordKind::Fence, .stream = kStream, .map_version = MapVersion{2}, .nonce = 99}, "");
    append(record(RecordKind::Body, 0, 1), body.SerializeAsString());
    append({.kind = RecordKind::Fence, .stream = kStream, .map_version = MapVersion{1}, .nonce = 98}, "");
    append(record(RecordKind::Body, 0, 3), body.SerializeAsString());
    append({.kind = RecordKind::Fence, .stream = kStream, .map_version = MapVersion{2}, .nonce = 97}, "");
    append(record(RecordKind::Body, 4, 9), "\"\xff");
    append({.kind = RecordKind::Fence, .stream = kStream, .map_version = MapVersion{2}, .nonce = 96}, "");
    append(record(RecordKind::Seal, 6, 7), seal.SerializeAsString());
    append(record(RecordKind::Body, 6, 8), "");
    TestLoop loop;
    auto logs = std::move(*FileLogs::open({directory(), {}}));
    auto store = logs->connect(loop);
    std::unique_ptr<Log> log;
    store->create(kStream, [](auto) {});
    store->open(kStream, [&](auto opened) { log = std::move(*opened); });
    ASSERT_TRUE(loop.run_until([&] { return log != nullptr; }));
    size_t landed = 0;
    for (const std::string& bytes : entries_) log->append(bytes, [&](auto at) { landed += at.ok(); });
    ASSERT_TRUE(loop.run_until([&] { return landed == entries_.size(); }));
    log.reset();
    store.reset();
  }
  void append(const RecordHeader& header, const std::string& payload) {
    entries_.push_back(encode_record(header, payload));
  }
  static RecordHeader record(RecordKind kind, uint64_t incarnation, uint64_t expects) {
    return {.kind = kind, .stream = kStream, .incarnation = Offset{incarnation}, .expects = Offset{expects}};
  }
  std::filesystem::path directory() const { return directory_.path() / "logs"; }

  int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "wal");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = wal_command(static_cast<int>(argv.size()), argv.data());
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return code;
  }

  TemporaryDirectory directory_;
  std::vector<std::string> entries_;
  std::string out_;
  std::string err_;
};

TEST_F(WalDump, SaysWhichRecordsAreVoidAndWhy) {
  ASSERT_EQ(run({"dump", "000000000000002a-7", "--dir", directory()}), kDone) << err_;
  EXPECT_EQ(
      out_,
      "         0  fence  valid  map 2 nonce 99\n"
      "         1  body   valid  incarnation 0 expects 1  11 bytes  commit: 3 bytes of changes, 1 request "
      "(catalog 3)\n"
      "         2  fence  VOID (a fence of an older region map)  map 1 nonce 98\n"
      "         3  body   VOID (its incarnation is not in force)  incarnation 0 expects 3  11 bytes  commit: "
      "3 bytes of changes, 1 request (catalog 3)\n"
      "         4  fence  valid  map 2 nonce 97\n"
      "         5  body   VOID (it lies elsewhere than it expects)  incarnation 4 expects 9  2 bytes  not a "
      "record body\n"
      "         6  fence  valid  map 2 nonce 96\n"
      "         7  seal   valid  incarnation 6 expects 7  8 bytes  change 5, generation 2, region 8\n"
      "         8  body   VOID (after the seal)  incarnation 6 expects 8  0 bytes  empty (catalog 0)\n");
}

TEST_F(WalDump, PrintsJsonForPrograms) {
  ASSERT_EQ(run({"dump", "000000000000002a-7", "--dir", directory(), "--json", "--from", "5"}), kDone)
      << err_;
  EXPECT_EQ(out_.substr(0, out_.find('\n')),
            R"({"offset": 5, "kind": "body", "valid": false, "why": "it lies elsewhere than it expects", )"
            R"("incarnation": 4, "expects": 9, "payload_bytes": 2, "payload": "not a record body"})");
}

TEST_F(WalDump, ListsStreams) {
  ASSERT_EQ(run({"list", "--dir", directory()}), kDone);
  EXPECT_EQ(out_, "000000000000002a-7\n");
}

TEST_F(WalDump, SaysWhatIsWrong) {
  EXPECT_EQ(run({"dump", "seven", "--dir", directory()}), kWrongUsage);
  EXPECT_NE(err_.find("'seven' is not a stream's name"), std::string::npos);
  EXPECT_EQ(run({"dump", "000000000000002a-8", "--dir", directory()}), kFailed);
  EXPECT_NE(err_.find("000000000000002a-8 does not exist"), std::string::npos);
  EXPECT_EQ(run({"dump", "000000000000002a-7"}), kWrongUsage);
  EXPECT_EQ(run({"dump", "000000000000002a-7", "--dir", directory_.path() / "none"}), kFailed);
  EXPECT_NE(err_.find("can not open: No such file or directory"), std::string::npos) << err_;
}

}  // namespace
}  // namespace tidemark
