#include "residua/measure/true_tally.h"

#include <algorithm>

#include "residua/base/error.h"
#include "residua/base/vectorised.h"

namespace residua {
namespace {

// Up to a row for so many cells are listed: the list takes at most half of what the counters take,
// which are there before it is given back.
constexpr int64_t kCellsPerListed = 16;

constexpr int kCounterBits = 8;

template <typename Sum>
[[gnu::always_inline]] inline void AddCounters(const uint8_t* counters, int64_t num_cells,
                                               Sum weight, int64_t period, Sum* __restrict sums) {
  for (int64_t first = 0; first < num_cells; first += period) {
    const uint8_t* plane = counters + first;
    for (int64_t c = 0; c < period; ++c) sums[c] += weight * plane[c];
  }
}

RESIDUA_VECTORISED void AddNarrowCounters(const uint8_t* counters, int64_t num_cells,
                                          uint64_t weight, int64_t period, uint64_t* sums) {
  AddCounters(counters, num_cells, weight, period, sums);
}

}  // namespace

TrueTally::TrueTally(int64_t num_cells) : num_cells_(num_cells) {
  RESIDUA_CHECK(num_cells >= 0 && num_cells <= int64_t{1} << 32);
}

int64_t TrueTally::MostBytes(int64_t num_cells, int64_t num_rows) {
  if (num_rows <= num_cells / kCellsPerListed) return num_rows * kMostBytesPerRow;
  const int64_t carried = (num_rows >> kCounterBits) * kMostBytesPerRow;
  return num_cells + std::min(num_cells, carried);
}

void TrueTally::Add(std::span<const uint32_t> cells) {
  if (!counters_.empty()) return Count(cells);
  const auto most_listed = static_cast<size_t>(num_cells_ / kCellsPerListed);
  if (cells.size() <= most_listed - listed_.size()) {
    listed_.insert(listed_.end(), cells.begin(), cells.end());
    return;
  }
  counters_.assign(static_cast<size_t>(num_cells_), 0);
  Count(listed_);
  listed_ = {};
  Count(cells);
}

void TrueTally::Count(std::span<const uint32_t> cells) {
  std::vector<uint32_t> full;
  for (const uint32_t cell : cells) {
    if (++counters_[cell] == 0) full.push_back(cell);
  }
  if (full.empty()) return;
  if (carried_ == nullptr) carried_ = std::make_unique<TrueTally>(num_cells_);
  carried_->Add(full);
}

template <typename Sum>
void TrueTally::AddAllTo(Sum weight, int64_t period, Sum* sums) const {
  RESIDUA_CHECK(period >= 1 && num_cells_ % period == 0);
  if (period == num_cells_) {
    for (const uint32_t cell : listed_) sums[cell] += weight;
  } else {
    for (const uint32_t cell : listed_) sums[cell % static_cast<uint64_t>(period)] += weight;
  }
  if (!counters_.empty()) {
    if constexpr (sizeof(Sum) == sizeof(uint64_t)) {
      AddNarrowCounters(counters_.data(), num_cells_, weight, period, sums);
    } else {
      AddCounters(counters_.data(), num_cells_, weight, period, sums);
    }
  }
  if (carried_ != nullptr) carried_->AddAllTo(weight << kCounterBits, period, sums);
}

void TrueTally::AddTo(uint64_t weight, int64_t period, uint64_t* sums) const {
  AddAllTo(weight, period, sums);
}

void TrueTally::AddTo(UInt128 weight, int64_t period, UInt128* sums) const {
  AddAllTo(weight, period, sums);
}

}  // namespace residua
