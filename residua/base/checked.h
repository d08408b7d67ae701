#pragma once

#include <cstdint>
#include <span>

#include "residua/base/error.h"

namespace residua {

// a * b and a + b, or Error{kTooLarge}: sizes are never wrapped.
inline int64_t CheckedMultiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    Fail(ErrorKind::kTooLarge, "{} x {} does not fit 64 bits", a, b);
  }
  return product;
}

inline int64_t CheckedAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    Fail(ErrorKind::kTooLarge, "{} + {} does not fit 64 bits", a, b);
  }
  return sum;
}

inline int64_t CheckedProduct(std::span<const int64_t> factors) {
  int64_t product = 1;
  for (const int64_t factor : factors) product = CheckedMultiply(product, factor);
  return product;
}

}  // namespace residua
