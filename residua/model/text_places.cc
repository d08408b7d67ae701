#include "residua/model/text_places.h"

#include <bit>
#include <cstring>

namespace residua {

TextPlaces::TextPlaces(const std::vector<std::string>& texts)
    : slots_(std::bit_ceil(2 * texts.size() + 2)), shift_(64 - std::countr_zero(slots_.size())) {
  for (size_t k = 0; k < texts.size(); ++k) {
    const Key key = KeyOf(texts[k]);
    Slot& slot = slots_[SlotOf(key)];
    if (slot.place != kNone) continue;
    slot = {key, static_cast<int32_t>(k)};
    ++size_;
  }
}

TextPlaces::Key TextPlaces::KeyOf(std::string_view text) {
  Key key = {0, 0, text};
  if (text.size() >= sizeof(key.first)) {
    std::memcpy(&key.first, text.data(), sizeof(key.first));
    std::memcpy(&key.last, text.data() + text.size() - sizeof(key.last), sizeof(key.last));
  } else if (!text.empty()) {
    std::memcpy(&key.first, text.data(), text.size());
  }
  return key;
}

bool TextPlaces::IsSame(const Key& a, const Key& b) {
  if (a.first != b.first || a.last != b.last || a.text.size() != b.text.size()) return false;
  return a.text.size() <= 2 * sizeof(a.first) || a.text == b.text;
}

size_t TextPlaces::SlotOf(const Key& key) const {
  // Odd constants with random bits; the last multiplication brings all of them to the top.
  uint64_t hash = key.first * 0x9e3779b97f4a7c15 + key.text.size();
  hash = (hash ^ hash >> 32 ^ key.last) * 0xd6e8feb86659fd93;
  hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15;
  size_t slot = hash >> shift_;
  while (slots_[slot].place != kNone && !IsSame(slots_[slot].key, key)) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

}  // namespace residua
