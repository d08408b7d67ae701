#include "residua/measure/sum_down.h"

#include <algorithm>
#include <numeric>

#include "residua/base/error.h"

namespace residua {
namespace {

template <typename Counter>
struct Table {
  AttributeSet attributes;
  std::vector<Counter> cells;
};

template <typename Counter>
Table<Counter> SumOut(const Domain& domain, const Table<Counter>& table, int attribute) {
  Table<Counter> sum;
  size_t outer = 1;
  size_t inner = 1;
  for (const int i : table.attributes) {
    if (i == attribute) continue;
    sum.attributes.push_back(i);
    (i < attribute ? outer : inner) *= static_cast<size_t>(domain[i].size);
  }
  const auto size = static_cast<size_t>(domain[attribute].size);
  sum.cells.assign(outer * inner, 0);
  const Counter* from = table.cells.data();
  Counter* to = sum.cells.data();
  if (inner == 1) {
    for (size_t o = 0; o < outer; ++o, from += size) {
      to[o] = std::accumulate(from, from + size, Counter{0});
    }
    return sum;
  }
  for (size_t o = 0; o < outer; ++o, to += inner) {
    for (size_t k = 0; k < size; ++k, from += inner) {
      for (size_t c = 0; c < inner; ++c) to[c] += from[c];
    }
  }
  return sum;
}

template <typename Counter>
class Descent {
 public:
  Descent(const Domain& domain, const CountedTable& counted, std::span<const AttributeSet> sets)
      : domain_(domain), counted_(counted), sets_(sets), order_(counted.attributes) {
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return domain[a].size > domain[b].size; });
    results_.resize(counted.sets.size());
  }

  // `wanted` are positions in counted.sets; each of those sets lies within table.attributes and
  // holds those of its attributes that order_ lists before `next`.
  void Descend(const Table<Counter>& table, size_t next, std::vector<size_t> wanted) {
    for (; next < order_.size() && !wanted.empty(); ++next) {
      const auto without = std::partition(wanted.begin(), wanted.end(),
                                          [&](size_t w) { return Contains(w, order_[next]); });
      if (without != wanted.end()) {
        Descend(SumOut(domain_, table, order_[next]), next + 1, {without, wanted.end()});
        wanted.erase(without, wanted.end());
      }
    }
    if (wanted.empty()) return;
    RESIDUA_CHECK(wanted.size() == 1 && Set(wanted.front()) == table.attributes);
    results_[wanted.front()].assign(table.cells.begin(), table.cells.end());
  }

  std::vector<std::vector<int64_t>> TakeResults() { return std::move(results_); }

 private:
  const AttributeSet& Set(size_t w) const { return sets_[static_cast<size_t>(counted_.sets[w])]; }
  bool Contains(size_t w, int attribute) const {
    return std::binary_search(Set(w).begin(), Set(w).end(), attribute);
  }

  const Domain& domain_;
  const CountedTable& counted_;
  std::span<const AttributeSet> sets_;
  AttributeSet order_;
  std::vector<std::vector<int64_t>> results_;
};

}  // namespace

template <typename Counter>
std::vector<std::vector<int64_t>> SumDown(const Domain& domain, const CountedTable& counted,
                                          std::span<const AttributeSet> sets,
                                          std::vector<Counter> counters) {
  Descent<Counter> descent(domain, counted, sets);
  std::vector<size_t> wanted(counted.sets.size());
  std::iota(wanted.begin(), wanted.end(), size_t{0});
  descent.Descend({counted.attributes, std::move(counters)}, 0, std::move(wanted));
  return descent.TakeResults();
}

template std::vector<std::vector<int64_t>> SumDown(const Domain&, const CountedTable&,
                                                   std::span<const AttributeSet>,
                                                   std::vector<uint32_t>);
template std::vector<std::vector<int64_t>> SumDown(const Domain&, const CountedTable&,
                                                   std::span<const AttributeSet>,
                                                   std::vector<uint64_t>);

}  // namespace residua
