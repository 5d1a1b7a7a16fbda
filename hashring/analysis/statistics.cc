#include "hashring/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tidemark::hashring {

double mean(std::span<const double> sample) {
  return std::accumulate(sample.begin(), sample.end(), 0.0) / static_cast<double>(sample.size());
}

double sigma(std::span<const double> sample) {
  const double center = mean(sample);
  double squares = 0;
  for (const double value : sample) squares += (value - center) * (value - center);
  return std::sqrt(squares / static_cast<double>(sample.size()));
}

double quantile(std::vector<double> sample, double q) {
  std::sort(sample.begin(), sample.end());
  const double at = q * static_cast<double>(sample.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sample.size() - 1);
  return sample[below] + (at - static_cast<double>(below)) * (sample[above] - sample[below]);
}

double share_below(std::span<const double> sample, double value) {
  const auto count = std::count_if(sample.begin(), sample.end(), [&](double x) { return x < value; });
  return static_cast<double>(count) / static_cast<double>(sample.size());
}

}  // namespace tidemark::hashring
