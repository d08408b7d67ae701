#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace residua {

// The products of a sequence of doubles with any others,
//   out_k = sum over j <= k of kernel_{k-j} values_j,   0 <= k < length,
// in O(n log n) by Fourier transforms. Written with sums and products alone, in a fixed order, so
// that the results are the same on every processor and in a page. An error is about 1e-16 of the
// product of both sequences' norms, for any length; tests hold it below 1e-15 of it.
class RealProduct {
 public:
  explicit RealProduct(std::span<const double> kernel);

  int64_t length() const { return static_cast<int64_t>(kernel_.size()); }

  // In place, of `length()` doubles each; two at once cost as much as one. `second` may be null.
  void Apply(double* first, double* second) const;
  // The transposed: out_j = sum over k >= j of kernel_{k-j} values_k.
  void ApplyTransposed(double* first, double* second) const;

 private:
  using Complex = std::complex<double>;
  void Forward(std::vector<Complex>& terms) const;
  void Backward(std::vector<Complex>& terms) const;

  std::vector<double> kernel_;
  std::vector<Complex> roots_;     // those of order 2 h at h..2h-1
  std::vector<Complex> spectrum_;  // the kernel's transform over the number of terms
};

// The sequence b with sum over j <= k of kernel_{k-j} b_j = 1 for k = 0 and 0 after: what undoes
// the product with the kernel, by Newton's iteration, which doubles its terms. kernel_0 is not 0.
std::vector<double> InverseSequence(std::span<const double> kernel);

}  // namespace residua
