#include "residua/privacy/conversion.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace residua {
namespace {

constexpr double kSafety = 1e-12;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Minimises a function of u that first falls and then rises: a coarse scan, then golden section
// between the neighbours of the best point. Any u gives a valid bound, so inexactness is safe.
template <typename Function>
double Minimum(const Function& f, double low, double high) {
  constexpr int kSteps = 400;
  double best = kInfinity;
  double at = low;
  for (int k = 0; k <= kSteps; ++k) {
    const double u = low + (high - low) * k / kSteps;
    const double value = f(u);
    if (value < best) {
      best = value;
      at = u;
    }
  }
  const double width = (high - low) / kSteps;
  double a = at - width;
  double b = at + width;
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  for (int k = 0; k < 80; ++k) {
    const double left = b - ratio * (b - a);
    const double right = a + ratio * (b - a);
    const double f_left = f(left);
    const double f_right = f(right);
    best = std::min({best, f_left, f_right});
    (f_left <= f_right ? b : a) = f_left <= f_right ? right : left;
  }
  return best;
}

// A sum, and that of its terms' magnitudes.
struct Sum {
  double value = 0;
  double magnitude = 0;
};

// (log(1/delta) - log(alpha-1) + alpha log(1-1/alpha)) / (alpha-1) with e = alpha - 1, as
//   (log(1/delta) - log e - (1 + e) log1p(1/e)) / e      from e = 1 on,
//   (log(1/delta) + e log e - (1 + e) log1p(e)) / e      below.
// In both (1 + e) log1p lies between 0 and 2 log 2, and no term is a difference of large ones.
Sum ConversionTerm(double excess, double log_inverse_delta) {
  const double log_excess = std::log(excess);
  const double first = excess < 1 ? excess * log_excess : -log_excess;
  const double second = (1 + excess) * std::log1p(excess < 1 ? excess : 1 / excess);
  return {(log_inverse_delta + first - second) / excess,
          (log_inverse_delta + std::fabs(first) + second) / excess};
}

// What rounding can take from a sum, as a fraction of its terms' magnitudes. docs/math.md comes to
// 15 2^-53 if logarithms are right to four units in the last place (those of C libraries are right
// to one or two); this is twice that.
constexpr double kRounding = 0x1p-48;

// Not below the bound of zCDP at alpha = 1 + `excess`, exactly that alpha.
double BoundAbove(double rho, double excess, double log_inverse_delta) {
  const Sum term = ConversionTerm(excess, log_inverse_delta);
  const double first = (1 + excess) * rho;
  return first + term.value + kRounding * (first + term.magnitude);
}

// alpha - 1 from e^-400 to e^400: at the ends the bound is far from its minimum for every rho that
// is taken for itself, and every delta that a double holds.
constexpr double kHighestLogExcess = 400;

// Smaller ones are taken for this one, so that nothing is rounded to zero on the way.
constexpr double kLeastRho = 1e-300;

}  // namespace

double EpsilonFromZcdp(double rho, double delta) {
  if (!(rho >= 0) || !(delta > 0) || !(delta < 1)) return kNaN;
  if (rho == 0) return 0.0;
  rho = std::max(rho, kLeastRho);
  const double log_inverse_delta = -std::log(delta);
  const double epsilon =
      Minimum([&](double u) { return BoundAbove(rho, std::exp(u), log_inverse_delta); },
              -kHighestLogExcess, kHighestLogExcess);
  return std::max(0.0, epsilon);
}

double FirstEpsilonFromZcdp(double rho, double delta) {
  if (!(rho >= 0) || !(delta > 0) || !(delta < 1)) return kNaN;
  const double log_inverse_delta = -std::log(delta);
  const auto bound = [&](double u) {
    const double excess = std::exp(u);
    const double alpha = 1 + excess;
    return alpha * rho + (log_inverse_delta - u + alpha * (u - std::log1p(excess))) / excess;
  };
  return std::max(0.0, Minimum(bound, -45, 45)) * (1 + kSafety);
}

double ZcdpFromEpsilon(double epsilon, double delta) {
  if (!(epsilon >= 0) || !(delta > 0) || !(delta < 1)) return kNaN;
  const double log_inverse_delta = -std::log(delta);
  double rho = -Minimum(
      [&](double u) {
        const double excess = std::exp(u);
        return (ConversionTerm(excess, log_inverse_delta).value - epsilon) / (1 + excess);
      },
      -kHighestLogExcess, kHighestLogExcess);
  rho = std::max(0.0, rho);
  // Both directions err safely, so step down until they agree.
  for (double margin = kSafety; rho > 0 && margin < 1; margin *= 4) {
    const double candidate = rho * (1 - margin);
    if (EpsilonFromZcdp(candidate, delta) <= epsilon) return candidate;
  }
  return 0.0;
}

}  // namespace residua
