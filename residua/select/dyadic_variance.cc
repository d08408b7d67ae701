#include "residua/select/dyadic_variance.h"

namespace residua {
namespace {

constexpr long kReciprocalBits = 64;

long NumBits(const Integer& integer) {
  return static_cast<long>(mpz_sizeinbase(integer.get_mpz_t(), 2));
}

// `divide` rounds the quotient of integers to the side that is wanted of the reciprocal.
Rational WithDyadicReciprocal(const Rational& variance,
                              void (*divide)(mpz_ptr, mpz_srcptr, mpz_srcptr)) {
  const long shift = kReciprocalBits + NumBits(variance.get_num()) - NumBits(variance.get_den());
  const Rational precision = Shifted(1 / variance, shift);
  Integer mantissa;
  divide(mantissa.get_mpz_t(), precision.get_num_mpz_t(), precision.get_den_mpz_t());
  return Shifted(1 / Rational(mantissa), shift);
}

}  // namespace

Rational DyadicVarianceBelow(const Rational& variance) {
  return WithDyadicReciprocal(variance, mpz_cdiv_q);
}

Rational DyadicVarianceAbove(const Rational& variance) {
  return WithDyadicReciprocal(variance, mpz_fdiv_q);
}

Rational Shifted(Rational value, long shift) {
  mpq_ptr const out = value.get_mpq_t();
  if (shift >= 0) {
    mpq_mul_2exp(out, out, static_cast<unsigned long>(shift));
  } else {
    mpq_div_2exp(out, out, static_cast<unsigned long>(-shift));
  }
  return value;
}

}  // namespace residua
