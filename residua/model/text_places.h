#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace residua {

// Finds the position of a text in a list, for columns of millions of texts: a hash table with open
// addressing, at most half full. Beside the position it holds the first and the last 8 bytes of the
// text, which are all of a text of up to 16 bytes.
class TextPlaces {
 public:
  static constexpr int32_t kNone = -1;

  // Keeps views of `texts`. Of equal texts, the first counts.
  explicit TextPlaces(const std::vector<std::string>& texts);
  explicit TextPlaces(std::vector<std::string>&& texts) = delete;

  int32_t Find(std::string_view text) const { return slots_[SlotOf(KeyOf(text))].place; }
  // The number of different texts.
  size_t size() const { return size_; }

 private:
  struct Key {
    uint64_t first;  // 8 bytes; a shorter text is filled up with zeros
    uint64_t last;   // 8 bytes, which may overlap the first
    std::string_view text;
  };
  struct Slot {
    Key key;
    int32_t place = kNone;
  };

  static Key KeyOf(std::string_view text);
  static bool IsSame(const Key& a, const Key& b);
  // The slot that holds the key, or the free slot for it.
  size_t SlotOf(const Key& key) const;

  std::vector<Slot> slots_;
  int shift_;  // from a hash to its slot
  size_t size_ = 0;
};

}  // namespace residua
