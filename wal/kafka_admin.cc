#include "wal/kafka_admin.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

namespace tidemark {
namespace {

constexpr int kTimeoutMillis = 5000;
constexpr std::chrono::seconds kPropagation{20};
constexpr std::chrono::milliseconds kUnknownTopicWait{2000};  // Another broker may not have heard of it yet.
constexpr size_t kCopiesWanted = 3;
constexpr uint64_t kMessageBytesMin = kLogEntryBytesMax + 4096;

LogFailure unavailable(const std::string& what, const std::string& why) {
  return {LogError::Unavailable, "Kafka: can not " + what + ": " + why};
}

// An admin request: sent by `send`, answered by an event.
template <typename Send>
Result<KafkaPtr<rd_kafka_event_t>, LogFailure> ask(rd_kafka_t* handle, rd_kafka_admin_op_t kind,
                                                   const std::string& what, Send send) {
  const KafkaPtr<rd_kafka_queue_t> queue(rd_kafka_queue_new(handle));
  const KafkaPtr<rd_kafka_AdminOptions_t> options(rd_kafka_AdminOptions_new(handle, kind));
  std::array<char, 256> reason{};
  rd_kafka_AdminOptions_set_request_timeout(options.get(), kTimeoutMillis, reason.data(), reason.size());
  send(options.get(), queue.get());
  KafkaPtr<rd_kafka_event_t> event(rd_kafka_queue_poll(queue.get(), 2 * kTimeoutMillis));
  if (event == nullptr) return unavailable(what, "no answer");
  if (rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return unavailable(what, rd_kafka_event_error_string(event.get()));
  }
  return event;
}

Result<void, LogFailure> topic_outcome(const std::string& what, const rd_kafka_topic_result_t** results,
                                       size_t count, rd_kafka_resp_err_t fine) {
  if (count != 1) return unavailable(what, "a strange answer");
  const rd_kafka_resp_err_t error = rd_kafka_topic_result_error(results[0]);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR || error == fine) return {};
  const char* text = rd_kafka_topic_result_error_string(results[0]);
  return unavailable(what, text == nullptr ? rd_kafka_err2str(error) : text);
}

// "-1" and so on are compared as text; numbers from below.
struct Wanted {
  const char* name;
  const char* value;
};
constexpr Wanted kWantedOfTopics[] = {
    {"cleanup.policy", "delete"},
    {"retention.ms", "-1"},
    {"retention.bytes", "-1"},
    {"unclean.leader.election.enable", "false"},
};
constexpr Wanted kWantedOfBrokers[] = {{"auto.create.topics.enable", "false"}};

void compare(const char* of, const Wanted& wanted, const std::map<std::string, std::string>& configs,
             std::vector<std::string>& problems) {
  const auto found = configs.find(wanted.name);
  if (found == configs.end() || found->second == wanted.value) return;
  problems.push_back(std::string(of) + wanted.name + " is " + found->second + ", must be " + wanted.value);
}

void compare_least(const char* name, uint64_t least, const std::map<std::string, std::string>& configs,
                   std::vector<std::string>& problems) {
  const auto found = configs.find(name);
  if (found == configs.end() || std::strtoull(found->second.c_str(), nullptr, 10) >= least) return;
  problems.push_back(std::string(name) + " is " + found->second + ", must be at least " +
                     std::to_string(least));
}

uint64_t in_sync_wanted(size_t brokers) {
  return brokers >= kCopiesWanted ? 2 : 1;
}

}  // namespace

std::vector<std::string> kafka_topic_problems(size_t partitions, size_t copies, size_t brokers,
                                              const std::map<std::string, std::string>& topic_configs,
                                              const std::map<std::string, std::string>& broker_configs) {
  std::vector<std::string> problems;
  if (partitions != 1) problems.push_back("partitions is " + std::to_string(partitions) + ", must be 1");
  const size_t copies_wanted = std::min(brokers, kCopiesWanted);
  if (copies < copies_wanted) {
    problems.push_back("replication factor is " + std::to_string(copies) + ", must be at least " +
                       std::to_string(copies_wanted));
  }
  for (const Wanted& wanted : kWantedOfTopics) compare("", wanted, topic_configs, problems);
  compare_least("min.insync.replicas", in_sync_wanted(brokers), topic_configs, problems);
  compare_least("max.message.bytes", kMessageBytesMin, topic_configs, problems);
  for (const Wanted& wanted : kWantedOfBrokers) compare("the brokers' ", wanted, broker_configs, problems);
  return problems;
}

size_t kafka_copies(size_t alive, size_t configured,
                    const std::map<std::string, std::string>& broker_configs) {
  size_t meant = std::max(alive, configured);
  if (const auto found = broker_configs.find("default.replication.factor"); found != broker_configs.end()) {
    meant = std::max<size_t>(meant, std::strtoull(found->second.c_str(), nullptr, 10));
  }
  return std::min(meant, kCopiesWanted);
}

size_t KafkaAdmin::configured_brokers() const {
  std::array<char, 4096> servers{};
  size_t size = servers.size();
  if (rd_kafka_conf_get(rd_kafka_conf(handle_), "bootstrap.servers", servers.data(), &size) !=
      RD_KAFKA_CONF_OK) {
    return 0;
  }
  const std::string_view text(servers.data());
  return text.empty() ? 0 : static_cast<size_t>(std::count(text.begin(), text.end(), ',')) + 1;
}

Result<KafkaAdmin::TopicShape, LogFailure> KafkaAdmin::shape_of(const std::string& topic) const {
  const KafkaPtr<rd_kafka_topic_t> handle(rd_kafka_topic_new(handle_, topic.c_str(), nullptr));
  const rd_kafka_metadata_t* raw = nullptr;
  const auto error = rd_kafka_metadata(handle_, 0, handle.get(), &raw, kTimeoutMillis);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return unavailable("look up " + topic, rd_kafka_err2str(error));
  const KafkaPtr<const rd_kafka_metadata_t> metadata(raw);
  TopicShape shape;
  shape.brokers = static_cast<size_t>(metadata->broker_cnt);
  for (int i = 0; i < metadata->broker_cnt; ++i) shape.broker_ids.push_back(metadata->brokers[i].id);
  if (metadata->topic_cnt != 1) return unavailable("look up " + topic, "a strange answer");
  const rd_kafka_metadata_topic_t& found = metadata->topics[0];
  if (found.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) return shape;
  if (found.err != RD_KAFKA_RESP_ERR_NO_ERROR && found.err != RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE) {
    return unavailable("look up " + topic, rd_kafka_err2str(found.err));
  }
  shape.exists = true;
  shape.partitions = static_cast<size_t>(found.partition_cnt);
  if (found.partition_cnt > 0) shape.copies = static_cast<size_t>(found.partitions[0].replica_cnt);
  return shape;
}

Result<void, LogFailure> KafkaAdmin::wait_until_there(const std::string& topic, bool there) const {
  const auto deadline = std::chrono::steady_clock::now() + kPropagation;
  while (true) {
    const auto shape = shape_of(topic);
    if (shape.ok() && shape->exists == there) return {};
    if (std::chrono::steady_clock::now() > deadline) {
      return unavailable(there ? "create " + topic : "remove " + topic, "the brokers do not agree yet");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

Result<void, LogFailure> KafkaAdmin::create(const std::string& topic) const {
  const auto shape = shape_of(topic);
  if (!shape.ok()) return shape.error();
  if (shape->exists) return {};
  const auto broker_configs = any_brokers_configs(shape->broker_ids);
  if (!broker_configs.ok()) return broker_configs.error();
  const size_t copies = kafka_copies(shape->brokers, configured_brokers(), *broker_configs);
  std::array<char, 256> reason{};
  const KafkaPtr<rd_kafka_NewTopic_t> wanted(
      rd_kafka_NewTopic_new(topic.c_str(), 1, static_cast<int>(copies), reason.data(), reason.size()));
  if (wanted == nullptr) return LogFailure{LogError::Refused, topic + ": " + reason.data()};
  for (const Wanted& setting : kWantedOfTopics) {
    rd_kafka_NewTopic_set_config(wanted.get(), setting.name, setting.value);
  }
  rd_kafka_NewTopic_set_config(wanted.get(), "min.insync.replicas",
                               std::to_string(in_sync_wanted(copies)).c_str());
  rd_kafka_NewTopic_t* topics[] = {wanted.get()};
  const auto event =
      ask(handle_, RD_KAFKA_ADMIN_OP_CREATETOPICS, "create " + topic,
          [&](auto* options, auto* queue) { rd_kafka_CreateTopics(handle_, topics, 1, options, queue); });
  if (!event.ok()) return event.error();
  size_t count = 0;
  const auto* result = rd_kafka_event_CreateTopics_result(event->get());
  const auto** results = rd_kafka_CreateTopics_result_topics(result, &count);
  TM_TRY(topic_outcome("create " + topic, results, count, RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS));
  return wait_until_there(topic, true);
}

Result<void, LogFailure> KafkaAdmin::remove(const std::string& topic) const {
  const KafkaPtr<rd_kafka_DeleteTopic_t> doomed(rd_kafka_DeleteTopic_new(topic.c_str()));
  rd_kafka_DeleteTopic_t* topics[] = {doomed.get()};
  const auto event =
      ask(handle_, RD_KAFKA_ADMIN_OP_DELETETOPICS, "remove " + topic,
          [&](auto* options, auto* queue) { rd_kafka_DeleteTopics(handle_, topics, 1, options, queue); });
  if (!event.ok()) return event.error();
  size_t count = 0;
  const auto* result = rd_kafka_event_DeleteTopics_result(event->get());
  const auto** results = rd_kafka_DeleteTopics_result_topics(result, &count);
  TM_TRY(topic_outcome("remove " + topic, results, count, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART));
  return wait_until_there(topic, false);
}

Result<KafkaAdmin::Configs, LogFailure> KafkaAdmin::configs_of(rd_kafka_ResourceType_t type,
                                                               const std::string& name) const {
  const KafkaPtr<rd_kafka_ConfigResource_t> resource(rd_kafka_ConfigResource_new(type, name.c_str()));
  rd_kafka_ConfigResource_t* resources[] = {resource.get()};
  const std::string what = "read the settings of " + name;
  const auto event = ask(handle_, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, what, [&](auto* options, auto* queue) {
    rd_kafka_DescribeConfigs(handle_, resources, 1, options, queue);
  });
  if (!event.ok()) return event.error();
  size_t count = 0;
  const auto* result = rd_kafka_event_DescribeConfigs_result(event->get());
  const auto** found = rd_kafka_DescribeConfigs_result_resources(result, &count);
  if (count != 1) return unavailable(what, "a strange answer");
  if (rd_kafka_ConfigResource_error(found[0]) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    const char* text = rd_kafka_ConfigResource_error_string(found[0]);
    return unavailable(what, text == nullptr ? "refused" : text);
  }
  Configs configs;
  size_t entries = 0;
  const auto** entry = rd_kafka_ConfigResource_configs(found[0], &entries);
  for (size_t i = 0; i < entries; ++i) {
    const char* value = rd_kafka_ConfigEntry_value(entry[i]);
    if (value != nullptr) configs[rd_kafka_ConfigEntry_name(entry[i])] = value;
  }
  return configs;
}

Result<KafkaAdmin::Configs, LogFailure> KafkaAdmin::any_brokers_configs(
    const std::vector<int32_t>& ids) const {
  LogFailure last = unavailable("read the brokers' settings", "there is none");
  for (const int32_t id : ids) {
    auto configs = configs_of(RD_KAFKA_RESOURCE_BROKER, std::to_string(id));
    if (configs.ok()) return configs;
    last = configs.error();
  }
  return last;
}

Result<void, LogFailure> KafkaAdmin::check(const std::string& topic) const {
  const auto deadline = std::chrono::steady_clock::now() + kUnknownTopicWait;
  auto shape = shape_of(topic);
  while (shape.ok() && !shape->exists && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    shape = shape_of(topic);
  }
  if (!shape.ok()) return shape.error();
  if (!shape->exists) return LogFailure{LogError::Refused, "Kafka topic " + topic + " does not exist"};
  const auto topic_configs = configs_of(RD_KAFKA_RESOURCE_TOPIC, topic);
  if (!topic_configs.ok()) return topic_configs.error();
  const auto broker_configs = any_brokers_configs(shape->broker_ids);
  if (!broker_configs.ok()) return broker_configs.error();
  const auto problems =
      kafka_topic_problems(shape->partitions, shape->copies, shape->brokers, *topic_configs, *broker_configs);
  if (problems.empty()) return {};
  std::string message = "Kafka topic " + topic + " could lose records: ";
  for (const std::string& problem : problems)
    message += (&problem == &problems.front() ? "" : "; ") + problem;
  return LogFailure{LogError::Refused, message};
}

Result<Log::Bounds, LogFailure> KafkaAdmin::bounds(const std::string& topic) const {
  int64_t low = -1;
  int64_t high = -1;
  const auto error = rd_kafka_query_watermark_offsets(handle_, topic.c_str(), 0, &low, &high, kTimeoutMillis);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return unavailable("find the end of " + topic, rd_kafka_err2str(error));
  }
  return Log::Bounds{Offset{static_cast<uint64_t>(low)}, Offset{static_cast<uint64_t>(high)}};
}

Result<void, LogFailure> KafkaAdmin::trim(const std::string& topic, Offset begin) const {
  const KafkaPtr<rd_kafka_topic_partition_list_t> before(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(before.get(), topic.c_str(), 0)->offset =
      static_cast<int64_t>(begin.value);
  const KafkaPtr<rd_kafka_DeleteRecords_t> wanted(rd_kafka_DeleteRecords_new(before.get()));
  rd_kafka_DeleteRecords_t* requests[] = {wanted.get()};
  const auto event =
      ask(handle_, RD_KAFKA_ADMIN_OP_DELETERECORDS, "trim " + topic,
          [&](auto* options, auto* queue) { rd_kafka_DeleteRecords(handle_, requests, 1, options, queue); });
  if (!event.ok()) return event.error();
  const auto* result = rd_kafka_event_DeleteRecords_result(event->get());
  const auto* offsets = rd_kafka_DeleteRecords_result_offsets(result);
  if (offsets->cnt != 1) return unavailable("trim " + topic, "a strange answer");
  if (offsets->elems[0].err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return unavailable("trim " + topic, rd_kafka_err2str(offsets->elems[0].err));
  }
  return {};
}

Result<std::vector<std::string>, LogFailure> KafkaAdmin::topics() const {
  const rd_kafka_metadata_t* raw = nullptr;
  const auto error = rd_kafka_metadata(handle_, 1, nullptr, &raw, kTimeoutMillis);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return unavailable("list topics", rd_kafka_err2str(error));
  const KafkaPtr<const rd_kafka_metadata_t> metadata(raw);
  std::vector<std::string> names;
  for (int i = 0; i < metadata->topic_cnt; ++i) names.emplace_back(metadata->topics[i].topic);
  return names;
}

}  // namespace tidemark
