#pragma once

#include <memory>
#include <span>
#include <vector>

#include "residua/basis/convolution/exact_product.h"
#include "residua/basis/residual_matrix.h"
#include "residua/measure/true_marginal.h"
#include "residua/model/domain.h"

namespace residua {

// S (kron_{i in A} matrices[i]) v for the marginal v on A and the scale S = 2^scale_bits, exactly:
// a sweep along each axis, O(|A| num_cells) for subtraction matrices and trees of shares, and times
// a logarithm for convolutions. The result is row-major in the rows of the matrices, the last attribute fastest.
//
// It never wraps. Let N be the number of rows in v (times RowSteps, in a table that counts steps), and M_i = n_i for a subtraction matrix, the
// largest absolute entry (at least 1, or a bound on it) of any other. v >= 0 sums to N, and a result is a sum over
// rows of products of matrix entries, so at most S N prod_{i in A} M_i in size. Where that is
// below 2^63 the sweeps run modulo 2^64, else modulo 2^128 if it is below 2^127; each result is the
// one number of that size it is congruent to. Else it is Error{kTooLarge}.
class ResidualTransform {
 public:
  // One matrix for each attribute of the domain, which must outlive this.
  ResidualTransform(const Domain& domain, std::vector<ResidualMatrix> matrices);

  TrueResidual Apply(TrueMarginal&& marginal, int scale_bits = 0) const;

  // The same sweeps along the axes of `attributes` alone, modulo 2^64 or 2^128, for tables that are
  // not whole: of the row-major `values`, `outer` is the size of all axes before these, and what is
  // left that of all axes after.
  void Sweep(std::span<const int> attributes, int64_t outer, std::vector<int64_t>& values) const;
  void Sweep(std::span<const int> attributes, int64_t outer, std::vector<Int128>& values) const;

  // Whether the residuals of that many rows fit 64 bits; Error{kTooLarge} if they may not fit 128.
  bool FitsNarrow(const AttributeSet& attributes, int64_t num_rows, int scale_bits) const;

  // Error{kTooLarge} if the residuals of that many rows may not fit.
  void CheckFits(const AttributeSet& attributes, int64_t num_rows, int scale_bits = 0) const;

 private:
  const Domain& domain_;
  std::vector<ResidualMatrix> matrices_;
  std::vector<std::shared_ptr<const ExactProduct>> products_;  // of convolutions' kernels
  std::vector<uint64_t> largest_entries_;                      // M_i
};

}  // namespace residua
