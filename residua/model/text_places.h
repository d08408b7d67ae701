#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace residua {

// Where each of some texts stands in a list, for a column of millions of them: a hash table with
// open addressing, at most half full, that holds the ends of a text beside its place. They are all
// of a text of up to 16 bytes.
class TextPlaces {
 public:
  static constexpr int32_t kNone = -1;

  // Keeps views of `texts`. Of equal ones the first counts.
  explicit TextPlaces(const std::vector<std::string>& texts);
  explicit TextPlaces(std::vector<std::string>&& texts) = delete;

  int32_t Find(std::string_view text) const { return slots_[SlotOf(KeyOf(text))].place; }
  // How many different ones there are.
  size_t size() const { return size_; }

 private:
  struct Key {
    uint64_t first;  // 8 bytes, of a shorter text all of it and zeros
    uint64_t last;   // 8 bytes, which may be the same
    std::string_view text;
  };
  struct Slot {
    Key key;
    int32_t place = kNone;
  };

  static Key KeyOf(std::string_view text);
  static bool IsSame(const Key& a, const Key& b);
  // Where it is, or would be.
  size_t SlotOf(const Key& key) const;

  std::vector<Slot> slots_;
  int shift_;  // of a hash, to its slot
  size_t size_ = 0;
};

}  // namespace residua
