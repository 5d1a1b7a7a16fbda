#include "base/buggify.h"

#include <utility>

#include "base/assert.h"

namespace tidemark {
namespace {

constexpr double kPointsOn = 0.25;

std::vector<std::string>& deviation_names() {
  static std::vector<std::string> all;
  return all;
}

Random stream_of(uint64_t seed, const std::string& point) {
  for (char letter : point) seed = Random(seed + static_cast<unsigned char>(letter)).next();
  return Random(seed);
}

}  // namespace

constinit thread_local Buggify* detail::buggify = nullptr;

size_t detail::register_buggify_point(const char* name) {
  return enlist(deviation_names(), name);
}

Buggify::Buggify(uint64_t seed, double chance, Listener on_deviation)
    : chance_(chance), on_deviation_(std::move(on_deviation)) {
  TM_ASSERT(detail::buggify == nullptr);
  for (const std::string& name : deviation_names()) {
    Random random = stream_of(seed, name);
    const bool on = random.chance(kPointsOn);
    points_.push_back({random, on});
  }
  detail::buggify = this;
}

Buggify::~Buggify() {
  detail::buggify = nullptr;
}

bool Buggify::deviates(size_t number) {
  Point& point = points_[number];
  if (!point.on || !point.random.chance(chance_)) return false;
  ++point.count;
  if (on_deviation_) on_deviation_(deviation_names()[number]);
  return true;
}

std::map<std::string, uint64_t> Buggify::counts() const {
  std::map<std::string, uint64_t> out;
  for (size_t i = 0; i < points_.size(); ++i) out[deviation_names()[i]] = points_[i].count;
  return out;
}

}  // namespace tidemark
