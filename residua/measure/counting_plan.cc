#include "residua/measure/counting_plan.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "residua/base/error.h"
#include "residua/model/multiset_table.h"

namespace residua {
namespace {

// Tables are widened up to this many attributes: the 2^12 subsets of one are still enumerated fast.
constexpr int kMaxWidenedAttributes = 12;

// ... and up to this many cells: their counters fit a second-level cache of 512 KiB, and their cell
// numbers 16 bits.
constexpr int64_t kMaxWidenedCells = (1 << 16) - 1;

// The hash in a MultisetTable of every subset of `attributes`, by bit mask.
std::vector<uint64_t> SubsetHashes(const AttributeSet& attributes) {
  std::vector<uint64_t> hashes(size_t{1} << attributes.size(), 0);
  for (size_t mask = 1; mask < hashes.size(); ++mask) {
    const auto lowest = static_cast<size_t>(std::countr_zero(mask));
    hashes[mask] = hashes[mask & (mask - 1)] + MultisetTable::HashOf(attributes[lowest]);
  }
  return hashes;
}

class Planner {
 public:
  Planner(const Domain& domain, std::span<const AttributeSet> sets, int64_t num_rows,
          int64_t max_widened_cells)
      : domain_(domain),
        sets_(sets),
        num_rows_(num_rows),
        max_widened_cells_(std::min(max_widened_cells, kMaxWidenedCells)) {
    for (int k = 0; k < static_cast<int>(sets.size()); ++k) {
      if (domain.MakeSet(Set(k)) != Set(k)) {
        Fail(ErrorKind::kBadInput, "the marginal {} does not list its attributes in domain order",
             SetName(domain, Set(k)));
      }
      if (distinct_.Insert(Set(k)) == std::ssize(order_)) order_.push_back(k);
    }
    request_of_ = order_;
    num_cells_.resize(sets.size());
    for (const int k : order_) {
      num_cells_[static_cast<size_t>(k)] = NumCellsInMemory(domain, Set(k));
    }
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
      if (Set(a).size() != Set(b).size()) return Set(a).size() > Set(b).size();
      return Cells(a) > Cells(b);
    });
  }

  std::vector<CountedTable> Plan() {
    MarkMaximalSets();
    is_covered_.assign(sets_.size(), false);
    std::vector<CountedTable> tables;
    // Larger sets first: a set not covered when its turn comes has no requested superset.
    for (const int k : order_) {
      if (is_covered_[static_cast<size_t>(k)]) continue;
      CountedTable table{Set(k), Cells(k), {}};
      Widen(table);
      ForEachRequestedSubset(table.attributes, [&](int subset) {
        if (is_covered_[static_cast<size_t>(subset)]) return;
        is_covered_[static_cast<size_t>(subset)] = true;
        table.sets.push_back(subset);
      });
      std::sort(table.sets.begin(), table.sets.end(), [&](int a, int b) {
        return Set(a).size() != Set(b).size() ? Set(a).size() > Set(b).size() : a < b;
      });
      tables.push_back(std::move(table));
    }
    return tables;
  }

 private:
  const AttributeSet& Set(int k) const { return sets_[static_cast<size_t>(k)]; }
  int Requested(int64_t distinct) const { return request_of_[static_cast<size_t>(distinct)]; }
  int64_t Cells(int k) const { return num_cells_[static_cast<size_t>(k)]; }

  template <typename Visit>
  void ForEachRequestedSubset(const AttributeSet& attributes, const Visit& visit) const {
    if (attributes.size() < 20 && size_t{1} << attributes.size() < 4 * order_.size() + 64) {
      ForEachSubset(attributes, [&](size_t, std::span<const int> subset) {
        if (const auto found = distinct_.Find(subset)) visit(Requested(*found));
      });
      return;
    }
    for (const int k : order_) {
      if (IsSubset(Set(k), attributes)) visit(k);
    }
  }

  void MarkMaximalSets() {
    is_maximal_.assign(sets_.size(), true);
    for (const int k : order_) {
      if (!is_maximal_[static_cast<size_t>(k)]) continue;
      ForEachRequestedSubset(Set(k), [&](int subset) {
        if (subset != k) is_maximal_[static_cast<size_t>(subset)] = false;
      });
    }
    for (const int k : order_) {
      if (is_maximal_[static_cast<size_t>(k)] && Set(k).size() < 64) {
        maximal_set_sizes_ |= uint64_t{1} << Set(k).size();
      }
    }
  }

  // Estimated nanoseconds to count a table and to sum its subsets from it, for the choice of tables
  // only: as measured, a row costs more once the counters leave the first-level cache.
  double Cost(int64_t num_cells, size_t num_attributes) const {
    const double per_row =
        0.9 + 0.1 * static_cast<double>(num_attributes) + (num_cells > (8 << 10) ? 0.2 : 0.0);
    return static_cast<double>(num_rows_) * per_row +
           static_cast<double>(num_cells) * 0.6 * static_cast<double>(num_attributes);
  }

  // Adds attributes one at a time, the best saving first, for as long as there is one.
  void Widen(CountedTable& table) const {
    // Below this, the search for attributes costs more than the counts it could save.
    if (num_rows_ < 100 * int64_t{domain_.size()}) return;
    while (static_cast<int>(table.attributes.size()) < kMaxWidenedAttributes) {
      const std::vector<uint64_t> hashes = SubsetHashes(table.attributes);
      const double cost = Cost(table.num_cells, table.attributes.size());
      double best_saving = 0;
      int best = -1;
      for (int i = 0; i < domain_.size(); ++i) {
        if (std::binary_search(table.attributes.begin(), table.attributes.end(), i)) continue;
        if (domain_[i].size > max_widened_cells_ / table.num_cells) continue;
        const int64_t wider_cells = table.num_cells * domain_[i].size;
        const double added = Cost(wider_cells, table.attributes.size() + 1) - cost;
        const double saving = ReplacedCost(hashes, i) - added;
        if (saving > best_saving ||
            (best >= 0 && saving == best_saving && domain_[i].size < domain_[best].size)) {
          best_saving = saving;
          best = i;
        }
      }
      if (best < 0) return;
      table.attributes.insert(
          std::upper_bound(table.attributes.begin(), table.attributes.end(), best), best);
      table.num_cells *= domain_[best].size;
    }
  }

  // The cost of counting each maximal set on its own that is not covered yet and that a table with
  // these subsets would cover if attribute `added` joined it.
  double ReplacedCost(const std::vector<uint64_t>& hashes, int added) const {
    double cost = 0;
    const uint64_t added_hash = MultisetTable::HashOf(added);
    for (size_t mask = 0; mask < hashes.size(); ++mask) {
      if (!(maximal_set_sizes_ >> (std::popcount(mask) + 1) & 1)) continue;
      // Hashes alone: a collision could make the plan slower, not wrong.
      const auto found = distinct_.FindHash(hashes[mask] + added_hash);
      if (!found) continue;
      const int k = Requested(*found);
      if (is_covered_[static_cast<size_t>(k)] || !is_maximal_[static_cast<size_t>(k)]) continue;
      cost += Cost(Cells(k), Set(k).size());
    }
    return cost;
  }

  const Domain& domain_;
  std::span<const AttributeSet> sets_;
  MultisetTable distinct_;       // the requested sets, each once
  std::vector<int> request_of_;  // of each of those, the first that asks for it
  int64_t num_rows_;
  int64_t max_widened_cells_;
  std::vector<int> order_;  // distinct sets, by decreasing number of attributes, then of cells
  std::vector<int64_t> num_cells_;
  std::vector<bool> is_maximal_;
  std::vector<bool> is_covered_;
  uint64_t maximal_set_sizes_ = 0;  // bit s: there is a maximal set of s attributes
};

}  // namespace

std::vector<CountedTable> PlanCounting(const Domain& domain, std::span<const AttributeSet> sets,
                                       int64_t num_rows, int64_t max_widened_cells) {
  return Planner(domain, sets, num_rows, max_widened_cells).Plan();
}

}  // namespace residua
