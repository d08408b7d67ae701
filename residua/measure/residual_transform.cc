#include "residua/measure/residual_transform.h"

#include <algorithm>
#include <utility>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/base/rational.h"
#include "residua/measure/true_counts.h"

namespace residua {
namespace {

// A row-major tensor seen from one of its axes: value (o, k, c) is at (o * size + k) * inner + c.
struct Axis {
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;
};

template <typename Value>
void ApplySubtractionAlongAxis(const Axis& axis, std::vector<Value>& values) {
  const auto size = static_cast<Value>(axis.size);
  std::vector<Value> sums(static_cast<size_t>(axis.inner));
  Value* slab = values.data();
  for (int64_t o = 0; o < axis.outer; ++o, slab += axis.size * axis.inner) {
    std::fill(sums.begin(), sums.end(), Value{0});
    for (int64_t k = 0; k < axis.size; ++k) {
      for (int64_t c = 0; c < axis.inner; ++c) {
        sums[static_cast<size_t>(c)] += slab[k * axis.inner + c];
      }
    }
    for (int64_t k = 0; k < axis.size; ++k) {
      for (int64_t c = 0; c < axis.inner; ++c) {
        Value& value = slab[k * axis.inner + c];
        value = value * size - sums[static_cast<size_t>(c)];
      }
    }
  }
}

template <typename Value>
void ApplyIntegerMatrixAlongAxis(const IntegerMatrix& matrix, const Axis& axis,
                                 std::vector<Value>& values) {
  const int64_t num_results =
      CheckedMultiply(CheckedMultiply(axis.outer, matrix.num_rows), axis.inner);
  std::vector<Value> results(static_cast<size_t>(num_results), Value{0});
  const Value* from = values.data();
  Value* to = results.data();
  for (int64_t o = 0; o < axis.outer; ++o, from += axis.size * axis.inner) {
    const int64_t* entry = matrix.entries.data();
    for (int64_t row = 0; row < matrix.num_rows; ++row, to += axis.inner) {
      for (int64_t k = 0; k < axis.size; ++k, ++entry) {
        const auto factor = static_cast<Value>(*entry);
        for (int64_t c = 0; c < axis.inner; ++c) to[c] += factor * from[k * axis.inner + c];
      }
    }
  }
  values = std::move(results);
}

template <typename Value>
void ApplyAlongAxes(const Domain& domain, std::span<const ResidualMatrix> matrices,
                    const AttributeSet& attributes, std::vector<Value>& values) {
  auto inner = static_cast<int64_t>(values.size());
  int64_t outer = 1;
  for (const int i : attributes) {
    inner /= domain[i].size;
    const Axis axis{outer, domain[i].size, inner};
    const ResidualMatrix& matrix = matrices[static_cast<size_t>(i)];
    if (const auto* integers = std::get_if<IntegerMatrix>(&matrix)) {
      ApplyIntegerMatrixAlongAxis(*integers, axis, values);
      outer = CheckedMultiply(outer, integers->num_rows);
    } else {
      ApplySubtractionAlongAxis(axis, values);
      outer *= axis.size;
    }
  }
}

Integer LargestEntry(const Attribute& attribute, const ResidualMatrix& matrix) {
  const auto* integers = std::get_if<IntegerMatrix>(&matrix);
  if (integers == nullptr) return Integer(static_cast<long>(attribute.size));
  if (integers->num_rows < 1 || integers->num_columns != attribute.size ||
      static_cast<int64_t>(integers->entries.size()) !=
          CheckedMultiply(integers->num_rows, integers->num_columns)) {
    Fail(ErrorKind::kBadInput,
         "the matrix of attribute '{}' is {} x {} with {} entries; it needs {} columns",
         attribute.name, integers->num_rows, integers->num_columns, integers->entries.size(),
         attribute.size);
  }
  uint64_t largest = 1;
  for (const int64_t entry : integers->entries) {
    const auto bits = static_cast<uint64_t>(entry);
    largest = std::max(largest, entry < 0 ? 0 - bits : bits);
  }
  return Integer(static_cast<unsigned long>(largest));
}

// Whether the residuals of that many records fit 63 bits, without their sign.
bool FitsNarrow(const Domain& domain, std::span<const ResidualMatrix> matrices,
                const AttributeSet& attributes, int64_t num_records) {
  Integer bound(static_cast<long>(num_records));
  for (const int i : attributes) bound *= LargestEntry(domain[i], matrices[static_cast<size_t>(i)]);
  const size_t num_bits = mpz_sizeinbase(bound.get_mpz_t(), 2);
  if (num_bits > 127) {
    Fail(ErrorKind::kTooLarge,
         "the residuals of {} may need {} bits, more than 128; use a basis of smaller integers",
         SetName(domain, attributes), num_bits + 1);
  }
  return num_bits <= 63;
}

}  // namespace

void CheckResidualsFit(const Domain& domain, std::span<const ResidualMatrix> matrices,
                       const AttributeSet& attributes, int64_t num_records) {
  FitsNarrow(domain, matrices, attributes, num_records);
}

TrueResidual ResidualTransform(const Domain& domain, std::span<const ResidualMatrix> matrices,
                               TrueMarginal&& marginal) {
  const AttributeSet attributes = marginal.attributes();
  if (static_cast<int>(matrices.size()) != domain.size()) {
    Fail(ErrorKind::kBadInput, "{} residual matrices for {} attributes; give one for each",
         matrices.size(), domain.size());
  }
  RESIDUA_CHECK(marginal.num_cells() == NumCellsInMemory(domain, attributes));

  std::vector<int64_t> cells = TrueCounts::TakeCells(std::move(marginal));
  int64_t num_records = 0;
  for (const int64_t cell : cells) {
    RESIDUA_CHECK(cell >= 0);
    num_records = CheckedAdd(num_records, cell);
  }
  if (FitsNarrow(domain, matrices, attributes, num_records)) {
    ApplyAlongAxes(domain, matrices, attributes, cells);
    return TrueCounts::Residual(attributes, std::move(cells));
  }
  std::vector<Int128> wide(cells.begin(), cells.end());
  ApplyAlongAxes(domain, matrices, attributes, wide);
  return TrueCounts::Residual(attributes, std::move(wide));
}

}  // namespace residua
