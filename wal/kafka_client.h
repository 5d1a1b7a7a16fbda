// librdkafka's handles: how they are configured, and how they are held. Included by wal/kafka_*.cc only.
#pragma once

#include <librdkafka/rdkafka.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"

namespace tidemark {

struct KafkaDestroy {
  void operator()(rd_kafka_t* it) const { rd_kafka_destroy(it); }
  void operator()(rd_kafka_topic_t* it) const { rd_kafka_topic_destroy(it); }
  void operator()(rd_kafka_topic_conf_t* it) const { rd_kafka_topic_conf_destroy(it); }
  void operator()(rd_kafka_conf_t* it) const { rd_kafka_conf_destroy(it); }
  void operator()(rd_kafka_queue_t* it) const { rd_kafka_queue_destroy(it); }
  void operator()(rd_kafka_event_t* it) const { rd_kafka_event_destroy(it); }
  void operator()(const rd_kafka_metadata_t* it) const { rd_kafka_metadata_destroy(it); }
  void operator()(rd_kafka_AdminOptions_t* it) const { rd_kafka_AdminOptions_destroy(it); }
  void operator()(rd_kafka_NewTopic_t* it) const { rd_kafka_NewTopic_destroy(it); }
  void operator()(rd_kafka_DeleteTopic_t* it) const { rd_kafka_DeleteTopic_destroy(it); }
  void operator()(rd_kafka_DeleteRecords_t* it) const { rd_kafka_DeleteRecords_destroy(it); }
  void operator()(rd_kafka_ConfigResource_t* it) const { rd_kafka_ConfigResource_destroy(it); }
  void operator()(rd_kafka_topic_partition_list_t* it) const { rd_kafka_topic_partition_list_destroy(it); }
};
template <typename T>
using KafkaPtr = std::unique_ptr<T, KafkaDestroy>;

// What the handles of one process have in common.
struct KafkaSettings {
  std::string brokers;
  std::map<std::string, std::string> extra;  // librdkafka's: TLS, SASL, timeouts. Values are never printed.
};

// What one handle calls back, on librdkafka's threads. REQUIRES: it outlives the handle.
class KafkaEvents {
 public:
  virtual ~KafkaEvents() = default;
  // Something for people: a connection lost, brokers down.
  virtual void on_trouble(const std::string& what) = 0;
  virtual void on_fatal(const std::string&) {}            // Producer, inside rd_kafka_poll().
  virtual void on_delivery(const rd_kafka_message_t&) {}  // Producer, inside rd_kafka_poll().
};

// Error: a setting that librdkafka does not know or take, by name; or one that is not the user's to choose.
Result<KafkaPtr<rd_kafka_t>> make_kafka_producer(const KafkaSettings& settings, KafkaEvents& events);
// Reads topics and asks the brokers questions; belongs to no group.
Result<KafkaPtr<rd_kafka_t>> make_kafka_consumer(const KafkaSettings& settings, KafkaEvents& events);

}  // namespace tidemark
