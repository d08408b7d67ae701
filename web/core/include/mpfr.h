#pragma once

// The part of MPFR's interface that residua's core uses, on Boost.Multiprecision: see gmpxx.h.
// Every number has kBits bits whatever precision was asked for, at most kBits - 100 of which count:
// a result that is to be rounded up or down is moved in that direction by 2^(100 - kBits) of
// itself, far more than the error of any function here. So bounds hold, and after rounding to a
// double they are those of MPFR.

#include <gmpxx.h>

#include <boost/math/constants/constants.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

using mpfr_prec_t = long;
enum mpfr_rnd_t { MPFR_RNDN, MPFR_RNDU, MPFR_RNDD };

namespace residua_page {

inline constexpr int kBits = 400;
using Real = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<kBits, boost::multiprecision::digit_base_2>,
    boost::multiprecision::et_off>;

struct RealNumber {
  Real value = 0;
  mpfr_prec_t precision = 0;
};

inline Real Moved(const Real& value, mpfr_rnd_t rounding) {
  if (rounding == MPFR_RNDN || value == 0 || !isfinite(value)) return value;
  const Real step = ldexp(abs(value), 100 - kBits);
  return rounding == MPFR_RNDU ? Real(value + step) : Real(value - step);
}

// Where the true value lies between 0 and the least number, or above the largest.
inline Real Least(mpfr_rnd_t rounding) {
  return rounding == MPFR_RNDU ? ldexp(Real(1), -1'000'000'000) : Real(0);
}
inline Real Largest(mpfr_rnd_t rounding) {
  return rounding == MPFR_RNDD ? ldexp(Real(1), 1'000'000'000)
                               : std::numeric_limits<Real>::infinity();
}

// What was computed before: conversions of budgets ask for the same again and again.
class Memory {
 public:
  template <typename Function>
  const Real& ValueAt(const Real& x, const Function& function) {
    constexpr size_t kMost = 1000;
    const auto known = values_.find(x);
    if (known != values_.end()) return known->second;
    if (values_.size() >= kMost) values_.clear();
    return values_.emplace(x, function(x)).first->second;
  }

 private:
  std::map<Real, Real> values_;
};

// erfc(x) = 1 - 2 / sqrt(pi) exp(-x^2) sum over n of 2^n x^(2n+1) / (1 3 5 ... (2n+1)), whose terms
// are positive: up to kLastInSeries the difference takes 75 bits and leaves enough. Boost's
// continued fraction, which holds for all x, takes ten times as long.
inline constexpr int kLastInSeries = 7;
inline Real Erfc(const Real& x) {
  if (!(x > 0.5 && x < kLastInSeries)) return boost::math::erfc(x);
  static std::vector<Real> inverses;  // of 2n + 1
  const Real square = 2 * x * x;
  Real term = x;
  Real sum = x;
  for (size_t n = 1; term > ldexp(sum, -kBits - 8); ++n) {
    while (inverses.size() <= n) inverses.push_back(Real(1) / (2 * inverses.size() + 1));
    term *= square;
    term *= inverses[n];
    sum += term;
  }
  return 1 - boost::math::constants::two_div_root_pi<Real>() * exp(Real(-x * x)) * sum;
}

}  // namespace residua_page

using mpfr_t = residua_page::RealNumber[1];
using mpfr_ptr = residua_page::RealNumber*;
using mpfr_srcptr = const residua_page::RealNumber*;

inline void mpfr_init2(mpfr_ptr x, mpfr_prec_t precision) { x->precision = precision; }
inline void mpfr_clear(mpfr_ptr) {}
inline mpfr_prec_t mpfr_get_prec(mpfr_srcptr x) { return x->precision; }
inline void mpfr_set_zero(mpfr_ptr x, int) { x->value = 0; }
inline void mpfr_set_d(mpfr_ptr x, double y, mpfr_rnd_t) { x->value = y; }
inline void mpfr_set_q(mpfr_ptr x, mpq_srcptr y, mpfr_rnd_t rounding) {
  using residua_page::Real;
  x->value = residua_page::Moved(Real(y->get_num().value()) / Real(y->get_den().value()), rounding);
}
inline void mpfr_const_pi(mpfr_ptr x, mpfr_rnd_t rounding) {
  x->value = residua_page::Moved(boost::math::constants::pi<residua_page::Real>(), rounding);
}

inline void mpfr_add(mpfr_ptr x, mpfr_srcptr y, mpfr_srcptr z, mpfr_rnd_t rounding) {
  x->value = residua_page::Moved(y->value + z->value, rounding);
}
inline void mpfr_add_ui(mpfr_ptr x, mpfr_srcptr y, unsigned long z, mpfr_rnd_t rounding) {
  x->value = residua_page::Moved(y->value + z, rounding);
}
inline void mpfr_sub(mpfr_ptr x, mpfr_srcptr y, mpfr_srcptr z, mpfr_rnd_t rounding) {
  x->value = residua_page::Moved(y->value - z->value, rounding);
}
inline void mpfr_ui_sub(mpfr_ptr x, unsigned long y, mpfr_srcptr z, mpfr_rnd_t rounding) {
  x->value = residua_page::Moved(y - z->value, rounding);
}
inline void mpfr_mul(mpfr_ptr x, mpfr_srcptr y, mpfr_srcptr z, mpfr_rnd_t rounding) {
  x->value = residua_page::Moved(y->value * z->value, rounding);
}
inline void mpfr_mul_d(mpfr_ptr x, mpfr_srcptr y, double z, mpfr_rnd_t rounding) {
  x->value = residua_page::Moved(y->value * z, rounding);
}
inline void mpfr_mul_ui(mpfr_ptr x, mpfr_srcptr y, unsigned long z, mpfr_rnd_t rounding) {
  x->value = residua_page::Moved(y->value * z, rounding);
}
inline void mpfr_sqr(mpfr_ptr x, mpfr_srcptr y, mpfr_rnd_t rounding) {
  x->value = residua_page::Moved(y->value * y->value, rounding);
}
inline void mpfr_div(mpfr_ptr x, mpfr_srcptr y, mpfr_srcptr z, mpfr_rnd_t rounding) {
  x->value = residua_page::Moved(y->value / z->value, rounding);
}
inline void mpfr_div_d(mpfr_ptr x, mpfr_srcptr y, double z, mpfr_rnd_t rounding) {
  x->value = residua_page::Moved(y->value / z, rounding);
}
inline void mpfr_mul_2ui(mpfr_ptr x, mpfr_srcptr y, unsigned long bits, mpfr_rnd_t) {
  x->value = ldexp(y->value, static_cast<int>(bits));
}
inline void mpfr_div_2ui(mpfr_ptr x, mpfr_srcptr y, unsigned long bits, mpfr_rnd_t) {
  x->value = ldexp(y->value, -static_cast<int>(bits));
}
inline void mpfr_neg(mpfr_ptr x, mpfr_srcptr y, mpfr_rnd_t) { x->value = -y->value; }
inline void mpfr_sqrt_ui(mpfr_ptr x, unsigned long y, mpfr_rnd_t rounding) {
  x->value = residua_page::Moved(sqrt(residua_page::Real(y)), rounding);
}
inline void mpfr_exp(mpfr_ptr x, mpfr_srcptr y, mpfr_rnd_t rounding) {
  if (y->value > 1e8) {
    x->value = residua_page::Largest(rounding);
  } else if (y->value < -1e8) {
    x->value = residua_page::Least(rounding);
  } else {
    static residua_page::Memory memory;
    const auto power = [](const residua_page::Real& z) { return residua_page::Real(exp(z)); };
    x->value = residua_page::Moved(memory.ValueAt(y->value, power), rounding);
  }
}
inline void mpfr_erfc(mpfr_ptr x, mpfr_srcptr y, mpfr_rnd_t rounding) {
  using residua_page::Real;
  if (y->value > 1e4) {
    x->value = residua_page::Least(rounding);
  } else if (y->value < -1e4) {
    x->value = residua_page::Moved(Real(2), rounding);
  } else {
    static residua_page::Memory memory;
    x->value = residua_page::Moved(memory.ValueAt(y->value, residua_page::Erfc), rounding);
  }
}

inline int mpfr_sgn(mpfr_srcptr x) { return x->value < 0 ? -1 : x->value > 0 ? 1 : 0; }
// What is no number is above every number: it passes no test of a privacy cost.
inline int mpfr_cmp_d(mpfr_srcptr x, double y) { return x->value < y ? -1 : x->value == y ? 0 : 1; }
inline int mpfr_lessequal_p(mpfr_srcptr x, mpfr_srcptr y) { return x->value <= y->value ? 1 : 0; }
// To the nearest, or up.
inline double mpfr_get_d(mpfr_srcptr x, mpfr_rnd_t rounding) {
  const double nearest = static_cast<double>(x->value);
  if (rounding == MPFR_RNDU && residua_page::Real(nearest) < x->value) {
    return std::nextafter(nearest, std::numeric_limits<double>::infinity());
  }
  return nearest;
}
