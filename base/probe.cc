#include "base/probe.h"

#include <vector>

#include "base/assert.h"

namespace tidemark {
namespace {

constexpr size_t kProbesMax = 256;
thread_local uint64_t counts[kProbesMax];

std::vector<std::string>& names() {
  static std::vector<std::string> all;
  return all;
}

}  // namespace

size_t detail::register_probe(const char* name) {
  std::vector<std::string>& all = names();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] == name) return i;
  }
  TM_ASSERT(all.size() < kProbesMax, name);
  all.emplace_back(name);
  return all.size() - 1;
}

void detail::count_probe(size_t number) {
  ++counts[number];
}

std::map<std::string, uint64_t> probe_counts() {
  std::map<std::string, uint64_t> out;
  for (size_t i = 0; i < names().size(); ++i) out[names()[i]] = counts[i];
  return out;
}

void forget_probes() {
  for (uint64_t& count : counts) count = 0;
}

}  // namespace tidemark
