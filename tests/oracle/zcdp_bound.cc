#include "tests/oracle/zcdp_bound.h"

#include "residua/base/big_float.h"

namespace residua::oracle {
namespace {

// alpha - 1 may be e^400, and 1 is not lost beside it.
constexpr mpfr_prec_t kBits = 1600;
// The minimum is flat: this far off in log e, the bound is off by the square.
constexpr int kBisections = 160;

}  // namespace

Rational EpsilonFromZcdp(double rho, double delta) {
  BigFloat log_inverse_delta(kBits), low(kBits), high(kBits), middle(kBits), excess(kBits);
  BigFloat alpha(kBits), sum(kBits), term(kBits);
  mpfr_set_d(log_inverse_delta(), delta, MPFR_RNDN);
  mpfr_log(log_inverse_delta(), log_inverse_delta(), MPFR_RNDN);
  mpfr_neg(log_inverse_delta(), log_inverse_delta(), MPFR_RNDN);
  mpfr_set_si(low(), -800, MPFR_RNDN);
  mpfr_set_si(high(), 800, MPFR_RNDN);
  for (int k = 0; k < kBisections; ++k) {
    mpfr_add(middle(), low(), high(), MPFR_RNDN);
    mpfr_div_ui(middle(), middle(), 2, MPFR_RNDN);
    mpfr_exp(excess(), middle(), MPFR_RNDN);
    mpfr_sqr(sum(), excess(), MPFR_RNDN);
    mpfr_mul_d(sum(), sum(), rho, MPFR_RNDN);
    mpfr_log1p(term(), excess(), MPFR_RNDN);
    mpfr_add(sum(), sum(), term(), MPFR_RNDN);
    mpfr_set((mpfr_cmp(sum(), log_inverse_delta()) < 0 ? low : high)(), middle(), MPFR_RNDN);
  }
  // log(1/delta) - log(alpha-1) + alpha log(1-1/alpha)
  mpfr_add_ui(alpha(), excess(), 1, MPFR_RNDN);
  mpfr_ui_div(term(), 1, alpha(), MPFR_RNDN);
  mpfr_neg(term(), term(), MPFR_RNDN);
  mpfr_log1p(term(), term(), MPFR_RNDN);
  mpfr_mul(term(), term(), alpha(), MPFR_RNDN);
  mpfr_log(sum(), excess(), MPFR_RNDN);
  mpfr_sub(term(), term(), sum(), MPFR_RNDN);
  mpfr_add(term(), term(), log_inverse_delta(), MPFR_RNDN);
  mpfr_div(term(), term(), excess(), MPFR_RNDN);
  mpfr_mul_d(sum(), alpha(), rho, MPFR_RNDN);
  mpfr_add(sum(), sum(), term(), MPFR_RNDN);
  Rational bound;
  mpfr_get_q(bound.get_mpq_t(), sum());
  return bound;
}

}  // namespace residua::oracle
