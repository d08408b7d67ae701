#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "residua/measure/counting_options.h"
#include "residua/measure/encoded_table.h"
#include "residua/model/domain.h"

namespace residua {

// Whether rows cannot be counted as they come: the counters of all tables, 64-bit ones because
// nobody knows how many rows will come, take more than the memory budget, or the counts of the
// tables that are cut into slabs more than half of the memory limit.
bool MustHoldRows(const Domain& domain, std::span<const AttributeSet> sets,
                  const CountingOptions& options);

// The rows of a private table, taken part by part, and ready to be measured. They are counted as
// they come, and nothing but the counters of PlanCounting's tables is kept: the memory does not
// grow with the number of rows. Where MustHoldRows says so, the rows themselves are kept, and
// counted at the end, one table after the other. Which of the two it is, and how the rows are
// counted, follows from domain, sets and options alone. What it holds must never be published: only
// measure/ sees it.
class CountedRows {
 public:
  // Error{kTooLarge} or Error{kBadInput} for what cannot be counted, whatever the rows. The domain
  // must outlive this.
  CountedRows(const Domain& domain, std::vector<AttributeSet> sets, const CountingOptions& options);
  CountedRows(CountedRows&&) noexcept;
  CountedRows& operator=(CountedRows&&) = delete;
  ~CountedRows();

  // How many rows a part should have: so many that moving the counters through the caches costs
  // little, and so few that several threads can each gather one.
  int64_t rows_per_part() const;

  // Takes some rows. Several threads may do so at once; each counts its own. Gives them back where
  // they are not kept: their memory can be used for the next ones.
  std::optional<EncodedTable> Add(EncodedTable&& rows);
  // Takes some rows while no other thread adds any: all threads of the options count them.
  void AddAlone(std::vector<EncodedTable>&& rows);

  int64_t num_rows() const;
  const std::vector<AttributeSet>& sets() const;
  // Whether the rows are kept.
  bool holds_rows() const;

 private:
  friend struct CountedRowsState;  // for measure/ alone
  friend struct CountedCells;      // likewise
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace residua
