#include "residua/model/attribute.h"

#include <fmt/format.h>

#include "residua/base/error.h"

namespace residua {
namespace {

struct LabelOf {
  int64_t cell;

  std::string operator()(std::monostate) const { return fmt::format("{}", cell); }
  std::string operator()(const IntegerEncoding& integers) const {
    return fmt::format("{}", integers.first + cell);
  }
  std::string operator()(const CutEncoding& bins) const {
    const auto& cuts = bins.cuts;
    const auto k = static_cast<size_t>(cell);
    if (k == 0) return fmt::format("(-inf, {}]", cuts.front());
    if (k == cuts.size()) return fmt::format("({}, inf)", cuts.back());
    return fmt::format("({}, {}]", cuts[k - 1], cuts[k]);
  }
  std::string operator()(const ValueEncoding& list) const {
    return list.values[static_cast<size_t>(cell)];
  }
};

}  // namespace

std::string CellLabel(const Attribute& attribute, int64_t cell) {
  RESIDUA_CHECK(cell >= 0 && cell < attribute.size);
  if (attribute.encoding.null_cell && cell == attribute.size - 1) return "null";
  return std::visit(LabelOf{cell}, attribute.encoding.cells);
}

}  // namespace residua
