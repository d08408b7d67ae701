#pragma once

#include <cstdint>

#include "residua/base/axis_view.h"
#include "residua/base/int128.h"

namespace residua {

// The sweeps reconstruction consists of. Compiled twice on x86-64, for every processor and for
// those with AVX2 and FMA; the results are the same.

// x / d by a product and a sum: with `high` = 1 / d rounded and `low` what is missing from it,
//   quotient = x high + round(x low), rounded once.
// For a whole number 1 <= d < 2^48 this is the double nearest to x / d, as a division gives, and
// several times faster: before the last rounding it is x / d to 2^-103 of itself, and no quotient
// of a 53-bit and a 48-bit number, unless it is a double, is that close to a point where rounding
// changes direction. Counts without noise come back exactly.
struct Divisor {
  explicit Divisor(double divisor);

  double high = 1;
  double low = 0;
};

// The nearest doubles, times `unit`, a power of two.
void ConvertValues(const int64_t* values, int64_t count, double unit, double* out);
void ConvertValues(const Int128* values, int64_t count, double unit, double* out);

// out[o, c] = sum over k of values[o, k, c].
void SumAlongAxis(const AxisView& axis, const double* values, double* out);

// values[o, k, c] += factor addend[o, c].
void AddAlongAxis(const AxisView& axis, const double* addend, double factor, double* values);

// out += factor values.
void AddScaled(const double* values, double factor, int64_t count, double* out);

// values = mean - values / size.
void SubtractMean(const double* mean, double size, int64_t count, double* values);

// out = values / divisor.
void DivideInto(const double* values, const Divisor& divisor, int64_t count, double* out);

// A small three-way table in two steps. First its cells as doubles, and their sums along each axis.
// Meanwhile the same number of values at `next` is fetched from memory, unless it is null.
struct CubeSizes {
  int64_t slabs = 0;
  int64_t rows = 0;
  int64_t columns = 0;
};
void SumSmallCube(const int64_t* values, const CubeSizes& sizes, const int64_t* next, double* cells,
                  double* sums_0, double* sums_1, double* sums_2);

// Then, from these sums s_k and the means faces[k] along each axis, with C_k as in completion.h,
//   s_0 = face_0 - s_0 / n_0,  s_1 = C_0 (face_1 - s_1 / n_1),  s_2 = C_0 C_1 (face_2 - s_2 / n_2).
// `buffer` has room for a row of cells, and for one value per row.
void CorrectSmallCube(const CubeSizes& sizes, const double* const* faces, double* buffer,
                      double* sums_0, double* sums_1, double* sums_2);

// And out = (cells + addend_0 + addend_1 + addend_2, each spread along its axis) / divisor.
void AddToSmallCube(const double* cells, const CubeSizes& sizes, const double* addend_0,
                    const double* addend_1, const double* addend_2, const Divisor& divisor,
                    double* out);

// For one row of a large table: sums_a += values, sums_b += values; gives the sum of the values.
double SumLongRow(const int64_t* values, int64_t count, double* sums_a, double* sums_b);

// And out = (values + addend_a + addend_b + shift) / divisor, past the caches. A thread calls
// FinishLongRows when its rows are done, before another thread may read them.
void AddToLongRow(const int64_t* values, const double* addend_a, const double* addend_b,
                  double shift, const Divisor& divisor, int64_t count, double* out);
void FinishLongRows();

// The sum, in a fixed order.
double SumOf(const double* values, int64_t count);

// The sum of values times weights.
double DotProduct(const double* values, const double* weights, int64_t count);

}  // namespace residua
