#include "residua/basis/matrix_root.h"

#include <cmath>
#include <numbers>

#include "residua/base/error.h"
#include "residua/base/portable_math.h"

namespace residua {
namespace {

// A step of the arithmetic-geometric mean doubles the digits.
constexpr int kMeanSteps = 12;

// Jacobi's elliptic functions with complementary modulus `complement`, by descending Landen
// transformations. Accurate up to half a quarter period.
struct Elliptic {
  double sn;
  double cn;
  double dn;
};
class EllipticFunctions {
 public:
  explicit EllipticFunctions(double complement) {
    double a = 1;
    double b = complement;
    ratio_.push_back(std::sqrt((1 - complement) * (1 + complement)));
    for (int step = 0; step < kMeanSteps; ++step) {
      const double difference = (a - b) / 2;
      const double mean = (a + b) / 2;
      b = std::sqrt(a * b);
      a = mean;
      ratio_.push_back(difference / a);
    }
    mean_ = a;
  }

  double quarter_period() const { return std::numbers::pi / (2 * mean_); }

  Elliptic At(double u) const {
    double angle = std::ldexp(mean_ * u, kMeanSteps);
    double next = angle;
    for (size_t k = kMeanSteps; k > 0; --k) {
      next = angle;
      angle = (angle + PortableAsin(ratio_[k] * PortableSin(angle))) / 2;
    }
    return {PortableSin(angle), PortableCos(angle), PortableCos(angle) / PortableCos(next - angle)};
  }

 private:
  std::vector<double> ratio_;
  double mean_ = 1;
};

}  // namespace

std::vector<RootTerm> RootTerms(double least, double most) {
  RESIDUA_CHECK(least > 0 && most >= least && std::isfinite(most));
  std::vector<RootTerm> terms;
  const double complement = std::sqrt(least / most);
  const EllipticFunctions functions(complement);
  const double period = functions.quarter_period();
  const auto num_terms =
      static_cast<int>(std::ceil((PortableLog(most / least) + 3) * -PortableLog(kRootTolerance) /
                                 (2 * std::numbers::pi * std::numbers::pi)));
  const double scale = 2 * period / (std::numbers::pi * num_terms);
  for (int k = 0; k < num_terms; ++k) {
    const double u = (k + 0.5) * period / num_terms;
    if (2 * k < num_terms) {
      const Elliptic at = functions.At(u);
      terms.push_back({least * at.sn * at.sn / (at.cn * at.cn),
                       scale * std::sqrt(least) * at.dn / (at.cn * at.cn)});
    } else {
      // Beyond half the period, by its reflection.
      const Elliptic at = functions.At(period - u);
      terms.push_back({most * at.cn * at.cn / (at.sn * at.sn),
                       scale * std::sqrt(most) * at.dn / (at.sn * at.sn)});
    }
  }
  return terms;
}

}  // namespace residua
