#include "residua/base/portable_math.h"

#include <cmath>
#include <limits>

namespace residua {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
// ln 2 in two parts, of which the first has 32 bits: times the exponent of a double it is exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kHalfPi = 0x1.921fb54442d18p+0;
constexpr double kHalfPiRest = 0x1.1a62633145c07p-54;
// pi in three parts; the first two have 33 bits, so that a million times them is exact.
constexpr double kPiHigh = 0x1.921fb544p+1;
constexpr double kPiMiddle = 0x1.0b4611a6p-33;
constexpr double kPiLow = 0x1.3198a2e037073p-68;

// exp(r) - 1 for |r| <= ln(2) / 2 and a little more: 16 terms leave less than 2^-60 of it.
double ExpSeries(double r) {
  double sum = 0;
  for (int n = 16; n >= 2; --n) sum = (sum + 1) * r / n;
  return r * (1 + sum);
}

// atan(t) for |t| <= tan(pi / 16), about 0.2: 14 terms.
double AtanSeries(double t) {
  const double square = t * t;
  double sum = 0;
  for (int n = 27; n >= 3; n -= 2) sum = (1.0 / n - sum) * square;
  return t * (1 - sum);
}

// For |x| <= pi / 2 and a little more: 13 terms.
double SinSeries(double x) {
  const double square = x * x;
  double sum = 0;
  for (int n = 24; n >= 2; n -= 2) sum = (1 - sum) * square / (n * (n + 1));
  return x * (1 - sum);
}

double CosSeries(double x) {
  const double square = x * x;
  double sum = 0;
  for (int n = 23; n >= 1; n -= 2) sum = (1 - sum) * square / (n * (n + 1));
  return 1 - sum;
}

// x less the nearest multiple of pi, and whether that is an odd one.
struct Reduced {
  double angle = 0;
  bool is_odd = false;
};
Reduced ReducedAngle(double x) {
  const double k = std::nearbyint(x / (2 * kHalfPi));
  return {x - k * kPiHigh - k * kPiMiddle - k * kPiLow, std::fmod(k, 2) != 0};
}

}  // namespace

double PortableExp(double x) {
  if (std::isnan(x)) return x;
  if (x > 710) return kInfinity;
  if (x < -746) return 0;
  const double k = std::nearbyint(x / kLn2High);
  const double r = x - k * kLn2High - k * kLn2Low;
  return std::ldexp(1 + ExpSeries(r), static_cast<int>(k));
}

double PortableExpm1(double x) { return std::fabs(x) < 0.35 ? ExpSeries(x) : PortableExp(x) - 1; }

double PortableLog(double x) {
  if (std::isnan(x) || x < 0) return kNoNumber;
  if (x == 0) return -kInfinity;
  if (x == kInfinity) return x;
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  // log m = 2 atanh((m - 1) / (m + 1)), whose argument is at most 0.172: 12 terms.
  const double t = (m - 1) / (m + 1);
  const double square = t * t;
  double sum = 0;
  for (int n = 25; n >= 3; n -= 2) sum = (sum + 1.0 / n) * square;
  const double k = exponent;
  return k * kLn2High + (2 * t + (2 * t * sum + k * kLn2Low));
}

double PortablePow(double base, double exponent) {
  if (exponent == 0 || base == 1) return 1;
  if (base == 0) return exponent > 0 ? 0 : kInfinity;
  if (exponent == 1) return base;
  return PortableExp(exponent * PortableLog(base));
}

double PortableSin(double x) {
  const Reduced reduced = ReducedAngle(x);
  return reduced.is_odd ? -SinSeries(reduced.angle) : SinSeries(reduced.angle);
}

double PortableCos(double x) {
  const Reduced reduced = ReducedAngle(x);
  const double size = std::fabs(reduced.angle);
  // Near pi / 2 the sine of what is missing has the digits.
  const double cosine = size > 0.8 ? SinSeries(kHalfPi - size + kHalfPiRest) : CosSeries(size);
  return reduced.is_odd ? -cosine : cosine;
}

double PortableAsin(double x) {
  if (!(std::fabs(x) <= 1)) return kNoNumber;
  // asin x = 2 atan(x / (1 + sqrt(1 - x^2))), and atan t = 2 atan(t / (1 + sqrt(1 + t^2))).
  double t = x / (1 + std::sqrt((1 - x) * (1 + x)));
  t = t / (1 + std::sqrt(1 + t * t));
  t = t / (1 + std::sqrt(1 + t * t));
  return 8 * AtanSeries(t);
}

}  // namespace residua
