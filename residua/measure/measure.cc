#include "residua/measure/measure.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <optional>

#include "residua/base/error.h"
#include "residua/measure/residual_transform.h"
#include "residua/measure/true_counts.h"
#include "residua/noise/discrete_gaussian.h"
#include "residua/noise/secure_bits.h"
#include "residua/select/plan_errors.h"

namespace residua {
namespace {

using NoisyValues = decltype(NoisyResidual::values);

// Noise of a larger variance is drawn in 128 bits; the sampler's own limit for 64 bits.
const Rational& LargestNarrowVariance() {
  static const Rational limit(Integer(1) << 112);
  return limit;
}

template <typename True, typename Noise>
std::vector<Int128> AddWide(const std::vector<True>& values, const std::vector<Noise>& noise) {
  std::vector<Int128> sum(values.size());
  for (size_t k = 0; k < values.size(); ++k) {
    if (__builtin_add_overflow(Int128{values[k]}, Int128{noise[k]}, &sum[k])) {
      Fail(ErrorKind::kTooLarge, "a noisy value does not fit 128 bits; plan for smaller tables");
    }
  }
  return sum;
}

// In 64 bits where every sum fits. Which width it takes follows from the noisy values, so it says
// no more than they do.
NoisyValues AddNarrow(const std::vector<int64_t>& values, const std::vector<int64_t>& noise) {
  std::vector<int64_t> sum(values.size());
  for (size_t k = 0; k < values.size(); ++k) {
    if (__builtin_add_overflow(values[k], noise[k], &sum[k])) return AddWide(values, noise);
  }
  return sum;
}

NoisyValues AddNoise(const TrueResidual& residual, const Rational& variance, BitSource& bits) {
  const auto& values = TrueCounts::Values(residual);
  const size_t size = std::visit([](const auto& v) { return v.size(); }, values);
  if (variance > LargestNarrowVariance()) {
    std::vector<Int128> noise(size);
    SampleDiscreteGaussian(variance, bits, std::span<Int128>(noise));
    return std::visit([&](const auto& v) { return AddWide(v, noise); }, values);
  }
  std::vector<int64_t> noise(size);
  SampleDiscreteGaussian(variance, bits, std::span<int64_t>(noise));
  if (const auto* narrow = std::get_if<std::vector<int64_t>>(&values)) {
    return AddNarrow(*narrow, noise);
  }
  return AddWide(std::get<std::vector<Int128>>(values), noise);
}

}  // namespace

std::vector<AttributeSet> MeasuredSets(const Plan& plan) {
  std::vector<AttributeSet> sets;
  for (int64_t k = 0; k < plan.mechanisms.size(); ++k) {
    ForEachMember(plan.classes, plan.mechanisms[k],
                  [&](const AttributeSet& set) { sets.push_back(set); });
  }
  std::sort(sets.begin(), sets.end(), [](const AttributeSet& a, const AttributeSet& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return sets;
}

Rational IntegerNoiseVariance(const Plan& plan, const AttributeSet& set) {
  Rational variance = NoiseVariance(plan, set);
  for (const int i : set) {
    const int c = plan.classes.class_of[static_cast<size_t>(i)];
    variance *= plan.bases[static_cast<size_t>(c)].variance_factor;
  }
  return variance;
}

void CheckNoiseIsMeasurable(const Plan& plan) {
  for (const PricedMechanism& mechanism :
       PriceMechanisms(plan.bases, plan.classes, plan.mechanisms, plan.variances)) {
    if (mechanism.variance > Rational(Integer(1) << 126)) {
      Fail(ErrorKind::kTooLarge,
           "the plan asks for integer noise of variance {:.3g}, above the 2^126 that can be drawn; "
           "plan "
           "for smaller tables or a larger budget",
           mechanism.variance.get_d());
    }
    if (mechanism.variance < Rational(1, 100)) {
      Fail(ErrorKind::kBadInput,
           "the plan asks for noise of variance {:.3g}, below the 0.01 that can be drawn; its "
           "budget is "
           "too large to protect anything",
           mechanism.variance.get_d());
    }
  }
}

void Measure(const Plan& plan, const EncodedTable& table, const MeasureOptions& options,
             const std::function<void(NoisyResidual&&)>& visit) {
  CheckNoiseIsMeasurable(plan);
  const std::vector<ResidualMatrix> matrices = MatrixOfAttributes(plan);
  const auto bits =
      options.bits_of_thread
          ? options.bits_of_thread
          : std::function<BitSource&()>([]() -> BitSource& { return ThreadSecureBits(); });
  tbb::task_arena arena(options.counting.num_threads > 0 ? options.counting.num_threads
                                                         : tbb::task_arena::automatic);
  CountMarginalBatches(
      table, plan.domain, MeasuredSets(plan), options.counting,
      [&](std::vector<TrueMarginal>&& marginals) {
        std::vector<std::optional<NoisyResidual>> noisy(marginals.size());
        arena.execute([&] {
          tbb::parallel_for(size_t{0}, marginals.size(), [&](size_t k) {
            const AttributeSet attributes = marginals[k].attributes();
            const Rational variance = IntegerNoiseVariance(plan, attributes);
            const TrueResidual residual =
                ResidualTransform(plan.domain, matrices, std::move(marginals[k]));
            noisy[k] = {attributes, AddNoise(residual, variance, bits()), variance};
          });
        });
        for (auto& residual : noisy) visit(std::move(*residual));
      });
}

}  // namespace residua
