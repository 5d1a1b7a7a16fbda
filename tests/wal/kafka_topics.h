// Topics as tests want them, good or bad, made and read with librdkafka alone.
#pragma once

#include <librdkafka/rdkafka.h>

#include <array>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace tidemark {

class KafkaTopics {
 public:
  explicit KafkaTopics(const std::string& brokers) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", brokers);
    set(conf, "enable.partition.eof", "true");
    rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t*, int, const char*, const char*) {});
    std::array<char, 256> reason{};
    handle_ = rd_kafka_new(RD_KAFKA_CONSUMER, conf, reason.data(), reason.size());
    if (handle_ == nullptr) throw std::runtime_error(reason.data());
  }
  ~KafkaTopics() { rd_kafka_destroy(handle_); }
  KafkaTopics(const KafkaTopics&) = delete;
  KafkaTopics& operator=(const KafkaTopics&) = delete;

  void create(const std::string& topic, int partitions, int copies,
              const std::map<std::string, std::string>& settings) {
    std::array<char, 256> reason{};
    rd_kafka_NewTopic_t* wanted =
        rd_kafka_NewTopic_new(topic.c_str(), partitions, copies, reason.data(), reason.size());
    for (const auto& [name, value] : settings)
      rd_kafka_NewTopic_set_config(wanted, name.c_str(), value.c_str());
    rd_kafka_queue_t* queue = rd_kafka_queue_new(handle_);
    rd_kafka_CreateTopics(handle_, &wanted, 1, nullptr, queue);
    rd_kafka_event_t* event = rd_kafka_queue_poll(queue, 30'000);
    const bool failed = event == nullptr || rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR;
    if (event != nullptr) rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewTopic_destroy(wanted);
    if (failed) throw std::runtime_error("can not create " + topic);
  }

  // Every message of partition 0, to the end; offsets are checked to be dense from 0.
  std::vector<std::string> read_all(const std::string& topic) {
    rd_kafka_topic_t* reading = rd_kafka_topic_new(handle_, topic.c_str(), nullptr);
    rd_kafka_consume_start(reading, 0, RD_KAFKA_OFFSET_BEGINNING);
    std::vector<std::string> all;
    bool at_end = false;
    for (int attempts = 0; !at_end && attempts < 300;) {
      rd_kafka_message_t* message = rd_kafka_consume(reading, 0, 100);
      if (message == nullptr) {
        ++attempts;
        continue;
      }
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (message->offset != static_cast<int64_t>(all.size()))
          throw std::runtime_error("a hole in " + topic);
        all.emplace_back(static_cast<const char*>(message->payload), message->len);
      }
      at_end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
      rd_kafka_message_destroy(message);
    }
    rd_kafka_consume_stop(reading, 0);
    rd_kafka_topic_destroy(reading);
    if (!at_end) throw std::runtime_error("can not read " + topic);
    return all;
  }

 private:
  static void set(rd_kafka_conf_t* conf, const char* name, const std::string& value) {
    std::array<char, 256> reason{};
    if (rd_kafka_conf_set(conf, name, value.c_str(), reason.data(), reason.size()) != RD_KAFKA_CONF_OK) {
      throw std::runtime_error(reason.data());
    }
  }

  rd_kafka_t* handle_ = nullptr;
};

}  // namespace tidemark
