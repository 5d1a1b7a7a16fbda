#include "base/metrics.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/process/prometheus_metrics.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;

// The answer to GET `path` from a server on this machine.
std::string http_get(uint16_t port, const std::string& path) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  std::string answer;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    const std::string request = "GET " + path + " HTTP/1.0\r\n\r\n";
    EXPECT_EQ(send(fd, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
    char piece[1000];
    for (ssize_t n; (n = recv(fd, piece, sizeof piece, 0)) > 0;) answer.append(piece, static_cast<size_t>(n));
  }
  close(fd);
  return answer;
}

TEST(Metrics, WhatWasCountedIsShown) {
  PrometheusMetrics metrics;
  metrics.counter({"tidemark_changes_total", "changes routed", {{"region", "7"}}}).add(41);
  metrics.counter({"tidemark_changes_total", "changes routed", {{"region", "7"}}}).add(1);
  metrics.gauge({"tidemark_lag_records", "records behind"}).set(3);
  metrics.histogram({"tidemark_append_seconds", "time of an append"}, {0.001, 0.01}).observe(0.005);
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("# HELP tidemark_changes_total changes routed"));
  EXPECT_THAT(text, HasSubstr("tidemark_changes_total{region=\"7\"} 42"));
  EXPECT_THAT(text, HasSubstr("tidemark_lag_records 3"));
  EXPECT_THAT(text, HasSubstr("tidemark_append_seconds_bucket{le=\"0.001\"} 0"));
  EXPECT_THAT(text, HasSubstr("tidemark_append_seconds_bucket{le=\"0.01\"} 1"));
}

TEST(Metrics, TheSameNameAndLabelsAreTheSameMetric) {
  PrometheusMetrics metrics;
  EXPECT_EQ(&metrics.gauge({"g", "help"}), &metrics.gauge({"g", "help"}));
  EXPECT_NE(&metrics.gauge({"g", "help", {{"a", "1"}}}), &metrics.gauge({"g", "help", {{"a", "2"}}}));
}

TEST(Metrics, AreServedOverHttp) {
  PrometheusMetrics metrics;
  metrics.counter({"tidemark_served_total", "x"}).add(5);
  const auto port = metrics.expose("127.0.0.1:0");
  ASSERT_TRUE(port.ok()) << port.error().message;
  const std::string answer = http_get(*port, "/metrics");
  EXPECT_THAT(answer, HasSubstr("200 OK"));
  EXPECT_THAT(answer, HasSubstr("tidemark_served_total 5"));
}

TEST(Metrics, AnAddressInUseIsRefused) {
  PrometheusMetrics one;
  PrometheusMetrics two;
  const auto port = one.expose("127.0.0.1:0");
  ASSERT_TRUE(port.ok()) << port.error().message;
  const std::string address = "127.0.0.1:" + std::to_string(*port);
  const auto refused = two.expose(address);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr(address));
}

TEST(Metrics, LabelsOfARoleAreAdded) {
  PrometheusMetrics metrics;
  LabelledMetrics labelled(metrics, {{"name", "n1"}});
  labelled.gauge({"g", "help", {{"kind", "a"}}}).set(1);
  labelled.counter({"c_total", "help"}).add(2);
  labelled.histogram({"h", "help"}, {1}).observe(3);
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("g{kind=\"a\",name=\"n1\"} 1"));
  EXPECT_THAT(text, HasSubstr("c_total{name=\"n1\"} 2"));
  EXPECT_THAT(text, HasSubstr("h_count{name=\"n1\"} 1"));
}

TEST(Metrics, AFollowedCounterGoesOnWhenItsTotalBeginsAnew) {
  PrometheusMetrics metrics;
  FollowedCounter counter(metrics.counter({"c_total", "help"}));
  for (uint64_t total : {3, 5, 5, 2, 4}) counter.follow(total);
  EXPECT_THAT(metrics.text(), HasSubstr("c_total 9"));
}

TEST(Metrics, NoMetricsTakeEverything) {
  no_metrics().counter({"a", "b"}).add(1);
  no_metrics().gauge({"a", "b"}).set(1);
  no_metrics().histogram({"a", "b"}, duration_bounds()).observe(1);
}

}  // namespace
}  // namespace tidemark
