#pragma once

// The part of GMP's C++ interface that residua's core uses, on Boost.Multiprecision. GMP is under
// the LGPL and would be inside every published page; Boost's licence asks nothing of who publishes.
// It comes before the system's headers in the page's build, so that the core is compiled as it is.

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

namespace residua_page {

using Whole = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>,
                                            boost::multiprecision::et_off>;

// The number of bits of |value|, and 1 for 0, as mpz_sizeinbase has it.
inline size_t NumBits(const Whole& value) {
  return value == 0 ? 1 : boost::multiprecision::msb(boost::multiprecision::abs(value)) + 1;
}

// numerator / denominator as a double, truncated towards zero, as GMP does.
inline double Truncated(const Whole& numerator, const Whole& denominator) {
  if (numerator == 0) return 0;
  const Whole magnitude = boost::multiprecision::abs(numerator);
  int64_t exponent =
      static_cast<int64_t>(NumBits(magnitude)) - static_cast<int64_t>(NumBits(denominator)) - 54;
  Whole quotient = exponent >= 0
                       ? Whole(magnitude / (denominator << static_cast<size_t>(exponent)))
                       : Whole((magnitude << static_cast<size_t>(-exponent)) / denominator);
  const size_t spare = NumBits(quotient) - 53;  // it has 54 or 55 bits
  quotient >>= spare;
  exponent += static_cast<int64_t>(spare);
  const double value =
      std::ldexp(static_cast<double>(static_cast<uint64_t>(quotient)), static_cast<int>(exponent));
  return numerator < 0 ? -value : value;
}

}  // namespace residua_page

class mpz_class;
using mpz_ptr = mpz_class*;
using mpz_srcptr = const mpz_class*;

class mpz_class {
 public:
  using Whole = residua_page::Whole;

  mpz_class() = default;
  template <typename Number, typename = std::enable_if_t<std::is_arithmetic_v<Number>>>
  mpz_class(Number number) : value_(number) {}  // NOLINT: implicit, as GMP's is
  explicit mpz_class(Whole value) : value_(std::move(value)) {}
  mpz_class(const std::string& digits, int) {
    // Boost takes a leading zero for the mark of an octal number.
    const size_t first = digits.find_first_not_of('0');
    value_ = first == std::string::npos ? Whole(0) : Whole(digits.substr(first));
  }

  const Whole& value() const { return value_; }
  Whole& value() { return value_; }
  mpz_ptr get_mpz_t() { return this; }
  mpz_srcptr get_mpz_t() const { return this; }
  double get_d() const { return residua_page::Truncated(value_, 1); }
  long get_si() const { return static_cast<long>(value_); }
  std::string get_str() const { return value_.str(); }

  mpz_class& operator+=(const mpz_class& other) { return value_ += other.value_, *this; }
  mpz_class& operator-=(const mpz_class& other) { return value_ -= other.value_, *this; }
  mpz_class& operator*=(const mpz_class& other) { return value_ *= other.value_, *this; }
  mpz_class& operator/=(const mpz_class& other) { return value_ /= other.value_, *this; }
  mpz_class& operator<<=(unsigned long bits) { return value_ <<= bits, *this; }
  mpz_class operator-() const { return mpz_class(Whole(-value_)); }

  friend mpz_class operator+(mpz_class a, const mpz_class& b) { return a += b; }
  friend mpz_class operator-(mpz_class a, const mpz_class& b) { return a -= b; }
  friend mpz_class operator*(mpz_class a, const mpz_class& b) { return a *= b; }
  friend mpz_class operator/(mpz_class a, const mpz_class& b) { return a /= b; }
  friend mpz_class operator<<(mpz_class a, unsigned long bits) { return a <<= bits; }
  friend bool operator==(const mpz_class& a, const mpz_class& b) { return a.value_ == b.value_; }
  friend bool operator!=(const mpz_class& a, const mpz_class& b) { return a.value_ != b.value_; }
  friend bool operator<(const mpz_class& a, const mpz_class& b) { return a.value_ < b.value_; }
  friend bool operator>(const mpz_class& a, const mpz_class& b) { return b < a; }
  friend bool operator<=(const mpz_class& a, const mpz_class& b) { return !(b < a); }
  friend bool operator>=(const mpz_class& a, const mpz_class& b) { return !(a < b); }
  friend mpz_class gcd(const mpz_class& a, const mpz_class& b) {
    return mpz_class(Whole(boost::multiprecision::gcd(a.value_, b.value_)));
  }
  friend mpz_class lcm(const mpz_class& a, const mpz_class& b) {
    return mpz_class(Whole(boost::multiprecision::lcm(a.value_, b.value_)));
  }

 private:
  Whole value_;
};

inline size_t mpz_sizeinbase(mpz_srcptr number, int) {
  return residua_page::NumBits(number->value());
}
inline void mpz_ui_pow_ui(mpz_ptr out, unsigned long base, unsigned long exponent) {
  out->value() =
      boost::multiprecision::pow(residua_page::Whole(base), static_cast<unsigned>(exponent));
}
inline void mpz_bin_uiui(mpz_ptr out, uint64_t n, uint64_t k) {
  residua_page::Whole result = k <= n ? 1 : 0;
  for (uint64_t i = 1; i <= k && result != 0; ++i) result = result * (n - k + i) / i;
  out->value() = result;
}
// The remainder of a division that rounds down.
inline uint64_t mpz_fdiv_ui(mpz_srcptr number, uint64_t divisor) {
  residua_page::Whole rest = number->value() % divisor;
  if (rest < 0) rest += divisor;
  return static_cast<uint64_t>(rest);
}
// The quotient, rounded down; the divisor is positive.
inline void mpz_fdiv_q(mpz_ptr out, mpz_srcptr number, mpz_srcptr divisor) {
  residua_page::Whole quotient;
  residua_page::Whole rest;
  boost::multiprecision::divide_qr(number->value(), divisor->value(), quotient, rest);
  out->value() = rest < 0 ? residua_page::Whole(quotient - 1) : quotient;
}
// The quotient, rounded up; the divisor is positive.
inline void mpz_cdiv_q(mpz_ptr out, mpz_srcptr number, mpz_srcptr divisor) {
  residua_page::Whole quotient;
  residua_page::Whole rest;
  boost::multiprecision::divide_qr(number->value(), divisor->value(), quotient, rest);
  out->value() = rest > 0 ? residua_page::Whole(quotient + 1) : quotient;
}

class mpq_class;
using mpq_ptr = mpq_class*;
using mpq_srcptr = const mpq_class*;

// Always in lowest terms, with a positive denominator.
class mpq_class {
 public:
  mpq_class() : denominator_(1) {}
  mpq_class(const mpz_class& number) : numerator_(number), denominator_(1) {}  // NOLINT: as GMP
  template <typename Number, typename = std::enable_if_t<std::is_arithmetic_v<Number>>>
  mpq_class(Number number) : denominator_(1) {  // NOLINT: as GMP
    if constexpr (std::is_floating_point_v<Number>) {
      int exponent = 0;
      const double fraction = std::frexp(number, &exponent);
      numerator_ = mpz_class(std::ldexp(fraction, 53));
      exponent -= 53;
      Shift(exponent);
    } else {
      numerator_ = number;
    }
  }
  mpq_class(const mpz_class& numerator, const mpz_class& denominator)
      : numerator_(numerator), denominator_(denominator) {
    canonicalize();
  }

  const mpz_class& get_num() const { return numerator_; }
  const mpz_class& get_den() const { return denominator_; }
  mpz_srcptr get_num_mpz_t() const { return &numerator_; }
  mpz_srcptr get_den_mpz_t() const { return &denominator_; }
  mpq_ptr get_mpq_t() { return this; }
  mpq_srcptr get_mpq_t() const { return this; }
  double get_d() const { return residua_page::Truncated(numerator_.value(), denominator_.value()); }
  std::string get_str() const {
    return denominator_ == 1 ? numerator_.get_str()
                             : numerator_.get_str() + "/" + denominator_.get_str();
  }
  void canonicalize() {
    const mpz_class divisor = gcd(numerator_, denominator_);
    if (divisor != 0 && divisor != 1) {
      numerator_ /= divisor;
      denominator_ /= divisor;
    }
    if (denominator_ < 0) {
      numerator_ = -numerator_;
      denominator_ = -denominator_;
    }
  }
  void Shift(long bits) {
    if (bits >= 0) {
      numerator_ <<= static_cast<unsigned long>(bits);
    } else {
      denominator_ <<= static_cast<unsigned long>(-bits);
    }
    canonicalize();
  }

  mpq_class& operator+=(const mpq_class& b) {
    return *this = mpq_class(numerator_ * b.denominator_ + b.numerator_ * denominator_,
                             denominator_ * b.denominator_);
  }
  mpq_class& operator-=(const mpq_class& b) { return *this += -b; }
  mpq_class& operator*=(const mpq_class& b) {
    return *this = mpq_class(numerator_ * b.numerator_, denominator_ * b.denominator_);
  }
  mpq_class& operator/=(const mpq_class& b) {
    return *this = mpq_class(numerator_ * b.denominator_, denominator_ * b.numerator_);
  }
  mpq_class operator-() const {
    mpq_class negative = *this;
    negative.numerator_ = -numerator_;
    return negative;
  }

  friend mpq_class operator+(mpq_class a, const mpq_class& b) { return a += b; }
  friend mpq_class operator-(mpq_class a, const mpq_class& b) { return a -= b; }
  friend mpq_class operator*(mpq_class a, const mpq_class& b) { return a *= b; }
  friend mpq_class operator/(mpq_class a, const mpq_class& b) { return a /= b; }
  friend bool operator==(const mpq_class& a, const mpq_class& b) {
    return a.numerator_ == b.numerator_ && a.denominator_ == b.denominator_;
  }
  friend bool operator!=(const mpq_class& a, const mpq_class& b) { return !(a == b); }
  friend bool operator<(const mpq_class& a, const mpq_class& b) {
    return a.numerator_ * b.denominator_ < b.numerator_ * a.denominator_;
  }
  friend bool operator>(const mpq_class& a, const mpq_class& b) { return b < a; }
  friend bool operator<=(const mpq_class& a, const mpq_class& b) { return !(b < a); }
  friend bool operator>=(const mpq_class& a, const mpq_class& b) { return !(a < b); }

 private:
  mpz_class numerator_;
  mpz_class denominator_;
};

inline void mpq_mul_2exp(mpq_ptr out, mpq_srcptr number, unsigned long bits) {
  mpq_class shifted = *number;
  shifted.Shift(static_cast<long>(bits));
  *out = shifted;
}
inline void mpq_div_2exp(mpq_ptr out, mpq_srcptr number, unsigned long bits) {
  mpq_class shifted = *number;
  shifted.Shift(-static_cast<long>(bits));
  *out = shifted;
}
