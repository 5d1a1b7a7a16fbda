#include "wal/kafka_client.h"

#include <syslog.h>

#include <array>
#include <set>
#include <vector>

#include "wal/log.h"

namespace tidemark {
namespace {

using Settings = std::vector<std::pair<const char*, std::string>>;

// The rules of the log stand on these: see docs/design.md, "Fencing in the log".
const std::set<std::string> kDecided = {
    "acks",
    "allow.auto.create.topics",
    "auto.offset.reset",
    "bootstrap.servers",
    "enable.gapless.guarantee",
    "enable.idempotence",
    "linger.ms",
    "message.timeout.ms",
    "delivery.timeout.ms",
    "queue.buffering.max.ms",
    "request.required.acks",
    "transactional.id",
};

// First, so that the user's come after and win. A paused broker keeps its connections: socket.timeout.ms is
// how long appends wait for it after another has taken over.
Settings defaults() {
  return {{"client.id", "tidemark"},
          {"socket.timeout.ms", "10000"},
          {"socket.keepalive.enable", "true"},
          {"reconnect.backoff.max.ms", "1000"},
          {"log.connection.close", "false"}};
}

// No message timeout: an append whose outcome is not known waits for it. No gapless guarantee: a gap in one
// stream would be fatal to all, and the expected offsets show it anyway.
Settings producer_settings() {
  return {{"enable.idempotence", "true"},
          {"acks", "all"},
          {"linger.ms", "0"},
          {"message.timeout.ms", "0"},
          {"enable.gapless.guarantee", "false"},
          {"queue.buffering.max.messages", "0"},
          {"message.max.bytes", std::to_string(kLogEntryBytesMax + 4096)}};
}

// The queue is large because a full one is looked at again only once a second by this version of the client.
Settings consumer_settings() {
  return {{"enable.auto.commit", "false"},
          {"isolation.level", "read_uncommitted"},
          {"fetch.error.backoff.ms", "50"},
          {"fetch.message.max.bytes", std::to_string(4 << 20)},
          {"queued.max.messages.kbytes", std::to_string(32 << 10)}};
}

// An error names the setting, never its value: it may be a password.
Status apply(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  std::array<char, 256> reason{};
  switch (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), reason.data(), reason.size())) {
    case RD_KAFKA_CONF_OK: return {};
    case RD_KAFKA_CONF_UNKNOWN: return Error{"Kafka setting '" + name + "' does not exist"};
    case RD_KAFKA_CONF_INVALID: return Error{"Kafka setting '" + name + "' can not have the value given"};
  }
  return Error{"Kafka setting '" + name + "' was refused"};
}

Status apply_all(rd_kafka_conf_t* conf, const Settings& settings) {
  for (const auto& [name, value] : settings) TM_TRY(apply(conf, name, value));
  return {};
}

void on_log(const rd_kafka_t* handle, int level, const char*, const char* text) {
  if (level > LOG_WARNING) return;
  static_cast<KafkaEvents*>(rd_kafka_opaque(handle))->on_trouble(text);
}

Result<KafkaPtr<rd_kafka_t>> make(rd_kafka_type_t type, const KafkaSettings& settings, const Settings& ours,
                                  KafkaEvents& events, KafkaPtr<rd_kafka_conf_t> conf) {
  TM_TRY(apply_all(conf.get(), defaults()));
  TM_TRY(apply_all(conf.get(), ours));
  for (const auto& [name, value] : settings.extra) {
    if (kDecided.contains(name)) return Error{"Kafka setting '" + name + "' is not to be chosen"};
    TM_TRY(apply(conf.get(), name, value));
  }
  TM_TRY(apply(conf.get(), "bootstrap.servers", settings.brokers));
  TM_TRY(apply(conf.get(), "allow.auto.create.topics", "false"));
  rd_kafka_conf_set_opaque(conf.get(), &events);
  rd_kafka_conf_set_log_cb(conf.get(), on_log);
  std::array<char, 512> reason{};
  KafkaPtr<rd_kafka_t> handle(rd_kafka_new(type, conf.get(), reason.data(), reason.size()));
  if (handle == nullptr) return Error{std::string("Kafka client: ") + reason.data()};
  std::ignore = conf.release();  // It belongs to the handle now.
  return handle;
}

}  // namespace

Result<KafkaPtr<rd_kafka_t>> make_kafka_producer(const KafkaSettings& settings, KafkaEvents& events) {
  KafkaPtr<rd_kafka_conf_t> conf(rd_kafka_conf_new());
  rd_kafka_conf_set_dr_msg_cb(conf.get(), [](rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
    static_cast<KafkaEvents*>(opaque)->on_delivery(*message);
  });
  rd_kafka_conf_set_error_cb(conf.get(), [](rd_kafka_t* handle, int error, const char* text, void* opaque) {
    auto* to = static_cast<KafkaEvents*>(opaque);
    if (error != RD_KAFKA_RESP_ERR__FATAL) return to->on_trouble(text);
    std::array<char, 512> reason{};
    rd_kafka_fatal_error(handle, reason.data(), reason.size());
    to->on_fatal(reason.data());
  });
  return make(RD_KAFKA_PRODUCER, settings, producer_settings(), events, std::move(conf));
}

Result<KafkaPtr<rd_kafka_t>> make_kafka_consumer(const KafkaSettings& settings, KafkaEvents& events) {
  return make(RD_KAFKA_CONSUMER, settings, consumer_settings(), events,
              KafkaPtr<rd_kafka_conf_t>(rd_kafka_conf_new()));
}

}  // namespace tidemark
