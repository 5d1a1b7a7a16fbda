// The one producer of a process. A fatal error of the client costs a handle: a new one is made, and every
// append that was in flight is reported unknown.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "wal/kafka_client.h"
#include "wal/log.h"

namespace tidemark {

class KafkaProducer final : KafkaEvents {
 public:
  using Done = std::function<void(Result<Offset, LogFailure>)>;  // Called on any thread.
  using Notice = std::function<void(const std::string&)>;        // For people; called on any thread.

  static Result<std::unique_ptr<KafkaProducer>> make(KafkaSettings settings, Notice notice);
  ~KafkaProducer() override;  // What is in flight is not called back.

  // Makes the topic known to the client, which else takes a second for the first append to it, until
  // forget(). Blocks.
  void prepare(const std::string& topic);
  void forget(const std::string& topic);

  // From any thread. Appends of one thread to one topic land in order.
  void append(const std::string& topic, const std::string& bytes, Done done);

  // As if the client had met a fatal error; for tests.
  void break_handle();
  uint64_t handles_made() const { return handles_made_; }

 private:
  struct Handle {
    KafkaPtr<rd_kafka_t> client;
    std::map<std::string, std::shared_ptr<rd_kafka_topic_t>> topics;  // Under the mutex.
  };

  KafkaProducer(KafkaSettings settings, Notice notice)
      : settings_(std::move(settings)), notice_(std::move(notice)) {}
  static std::shared_ptr<rd_kafka_topic_t> topic_of(rd_kafka_t& client, const std::string& topic);
  Status start();
  void run();
  void replace_handle();
  void end_trouble();
  void on_trouble(const std::string& what) override;
  void on_fatal(const std::string& reason) override { fatal_ = reason; }
  void on_delivery(const rd_kafka_message_t& message) override;

  const KafkaSettings settings_;
  const Notice notice_;

  std::mutex mutex_;
  std::unordered_map<uint64_t, Done> in_flight_;
  uint64_t next_id_ = 1;
  std::atomic<size_t> in_flight_count_ = 0;

  // Of its own: the client may log from inside a call that is made under the other.
  std::mutex trouble_mutex_;
  std::string trouble_;  // The last that was said and not yet followed by a delivery.

  std::string fatal_;  // The poll thread's.
  std::atomic<uint64_t> handles_made_ = 0;
  std::atomic<bool> stopping_ = false;
  // Under the mutex. After all that events touch: the client may log until it is destroyed.
  std::shared_ptr<Handle> handle_;
  std::thread thread_;  // Ended before anything else is.
};

}  // namespace tidemark
