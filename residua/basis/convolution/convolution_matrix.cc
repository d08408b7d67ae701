#include "residua/basis/convolution/convolution_matrix.h"

#include <cmath>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/basis/convolution/real_product.h"
#include "residua/basis/query_matrix.h"

namespace residua {
namespace {

// Each number modulo 2^128 is its low half and 2^64 times its high half, whose products are exact.
void MultiplyModular(const ExactProduct& product, std::vector<uint64_t>& low,
                     std::vector<uint64_t>& high, std::vector<UInt128>& out) {
  product.Multiply(low, out);
  if (std::all_of(high.begin(), high.end(), [](uint64_t part) { return part == 0; })) return;
  std::vector<UInt128> upper(out.size());
  product.Multiply(high, upper);
  for (size_t k = 0; k < out.size(); ++k) out[k] += upper[k] << 64;
}

// Of the fibre `c` of the outer index `o`, or 0 where the rows have nothing of the total.
template <typename Value>
Value TotalOfFibre(const ConvolutionMatrix& matrix, const AxisView& axis, const Value* from,
                   int64_t o, int64_t c) {
  Value total = 0;
  if (matrix.total_weights.empty()) return total;
  for (int64_t k = 0; k < axis.size; ++k) total += from[(o * axis.size + k) * axis.inner + c];
  return total;
}

template <typename Value>
void ApplyModular(const ConvolutionMatrix& matrix, const ExactProduct& product,
                  const AxisView& axis, const Value* from, Value* to) {
  const int64_t num_rows = axis.size - 1;
  RESIDUA_CHECK(product.length() == num_rows);
  std::vector<uint64_t> low(static_cast<size_t>(num_rows));
  std::vector<uint64_t> high(static_cast<size_t>(num_rows), 0);
  std::vector<UInt128> out(static_cast<size_t>(num_rows));
  for (int64_t o = 0; o < axis.outer; ++o) {
    for (int64_t c = 0; c < axis.inner; ++c) {
      for (int64_t k = 0; k < num_rows; ++k) {
        const auto at = static_cast<size_t>(k);
        const Value value = from[(o * axis.size + k) * axis.inner + c] *
                            static_cast<Value>(matrix.column_weights[at]);
        low[at] = static_cast<uint64_t>(value);
        if constexpr (sizeof(Value) > sizeof(uint64_t)) {
          high[at] = static_cast<uint64_t>(value >> 64);
        }
      }
      MultiplyModular(product, low, high, out);
      const Value total = TotalOfFibre(matrix, axis, from, o, c);
      for (int64_t k = 0; k < num_rows; ++k) {
        const auto at = static_cast<size_t>(k);
        auto value = static_cast<Value>(out[at]);
        if (!matrix.total_weights.empty()) {
          value -= static_cast<Value>(matrix.total_weights[at]) * total;
        }
        to[(o * num_rows + k) * axis.inner + c] =
            value * static_cast<Value>(matrix.row_weights[at]);
      }
    }
  }
}

}  // namespace

bool CanUseConvolution(const Attribute& attribute) {
  return attribute.queries == QueryKind::kPrefix || attribute.queries == QueryKind::kRange;
}

bool UsesConvolution(const Attribute& attribute) {
  return attribute.size > kMaxBasisCells && CanUseConvolution(attribute);
}

void CheckConvolution(const Attribute& attribute, const ConvolutionMatrix& matrix) {
  const auto refuse = [&](std::string_view problem) {
    Fail(ErrorKind::kRefused, "the basis of attribute '{}' is not sound: {}", attribute.name,
         problem);
  };
  const auto num_rows = static_cast<size_t>(attribute.size - 1);
  if (num_rows < 1 || matrix.row_weights.size() != num_rows || matrix.kernel.size() != num_rows ||
      matrix.column_weights.size() != num_rows ||
      (!matrix.total_weights.empty() && matrix.total_weights.size() != num_rows)) {
    refuse("each of its sequences must have one number less than there are cells");
  }
  const auto is_weight = [](int64_t weight) {
    return weight >= 1 && weight <= kMostConvolutionWeight;
  };
  const auto is_term = [](int64_t term) { return term >= 0 && term <= kMostConvolutionWeight; };
  if (!std::all_of(matrix.row_weights.begin(), matrix.row_weights.end(), is_weight) ||
      !std::all_of(matrix.column_weights.begin(), matrix.column_weights.end(), is_weight)) {
    refuse("a weight is not positive, or too large");
  }
  if (matrix.kernel[0] == 0 || !std::all_of(matrix.kernel.begin(), matrix.kernel.end(), is_term)) {
    refuse("a number of its kernel is negative or too large, or the first one is 0");
  }
  if (!std::all_of(matrix.total_weights.begin(), matrix.total_weights.end(),
                   [](int64_t weight) { return weight >= 0 && weight <= kMostTotalWeight; })) {
    refuse("a weight of the total is negative or too large");
  }
}

std::vector<UInt128> SquaredColumns(const ConvolutionMatrix& matrix) {
  const size_t size = matrix.kernel.size();
  std::vector<uint64_t> rows(size);
  std::vector<uint64_t> terms(size);
  for (size_t k = 0; k < size; ++k) {
    const auto weight = static_cast<uint64_t>(matrix.row_weights[size - 1 - k]);
    const auto term = static_cast<uint64_t>(matrix.kernel[k]);
    rows[k] = weight * weight;
    terms[k] = term * term;
  }
  std::vector<UInt128> sums(size);
  ExactProduct(terms).Multiply(rows, sums);
  std::reverse(sums.begin(), sums.end());
  return sums;
}

std::vector<UInt128> ProductsWithTotal(const ConvolutionMatrix& matrix) {
  const size_t size = matrix.kernel.size();
  std::vector<UInt128> sums(size, 0);
  if (matrix.total_weights.empty()) return sums;
  // r^2 g has up to 80 bits, in two halves.
  constexpr int kHalf = 40;
  std::vector<uint64_t> low(size);
  std::vector<uint64_t> high(size);
  for (size_t k = 0; k < size; ++k) {
    const auto weight = static_cast<UInt128>(matrix.row_weights[size - 1 - k]);
    const UInt128 value =
        weight * weight * static_cast<UInt128>(matrix.total_weights[size - 1 - k]);
    low[k] = static_cast<uint64_t>(value & ((UInt128{1} << kHalf) - 1));
    high[k] = static_cast<uint64_t>(value >> kHalf);
  }
  const ExactProduct product = KernelProduct(matrix);
  std::vector<UInt128> upper(size);
  product.Multiply(low, sums);
  product.Multiply(high, upper);
  for (size_t k = 0; k < size; ++k) sums[k] += upper[k] << kHalf;
  std::reverse(sums.begin(), sums.end());
  return sums;
}

Integer SquaredTotal(const ConvolutionMatrix& matrix) {
  Integer sum = 0;
  for (size_t k = 0; k < matrix.total_weights.size(); ++k) {
    const Integer entry = ToInteger(matrix.row_weights[k]) * ToInteger(matrix.total_weights[k]);
    sum += entry * entry;
  }
  return sum;
}

Integer SquaredSensitivity(const ConvolutionMatrix& matrix) {
  const std::vector<UInt128> columns = SquaredColumns(matrix);
  const std::vector<UInt128> products = ProductsWithTotal(matrix);
  Integer largest = 0;  // of what is beside that of the last column
  for (size_t j = 0; j < columns.size(); ++j) {
    const Integer weight = ToInteger(matrix.column_weights[j]);
    largest = std::max(largest, Integer(weight * (weight * WideToInteger(columns[j]) -
                                                  2 * WideToInteger(products[j]))));
  }
  return largest + SquaredTotal(matrix);
}

Integer LargestNegativeProduct(const ConvolutionMatrix& matrix) {
  if (matrix.total_weights.empty()) return 0;
  const std::vector<UInt128> products = ProductsWithTotal(matrix);
  Integer largest = 0;
  for (size_t j = 0; j < products.size(); ++j) {
    largest = std::max(largest,
                       Integer(ToInteger(matrix.column_weights[j]) * WideToInteger(products[j])));
  }
  return std::max(Integer(0), Integer(2 * largest - SquaredTotal(matrix)));
}

uint64_t LargestEntryOf(const ConvolutionMatrix& matrix) {
  const auto most = [](const std::vector<int64_t>& values) {
    return static_cast<uint64_t>(*std::max_element(values.begin(), values.end()));
  };
  uint64_t product = most(matrix.kernel) * most(matrix.column_weights);
  if (!matrix.total_weights.empty()) product = std::max(product, most(matrix.total_weights));
  product *= most(matrix.row_weights);
  // Rounded up by more than doubles may be wrong.
  const double norm = std::sqrt(SquaredSensitivity(matrix).get_d()) * (1 + 1e-12) + 1;
  return norm < static_cast<double>(product) ? static_cast<uint64_t>(norm) : product;
}

IntegerMatrix Expanded(const ConvolutionMatrix& matrix) {
  const auto num_rows = static_cast<int64_t>(matrix.kernel.size());
  IntegerMatrix expanded{num_rows, num_rows + 1, {}};
  expanded.entries.resize(static_cast<size_t>(CheckedMultiply(num_rows, num_rows + 1)), 0);
  for (int64_t i = 0; i < num_rows; ++i) {
    const int64_t of_total =
        matrix.total_weights.empty() ? 0 : matrix.total_weights[static_cast<size_t>(i)];
    for (int64_t j = 0; j <= num_rows; ++j) {
      const int64_t of_cell = j > i ? 0
                                    : matrix.kernel[static_cast<size_t>(i - j)] *
                                          matrix.column_weights[static_cast<size_t>(j)];
      expanded.entries[static_cast<size_t>(i * (num_rows + 1) + j)] =
          matrix.row_weights[static_cast<size_t>(i)] * (of_cell - of_total);
    }
  }
  return expanded;
}

ExactProduct KernelProduct(const ConvolutionMatrix& matrix) {
  return ExactProduct(std::vector<uint64_t>(matrix.kernel.begin(), matrix.kernel.end()));
}

void ApplyConvolution(const ConvolutionMatrix& matrix, const ExactProduct& product,
                      const AxisView& axis, const uint64_t* from, uint64_t* to) {
  ApplyModular(matrix, product, axis, from, to);
}

void ApplyConvolution(const ConvolutionMatrix& matrix, const ExactProduct& product,
                      const AxisView& axis, const UInt128* from, UInt128* to) {
  ApplyModular(matrix, product, axis, from, to);
}

void ApplyConvolution(const ConvolutionMatrix& matrix, const AxisView& axis, const double* from,
                      double* to) {
  const int64_t num_rows = axis.size - 1;
  const RealProduct product(std::vector<double>(matrix.kernel.begin(), matrix.kernel.end()));
  std::vector<double> fibre(static_cast<size_t>(num_rows));
  for (int64_t o = 0; o < axis.outer; ++o) {
    for (int64_t c = 0; c < axis.inner; ++c) {
      for (int64_t k = 0; k < num_rows; ++k) {
        const auto at = static_cast<size_t>(k);
        fibre[at] = from[(o * axis.size + k) * axis.inner + c] *
                    static_cast<double>(matrix.column_weights[at]);
      }
      product.Apply(fibre.data(), nullptr);
      const double total = TotalOfFibre(matrix, axis, from, o, c);
      for (int64_t k = 0; k < num_rows; ++k) {
        const auto at = static_cast<size_t>(k);
        if (!matrix.total_weights.empty()) {
          fibre[at] -= static_cast<double>(matrix.total_weights[at]) * total;
        }
        to[(o * num_rows + k) * axis.inner + c] =
            fibre[at] * static_cast<double>(matrix.row_weights[at]);
      }
    }
  }
}

}  // namespace residua
