#include "residua/select/rounding.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "residua/base/error.h"

namespace residua {
namespace {

// Bits of a precision 1/variance. The loss of accuracy is below 2^-31, far under the 1e-5 we allow,
// and the sampler's exact comparisons stay within few machine words.
constexpr int kPrecisionBits = 32;

enum class Side { kDown, kUp };

// The precision factor / variance as m * 2^e with m of kPrecisionBits bits, on the side asked for
// up to the error of the double quotient; and from it the variance, exactly.
std::vector<Rational> RoundPrecisions(std::span<const double> noise_variance, double factor,
                                      Side side) {
  std::vector<Rational> variances;
  variances.reserve(noise_variance.size());
  for (const double variance : noise_variance) {
    RESIDUA_CHECK(std::isfinite(variance) && variance > 0);
    int exponent = 0;
    const double fraction = std::frexp(factor / variance, &exponent);
    RESIDUA_CHECK(std::isfinite(fraction) && fraction > 0);
    const double scaled = std::ldexp(fraction, kPrecisionBits);
    const Integer mantissa(side == Side::kDown ? std::floor(scaled) : std::ceil(scaled));
    Rational exact(1, mantissa);
    exact.canonicalize();
    const int shift = kPrecisionBits - exponent;
    if (shift >= 0) {
      mpq_mul_2exp(exact.get_mpq_t(), exact.get_mpq_t(), static_cast<unsigned long>(shift));
    } else {
      mpq_div_2exp(exact.get_mpq_t(), exact.get_mpq_t(), static_cast<unsigned long>(-shift));
    }
    variances.push_back(std::move(exact));
  }
  return variances;
}

RoundedNoise Priced(const MechanismOrbits& mechanisms, std::vector<Rational> variances) {
  std::vector<int> scale_bits = ChooseScaleBits(mechanisms, variances);
  PrivacyCost cost = PlanPrivacyCost(mechanisms, variances, scale_bits);
  return {std::move(variances), std::move(scale_bits), std::move(cost)};
}

}  // namespace

RoundedNoise RoundWithinBudget(const MechanismOrbits& mechanisms,
                               std::span<const double> noise_variance, const Budget& budget) {
  // The noise was chosen for pcost. Where the budget limits mu2, some millionth above it, all
  // precisions shrink by as much. The doubles' own error can leave the cost a hair above the budget
  // still: shrink them by another 2^-44, 2^-42, ... until the exact sum fits. In exact arithmetic a
  // few rounds always suffice.
  double factor = 1;
  double first_factor = 1;
  for (int shift = 44; shift >= 18; shift -= 2) {
    RoundedNoise rounded = Priced(mechanisms, RoundPrecisions(noise_variance, factor, Side::kDown));
    const Rational cost = LimitedCost(budget, rounded.cost);
    if (cost <= budget.pcost) return rounded;
    if (factor == 1 && budget.limits == Accounting::kGaussian) {
      first_factor = std::min(1.0, ToDoubleUp(budget.pcost / cost));
    }
    factor = first_factor * (1 - std::ldexp(1.0, -shift));
  }
  Fail(ErrorKind::kBroken, "the noise could not be rounded to fit the privacy budget {}",
       ToString(budget.pcost));
}

RoundedNoise RoundForAccuracy(const MechanismOrbits& mechanisms,
                              std::span<const double> noise_variance) {
  return Priced(mechanisms, RoundPrecisions(noise_variance, 1, Side::kUp));
}

}  // namespace residua
