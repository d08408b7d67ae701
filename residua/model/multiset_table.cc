#include "residua/model/multiset_table.h"

#include <algorithm>

namespace residua {

// The finaliser of SplitMix64.
uint64_t MultisetTable::HashOf(int item) {
  uint64_t z = (static_cast<uint64_t>(item) + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t MultisetTable::HashOf(std::span<const int> list) {
  uint64_t hash = 0;
  for (const int item : list) hash += HashOf(item);
  return hash;
}

template <typename Predicate>
size_t MultisetTable::Slot(uint64_t hash, const Predicate& is_wanted) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot] >= 0 && !is_wanted((*this)[slots_[slot]])) slot = (slot + 1) & mask;
  return slot;
}

size_t MultisetTable::Slot(std::span<const int> list) const {
  return Slot(HashOf(list),
              [&](std::span<const int> other) { return std::ranges::equal(other, list); });
}

std::optional<int64_t> MultisetTable::IndexIn(size_t slot) const {
  if (slots_[slot] < 0) return std::nullopt;
  return slots_[slot];
}

void MultisetTable::Grow() {
  slots_.assign(std::max<size_t>(16, 2 * slots_.size()), -1);
  for (int64_t index = 0; index < size(); ++index) slots_[Slot((*this)[index])] = index;
}

int64_t MultisetTable::Insert(std::span<const int> list) {
  if (2 * static_cast<size_t>(size() + 1) > slots_.size()) Grow();
  const size_t slot = Slot(list);
  if (slots_[slot] < 0) {
    slots_[slot] = size();
    items_.insert(items_.end(), list.begin(), list.end());
    begin_.push_back(static_cast<int64_t>(items_.size()));
  }
  return slots_[slot];
}

std::optional<int64_t> MultisetTable::Find(std::span<const int> list) const {
  if (slots_.empty()) return std::nullopt;
  return IndexIn(Slot(list));
}

std::optional<int64_t> MultisetTable::FindHash(uint64_t hash) const {
  if (slots_.empty()) return std::nullopt;
  return IndexIn(Slot(hash, [&](std::span<const int> other) { return HashOf(other) == hash; }));
}

}  // namespace residua
