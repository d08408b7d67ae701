#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "residua/base/rational.h"

namespace residua {

// The unit a budget was given in.
enum class BudgetUnit { kPcost, kRho, kMu, kEpsilonDelta };

// The two ways to add up what a release costs: each bounds what a release may tell, both hold.
enum class Accounting {
  kZcdp,      // by `pcost`: rho = pcost/2 of zero-concentrated differential privacy
  kGaussian,  // by `mu2`: the curve of mu-Gaussian differential privacy (gaussian_curve.h)
};

// What a release costs by both, never below the true cost. Both are the squared L2 sensitivity over
// the variance, summed over all that is measured; `mu2` is so with every variance of an integer's
// noise less kTau2.
struct PrivacyCost {
  Rational pcost;
  std::optional<Rational> mu2 = std::nullopt;  // nothing where some noise is too small for it
  Integer num_integers = 0;                    // that are measured

  bool operator==(const PrivacyCost&) const = default;
};

// A privacy budget: `pcost` is the most that the cost may be, exactly: the `pcost` or the `mu2` of
// PrivacyCost, as `limits` says. rho = pcost/2 by zCDP, mu = sqrt(pcost) by the Gaussian curve. An
// (epsilon, delta) budget is turned into the largest mu of the Gaussian curve, rounded down, less
// what integer noise takes from it.
struct Budget {
  BudgetUnit unit = BudgetUnit::kPcost;
  Rational pcost;
  double delta = 0;  // the delta at which epsilon is stated
  Accounting limits = Accounting::kZcdp;

  bool operator==(const Budget&) const = default;
};

// What of the cost the budget limits.
Rational LimitedCost(const Budget& budget, const PrivacyCost& cost);

// Where no delta is given, epsilon is stated at this one: below one in a national population.
inline constexpr double kDefaultDelta = 1e-9;

// Each throws Error{kBadInput} unless its argument is positive, its privacy cost between 1e-100 and
// 1e100 and, for delta, inside (0, 1).
Budget BudgetFromPcost(const Rational& pcost, double delta = kDefaultDelta);
Budget BudgetFromRho(const Rational& rho, double delta = kDefaultDelta);
Budget BudgetFromMu(const Rational& mu, double delta = kDefaultDelta);
Budget BudgetFromEpsilon(const Rational& epsilon, double delta);

void CheckDelta(double delta);
// Error{kRefused} unless a plan may state this privacy cost: from 0 to 1e100.
void CheckStatedPcost(const Rational& pcost);

// What a release of this cost promises, in every unit, each rounded up and proven for the discrete
// noise that residua adds. `epsilon` is at `delta`, by zCDP or by the Gaussian curve, whichever
// gives the smaller.
struct Guarantee {
  double pcost = 0;
  double rho = 0;
  std::optional<double> mu;  // nothing where some noise is too small for the Gaussian curve
  double epsilon = 0;
  double delta = 0;
};

Guarantee GuaranteeOf(const PrivacyCost& cost, double delta);

// The decimal that a delta was typed as, rounded up to six digits. The double may be above that by
// half a unit in its last place, which moves epsilon by less than its margin (docs/math.md).
std::string DeltaText(double delta);

}  // namespace residua
