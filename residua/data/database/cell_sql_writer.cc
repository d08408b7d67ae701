#include "residua/data/database/cell_sql_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/data/database/sql_literal.h"

namespace residua {
namespace {

// The number that prints as this one; nothing if none does.
template <typename Number>
std::optional<double> PrintedAs(const std::string& canonical) {
  const auto parsed = ParseNumber(canonical);
  if (!parsed) return std::nullopt;
  const auto number = static_cast<Number>(*parsed);
  if (CanonicalDecimal(fmt::format("{}", number)) != canonical) return std::nullopt;
  return static_cast<double>(number);
}

// Beyond this a double does not tell neighbouring whole numbers apart.
constexpr int64_t kMaxExactWhole = (int64_t{1} << 53) - 1;

}  // namespace

std::optional<int64_t> WholeOf(const std::string& canonical) {
  if (canonical == "0") return 0;
  const size_t e = canonical.find('e');
  const auto exponent = ParseInteger(std::string_view(canonical).substr(e + 1));
  if (!exponent || *exponent < 0 || *exponent > 18) return std::nullopt;
  return ParseInteger(canonical.substr(0, e) + std::string(static_cast<size_t>(*exponent), '0'));
}

CellSqlWriter::CellSqlWriter(const Attribute& attribute, const NullValues& null_values,
                             std::string column)
    : attribute_(attribute),
      nulls_(null_values),
      column_(std::move(column)),
      finder_(attribute_),
      cuts_(std::get_if<CutEncoding>(&attribute.encoding.cells)),
      list_(std::get_if<ValueEncoding>(&attribute.encoding.cells)),
      dates_(std::get_if<DateEncoding>(&attribute.encoding.cells)),
      part_(std::get_if<PartEncoding>(&attribute.encoding.cells)) {
  for (int64_t cell = 0; cell < NumValueCells(attribute_); ++cell) {
    outcomes_.emplace_back(FoundCell{cell});
  }
}

CellSql CellSqlWriter::Write() && {
  if (list_ != nullptr) ReadList();
  std::string sql =
      fmt::format("CASE WHEN {} IS NULL THEN {} ELSE {} END", column_, Missing(), PresentValue());
  return {std::move(sql), std::move(outcomes_)};
}

void CellSqlWriter::Refuse(std::string_view problem) {
  Fail(ErrorKind::kBadInput,
       "the database cannot find the cells of {}; convert the column in the query, or let the rows "
       "be read",
       problem);
}

void CellSqlWriter::ReadList() {
  std::set<std::string> different;
  for (size_t k = 0; k < list_->values.size(); ++k) {
    const std::string& value = list_->values[k];
    const auto number = CanonicalDecimal(value);
    if (!number) continue;
    if (!different.insert(*number).second) Refuse("a number that is listed twice");
    CheckListed(value, *number);
    numbers_.push_back({*number, Listed(k)});
  }
}

std::string CellSqlWriter::Code(const std::optional<FoundCell>& outcome) {
  size_t k = outcome && outcome->is_found() ? static_cast<size_t>(outcome->cell)
                                            : static_cast<size_t>(NumValueCells(attribute_));
  const auto is_same = [&](const std::optional<FoundCell>& other) {
    return outcome.has_value() == other.has_value() &&
           (!outcome || (outcome->cell == other->cell && outcome->fault == other->fault));
  };
  while (k < outcomes_.size() && !is_same(outcomes_[k])) ++k;
  if (k == outcomes_.size()) outcomes_.push_back(outcome);
  return fmt::format("{}", k);
}

std::string CellSqlWriter::Unreadable() {
  if (list_ != nullptr) return NoCell(Fault::kNotListed);
  if (cuts_ != nullptr) return NoCell(Fault::kNotNumber);
  return NoCell(is_integral() ? Fault::kNotInteger : Fault::kNotDate);
}

std::string CellSqlWriter::Chain(const std::string& value, const Literals& literals,
                                 const std::string& otherwise) {
  if (literals.empty()) return otherwise;
  std::string sql = "CASE " + value;
  for (const Literal& literal : literals) {
    sql += fmt::format(" WHEN {} THEN {}", literal.text, literal.code);
  }
  return fmt::format("{} ELSE {} END", sql, otherwise);
}

std::string CellSqlWriter::TextChain(const std::string& value, CodedTexts texts,
                                     const std::string& otherwise) const {
  // A text in PostgreSQL has no such character, and SQLite's are taken care of.
  std::erase_if(texts, [](const auto& text) { return text.first.find('\0') != text.first.npos; });
  const bool is_plain = std::ranges::all_of(texts, [](const auto& text) {
    return std::ranges::all_of(text.first, [](char c) { return c >= ' ' && c <= '~'; });
  });
  if (is_plain) {
    // Of equal texts the first counts.
    std::ranges::stable_sort(texts, {}, &CodedTexts::value_type::first);
    const auto is_same = [](const auto& a, const auto& b) { return a.first == b.first; };
    texts.erase(std::unique(texts.begin(), texts.end(), is_same), texts.end());
  }
  const auto search = [&](const auto& self, size_t first, size_t last) -> std::string {
    constexpr size_t kMaxChain = 8;
    if (is_plain && last - first > kMaxChain) {
      const size_t middle = (first + last) / 2;
      return fmt::format("CASE WHEN {} < {} THEN {} ELSE {} END", value, Text(texts[middle].first),
                         self(self, first, middle), self(self, middle, last));
    }
    Literals literals;
    for (size_t k = first; k < last; ++k)
      literals.push_back({Text(texts[k].first), texts[k].second});
    return Chain(value, literals, otherwise);
  };
  return search(search, 0, texts.size());
}

std::string CellSqlWriter::WholeCells(const std::string& value) {
  return fmt::format("CASE WHEN {0} < {1} THEN {2} WHEN {0} > {3} THEN {4} ELSE {0} - {1} END",
                     value, SqlInteger(finder_.first()), Code(FoundCell{0, Fault::kBelow}),
                     SqlInteger(finder_.last()),
                     Code(FoundCell{finder_.last() - finder_.first(), Fault::kAbove}));
}

std::string CellSqlWriter::FlooredCells(const std::string& value, const std::string& floor) {
  if (finder_.first() < -kMaxExactWhole || finder_.last() > kMaxExactWhole) {
    return BeyondDoubles();
  }
  const int64_t last = finder_.last() - finder_.first();
  const int64_t fractions = std::ssize(outcomes_);
  for (int64_t cell = 0; cell <= last; ++cell) {
    outcomes_.emplace_back(FoundCell{cell, Fault::kNotInteger});
  }
  const std::string is_whole = IsWhole(value, floor);
  return fmt::format(
      "CASE WHEN {0} < {1} THEN CASE WHEN {2} THEN {3} ELSE {4} END WHEN {0} > {5} THEN CASE "
      "WHEN {2} THEN {6} ELSE {7} END WHEN {2} THEN {8} - {1} ELSE {8} - {1} + {4} END",
      value, SqlInteger(finder_.first()), is_whole, Code(FoundCell{0, Fault::kBelow}), fractions,
      SqlInteger(finder_.last()), Code(FoundCell{last, Fault::kAbove}), fractions + last, floor);
}

std::string CellSqlWriter::CutCells(const std::string& value) const {
  const auto search = [&](const auto& self, size_t first, size_t last) -> std::string {
    if (first == last) return fmt::format("{}", first);
    const size_t middle = (first + last) / 2;
    return fmt::format("CASE WHEN {} <= {} THEN {} ELSE {} END", value, Double(cuts_->cuts[middle]),
                       self(self, first, middle), self(self, middle + 1, last));
  };
  return search(search, 0, cuts_->cuts.size());
}

std::string CellSqlWriter::IntegerColumn(const std::string& value) {
  if (dates_ != nullptr || part_ != nullptr) return Unclear();
  Literals nulls;
  if (cuts_ != nullptr) {
    const std::string number = AsDouble(value);
    for (const double null : nulls_.numbers()) {
      if (!std::isnan(null)) nulls.push_back({Double(null), Missing()});
    }
    return Chain(number, nulls, CutCells(number));
  }
  if (list_ == nullptr) {
    for (const int64_t null : nulls_.integers()) nulls.push_back({SqlInteger(null), Missing()});
    return Chain(value, nulls, WholeCells(value));
  }
  Literals literals;
  const auto add = [&](const std::string& number, const std::string& code) {
    if (const auto whole = WholeOf(number)) literals.push_back({SqlInteger(*whole), code});
  };
  for (const std::string& null : nulls_.decimals()) add(null, Missing());
  for (const Literal& number : numbers_) add(number.text, number.code);
  return Chain(value, literals, NoCell(Fault::kNotListed));
}

template <typename Number>
std::string CellSqlWriter::DoubleColumn(const std::string& value, const std::string& floor) {
  if (dates_ != nullptr || part_ != nullptr) return Unclear();
  Literals literals;
  if (list_ == nullptr) {
    for (const double null : nulls_.numbers()) {
      if (!std::isnan(null)) literals.push_back({Double(null), Missing()});
    }
    return Chain(value, literals, cuts_ != nullptr ? CutCells(value) : FlooredCells(value, floor));
  }
  const auto add = [&](const std::string& number, const std::string& code) {
    if (const auto found = PrintedAs<Number>(number)) literals.push_back({Double(*found), code});
  };
  const auto add_infinity = [&](const std::string& text, const std::string& code) {
    if (text == "inf") literals.push_back({Double(INFINITY), code});
    if (text == "-inf") literals.push_back({Double(-INFINITY), code});
  };
  for (const std::string& null : nulls_.decimals()) add(null, Missing());
  for (const std::string& null : nulls_.texts()) add_infinity(null, Missing());
  for (const Literal& number : numbers_) add(number.text, number.code);
  for (size_t k = 0; k < list_->values.size(); ++k) {
    add_infinity(list_->values[k], Listed(k));
  }
  return Chain(value, literals, NoCell(Fault::kNotListed));
}

std::string CellSqlWriter::ListedText(const std::string& text) {
  CodedTexts texts;
  for (const std::string& null : nulls_.texts()) texts.emplace_back(null, Missing());
  bool lists_truth_only = true;
  for (size_t k = 0; k < list_->values.size(); ++k) {
    const std::string& value = list_->values[k];
    texts.emplace_back(value, Listed(k));
    lists_truth_only = lists_truth_only && (value == "true" || value == "false");
  }
  if (lists_truth_only) {
    for (const char* truth : {"True", "TRUE", "False", "FALSE"}) {
      const char* written = truth[0] == 'T' ? "true" : "false";
      if (!nulls_.Contains(std::string_view(truth))) {
        texts.emplace_back(truth, Code(finder_.Find(std::string_view(written))));
      }
    }
  }
  if (attribute_.encoding.outside == OutsidePolicy::kOther &&
      !nulls_.Contains(std::string_view(kOtherLabel))) {
    texts.emplace_back(kOtherLabel, Code(finder_.Find(std::string_view(kOtherLabel))));
  }
  std::string otherwise = NoCell(Fault::kNotListed);
  // A text with a decimal point may be a number that is listed.
  if (!numbers_.empty() || !nulls_.decimals().empty()) {
    otherwise =
        fmt::format("CASE WHEN {} THEN {} ELSE {} END", MayBeNumber(text), Unclear(), otherwise);
  }
  return TextChain(text, std::move(texts), otherwise);
}

std::string CellSqlWriter::MomentCells(const SqlMoment& moment) {
  constexpr int64_t kWeeksBefore = 110'000;  // from the first day to 1970, and more
  const std::string week_days = fmt::format("({} + {})", moment.day_number, 3 + 7 * kWeeksBefore);
  if (part_ != nullptr) {
    switch (part_->part) {
      case DatePart::kWeekday:
        return fmt::format("({} % 7)", week_days);
      case DatePart::kMonth:
        return fmt::format("({} - 1)", moment.month);
      case DatePart::kHour:
        return moment.hour.empty() ? NoCell(Fault::kNoTime) : moment.hour;
    }
  }
  const int64_t first = PeriodOf(dates_->first_day, dates_->every);
  const std::string months = fmt::format("(12 * {} + {} - 1)", moment.year, moment.month);
  std::string period;
  switch (dates_->every) {
    case DateStep::kDay:
      period = moment.day_number;
      break;
    case DateStep::kWeek:
      period = fmt::format("({} / 7 - {})", week_days, kWeeksBefore);
      break;
    case DateStep::kMonth:
      period = months;
      break;
    case DateStep::kQuarter:
      period = fmt::format("({} / 3)", months);
      break;
    case DateStep::kYear:
      period = moment.year;
      break;
  }
  const FoundCell above{NumValueCells(attribute_) - 1, Fault::kAbove};
  return fmt::format("CASE WHEN {0} < {1} THEN {2} WHEN {0} > {3} THEN {4} ELSE {5} - {6} END",
                     moment.day_number, SqlInteger(dates_->first_day),
                     Code(FoundCell{0, Fault::kBelow}), SqlInteger(dates_->last_day), Code(above),
                     period, SqlInteger(first));
}

template std::string CellSqlWriter::DoubleColumn<float>(const std::string& value,
                                                        const std::string& floor);
template std::string CellSqlWriter::DoubleColumn<double>(const std::string& value,
                                                         const std::string& floor);

}  // namespace residua
