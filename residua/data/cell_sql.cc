#include "residua/data/cell_sql.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/data/duckdb_connection.h"
#include "residua/data/sql_literal.h"

namespace residua {
namespace {

using Fault = FoundCell::Fault;

// A number as CanonicalDecimal writes it, as a whole number; nothing if it is none of 64 bits.
std::optional<int64_t> WholeOf(const std::string& canonical) {
  if (canonical == "0") return 0;
  const size_t e = canonical.find('e');
  const auto exponent = ParseInteger(std::string_view(canonical).substr(e + 1));
  if (!exponent || *exponent < 0 || *exponent > 18) return std::nullopt;
  return ParseInteger(canonical.substr(0, e) + std::string(static_cast<size_t>(*exponent), '0'));
}

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
// PostgreSQL refuses to make doubles of numbers far beyond this or its inverse.
constexpr std::string_view kMostNumeric = "1e300";
constexpr std::string_view kLeastNumeric = "1e-300";
// Whole numbers of so many digits are exact in every type.
constexpr int kMaxPlainDigits = 15;

// The shape of 2013-01-31, for SQLite.
constexpr std::string_view kDayShape = "'[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'";

// Writes the expression for one attribute.
class CellSqlWriter {
 public:
  CellSqlWriter(const Attribute& attribute, const NullValues& null_values, SqlColumnType type,
                std::string column)
      : attribute_(attribute),
        nulls_(null_values),
        type_(type),
        is_sqlite_(type == SqlColumnType::kStorageClasses),
        column_(std::move(column)),
        finder_(attribute_),
        cuts_(std::get_if<CutEncoding>(&attribute.encoding.cells)),
        list_(std::get_if<ValueEncoding>(&attribute.encoding.cells)),
        dates_(std::get_if<DateEncoding>(&attribute.encoding.cells)),
        part_(std::get_if<PartEncoding>(&attribute.encoding.cells)) {
    for (int64_t cell = 0; cell < NumValueCells(attribute_); ++cell) {
      outcomes_.emplace_back(FoundCell{cell});
    }
    if (list_ != nullptr) ReadList();
  }

  CellSql Write() && {
    std::string sql = Expression();
    return {std::move(sql), std::move(outcomes_)};
  }

 private:
  // A literal, and the number of its outcome.
  struct Literal {
    std::string text;
    std::string code;
  };
  using Literals = std::vector<Literal>;

  bool is_integral() const {
    return cuts_ == nullptr && list_ == nullptr && dates_ == nullptr && part_ == nullptr;
  }

  [[noreturn]] static void Refuse(std::string_view problem) {
    Fail(ErrorKind::kBadInput,
         "the database cannot find the cells of {}; convert the column in "
         "the query, or let the rows be read",
         problem);
  }

  // The listed values that are numbers.
  void ReadList() {
    std::set<std::string> different;
    for (size_t k = 0; k < list_->values.size(); ++k) {
      const std::string& value = list_->values[k];
      const auto number = CanonicalDecimal(value);
      if (!number) continue;
      if (!different.insert(*number).second) Refuse("a number that is listed twice");
      // A whole number is printed in one way, whatever type it is read as.
      if (is_sqlite_ && WholeOf(*number) && fmt::format("{}", *WholeOf(*number)) != value) {
        Refuse("numbers that are listed in another way than they are printed");
      }
      numbers_.push_back({*number, Listed(k)});
    }
  }

  std::string Code(const std::optional<FoundCell>& outcome) {
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
  std::string NoCell(Fault fault) { return Code(FoundCell{FoundCell::kNoCell, fault}); }
  std::string Listed(size_t k) { return Code(FoundCell{static_cast<int64_t>(k)}); }
  std::string Missing() { return NoCell(Fault::kNan); }
  std::string Unclear() { return Code(std::nullopt); }
  std::string Unreadable() {
    if (list_ != nullptr) return NoCell(Fault::kNotListed);
    if (cuts_ != nullptr) return NoCell(Fault::kNotNumber);
    return NoCell(is_integral() ? Fault::kNotInteger : Fault::kNotDate);
  }

  std::string Text(std::string_view text) const {
    return is_sqlite_ ? SqlText(text) : PostgresText(text);
  }
  std::string Double(double value) const {
    if (is_sqlite_) return SqliteDouble(value);
    if (std::isinf(value)) return value > 0 ? "'Infinity'::float8" : "'-Infinity'::float8";
    return fmt::format("'{}'::float8", value);
  }

  static std::string Chain(const std::string& value, const Literals& literals,
                           const std::string& otherwise) {
    if (literals.empty()) return otherwise;
    std::string sql = "CASE " + value;
    for (const Literal& literal : literals) {
      sql += fmt::format(" WHEN {} THEN {}", literal.text, literal.code);
    }
    return fmt::format("{} ELSE {} END", sql, otherwise);
  }

  // The same for texts. Those of plain characters have one order in every database, and are
  // searched by halves.
  std::string TextChain(const std::string& value,
                        std::vector<std::pair<std::string, std::string>> texts,
                        const std::string& otherwise) const {
    // A text in PostgreSQL has no such character, and SQLite's are taken care of.
    std::erase_if(texts, [](const auto& text) { return text.first.find('\0') != text.first.npos; });
    const bool is_plain = std::ranges::all_of(texts, [](const auto& text) {
      return std::ranges::all_of(text.first, [](char c) { return c >= ' ' && c <= '~'; });
    });
    if (is_plain) std::ranges::sort(texts);
    const auto search = [&](const auto& self, size_t first, size_t last) -> std::string {
      constexpr size_t kMaxChain = 8;
      if (is_plain && last - first > kMaxChain) {
        const size_t middle = (first + last) / 2;
        return fmt::format("CASE WHEN {} < {} THEN {} ELSE {} END", value,
                           Text(texts[middle].first), self(self, first, middle),
                           self(self, middle, last));
      }
      Literals literals;
      for (size_t k = first; k < last; ++k)
        literals.push_back({Text(texts[k].first), texts[k].second});
      return Chain(value, literals, otherwise);
    };
    return search(search, 0, texts.size());
  }

  // Cells of whole numbers; `value` is one.
  std::string WholeCells(const std::string& value) {
    return fmt::format("CASE WHEN {0} < {1} THEN {2} WHEN {0} > {3} THEN {4} ELSE {0} - {1} END",
                       value, SqlInteger(finder_.first()), Code(FoundCell{0, Fault::kBelow}),
                       SqlInteger(finder_.last()),
                       Code(FoundCell{finder_.last() - finder_.first(), Fault::kAbove}));
  }

  // Cells of whole numbers; `value` is a double, `floor` the whole number below it.
  std::string FlooredCells(const std::string& value, const std::string& floor) {
    if (finder_.first() < -kMaxExactWhole || finder_.last() > kMaxExactWhole) {
      if (is_sqlite_) return Unclear();
      Refuse("whole numbers beyond 2^53 in a column of fractions");
    }
    const int64_t last = finder_.last() - finder_.first();
    const int64_t fractions = std::ssize(outcomes_);
    for (int64_t cell = 0; cell <= last; ++cell) {
      outcomes_.emplace_back(FoundCell{cell, Fault::kNotInteger});
    }
    // From 2^52 on every double is a whole number, and some are beyond SQLite's.
    const std::string is_whole =
        is_sqlite_ ? fmt::format("({0} = {1} OR abs({0}) >= {2})", value, floor, int64_t{1} << 52)
                   : fmt::format("{0} = floor({0})", value);
    return fmt::format(
        "CASE WHEN {0} < {1} THEN CASE WHEN {2} THEN {3} ELSE {4} END WHEN {0} > {5} THEN CASE "
        "WHEN {2} THEN {6} ELSE {7} END WHEN {2} THEN {8} - {1} ELSE {8} - {1} + {4} END",
        value, SqlInteger(finder_.first()), is_whole, Code(FoundCell{0, Fault::kBelow}), fractions,
        SqlInteger(finder_.last()), Code(FoundCell{last, Fault::kAbove}), fractions + last, floor);
  }

  std::string CutCells(const std::string& value) const {
    const auto search = [&](const auto& self, size_t first, size_t last) -> std::string {
      if (first == last) return fmt::format("{}", first);
      const size_t middle = (first + last) / 2;
      return fmt::format("CASE WHEN {} <= {} THEN {} ELSE {} END", value,
                         Double(cuts_->cuts[middle]), self(self, first, middle),
                         self(self, middle + 1, last));
    };
    return search(search, 0, cuts_->cuts.size());
  }

  // Of a column of whole numbers.
  std::string IntegerColumn(const std::string& value) {
    if (dates_ != nullptr || part_ != nullptr) return Unclear();
    Literals nulls;
    if (cuts_ != nullptr) {
      const std::string number =
          is_sqlite_ ? fmt::format("CAST({} AS REAL)", value) : value + "::float8";
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

  // Of a column of doubles, or of narrower ones in `value`; `floor` as above.
  template <typename Number>
  std::string DoubleColumn(const std::string& value, const std::string& floor) {
    if (dates_ != nullptr || part_ != nullptr) return Unclear();
    Literals literals;
    if (list_ == nullptr) {
      for (const double null : nulls_.numbers()) {
        if (!std::isnan(null)) literals.push_back({Double(null), Missing()});
      }
      return Chain(value, literals,
                   cuts_ != nullptr ? CutCells(value) : FlooredCells(value, floor));
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

  // Of `numeric`, which is read as text: 1 is that text alone, and 1.0 any number of that size.
  std::string NumericColumn() {
    std::vector<std::pair<std::string, std::string>> texts;
    Literals numbers;
    const auto add = [&](const std::string& number, const std::string& code) {
      constexpr int64_t kMaxExponent = 1000;
      const auto exponent =
          ParseInteger(number.substr(std::min(number.find('e') + 1, number.size())));
      if (number != "0" && (!exponent || std::abs(*exponent) > kMaxExponent)) {
        Refuse("numbers beyond 1e1000");
      }
      numbers.push_back({fmt::format("{}::numeric", PostgresText(number)), code});
    };
    for (const std::string& null : nulls_.texts()) texts.emplace_back(null, Missing());
    for (const std::string& null : nulls_.decimals()) add(null, Missing());
    // As the driver writes them.
    const std::string text = fmt::format(
        "(replace(replace({}::text, 'NaN', 'nan'), 'Infinity', 'inf') COLLATE \"C\")", column_);
    std::string otherwise;
    if (list_ != nullptr) {
      for (size_t k = 0; k < list_->values.size(); ++k) {
        texts.emplace_back(list_->values[k], Listed(k));
      }
      for (const Literal& number : numbers_) add(number.text, number.code);
      otherwise = NoCell(Fault::kNotListed);
    } else {
      const std::string number = column_ + "::float8";
      otherwise = fmt::format(
          "CASE WHEN {0} = 'NaN' THEN {1} WHEN abs({0}) > {2} AND {0}::text NOT LIKE '%Inf%' OR "
          "{0} <> 0 AND abs({0}) < {3} THEN {4} ELSE {5} END",
          column_, Missing(), kMostNumeric, kLeastNumeric, Unclear(),
          cuts_ != nullptr ? CutCells(number)
                           : FlooredCells(number, fmt::format("floor({})::bigint", number)));
    }
    const std::string by_size =
        numbers.empty() ? otherwise
                        : fmt::format("CASE WHEN scale({}) > 0 THEN {} ELSE {} END", column_,
                                      Chain(column_, numbers, otherwise), otherwise);
    return TextChain(text, std::move(texts), by_size);
  }

  // Only two values: they are asked for here.
  std::string BooleanColumn() {
    const auto code = [&](bool truth) {
      const std::string_view text = truth ? "true" : "false";
      if (list_ != nullptr) return nulls_.Contains(text) ? Missing() : Code(finder_.Find(text));
      if (cuts_ != nullptr) {
        const double number = truth ? 1 : 0;
        return nulls_.Contains(number) ? Missing() : Code(finder_.Find(number));
      }
      const int64_t number = truth ? 1 : 0;
      return nulls_.Contains(number) ? Missing() : Code(finder_.Find(number));
    };
    return fmt::format("CASE WHEN {} THEN {} ELSE {} END", column_, code(true), code(false));
  }

  // Of texts and listed values.
  std::string ListedText(const std::string& text) {
    std::vector<std::pair<std::string, std::string>> texts;
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
      const std::string may_be_number =
          is_sqlite_ ? fmt::format("instr({0}, '.') > 0 AND {0} NOT GLOB '*[^0-9.eE+-]*'", text)
                     : fmt::format("{} ~ '^[0-9.eE+-]*[.][0-9.eE+-]*$'", text);
      otherwise =
          fmt::format("CASE WHEN {} THEN {} ELSE {} END", may_be_number, Unclear(), otherwise);
    }
    return TextChain(text, std::move(texts), otherwise);
  }

  // Of a date and, from 1970 on, its number; the hour of a moment.
  struct SqlMoment {
    std::string day_number;
    std::string year;
    std::string month;
    std::string hour;  // empty: there is none
  };

  std::string MomentCells(const SqlMoment& moment) {
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

  // Of PostgreSQL's dates and times, which are read as text.
  std::string MomentColumn() {
    const bool has_time = type_ != SqlColumnType::kDate;
    const std::string moment = type_ == SqlColumnType::kZonedTimestamp
                                   ? fmt::format("({} AT TIME ZONE 'UTC')", column_)
                                   : column_;
    std::vector<std::pair<std::string, std::string>> texts;
    const auto add = [&](const std::string& text, const std::string& code) {
      const auto read = ParseMoment(text);
      if (!read) return;
      if (has_time && read->hour) Refuse("times that are listed as text");
      if (!has_time && DayText(read->day) == text) texts.emplace_back(text, code);
    };
    for (const std::string& null : nulls_.texts()) add(null, Missing());
    std::string cells;
    if (list_ != nullptr) {
      cells = NoCell(Fault::kNotListed);
      if (has_time) Refuse("times that are listed as text");
      for (size_t k = 0; k < list_->values.size(); ++k) {
        add(list_->values[k], Listed(k));
      }
    } else {
      const std::string day = has_time ? fmt::format("{}::date", moment) : moment;
      cells = MomentCells({fmt::format("({} - DATE '1970-01-01')", day),
                           fmt::format("extract(year FROM {})::int", moment),
                           fmt::format("extract(month FROM {})::int", moment),
                           has_time ? fmt::format("extract(hour FROM {})::int", moment) : ""});
    }
    Literals days;
    for (const auto& [text, code] : texts) {
      days.push_back({fmt::format("DATE '{}'", text), code});
    }
    // Other years have no date that is read as one.
    return fmt::format(
        "CASE WHEN isfinite({0}) AND {0} >= DATE '0001-01-01' AND {0} < DATE '10000-01-01' THEN "
        "{1} "
        "ELSE {2} END",
        moment, Chain(column_, days, cells), list_ != nullptr ? Unclear() : Unreadable());
  }

  // Of SQLite's texts.
  std::string StoredText(const std::string& text) {
    if (list_ != nullptr) return ListedText(text);
    std::vector<std::pair<std::string, std::string>> nulls;
    for (const std::string& null : nulls_.texts()) nulls.emplace_back(null, Missing());
    if (dates_ != nullptr || part_ != nullptr) {
      return TextChain(text, std::move(nulls), StoredMoment(text));
    }
    const std::string number = fmt::format("CAST({} AS INTEGER)", text);
    const std::string cells = fmt::format(
        "CASE WHEN {0} GLOB '[0-9]*' AND {0} NOT GLOB '*[^0-9]*' AND length({0}) <= {1} THEN {2} "
        "WHEN {0} GLOB '*[0-9]*' OR lower({0}) LIKE '%nan%' OR lower({0}) LIKE '%inf%' THEN {3} "
        "ELSE {4} END",
        text, kMaxPlainDigits, IntegerCells(number), Unclear(), Unreadable());
    return TextChain(text, std::move(nulls), cells);
  }

  std::string IntegerCells(const std::string& value) {
    return cuts_ != nullptr ? CutCells(fmt::format("CAST({} AS REAL)", value)) : WholeCells(value);
  }

  // 2013-01-31, or with a time without an offset; other texts that may be dates are unclear.
  std::string StoredMoment(const std::string& text) {
    const std::string day = fmt::format("substr({}, 1, 10)", text);
    const std::string time = fmt::format("substr({}, 11)", text);
    SqlMoment moment{fmt::format("CAST(julianday({}) - 2440587.5 AS INTEGER)", day),
                     fmt::format("CAST(substr({}, 1, 4) AS INTEGER)", text),
                     fmt::format("CAST(substr({}, 6, 2) AS INTEGER)", text), ""};
    const std::string of_day = MomentCells(moment);
    moment.hour = fmt::format("CAST(substr({}, 12, 2) AS INTEGER)", text);
    const std::string of_moment = MomentCells(moment);
    return fmt::format(
        "CASE WHEN {0} GLOB ' *' THEN {5} WHEN {1} NOT GLOB {2} OR date({1}) IS NOT {1} OR {1} < "
        "'0001-01-01' THEN {6} WHEN length({0}) = 10 THEN {3} WHEN ({7} GLOB '[ T][0-9][0-9]:[0-9]"
        "[0-9]' OR {7} GLOB '[ T][0-9][0-9]:[0-9][0-9]:[0-9][0-9]' OR {7} GLOB '[ T][0-9][0-9]:"
        "[0-9][0-9]:[0-9][0-9].[0-9]*' AND substr({0}, 21) NOT GLOB '*[^0-9]*') AND substr({0}, "
        "12, 2) <= '23' AND substr({0}, 15, 2) <= '59' AND substr({0}, 18, 2) <= '60' THEN {4} "
        "ELSE {5} END",
        text, day, kDayShape, of_day, of_moment, Unclear(), NoCell(Fault::kNotDate), time);
  }

  std::string StoredColumn() {
    // Without the affinity of its column, which would change what it is compared with.
    const std::string value = fmt::format("(+{})", column_);
    const std::string text = fmt::format("({} COLLATE BINARY)", value);
    const std::string whole = fmt::format("CAST({} AS INTEGER)", value);
    return fmt::format(
        "CASE typeof({0}) WHEN 'null' THEN {1} WHEN 'integer' THEN {2} WHEN 'real' THEN {3} WHEN "
        "'text' THEN CASE WHEN instr({0}, char(0)) > 0 THEN {5} ELSE {4} END ELSE {5} END",
        column_, Missing(), IntegerColumn(value),
        DoubleColumn<double>(value, fmt::format("({0} - ({1} < {0}))", whole, value)),
        StoredText(text), Unclear());
  }

  std::string PresentValue() {
    const std::string number = column_ + "::float8";
    const std::string floor = fmt::format("floor({})::bigint", number);
    const bool is_listed = list_ != nullptr;
    switch (type_) {
      case SqlColumnType::kInteger:
        return IntegerColumn(column_ + "::bigint");
      case SqlColumnType::kReal:
        return fmt::format("CASE WHEN {} = 'NaN' THEN {} ELSE {} END", number, Missing(),
                           DoubleColumn<float>(number, floor));
      case SqlColumnType::kDouble:
        return fmt::format("CASE WHEN {} = 'NaN' THEN {} ELSE {} END", number, Missing(),
                           DoubleColumn<double>(number, floor));
      case SqlColumnType::kNumeric:
        return NumericColumn();
      case SqlColumnType::kBoolean:
        return BooleanColumn();
      case SqlColumnType::kText:
      case SqlColumnType::kPaddedText:
        if (!is_listed) {
          Refuse(is_integral() || cuts_ != nullptr ? "numbers in a column of texts"
                                                   : "dates in a column of texts");
        }
        // concat prints the value as it is; a cast would cut its blanks off.
        return ListedText(type_ == SqlColumnType::kText
                              ? fmt::format("({}::text COLLATE \"C\")", column_)
                              : fmt::format("(concat({}) COLLATE \"C\")", column_));
      case SqlColumnType::kDate:
      case SqlColumnType::kTimestamp:
      case SqlColumnType::kZonedTimestamp:
        return MomentColumn();
      case SqlColumnType::kStorageClasses:
        return StoredColumn();
    }
    RESIDUA_CHECK(false);
  }

  std::string Expression() {
    return fmt::format("CASE WHEN {} IS NULL THEN {} ELSE {} END", column_, Missing(),
                       PresentValue());
  }

  const Attribute& attribute_;
  const NullValues& nulls_;
  const SqlColumnType type_;
  const bool is_sqlite_;
  const std::string column_;
  const CellFinder finder_;
  const CutEncoding* cuts_;
  const ValueEncoding* list_;
  const DateEncoding* dates_;
  const PartEncoding* part_;
  std::vector<std::optional<FoundCell>> outcomes_;
  Literals numbers_;  // listed, as CanonicalDecimal writes them
};

}  // namespace

std::string_view ReadTypeOf(SqlColumnType type) {
  switch (type) {
    case SqlColumnType::kInteger:
      return "BIGINT";
    case SqlColumnType::kReal:
      return "FLOAT";
    case SqlColumnType::kDouble:
      return "DOUBLE";
    case SqlColumnType::kBoolean:
      return "BOOLEAN";
    case SqlColumnType::kDate:
      return "DATE";
    case SqlColumnType::kTimestamp:
      return "TIMESTAMP";
    case SqlColumnType::kZonedTimestamp:
      return "TIMESTAMP WITH TIME ZONE";
    case SqlColumnType::kNumeric:
    case SqlColumnType::kText:
    case SqlColumnType::kPaddedText:
    case SqlColumnType::kStorageClasses:
      return "VARCHAR";
  }
  RESIDUA_CHECK(false);
}

CellSql CellSqlOf(const Attribute& attribute, const NullValues& null_values, SqlColumnType type,
                  const std::string& column) {
  return CellSqlWriter(attribute, null_values, type, column).Write();
}

}  // namespace residua
