#include "wal/kafka_producer.h"

#include <pthread.h>

#include <utility>

namespace tidemark {
namespace {

constexpr int kPollMillis = 100;
constexpr int kPrepareMillis = 2000;

Result<Offset, LogFailure> outcome_of(const rd_kafka_message_t& message) {
  const std::string topic = rd_kafka_topic_name(message.rkt);
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR && message.offset >= 0) {
    return Offset{static_cast<uint64_t>(message.offset)};
  }
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    return LogFailure{LogError::OutcomeUnknown, topic + ": acknowledged without an offset"};
  }
  return LogFailure{LogError::OutcomeUnknown, topic + ": " + rd_kafka_err2str(message.err)};
}

}  // namespace

Result<std::unique_ptr<KafkaProducer>> KafkaProducer::make(KafkaSettings settings, Notice notice) {
  std::unique_ptr<KafkaProducer> made(new KafkaProducer(std::move(settings), std::move(notice)));
  TM_TRY(made->start());
  return made;
}

Status KafkaProducer::start() {
  auto handle = make_kafka_producer(settings_, *this);
  if (!handle.ok()) return handle.error();
  handle_ = std::make_shared<Handle>(Handle{std::move(*handle), {}});
  ++handles_made_;
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "kafka producer");
  return {};
}

KafkaProducer::~KafkaProducer() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
  in_flight_.clear();
  if (handle_ != nullptr)
    rd_kafka_purge(handle_->client.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
}

std::shared_ptr<rd_kafka_topic_t> KafkaProducer::topic_of(rd_kafka_t& client, const std::string& topic) {
  return KafkaPtr<rd_kafka_topic_t>(rd_kafka_topic_new(&client, topic.c_str(), nullptr));
}

void KafkaProducer::prepare(const std::string& topic) {
  std::shared_ptr<Handle> handle;
  std::shared_ptr<rd_kafka_topic_t> known;  // Kept alive: it may be forgotten meanwhile.
  {
    const std::lock_guard lock(mutex_);
    handle = handle_;
    auto& kept = handle->topics[topic];
    if (kept == nullptr) kept = topic_of(*handle->client, topic);
    known = kept;
  }
  const rd_kafka_metadata_t* metadata = nullptr;
  if (rd_kafka_metadata(handle->client.get(), 0, known.get(), &metadata, kPrepareMillis) ==
      RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_metadata_destroy(metadata);
  }
}

void KafkaProducer::forget(const std::string& topic) {
  const std::lock_guard lock(mutex_);
  handle_->topics.erase(topic);
}

void KafkaProducer::append(const std::string& topic, const std::string& bytes, Done done) {
  const std::lock_guard lock(mutex_);
  const uint64_t id = next_id_++;
  const auto error =
      rd_kafka_producev(handle_->client.get(), RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(0),
                        RD_KAFKA_V_VALUE(const_cast<char*>(bytes.data()), bytes.size()),
                        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                        // NOLINTNEXTLINE(performance-no-int-to-ptr): a number, never followed.
                        RD_KAFKA_V_OPAQUE(reinterpret_cast<void*>(id)), RD_KAFKA_V_END);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    in_flight_.emplace(id, std::move(done));
    ++in_flight_count_;
  } else {
    done(LogFailure{LogError::Unavailable, topic + ": not sent: " + rd_kafka_err2str(error)});
  }
}

void KafkaProducer::on_delivery(const rd_kafka_message_t& message) {
  Done done;
  {
    const std::lock_guard lock(mutex_);
    const auto found = in_flight_.find(reinterpret_cast<uint64_t>(message._private));
    if (found == in_flight_.end()) return;  // Of a handle that was given up.
    done = std::move(found->second);
    in_flight_.erase(found);
    --in_flight_count_;
  }
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) end_trouble();
  done(outcome_of(message));
}

void KafkaProducer::on_trouble(const std::string& what) {
  {
    const std::lock_guard lock(trouble_mutex_);
    if (trouble_ == what) return;
    trouble_ = what;
  }
  notice_("Kafka: " + what + "; " + std::to_string(in_flight_count_) + " appends wait");
}

void KafkaProducer::end_trouble() {
  {
    const std::lock_guard lock(trouble_mutex_);
    if (trouble_.empty()) return;
    trouble_.clear();
  }
  notice_("Kafka takes appends again");
}

void KafkaProducer::run() {
  while (!stopping_) {
    rd_kafka_poll(handle_->client.get(), kPollMillis);  // Only this thread replaces the handle.
    if (!fatal_.empty()) replace_handle();
  }
}

void KafkaProducer::replace_handle() {
  const std::string reason = std::exchange(fatal_, {});
  auto fresh = make_kafka_producer(settings_, *this);
  if (!fresh.ok()) {  // Out of threads or the like: try again with the next poll.
    notice_("Kafka: no new producer: " + fresh.error().message);
    fatal_ = reason;
    return;
  }
  ++handles_made_;
  std::unordered_map<uint64_t, Done> lost;
  std::shared_ptr<Handle> old;
  {
    const std::lock_guard lock(mutex_);
    old = std::exchange(handle_, std::make_shared<Handle>(Handle{std::move(*fresh), {}}));
    for (const auto& [topic, unused] : old->topics) {
      handle_->topics[topic] = topic_of(*handle_->client, topic);
    }
    lost.swap(in_flight_);
    in_flight_count_ = 0;
  }
  notice_("Kafka: the producer failed and was made anew, " + std::to_string(lost.size()) +
          " appends have an unknown outcome: " + reason);
  for (auto& [id, done] : lost) {
    done(LogFailure{LogError::OutcomeUnknown, "the Kafka producer failed: " + reason});
  }
  rd_kafka_purge(old->client.get(),
                 RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING);
}

void KafkaProducer::break_handle() {
  const std::lock_guard lock(mutex_);
  rd_kafka_test_fatal_error(handle_->client.get(), RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER,
                            "broken by a test");
}

}  // namespace tidemark
