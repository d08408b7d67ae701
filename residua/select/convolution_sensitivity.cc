#include "residua/select/convolution_sensitivity.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "residua/base/error.h"
#include "residua/base/int128.h"
#include "residua/basis/convolution/convolution_matrix.h"

namespace residua {
namespace {

// Below, term by term.
constexpr size_t kFewSquares = 32;

// out_k = sum of a_i b_{k-i}, of `size` numbers each, a power of two, and 2 size results; modulo
// 2^128. `space` has room for 4 size numbers.
void MultiplySquares(const UInt128* a, const UInt128* b, size_t size, UInt128* out,
                     UInt128* space) {
  if (size <= kFewSquares) {
    std::fill(out, out + 2 * size, UInt128{0});
    for (size_t i = 0; i < size; ++i) {
      for (size_t j = 0; j < size; ++j) out[i + j] += a[i] * b[j];
    }
    return;
  }
  const size_t half = size / 2;
  UInt128* middle = space;
  UInt128* below = space + size;
  // The sums of both halves wait in `out`, which is free until then.
  for (size_t k = 0; k < half; ++k) {
    out[k] = a[k] + a[half + k];
    out[half + k] = b[k] + b[half + k];
  }
  MultiplySquares(out, out + half, half, middle, below);
  MultiplySquares(a, b, half, out, below);
  MultiplySquares(a + half, b + half, half, out + size, below);
  for (size_t k = 0; k < size; ++k) middle[k] -= out[k] + out[size + k];
  for (size_t k = 0; k < size; ++k) out[half + k] += middle[k];
}

}  // namespace

Integer RecomputedSensitivity(const ConvolutionMatrix& matrix) {
  const size_t num_rows = matrix.kernel.size();
  const size_t size = std::bit_ceil(num_rows);
  std::vector<UInt128> rows(size, 0);  // the last row first
  std::vector<UInt128> terms(size, 0);
  for (size_t k = 0; k < num_rows; ++k) {
    const auto weight = static_cast<UInt128>(matrix.row_weights[num_rows - 1 - k]);
    const auto term = static_cast<UInt128>(matrix.kernel[k]);
    rows[k] = weight * weight;
    terms[k] = term * term;
  }
  std::vector<UInt128> sums(2 * size);
  std::vector<UInt128> with_total(2 * size, 0);
  std::vector<UInt128> space(4 * size);
  MultiplySquares(rows.data(), terms.data(), size, sums.data(), space.data());
  Integer of_total = 0;
  if (!matrix.total_weights.empty()) {
    for (size_t k = 0; k < num_rows; ++k) {
      const int64_t weight = matrix.total_weights[num_rows - 1 - k];
      of_total += WideToInteger(rows[k]) * ToInteger(weight) * ToInteger(weight);
      rows[k] *= static_cast<UInt128>(weight);
      terms[k] = static_cast<UInt128>(matrix.kernel[k]);
    }
    MultiplySquares(rows.data(), terms.data(), size, with_total.data(), space.data());
  }
  Integer most = of_total;
  for (size_t j = 0; j < num_rows; ++j) {
    const Integer weight = ToInteger(matrix.column_weights[j]);
    Integer norm = WideToInteger(sums[num_rows - 1 - j]) * weight * weight;
    norm -= WideToInteger(with_total[num_rows - 1 - j]) * weight * 2;
    most = std::max(most, Integer(norm + of_total));
  }
  return most;
}

void VerifyConvolution(const Attribute& attribute, const ConvolutionMatrix& matrix) {
  if (!CanUseConvolution(attribute)) {
    Fail(ErrorKind::kRefused, "the basis of attribute '{}' is not one for its queries",
         attribute.name);
  }
  CheckConvolution(attribute, matrix);
}

}  // namespace residua
