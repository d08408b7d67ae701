#include "tests/oracle/discrete_gaussian_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "residua/base/big_float.h"

namespace residua {
namespace {

constexpr int kNumIntervals = 64;
constexpr int kNumResidues = 16;

// Below this the cumulative probabilities are summed term by term; above, the integral between half
// integers differs from the sum by a relative 1 / (24 variance), less than 1e-6.
constexpr double kMaxSummedVariance = 1e6;

// The integers up to `last`, beyond those of the interval before.
struct Interval {
  double last;
  double probability;
};

std::vector<Interval> SummedIntervals(double variance) {
  const auto reach = static_cast<int64_t>(std::ceil(12.0 * std::sqrt(variance))) + 2;
  double total = 0.0;
  for (int64_t x = -reach; x <= reach; ++x) {
    total += std::exp(-static_cast<double>(x * x) / (2.0 * variance));
  }
  std::vector<Interval> intervals;
  double gathered = 0.0;
  double left = 1.0;
  for (int64_t x = -reach; x <= reach; ++x) {
    gathered += std::exp(-static_cast<double>(x * x) / (2.0 * variance)) / total;
    if (gathered >= 1.0 / kNumIntervals && left - gathered >= 1e-4) {
      intervals.push_back({static_cast<double>(x), gathered});
      left -= gathered;
      gathered = 0.0;
    }
  }
  intervals.push_back({std::numeric_limits<double>::infinity(), left});
  return intervals;
}

double NormalCumulative(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

std::vector<Interval> NormalIntervals(double variance) {
  const double deviation = std::sqrt(variance);
  std::vector<Interval> intervals;
  double below = 0.0;
  for (int i = 1; i < kNumIntervals; ++i) {
    // Evenly spaced from -2.5 to 2.5 deviations: near enough to equal probability for power.
    const double last = std::floor(deviation * (-2.5 + 5.0 * (i - 1) / (kNumIntervals - 2)));
    const double cumulative = NormalCumulative((last + 0.5) / deviation);
    intervals.push_back({last, cumulative - below});
    below = cumulative;
  }
  intervals.push_back({std::numeric_limits<double>::infinity(), 1.0 - below});
  return intervals;
}

double ChiSquare(std::span<const double> counts, std::span<const double> expected) {
  double statistic = 0.0;
  for (size_t i = 0; i < counts.size(); ++i) {
    statistic += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
  }
  return statistic;
}

template <typename Sample>
std::vector<int> Classify(std::span<const Sample> samples, std::span<const Interval> intervals) {
  std::vector<int> classes(samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto found =
        std::lower_bound(intervals.begin(), intervals.end(), static_cast<double>(samples[i]),
                         [](const Interval& interval, double x) { return interval.last < x; });
    classes[i] = static_cast<int>(found - intervals.begin());
  }
  return classes;
}

double FitProbability(std::span<const int> classes, std::span<const Interval> intervals) {
  std::vector<double> counts(intervals.size());
  std::vector<double> expected(intervals.size());
  for (const int index : classes) counts[index] += 1.0;
  for (size_t i = 0; i < intervals.size(); ++i) {
    expected[i] = intervals[i].probability * static_cast<double>(classes.size());
  }
  if (intervals.size() == 1) return 1.0;
  return ChiSquareTail(ChiSquare(counts, expected), static_cast<int>(intervals.size()) - 1);
}

template <typename Sample>
double LowBitsProbability(std::span<const Sample> samples) {
  std::vector<double> counts(kNumResidues);
  for (const Sample x : samples) counts[static_cast<size_t>(x & (kNumResidues - 1))] += 1.0;
  const std::vector<double> expected(kNumResidues,
                                     static_cast<double>(samples.size()) / kNumResidues);
  return ChiSquareTail(ChiSquare(counts, expected), kNumResidues - 1);
}

// Each draw's group (of four with about equal probability) against the group of the draw before.
double IndependenceProbability(std::span<const int> classes, std::span<const Interval> intervals) {
  std::vector<int> group_of(intervals.size());
  std::vector<double> group_probability;
  double gathered = 0.0;
  double cumulative = 0.0;
  for (size_t i = 0; i < intervals.size(); ++i) {
    group_of[i] = static_cast<int>(group_probability.size());
    gathered += intervals[i].probability;
    cumulative += intervals[i].probability;
    if (gathered >= 0.2 && cumulative < 0.9) {
      group_probability.push_back(gathered);
      gathered = 0.0;
    }
  }
  group_probability.push_back(gathered);
  const size_t size = group_probability.size();
  if (size == 1) return 1.0;
  // Pairs (0, 1), (2, 3), ...: pairs that share no draw, so that the counts are multinomial.
  std::vector<double> counts(size * size);
  std::vector<double> expected(size * size);
  const size_t num_pairs = classes.size() / 2;
  for (size_t i = 0; i < num_pairs; ++i) {
    const auto first = static_cast<size_t>(group_of[classes[2 * i]]);
    const auto second = static_cast<size_t>(group_of[classes[2 * i + 1]]);
    counts[first * size + second] += 1.0;
  }
  for (size_t i = 0; i < size * size; ++i) {
    expected[i] =
        group_probability[i / size] * group_probability[i % size] * static_cast<double>(num_pairs);
  }
  return ChiSquareTail(ChiSquare(counts, expected), static_cast<int>(size * size) - 1);
}

template <typename Sample>
bool Fits(std::span<const Sample> samples, const Rational& exact_variance, double alpha) {
  const double variance = exact_variance.get_d();
  const std::vector<Interval> intervals =
      variance <= kMaxSummedVariance ? SummedIntervals(variance) : NormalIntervals(variance);
  const std::vector<int> classes = Classify(samples, std::span(intervals));
  // x mod 16 is uniform to within exp(-2 pi^2 variance / 256): nothing from variance 1000 on.
  const double low_bits = variance >= 1000.0 ? LowBitsProbability(samples) : 1.0;
  return FitProbability(classes, intervals) >= alpha / 3 && low_bits >= alpha / 3 &&
         IndependenceProbability(classes, intervals) >= alpha / 3;
}

}  // namespace

double ChiSquareTail(double statistic, int degrees) {
  // Below 1e-300 from here on, and MPFR would take minutes.
  if (statistic > 2000.0 + 10.0 * degrees) return 0.0;
  BigFloat shape(64);
  BigFloat result(64);
  BigFloat gamma(64);
  mpfr_set_d(shape(), 0.5 * degrees, MPFR_RNDN);
  mpfr_set_d(result(), 0.5 * statistic, MPFR_RNDN);
  mpfr_gamma_inc(result(), shape(), result(), MPFR_RNDN);
  mpfr_gamma(gamma(), shape(), MPFR_RNDN);
  mpfr_div(result(), result(), gamma(), MPFR_RNDN);
  return mpfr_get_d(result(), MPFR_RNDN);
}

bool FitsDiscreteGaussian(std::span<const int64_t> samples, const Rational& variance,
                          double alpha) {
  return Fits(samples, variance, alpha);
}

bool FitsDiscreteGaussian(std::span<const Int128> samples, const Rational& variance, double alpha) {
  return Fits(samples, variance, alpha);
}

}  // namespace residua
