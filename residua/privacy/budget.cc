#include "residua/privacy/budget.h"

#include <cmath>
#include <limits>

#include "residua/base/error.h"
#include "residua/privacy/conversion.h"

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
  return {BudgetUnit::kMu, mu * mu, delta};
}

Budget BudgetFromEpsilon(const Rational& epsilon, double delta) {
  CheckPositive(epsilon, "epsilon", epsilon);
  CheckDelta(delta);
  const double rho = ZcdpFromEpsilon(ToDoubleDown(epsilon), delta);
  if (!(rho > 0) || !std::isfinite(rho)) {
    Fail(ErrorKind::kBadInput, "epsilon {} with delta {} leaves no zCDP budget; raise either",
         ToString(epsilon), delta);
  }
  const Rational pcost = 2 * Rational(rho);
  CheckPositive(epsilon, "epsilon", pcost);
  return {BudgetUnit::kEpsilonDelta, pcost, delta};
}

Guarantee GuaranteeOf(const Rational& pcost, double delta) {
  CheckStatedPcost(pcost);
  CheckDelta(delta);
  Guarantee g;
  g.pcost = ToDoubleUp(pcost);
  g.rho = ToDoubleUp(pcost / 2);
  g.mu = std::nextafter(std::sqrt(g.pcost), std::numeric_limits<double>::infinity());
  if (Rational(std::sqrt(g.pcost)) * Rational(std::sqrt(g.pcost)) >= pcost) {
    g.mu = std::sqrt(g.pcost);
  }
  g.epsilon = EpsilonFromZcdp(g.rho, delta);
  g.epsilon_continuous = EpsilonFromGaussian(g.mu, delta);
  g.delta = delta;
  return g;
}

std::string DeltaText(double delta) { return TextAbove(RationalFromDecimal(delta, "delta")); }

}  // namespace residua
