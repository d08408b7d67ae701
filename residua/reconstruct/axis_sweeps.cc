#include "residua/reconstruct/axis_sweeps.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "residua/base/error.h"
#include "residua/base/vectorised.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace residua {
namespace {

// Columns summed together in registers: one cache line.
constexpr int64_t kLanes = 8;

// The nearest double, by operations that vectorise where the processor has no such conversion.
// With hi and lo the halves of value + 2^63, `high` = 2^84 + hi 2^32 and `low` = 2^52 + lo have
// the halves as mantissas; high - (2^84 + 2^63 + 2^52) is a multiple of 2^32 of at most 33 bits, so
// exact, and the last sum rounds once. Valid for every value.
inline double ToDouble(int64_t value) {
  const uint64_t shifted = static_cast<uint64_t>(value) ^ 0x8000000000000000u;
  const auto high = std::bit_cast<double>((shifted >> 32) | 0x4530000000000000u);
  const auto low = std::bit_cast<double>((shifted & 0xffffffffu) | 0x4330000000000000u);
  return (high - (0x1p84 + 0x1p63 + 0x1p52)) + low;
}

inline double Quotient(double value, double high, double low) {
  return std::fma(value, high, value * low);
}

inline double SumInLanes(const double* values, int64_t count) {
  double lanes[4] = {0, 0, 0, 0};
  int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    for (int64_t lane = 0; lane < 4; ++lane) lanes[lane] += values[k + lane];
  }
  double sum = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
  for (; k < count; ++k) sum += values[k];
  return sum;
}

// out[c] = sum over r of values[r, c], for columns c of `first` on, kWidth at a time in registers.
// Gives the first column that is left over.
template <int64_t kWidth>
[[gnu::always_inline]] inline int64_t SumColumns(const double* __restrict values, int64_t num_rows,
                                                 int64_t num_columns, int64_t first,
                                                 double* __restrict out) {
  int64_t c = first;
  for (; c + kWidth <= num_columns; c += kWidth) {
    double sums[kWidth] = {};
    for (int64_t r = 0; r < num_rows; ++r) {
      for (int64_t lane = 0; lane < kWidth; ++lane) {
        sums[lane] += values[r * num_columns + c + lane];
      }
    }
    for (int64_t lane = 0; lane < kWidth; ++lane) out[c + lane] = sums[lane];
  }
  return c;
}

[[gnu::always_inline]] inline void SumOverRows(const double* __restrict values, int64_t num_rows,
                                               int64_t num_columns, double* __restrict out) {
  int64_t c = SumColumns<kLanes>(values, num_rows, num_columns, 0, out);
  c = SumColumns<4>(values, num_rows, num_columns, c, out);
  c = SumColumns<2>(values, num_rows, num_columns, c, out);
  SumColumns<1>(values, num_rows, num_columns, c, out);
}

}  // namespace

Divisor::Divisor(double divisor) : high(1 / divisor) {
  RESIDUA_CHECK(divisor >= 1 && divisor < 0x1p48);
  low = std::fma(-divisor, high, 1.0) / divisor;
}

RESIDUA_VECTORISED
void ConvertValues(const int64_t* __restrict values, int64_t count, double unit,
                   double* __restrict out) {
  for (int64_t k = 0; k < count; ++k) out[k] = ToDouble(values[k]) * unit;
}

void ConvertValues(const Int128* values, int64_t count, double unit, double* out) {
  for (int64_t k = 0; k < count; ++k) out[k] = static_cast<double>(values[k]) * unit;
}

RESIDUA_VECTORISED
void SumAlongAxis(const AxisView& axis, const double* __restrict values, double* __restrict out) {
  const int64_t outer = axis.outer;
  const int64_t size = axis.size;
  const int64_t inner = axis.inner;
  if (inner == 1) {
    for (int64_t o = 0; o < outer; ++o) out[o] = SumInLanes(values + o * size, size);
    return;
  }
  for (int64_t o = 0; o < outer; ++o, values += size * inner, out += inner) {
    SumOverRows(values, size, inner, out);
  }
}

RESIDUA_VECTORISED
void AddAlongAxis(const AxisView& axis, const double* __restrict addend, double factor,
                  double* __restrict values) {
  const int64_t outer = axis.outer;
  const int64_t size = axis.size;
  const int64_t inner = axis.inner;
  if (inner == 1) {
    for (int64_t o = 0; o < outer; ++o, values += size) {
      const double shift = factor * addend[o];
      for (int64_t k = 0; k < size; ++k) values[k] += shift;
    }
    return;
  }
  for (int64_t o = 0; o < outer; ++o, addend += inner) {
    for (int64_t k = 0; k < size; ++k, values += inner) {
      for (int64_t c = 0; c < inner; ++c) values[c] += factor * addend[c];
    }
  }
}

RESIDUA_VECTORISED
void AddScaled(const double* __restrict values, double factor, int64_t count,
               double* __restrict out) {
  for (int64_t k = 0; k < count; ++k) out[k] += factor * values[k];
}

RESIDUA_VECTORISED
void DivideInto(const double* values, const Divisor& divisor, int64_t count, double* out) {
  const auto [high, low] = divisor;
  for (int64_t k = 0; k < count; ++k) out[k] = Quotient(values[k], high, low);
}

RESIDUA_VECTORISED
void SubtractMean(const double* __restrict mean, double size, int64_t count,
                  double* __restrict values) {
  const double inverse = 1 / size;
  for (int64_t k = 0; k < count; ++k) values[k] = mean[k] - values[k] * inverse;
}

namespace {

// Four or two doubles in a register, where the processor has such registers.
using FourDoubles [[gnu::vector_size(4 * sizeof(double))]] = double;
using TwoDoubles [[gnu::vector_size(2 * sizeof(double))]] = double;

// A row of kSize doubles, kept in registers: a length that the compiler does not know costs short
// rows more than their sums do.
template <int64_t kSize>
class ShortRow {
 public:
  [[gnu::always_inline]] explicit ShortRow(const double* values) {
    for (int64_t k = 0; k < kFours; ++k) std::memcpy(&fours_[k], values + 4 * k, sizeof fours_[k]);
    if constexpr (kHasTwo) std::memcpy(&two_, values + 4 * kFours, sizeof two_);
    if constexpr (kHasOne) one_ = values[kSize - 1];
  }
  ShortRow() = default;

  [[gnu::always_inline]] void Store(double* values) const {
    for (int64_t k = 0; k < kFours; ++k) std::memcpy(values + 4 * k, &fours_[k], sizeof fours_[k]);
    if constexpr (kHasTwo) std::memcpy(values + 4 * kFours, &two_, sizeof two_);
    if constexpr (kHasOne) values[kSize - 1] = one_;
  }

  // this += factor row.
  [[gnu::always_inline]] void Add(const ShortRow& row, double factor) {
    for (int64_t k = 0; k < kFours; ++k) fours_[k] += row.fours_[k] * factor;
    if constexpr (kHasTwo) two_ += row.two_ * factor;
    if constexpr (kHasOne) one_ += row.one_ * factor;
  }
  [[gnu::always_inline]] void Add(const ShortRow& row) {
    for (int64_t k = 0; k < kFours; ++k) fours_[k] += row.fours_[k];
    if constexpr (kHasTwo) two_ += row.two_;
    if constexpr (kHasOne) one_ += row.one_;
  }
  [[gnu::always_inline]] void Add(double shift) {
    for (int64_t k = 0; k < kFours; ++k) fours_[k] += shift;
    if constexpr (kHasTwo) two_ += shift;
    if constexpr (kHasOne) one_ += shift;
  }
  [[gnu::always_inline]] double Sum() const {
    TwoDoubles sum = {0, 0};
    if constexpr (kFours > 0) {
      FourDoubles fours = fours_[0];
      for (int64_t k = 1; k < kFours; ++k) fours += fours_[k];
      sum = TwoDoubles{fours[0], fours[1]} + TwoDoubles{fours[2], fours[3]};
    }
    if constexpr (kHasTwo) sum += two_;
    return kHasOne ? sum[0] + sum[1] + one_ : sum[0] + sum[1];
  }

 private:
  static constexpr int64_t kFours = kSize / 4;
  static constexpr bool kHasTwo = kSize % 4 >= 2;
  static constexpr bool kHasOne = kSize % 2 != 0;

  FourDoubles fours_[kFours > 0 ? kFours : 1] = {};
  TwoDoubles two_ = {};
  double one_ = 0;
};

template <int64_t kColumns>
[[gnu::always_inline]] inline void SumPlane(const double* __restrict cells, int64_t num_rows,
                                            int64_t num_columns, double* __restrict column_sums,
                                            double* __restrict row_sums) {
  if constexpr (kColumns > 0) {
    ShortRow<kColumns> sums;
    for (int64_t r = 0; r < num_rows; ++r) {
      const ShortRow<kColumns> row(cells + r * kColumns);
      sums.Add(row);
      row_sums[r] = row.Sum();
    }
    sums.Store(column_sums);
  } else {
    SumOverRows(cells, num_rows, num_columns, column_sums);
    for (int64_t r = 0; r < num_rows; ++r) {
      row_sums[r] = SumInLanes(cells + r * num_columns, num_columns);
    }
  }
}

template <int64_t kColumns>
[[gnu::always_inline]] inline void SumShortCube(const int64_t* __restrict values,
                                                const CubeSizes& sizes, const int64_t* next,
                                                double* __restrict cells, double* __restrict sums_0,
                                                double* __restrict sums_1,
                                                double* __restrict sums_2) {
  const int64_t num_columns = kColumns > 0 ? kColumns : sizes.columns;
  const int64_t plane = sizes.rows * num_columns;
  for (int64_t p = 0; p < plane; ++p) sums_0[p] = 0;
  for (int64_t slab = 0; slab < sizes.slabs; ++slab, cells += plane, values += plane) {
    for (int64_t p = 0; p < plane; ++p) {
      const double value = ToDouble(values[p]);
      cells[p] = value;
      sums_0[p] += value;
    }
    if (next != nullptr) {
      // A few lines at a time: all at once would wait for one another.
      for (int64_t p = 0; p < plane; p += kLanes) __builtin_prefetch(next + slab * plane + p, 0, 2);
    }
    SumPlane<kColumns>(cells, sizes.rows, num_columns, sums_1 + slab * num_columns,
                       sums_2 + slab * sizes.rows);
  }
}

// values = C (face - values / divisor), C centring the columns.
template <int64_t kColumns>
[[gnu::always_inline]] inline void CentreFace(const double* __restrict face, int64_t num_rows,
                                              int64_t num_columns, double divisor,
                                              double* __restrict buffer,
                                              double* __restrict values) {
  const double factor = -1 / divisor;
  const double per_row = -1 / static_cast<double>(num_rows);
  if constexpr (kColumns > 0) {
    ShortRow<kColumns> sums;
    for (int64_t r = 0; r < num_rows; ++r) {
      ShortRow<kColumns> row(face + r * kColumns);
      row.Add(ShortRow<kColumns>(values + r * kColumns), factor);
      row.Store(values + r * kColumns);
      sums.Add(row);
    }
    for (int64_t r = 0; r < num_rows; ++r) {
      ShortRow<kColumns> row(values + r * kColumns);
      row.Add(sums, per_row);
      row.Store(values + r * kColumns);
    }
  } else {
    for (int64_t p = 0; p < num_rows * num_columns; ++p) values[p] = face[p] + values[p] * factor;
    SumOverRows(values, num_rows, num_columns, buffer);
    for (int64_t r = 0; r < num_rows; ++r, values += num_columns) {
      for (int64_t c = 0; c < num_columns; ++c) values[c] += buffer[c] * per_row;
    }
  }
}

template <int64_t kColumns>
[[gnu::always_inline]] inline void CentreRows(int64_t num_rows, int64_t num_columns,
                                              double* __restrict values) {
  const double per_column = -1 / static_cast<double>(num_columns);
  for (int64_t r = 0; r < num_rows; ++r, values += num_columns) {
    if constexpr (kColumns > 0) {
      ShortRow<kColumns> row(values);
      row.Add(row.Sum() * per_column);
      row.Store(values);
    } else {
      const double shift = SumInLanes(values, num_columns) * per_column;
      for (int64_t c = 0; c < num_columns; ++c) values[c] += shift;
    }
  }
}

// out[c] = (cells[c] + (addend_a[c] + addend_b[c] + shift)) / divisor, c of [begin, end).
[[gnu::always_inline]] inline void AddToColumns(int64_t begin, int64_t end,
                                                const double* __restrict cells,
                                                const double* __restrict addend_a,
                                                const double* __restrict addend_b, double shift,
                                                const Divisor& divisor, double* __restrict out) {
  const auto [high, low] = divisor;
  for (int64_t c = begin; c < end; ++c) {
    out[c] = Quotient(cells[c] + (addend_a[c] + addend_b[c] + shift), high, low);
  }
}

template <int64_t kColumns>
[[gnu::always_inline]] inline void AddToShortCube(const double* __restrict cells,
                                                  const CubeSizes& sizes,
                                                  const double* __restrict addend_0,
                                                  const double* __restrict addend_1,
                                                  const double* __restrict addend_2,
                                                  const Divisor& divisor, double* __restrict out) {
  const int64_t num_columns = kColumns > 0 ? kColumns : sizes.columns;
  // Fours, then two, then one: the compiler vectorises each by itself.
  const int64_t fours_end = num_columns / 4 * 4;
  const int64_t twos_end = num_columns / 2 * 2;
  const Divisor by = divisor;
  for (int64_t slab = 0; slab < sizes.slabs; ++slab, addend_1 += num_columns) {
    const double* addend = addend_0;
    for (int64_t r = 0; r < sizes.rows; ++r) {
      const double shift = *addend_2++;
      AddToColumns(0, fours_end, cells, addend, addend_1, shift, by, out);
      AddToColumns(fours_end, twos_end, cells, addend, addend_1, shift, by, out);
      AddToColumns(twos_end, num_columns, cells, addend, addend_1, shift, by, out);
      addend += num_columns;
      cells += num_columns;
      out += num_columns;
    }
  }
}

}  // namespace

// FUNCTION<N> with N the number of columns, known to the compiler, or 0 if it is large. A lambda
// would not be compiled for each processor.
#define RESIDUA_CASE(N, FUNCTION, ...) \
  case N:                              \
    FUNCTION<N>(__VA_ARGS__);          \
    break;
#define RESIDUA_FOR_COLUMNS(NUM_COLUMNS, ...) \
  switch (NUM_COLUMNS) {                      \
    RESIDUA_CASE(2, __VA_ARGS__)              \
    RESIDUA_CASE(3, __VA_ARGS__)              \
    RESIDUA_CASE(4, __VA_ARGS__)              \
    RESIDUA_CASE(5, __VA_ARGS__)              \
    RESIDUA_CASE(6, __VA_ARGS__)              \
    RESIDUA_CASE(7, __VA_ARGS__)              \
    RESIDUA_CASE(8, __VA_ARGS__)              \
    RESIDUA_CASE(9, __VA_ARGS__)              \
    RESIDUA_CASE(10, __VA_ARGS__)             \
    RESIDUA_CASE(11, __VA_ARGS__)             \
    RESIDUA_CASE(12, __VA_ARGS__)             \
    RESIDUA_CASE(16, __VA_ARGS__)             \
    default:                                  \
      RESIDUA_FOR_ANY(__VA_ARGS__)            \
  }
#define RESIDUA_FOR_ANY(FUNCTION, ...) FUNCTION<0>(__VA_ARGS__);

RESIDUA_VECTORISED
void SumSmallCube(const int64_t* values, const CubeSizes& sizes, const int64_t* next, double* cells,
                  double* sums_0, double* sums_1,
                  double* sums_2){RESIDUA_FOR_COLUMNS(sizes.columns, SumShortCube, values, sizes,
                                                      next, cells, sums_0, sums_1, sums_2)}

RESIDUA_VECTORISED
    void CorrectSmallCube(const CubeSizes& sizes, const double* const* faces, double* buffer,
                          double* sums_0, double* sums_1, double* sums_2) {
  const auto [slabs, rows, columns] = sizes;
  SubtractMean(faces[0], static_cast<double>(slabs), rows * columns, sums_0);
  RESIDUA_FOR_COLUMNS(columns, CentreFace, faces[1], slabs, columns, static_cast<double>(rows),
                      buffer, sums_1)
  RESIDUA_FOR_COLUMNS(rows, CentreFace, faces[2], slabs, rows, static_cast<double>(columns), buffer,
                      sums_2)
  RESIDUA_FOR_COLUMNS(rows, CentreRows, slabs, rows, sums_2)
}

RESIDUA_VECTORISED
void AddToSmallCube(const double* cells, const CubeSizes& sizes, const double* addend_0,
                    const double* addend_1, const double* addend_2, const Divisor& divisor,
                    double* out){RESIDUA_FOR_COLUMNS(sizes.columns, AddToShortCube, cells, sizes,
                                                     addend_0, addend_1, addend_2, divisor, out)}
#undef RESIDUA_FOR_COLUMNS
#undef RESIDUA_FOR_ANY
#undef RESIDUA_CASE

RESIDUA_VECTORISED double SumLongRow(const int64_t* __restrict values, int64_t count,
                                     double* __restrict sums_a, double* __restrict sums_b) {
  double lanes[kLanes] = {};
  int64_t k = 0;
  for (; k + kLanes <= count; k += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const double value = ToDouble(values[k + lane]);
      lanes[lane] += value;
      sums_a[k + lane] += value;
      sums_b[k + lane] += value;
    }
  }
  double sum = SumInLanes(lanes, kLanes);
  for (; k < count; ++k) {
    const double value = ToDouble(values[k]);
    sum += value;
    sums_a[k] += value;
    sums_b[k] += value;
  }
  return sum;
}

namespace {

// `count` doubles to memory that will not be read soon.
inline void StreamToMemory(const double* values, int64_t count, double* out) {
#if defined(__x86_64__)
  int64_t k = 0;
  if (reinterpret_cast<uintptr_t>(out) % sizeof(__m128d) == 0) {
    for (; k + 2 <= count; k += 2) _mm_stream_pd(out + k, _mm_loadu_pd(values + k));
  }
  for (; k < count; ++k) out[k] = values[k];
#else
  std::copy(values, values + count, out);
#endif
}

}  // namespace

RESIDUA_VECTORISED
void AddToLongRow(const int64_t* __restrict values, const double* __restrict addend_a,
                  const double* __restrict addend_b, double shift, const Divisor& divisor,
                  int64_t count, double* __restrict out) {
  const auto [high, low] = divisor;
  constexpr int64_t kStep = 64;
  double step[kStep];
  for (int64_t begin = 0; begin < count; begin += kStep) {
    const int64_t size = std::min(kStep, count - begin);
    for (int64_t k = 0; k < size; ++k) {
      const double sum =
          ToDouble(values[begin + k]) + (addend_a[begin + k] + addend_b[begin + k] + shift);
      step[k] = Quotient(sum, high, low);
    }
    StreamToMemory(step, size, out + begin);
  }
}

void FinishLongRows() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

RESIDUA_VECTORISED
double SumOf(const double* values, int64_t count) { return SumInLanes(values, count); }

RESIDUA_VECTORISED
double DotProduct(const double* values, const double* weights, int64_t count) {
  double lanes[kLanes] = {};
  int64_t k = 0;
  for (; k + kLanes <= count; k += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += values[k + lane] * weights[k + lane];
    }
  }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  for (; k < count; ++k) sum += values[k] * weights[k];
  return sum;
}

}  // namespace residua
