#include "residua/model/attribute.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/base/toml_text.h"

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
    const auto k = static_cast<size_t>(cell);
    return k < list.values.size() ? list.values[k] : std::string(kOtherLabel);
  }
  std::string operator()(const DateEncoding& dates) const {
    return PeriodLabel(PeriodOf(dates.first_day, dates.every) + cell, dates.every);
  }
  std::string operator()(const PartEncoding& part) const {
    return std::string(PartLabel(part.part, cell));
  }
  std::string operator()(const MeanEncoding& mean) const {
    return DecimalText(cell == 0 ? mean.low : mean.high, mean.decimals);
  }
};

// Where a cell ends: of (10000, 25000] this is 25000.
std::string UpperEnd(const Attribute& attribute, int64_t cell) {
  if (const auto* bins = std::get_if<CutEncoding>(&attribute.encoding.cells)) {
    const auto k = static_cast<size_t>(cell);
    if (k < bins->cuts.size()) return fmt::format("{}", bins->cuts[k]);
    if (k == bins->cuts.size()) return "inf";
  }
  return CellLabel(attribute, cell);
}

std::string PrefixLabel(const Attribute& attribute, int64_t cell) {
  if (attribute.encoding.null_cell && cell == attribute.size - 1) return "all";
  return "<=" + UpperEnd(attribute, cell);
}

std::string RangeLabel(const Attribute& attribute, const CellRange& range) {
  if (range.first == range.last) return CellLabel(attribute, range.first);
  if (const auto* bins = std::get_if<CutEncoding>(&attribute.encoding.cells)) {
    const auto last = static_cast<size_t>(range.last);
    const std::string lower =
        range.first == 0 ? "-inf"
                         : fmt::format("{}", bins->cuts[static_cast<size_t>(range.first) - 1]);
    if (last < bins->cuts.size()) return fmt::format("({}, {}]", lower, bins->cuts[last]);
    if (last == bins->cuts.size()) return fmt::format("({}, inf)", lower);
  }
  return fmt::format("{}..{}", CellLabel(attribute, range.first), CellLabel(attribute, range.last));
}

}  // namespace

const MeanEncoding* MeanOf(const Attribute& attribute) {
  return std::get_if<MeanEncoding>(&attribute.encoding.cells);
}

bool SameQueries(const Attribute& a, const Attribute& b) {
  if ((MeanOf(a) == nullptr) != (MeanOf(b) == nullptr)) return false;
  if (a.size != b.size || a.queries != b.queries || a.custom != b.custom ||
      a.strategy != b.strategy || a.level_weights != b.level_weights ||
      a.groups.size() != b.groups.size()) {
    return false;
  }
  for (size_t k = 0; k < a.groups.size(); ++k) {
    if (a.groups[k].cells != b.groups[k].cells) return false;
  }
  return true;
}

std::string SpecKey(const Attribute& attribute) { return "attributes." + TomlKey(attribute.name); }

const std::string& ColumnOf(const Attribute& attribute) {
  return attribute.column.empty() ? attribute.name : attribute.column;
}

int64_t NumValueCells(const Attribute& attribute) {
  return attribute.size - (attribute.encoding.null_cell ? 1 : 0);
}

int64_t NumCodes(const Attribute& attribute) {
  const MeanEncoding* mean = MeanOf(attribute);
  if (mean == nullptr) return attribute.size;
  return mean->num_steps() + 1 + (attribute.encoding.null_cell ? 1 : 0);
}

int64_t NumAnswers(const Attribute& attribute) {
  switch (attribute.queries) {
    case QueryKind::kIdentity:
    case QueryKind::kPrefix:
      return attribute.size;
    case QueryKind::kRange:
      return CheckedMultiply(attribute.size, attribute.size + 1) / 2;
    case QueryKind::kHierarchy:
      return attribute.size + static_cast<int64_t>(attribute.groups.size());
    case QueryKind::kCustom:
      return attribute.custom.num_rows;
  }
  RESIDUA_CHECK(false);
}

int64_t AnswerOfRange(int64_t size, const CellRange& range) {
  RESIDUA_CHECK(0 <= range.first && range.first <= range.last && range.last < size);
  // Cell j starts the ranges j..j to j..size-1; those that start before it number
  // size + (size - 1) + ... + (size - j + 1).
  return range.first * size - range.first * (range.first - 1) / 2 + range.last - range.first;
}

CellRange RangeOfAnswer(int64_t size, int64_t answer) {
  RESIDUA_CHECK(answer >= 0 && answer < size * (size + 1) / 2);
  const auto b = static_cast<double>(2 * size + 1);
  auto first = static_cast<int64_t>((b - std::sqrt(b * b - 8.0 * static_cast<double>(answer))) / 2);
  while (first > 0 && AnswerOfRange(size, {first, first}) > answer) --first;
  while (first + 1 < size && AnswerOfRange(size, {first + 1, first + 1}) <= answer) ++first;
  return {first, first + answer - AnswerOfRange(size, {first, first})};
}

std::string CellLabel(const Attribute& attribute, int64_t cell) {
  RESIDUA_CHECK(cell >= 0 && cell < attribute.size);
  if (attribute.encoding.null_cell && cell == attribute.size - 1) return "null";
  return std::visit(LabelOf{cell}, attribute.encoding.cells);
}

std::string AnswerLabel(const Attribute& attribute, int64_t answer) {
  RESIDUA_CHECK(answer >= 0 && answer < NumAnswers(attribute));
  switch (attribute.queries) {
    case QueryKind::kIdentity:
      return CellLabel(attribute, answer);
    case QueryKind::kPrefix:
      return PrefixLabel(attribute, answer);
    case QueryKind::kRange:
      return RangeLabel(attribute, RangeOfAnswer(attribute.size, answer));
    case QueryKind::kHierarchy:
      if (answer < attribute.size) return CellLabel(attribute, answer);
      return attribute.groups[static_cast<size_t>(answer - attribute.size)].name;
    case QueryKind::kCustom:
      return fmt::format("query {}", answer);
  }
  RESIDUA_CHECK(false);
}

std::vector<int64_t> AnswerLevels(const Attribute& attribute) {
  if (attribute.queries != QueryKind::kHierarchy) return {};
  std::vector<int64_t> levels(static_cast<size_t>(attribute.size));
  // The level of the highest group so far that has the cell.
  std::vector<int64_t> highest(static_cast<size_t>(attribute.size));
  for (const CellGroup& group : attribute.groups) {
    int64_t level = 0;
    for (const int64_t cell : group.cells) {
      level = std::max(level, highest[static_cast<size_t>(cell)]);
    }
    levels.push_back(level + 1);
    for (const int64_t cell : group.cells) highest[static_cast<size_t>(cell)] = level + 1;
  }
  return levels;
}

}  // namespace residua
