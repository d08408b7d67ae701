#include "residua/measure/residual_sweeps.h"

#include <algorithm>
#include <limits>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/base/vectorised.h"
#include "residua/basis/convolution/convolution_matrix.h"
#include "residua/basis/tree_matrix.h"

namespace residua {
namespace {

// The same memory without the sign: unsigned arithmetic is modular.
uint64_t* Unsigned(int64_t* values) { return reinterpret_cast<uint64_t*>(values); }
const uint64_t* Unsigned(const int64_t* values) {
  return reinterpret_cast<const uint64_t*>(values);
}
UInt128* Unsigned(Int128* values) { return reinterpret_cast<UInt128*>(values); }
const UInt128* Unsigned(const Int128* values) { return reinterpret_cast<const UInt128*>(values); }

// One fibre after the other.
template <typename Value>
[[gnu::always_inline]] inline void SubtractInnermost(int64_t outer, int64_t size, Value* values) {
  const auto factor = static_cast<Value>(size);
  for (int64_t o = 0; o < outer; ++o, values += size) {
    Value sum = 0;
    for (int64_t k = 0; k < size; ++k) sum += values[k];
    for (int64_t k = 0; k < size; ++k) values[k] = values[k] * factor - sum;
  }
}

// All fibres of a slab side by side.
template <typename Value>
[[gnu::always_inline]] inline void SubtractSlabs(const AxisView& axis, Value* __restrict slab,
                                                 Value* __restrict sums) {
  const auto factor = static_cast<Value>(axis.size);
  for (int64_t o = 0; o < axis.outer; ++o, slab += axis.size * axis.inner) {
    std::copy_n(slab, axis.inner, sums);
    for (int64_t k = 1; k < axis.size; ++k) {
      const Value* row = slab + k * axis.inner;
      for (int64_t c = 0; c < axis.inner; ++c) sums[c] += row[c];
    }
    for (int64_t k = 0; k < axis.size; ++k) {
      Value* row = slab + k * axis.inner;
      for (int64_t c = 0; c < axis.inner; ++c) row[c] = row[c] * factor - sums[c];
    }
  }
}

RESIDUA_VECTORISED void SubtractNarrow(const AxisView& axis, uint64_t* values, uint64_t* sums) {
  if (axis.inner == 1) {
    SubtractInnermost(axis.outer, axis.size, values);
  } else {
    SubtractSlabs(axis, values, sums);
  }
}

// `sums` has a place for each row and each column of a plane.
RESIDUA_VECTORISED void SubtractPlanes(int64_t outer, int64_t num_rows, int64_t num_columns,
                                       uint64_t* __restrict plane, uint64_t* __restrict sums) {
  uint64_t* of_columns = sums;
  uint64_t* of_rows = sums + num_columns;
  const auto n = static_cast<uint64_t>(num_rows);
  const auto m = static_cast<uint64_t>(num_columns);
  for (int64_t o = 0; o < outer; ++o, plane += num_rows * num_columns) {
    std::fill_n(of_columns, num_columns, uint64_t{0});
    for (int64_t k = 0; k < num_rows; ++k) {
      const uint64_t* row = plane + k * num_columns;
      uint64_t sum = 0;
      for (int64_t c = 0; c < num_columns; ++c) {
        sum += row[c];
        of_columns[c] += row[c];
      }
      of_rows[k] = n * sum;
    }
    uint64_t total = 0;
    for (int64_t c = 0; c < num_columns; ++c) total += of_columns[c];
    for (int64_t c = 0; c < num_columns; ++c) of_columns[c] = m * of_columns[c] - total;
    for (int64_t k = 0; k < num_rows; ++k) {
      uint64_t* row = plane + k * num_columns;
      const uint64_t of_row = of_rows[k];
      for (int64_t c = 0; c < num_columns; ++c) row[c] = n * m * row[c] - of_columns[c] - of_row;
    }
  }
}

template <typename Value>
[[gnu::always_inline]] inline void Multiply(const IntegerMatrix& matrix, const AxisView& axis,
                                            const Value* __restrict from, Value* __restrict to) {
  for (int64_t o = 0; o < axis.outer; ++o, from += axis.size * axis.inner) {
    const int64_t* entry = matrix.entries.data();
    for (int64_t row = 0; row < matrix.num_rows; ++row, to += axis.inner) {
      if (axis.inner == 1) {
        Value sum = 0;
        for (int64_t k = 0; k < axis.size; ++k) sum += static_cast<Value>(entry[k]) * from[k];
        *to = sum;
        entry += axis.size;
        continue;
      }
      for (int64_t k = 0; k < axis.size; ++k, ++entry) {
        const auto factor = static_cast<Value>(*entry);
        for (int64_t c = 0; c < axis.inner; ++c) to[c] += factor * from[k * axis.inner + c];
      }
    }
  }
}

RESIDUA_VECTORISED void MultiplyNarrow(const IntegerMatrix& matrix, const AxisView& axis,
                                       const uint64_t* from, uint64_t* to) {
  Multiply(matrix, axis, from, to);
}

template <typename Value>
std::vector<Value> Zeros(int64_t num_rows, const AxisView& axis) {
  return std::vector<Value>(
      static_cast<size_t>(CheckedMultiply(CheckedMultiply(axis.outer, num_rows), axis.inner)));
}

// The halves of all counts are summed apart: 2^31 of them fit 64 bits. Some count is negative if
// `all_bits` is.
struct Halves {
  uint64_t low = 0;
  uint64_t high = 0;
  uint64_t all_bits = 0;
};
constexpr size_t kMaxSummed = size_t{1} << 31;

RESIDUA_VECTORISED Halves SumHalves(const int64_t* counts, size_t num_counts) {
  Halves halves;
  for (size_t k = 0; k < num_counts; ++k) {
    const auto bits = static_cast<uint64_t>(counts[k]);
    halves.low += bits & 0xffffffffu;
    halves.high += bits >> 32;
    halves.all_bits |= bits;
  }
  return halves;
}

}  // namespace

void ApplySubtraction(const AxisView& axis, std::span<int64_t> values) {
  std::vector<uint64_t> sums(axis.inner == 1 ? 0 : static_cast<size_t>(axis.inner));
  SubtractNarrow(axis, Unsigned(values.data()), sums.data());
}

void ApplySubtraction(const AxisView& axis, std::span<Int128> values) {
  std::vector<UInt128> sums(static_cast<size_t>(axis.inner));
  SubtractSlabs(axis, Unsigned(values.data()), sums.data());
}

void ApplySubtractionToPlanes(int64_t outer, int64_t num_rows, int64_t num_columns,
                              std::span<int64_t> values) {
  std::vector<uint64_t> sums(static_cast<size_t>(num_rows + num_columns));
  SubtractPlanes(outer, num_rows, num_columns, Unsigned(values.data()), sums.data());
}

std::vector<int64_t> ApplyMatrix(const IntegerMatrix& matrix, const AxisView& axis,
                                 std::span<const int64_t> values) {
  auto results = Zeros<int64_t>(matrix.num_rows, axis);
  MultiplyNarrow(matrix, axis, Unsigned(values.data()), Unsigned(results.data()));
  return results;
}

std::vector<Int128> ApplyMatrix(const IntegerMatrix& matrix, const AxisView& axis,
                                std::span<const Int128> values) {
  auto results = Zeros<Int128>(matrix.num_rows, axis);
  Multiply(matrix, axis, Unsigned(values.data()), Unsigned(results.data()));
  return results;
}

std::vector<int64_t> ApplyTreeMatrix(const TreeMatrix& matrix, const AxisView& axis,
                                     std::span<const int64_t> values) {
  auto results = Zeros<int64_t>(NumRowsOf(matrix, axis.size), axis);
  ApplyTree(matrix, axis, Unsigned(values.data()), Unsigned(results.data()));
  return results;
}

std::vector<Int128> ApplyTreeMatrix(const TreeMatrix& matrix, const AxisView& axis,
                                    std::span<const Int128> values) {
  auto results = Zeros<Int128>(NumRowsOf(matrix, axis.size), axis);
  ApplyTree(matrix, axis, Unsigned(values.data()), Unsigned(results.data()));
  return results;
}

std::vector<int64_t> ApplyConvolutionMatrix(const ConvolutionMatrix& matrix,
                                            const ExactProduct& product, const AxisView& axis,
                                            std::span<const int64_t> values) {
  auto results = Zeros<int64_t>(axis.size - 1, axis);
  ApplyConvolution(matrix, product, axis, Unsigned(values.data()), Unsigned(results.data()));
  return results;
}

std::vector<Int128> ApplyConvolutionMatrix(const ConvolutionMatrix& matrix,
                                           const ExactProduct& product, const AxisView& axis,
                                           std::span<const Int128> values) {
  auto results = Zeros<Int128>(axis.size - 1, axis);
  ApplyConvolution(matrix, product, axis, Unsigned(values.data()), Unsigned(results.data()));
  return results;
}

int64_t SumOfCounts(std::span<const int64_t> counts) {
  UInt128 sum = 0;
  while (!counts.empty()) {
    const size_t part = std::min(counts.size(), kMaxSummed);
    const Halves halves = SumHalves(counts.data(), part);
    RESIDUA_CHECK(static_cast<int64_t>(halves.all_bits) >= 0);
    sum += (static_cast<UInt128>(halves.high) << 32) + halves.low;
    counts = counts.subspan(part);
  }
  if (sum > static_cast<UInt128>(std::numeric_limits<int64_t>::max())) {
    Fail(ErrorKind::kTooLarge, "a table of more than 2^63 rows");
  }
  return static_cast<int64_t>(sum);
}

}  // namespace residua
