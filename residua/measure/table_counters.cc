#include "residua/measure/table_counters.h"

#include "residua/base/checked.h"
#include "residua/measure/row_counter.h"

namespace residua {

TableCounters::TableCounters(int64_t num_cells, int64_t max_narrow_rows)
    : counters_(std::vector<uint32_t>(static_cast<size_t>(num_cells), 0)),
      max_narrow_rows_(max_narrow_rows) {}

void TableCounters::MakeWide() {
  if (const auto* narrow = std::get_if<std::vector<uint32_t>>(&counters_)) {
    counters_ = std::vector<uint64_t>(narrow->begin(), narrow->end());
  }
}

void TableCounters::Add(const EncodedTable& rows, const AttributeSet& attributes) {
  num_rows_ = CheckedAdd(num_rows_, rows.num_rows());
  if (!HasRoomFor(num_rows_)) MakeWide();
  std::visit([&](auto& counters) { CountRows(rows, attributes, 0, rows.num_rows(), counters); },
             counters_);
}

}  // namespace residua
