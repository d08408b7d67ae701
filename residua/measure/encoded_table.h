#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "residua/model/domain.h"

namespace residua {

// The codes of one column, a cell number for each row or, where a mean is asked, the number of steps
// from the lowest value: 8 bits for attributes of at most 256 codes, 16 bits for those of at most
// 65,536, 32 bits for the others.
using CodeColumn = std::variant<std::vector<uint8_t>, std::vector<uint16_t>, std::vector<uint32_t>>;

// An empty column of the width `attribute` takes; Error{kTooLarge} above kMaxEncodedSize cells. The
// numbers of a mean are no cells.
CodeColumn EmptyCodeColumn(const Attribute& attribute);

// Each cell has a label, and every table with the attribute a count for it.
inline constexpr int64_t kMaxEncodedSize = int64_t{1} << 24;

// The bytes of one row's code.
int64_t CodeBytes(const Attribute& attribute);

// The private table as cell numbers, a column for each attribute of a Domain.
// Invariant: the columns are equally long and as wide as EmptyCodeColumn makes them, and every code
// of column i is below the attribute's NumCodes: whoever counts may index with it unchecked. It does
// not change, so that threads may share it.
class EncodedTable {
 public:
  EncodedTable(const Domain& domain, std::vector<CodeColumn> columns);

  int64_t num_rows() const { return num_rows_; }
  int num_columns() const { return static_cast<int>(columns_.size()); }
  const CodeColumn& column(int i) const { return columns_[static_cast<size_t>(i)]; }
  const std::vector<int64_t>& sizes() const { return sizes_; }
  // The steps between the lowest and the highest number of a mean; 0 for any other attribute.
  int64_t steps(int i) const { return steps_[static_cast<size_t>(i)]; }
  // The columns, to use their memory again; nothing is left.
  std::vector<CodeColumn> TakeColumns() && { return std::move(columns_); }
  // Whether it was encoded for these attributes.
  bool IsOf(const Domain& domain) const;

 private:
  std::vector<CodeColumn> columns_;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> steps_;
  int64_t num_rows_ = 0;
};

}  // namespace residua
