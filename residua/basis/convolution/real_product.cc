#include "residua/basis/convolution/real_product.h"

#include <algorithm>
#include <bit>
#include <numbers>

#include "residua/base/error.h"
#include "residua/base/portable_math.h"

namespace residua {
namespace {

// Up to this many terms a sum each is faster than transforms.
constexpr int64_t kFewRealTerms = 64;

// std::complex multiplies with a care for infinities that costs much and is not needed here.
[[gnu::always_inline]] inline std::complex<double> ComplexProduct(const std::complex<double>& a,
                                                                  const std::complex<double>& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

void MultiplyFewTerms(const std::vector<double>& kernel, double* values) {
  for (size_t k = kernel.size(); k-- > 0;) {
    double sum = 0;
    for (size_t j = 0; j <= k; ++j) sum += kernel[k - j] * values[j];
    values[k] = sum;
  }
}

}  // namespace

RealProduct::RealProduct(std::span<const double> kernel) : kernel_(kernel.begin(), kernel.end()) {
  RESIDUA_CHECK(!kernel_.empty());
  if (length() <= kFewRealTerms) return;
  const size_t num_terms = std::bit_ceil(2 * kernel_.size() - 1);
  roots_.resize(num_terms);
  const size_t most = num_terms / 2;
  for (size_t k = 0; k < most; ++k) {
    const double angle = std::numbers::pi * (static_cast<double>(k) / static_cast<double>(most));
    roots_[most + k] = {PortableCos(angle), -PortableSin(angle)};
  }
  // Those of lower order are among them.
  for (size_t half = most / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) roots_[half + k] = roots_[most + k * (most / half)];
  }
  spectrum_.assign(num_terms, Complex(0));
  std::copy(kernel_.begin(), kernel_.end(), spectrum_.begin());
  Forward(spectrum_);
  const double share = 1 / static_cast<double>(num_terms);
  for (Complex& term : spectrum_) term *= share;
}

// Decimation in frequency: from natural to bit-reversed order.
void RealProduct::Forward(std::vector<Complex>& terms) const {
  for (size_t half = terms.size() / 2; half > 0; half /= 2) {
    const Complex* roots = roots_.data() + half;
    for (size_t begin = 0; begin < terms.size(); begin += 2 * half) {
      Complex* low = terms.data() + begin;
      Complex* high = low + half;
      for (size_t k = 0; k < half; ++k) {
        const Complex a = low[k];
        const Complex b = high[k];
        low[k] = a + b;
        high[k] = ComplexProduct(a - b, roots[k]);
      }
    }
  }
}

// Decimation in time, with the roots' conjugates: from bit-reversed to natural order.
void RealProduct::Backward(std::vector<Complex>& terms) const {
  for (size_t half = 1; half < terms.size(); half *= 2) {
    const Complex* roots = roots_.data() + half;
    for (size_t begin = 0; begin < terms.size(); begin += 2 * half) {
      Complex* low = terms.data() + begin;
      Complex* high = low + half;
      for (size_t k = 0; k < half; ++k) {
        const Complex a = low[k];
        const Complex b = ComplexProduct(high[k], std::conj(roots[k]));
        low[k] = a + b;
        high[k] = a - b;
      }
    }
  }
}

void RealProduct::Apply(double* first, double* second) const {
  if (length() <= kFewRealTerms) {
    MultiplyFewTerms(kernel_, first);
    if (second != nullptr) MultiplyFewTerms(kernel_, second);
    return;
  }
  std::vector<Complex> terms(spectrum_.size(), Complex(0));
  for (size_t k = 0; k < kernel_.size(); ++k) {
    terms[k] = {first[k], second == nullptr ? 0 : second[k]};
  }
  Forward(terms);
  for (size_t k = 0; k < terms.size(); ++k) terms[k] = ComplexProduct(terms[k], spectrum_[k]);
  Backward(terms);
  for (size_t k = 0; k < kernel_.size(); ++k) {
    first[k] = terms[k].real();
    if (second != nullptr) second[k] = terms[k].imag();
  }
}

void RealProduct::ApplyTransposed(double* first, double* second) const {
  for (double* values : {first, second}) {
    if (values != nullptr) std::reverse(values, values + length());
  }
  Apply(first, second);
  for (double* values : {first, second}) {
    if (values != nullptr) std::reverse(values, values + length());
  }
}

std::vector<double> InverseSequence(std::span<const double> kernel) {
  RESIDUA_CHECK(!kernel.empty() && kernel[0] != 0);
  std::vector<double> inverse = {1 / kernel[0]};
  while (inverse.size() < kernel.size()) {
    // b (2 - c b), of twice the terms. The last step is made twice: it takes off what rounding left.
    const size_t size = std::min(2 * inverse.size(), kernel.size());
    inverse.resize(size, 0);
    const RealProduct by_kernel(kernel.first(size));
    for (int step = 0; step < (size == kernel.size() ? 2 : 1); ++step) {
      std::vector<double> left = inverse;
      by_kernel.Apply(left.data(), nullptr);
      for (double& value : left) value = -value;
      left[0] += 1;
      RealProduct(inverse).Apply(left.data(), nullptr);
      for (size_t k = 0; k < size; ++k) inverse[k] += left[k];
    }
  }
  return inverse;
}

}  // namespace residua
