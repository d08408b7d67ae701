#include "residua/privacy/exact_cost.h"

#include "residua/base/error.h"

namespace residua {

void CheckNoiseVariance(const Rational& variance) {
  if (variance <= 0) {
    Fail(ErrorKind::kRefused, "a noise variance is {}; it must be positive: plan again",
         ToString(variance));
  }
}

Rational ExactPcost(const std::vector<PricedMechanism>& mechanisms) {
  // Summed in a tree, so that most additions are of short numbers: partial[k] holds the sum of 2^k
  // consecutive terms, as the bits of a counter.
  std::vector<Rational> partial;
  std::vector<bool> filled;
  for (const PricedMechanism& mechanism : mechanisms) {
    RESIDUA_CHECK(mechanism.count >= 0 && mechanism.squared_sensitivity >= 0);
    CheckNoiseVariance(mechanism.variance);
    Rational sum = Rational(mechanism.count * mechanism.squared_sensitivity) / mechanism.variance;
    size_t k = 0;
    for (; k < filled.size() && filled[k]; ++k) {
      sum += partial[k];
      filled[k] = false;
    }
    if (k == filled.size()) {
      partial.emplace_back();
      filled.push_back(false);
    }
    partial[k] = sum;
    filled[k] = true;
  }
  Rational total = 0;
  for (size_t k = 0; k < filled.size(); ++k) {
    if (filled[k]) total += partial[k];
  }
  return total;
}

}  // namespace residua
