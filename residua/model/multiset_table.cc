#include "residua/model/multiset_table.h"

#include <algorithm>

namespace residua {
namespace {

uint64_t Hash(std::span<const int> list) {
  uint64_t hash = 0x9e3779b97f4a7c15u + list.size();
  for (const int item : list) {
    hash = (hash ^ static_cast<uint64_t>(item)) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

size_t MultisetTable::Slot(std::span<const int> list) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = Hash(list) & mask;
  while (slots_[slot] >= 0 && !std::ranges::equal((*this)[slots_[slot]], list)) {
    slot = (slot + 1) & mask;
  }
  return slot;
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
  const int64_t index = slots_[Slot(list)];
  if (index < 0) return std::nullopt;
  return index;
}

}  // namespace residua
