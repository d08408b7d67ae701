#include "residua/basis/convolution/exact_product.h"

#include <algorithm>
#include <bit>

#include "residua/base/error.h"

namespace residua {
namespace {

// Up to this many terms a sum each is faster than transforms.
constexpr int64_t kFewExactTerms = 256;

uint64_t ProductModulo(uint64_t a, uint64_t b, uint64_t prime) {
  return static_cast<uint64_t>(static_cast<UInt128>(a) * b % prime);
}

uint64_t PowerModulo(uint64_t base, uint64_t exponent, uint64_t prime) {
  uint64_t power = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) power = ProductModulo(power, base, prime);
    base = ProductModulo(base, base, prime);
  }
  return power;
}

uint64_t Scaled(uint64_t value, uint64_t prime) {
  return static_cast<uint64_t>((static_cast<UInt128>(value) << 64) / prime);
}

uint64_t HighHalf(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>((static_cast<UInt128>(a) * b) >> 64);
}

}  // namespace

// a w - q p for q = floor(a floor(2^64 w / p) / 2^64), which is the quotient or one less: the
// difference is below 2 p.
[[gnu::always_inline]] inline uint64_t ExactProduct::Times(uint64_t a, const Factor& factor,
                                                           uint64_t prime) {
  const uint64_t left = a * factor.value - HighHalf(a, factor.scaled) * prime;
  return left >= prime ? left - prime : left;
}

ExactProduct::ExactProduct(std::span<const uint64_t> kernel)
    : kernel_(kernel.begin(), kernel.end()) {
  RESIDUA_CHECK(!kernel_.empty());
  UInt128 sum = 0;
  for (const uint64_t term : kernel_) sum += term;
  if (kernel_.size() > size_t{1} << (kLogOrder - 1) || sum >= UInt128{1} << 59) {
    Fail(ErrorKind::kTooLarge, "sequences of too many or too large numbers to multiply exactly");
  }
  num_terms_ = std::bit_ceil(2 * kernel_.size() - 1);
  if (length() <= kFewExactTerms) return;
  for (int f = 0; f < kNumPrimes; ++f) {
    Field& field = fields_[f];
    const uint64_t prime = kPrimes[f];
    field.prime = prime;
    field.roots.resize(num_terms_);
    field.inverse_roots.resize(num_terms_);
    for (size_t half = 1; half < num_terms_; half *= 2) {
      const uint64_t root = PowerModulo(kRoots[f], (uint64_t{1} << kLogOrder) / (2 * half), prime);
      const Factor step{root, Scaled(root, prime)};
      const uint64_t inverse = PowerModulo(root, 2 * half - 1, prime);
      const Factor back{inverse, Scaled(inverse, prime)};
      uint64_t power = 1;
      uint64_t inverse_power = 1;
      for (size_t k = half; k < 2 * half; ++k) {
        field.roots[k] = {power, Scaled(power, prime)};
        field.inverse_roots[k] = {inverse_power, Scaled(inverse_power, prime)};
        power = Times(power, step, prime);
        inverse_power = Times(inverse_power, back, prime);
      }
    }
    std::vector<uint64_t> terms(num_terms_, 0);
    for (size_t k = 0; k < kernel_.size(); ++k) terms[k] = kernel_[k] % prime;
    Forward(field, terms);
    const uint64_t share = PowerModulo(num_terms_, prime - 2, prime);
    field.spectrum.reserve(num_terms_);
    for (const uint64_t term : terms) {
      const uint64_t value = ProductModulo(term, share, prime);
      field.spectrum.push_back({value, Scaled(value, prime)});
    }
  }
}

// Decimation in frequency: from natural to bit-reversed order.
void ExactProduct::Forward(const Field& field, std::vector<uint64_t>& terms) {
  const uint64_t prime = field.prime;
  for (size_t half = terms.size() / 2; half > 0; half /= 2) {
    const Factor* roots = field.roots.data() + half;
    for (size_t begin = 0; begin < terms.size(); begin += 2 * half) {
      uint64_t* low = terms.data() + begin;
      uint64_t* high = low + half;
      for (size_t k = 0; k < half; ++k) {
        const uint64_t a = low[k];
        const uint64_t b = high[k];
        const uint64_t sum = a + b;
        low[k] = sum >= prime ? sum - prime : sum;
        high[k] = Times(a + prime - b, roots[k], prime);
      }
    }
  }
}

// Decimation in time: from bit-reversed to natural order.
void ExactProduct::Backward(const Field& field, std::vector<uint64_t>& terms) {
  const uint64_t prime = field.prime;
  for (size_t half = 1; half < terms.size(); half *= 2) {
    const Factor* roots = field.inverse_roots.data() + half;
    for (size_t begin = 0; begin < terms.size(); begin += 2 * half) {
      uint64_t* low = terms.data() + begin;
      uint64_t* high = low + half;
      for (size_t k = 0; k < half; ++k) {
        const uint64_t a = low[k];
        const uint64_t b = Times(high[k], roots[k], prime);
        const uint64_t sum = a + b;
        low[k] = sum >= prime ? sum - prime : sum;
        high[k] = a >= b ? a - b : a + prime - b;
      }
    }
  }
}

void ExactProduct::Multiply(std::span<const uint64_t> values, std::span<UInt128> out) const {
  if (length() <= kFewExactTerms) {
    MultiplyTermByTerm(values, out);
  } else {
    MultiplyByTransforms(values, out);
  }
}

void ExactProduct::MultiplyTermByTerm(std::span<const uint64_t> values,
                                      std::span<UInt128> out) const {
  RESIDUA_CHECK(values.size() == kernel_.size() && out.size() == kernel_.size());
  for (size_t k = 0; k < values.size(); ++k) {
    UInt128 sum = 0;
    for (size_t j = 0; j <= k; ++j) sum += static_cast<UInt128>(kernel_[k - j]) * values[j];
    out[k] = sum;
  }
}

void ExactProduct::MultiplyByTransforms(std::span<const uint64_t> values,
                                        std::span<UInt128> out) const {
  RESIDUA_CHECK(values.size() == kernel_.size() && out.size() == kernel_.size());
  RESIDUA_CHECK(!fields_[0].spectrum.empty());
  std::vector<uint64_t> terms[kNumPrimes];
  for (int f = 0; f < kNumPrimes; ++f) {
    const Field& field = fields_[f];
    terms[f].resize(num_terms_, 0);
    for (size_t k = 0; k < values.size(); ++k) terms[f][k] = values[k] % field.prime;
    Forward(field, terms[f]);
    for (size_t k = 0; k < num_terms_; ++k) {
      terms[f][k] = Times(terms[f][k], field.spectrum[k], field.prime);
    }
    Backward(field, terms[f]);
  }
  // The one x below the product of the primes with both remainders: x = a + p t.
  const uint64_t p = kPrimes[0];
  const uint64_t q = kPrimes[1];
  const uint64_t value = PowerModulo(p % q, q - 2, q);
  const Factor inverse{value, Scaled(value, q)};
  for (size_t k = 0; k < values.size(); ++k) {
    const uint64_t a = terms[0][k];
    const uint64_t b = terms[1][k];
    const uint64_t t = Times(b + q - a % q, inverse, q);
    out[k] = a + static_cast<UInt128>(p) * t;
  }
}

}  // namespace residua
