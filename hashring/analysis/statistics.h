// Mean, spread and quantiles of a sample.
#pragma once

#include <span>
#include <vector>

namespace tidemark::hashring {

double mean(std::span<const double> sample);
// Of the population: divided by n.
double sigma(std::span<const double> sample);
// Linear between the two nearest order statistics. REQUIRES: not empty, 0 <= q <= 1.
double quantile(std::vector<double> sample, double q);
// Which share of the sample lies below `value`.
double share_below(std::span<const double> sample, double value);

}  // namespace tidemark::hashring
