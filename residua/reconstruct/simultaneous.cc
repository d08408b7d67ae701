#include "residua/reconstruct/simultaneous.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "residua/base/threads.h"
#include "residua/reconstruct/estimate.h"
#include "residua/reconstruct/table_answers.h"
#include "residua/reconstruct/table_reconstruction.h"
#include "residua/select/plan_errors.h"

namespace residua {
namespace {

// Each with a seed of its own, so that the threads do not change the result.
constexpr int kNumParts = 16;
static_assert(kNumSimulated % kNumParts == 0);
// Simulated integers have this many steps to a standard deviation, as a power of two, if they can.
constexpr int kStepBits = 30;
// Standard deviations of more bits than this would not fit.
constexpr int kMostBits = 50;
// The quantile of a standard normal that is exceeded with probability 1 %.
constexpr double kSure = 2.33;

// Pairs of independent standard normals (Box and Muller).
class Normals {
 public:
  explicit Normals(uint64_t seed) : bits_(seed) {}

  double Next() {
    if (spare_) {
      const double value = *spare_;
      spare_.reset();
      return value;
    }
    const double radius = std::sqrt(-2 * std::log(Uniform()));
    const double angle = 2 * std::numbers::pi * Uniform();
    spare_ = radius * std::sin(angle);
    return radius * std::cos(angle);
  }

 private:
  double Uniform() { return (static_cast<double>(bits_() >> 11) + 0.5) * 0x1p-53; }

  std::mt19937_64 bits_;
  std::optional<double> spare_;
};

std::vector<const AxisAnswers*> AxesOfTable(std::span<const AxisAnswers> axes,
                                            const AttributeSet& table) {
  std::vector<const AxisAnswers*> of_table;
  for (const int i : table) of_table.push_back(&axes[static_cast<size_t>(i)]);
  return of_table;
}

// Measurements of an empty table, with simulated noise.
class SimulatedNoise {
 public:
  SimulatedNoise(const Plan& plan, const std::set<AttributeSet>& sets, uint64_t seed)
      : normals_(seed), bases_(BasisOfAttributes(plan)) {
    for (const AttributeSet& set : sets) {
      const Rational variance = IntegerNoiseVariance(plan, set);
      const double std_dev = std::sqrt(variance.get_d());
      const int bits = std::clamp(kStepBits - std::ilogb(std_dev), 0, 62);
      int64_t num_values = 1;
      for (const int i : set) num_values *= NumResidualRows(bases_[static_cast<size_t>(i)]);
      std_devs_.push_back(std::ldexp(std_dev, bits));
      residuals_.push_back(
          {set, std::vector<int64_t>(static_cast<size_t>(num_values)), variance, bits});
    }
    index_.emplace(IndexResiduals(plan, residuals_));
  }

  const ResidualIndex& index() const { return *index_; }

  // The index refers to the values.
  void Draw() {
    for (size_t k = 0; k < residuals_.size(); ++k) {
      for (int64_t& value : std::get<std::vector<int64_t>>(residuals_[k].values)) {
        value = std::llround(std_devs_[k] * normals_.Next());
      }
    }
  }

 private:
  Normals normals_;
  std::vector<ResidualBasis> bases_;
  std::vector<NoisyResidual> residuals_;
  std::vector<double> std_devs_;  // of the integers
  std::optional<ResidualIndex> index_;
};

// The largest error of any answer, in standard deviations.
double LargestError(const ResidualIndex& index, std::span<const AttributeSet> tables,
                    std::span<const AxisAnswers> axes,
                    const std::vector<std::vector<double>>& std_devs) {
  double largest = 0;
  for (size_t t = 0; t < tables.size(); ++t) {
    const std::vector<double> counts = Reconstruct(index, tables[t]);
    const std::vector<double> answers = AnswerTable(counts, AxesOfTable(axes, tables[t]));
    const bool is_constant = std_devs[t].size() == 1;
    for (size_t k = 0; k < answers.size(); ++k) {
      largest = std::max(largest, std::fabs(answers[k]) / std_devs[t][is_constant ? 0 : k]);
    }
  }
  return largest;
}

std::vector<double> SimulateLargest(const Plan& plan, const std::set<AttributeSet>& sets,
                                    std::span<const AttributeSet> tables,
                                    std::span<const AxisAnswers> axes) {
  constexpr int kEach = kNumSimulated / kNumParts;
  std::vector<double> largest(kNumSimulated);
  ParallelFor(0, kNumParts, [&](int part) {
    SimulatedNoise noise(plan, sets, static_cast<uint64_t>(part) + 1);
    std::vector<std::vector<double>> std_devs;
    for (const AttributeSet& table : tables) {
      std_devs.push_back(AnswerVariances(noise.index(), table, AxesOfTable(axes, table)));
      for (double& value : std_devs.back()) value = std::sqrt(value);
    }
    for (int k = 0; k < kEach; ++k) {
      noise.Draw();
      largest[static_cast<size_t>(part * kEach + k)] =
          LargestError(noise.index(), tables, axes, std_devs);
    }
  });
  std::sort(largest.begin(), largest.end());
  return largest;
}

}  // namespace

double SimultaneousFactor(const Plan& plan, std::span<const AttributeSet> tables,
                          std::span<const AxisAnswers> axes, double confidence) {
  const double one = TwoSidedQuantile(confidence);
  double num_answers = 0;
  std::set<AttributeSet> sets;
  for (const AttributeSet& table : tables) {
    double of_table = 1;
    for (const int i : table) of_table *= static_cast<double>(axes[static_cast<size_t>(i)].size());
    num_answers += of_table;
    ForEachSubset(table, [&](size_t, std::span<const int> subset) {
      sets.insert(AttributeSet(subset.begin(), subset.end()));
    });
  }
  if (num_answers <= 1) return one;
  // 1 - confidence^(1/m), without cancellation.
  const double tail = -std::expm1(std::log(confidence) / num_answers);
  const double sidak = TwoSidedQuantile(1 - tail);
  const double place =
      kNumSimulated * confidence + kSure * std::sqrt(kNumSimulated * confidence * (1 - confidence));
  // A mean is no answer along an axis: its count, sum and mean have the intervals of three answers.
  const bool fits = std::all_of(sets.begin(), sets.end(), [&](const AttributeSet& set) {
    return MeanAttribute(plan.domain, set) < 0 &&
           IntegerNoiseVariance(plan, set).get_d() < std::ldexp(1.0, 2 * kMostBits);
  });
  if (num_answers > static_cast<double>(kMostSimulated) || place > kNumSimulated - 1 || !fits) {
    return sidak;
  }
  const std::vector<double> largest = SimulateLargest(plan, sets, tables, axes);
  return std::clamp(largest[static_cast<size_t>(std::ceil(place))], one, sidak);
}

}  // namespace residua
