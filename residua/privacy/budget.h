#pragma once

#include <string>
#include <string_view>

#include "residua/base/rational.h"

namespace residua {

// The unit a budget was given in.
enum class BudgetUnit { kPcost, kRho, kMu, kEpsilonDelta };

// A privacy budget. `pcost` is exact: the squared L2 sensitivity over the variance, summed over all
// that is measured; rho = pcost/2, mu = sqrt(pcost). An (epsilon, delta) budget is turned into the
// largest rho that zCDP's conversion allows, rounded down.
struct Budget {
  BudgetUnit unit = BudgetUnit::kPcost;
  Rational pcost;
  double delta = 0;  // the delta at which epsilon is stated

  bool operator==(const Budget&) const = default;
};

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

// One privacy cost in every unit, each rounded up.
//   `rho`, `epsilon` hold for the discrete noise that residua adds; `epsilon` is at `delta`.
//   `mu`, `epsilon_continuous` hold if the noise were continuous (Gaussian DP).
struct Guarantee {
  double pcost = 0;
  double rho = 0;
  double mu = 0;
  double epsilon = 0;
  double epsilon_continuous = 0;
  double delta = 0;
};

Guarantee GuaranteeOf(const Rational& pcost, double delta);

// The decimal that a delta was typed as, rounded up to six digits. The double may be above that by
// half a unit in its last place, which moves epsilon by less than its margin (docs/math.md).
std::string DeltaText(double delta);

}  // namespace residua
