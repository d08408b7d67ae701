#include "residua/reconstruct/axis_sweeps.h"

#include <algorithm>
#include <bit>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define RESIDUA_VECTORISED __attribute__((target_clones("avx2", "default")))
#else
#define RESIDUA_VECTORISED
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

RESIDUA_VECTORISED
void ConvertValues(const int64_t* __restrict values, int64_t count, double* __restrict out) {
  for (int64_t k = 0; k < count; ++k) out[k] = ToDouble(values[k]);
}

void ConvertValues(const Int128* values, int64_t count, double* out) {
  for (int64_t k = 0; k < count; ++k) out[k] = static_cast<double>(values[k]);
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
void DivideInto(const double* values, double divisor, int64_t count, double* out) {
  for (int64_t k = 0; k < count; ++k) out[k] = values[k] / divisor;
}

RESIDUA_VECTORISED
void SubtractMean(const double* __restrict mean, double size, int64_t count,
                  double* __restrict values) {
  const double inverse = 1 / size;
  for (int64_t k = 0; k < count; ++k) values[k] = mean[k] - values[k] * inverse;
}

namespace {

// With the number of columns known to the compiler, or 0: a short row is a few registers.
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
    SumOverRows(cells, sizes.rows, num_columns, sums_1 + slab * num_columns);
    for (int64_t r = 0; r < sizes.rows; ++r) {
      *sums_2++ = SumInLanes(cells + r * num_columns, num_columns);
    }
  }
}

template <int64_t kColumns>
[[gnu::always_inline]] inline void AddToShortCube(const double* __restrict cells,
                                                  const CubeSizes& sizes,
                                                  const double* __restrict addend_0,
                                                  const double* __restrict addend_1,
                                                  const double* __restrict addend_2, double divisor,
                                                  double* __restrict out) {
  const int64_t num_columns = kColumns > 0 ? kColumns : sizes.columns;
  for (int64_t slab = 0; slab < sizes.slabs; ++slab, addend_1 += num_columns) {
    for (int64_t r = 0; r < sizes.rows; ++r) {
      const double shift = *addend_2++;
      for (int64_t c = 0; c < num_columns; ++c) {
        out[c] = (cells[c] + (addend_0[r * num_columns + c] + addend_1[c] + shift)) / divisor;
      }
      cells += num_columns;
      out += num_columns;
    }
  }
}

}  // namespace

#define RESIDUA_FOR_SHORT_ROWS(CASE) \
  CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12)

RESIDUA_VECTORISED
void SumSmallCube(const int64_t* values, const CubeSizes& sizes, const int64_t* next, double* cells,
                  double* sums_0, double* sums_1, double* sums_2) {
  switch (sizes.columns) {
#define RESIDUA_CASE(N) \
  case N:               \
    return SumShortCube<N>(values, sizes, next, cells, sums_0, sums_1, sums_2);
    RESIDUA_FOR_SHORT_ROWS(RESIDUA_CASE)
#undef RESIDUA_CASE
    default:
      return SumShortCube<0>(values, sizes, next, cells, sums_0, sums_1, sums_2);
  }
}

RESIDUA_VECTORISED
void AddToSmallCube(const double* cells, const CubeSizes& sizes, const double* addend_0,
                    const double* addend_1, const double* addend_2, double divisor, double* out) {
  switch (sizes.columns) {
#define RESIDUA_CASE(N) \
  case N:               \
    return AddToShortCube<N>(cells, sizes, addend_0, addend_1, addend_2, divisor, out);
    RESIDUA_FOR_SHORT_ROWS(RESIDUA_CASE)
#undef RESIDUA_CASE
    default:
      return AddToShortCube<0>(cells, sizes, addend_0, addend_1, addend_2, divisor, out);
  }
}

RESIDUA_VECTORISED
double SumLongRow(const int64_t* __restrict values, int64_t count, double* __restrict sums_a,
                  double* __restrict sums_b) {
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
                  const double* __restrict addend_b, double shift, double divisor, int64_t count,
                  double* __restrict out) {
  constexpr int64_t kStep = 64;
  double step[kStep];
  for (int64_t begin = 0; begin < count; begin += kStep) {
    const int64_t size = std::min(kStep, count - begin);
    for (int64_t k = 0; k < size; ++k) {
      step[k] =
          (ToDouble(values[begin + k]) + (addend_a[begin + k] + addend_b[begin + k] + shift)) /
          divisor;
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
