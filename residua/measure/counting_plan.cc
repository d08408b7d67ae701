#include "residua/measure/counting_plan.h"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/measure/sliced/counting_units.h"
#include "residua/measure/sliced/slice_plan.h"
#include "residua/model/multiset_table.h"

namespace residua {
namespace {

// Tables are widened up to this many attributes: the 2^12 subsets of one are still enumerated fast.
constexpr int kMaxWidenedAttributes = 12;

// ... and up to this many cells: their counters fit a second-level cache of 512 KiB, and their cell
// numbers 16 bits.
constexpr int64_t kMaxWidenedCells = (1 << 16) - 1;

// The number of rows that costs are compared for: the true one is private, and not known before the
// last row has come. With fewer rows the widest tables cost a little more than they save.
constexpr double kPlannedRows = 1e6;

// What sorting rows is worth for: a slice attribute has more values, and a slice plan covers at
// least and its packed rows hold at most so many tables and attributes.
constexpr int64_t kLeastSliceValues = 17;
constexpr size_t kLeastSlicedTables = 4;
constexpr size_t kMostSlicedAttributes = 128;
constexpr size_t kMostDigits = 32;

// Sets are looked up this often at most in the search for attributes, which takes a fraction of a
// second: with few rows, a longer search costs more than it saves.
constexpr int64_t kMaxLookups = int64_t{1} << 22;

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
  Planner(const Domain& domain, std::span<const AttributeSet> sets, int64_t max_widened_cells,
          bool may_slice)
      : domain_(domain),
        sets_(sets),
        may_slice_(may_slice),
        max_widened_cells_(std::min(max_widened_cells, kMaxWidenedCells)) {
    for (int k = 0; k < static_cast<int>(sets.size()); ++k) {
      if (domain.MakeSet(Set(k)) != Set(k)) {
        Fail(ErrorKind::kBadInput, "the marginal {} does not list its attributes in domain order",
             SetName(domain, Set(k)));
      }
      if (distinct_.Insert(Set(k)) == std::ssize(order_)) order_.push_back(k);
    }
    request_of_ = order_;
    by_size_.resize(static_cast<size_t>(domain.size()));
    std::iota(by_size_.begin(), by_size_.end(), 0);
    std::stable_sort(by_size_.begin(), by_size_.end(),
                     [&](int a, int b) { return domain[a].size < domain[b].size; });
    place_by_size_.resize(by_size_.size());
    for (size_t k = 0; k < by_size_.size(); ++k) {
      place_by_size_[static_cast<size_t>(by_size_[k])] = k;
      sizes_.push_back(domain[by_size_[k]].size);
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
    Choice choice = Choose({});
    if (may_slice_) {
      if (const std::vector<Slices> slices = ChooseSlices(choice.cost_of); !slices.empty()) {
        Choice sliced = Choose(slices);
        if (sliced.cost < choice.cost) choice = std::move(sliced);
      }
    }
    AssignSets(&choice.tables);
    return std::move(choice.tables);
  }

 private:
  const AttributeSet& Set(int k) const { return sets_[static_cast<size_t>(k)]; }
  int Requested(int64_t distinct) const { return request_of_[static_cast<size_t>(distinct)]; }
  int64_t Cells(int k) const { return num_cells_[static_cast<size_t>(k)]; }

  // Tables that cover all sets, and what counting them is estimated to cost. The cost of a table is
  // shared by the maximal sets that it covers first.
  struct Choice {
    std::vector<CountedTable> tables;
    double cost = 0;
    std::vector<double> cost_of;  // of each set; 0 of one that is not maximal
  };

  // Sets that are counted by the same slice attribute, each in a table of its own.
  struct Slices {
    int attribute;
    std::vector<int> sets;
    double cost;
  };

  Choice Choose(const std::vector<Slices>& slices) {
    is_covered_.assign(sets_.size(), false);
    num_lookups_ = 0;
    Choice choice;
    choice.cost_of.assign(sets_.size(), 0);
    const auto cover = [&](const CountedTable& table, double cost) {
      std::vector<int> maximal;
      ForEachRequestedSubset(table.attributes, [&](int subset) {
        if (is_covered_[static_cast<size_t>(subset)]) return;
        is_covered_[static_cast<size_t>(subset)] = true;
        if (is_maximal_[static_cast<size_t>(subset)]) maximal.push_back(subset);
      });
      for (const int k : maximal) {
        choice.cost_of[static_cast<size_t>(k)] = cost / static_cast<double>(maximal.size());
      }
      choice.cost += cost;
      choice.tables.push_back(table);
    };
    for (const Slices& sliced : slices) {
      for (const int k : sliced.sets) {
        cover({Set(k), Cells(k), {}, sliced.attribute},
              sliced.cost / static_cast<double>(sliced.sets.size()));
      }
    }
    // Larger sets first: a set not covered when its turn comes has no requested superset.
    for (const int k : order_) {
      if (is_covered_[static_cast<size_t>(k)]) continue;
      CountedTable table{Set(k), Cells(k), {}};
      Widen(table);
      cover(table, Cost(table.num_cells, table.attributes.size()));
    }
    return choice;
  }

  // For each attribute in turn, slices it if that costs less than the tables that count the same
  // sets without slices.
  std::vector<Slices> ChooseSlices(const std::vector<double>& cost_of) const {
    std::vector<std::vector<int>> sets_with(static_cast<size_t>(domain_.size()));
    for (const int k : order_) {
      if (Set(k).size() != 3 || !is_maximal_[static_cast<size_t>(k)]) continue;
      const auto is_too_large = [&](int i) { return domain_[i].size > kMostSliceValues; };
      if (std::any_of(Set(k).begin(), Set(k).end(), is_too_large)) continue;
      for (const int i : Set(k)) {
        if (CanSlice(Set(k), i)) sets_with[static_cast<size_t>(i)].push_back(k);
      }
    }
    std::vector<bool> is_sliced(sets_.size(), false);
    std::vector<Slices> slices;
    for (int i = 0; i < domain_.size(); ++i) {
      std::vector<int>& with = sets_with[static_cast<size_t>(i)];
      std::erase_if(with, [&](int k) { return is_sliced[static_cast<size_t>(k)]; });
      if (with.size() < kLeastSlicedTables || NumAttributes(with) > kMostSlicedAttributes) continue;
      std::vector<AttributeSet> tables;
      double cost_without = 0;
      for (const int k : with) {
        tables.push_back(Set(k));
        cost_without += cost_of[static_cast<size_t>(k)];
      }
      const SlicedSets sets{i, std::move(tables)};
      const SlicePlan plan(domain_, sets,
                           std::make_shared<const RowDigits>(domain_, std::span(&sets, 1)));
      const double cost = plan.Cost(kPlannedRows);
      if (plan.digits().size() > kMostDigits || cost >= cost_without) continue;
      for (const int k : with) is_sliced[static_cast<size_t>(k)] = true;
      slices.push_back({i, std::move(with), cost});
    }
    return slices;
  }

  // Of a slice of a table whose last attribute is `slice`, every counter is in a cache line of its
  // own: lanes are flushed to them once, but a table of attributes without lanes is not counted so.
  bool CanSlice(const AttributeSet& set, int slice) const {
    if (domain_[slice].size < kLeastSliceValues) return false;
    return slice != set.back() || std::any_of(set.begin(), set.end(), [&](int i) {
             return domain_[i].size < kLeastSliceValues;
           });
  }

  size_t NumAttributes(const std::vector<int>& sets) const {
    AttributeSet all;
    for (const int k : sets) all.insert(all.end(), Set(k).begin(), Set(k).end());
    std::sort(all.begin(), all.end());
    return static_cast<size_t>(std::unique(all.begin(), all.end()) - all.begin());
  }

  // Each set is summed from the smallest table that has it; a table that no set needs is left out.
  void AssignSets(std::vector<CountedTable>* tables) {
    std::vector<size_t> by_cells(tables->size());
    std::iota(by_cells.begin(), by_cells.end(), size_t{0});
    std::stable_sort(by_cells.begin(), by_cells.end(), [&](size_t a, size_t b) {
      return (*tables)[a].num_cells < (*tables)[b].num_cells;
    });
    std::vector<bool> is_assigned(sets_.size(), false);
    for (const size_t t : by_cells) {
      CountedTable& table = (*tables)[t];
      ForEachRequestedSubset(table.attributes, [&](int subset) {
        if (is_assigned[static_cast<size_t>(subset)]) return;
        is_assigned[static_cast<size_t>(subset)] = true;
        table.sets.push_back(subset);
      });
      std::sort(table.sets.begin(), table.sets.end(), [&](int a, int b) {
        return Set(a).size() != Set(b).size() ? Set(a).size() > Set(b).size() : a < b;
      });
    }
    std::erase_if(*tables, [](const CountedTable& table) { return table.sets.empty(); });
  }

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
  // only: as measured, a row costs more once the counters leave the first-level cache, and the
  // second-level cache.
  double Cost(int64_t num_cells, size_t num_attributes) const {
    const double per_row = 0.9 + 0.1 * static_cast<double>(num_attributes) +
                           (num_cells > (8 << 10) ? 0.2 : 0.0) +
                           (num_cells > kMaxWidenedCells ? 1.2 : 0.0);
    return kPlannedRows * per_row +
           static_cast<double>(num_cells) * 0.6 * static_cast<double>(num_attributes);
  }

  // Adds attributes one at a time, the best saving first, for as long as there is one and the
  // search is not too long. An attribute that no other can beat by more than the cost of its cells,
  // because all that it could replace is there to replace, is taken at once.
  void Widen(CountedTable& table) {
    while (static_cast<int>(table.attributes.size()) < kMaxWidenedAttributes) {
      const size_t num_fitting = NumFitting(max_widened_cells_ / table.num_cells);
      if (num_fitting == 0 || num_lookups_ > kMaxLookups) return;
      const std::vector<uint64_t> hashes = WidenedHashes(table.attributes);
      const double cost = Cost(table.num_cells, table.attributes.size());
      const size_t start = table.attributes.empty() ? 0 : place_by_size_[Last(table)] + 1;
      double best_saving = 0;
      int best = -1;
      for (size_t k = 0; k < num_fitting; ++k) {
        const int i = by_size_[start < num_fitting ? (start + k) % num_fitting : k];
        if (std::binary_search(table.attributes.begin(), table.attributes.end(), i)) continue;
        num_lookups_ += std::ssize(hashes);
        if (num_lookups_ > kMaxLookups) return;
        const int64_t wider_cells = table.num_cells * domain_[i].size;
        const double added = Cost(wider_cells, table.attributes.size() + 1) - cost;
        const Replaced replaced = ReplacedBy(hashes, i);
        const double saving = replaced.cost - added;
        if (saving > best_saving ||
            (best >= 0 && saving == best_saving && domain_[i].size < domain_[best].size)) {
          best_saving = saving;
          best = i;
          if (replaced.num_sets == hashes.size()) break;
        }
      }
      if (best < 0) return;
      table.attributes.insert(
          std::upper_bound(table.attributes.begin(), table.attributes.end(), best), best);
      table.num_cells *= domain_[best].size;
    }
  }

  // Attributes of at most so many cells: the first of by_size_.
  size_t NumFitting(int64_t most_cells) const {
    return static_cast<size_t>(std::upper_bound(sizes_.begin(), sizes_.end(), most_cells) -
                               sizes_.begin());
  }

  size_t Last(const CountedTable& table) const {
    return static_cast<size_t>(table.attributes.back());
  }

  // The hashes of those subsets that have one attribute less than some maximal set.
  std::vector<uint64_t> WidenedHashes(const AttributeSet& attributes) const {
    const std::vector<uint64_t> all = SubsetHashes(attributes);
    std::vector<uint64_t> hashes;
    for (size_t mask = 0; mask < all.size(); ++mask) {
      if (maximal_set_sizes_ >> (std::popcount(mask) + 1) & 1) hashes.push_back(all[mask]);
    }
    return hashes;
  }

  // The maximal sets that are not covered yet and are one of these subsets with attribute `added`,
  // and the cost of counting each on its own.
  struct Replaced {
    size_t num_sets = 0;
    double cost = 0;
  };
  Replaced ReplacedBy(const std::vector<uint64_t>& hashes, int added) const {
    Replaced replaced;
    const uint64_t added_hash = MultisetTable::HashOf(added);
    for (const uint64_t hash : hashes) {
      // Hashes alone: a collision could make the plan slower, not wrong.
      const auto found = distinct_.FindHash(hash + added_hash);
      if (!found) continue;
      const int k = Requested(*found);
      if (is_covered_[static_cast<size_t>(k)] || !is_maximal_[static_cast<size_t>(k)]) continue;
      ++replaced.num_sets;
      replaced.cost += Cost(Cells(k), Set(k).size());
    }
    return replaced;
  }

  const Domain& domain_;
  std::span<const AttributeSet> sets_;
  MultisetTable distinct_;       // the requested sets, each once
  std::vector<int> request_of_;  // of each of those, the first that asks for it
  bool may_slice_;
  int64_t max_widened_cells_;
  std::vector<int> order_;  // distinct sets, by decreasing number of attributes, then of cells
  std::vector<int64_t> num_cells_;
  std::vector<bool> is_maximal_;
  std::vector<bool> is_covered_;
  uint64_t maximal_set_sizes_ = 0;  // bit s: there is a maximal set of s attributes
  std::vector<int> by_size_;        // all attributes, small ones first
  std::vector<int64_t> sizes_;      // of by_size_
  std::vector<size_t> place_by_size_;
  int64_t num_lookups_ = 0;
};

}  // namespace

std::vector<CountedTable> PlanCounting(const Domain& domain, std::span<const AttributeSet> sets,
                                       int64_t max_widened_cells) {
  std::map<int, std::vector<int>> sets_of_mean;  // -1: of none
  for (size_t k = 0; k < sets.size(); ++k) {
    sets_of_mean[MeanAttribute(domain, sets[k])].push_back(static_cast<int>(k));
  }
  if (sets_of_mean.empty() || (sets_of_mean.size() == 1 && sets_of_mean.contains(-1))) {
    return Planner(domain, sets, max_widened_cells, true).Plan();
  }
  std::vector<CountedTable> plan;
  for (const auto& [mean, requested] : sets_of_mean) {
    // Without the attribute, which all of these have.
    std::vector<AttributeSet> others;
    for (const int k : requested) {
      others.push_back(sets[static_cast<size_t>(k)]);
      std::erase(others.back(), mean);
    }
    const int64_t size = mean < 0 ? 1 : domain[mean].size;
    const bool may_slice = mean < 0;  // rows of numbers add more than 1
    for (CountedTable& counted :
         Planner(domain, others, max_widened_cells / size, may_slice).Plan()) {
      for (int& k : counted.sets) k = requested[static_cast<size_t>(k)];
      if (mean >= 0) {
        counted.attributes.push_back(mean);
        std::sort(counted.attributes.begin(), counted.attributes.end());
        counted.num_cells = CheckedMultiply(counted.num_cells, size);
      }
      plan.push_back(std::move(counted));
    }
  }
  return plan;
}

int64_t AdditionsPerRow(const Domain& domain, std::span<const CountedTable> plan) {
  int64_t additions = 0;
  for (const CountingUnit& unit : UnitsOf(domain, plan)) {
    additions += unit.slices ? unit.slices->num_additions() : 1;
  }
  return additions;
}

}  // namespace residua
