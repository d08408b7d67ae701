#include "residua/release/attribute_words.h"

#include <fmt/core.h>

#include <vector>

#include "residua/base/counted.h"
#include "residua/base/error.h"

namespace residua {
namespace {

// Readers get an idea of a long list from its first entries and the last one.
constexpr int64_t kMaxLabels = 8;

template <typename Label>
std::string FirstFew(int64_t size, const Label& label) {
  std::string text;
  for (int64_t k = 0; k < size; ++k) {
    if (size > kMaxLabels && k == kMaxLabels - 2) {
      text += ", ...";
      k = size - 1;
    }
    text += fmt::format("{}{}", text.empty() ? "" : ", ", MarkdownCode(label(k)));
  }
  return text;
}

// What the brackets mean.
std::string FirstRangeInWords(const Attribute& attribute) {
  const std::vector<double>& cuts = std::get<CutEncoding>(attribute.encoding.cells).cuts;
  if (cuts.size() < 2) return "";
  return fmt::format(" ({} is above {} and up to {})", MarkdownCode(CellLabel(attribute, 1)),
                     cuts[0], cuts[1]);
}

std::string CellsInWords(const Attribute& attribute) {
  const Encoding& encoding = attribute.encoding;
  const int64_t num_values = NumValueCells(attribute);
  const auto label = [&](int64_t cell) { return CellLabel(attribute, cell); };
  std::string text;
  if (const MeanEncoding* mean = MeanOf(attribute)) {
    const auto number = [&](int64_t value) { return DecimalText(value, mean->decimals); };
    text = fmt::format("{} from {} to {}", mean->is_integers ? "whole numbers" : "numbers",
                       number(mean->low), number(mean->high));
    if (!mean->is_integers) text += fmt::format(", in steps of {}", number(mean->step));
  } else if (const auto* integers = std::get_if<IntegerEncoding>(&encoding.cells)) {
    text = fmt::format("whole numbers from {} to {}", integers->first, integers->last);
  } else if (std::holds_alternative<CutEncoding>(encoding.cells)) {
    text = fmt::format("numbers, in {}: {}{}", Counted(num_values, "range"),
                       FirstFew(num_values, label), FirstRangeInWords(attribute));
  } else if (std::holds_alternative<ValueEncoding>(encoding.cells)) {
    text = fmt::format("{}: {}", Counted(num_values, "value"), FirstFew(num_values, label));
  } else if (const auto* dates = std::get_if<DateEncoding>(&encoding.cells)) {
    text = fmt::format("dates from {} to {}, by {}: {}", DayText(dates->first_day),
                       DayText(dates->last_day), TextOf(kDateSteps, dates->every),
                       FirstFew(num_values, label));
  } else if (const auto* part = std::get_if<PartEncoding>(&encoding.cells)) {
    text = fmt::format("the {} of a date or time: {}", TextOf(kDateParts, part->part),
                       FirstFew(num_values, label));
  } else {
    text = Counted(num_values, "cell");
  }
  if (encoding.null_cell) text += fmt::format("; and {} for missing values", MarkdownCode("null"));
  return text + ".";
}

std::string QueriesInWords(const Attribute& attribute) {
  if (MeanOf(attribute) != nullptr) {
    return "Measured: how many rows have one, their sum and their mean, not each of them.";
  }
  switch (attribute.queries) {
    case QueryKind::kIdentity:
      return "Counted: each of them.";
    case QueryKind::kPrefix:
      return fmt::format("Counted: running totals, such as {}, from the first up to each of them.",
                         MarkdownCode(AnswerLabel(attribute, (attribute.size - 1) / 2)));
    case QueryKind::kRange:
      return fmt::format("Counted: every range of them, such as {}.",
                         MarkdownCode(AnswerLabel(attribute, NumAnswers(attribute) / 2)));
    case QueryKind::kHierarchy:
      return fmt::format(
          "Counted: each of them, and {}: {}.", Counted(std::ssize(attribute.groups), "group"),
          FirstFew(std::ssize(attribute.groups),
                   [&](int64_t k) { return attribute.groups[static_cast<size_t>(k)].name; }));
    case QueryKind::kCustom:
      return fmt::format("Counted: {} of them that the publisher chose.",
                         Counted(attribute.custom.num_rows, "combination"));
  }
  RESIDUA_CHECK(false);
}

// What has no cell, other than missing values.
std::vector<std::string> OthersOf(const Encoding& encoding) {
  const auto* mean = std::get_if<MeanEncoding>(&encoding.cells);
  if (mean != nullptr && !mean->is_integers) {
    return {"numbers outside", "values that are not numbers"};
  }
  if (mean != nullptr || std::holds_alternative<IntegerEncoding>(encoding.cells)) {
    return {"numbers outside", "fractions", "values that are not numbers"};
  }
  if (std::holds_alternative<CutEncoding>(encoding.cells)) return {"values that are not numbers"};
  if (std::holds_alternative<DateEncoding>(encoding.cells)) {
    return {"dates outside", "values that are not dates"};
  }
  if (std::holds_alternative<PartEncoding>(encoding.cells)) return {"values that are not dates"};
  return {"other values"};
}

// "a, b or c".
std::string Listed(const std::vector<std::string>& items, std::string_view last) {
  std::string text = items.front();
  for (size_t k = 1; k < items.size(); ++k) {
    text += k + 1 == items.size() ? fmt::format(" {} {}", last, items[k]) : ", " + items[k];
  }
  return text;
}

// What stops a release is not in the data of one that was made.
std::string NoneOf(const std::vector<std::string>& values) {
  return fmt::format("There are no {}: a release stops at these.", Listed(values, "or"));
}

std::string FatesInWords(const Encoding& encoding) {
  const std::vector<std::string> others = OthersOf(encoding);
  std::vector<std::string> all = {"missing values"};
  all.insert(all.end(), others.begin(), others.end());
  constexpr std::string_view kMissingAsNull = "Missing values were counted as `null`.";
  switch (encoding.outside) {
    case OutsidePolicy::kError:
      if (encoding.null_cell) return fmt::format("{} {}", kMissingAsNull, NoneOf(others));
      return NoneOf(all);
    case OutsidePolicy::kClamp: {
      const bool are_dates = std::holds_alternative<DateEncoding>(encoding.cells);
      const auto* mean = std::get_if<MeanEncoding>(&encoding.cells);
      const bool are_rounded = mean != nullptr && !mean->is_integers;
      const std::string bad =
          are_dates ? "values that are not dates" : "values that are not numbers";
      return fmt::format(
          "{} {}",
          are_dates     ? "Dates outside were counted at the nearest end."
          : are_rounded ? "Numbers outside were counted at the nearest end."
                        : "Numbers outside were counted at the nearest end, and fractions at the "
                          "whole number below.",
          encoding.null_cell ? fmt::format("Missing values and {} were counted as `null`.", bad)
                             : NoneOf({"missing values", bad}));
    }
    case OutsidePolicy::kDrop:
      if (encoding.null_cell) {
        return fmt::format("{} Rows with {} were left out of all tables.", kMissingAsNull,
                           Listed(others, "or"));
      }
      return fmt::format("Rows with {} were left out of all tables.", Listed(all, "or"));
    case OutsidePolicy::kNull:
      return fmt::format("{} So were {}.", kMissingAsNull, Listed(others, "and"));
    case OutsidePolicy::kOther:
      return fmt::format(
          "Other values were counted as `{}`. {}", kOtherLabel,
          encoding.null_cell ? std::string(kMissingAsNull) : NoneOf({"missing values"}));
  }
  RESIDUA_CHECK(false);
}

}  // namespace

std::string MarkdownCode(std::string_view text) {
  std::string code = "`";
  for (const char c : text) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20;
    code += is_control ? ' ' : c == '`' ? '\'' : c;
  }
  return code + "`";
}

std::string DescribeAttribute(const Attribute& attribute) {
  return fmt::format("{}: {}", MarkdownCode(attribute.name), DescribeValues(attribute));
}

std::string DescribeValues(const Attribute& attribute) {
  return fmt::format("{} {} {}", CellsInWords(attribute), QueriesInWords(attribute),
                     FatesInWords(attribute.encoding));
}

}  // namespace residua
