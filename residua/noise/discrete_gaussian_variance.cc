#include "residua/base/big_float.h"
#include "residua/base/error.h"
#include "residua/noise/discrete_gaussian.h"

namespace residua {
namespace {

// 75 bits beyond a double's: the arguments of exp below 2^7 cost 7, the sums a handful.
constexpr mpfr_prec_t kPrecision = 128;

// moment_k = sum over x >= 1 of x^k exp(-rate x^2), for k = 0 and 2. Needs rate >= 1, so that terms
// fall faster than 8^-x.
struct GaussianSums {
  BigFloat moment_0{kPrecision};
  BigFloat moment_2{kPrecision};
};

void SumGaussian(const BigFloat& rate, GaussianSums* sums) {
  BigFloat term(kPrecision);
  mpfr_set_zero(sums->moment_0(), 1);
  mpfr_set_zero(sums->moment_2(), 1);
  for (unsigned long x = 1; x <= 16; ++x) {  // exp(-17^2) < 2^-400
    mpfr_mul_ui(term(), rate(), x * x, MPFR_RNDN);
    mpfr_neg(term(), term(), MPFR_RNDN);
    mpfr_exp(term(), term(), MPFR_RNDN);
    mpfr_add(sums->moment_0(), sums->moment_0(), term(), MPFR_RNDN);
    mpfr_mul_ui(term(), term(), x * x, MPFR_RNDN);
    mpfr_add(sums->moment_2(), sums->moment_2(), term(), MPFR_RNDN);
  }
}

// 2 moment_2 / (1 + 2 moment_0): the mean of x^2 over all integers under exp(-rate x^2).
void MeanSquare(const BigFloat& rate, BigFloat* mean) {
  GaussianSums sums;
  SumGaussian(rate, &sums);
  mpfr_mul_2ui(sums.moment_2(), sums.moment_2(), 1, MPFR_RNDN);
  mpfr_mul_2ui(sums.moment_0(), sums.moment_0(), 1, MPFR_RNDN);
  mpfr_add_ui(sums.moment_0(), sums.moment_0(), 1, MPFR_RNDN);
  mpfr_div((*mean)(), sums.moment_2(), sums.moment_0(), MPFR_RNDN);
}

}  // namespace

double DiscreteGaussianVariance(const Rational& variance_parameter) {
  CheckDiscreteGaussianVariance(variance_parameter);
  BigFloat rate(kPrecision);
  BigFloat result(kPrecision);
  if (variance_parameter <= Rational(1, 5)) {
    // v <= 1/5: the definition, with rate 1 / (2 v) >= 2.5. All terms are positive.
    const Rational exact_rate = 1 / (2 * variance_parameter);
    mpfr_set_q(rate(), exact_rate.get_mpq_t(), MPFR_RNDN);
    MeanSquare(rate, &result);
    return mpfr_get_d(result(), MPFR_RNDN);
  }
  // Poisson summation: sum exp(-x^2 / (2 v)) = sqrt(2 pi v) sum exp(-2 pi^2 v k^2), and 2 v^2 d/dv
  // of its logarithm is the variance, v - 4 pi^2 v^2 E, with E the mean square under rate 2 pi^2 v
  // >= 3.9.
  BigFloat variance(kPrecision);
  mpfr_set_q(variance(), variance_parameter.get_mpq_t(), MPFR_RNDN);
  mpfr_const_pi(rate(), MPFR_RNDN);
  mpfr_sqr(rate(), rate(), MPFR_RNDN);
  mpfr_mul_2ui(rate(), rate(), 1, MPFR_RNDN);
  mpfr_mul(rate(), rate(), variance(), MPFR_RNDN);
  MeanSquare(rate, &result);
  mpfr_mul(result(), result(), rate(), MPFR_RNDN);
  mpfr_mul_2ui(result(), result(), 1, MPFR_RNDN);
  mpfr_ui_sub(result(), 1, result(), MPFR_RNDN);
  mpfr_mul(result(), result(), variance(), MPFR_RNDN);
  return mpfr_get_d(result(), MPFR_RNDN);
}

}  // namespace residua
