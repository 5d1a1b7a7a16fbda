#include "base/probe.h"

#include <algorithm>

#include "base/assert.h"

namespace tidemark {
namespace {

constexpr size_t kProbesMax = 256;
thread_local uint64_t counts[kProbesMax];

std::vector<std::string>& probe_names() {
  static std::vector<std::string> all;
  return all;
}

}  // namespace

size_t detail::enlist(std::vector<std::string>& names, const char* name) {
  const auto at = std::find(names.begin(), names.end(), name);
  const auto number = static_cast<size_t>(at - names.begin());
  if (at == names.end()) names.emplace_back(name);
  return number;
}

size_t detail::register_probe(const char* name) {
  const size_t number = enlist(probe_names(), name);
  TM_ASSERT(number < kProbesMax, name);
  return number;
}

void detail::count_probe(size_t number) {
  ++counts[number];
}

std::map<std::string, uint64_t> probe_counts() {
  std::map<std::string, uint64_t> out;
  for (size_t i = 0; i < probe_names().size(); ++i) out[probe_names()[i]] = counts[i];
  return out;
}

void forget_probes() {
  for (uint64_t& count : counts) count = 0;
}

}  // namespace tidemark
