#include "residua/select/rounding.h"

#include <cmath>

#include "residua/base/error.h"

namespace residua {
namespace {

// Bits of a precision 1/variance. The loss of accuracy is below 2^-31, far under the 1e-5 we allow,
// and the sampler's exact comparisons stay within few machine words.
constexpr int kPrecisionBits = 32;

template <typename Round>
std::vector<Rational> RoundPrecisions(std::span<const double> noise_variance, const Rational& factor,
                                      const Round& round) {
  std::vector<Rational> variances;
  variances.reserve(noise_variance.size());
  for (const double variance : noise_variance) {
    RESIDUA_CHECK(std::isfinite(variance) && variance > 0);
    const Rational precision = round(factor / Rational(variance), kPrecisionBits);
    variances.push_back(1 / precision);
  }
  return variances;
}

}  // namespace

RoundedNoise RoundWithinBudget(const std::vector<ResidualBasis>& basis_of_class,
                               const AttributeClasses& classes, const MultisetTable& mechanisms,
                               std::span<const double> noise_variance, const Rational& budget_pcost) {
  // The doubles' own error can leave the cost a hair above the budget: shrink all precisions by
  // 2^-44, 2^-42, ... until the exact sum fits. In exact arithmetic a few rounds always suffice.
  Rational factor = 1;
  for (int shift = 44; shift >= 18; shift -= 2) {
    RoundedNoise rounded;
    rounded.variances = RoundPrecisions(noise_variance, factor, RoundDown);
    rounded.pcost =
        ExactPcost(PriceMechanisms(basis_of_class, classes, mechanisms, rounded.variances));
    if (rounded.pcost <= budget_pcost) return rounded;
    factor = 1 - Rational(1, Integer(1) << static_cast<unsigned long>(shift));
  }
  Fail(ErrorKind::kBroken, "the noise could not be rounded to fit the privacy budget {}",
       ToString(budget_pcost));
}

RoundedNoise RoundForAccuracy(const std::vector<ResidualBasis>& basis_of_class,
                              const AttributeClasses& classes, const MultisetTable& mechanisms,
                              std::span<const double> noise_variance) {
  RoundedNoise rounded;
  rounded.variances = RoundPrecisions(noise_variance, 1, RoundUp);
  rounded.pcost = ExactPcost(PriceMechanisms(basis_of_class, classes, mechanisms, rounded.variances));
  return rounded;
}

}  // namespace residua
