#include "residua/data/row_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "residua/base/error.h"
#include "residua/base/shown_text.h"
#include "residua/data/outcome_column.h"

namespace residua {
namespace {

// `key` is where the spec asks for the column.
size_t FindColumn(const std::string& file, const Relation& relation, const std::string& wanted,
                  const std::string& key) {
  std::vector<size_t> matches;
  std::string similar;
  const auto same_but_for_case = [](const std::string& a, const std::string& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
      return std::tolower(x) == std::tolower(y);
    });
  };
  for (size_t k = 0; k < relation.columns.size(); ++k) {
    const std::string& name = relation.columns[k].name;
    if (name == wanted) matches.push_back(k);
    if (same_but_for_case(name, wanted)) similar = name;
  }
  if (matches.size() == 1) return matches.front();
  if (matches.size() > 1) {
    Fail(ErrorKind::kBadInput, "{}: column '{}' is there {} times; rename all but one", file,
         ShownText(wanted), matches.size());
  }
  if (!similar.empty()) {
    Fail(ErrorKind::kBadInput, "{}: no column '{}', but a column '{}'; spell {} like the column",
         file, ShownText(wanted), ShownText(similar), key);
  }
  constexpr size_t kMaxListed = 8;
  std::vector<std::string> names;
  for (size_t k = 0; k < std::min(relation.columns.size(), kMaxListed); ++k) {
    names.push_back(ShownText(relation.columns[k].name));
  }
  if (relation.columns.size() > kMaxListed) names.emplace_back("...");
  if (names.empty()) names.emplace_back("none");
  Fail(ErrorKind::kBadInput, "{}: no column '{}'; it has {}: rename or remove {}", file,
       ShownText(wanted), fmt::join(names, ", "), key);
}

// Cuts and the numbers of a mean, not integers.
bool IsForNumbers(const Encoding& encoding) {
  const auto* mean = std::get_if<MeanEncoding>(&encoding.cells);
  return std::holds_alternative<CutEncoding>(encoding.cells) ||
         (mean != nullptr && !mean->is_integers);
}

// What a column must hold, in words.
std::string_view WantedIn(const Encoding& encoding) {
  if (std::holds_alternative<ValueEncoding>(encoding.cells)) return "values";
  if (IsForNumbers(encoding)) return "a number";
  const auto* part = std::get_if<PartEncoding>(&encoding.cells);
  if (part != nullptr && part->part == DatePart::kHour) return "a date with a time";
  const bool is_date = part != nullptr || std::holds_alternative<DateEncoding>(encoding.cells);
  return is_date ? "a date" : "an integer";
}

// Whether values of the type, or some of them, can be read by the encoding.
bool CanRead(const Encoding& encoding, ColumnType type) {
  if (type == ColumnType::kNested) return false;
  if (type == ColumnType::kText || std::holds_alternative<ValueEncoding>(encoding.cells)) {
    return true;
  }
  if (const auto* part = std::get_if<PartEncoding>(&encoding.cells)) {
    return type == ColumnType::kTimestamp ||
           (type == ColumnType::kDate && part->part != DatePart::kHour);
  }
  const bool is_date = type == ColumnType::kDate || type == ColumnType::kTimestamp;
  if (std::holds_alternative<DateEncoding>(encoding.cells)) return is_date;
  return !is_date && type != ColumnType::kOther;
}

bool IsNumber(ColumnType type) {
  return type == ColumnType::kInteger || type == ColumnType::kWideNumber ||
         type == ColumnType::kFloat;
}

// The kind to read a column of this SQL type as.
ValueKind KindOf(const std::string& file, const Attribute& attribute, const std::string& sql_type) {
  const ColumnType type = ColumnTypeOf(sql_type);
  const auto& cells = attribute.encoding.cells;
  if (!CanRead(attribute.encoding, type)) {
    Fail(ErrorKind::kBadInput, "{}: column '{}' is of type {}, which cannot be read as {}; {}",
         file, ShownText(ColumnOf(attribute)), ShownText(sql_type), WantedIn(attribute.encoding),
         type == ColumnType::kNested
             ? "take one value of it in a query"
             : fmt::format("give {} values, or convert it in a query", SpecKey(attribute)));
  }
  if (std::holds_alternative<ValueEncoding>(cells)) {
    return IsNumber(type) ? ValueKind::kNumberText : ValueKind::kText;
  }
  if (std::holds_alternative<DateEncoding>(cells) || std::holds_alternative<PartEncoding>(cells)) {
    return ValueKind::kText;
  }
  if (type == ColumnType::kFloat) return ValueKind::kNumber;
  if (IsForNumbers(attribute.encoding)) {
    // A number of arbitrary length may not fit into a double.
    if (sql_type == "BIGNUM") return ValueKind::kNumberText;
    return type == ColumnType::kText ? ValueKind::kText : ValueKind::kNumber;
  }
  if (type == ColumnType::kWideNumber) return ValueKind::kNumberText;
  return type == ColumnType::kText ? ValueKind::kText : ValueKind::kInteger;
}

// Where the spec names the attribute's column.
std::string ColumnKey(const Attribute& attribute) {
  return SpecKey(attribute) + (attribute.column.empty() ? "" : ".column");
}

}  // namespace

RowLayout LayoutOf(const std::string& file, const Relation& relation, const Domain& domain,
                   const Protection& protection) {
  RowLayout layout{file, {}, {}, {}};
  for (const Attribute& attribute : domain.attributes()) {
    const size_t k = FindColumn(file, relation, ColumnOf(attribute), ColumnKey(attribute));
    const ValueKind kind = KindOf(file, attribute, relation.columns[k].type);
    layout.kinds.push_back(kind);
    layout.selected.push_back(
        fmt::format("CAST({} AS {})", relation.expressions[k], SqlType(kind)));
    layout.stored.push_back(IsReadAsStored(relation.columns[k].type, kind)
                                ? relation.expressions[k]
                                : layout.selected.back());
  }
  if (!protection.identifier.empty()) {
    const size_t k = FindColumn(file, relation, protection.identifier, "privacy.identifier");
    layout.is_number_identifier = IsNumber(ColumnTypeOf(relation.columns[k].type));
    layout.selected.push_back(fmt::format("CAST({} AS VARCHAR)", relation.expressions[k]));
  }
  return layout;
}

std::vector<size_t> FindColumns(const std::string& file, const std::vector<std::string>& names,
                                const Domain& domain, const Protection& protection) {
  Relation relation;
  for (const std::string& name : names) relation.columns.push_back({name, ""});
  std::vector<size_t> columns;
  const auto add = [&](const std::string& name, const std::string& key) {
    const size_t column = FindColumn(file, relation, name, key);
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
      columns.push_back(column);
    }
  };
  for (const Attribute& attribute : domain.attributes()) {
    add(ColumnOf(attribute), ColumnKey(attribute));
  }
  if (!protection.identifier.empty()) add(protection.identifier, "privacy.identifier");
  return columns;
}

}  // namespace residua
