#include "residua/measure/residual_transform.h"

#include <algorithm>
#include <utility>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/base/int128.h"
#include "residua/basis/convolution/convolution_matrix.h"
#include "residua/basis/tree_matrix.h"
#include "residua/measure/residual_sweeps.h"
#include "residua/measure/true_counts.h"

namespace residua {
namespace {

uint64_t LargestEntry(const Attribute& attribute, const ResidualMatrix& matrix) {
  if (const auto* tree = std::get_if<TreeMatrix>(&matrix)) {
    CheckTreeMatrix(attribute, *tree);
    return LargestEntryOf(*tree);
  }
  if (const auto* convolution = std::get_if<ConvolutionMatrix>(&matrix)) {
    CheckConvolution(attribute, *convolution);
    return LargestEntryOf(*convolution);
  }
  const auto* integers = std::get_if<IntegerMatrix>(&matrix);
  if (integers == nullptr) return static_cast<uint64_t>(attribute.size);
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
  return largest;
}

template <typename Value>
void ApplyOne(const ResidualMatrix& matrix, const ExactProduct* product, const AxisView& axis,
              std::vector<Value>& values) {
  if (const auto* integers = std::get_if<IntegerMatrix>(&matrix)) {
    values = ApplyMatrix(*integers, axis, values);
  } else if (const auto* tree = std::get_if<TreeMatrix>(&matrix)) {
    values = ApplyTreeMatrix(*tree, axis, values);
  } else if (const auto* convolution = std::get_if<ConvolutionMatrix>(&matrix)) {
    values = ApplyConvolutionMatrix(*convolution, *product, axis, values);
  } else {
    ApplySubtraction(axis, values);
  }
}

// Along the axes of `attributes`, which have `outer` places before them.
template <typename Value>
void ApplyAlongAxes(const Domain& domain, std::span<const ResidualMatrix> matrices,
                    std::span<const std::shared_ptr<const ExactProduct>> products,
                    std::span<const int> attributes, int64_t outer, std::vector<Value>& values) {
  auto inner = static_cast<int64_t>(values.size()) / outer;
  for (const int i : attributes) {
    const ResidualMatrix& matrix = matrices[static_cast<size_t>(i)];
    const int64_t size = domain[i].size;
    inner /= size;
    ApplyOne(matrix, products[static_cast<size_t>(i)].get(), {outer, size, inner}, values);
    outer = CheckedMultiply(outer, NumRowsOf(matrix, size));
  }
}

bool IsSubtraction(const ResidualMatrix& matrix) {
  return std::holds_alternative<SubtractionMatrix>(matrix);
}

// Two subtractions along the innermost axes are one sweep.
void ApplyNarrow(const Domain& domain, std::span<const ResidualMatrix> matrices,
                 std::span<const std::shared_ptr<const ExactProduct>> products,
                 std::span<const int> attributes, int64_t outer, std::vector<int64_t>& values) {
  const size_t num_axes = attributes.size();
  int64_t num_cells = outer;
  for (const int i : attributes) num_cells *= domain[i].size;
  const auto is_subtracted = [&](size_t k) {
    return IsSubtraction(matrices[static_cast<size_t>(attributes[k])]);
  };
  if (num_axes < 2 || num_cells != std::ssize(values) || !is_subtracted(num_axes - 2) ||
      !is_subtracted(num_axes - 1)) {
    return ApplyAlongAxes(domain, matrices, products, attributes, outer, values);
  }
  ApplyAlongAxes(domain, matrices, products, attributes.first(num_axes - 2), outer, values);
  const int64_t num_rows = domain[attributes[num_axes - 2]].size;
  const int64_t num_columns = domain[attributes[num_axes - 1]].size;
  const int64_t num_planes = std::ssize(values) / (num_rows * num_columns);
  ApplySubtractionToPlanes(num_planes, num_rows, num_columns, values);
}

}  // namespace

ResidualTransform::ResidualTransform(const Domain& domain, std::vector<ResidualMatrix> matrices)
    : domain_(domain), matrices_(std::move(matrices)) {
  if (static_cast<int>(matrices_.size()) != domain.size()) {
    Fail(ErrorKind::kBadInput, "{} residual matrices for {} attributes; give one for each",
         matrices_.size(), domain.size());
  }
  for (int i = 0; i < domain.size(); ++i) {
    const ResidualMatrix& matrix = matrices_[static_cast<size_t>(i)];
    largest_entries_.push_back(LargestEntry(domain[i], matrix));
    const auto* convolution = std::get_if<ConvolutionMatrix>(&matrix);
    products_.push_back(convolution == nullptr
                            ? nullptr
                            : std::make_shared<const ExactProduct>(KernelProduct(*convolution)));
  }
}

TrueResidual ResidualTransform::Apply(TrueMarginal&& marginal, int scale_bits) const {
  const AttributeSet attributes = marginal.attributes();
  RESIDUA_CHECK(marginal.num_cells() == NumCellsInMemory(domain_, attributes));
  std::vector<int64_t> cells = TrueCounts::TakeCells(std::move(marginal));
  if (FitsNarrow(attributes, SumOfCounts(cells), scale_bits)) {
    Sweep(attributes, 1, cells);
    if (scale_bits > 0) {
      for (int64_t& value : cells) value *= int64_t{1} << scale_bits;
    }
    return TrueCounts::Residual(attributes, std::move(cells));
  }
  std::vector<Int128> wide(cells.begin(), cells.end());
  Sweep(attributes, 1, wide);
  if (scale_bits > 0) {
    for (Int128& value : wide) value *= Int128{1} << scale_bits;
  }
  return TrueCounts::Residual(attributes, std::move(wide));
}

void ResidualTransform::Sweep(std::span<const int> attributes, int64_t outer,
                              std::vector<int64_t>& values) const {
  ApplyNarrow(domain_, matrices_, products_, attributes, outer, values);
}

void ResidualTransform::Sweep(std::span<const int> attributes, int64_t outer,
                              std::vector<Int128>& values) const {
  ApplyAlongAxes(domain_, matrices_, products_, attributes, outer, values);
}

void ResidualTransform::CheckFits(const AttributeSet& attributes, int64_t num_rows,
                                  int scale_bits) const {
  FitsNarrow(attributes, num_rows, scale_bits);
}

bool ResidualTransform::FitsNarrow(const AttributeSet& attributes, int64_t num_rows,
                                   int scale_bits) const {
  RESIDUA_CHECK(scale_bits >= 0 && scale_bits <= 62);
  UInt128 bound = static_cast<UInt128>(num_rows);
  bool overflows = __builtin_mul_overflow(bound, UInt128{1} << scale_bits, &bound);
  for (const int i : attributes) {
    const UInt128 largest = largest_entries_[static_cast<size_t>(i)];
    overflows |= __builtin_mul_overflow(bound, largest, &bound);
  }
  if (overflows || bound >> 127 != 0) {
    Fail(ErrorKind::kTooLarge,
         "the residuals of {} may need more than 128 bits; use a basis of smaller integers",
         SetName(domain_, attributes));
  }
  return bound >> 63 == 0;
}

}  // namespace residua
