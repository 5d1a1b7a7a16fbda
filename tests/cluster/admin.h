// `tidemark admin` as tests use it: the real program, its answers as values.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::crash {

struct RegionShown {
  uint64_t id = 0;
  uint64_t first_shard = 0;
  uint64_t end_shard = 0;
  std::string owner;
  std::string state;
  size_t checkpoints = 0;  // Replicas that have one, the owner's included.
  size_t replicas = 0;
};

struct MemberShown {
  std::string name;
  bool alive = false;
  bool leaving = false;
  uint64_t holds = 0;  // Regions or shards.
};

struct ClusterShown {
  std::string coordinator;
  uint64_t lag_records = 0;
  std::vector<MemberShown> nodes;
  std::vector<MemberShown> view_managers;
  std::vector<RegionShown> regions;
  std::vector<std::string> running;

  std::vector<RegionShown> live_regions() const;  // Not sealed.
  bool all_live() const { return live_regions().size() == regions.size(); }
  bool all_served() const;
};

// An operation that has ended.
struct OperationShown {
  uint64_t id = 0;
  std::string what;
  std::string outcome;
  int64_t took_micros = 0;
  int64_t longest_pause_micros = 0;
};

struct AdminSaid {
  int exit_code = -1;
  std::string text;
  bool ok() const { return exit_code == 0; }
};

// Asks the node at `address`. Blocks; throws ServerError if the program does not end.
class Admin {
 public:
  explicit Admin(std::filesystem::path directory) : directory_(std::move(directory)) {}

  AdminSaid ask(const std::string& address, std::vector<std::string> words) const;
  std::optional<ClusterShown> status(const std::string& address) const;
  std::optional<std::vector<OperationShown>> history(const std::string& address) const;

 private:
  const std::filesystem::path directory_;  // For what the program says.
};

}  // namespace tidemark::crash
