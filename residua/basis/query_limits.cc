#include "residua/basis/query_limits.h"

#include <cmath>
#include <string_view>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/basis/cell_tree.h"
#include "residua/basis/row_space.h"
#include "residua/model/answer_weights.h"

namespace residua {
namespace {

void CheckGroups(const Attribute& attribute) {
  if (attribute.groups.empty()) {
    Fail(ErrorKind::kBadInput,
         "attribute '{}' has hierarchy queries but no groups; give hierarchy = {{ name = [values], "
         "... }}",
         attribute.name);
  }
  for (const CellGroup& group : attribute.groups) {
    if (group.cells.empty()) {
      Fail(ErrorKind::kBadInput, "group '{}' of attribute '{}' is empty; leave it out", group.name,
           attribute.name);
    }
    for (size_t k = 0; k < group.cells.size(); ++k) {
      if (group.cells[k] < 0 || group.cells[k] >= attribute.size ||
          (k > 0 && group.cells[k] <= group.cells[k - 1])) {
        Fail(ErrorKind::kBadInput,
             "group '{}' of attribute '{}' lists a cell twice, or one that does not exist",
             group.name, attribute.name);
      }
    }
  }
}

// Planning squares entries; the square of a larger one is no double.
constexpr double kMaxEntry = 1e154;

void CheckMatrix(const Attribute& attribute, const CellMatrix& matrix, std::string_view what) {
  if (matrix.num_rows < 1 || static_cast<int64_t>(matrix.entries.size()) !=
                                 CheckedMultiply(matrix.num_rows, attribute.size)) {
    Fail(ErrorKind::kBadInput,
         "the {} matrix of attribute '{}' has {} rows and {} entries; it needs {} columns, one for "
         "each cell",
         what, attribute.name, matrix.num_rows, matrix.entries.size(), attribute.size);
  }
  for (size_t k = 0; k < matrix.entries.size(); ++k) {
    if (!(std::abs(matrix.entries[k]) <= kMaxEntry)) {
      Fail(ErrorKind::kBadInput,
           "the {} matrix of attribute '{}' has the entry {} in row {}; entries must be finite and "
           "at most {} in size",
           what, attribute.name, matrix.entries[k], k / static_cast<size_t>(attribute.size) + 1,
           kMaxEntry);
    }
  }
  for (int64_t cell = 0; cell < attribute.size; ++cell) {
    bool zero = true;
    for (int64_t row = 0; row < matrix.num_rows; ++row) {
      zero = zero && matrix.entries[static_cast<size_t>(row * attribute.size + cell)] == 0;
    }
    if (zero) {
      Fail(ErrorKind::kBadInput,
           "column {} of the {} matrix of attribute '{}' is zero: nothing asks for the cell '{}'; "
           "add a row that counts it, or merge it with another cell",
           cell + 1, what, attribute.name, CellLabel(attribute, cell));
    }
  }
  if (RowSpaceBasis(attribute.size, matrix).num_rows < 2) {
    Fail(
        ErrorKind::kBadInput,
        "the {} matrix of attribute '{}' tells no cells apart; add a query, or leave the attribute "
        "out",
        what, attribute.name);
  }
  if (!SpansOnes(attribute.size, matrix)) {
    Fail(ErrorKind::kBadInput,
         "the rows of the {} matrix of attribute '{}' do not combine to the total; add a row of "
         "ones",
         what, attribute.name);
  }
}

}  // namespace

void CheckQueries(const Attribute& attribute) {
  if (attribute.queries != QueryKind::kHierarchy) CheckLevelWeights(attribute);
  if (attribute.queries == QueryKind::kIdentity) return;
  if (attribute.queries == QueryKind::kHierarchy) {
    if (attribute.size > kMaxTreeCells) {
      Fail(ErrorKind::kTooLarge,
           "attribute '{}' has {} cells; hierarchies are planned for at most {}: use coarser cells",
           attribute.name, attribute.size, kMaxTreeCells);
    }
    CheckGroups(attribute);
    CheckLevelWeights(attribute);
    if (attribute.size > kMaxBasisCells && !TreeFor(attribute)) {
      Fail(ErrorKind::kTooLarge,
           "attribute '{}' has {} cells and groups that overlap; beyond {} cells of two groups one "
           "must hold the other, or they must have no cell in common",
           attribute.name, attribute.size, kMaxBasisCells);
    }
    return;
  }
  const bool is_prefix = attribute.queries == QueryKind::kPrefix;
  const bool is_range = attribute.queries == QueryKind::kRange;
  const int64_t most = is_prefix ? kMaxPrefixCells : is_range ? kMaxRangeCells : kMaxBasisCells;
  if (attribute.size > most) {
    Fail(ErrorKind::kTooLarge,
         "attribute '{}' has {} cells; {} are planned for at most {}: use coarser cells, or {}",
         attribute.name, attribute.size,
         is_prefix  ? "prefix sums"
         : is_range ? "all ranges"
                    : "custom queries",
         most, is_range ? "prefix sums, whose differences are the ranges" : "a hierarchy of them");
  }
  if (attribute.queries != QueryKind::kCustom) return;
  CheckMatrix(attribute, attribute.custom, "query");
  if (attribute.strategy.num_rows == 0) return;
  CheckMatrix(attribute, attribute.strategy, "strategy");
  if (!SpansRows(attribute.size, attribute.strategy, attribute.custom)) {
    Fail(
        ErrorKind::kBadInput,
        "the strategy matrix of attribute '{}' cannot answer its query matrix; every query must be "
        "a combination of the strategy's rows",
        attribute.name);
  }
}

}  // namespace residua
