#include "residua/basis/matrix_root.h"

#include <cmath>
#include <numbers>

#include "residua/base/error.h"
#include "residua/base/portable_math.h"

namespace residua {
namespace {

// What the rational function may be wrong by before anything is rounded, relatively.
constexpr double kTruncation = 1e-14;
// Factors of the products below: the nome is at most 1/16, so that the next one is 1.
constexpr int kFactors = 8;

double Sinh(double y) {
  const double grown = PortableExpm1(y);
  return (grown + grown / (grown + 1)) / 2;
}

}  // namespace

Eigen::VectorXd MatrixRoot::Bent(const Eigen::VectorXd& x, double /*power*/) const {
  return Apply(Apply(x));
}

// x^-1/2 = (2 / pi) integral over u in (0, K) of sqrt(least) sc'(u) / (x + least sc(u)^2), K the
// quarter period of the elliptic function sc with complementary modulus k', k'^2 = least / top. The
// midpoint rule of N terms is right to 4 q / (1 - q), q = exp(-2 pi N K' / K), for every x from
// `least` to `top` (docs/lower_bound.md). Everything follows from `spread` = pi K / K': with the nome
// exp(-spread), k'^2 is at most 16 times the nome. So a spread of log(16 most / least) makes top at
// least `most`.
std::vector<RootTerm> RootTerms(double least, double most) {
  RESIDUA_CHECK(least > 0 && most >= least && std::isfinite(most));
  const double spread = PortableLog(16) + PortableLog(most) - PortableLog(least) + kTruncation;
  const double nome = PortableExp(-spread);
  // prod (1 + nome^2n) / (1 + nome^(2n-1)), and theta_3^2 = 2 K' / pi.
  double product = 1;
  double power = nome;
  double theta = 1 + 2 * nome + 2 * nome * nome * nome * nome;
  for (int n = 0; n < kFactors; ++n) {
    product *= (1 + power * nome) / (1 + power);
    power *= nome * nome;
  }
  theta += 2 * PortablePow(nome, 9) + 2 * PortablePow(nome, 16);
  const double product_2 = product * product;
  const double product_8 = product_2 * product_2 * product_2 * product_2;
  const double modulus_2 = 16 * nome * product_8;  // k'^2
  const double top = least / modulus_2;
  RESIDUA_CHECK(std::isfinite(top));
  const double count =
      std::ceil(spread * PortableLog(4 / kTruncation) / (2 * std::numbers::pi * std::numbers::pi));
  const double scale = theta * theta * spread / (std::numbers::pi * count);  // 2 K / (pi N)
  const auto num_terms = static_cast<int>(count);
  std::vector<RootTerm> terms;
  for (int k = 0; k < num_terms; ++k) {
    // Beyond half the period by reflection: sc(K - u) = 1 / (k' sc(u)).
    const bool reflected = 2 * k >= num_terms;
    const double y = ((reflected ? num_terms - 1 - k : k) + 0.5) * spread / (2 * count);
    const double grown = PortableExp(2 * y);
    double sc = Sinh(y) / product_2;
    double odd = nome;
    for (int n = 0; n < kFactors; ++n) {
      const double even = odd * nome;
      sc *= (1 - even * grown) * (1 - even / grown) / ((1 - odd * grown) * (1 - odd / grown));
      odd = even * nome;
    }
    const double square = sc * sc;
    // sc' = dn / cn^2.
    const double slope = std::sqrt((1 + square) * (1 + modulus_2 * square));
    if (reflected) {
      terms.push_back({top / square, scale * std::sqrt(top) * slope / square});
    } else {
      terms.push_back({least * square, scale * std::sqrt(least) * slope});
    }
  }
  return terms;
}

}  // namespace residua
