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

FoundCell CellFinder::FindNumberIn(std::string_view text) const {
  const std::string_view number_text = TrimmedNumber(text);
  if (is_integral()) {
    if (const auto integer = ParseInteger(number_text)) return FindInteger(*integer);
  }
  if (const auto number = ParseNumber(number_text)) return Find(*number);
  return NotNumber();
}

}  // namespace residua
