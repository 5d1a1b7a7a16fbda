// The wire protocol as a core: bytes in, bytes out.
#include "sql/gateway/connection.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/gateway/fake_session.h"
#include "tests/simulation/virtual_scheduler.h"

namespace tidemark::sql {
namespace {

void put_int32(std::string& out, int32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}
std::string int16(int value) {
  return {static_cast<char>(value >> 8), static_cast<char>(value)};
}
std::string int32(int32_t value) {
  std::string out;
  put_int32(out, value);
  return out;
}
std::string zero_ended(std::string_view text) {
  return std::string(text) + '\0';
}

std::string message(char type, const std::string& body) {
  return std::string(1, type) + int32(static_cast<int32_t>(body.size() + 4)) + body;
}
std::string startup(int32_t version = kProtocolVersion3,
                    std::string parameters = zero_ended("user") + zero_ended("me")) {
  std::string body = int32(version) + parameters + '\0';
  return int32(static_cast<int32_t>(body.size() + 4)) + body;
}
std::string parse(std::string_view name, std::string_view text) {
  return message('P', zero_ended(name) + zero_ended(text) + int16(0));
}
std::string bind(std::string_view portal, std::string_view statement) {
  return message('B', zero_ended(portal) + zero_ended(statement) + int16(0) + int16(0) + int16(0));
}
std::string execute(std::string_view portal, int32_t rows_max = 0) {
  return message('E', zero_ended(portal) + int32(rows_max));
}
const std::string kSync = message('S', "");

class ConnectionTest : public testing::Test {
 protected:
  void feed(const std::string& bytes) {
    connection.feed(bytes);
    world.run();
    take();
  }
  void take() {
    while (connection.has_output()) {
      output_max = std::max(output_max, connection.has_output() ? take_once() : 0);
      connection.go_on();
      world.run();
    }
  }
  size_t take_once() {
    const std::string taken = connection.take_output();
    output += taken;
    return taken.size();
  }

  static Result<std::unique_ptr<Session>, SqlError> make_session(Scheduler& scheduler,
                                                                 FakeSession** made = nullptr) {
    auto session = std::make_unique<FakeSession>(scheduler);
    if (made) *made = session.get();
    return std::unique_ptr<Session>(std::move(session));
  }

  // The types of the messages received since the last call, each once per run: "TDC" for three rows.
  std::string types() {
    std::string out;
    std::string_view left = output;
    while (left.size() >= 5) {
      WireReader head(left);
      char type = static_cast<char>(head.byte());
      auto size = static_cast<size_t>(head.int32());
      if (out.empty() || out.back() != type || type != 'D') out.push_back(type);
      if (type == 'E') last_error = left.substr(5, size - 4);
      if (type == 'C') last_tag = left.substr(5, size - 5);
      left.remove_prefix(std::min(left.size(), size + 1));
    }
    output.clear();
    return out;
  }

  void start() {
    feed(startup());
    types();
  }

  VirtualScheduler world;
  std::vector<CancelKey> cancelled;
  bool closed = false;
  std::string output;
  std::string last_error;
  std::string last_tag;
  size_t output_max = 0;  // Taken at once.
  FakeSession* session = nullptr;
  SessionRequest requested;
  static constexpr size_t kOutputMax = 4'000, kResultMax = 100'000;
  Connection connection{CancelKey{7, 42},
                        [this](const SessionRequest& request) {
                          requested = request;
                          return make_session(world, &session);
                        },
                        {{}, [this] { closed = true; }, [this](CancelKey key) { cancelled.push_back(key); }},
                        {.output_bytes_max = kOutputMax, .result_bytes_max = kResultMax}};
};

TEST_F(ConnectionTest, EncryptionIsDeclinedAndStartupIsAnswered) {
  feed(int32(8) + int32(kSslRequest) + int32(8) + int32(kGssEncRequest));
  EXPECT_EQ(output, "NN");
  output.clear();
  feed(startup());
  EXPECT_EQ(types(), "RSSSSSSSSSSSKZ");
}

TEST_F(ConnectionTest, ANewerMinorVersionIsNegotiated) {
  feed(startup(kProtocolVersion3 + 2,
               zero_ended("user") + zero_ended("me") + zero_ended("_pq_.x") + zero_ended("1")));
  EXPECT_NE(output.find(message('v', int32(kProtocolVersion3) + int32(1) + zero_ended("_pq_.x"))),
            std::string::npos);
  EXPECT_EQ(types().substr(0, 2), "vR");
}

TEST_F(ConnectionTest, AnOlderMajorVersionAMissingUserAndAnotherEncodingAreRefused) {
  for (const std::string& bytes :
       {startup(2 << 16), startup(kProtocolVersion3, ""),
        startup(kProtocolVersion3,
                zero_ended("user") + zero_ended("me") + zero_ended("client_encoding") + zero_ended("LATIN1")),
        int32(100'000) + int32(kProtocolVersion3)}) {
    Connection one({1, 1}, {}, {}, {});
    one.feed(bytes);
    EXPECT_TRUE(one.closed());
    EXPECT_EQ(one.take_output()[0], 'E');
  }
}

TEST_F(ConnectionTest, ACancelRequestIsPassedOnAndTheConnectionClosed) {
  feed(int32(16) + int32(kCancelRequest) + int32(7) + int32(42));
  EXPECT_EQ(cancelled, (std::vector<CancelKey>{{7, 42}}));
  EXPECT_TRUE(closed);
}

TEST_F(ConnectionTest, ASimpleQueryRunsItsStatementsUntilOneFails) {
  start();
  feed(message('Q', zero_ended("rows 3; rows 1")));
  EXPECT_EQ(types(), "TDCTDCZ");
  feed(message('Q', zero_ended("rows 3; fail; rows 1")));
  EXPECT_EQ(types(), "TDCEZ");
  EXPECT_NE(last_error.find("22012"), std::string::npos);
  feed(message('Q', zero_ended(" ; ")));
  EXPECT_EQ(types(), "IZ");
}

TEST_F(ConnectionTest, AnErrorInTheExtendedProtocolSkipsToSync) {
  start();
  feed(parse("", "nonsense") + bind("", "") + execute("") + kSync);
  EXPECT_EQ(types(), "EZ");
  feed(parse("", "rows 2") + bind("", "") + message('D', "P" + zero_ended("")) + execute("") + kSync);
  EXPECT_EQ(types(), "12TDCZ");
}

TEST_F(ConnectionTest, APortalIsReadInPieces) {
  start();
  feed(parse("s", "rows 5") + bind("p", "s") + execute("p", 2));
  EXPECT_EQ(types(), "12Ds");
  feed(execute("p", 2));
  EXPECT_EQ(types(), "Ds");
  feed(execute("p", 2) + kSync);
  EXPECT_EQ(types(), "DCZ");
  EXPECT_EQ(last_tag, "SELECT 1");
}

TEST_F(ConnectionTest, ParametersAndResultsAreTextOrBinary) {
  start();
  std::string binary_eight = {0, 0, 0, 0, 0, 0, 0, 8};
  feed(parse("e", "echo") +
       message('B', zero_ended("") + zero_ended("e") + int16(1) + int16(1) + int16(1) + int32(8) +
                        binary_eight + int16(1) + int16(1)) +
       execute(""));
  EXPECT_NE(output.find(int16(1) + int32(8) + binary_eight), std::string::npos);
  EXPECT_EQ(types(), "12DC");
  feed(message('B', zero_ended("") + zero_ended("e") + int16(0) + int16(1) + int32(2) + "42" + int16(0)) +
       execute(""));
  EXPECT_NE(output.find(int32(2) + "42"), std::string::npos);
  types();
  feed(message('B', zero_ended("") + zero_ended("e") + int16(0) + int16(1) + int32(2) + "4x" + int16(0)) +
       kSync);
  EXPECT_EQ(types(), "EZ");
  EXPECT_NE(last_error.find("22P02"), std::string::npos);
}

TEST_F(ConnectionTest, ATypeThatTheClientGaveIsToldAsItWasGiven) {
  constexpr int32_t kVarchar = 1043, kBigInt = 20;
  start();
  feed(message('P', zero_ended("v") + zero_ended("echo") + int16(1) + int32(kVarchar)) +
       message('D', "S" + zero_ended("v")));
  EXPECT_NE(output.find(message('t', int16(1) + int32(kVarchar))), std::string::npos);
  types();
  feed(parse("w", "echo") + message('D', "S" + zero_ended("w")));
  EXPECT_NE(output.find(message('t', int16(1) + int32(kBigInt))), std::string::npos);
}

TEST_F(ConnectionTest, UnknownNamesAreRefused) {
  start();
  feed(bind("", "none") + kSync + execute("none") + kSync + message('D', "S" + zero_ended("none")) + kSync);
  EXPECT_EQ(types(), "EZEZEZ");
}

TEST_F(ConnectionTest, CopyTakesDataAndCanBeGivenUp) {
  start();
  feed(message('Q', zero_ended("copy")));
  EXPECT_EQ(types(), "G");
  feed(message('d', "abc") + message('d', "de") + message('c', ""));
  EXPECT_EQ(types(), "CZ");
  EXPECT_EQ(last_tag, "COPY 5");
  feed(message('Q', zero_ended("copy")) + message('d', "abc") + message('f', zero_ended("no")));
  EXPECT_EQ(types(), "GEZ");
}

TEST_F(ConnectionTest, InputWaitsWhileAStatementRuns) {
  start();
  feed(message('Q', zero_ended("wait")) + message('Q', zero_ended("rows 1")));
  EXPECT_EQ(types(), "");
  connection.cancel();
  world.run();
  feed("");
  EXPECT_EQ(types(), "EZTDCZ");
}

TEST_F(ConnectionTest, AStatementWaitsUntilItsRowsAreTaken) {
  start();
  connection.feed(message('Q', zero_ended("rows 100000")));
  world.run();
  const int given = session->rows_given();
  EXPECT_LT(given, 1'000);
  world.run();
  EXPECT_EQ(session->rows_given(), given);
  take();
  EXPECT_EQ(types(), "TDCZ");
  EXPECT_EQ(last_tag, "SELECT 100000");
  EXPECT_LT(output_max, kOutputMax + 100);
}

TEST_F(ConnectionTest, MessagesWaitUntilTheAnswersAreTaken) {
  start();
  feed(parse("s", "rows 5"));
  types();
  std::string describes;
  for (int i = 0; i < 10'000; ++i) describes += message('D', "S" + zero_ended("s"));
  connection.feed(describes);
  EXPECT_FALSE(connection.wants_input());
  take();
  EXPECT_EQ(types().size(), 20'000u);
  EXPECT_LT(output_max, kOutputMax + 200);
  EXPECT_TRUE(connection.wants_input());
}

TEST_F(ConnectionTest, AStatementIsCancelledWhileItsRowsWait) {
  start();
  connection.feed(message('Q', zero_ended("rows 100000")));
  world.run();
  connection.cancel();
  world.run();
  take();
  EXPECT_EQ(types(), "TDEZ");
  EXPECT_NE(last_error.find("57014"), std::string::npos);
  feed(message('Q', zero_ended("rows 1")));
  EXPECT_EQ(types(), "TDCZ");
}

TEST_F(ConnectionTest, AResultTooLargeOfAStatementThatCannotWaitIsAnErrorNotMemory) {
  start();
  feed(message('Q', zero_ended("burst 1000000")));
  EXPECT_LT(output_max, kResultMax + 1'000);
  EXPECT_EQ(types(), "TDEZ");
  EXPECT_NE(last_error.find("54000"), std::string::npos);
}

TEST_F(ConnectionTest, APortalOfAStatementThatCannotWaitIsReadInPieces) {
  start();
  feed(parse("", "burst 4") + bind("", "") + execute("", 2) + execute("", 2) + execute("", 2) + kSync);
  EXPECT_EQ(types(), "12DsDsCZ");
  EXPECT_EQ(last_tag, "SELECT 0");
}

TEST_F(ConnectionTest, ASuspendedPortalHoldsNoRows) {
  start();
  feed(message('Q', zero_ended("begin")) + parse("s", "rows 1000000") + bind("p", "s") + execute("p", 10) +
       kSync);
  EXPECT_EQ(types(), "CZ12DsZ");
  EXPECT_EQ(session->rows_given(), 10);
  connection.cancel();  // Nothing runs: this does nothing.
  feed(execute("p", 10) + kSync);
  EXPECT_EQ(types(), "DsZ");
  EXPECT_EQ(session->rows_given(), 20);
  feed(message('C', "P" + zero_ended("p")) + execute("p") + kSync);
  EXPECT_EQ(types(), "3EZ");
  EXPECT_LE(session->rows_given(), 21);
  feed(bind("q", "s") + execute("q", 10) + message('Q', zero_ended("end")));
  EXPECT_EQ(types(), "2DsCZ");
}

TEST_F(ConnectionTest, ASuspendedPortalKeepsItsRowsWhileAnotherStatementRuns) {
  start();
  feed(message('Q', zero_ended("begin")) + parse("s", "rows 10") + bind("p", "s") + execute("p", 4) + kSync);
  EXPECT_EQ(types(), "CZ12DsZ");
  feed(bind("q", "s") + execute("q", 0) + message('Q', zero_ended("rows 1")) + execute("p", 4) +
       execute("p") + kSync);
  EXPECT_EQ(types(), "2DCTDCZDsDCZ");
  EXPECT_EQ(last_tag, "SELECT 2");
  EXPECT_EQ(session->rows_given(), 21);
}

TEST_F(ConnectionTest, ASuspendedPortalThatWouldKeepTooMuchFailsAlone) {
  start();
  feed(message('Q', zero_ended("begin")) + parse("s", "rows 1000000") + bind("p", "s") + execute("p", 4) +
       kSync);
  types();
  feed(message('Q', zero_ended("rows 1")));
  EXPECT_EQ(types(), "TDCZ");
  feed(execute("p") + kSync);
  EXPECT_EQ(types(), "DEZ");
  EXPECT_NE(last_error.find("54000"), std::string::npos);
}

TEST_F(ConnectionTest, WhatAllPortalsHoldTogetherIsBounded) {
  start();
  feed(parse("e", "echo"));
  types();
  auto bind_echo = [this](size_t name) {
    feed(message('B', zero_ended(std::to_string(name)) + zero_ended("e") + int16(0) + int16(1) + int32(2) +
                          "42" + int16(0)));
    return types();
  };
  size_t bound = 0;
  while (bound < kResultMax && bind_echo(bound) == "2") ++bound;
  EXPECT_NE(last_error.find("53200"), std::string::npos);
  EXPECT_LE(bound, kResultMax / sizeof(OwnedValue));
  feed(kSync);  // With which they end, outside of a transaction.
  types();
  EXPECT_EQ(bind_echo(0), "2");
}

TEST_F(ConnectionTest, ASuspendedPortalEndsWithItsTransaction) {
  start();
  feed(parse("s", "rows 1000") + bind("", "s") + execute("", 4) + kSync);
  EXPECT_EQ(types(), "12DsZ");
  feed(execute("", 4) + kSync);
  EXPECT_EQ(types(), "EZ");
  EXPECT_NE(last_error.find("34000"), std::string::npos);
  feed(bind("", "s") + execute("", 4) + bind("", "s") + execute("", 3) + kSync);
  EXPECT_EQ(types(), "2Ds2DsZ");
  EXPECT_LE(session->rows_given(), 4 + 4 + 3 + 3);
}

TEST_F(ConnectionTest, AnyMistakeFailsAnOpenTransaction) {
  start();
  for (const std::string& mistake : {message('Q', zero_ended("nonsense")), bind("", "none") + kSync,
                                     message('D', "X" + zero_ended("")) + kSync, execute("none") + kSync}) {
    feed(message('Q', zero_ended("begin")));
    types();
    feed(mistake);
    EXPECT_TRUE(output.ends_with(message('Z', "E")));
    EXPECT_EQ(types(), "EZ");
    feed(message('Q', zero_ended("end")));
    EXPECT_TRUE(output.ends_with(message('Z', "I")));
  }
}

TEST_F(ConnectionTest, AStatementOfNothingIsAnsweredAsSuch) {
  start();
  feed(parse("", "") + bind("", "") + message('D', "P" + zero_ended("")) + execute("") + kSync);
  EXPECT_EQ(types(), "12nIZ");
}

TEST_F(ConnectionTest, APortalWithoutRowsRunsOnce) {
  start();
  feed(parse("", "begin") + bind("", "") + execute("", 5) + execute("") + kSync);
  EXPECT_EQ(types(), "12CEZ");
  EXPECT_NE(last_error.find("55000"), std::string::npos);
}

TEST_F(ConnectionTest, StatementsAreForgottenByNameAndAll) {
  start();
  feed(parse("a", "rows 1") + parse("b", "rows 1") + message('Q', zero_ended("forget a")) +
       parse("a", "rows 2") + message('Q', zero_ended("forget nobody")) + message('Q', zero_ended("forget")) +
       bind("", "b") + kSync);
  EXPECT_EQ(types(), "11CZ1EZCZEZ");
  EXPECT_NE(last_error.find("26000"), std::string::npos);
}

TEST_F(ConnectionTest, SettingsThatClientsFollowAreTold) {
  start();
  feed(message('Q', zero_ended("set")));
  EXPECT_NE(output.find(message('S', zero_ended("application_name") + zero_ended("renamed"))),
            std::string::npos);
  EXPECT_EQ(types(), "SCZ");
}

TEST_F(ConnectionTest, SettingsOfTheStartupReachTheSession) {
  const std::string user = zero_ended("user") + zero_ended("me");
  feed(startup(kProtocolVersion3, user + zero_ended("DateStyle") + zero_ended("ISO") + zero_ended("options") +
                                      zero_ended("-c a.b=1  --search-path=x\\ y -cjit=off")));
  std::string all;
  for (const StartupSetting& one : requested.settings) {
    all += one.name + "=" + one.value + (one.is_option ? "!" : "") + ";";
  }
  EXPECT_EQ(all, "DateStyle=ISO;a.b=1!;search_path=x y!;jit=off!;");
  for (const char* options : {"-x", "-c", "-c a", "a=b"}) {
    Connection one({1, 1}, {}, {}, {});
    one.feed(startup(kProtocolVersion3, user + zero_ended("options") + zero_ended(options)));
    EXPECT_TRUE(one.closed());
  }
}

TEST_F(ConnectionTest, AnUnnamedStatementIsGoneWhenItsSuccessorIsRefused) {
  start();
  feed(parse("", "rows 1") + parse("", "nonsense") + kSync + bind("", "") + kSync);
  EXPECT_EQ(types(), "1EZEZ");
}

TEST_F(ConnectionTest, MessagesWithMoreThanTheyShouldHaveAreRefused) {
  start();
  feed(parse("s", "rows 1"));
  types();
  for (const std::string& bytes :
       {message('P', zero_ended("t") + zero_ended("rows 1") + int16(0) + "x"),
        message('B', zero_ended("") + zero_ended("s") + int16(0) + int16(0) + int16(0) + "x"),
        message('D', "S" + zero_ended("s") + "x"), message('E', zero_ended("") + int32(0) + "x"),
        message('C', "S" + zero_ended("s") + "x")}) {
    feed(bytes + kSync);
    EXPECT_EQ(types(), "EZ");
    EXPECT_NE(last_error.find("08P01"), std::string::npos);
  }
}

TEST_F(ConnectionTest, ParametersAreCountedUpTo65535) {
  start();
  std::string oids;
  for (int i = 0; i < 65'535; ++i) oids += int32(20);
  feed(message('P', zero_ended("many") + zero_ended("rows 1") + int16(65'535) + oids));
  EXPECT_EQ(types(), "1");
  feed(message('B', zero_ended("") + zero_ended("many") + int16(0) + int16(65'535)) + kSync);
  EXPECT_EQ(types(), "EZ");
  EXPECT_NE(last_error.find("supplies 65535 parameters"), std::string::npos);
}

TEST_F(ConnectionTest, AClientMayLeaveAmidACopy) {
  start();
  feed(message('Q', zero_ended("copy")) + message('d', "abc") + message('X', ""));
  EXPECT_TRUE(closed);
  EXPECT_EQ(types(), "G");
}

TEST_F(ConnectionTest, ACopyByPortalIgnoresTheSyncThatCameWithIt) {
  start();
  feed(parse("", "copy") + bind("", "") + execute("") + kSync);
  EXPECT_EQ(types(), "12G");
  feed(message('d', "abc") + message('c', "") + kSync);
  EXPECT_EQ(types(), "CZ");
  feed(bind("", "") + execute("") + message('d', "abc") + message('f', zero_ended("no")) +
       message('d', "late") + bind("", "") + kSync);
  EXPECT_EQ(types(), "2GEZ");
}

TEST_F(ConnectionTest, AnyBytesAreAnsweredOrRefusedNeverACrash) {
  Random random(3);
  const std::string pieces[] = {startup(),
                                parse("", "rows 2"),
                                bind("", ""),
                                execute(""),
                                kSync,
                                message('Q', zero_ended("rows 1; fail")),
                                message('Q', zero_ended("copy")),
                                message('d', "x"),
                                message('c', ""),
                                message('C', "S" + zero_ended(""))};
  for (int round = 0; round < 3000; ++round) {
    Connection one({1, 1}, [this](const SessionRequest&) { return make_session(world); }, {}, {});
    std::string bytes = round % 3 == 0 ? "" : startup();
    for (int i = 0; i < 8; ++i) bytes += pieces[random.below(std::size(pieces))];
    for (uint64_t flips = random.below(6); flips > 0; --flips) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.next());
    }
    size_t cut = random.below(bytes.size());
    one.feed(std::string_view(bytes).substr(0, cut));
    world.run();
    one.feed(std::string_view(bytes).substr(cut));
    world.run();
  }
}

}  // namespace
}  // namespace tidemark::sql
