#include "residua/privacy/budget.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "residua/base/error.h"
#include "residua/privacy/conversion.h"
#include "residua/privacy/gaussian_curve.h"

namespace residua {
namespace {

// 1e100: doubles, which choose the noise, hold all of its powers that are met on the way.
const Rational& LargestPcost() {
  static const Rational largest = ParseRational("1e100", "the largest pcost");
  return largest;
}

// `name` is the unit that the budget was given in, as `value`.
void CheckPositive(const Rational& value, std::string_view name, const Rational& pcost) {
  if (value <= 0) {
    Fail(ErrorKind::kBadInput, "{} is {}; a privacy budget must be positive", name,
         ToString(value));
  }
  if (pcost > LargestPcost() || pcost * LargestPcost() < 1) {
    Fail(ErrorKind::kBadInput,
         "{} is beyond any noise that can be chosen; its privacy cost must lie between 1e-100 and "
         "1e100",
         name);
  }
}

// The decimal that a delta is printed as, or the double, whichever is smaller.
Rational LeastDelta(double delta) {
  return std::min(Rational(delta), RationalFromDecimal(delta, "delta"));
}

// The least double whose square is not below `value`.
double SquareRootUp(const Rational& value) {
  double root = std::sqrt(ToDoubleUp(value));
  while (root > 0 &&
         Rational(std::nextafter(root, 0)) * Rational(std::nextafter(root, 0)) >= value) {
    root = std::nextafter(root, 0);
  }
  while (Rational(root) * Rational(root) < value) {
    root = std::nextafter(root, std::numeric_limits<double>::infinity());
  }
  return root;
}

}  // namespace

void CheckStatedPcost(const Rational& pcost) {
  if (pcost < 0 || pcost > LargestPcost()) {
    Fail(ErrorKind::kRefused, "a privacy cost must lie between 0 and 1e100");
  }
}

void CheckDelta(double delta) {
  if (!(delta > 0) || !(delta < 1)) {
    Fail(ErrorKind::kBadInput, "delta is {}; it must lie strictly between 0 and 1, such as 1e-9",
         delta);
  }
}

Budget BudgetFromPcost(const Rational& pcost, double delta) {
  CheckPositive(pcost, "pcost", pcost);
  CheckDelta(delta);
  return {BudgetUnit::kPcost, pcost, delta};
}

Budget BudgetFromRho(const Rational& rho, double delta) {
  CheckPositive(rho, "rho", 2 * rho);
  CheckDelta(delta);
  return {BudgetUnit::kRho, 2 * rho, delta};
}

Budget BudgetFromMu(const Rational& mu, double delta) {
  CheckPositive(mu, "mu", mu * mu);
  CheckDelta(delta);
  return {BudgetUnit::kMu, mu * mu, delta, Accounting::kGaussian};
}

Budget BudgetFromEpsilon(const Rational& epsilon, double delta) {
  CheckPositive(epsilon, "epsilon", epsilon);
  CheckDelta(delta);
  const CurveError error = *ErrorOfIntegerNoise(MostMeasuredIntegers());
  if (epsilon > error.epsilon) {
    const double mu = GaussianFromEpsilon(ToDoubleDown(epsilon - error.epsilon),
                                          ToDoubleDown(LeastDelta(delta) / error.delta_factor));
    const Rational mu2 = Rational(mu) * Rational(mu);
    if (mu > 0) {
      CheckPositive(epsilon, "epsilon", mu2);
      return {BudgetUnit::kEpsilonDelta, mu2, delta, Accounting::kGaussian};
    }
  }
  // What integer noise takes from the Gaussian curve is more than so small an epsilon.
  const double rho = ZcdpFromEpsilon(ToDoubleDown(epsilon), delta);
  if (!(rho > 0) || !std::isfinite(rho)) {
    Fail(ErrorKind::kBadInput, "epsilon {} with delta {} leaves no budget; raise either",
         ToString(epsilon), delta);
  }
  const Rational pcost = 2 * Rational(rho);
  CheckPositive(epsilon, "epsilon", pcost);
  return {BudgetUnit::kEpsilonDelta, pcost, delta};
}

Rational LimitedCost(const Budget& budget, const PrivacyCost& cost) {
  if (budget.limits == Accounting::kZcdp) return cost.pcost;
  if (!cost.mu2) {
    Fail(ErrorKind::kRefused,
         "some noise is too small for the Gaussian curve that the budget is stated by; plan again");
  }
  return *cost.mu2;
}

Guarantee GuaranteeOf(const PrivacyCost& cost, double delta) {
  CheckStatedPcost(cost.pcost);
  CheckDelta(delta);
  Guarantee g;
  g.pcost = ToDoubleUp(cost.pcost);
  g.rho = ToDoubleUp(cost.pcost / 2);
  g.epsilon = EpsilonFromZcdp(g.rho, delta);
  g.delta = delta;
  const auto error = ErrorOfIntegerNoise(cost.num_integers);
  if (!cost.mu2 || !error) return g;
  CheckStatedPcost(*cost.mu2);
  const double mu = SquareRootUp(*cost.mu2);
  g.mu = mu;
  const double on_curve =
      EpsilonFromGaussian(mu, ToDoubleDown(LeastDelta(delta) / error->delta_factor));
  if (!std::isfinite(on_curve)) return g;
  g.epsilon = std::min(g.epsilon, ToDoubleUp(Rational(on_curve) + error->epsilon));
  return g;
}

std::string DeltaText(double delta) { return TextAbove(RationalFromDecimal(delta, "delta")); }

}  // namespace residua
