#include "wal/kafka_consumers.h"

#include <array>

namespace tidemark {

struct KafkaReading::Handle {
  KafkaPtr<rd_kafka_t> client;
  std::set<std::string> topics;  // Being read. Under the mutex of KafkaConsumers.
};

KafkaReading::KafkaReading(KafkaConsumers& owner, Handle& handle, std::string topic)
    : owner_(owner), handle_(handle), topic_(std::move(topic)) {}

KafkaReading::~KafkaReading() {
  // Taken under the queue's lock, under which the event is called: afterwards it is not called any more.
  if (queue_ != nullptr) rd_kafka_queue_cb_event_enable(queue_.get(), nullptr, nullptr);
  if (topic_handle_ != nullptr) rd_kafka_consume_stop(topic_handle_.get(), 0);
  queue_.reset();
  topic_handle_.reset();
  owner_.release(handle_, topic_);
}

Result<std::vector<LogEntry>, LogFailure> KafkaReading::take(size_t bytes_max) {
  std::vector<LogEntry> entries;
  size_t bytes = 0;
  rd_kafka_message_t* message = nullptr;
  while (!failed_.has_value() && bytes < bytes_max &&
         rd_kafka_consume_batch_queue(queue_.get(), 0, &message, 1) == 1) {
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      entries.push_back({Offset{static_cast<uint64_t>(message->offset)},
                         std::string(static_cast<const char*>(message->payload), message->len)});
      bytes += message->len;
    } else {
      const bool out_of_range = message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
                                message->err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE;
      failed_ = LogFailure{out_of_range ? LogError::Trimmed : LogError::Unavailable,
                           "Kafka: can not read " + topic_ + ": " + rd_kafka_message_errstr(message)};
    }
    rd_kafka_message_destroy(message);
  }
  if (entries.empty() && failed_.has_value()) return *failed_;
  return entries;
}

KafkaConsumers::KafkaConsumers(KafkaSettings settings, Notice notice)
    : settings_(std::move(settings)), notice_(std::move(notice)) {}

KafkaConsumers::~KafkaConsumers() {
  for (const auto& handle : handles_) TM_ASSERT(handle->topics.empty());
}

Result<KafkaReading::Handle*> KafkaConsumers::handle_for(const std::string& topic) {
  const std::lock_guard lock(mutex_);
  for (const auto& handle : handles_) {
    if (handle->topics.insert(topic).second) return handle.get();
  }
  auto client = make_kafka_consumer(settings_, *this);
  if (!client.ok()) return client.error();
  handles_.push_back(
      std::make_unique<KafkaReading::Handle>(KafkaReading::Handle{std::move(*client), {topic}}));
  return handles_.back().get();
}

void KafkaConsumers::release(KafkaReading::Handle& handle, const std::string& topic) {
  const std::lock_guard lock(mutex_);
  handle.topics.erase(topic);
}

Result<std::shared_ptr<KafkaReading>, LogFailure> KafkaConsumers::start(const std::string& topic, Offset from,
                                                                        std::function<void()> ready) {
  const auto handle = handle_for(topic);
  if (!handle.ok()) return LogFailure{LogError::Unavailable, handle.error().message};
  std::shared_ptr<KafkaReading> reading(new KafkaReading(*this, **handle, topic));
  reading->ready_ = std::move(ready);
  KafkaPtr<rd_kafka_topic_conf_t> conf(rd_kafka_topic_conf_new());
  std::array<char, 256> reason{};
  const auto set =
      rd_kafka_topic_conf_set(conf.get(), "auto.offset.reset", "error", reason.data(), reason.size());
  TM_ASSERT(set == RD_KAFKA_CONF_OK);
  rd_kafka_t* client = (*handle)->client.get();
  reading->queue_.reset(rd_kafka_queue_new(client));
  rd_kafka_queue_cb_event_enable(
      reading->queue_.get(), [](rd_kafka_t*, void* opaque) { static_cast<KafkaReading*>(opaque)->ready_(); },
      reading.get());
  KafkaPtr<rd_kafka_topic_t> topic_handle(rd_kafka_topic_new(client, topic.c_str(), conf.release()));
  if (topic_handle == nullptr ||
      rd_kafka_consume_start_queue(topic_handle.get(), 0, static_cast<int64_t>(from.value),
                                   reading->queue_.get()) != 0) {
    return LogFailure{LogError::Unavailable,
                      "Kafka: can not read " + topic + ": " + rd_kafka_err2str(rd_kafka_last_error())};
  }
  reading->topic_handle_ = std::move(topic_handle);
  return reading;
}

}  // namespace tidemark
