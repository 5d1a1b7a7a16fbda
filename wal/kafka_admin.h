// What is asked of the brokers besides appending and reading. Every call blocks, for some seconds at most.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "wal/kafka_client.h"
#include "wal/log.h"

namespace tidemark {

class KafkaAdmin {
 public:
  // REQUIRES: the handle outlives it. Thread-safe.
  explicit KafkaAdmin(rd_kafka_t* handle) : handle_(handle) {}

  // One partition, kafka_copies(), and the settings that check() wants. Unavailable while the brokers are too
  // few for that.
  Result<void, LogFailure> create(const std::string& topic) const;
  Result<void, LogFailure> remove(const std::string& topic) const;

  // Refused with every setting of the topic and the brokers by which acknowledged records could be lost:
  // its name, its value and the value it must have.
  Result<void, LogFailure> check(const std::string& topic) const;

  Result<Log::Bounds, LogFailure> bounds(const std::string& topic) const;
  Result<void, LogFailure> trim(const std::string& topic, Offset begin) const;

  Result<std::vector<std::string>, LogFailure> topics() const;

 private:
  struct TopicShape {
    bool exists = false;
    size_t partitions = 0;
    size_t copies = 0;
    size_t brokers = 0;
    std::vector<int32_t> broker_ids;
  };
  using Configs = std::map<std::string, std::string>;

  Result<TopicShape, LogFailure> shape_of(const std::string& topic) const;
  Result<Configs, LogFailure> configs_of(rd_kafka_ResourceType_t type, const std::string& name) const;
  size_t configured_brokers() const;
  Result<void, LogFailure> wait_until_there(const std::string& topic, bool there) const;
  Result<Configs, LogFailure> any_brokers_configs(const std::vector<int32_t>& ids) const;

  rd_kafka_t* handle_;
};

// How many copies a topic gets: as many as there should be brokers, up to three. One that is away just now
// counts, as far as the brokers' default.replication.factor or the client's bootstrap list tell of it: else a
// topic made meanwhile would have too few for ever, and be refused when the broker is back. Pure.
size_t kafka_copies(size_t alive, size_t configured,
                    const std::map<std::string, std::string>& broker_configs);

// What is wrong, for people; empty if nothing is. Pure.
std::vector<std::string> kafka_topic_problems(size_t partitions, size_t copies, size_t brokers,
                                              const std::map<std::string, std::string>& topic_configs,
                                              const std::map<std::string, std::string>& broker_configs);

}  // namespace tidemark
