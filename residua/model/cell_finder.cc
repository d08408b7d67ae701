#include "residua/model/cell_finder.h"

namespace residua {

CellFinder::CellFinder(const Attribute& attribute) : last_(NumValueCells(attribute) - 1) {
  const auto& cells = attribute.encoding.cells;
  if (const auto* integers = std::get_if<IntegerEncoding>(&cells)) {
    first_ = integers->first;
    last_ = integers->last;
  } else if (const auto* bins = std::get_if<CutEncoding>(&cells)) {
    cuts_ = &bins->cuts;
  } else if (const auto* list = std::get_if<ValueEncoding>(&cells)) {
    places_.emplace(list->values);
  }
}

FoundCell CellFinder::Find(std::string_view value) const {
  if (places_) {
    const int32_t place = places_->Find(value);
    if (place == TextPlaces::kNone) return {FoundCell::kNoCell, Fault::kNotListed};
    return {place};
  }
  const std::string_view text = TrimmedNumber(value);
  if (is_integral()) {
    if (const auto integer = ParseInteger(text)) return FindInteger(*integer);
  }
  if (const auto number = ParseNumber(text)) return Find(*number);
  return NotNumber();
}

}  // namespace residua
