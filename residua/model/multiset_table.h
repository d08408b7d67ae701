#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace residua {

// Millions of short sorted integer lists, stored flat and found by value. Each list has the index
// of its insertion; inserting one again gives the same index. Threads may share one that nobody
// inserts into.
class MultisetTable {
 public:
  int64_t size() const { return static_cast<int64_t>(begin_.size()) - 1; }
  std::span<const int> operator[](int64_t index) const {
    const auto i = static_cast<size_t>(index);
    return {items_.data() + begin_[i], static_cast<size_t>(begin_[i + 1] - begin_[i])};
  }

  int64_t Insert(std::span<const int> list);
  std::optional<int64_t> Find(std::span<const int> list) const;

  // The hash of a list is the sum of its items' hashes: that of a list with one more item costs one
  // addition.
  static uint64_t HashOf(int item);
  static uint64_t HashOf(std::span<const int> list);
  // A list of that hash, for callers who can bear that two lists share one.
  std::optional<int64_t> FindHash(uint64_t hash) const;

  bool operator==(const MultisetTable& other) const {
    return begin_ == other.begin_ && items_ == other.items_;
  }

 private:
  // Where the list is that `is_wanted`, of those that may have the hash, or a free slot.
  template <typename Predicate>
  size_t Slot(uint64_t hash, const Predicate& is_wanted) const;
  size_t Slot(std::span<const int> list) const;
  std::optional<int64_t> IndexIn(size_t slot) const;
  void Grow();

  std::vector<int> items_;
  std::vector<int64_t> begin_ = {0};
  std::vector<int64_t> slots_;  // open addressing, -1 is free; at most half full
};

}  // namespace residua
