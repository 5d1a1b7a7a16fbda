#include "tests/servers/kafka.h"

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <array>

namespace tidemark::servers {
namespace {

// A producer that says whether each message was stored.
class Client {
 public:
  explicit Client(const std::string& bootstrap) {
    rd_kafka_conf_t* config = rd_kafka_conf_new();
    std::array<char, 200> reason{};
    rd_kafka_conf_set(config, "bootstrap.servers", bootstrap.c_str(), reason.data(), reason.size());
    rd_kafka_conf_set(config, "acks", "all", reason.data(), reason.size());
    // A paused broker keeps its connections: give up on them soon.
    rd_kafka_conf_set(config, "socket.timeout.ms", "4000", reason.data(), reason.size());
    rd_kafka_conf_set(config, "enable.idempotence", "true", reason.data(), reason.size());
    rd_kafka_conf_set_opaque(config, this);
    rd_kafka_conf_set_dr_msg_cb(config, [](rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
      static_cast<Client*>(self)->stored_ += message->err == RD_KAFKA_RESP_ERR_NO_ERROR ? 1 : 0;
    });
    rd_kafka_conf_set_log_cb(config, [](const rd_kafka_t*, int, const char*, const char*) {});
    handle_ = rd_kafka_new(RD_KAFKA_PRODUCER, config, reason.data(), reason.size());
  }
  ~Client() { rd_kafka_destroy(handle_); }

  void create_topic(const std::string& name, int copies) {
    std::array<char, 200> reason{};
    rd_kafka_NewTopic_t* topic = rd_kafka_NewTopic_new(name.c_str(), 1, copies, reason.data(), reason.size());
    rd_kafka_queue_t* queue = rd_kafka_queue_new(handle_);
    rd_kafka_CreateTopics(handle_, &topic, 1, nullptr, queue);
    rd_kafka_event_t* event = rd_kafka_queue_poll(queue, 60000);
    ASSERT_NE(event, nullptr);
    EXPECT_EQ(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR) << rd_kafka_event_error_string(event);
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewTopic_destroy(topic);
  }

  // Returns when the message is stored.
  void produce(const std::string& topic) {
    const int expected = stored_ + 1;
    std::string payload = "x";
    ASSERT_EQ(rd_kafka_producev(handle_, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(0),
                                RD_KAFKA_V_VALUE(payload.data(), payload.size()),
                                RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
              RD_KAFKA_RESP_ERR_NO_ERROR);
    wait_until("the message is stored", [&] {
      rd_kafka_poll(handle_, 10);
      return stored_ == expected;
    });
  }

  int64_t end_of(const std::string& topic) {
    int64_t low = -1;
    int64_t high = -1;
    wait_until("watermarks", [&] {
      return rd_kafka_query_watermark_offsets(handle_, topic.c_str(), 0, &low, &high, 1000) ==
             RD_KAFKA_RESP_ERR_NO_ERROR;
    });
    return high;
  }

 private:
  rd_kafka_t* handle_;
  int stored_ = 0;
};

TEST(KafkaCluster, OneBrokerStoresAndRemembersAcrossKillAndRestart) {
  TM_REQUIRE_KAFKA();
  KafkaCluster kafka;
  Client client(kafka.bootstrap());
  client.create_topic("log", 1);
  client.produce("log");
  kafka.broker(0).kill();
  kafka.broker(0).restart();
  client.produce("log");
  EXPECT_EQ(client.end_of("log"), 2);
}

TEST(KafkaCluster, ThreeBrokersGoOnWithoutOneOfThem) {
  TM_REQUIRE_KAFKA();
  KafkaCluster kafka(KafkaSize::Three);
  Client client(kafka.bootstrap());
  client.create_topic("log", 3);
  client.produce("log");
  kafka.broker(0).pause();
  client.produce("log");
  kafka.broker(0).resume();
  kafka.wait_until_ready();
  kafka.broker(1).kill();
  client.produce("log");
  EXPECT_EQ(client.end_of("log"), 3);
}

}  // namespace
}  // namespace tidemark::servers
