#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "residua/reconstruct/residual_index.h"

namespace residua {

// The counts of one large table of identity attributes, a few slabs at a time: as Reconstruct gives
// them, to the last bit, without its values or its counts ever being in memory. A slab has one cell
// of the first attribute. The values of the table's own residual, which are elsewhere for the
// index, are passed twice in their order, in pieces of any size.
class TableSlabs {
 public:
  // The memory that making the table so takes, in bytes. Nothing if it cannot be made so: it is
  // small, or has attributes that are not identity attributes.
  static std::optional<int64_t> BytesFor(const ResidualIndex& index, const AttributeSet& table);
  static std::optional<int64_t> BytesFor(std::span<const int64_t> sizes);

  // `is_wide`: some value does not fit 64 bits. The index must outlive this.
  TableSlabs(const ResidualIndex& index, const AttributeSet& table, bool is_wide, int num_threads);
  ~TableSlabs();

  // First all pieces.
  void Sum(ResidualValues piece);
  // Then all of them again. Calls visit(first cell, counts) for each slab or more that is complete.
  using Visit = std::function<void(int64_t first, std::span<const double> counts)>;
  void Add(ResidualValues piece, const Visit& visit);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace residua
