// Reads topics. A client handle reads a partition at one place at a time, so a second reader of the same
// topic gets a handle of its own; most of the time there is one handle.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "wal/kafka_client.h"
#include "wal/log.h"

namespace tidemark {

class KafkaConsumers;

// One topic, being read from an offset on. Destroyed on a thread that may block.
class KafkaReading {
 public:
  ~KafkaReading();
  KafkaReading(const KafkaReading&) = delete;
  KafkaReading& operator=(const KafkaReading&) = delete;

  // What has come so far; empty: nothing, and `ready` will be called. Does not block. One thread at a time.
  // Unavailable, or Trimmed when the offset is out of range: then the reading is used up.
  Result<std::vector<LogEntry>, LogFailure> take(size_t bytes_max);

 private:
  friend class KafkaConsumers;
  struct Handle;
  KafkaReading(KafkaConsumers& owner, Handle& handle, std::string topic);

  KafkaConsumers& owner_;
  Handle& handle_;
  const std::string topic_;
  std::function<void()> ready_;
  std::optional<LogFailure> failed_;  // To be told once what came before it was taken.
  KafkaPtr<rd_kafka_topic_t> topic_handle_;
  KafkaPtr<rd_kafka_queue_t> queue_;
};

class KafkaConsumers final : KafkaEvents {
 public:
  using Notice = std::function<void(const std::string&)>;
  KafkaConsumers(KafkaSettings settings, Notice notice);
  ~KafkaConsumers() override;  // REQUIRES: every reading is gone.

  // May block. `ready` is called on librdkafka's threads whenever something comes after take() found nothing.
  Result<std::shared_ptr<KafkaReading>, LogFailure> start(const std::string& topic, Offset from,
                                                          std::function<void()> ready);

 private:
  friend class KafkaReading;
  Result<KafkaReading::Handle*> handle_for(const std::string& topic);
  void release(KafkaReading::Handle& handle, const std::string& topic);
  void on_trouble(const std::string& what) override { notice_("Kafka: " + what); }

  const KafkaSettings settings_;
  const Notice notice_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<KafkaReading::Handle>> handles_;
};

}  // namespace tidemark
