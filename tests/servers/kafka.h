// A real Kafka in KRaft mode: one broker, or three.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/servers/ports.h"
#include "tests/servers/server.h"

namespace tidemark::servers {

enum class KafkaSize : uint8_t { One = 1, Three = 3 };

// Where deploy/kafka/fetch puts the broker's jars, if it has.
std::optional<std::filesystem::path> kafka_jars();

// Serves when the constructor returns. Throws ServerError. Every broker is a controller, too.
class KafkaCluster {
 public:
  // `settings` are added to each broker's server.properties, or replace what the fixture says there.
  explicit KafkaCluster(KafkaSize size = KafkaSize::One, std::map<std::string, std::string> settings = {});

  // Of all brokers, for clients: "127.0.0.1:10001,127.0.0.1:10002".
  std::string bootstrap() const;

  size_t size() const { return brokers_.size(); }
  Server& broker(size_t index) { return *brokers_.at(index)->server; }

  // Until every broker serves and sees all the others.
  void wait_until_ready();

 private:
  struct Broker {
    HeldPort client_port;
    HeldPort controller_port;
    std::unique_ptr<Server> server;
  };
  std::filesystem::path home_of(size_t index) const;
  std::filesystem::path log_of(size_t index) const;
  Command java(size_t index, const std::vector<std::string>& arguments) const;
  void configure(size_t index, std::map<std::string, std::string> settings);
  void format();

  TemporaryDirectory directory_;
  std::filesystem::path jars_;
  std::vector<std::unique_ptr<Broker>> brokers_;
};

// First line of a test that needs Kafka. Without its jars (Maven Central could not be reached) the test is
// skipped, loudly; under CI=true it fails.
#define TM_REQUIRE_KAFKA()                                                                              \
  do {                                                                                                  \
    if (!::tidemark::servers::kafka_jars()) {                                                           \
      const char* tm_ci = std::getenv("CI");                                                            \
      if (tm_ci != nullptr && std::string(tm_ci) == "true") FAIL() << "Kafka is missing: deploy/setup"; \
      GTEST_SKIP() << "*** KAFKA IS MISSING, THIS TEST DID NOT RUN *** (deploy/setup fetches it)";      \
    }                                                                                                   \
  } while (false)

}  // namespace tidemark::servers
