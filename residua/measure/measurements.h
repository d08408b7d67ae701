#pragma once

#include <map>
#include <variant>
#include <vector>

#include "residua/base/int128.h"
#include "residua/select/plan.h"

namespace residua {

using NoisyValues = std::variant<std::vector<int64_t>, std::vector<Int128>>;

// One base mechanism, measured: S (kron_{i in A} matrix_i) v_A plus independent discrete Gaussians
// of variance S^2 `noise_variance`, all integers, with the scale S = 2^`scale_bits` times the
// RowSteps of the set. A = `attributes`, v_A the counts of its marginal, matrix_i the integer form of attribute i's basis;
// row-major in the rows of the matrices, the last attribute fastest. Safe to publish.
struct NoisyResidual {
  AttributeSet attributes;
  NoisyValues values;
  Rational noise_variance;
  int scale_bits = 0;
};

// Some consecutive values of a residual that is too large to be in memory at once: `part.values`,
// of which the first is value `first_value` of all. Safe to publish.
struct NoisyPiece {
  NoisyResidual part;
  int64_t first_value = 0;
  bool is_last = false;
};

// The values in 64 bits if every one of them fits, else in 128: the width reveals no more than the
// values do.
NoisyValues InLeastWidth(std::vector<Int128> values);

// The complete result of measuring a plan: the residual of every attribute set of its closure.
// Threads may share it while nobody changes it.
struct Measurements {
  Plan plan;
  std::map<AttributeSet, NoisyResidual> residuals;
};

}  // namespace residua
