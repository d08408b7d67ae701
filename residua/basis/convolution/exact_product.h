#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "residua/base/int128.h"

namespace residua {

// The products of a sequence of whole numbers with any others, exactly and without floating point:
//   out_k = sum over j <= k of kernel_{k-j} values_j,   0 <= k < length,
// in O(n log n) by number-theoretic transforms modulo two primes of 62 bits, put together by the
// Chinese remainder theorem. Every result is below their product, 2^123 and more, and so it is
// exact: the sum of the kernel times the largest value must not be above 2^123, which is checked
// for values of 64 bits. Short sequences are multiplied term by term.
class ExactProduct {
 public:
  // Of at most 2^20 numbers. Error{kTooLarge} if results might not fit.
  explicit ExactProduct(std::span<const uint64_t> kernel);

  int64_t length() const { return static_cast<int64_t>(kernel_.size()); }

  // Both of `length()` numbers.
  void Multiply(std::span<const uint64_t> values, std::span<UInt128> out) const;
  // The same in one way of both; by transforms only what Multiply would.
  void MultiplyTermByTerm(std::span<const uint64_t> values, std::span<UInt128> out) const;
  void MultiplyByTransforms(std::span<const uint64_t> values, std::span<UInt128> out) const;

  static constexpr int kNumPrimes = 2;
  static constexpr uint64_t kPrimes[kNumPrimes] = {0x3ffffffffa000001, 0x3ffffffff9000001};
  // Of order 2^21.
  static constexpr uint64_t kRoots[kNumPrimes] = {2262382610096409597u, 542331589372957056u};
  static constexpr int kLogOrder = 21;

 private:
  // A factor w, and floor(2^64 w / prime): products with it need no division (Shoup).
  struct Factor {
    uint64_t value = 0;
    uint64_t scaled = 0;
  };
  // Of one prime. `roots` and `inverse_roots` have those of order 2 h at h..2h-1; `spectrum` is the
  // kernel's transform over the number of terms.
  struct Field {
    uint64_t prime = 0;
    std::vector<Factor> roots;
    std::vector<Factor> inverse_roots;
    std::vector<Factor> spectrum;
  };
  static uint64_t Times(uint64_t a, const Factor& factor, uint64_t prime);
  static void Forward(const Field& field, std::vector<uint64_t>& terms);
  static void Backward(const Field& field, std::vector<uint64_t>& terms);

  std::vector<uint64_t> kernel_;
  size_t num_terms_ = 0;  // a power of two
  Field fields_[kNumPrimes];
};

}  // namespace residua
