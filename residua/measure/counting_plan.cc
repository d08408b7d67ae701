#include "residua/measure/counting_plan.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "residua/base/error.h"

namespace residua {
namespace {

// Tables are widened up to this many attributes: the 2^12 subsets of one are still enumerated fast.
constexpr int kMaxWidenedAttributes = 12;

// ... and up to this many cells: their counters fit a second-level cache of 512 KiB, and their cell
// numbers 16 bits.
constexpr int64_t kMaxWidenedCells = (1 << 16) - 1;

// A sum of one of these per attribute is the hash of a set, so a subset's hash costs one addition.
// The finaliser of SplitMix64.
uint64_t AttributeHash(int attribute) {
  uint64_t z = (static_cast<uint64_t>(attribute) + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t SetHash(const AttributeSet& set) {
  uint64_t hash = 0;
  for (const int i : set) hash += AttributeHash(i);
  return hash;
}

// The requested sets by their hash: open addressing, at most half full.
class SetIndex {
 public:
  explicit SetIndex(std::span<const AttributeSet> sets)
      : sets_(sets), slots_(std::bit_ceil(2 * sets.size() + 2), Slot{0, -1}) {}

  // False when an equal set is there already.
  bool Insert(int index) {
    const AttributeSet& set = sets_[static_cast<size_t>(index)];
    const uint64_t hash = SetHash(set);
    Slot& slot = Probe(hash, [&](int other) { return sets_[static_cast<size_t>(other)] == set; });
    if (slot.index >= 0) return false;
    slot = {hash, index};
    return true;
  }

  // The set of that hash for which `is_wanted(index)` holds, or -1.
  template <typename Predicate>
  int Find(uint64_t hash, const Predicate& is_wanted) const {
    return const_cast<SetIndex*>(this)->Probe(hash, is_wanted).index;
  }

 private:
  struct Slot {
    uint64_t hash;
    int index;
  };

  template <typename Predicate>
  Slot& Probe(uint64_t hash, const Predicate& is_wanted) {
    size_t at = hash & (slots_.size() - 1);
    while (slots_[at].index >= 0 && !(slots_[at].hash == hash && is_wanted(slots_[at].index))) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return slots_[at];
  }

  std::span<const AttributeSet> sets_;
  std::vector<Slot> slots_;
};

// The hash of every subset of `attributes`, by bit mask.
std::vector<uint64_t> SubsetHashes(const AttributeSet& attributes) {
  std::vector<uint64_t> hashes(size_t{1} << attributes.size(), 0);
  for (size_t mask = 1; mask < hashes.size(); ++mask) {
    const auto lowest = static_cast<size_t>(std::countr_zero(mask));
    hashes[mask] = hashes[mask & (mask - 1)] + AttributeHash(attributes[lowest]);
  }
  return hashes;
}

bool IsMaskOf(const AttributeSet& attributes, size_t mask, const AttributeSet& set) {
  if (static_cast<size_t>(std::popcount(mask)) != set.size()) return false;
  for (const int i : set) {
    const auto lowest = static_cast<size_t>(std::countr_zero(mask));
    if (attributes[lowest] != i) return false;
    mask &= mask - 1;
  }
  return true;
}

class Planner {
 public:
  Planner(const Domain& domain, std::span<const AttributeSet> sets, int64_t num_rows,
          int64_t max_widened_cells)
      : domain_(domain),
        sets_(sets),
        index_(sets),
        num_rows_(num_rows),
        max_widened_cells_(std::min(max_widened_cells, kMaxWidenedCells)) {
    for (int k = 0; k < static_cast<int>(sets.size()); ++k) {
      if (domain.MakeSet(Set(k)) != Set(k)) {
        Fail(ErrorKind::kBadInput, "the marginal {} does not list its attributes in domain order",
             SetName(domain, Set(k)));
      }
      if (index_.Insert(k)) order_.push_back(k);
    }
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
  int64_t Cells(int k) const { return num_cells_[static_cast<size_t>(k)]; }

  template <typename Visit>
  void ForEachRequestedSubset(const AttributeSet& attributes, const Visit& visit) const {
    if (attributes.size() < 20 && size_t{1} << attributes.size() < 4 * order_.size() + 64) {
      const std::vector<uint64_t> hashes = SubsetHashes(attributes);
      for (size_t mask = 0; mask < hashes.size(); ++mask) {
        const int k = index_.Find(
            hashes[mask], [&](int other) { return IsMaskOf(attributes, mask, Set(other)); });
        if (k >= 0) visit(k);
      }
      return;
    }
    for (const int k : order_) {
      if (std::includes(attributes.begin(), attributes.end(), Set(k).begin(), Set(k).end())) {
        visit(k);
      }
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
    const uint64_t added_hash = AttributeHash(added);
    for (size_t mask = 0; mask < hashes.size(); ++mask) {
      if (!(maximal_set_sizes_ >> (std::popcount(mask) + 1) & 1)) continue;
      // Hashes alone: a collision could make the plan slower, not wrong.
      const int k = index_.Find(hashes[mask] + added_hash, [](int) { return true; });
      if (k < 0 || is_covered_[static_cast<size_t>(k)] || !is_maximal_[static_cast<size_t>(k)]) {
        continue;
      }
      cost += Cost(Cells(k), Set(k).size());
    }
    return cost;
  }

  const Domain& domain_;
  std::span<const AttributeSet> sets_;
  SetIndex index_;
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
