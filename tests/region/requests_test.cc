// docs/design.md, "Durable before visible" and "Requests".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/change.h"
#include "proto/rows.h"
#include "tests/region/rig.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;

class Requests : public ::testing::Test {
 protected:
  Requests() {
    catalog_.create(table_.definition());
    rig_.catalog(catalog_);
    rig_.open();
    rig_.settle();
    session_ = rig_.session();
  }

  std::string put_of(int64_t key, int64_t value) {
    std::string out;
    add_put(out, table_, {key, value});
    return out;
  }
  uint64_t write(uint64_t number, const std::string& operations, uint64_t lowest = 1) {
    return rig_.write(rig_.request(session_, number, operations, lowest));
  }
  size_t changes_in_log() {
    size_t out = 0;
    for (const pb::RecordBody& body : rig_.bodies()) {
      ChangeReader reader(body.commit().changes());
      for (Change change; reader.next(change);) ++out;
    }
    return out;
  }

  TestTable table_{define({.id = 1})};
  TestCatalog catalog_;
  Rig rig_;
  pb::SessionName session_;
};

TEST_F(Requests, AWriteIsNeitherReadableNorAnsweredBeforeItIsDurable) {
  uint64_t write = this->write(1, put_of(7, 70));
  rig_.tick();
  EXPECT_EQ(rig_.in_flight(), 1u);
  EXPECT_FALSE(rig_.answered(write));
  uint64_t early = rig_.get(table_, {7, 0});
  EXPECT_EQ(rig_.reply(early).rows().count(), 0u);

  rig_.land();
  EXPECT_THAT(rig_.reply(write).written().rows_affected(), ElementsAre(1));
  uint64_t late = rig_.get(table_, {7, 0});
  EXPECT_EQ(rig_.reply(late).rows().count(), 1u);
}

TEST_F(Requests, RowsAreHeldAheadOfTheLogOnlyUntilTheyAreDurable) {
  for (uint64_t n = 1; n <= 50; ++n) {
    write(n, put_of(static_cast<int64_t>(n % 7), static_cast<int64_t>(n)), n);
    rig_.tick(1'000);
    EXPECT_GT(rig_.region().rows_in_flight(), 0u);
    EXPECT_LE(rig_.region().rows_in_flight(), 7u);
    if (n % 3 == 0) rig_.land(1);
  }
  rig_.settle();
  EXPECT_EQ(rig_.region().rows_in_flight(), 0u);
}

TEST_F(Requests, AChangeIsComputedAgainstWhatIsInFlight) {
  write(1, put_of(7, 70));
  rig_.tick();
  std::string insert;
  add_put(insert, table_, {7, 71}, OperationKind::Insert);
  uint64_t duplicate = write(2, insert);
  // The failure tells of a row that is not durable yet.
  EXPECT_FALSE(rig_.answered(duplicate));
  rig_.settle();
  EXPECT_EQ(rig_.reply(duplicate).written().failed().substr(0, 5), "23505");
  EXPECT_EQ(rig_.row(table_, {7, 0}), (Cells{7, 70}));
}

TEST_F(Requests, WhatArrivesWhileAnAppendIsInFlightIsOneRecord) {
  write(1, put_of(1, 1));
  rig_.tick();
  for (uint64_t n = 2; n <= 20; ++n) write(n, put_of(static_cast<int64_t>(n), 1));
  rig_.tick();
  EXPECT_EQ(rig_.in_flight(), 1u);
  rig_.land();
  rig_.tick();
  EXPECT_EQ(rig_.in_flight(), 1u);
  rig_.settle();
  EXPECT_EQ(changes_in_log(), 20u);
  EXPECT_EQ(rig_.last_body().commit().requests_size(), 19);
}

TEST_F(Requests, ACommitDoesNotGrowBeyondTheRecordLimit) {
  TestTable wide(define({.id = 2, .values = 1500}));
  catalog_.create(wide.definition());
  rig_.catalog(catalog_);
  rig_.settle();
  Cells cells(1501, 1);
  for (int64_t key = 0; key < 300; ++key) {
    cells[0] = key;
    std::string operations;
    add_put(operations, wide, cells);
    write(static_cast<uint64_t>(key) + 1, operations);
  }
  rig_.settle();
  EXPECT_EQ(rig_.all(wide).size(), 300u);
  for (const auto& record : rig_.log()->records) EXPECT_LE(record->payload.size(), 900'000u);
}

TEST_F(Requests, AllOperationsOfARequestAreAppliedOrNone) {
  rig_.put(table_, {3, 30});
  std::string operations = put_of(1, 10) + put_of(2, 20);
  add_put(operations, table_, {3, 31}, OperationKind::Insert);
  uint64_t write = this->write(1, operations);
  rig_.settle();
  EXPECT_EQ(rig_.reply(write).written().failed_operation(), 2u);
  EXPECT_EQ(rig_.all(table_), (std::vector<Cells>{{3, 30}}));
  // Nothing of it lingers for those that come later.
  std::string again;
  add_put(again, table_, {1, 11}, OperationKind::Insert);
  uint64_t insert = this->write(2, again);
  rig_.settle();
  EXPECT_EQ(rig_.reply(insert).written().failed(), "");
}

TEST_F(Requests, EachKindOfOperationDoesWhatItSays) {
  std::string operations = put_of(1, 10);
  add_put(operations, table_, {1, 11}, OperationKind::InsertIfAbsent);
  add_put(operations, table_, {2, 20}, OperationKind::InsertIfAbsent);
  add_delete(operations, table_, {3, 0});
  add_delete(operations, table_, {1, 0});
  uint64_t write = this->write(1, operations);
  rig_.settle();
  EXPECT_THAT(rig_.reply(write).written().rows_affected(), ElementsAre(1, 0, 1, 0, 1));
  EXPECT_EQ(rig_.all(table_), (std::vector<Cells>{{2, 20}}));
}

TEST_F(Requests, CompareAndPutFailsUnlessTheRowIsAsExpected) {
  rig_.put(table_, {1, 10});
  sql::EncodedRow old = table_.encode({1, 10});
  sql::EncodedRow next = table_.encode({1, 11});
  std::string operations;
  append_operation(operations,
                   {OperationKind::CompareAndPut, table_.id(), next.hash, next.key, next.row, old.row});
  uint64_t first = write(1, operations);
  uint64_t second = write(2, operations);
  rig_.settle();
  EXPECT_EQ(rig_.reply(first).written().failed(), "");
  EXPECT_EQ(rig_.reply(second).written().failed().substr(0, 5), "40001");
}

TEST_F(Requests, ARetryIsAnsweredAndNotDoneAgain) {
  write(1, put_of(7, 70));
  rig_.settle();
  rig_.put(table_, {7, 71});
  size_t records = rig_.log()->records.size();
  uint64_t retry = write(1, put_of(7, 70));
  EXPECT_THAT(rig_.reply(retry).written().rows_affected(), ElementsAre(1));
  rig_.settle();
  EXPECT_EQ(rig_.log()->records.size(), records);
  EXPECT_EQ(rig_.row(table_, {7, 0}), (Cells{7, 71}));
}

TEST_F(Requests, ARetryThatMeetsItsOriginalInFlightWaitsForIt) {
  write(1, put_of(7, 70));
  rig_.tick();
  uint64_t retry = write(1, put_of(7, 70));
  EXPECT_FALSE(rig_.answered(retry));
  rig_.settle();
  EXPECT_TRUE(rig_.answered(retry));
  EXPECT_EQ(changes_in_log(), 1u);
}

TEST_F(Requests, ARequestOfAnUnknownSessionIsRefusedNeverExecuted) {
  pb::SessionName unknown;
  unknown.set_region(1);
  unknown.set_offset(12345);
  uint64_t write = rig_.write(rig_.request(unknown, 1, put_of(7, 70)));
  rig_.settle();
  EXPECT_EQ(rig_.refused(write), pb::SESSION_EXPIRED);
  EXPECT_EQ(changes_in_log(), 0u);
}

TEST_F(Requests, NumbersBelowTheLowestUnansweredAreRefused) {
  write(1, put_of(1, 1));
  write(5, put_of(5, 5), 5);
  rig_.settle();
  uint64_t late = write(1, put_of(1, 2), 1);
  EXPECT_EQ(rig_.refused(late), pb::NUMBER_TOO_LOW);
  EXPECT_EQ(rig_.row(table_, {1, 0}), (Cells{1, 1}));
}

TEST_F(Requests, ASessionIsNamedByThePositionOfItsRecord) {
  uint64_t at = rig_.log()->records.size();
  pb::SessionName other = rig_.session();
  EXPECT_EQ(other.region(), 1u);
  EXPECT_EQ(other.offset(), at);
  EXPECT_TRUE(rig_.bodies().back().has_open_session());
}

TEST_F(Requests, EntriesOutliveARestart) {
  write(1, put_of(7, 70));
  rig_.settle();
  rig_.end();
  rig_.open(2);
  uint64_t retry = write(1, put_of(7, 70));
  EXPECT_THAT(rig_.reply(retry).written().rows_affected(), ElementsAre(1));
  EXPECT_EQ(changes_in_log(), 1u);
}

TEST_F(Requests, WhatWasInFlightAtTheEndOfAnIncarnationIsUnknownAndSettledByReading) {
  uint64_t first = write(1, put_of(1, 10));
  rig_.tick();
  rig_.tick(10'000);
  uint64_t second = write(2, put_of(2, 20));
  rig_.tick(10'000);
  EXPECT_EQ(rig_.in_flight(), 2u);
  rig_.end(1);  // The first is in the log after all.
  EXPECT_EQ(rig_.refused(first), pb::OUTCOME_UNKNOWN);
  EXPECT_EQ(rig_.refused(second), pb::OUTCOME_UNKNOWN);

  rig_.open(2);
  uint64_t again = write(1, put_of(1, 10));
  EXPECT_TRUE(rig_.answered(again));  // It was done.
  uint64_t other = write(2, put_of(2, 20));
  EXPECT_FALSE(rig_.answered(other));
  rig_.settle();
  EXPECT_EQ(rig_.all(table_), (std::vector<Cells>{{1, 10}, {2, 20}}));
  EXPECT_EQ(changes_in_log(), 2u);
}

TEST_F(Requests, AFenceOfAnotherWhereOurRecordWasToLieAcknowledgesNothing) {
  uint64_t lost = write(1, put_of(1, 10));
  rig_.tick();
  WalRecord fence;
  fence.header = {RecordKind::Fence, {1, RegionId{1}}, {}, {}, MapVersion{9}, 77};
  rig_.log()->records.push_back(fence);
  rig_.read_log();
  EXPECT_FALSE(rig_.answered(lost));
  rig_.end();
  EXPECT_EQ(rig_.refused(lost), pb::OUTCOME_UNKNOWN);
}

TEST_F(Requests, AReplicaThatDoesNotOwnRefuses) {
  rig_.end();
  EXPECT_EQ(rig_.refused(write(1, put_of(1, 1))), pb::NOT_OWNER);
  EXPECT_EQ(rig_.refused(rig_.open_session()), pb::NOT_OWNER);
  EXPECT_EQ(rig_.refused(rig_.get(table_, {1, 0})), pb::NOT_OWNER);
}

TEST_F(Requests, ARowAndARequestHaveASizeLimit) {
  std::string operations;
  std::string row(128 * 1024, 'x');
  append_operation(operations, {OperationKind::Put, table_.id(), 1, "k", row, std::nullopt});
  EXPECT_EQ(rig_.refused(write(1, operations)), pb::TOO_LARGE);
  operations.clear();
  row.resize(100 * 1024);
  for (char key = 'a'; key < 'a' + 9; ++key) {
    append_operation(operations,
                     {OperationKind::Put, table_.id(), 1, std::string(1, key), row, std::nullopt});
  }
  EXPECT_EQ(rig_.refused(write(2, operations)), pb::TOO_LARGE);
  rig_.settle();
  EXPECT_EQ(changes_in_log(), 0u);
}

TEST_F(Requests, MalformedAndForeignOperationsAreRefused) {
  EXPECT_EQ(rig_.refused(write(1, "garbage")), pb::MALFORMED);
  EXPECT_EQ(rig_.refused(write(1, "")), pb::MALFORMED);
  std::string operations;
  append_operation(operations, {OperationKind::Put, TableId{99}, 1, "k", "r", std::nullopt});
  EXPECT_EQ(rig_.refused(write(1, operations)), pb::STALE_CATALOG);
  EXPECT_EQ(rig_.refused(write(1, put_of(1, 1), 2)), pb::MALFORMED);
}

// It is the region that is behind: nothing that the writer could bind anew would help.
TEST_F(Requests, AWriteAheadOfTheRegionsCatalogIsToBeTriedAgain) {
  const uint64_t version = rig_.state().catalog().version().value;
  auto write_with = [&](uint64_t catalog) {
    pb::WriteRequest request = rig_.request(session_, 1, put_of(1, 1));
    request.set_catalog_version(catalog);
    return rig_.write(request);
  };
  EXPECT_EQ(rig_.refused(write_with(version + 1)), pb::CATALOG_BEHIND);
  const uint64_t same = write_with(version);
  rig_.settle();
  EXPECT_THAT(rig_.reply(same).written().rows_affected(), ElementsAre(1));
}

TEST_F(Requests, AWriteReturnsTheLaneAndThePositionAfterItsRecord) {
  pb::WriteReply reply = rig_.put(table_, {7, 70});
  ASSERT_EQ(reply.tokens_size(), 1);
  uint64_t hash = table_.encode({7, 70}).hash;
  EXPECT_EQ(reply.tokens(0).lanes().begin(), kShards.shard_of(hash).value);
  EXPECT_EQ(reply.tokens(0).position().generation(), 1u);
  EXPECT_EQ(reply.tokens(0).position().offset(), rig_.log()->records.size());
}

// Else an earlier attempt that comes late would find something to do, and undo what was done since.
TEST_F(Requests, AWriteThatFindsNothingToDoIsNotDoneLater) {
  std::string remove;
  add_delete(remove, table_, {7, 0});
  uint64_t write = this->write(1, remove);
  rig_.settle();
  EXPECT_THAT(rig_.reply(write).written().rows_affected(), ElementsAre(0));
  rig_.put(table_, {7, 70});

  uint64_t late = this->write(1, remove);
  rig_.settle();
  EXPECT_THAT(rig_.reply(late).written().rows_affected(), ElementsAre(0));
  EXPECT_EQ(rig_.row(table_, {7, 0}), (Cells{7, 70}));
}

// Who is replaced, and does not know it yet, may lack the row.
TEST_F(Requests, AWriteThatFindsNothingToDoIsAnsweredByAnOwnerOnly) {
  std::string remove;
  add_delete(remove, table_, {7, 0});
  uint64_t write = this->write(1, remove);
  rig_.tick();
  EXPECT_FALSE(rig_.answered(write));
  rig_.land();
  EXPECT_THAT(rig_.reply(write).written().rows_affected(), ElementsAre(0));
  EXPECT_EQ(changes_in_log(), 0u);
}

// Who is replaced may have a row that is gone, and lack one that is there.
TEST_F(Requests, AWriteThatFailsIsAnsweredByAnOwnerOnly) {
  rig_.put(table_, {7, 70});
  std::string insert;
  add_put(insert, table_, {7, 71}, OperationKind::Insert);
  uint64_t failed = this->write(1, insert);
  rig_.tick();
  EXPECT_FALSE(rig_.answered(failed));
  rig_.land();
  EXPECT_EQ(rig_.reply(failed).written().failed().substr(0, 5), "23505");

  failed = this->write(1, insert);
  rig_.tick();
  rig_.end();
  EXPECT_EQ(rig_.refused(failed), pb::OUTCOME_UNKNOWN);
}

TEST_F(Requests, NoMoreAnswersAreHeldThanAllowedWhileTheLogStalls) {
  RegionOptions options;
  options.answers_max = 3;
  Rig rig({RegionId{1}, kShards.all(), Generation{1}, kShards}, options);
  rig.catalog(catalog_);
  rig.open();
  rig.settle();
  const pb::WriteRequest request = rig.request(rig.session(), 1, put_of(7, 70));
  std::vector<uint64_t> attempts;
  for (int i = 0; i < 4; ++i) attempts.push_back(rig.write(request));
  EXPECT_EQ(rig.refused(attempts.back()), pb::OVERLOADED);
  rig.settle();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(rig.reply(attempts[i]).has_written());
}

TEST_F(Requests, AnAnswerToAGetIsBoundedAndTellsWhichKeysAreLeft) {
  constexpr int kRows = 100;
  const std::string row(100'000, 'x');
  pb::GetRequest request;
  request.set_table(1);
  for (int i = 0; i < kRows; ++i) {
    rig_.rows().put(table_.id(), 1, "k" + std::to_string(i), row);
    request.add_keys("k" + std::to_string(i));
    request.add_hashes(1);
  }
  uint32_t count = 0;
  while (request.keys_size() > 0) {
    const pb::RowsReply& rows = rig_.reply(rig_.get(request)).rows();
    EXPECT_LE(rows.ByteSizeLong(), size_t{5} << 20);
    ASSERT_GT(rows.count(), 0u);
    ASSERT_EQ(rows.count() + rows.keys_left(), static_cast<uint32_t>(request.keys_size()));
    count += rows.count();
    request.mutable_keys()->DeleteSubrange(0, static_cast<int>(rows.count()));
    request.mutable_hashes()->Truncate(request.keys_size());
  }
  EXPECT_EQ(count, uint32_t{kRows});
}

TEST_F(Requests, AScanGoesOnFromItsCursorInBothDirections) {
  for (int64_t key = 0; key < 25; ++key) rig_.put(table_, {key, key});
  for (bool reverse : {false, true}) {
    std::vector<std::string> keys;
    pb::ScanRequest request;
    request.set_table(1);
    request.set_rows_max(4);
    request.set_reverse(reverse);
    do {
      const pb::RowsReply& rows = rig_.reply(rig_.scan(request)).rows();
      RowReader reader(rows.rows());
      for (StoredRow row; reader.next(row);) keys.push_back(encode_store_key(TableId{1}, row.hash, row.key));
      request.set_cursor(rows.cursor());
    } while (!request.cursor().empty());
    EXPECT_EQ(keys.size(), 25u);
    if (reverse) std::reverse(keys.begin(), keys.end());
    EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  }
}

TEST(Sessions, AreBoundedTheOldestIdleOneIsExpiredByARecord) {
  RegionOptions options;
  options.sessions_max = 2;
  options.session_idle = Micros{1'000'000};
  Rig rig({RegionId{1}, kShards.all(), Generation{1}, kShards}, options);
  TestTable table(define({.id = 1}));
  TestCatalog catalog;
  catalog.create(table.definition());
  rig.catalog(catalog);
  rig.open();
  rig.settle();
  pb::SessionName first = rig.session();
  pb::SessionName second = rig.session();
  uint64_t refused = rig.open_session();
  EXPECT_EQ(rig.refused(refused), pb::TOO_MANY_SESSIONS);

  rig.tick(2'000'000);
  std::string operations;
  add_put(operations, table, {1, 1});
  rig.write(rig.request(first, 1, operations));  // The first is in use again.
  rig.settle();
  rig.session();
  std::string other;
  add_put(other, table, {2, 2});
  EXPECT_EQ(rig.refused(rig.write(rig.request(second, 1, other))), pb::SESSION_EXPIRED);
  EXPECT_FALSE(rig.answered(rig.write(rig.request(first, 2, other))));
}

}  // namespace
}  // namespace tidemark
