#include "tests/oracle/gaussian_density.h"

#include "residua/base/big_float.h"

namespace residua {
namespace {

constexpr mpfr_prec_t kPrecision = 1024;

}  // namespace

Integer FloorScaledDensity(const Rational& variance, const Integer& x, const Integer& height,
                           long log2_scale) {
  const Rational exponent = -Rational(x * x) / (2 * variance);
  BigFloat value(kPrecision);
  mpfr_set_q(value(), exponent.get_mpq_t(), MPFR_RNDN);
  mpfr_exp(value(), value(), MPFR_RNDN);
  mpfr_mul_z(value(), value(), height.get_mpz_t(), MPFR_RNDN);
  mpfr_mul_2si(value(), value(), log2_scale, MPFR_RNDN);
  Integer result;
  mpfr_get_z(result.get_mpz_t(), value(), MPFR_RNDD);
  return result;
}

Integer FloorExp2(uint64_t integer, uint64_t fraction) {
  BigFloat value(kPrecision);
  mpfr_set_ui(value(), fraction, MPFR_RNDN);
  mpfr_div_2ui(value(), value(), 64, MPFR_RNDN);
  mpfr_neg(value(), value(), MPFR_RNDN);
  mpfr_exp2(value(), value(), MPFR_RNDN);
  mpfr_mul_2si(value(), value(), 64 - static_cast<long>(integer), MPFR_RNDN);
  Integer result;
  mpfr_get_z(result.get_mpz_t(), value(), MPFR_RNDD);
  return result;
}

Integer ToInteger(UInt128 value) {
  Integer result = static_cast<uint64_t>(value >> 64);
  result <<= 64;
  return result + static_cast<uint64_t>(value);
}

}  // namespace residua
