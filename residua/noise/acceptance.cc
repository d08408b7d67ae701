#include "residua/noise/acceptance.h"

#include "residua/base/big_float.h"
#include "residua/base/error.h"

namespace residua {
namespace {

// Bits kept beyond those of V: they cover height, shift and the size of x^2 / (2 variance), so that
// the enclosure of the probability is narrower than V's.
constexpr mpfr_prec_t kGuardBits = 192;

Integer ToInteger(UInt128 value) {
  Integer result = static_cast<uint64_t>(value >> 64);
  result <<= 64;
  return result + static_cast<uint64_t>(value);
}

// `bound` = height 2^(shift + bits) exp(-exponent) - level 2^bits, rounded in `direction`.
void BoundProbability(const Rational& exponent, uint64_t height, uint64_t level, int shift,
                      unsigned bits, mpfr_rnd_t direction, BigFloat* bound) {
  const mpfr_rnd_t opposite = direction == MPFR_RNDD ? MPFR_RNDU : MPFR_RNDD;
  mpfr_ptr value = (*bound)();
  mpfr_set_q(value, exponent.get_mpq_t(), opposite);
  mpfr_neg(value, value, direction);
  mpfr_exp(value, value, direction);
  mpfr_mul_ui(value, value, height, direction);
  mpfr_mul_2si(value, value, shift, direction);
  mpfr_sub_ui(value, value, level, direction);
  mpfr_mul_2ui(value, value, bits, direction);
}

}  // namespace

Acceptance::Acceptance(const Rational& variance, uint64_t error_budget)
    : variance_(variance),
      rate_(DecayRateOf(variance)),
      scaled_square_(rate_),
      error_budget_(error_budget) {
  RESIDUA_CHECK(error_budget >= kErrorBudget);
}

bool Acceptance::AcceptExactly(UInt128 magnitude, uint64_t height, uint64_t level, int shift,
                               uint64_t v, BitReader& reader) const {
  const Integer x = ToInteger(magnitude);
  const Rational exponent = Rational(x * x) / (2 * variance_);
  Integer point = v;  // V is in [point, point + 1) / 2^bits
  for (unsigned bits = 64;; bits += 64) {
    const mpfr_prec_t precision = static_cast<mpfr_prec_t>(bits) + kGuardBits;
    BigFloat lower(precision);
    BigFloat upper(precision);
    BoundProbability(exponent, height, level, shift, bits, MPFR_RNDD, &lower);
    BoundProbability(exponent, height, level, shift, bits, MPFR_RNDU, &upper);
    const Integer end = point + 1;
    if (mpfr_cmp_z(lower(), end.get_mpz_t()) >= 0) return true;
    if (mpfr_cmp_z(upper(), point.get_mpz_t()) <= 0) return false;
    point <<= 64;
    point += reader.Next();
  }
}

void Acceptance::CheckRoundedFrom(FixedPoint y, int shift) {
  // y is less than (2 kMaxShift + 1) / 2^64 below a number that is at least `shift`.
  RESIDUA_CHECK(y.integer + 1 == static_cast<uint64_t>(shift));
  RESIDUA_CHECK(y.fraction > UINT64_MAX - 2 * kMaxShift - 1);
}

}  // namespace residua
