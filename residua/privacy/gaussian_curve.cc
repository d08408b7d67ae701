#include "residua/privacy/gaussian_curve.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "residua/base/big_float.h"
#include "residua/privacy/conversion.h"

namespace residua {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// Enough where delta is a plain difference. Where it cancels, precision is doubled until the bounds
// are within 2^-60 of each other; the upper one holds at any precision.
constexpr mpfr_prec_t kFirstPrecision = 128;
constexpr mpfr_prec_t kLastPrecision = 4096;
constexpr int kAgreeingBits = 60;

mpfr_rnd_t Opposite(mpfr_rnd_t rounding) { return rounding == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU; }

// sign * mu/2 - epsilon/mu on the side asked for; `sign` is 1 or -1.
void Argument(double mu, double epsilon, int sign, mpfr_rnd_t rounding, BigFloat* out) {
  BigFloat ratio(mpfr_get_prec((*out)()));
  mpfr_set_d(ratio(), epsilon, MPFR_RNDN);  // doubles are exact
  mpfr_div_d(ratio(), ratio(), mu, Opposite(rounding));
  mpfr_set_d((*out)(), 0.5 * sign, MPFR_RNDN);
  mpfr_mul_d((*out)(), (*out)(), mu, rounding);
  mpfr_sub((*out)(), (*out)(), ratio(), rounding);
}

// Phi(x) = erfc(-x / sqrt 2) / 2, in place, on the side asked for: it rises with x.
void NormalCdf(mpfr_rnd_t rounding, BigFloat* x) {
  BigFloat root(mpfr_get_prec((*x)()));
  // x / sqrt 2 rises with x; a larger root brings it nearer to 0.
  const bool from_below = mpfr_sgn((*x)()) > 0;
  mpfr_sqrt_ui(root(), 2, from_below ? Opposite(rounding) : rounding);
  mpfr_div((*x)(), (*x)(), root(), rounding);
  mpfr_neg((*x)(), (*x)(), MPFR_RNDN);
  mpfr_erfc((*x)(), (*x)(), rounding);
  mpfr_div_2ui((*x)(), (*x)(), 1, rounding);
}

// The curve on the side asked for.
void DeltaAt(double mu, double epsilon, mpfr_rnd_t rounding, BigFloat* delta) {
  const mpfr_prec_t precision = mpfr_get_prec((*delta)());
  BigFloat second(precision);
  BigFloat power(precision);
  Argument(mu, epsilon, 1, rounding, delta);
  NormalCdf(rounding, delta);
  Argument(mu, epsilon, -1, Opposite(rounding), &second);
  NormalCdf(Opposite(rounding), &second);
  mpfr_set_d(power(), epsilon, MPFR_RNDN);
  mpfr_exp(power(), power(), Opposite(rounding));
  mpfr_mul(second(), second(), power(), Opposite(rounding));
  mpfr_sub((*delta)(), (*delta)(), second(), rounding);
}

// Whether the curve is at or below `delta`; no if the last precision cannot tell.
bool DeltaIsAtMost(double mu, double epsilon, double delta) {
  if (mu == 0) return true;
  for (mpfr_prec_t precision = kFirstPrecision; precision <= kLastPrecision; precision *= 2) {
    BigFloat bound(precision);
    DeltaAt(mu, epsilon, MPFR_RNDU, &bound);
    if (mpfr_cmp_d(bound(), delta) <= 0) return true;
    DeltaAt(mu, epsilon, MPFR_RNDD, &bound);
    if (mpfr_cmp_d(bound(), delta) > 0) return false;
  }
  return false;
}

// The last double from `low` to `high`, both not negative, that `holds`, which `low` does; doubles
// are in the order of their bits. Not-a-number would fail it.
template <typename Holds>
double LastThatHolds(double low, double high, const Holds& holds) {
  auto inside = std::bit_cast<uint64_t>(low);
  auto outside = std::bit_cast<uint64_t>(high);
  while (outside - inside > 1) {
    const uint64_t middle = inside + (outside - inside) / 2;
    (holds(std::bit_cast<double>(middle)) ? inside : outside) = middle;
  }
  return std::bit_cast<double>(inside);
}

// The curve in doubles, right to a few digits less than they have: for a start only.
double ApproximateDelta(double mu, double epsilon) {
  const auto normal_cdf = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  return normal_cdf(mu / 2 - epsilon / mu) - std::exp(epsilon) * normal_cdf(-mu / 2 - epsilon / mu);
}

// The x at which the logarithm of the curve is about that of `delta`, for a start: the secant
// method, as the logarithm is nearly straight, from `before` and `x` on. Not a number, or a bad
// start, where doubles cannot tell.
template <typename Curve>
double ApproximateRoot(double before, double x, double delta, const Curve& curve) {
  const auto excess = [&](double at) { return std::log(curve(at)) - std::log(delta); };
  double excess_before = excess(before);
  for (int step = 0; step < 20; ++step) {
    const double now = excess(x);
    if (std::fabs(now) < 1e-14 || now == excess_before) break;
    const double next = x - now * (x - before) / (now - excess_before);
    if (!(next > 0) || !std::isfinite(next)) break;
    before = x;
    excess_before = now;
    x = next;
  }
  return x;
}

// LastThatHolds from 0 to `high`, where 0 holds and `high` does not: searched near `start` first.
template <typename Holds>
double LastThatHoldsNear(double start, double high, const Holds& holds) {
  for (const double reach : {0x1p-50, 0x1p-46, 0x1p-36, 0x1p-20}) {
    const double from = start * (1 - reach);
    const double to = start * (1 + reach);
    if (!(from > 0) || !(to < high)) break;
    if (holds(from) && !holds(to)) return LastThatHolds(from, to, holds);
  }
  return LastThatHolds(0, high, holds);
}

// Beyond every mu and epsilon of a cost up to 1e100.
constexpr double kLargestMu = 1e60;
constexpr double kLargestEpsilon = 1e200;

}  // namespace

double GaussianDelta(double mu, double epsilon) {
  if (!(mu >= 0) || !(epsilon >= 0) || !std::isfinite(mu) || !std::isfinite(epsilon)) {
    return kNoNumber;
  }
  if (mu == 0) return 0.0;
  for (mpfr_prec_t precision = kFirstPrecision;; precision *= 2) {
    BigFloat above(precision);
    BigFloat below(precision);
    DeltaAt(mu, epsilon, MPFR_RNDU, &above);
    const double rounded = mpfr_get_d(above(), MPFR_RNDU);
    DeltaAt(mu, epsilon, MPFR_RNDD, &below);
    // How far they are apart, against their size.
    mpfr_sub(below(), above(), below(), MPFR_RNDU);
    mpfr_mul_2ui(below(), below(), kAgreeingBits, MPFR_RNDU);
    const bool is_negligible = rounded <= std::numeric_limits<double>::denorm_min();
    if (mpfr_lessequal_p(below(), above()) != 0 || is_negligible || precision == kLastPrecision) {
      if (!(rounded > 0)) return std::numeric_limits<double>::denorm_min();
      return rounded < 1 ? rounded : 1.0;
    }
  }
}

double EpsilonFromGaussian(double mu, double delta) {
  if (!(mu >= 0) || !std::isfinite(mu) || !(delta > 0) || !(delta < 1)) return kNoNumber;
  if (DeltaIsAtMost(mu, 0, delta)) return 0.0;
  if (!DeltaIsAtMost(mu, kLargestEpsilon, delta)) {
    return std::numeric_limits<double>::infinity();
  }
  const auto is_below = [&](double epsilon) { return !DeltaIsAtMost(mu, epsilon, delta); };
  const double from_zcdp = EpsilonFromZcdp(mu * mu / 2, delta);
  const double start = ApproximateRoot(from_zcdp, 0.96 * from_zcdp, delta, [&](double epsilon) {
    return ApproximateDelta(mu, epsilon);
  });
  return std::nextafter(LastThatHoldsNear(start, kLargestEpsilon, is_below), kLargestEpsilon);
}

double GaussianFromEpsilon(double epsilon, double delta) {
  if (!(epsilon >= 0) || !std::isfinite(epsilon) || !(delta > 0) || !(delta < 1)) return kNoNumber;
  const double from_zcdp = std::sqrt(2 * ZcdpFromEpsilon(epsilon, delta));
  const double start = ApproximateRoot(from_zcdp, 1.02 * from_zcdp, delta,
                                       [&](double mu) { return ApproximateDelta(mu, epsilon); });
  return LastThatHoldsNear(start, kLargestMu,
                           [&](double mu) { return DeltaIsAtMost(mu, epsilon, delta); });
}

std::optional<CurveError> ErrorOfIntegerNoise(const Integer& num_integers) {
  // e(t) = 2 sum_{k>=1} exp(-2 pi^2 k^2 t) is below 1.1e-34 at kTau2, and falls.
  static const Rational error_of_one = ParseRational("1.1e-34", "e");
  const Rational error = error_of_one * num_integers;
  if (error > Rational(1, 2)) return std::nullopt;
  // m log((1 + e)^2 / (1 - e)) <= 4 m e, and (1 + e)^m <= exp(m e) <= 1 + 2 m e.
  return CurveError{4 * error, 1 + 2 * error};
}

const Integer& MostMeasuredIntegers() {
  static const Integer most = Integer(1) << 50;
  return most;
}

}  // namespace residua
