// Logs in Kafka: a topic of one partition per stream, and one idempotent producer per process.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/scheduler.h"
#include "wal/log.h"

namespace tidemark {

struct KafkaLogsOptions {
  std::string brokers;                            // "host:port,host:port".
  std::map<std::string, std::string> settings{};  // librdkafka's, for TLS, SASL, timeouts. Never printed.
  // For people: a broker that can not be reached and how many appends wait, a producer made anew. Any thread.
  std::function<void(const std::string&)> notice{};
};

// The topic of a stream.
std::string kafka_topic_name(StreamId stream);

// One process's connection to the brokers. An append waits for as long as it takes to learn its outcome; a
// fatal error of the client gives all appends in flight an unknown one. LogStore::open() refuses topics and
// brokers with settings by which acknowledged records could be lost.
class KafkaLogs {
 public:
  // Does not wait for the brokers. Error: a setting that is wrong.
  static Result<std::unique_ptr<KafkaLogs>> open(KafkaLogsOptions options);
  // REQUIRES: the stores, logs and readers made of it are gone; the loops they were connected to are not.
  ~KafkaLogs();
  KafkaLogs(const KafkaLogs&) = delete;
  KafkaLogs& operator=(const KafkaLogs&) = delete;

  // For one worker; callbacks run on its loop.
  std::unique_ptr<LogStore> connect(Scheduler& loop);

  // The streams that have a topic. Blocks.
  Result<std::vector<StreamId>> streams() const;

  // As if the client had met a fatal error; for tests.
  void break_producer();
  uint64_t producers_made() const;

  class Impl;

 private:
  explicit KafkaLogs(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark
