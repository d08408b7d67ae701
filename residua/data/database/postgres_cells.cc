#include "residua/data/database/postgres_cells.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/data/database/cell_sql_writer.h"
#include "residua/data/database/sql_literal.h"

namespace residua {
namespace {

// PostgreSQL refuses to make doubles of numbers far beyond this or its inverse.
constexpr std::string_view kMostNumeric = "1e300";
constexpr std::string_view kLeastNumeric = "1e-300";

class PostgresCells final : public CellSqlWriter {
 public:
  PostgresCells(const Attribute& attribute, const NullValues& null_values, SqlColumnType type,
                const std::string& column)
      : CellSqlWriter(attribute, null_values, column), type_(type) {}

 private:
  void CheckListed(const std::string&, const std::string&) const override {}
  std::string Text(std::string_view text) const override { return PostgresText(text); }
  std::string Double(double value) const override {
    if (std::isinf(value)) return value > 0 ? "'Infinity'::float8" : "'-Infinity'::float8";
    return fmt::format("'{}'::float8", value);
  }
  std::string AsDouble(const std::string& whole) const override { return whole + "::float8"; }
  std::string IsWhole(const std::string& value, const std::string&) const override {
    return fmt::format("{0} = floor({0})", value);
  }
  std::string BeyondDoubles() override {
    Refuse("whole numbers beyond 2^53 in a column of fractions");
  }
  std::string MayBeNumber(const std::string& text) const override {
    return fmt::format("{} ~ '^[0-9.eE+-]*[.][0-9.eE+-]*$'", text);
  }

  // Of `numeric`, which is read as text: 1 is that text alone, and 1.0 any number of that size.
  std::string NumericColumn() {
    CodedTexts texts;
    Literals sizes;
    const auto add = [&](const std::string& number, const std::string& code) {
      constexpr int64_t kMaxExponent = 1000;
      const auto exponent =
          ParseInteger(number.substr(std::min(number.find('e') + 1, number.size())));
      if (number != "0" && (!exponent || std::abs(*exponent) > kMaxExponent)) {
        Refuse("numbers beyond 1e1000");
      }
      sizes.push_back({fmt::format("{}::numeric", PostgresText(number)), code});
    };
    for (const std::string& null : nulls().texts()) texts.emplace_back(null, Missing());
    for (const std::string& null : nulls().decimals()) add(null, Missing());
    // As the driver writes them.
    const std::string text = fmt::format(
        "(replace(replace({}::text, 'NaN', 'nan'), 'Infinity', 'inf') COLLATE \"C\")", column());
    std::string otherwise;
    if (list() != nullptr) {
      for (size_t k = 0; k < list()->values.size(); ++k) {
        texts.emplace_back(list()->values[k], Listed(k));
      }
      for (const Literal& number : numbers()) add(number.text, number.code);
      otherwise = NoCell(Fault::kNotListed);
    } else {
      const std::string number = column() + "::float8";
      otherwise = fmt::format(
          "CASE WHEN {0} = 'NaN' THEN {1} WHEN abs({0}) > {2} AND {0}::text NOT LIKE '%Inf%' OR "
          "{0} <> 0 AND abs({0}) < {3} THEN {4} ELSE {5} END",
          column(), Missing(), kMostNumeric, kLeastNumeric, Unclear(),
          cuts() != nullptr ? CutCells(number)
                            : FlooredCells(number, fmt::format("floor({})::bigint", number)));
    }
    const std::string by_size =
        sizes.empty() ? otherwise
                      : fmt::format("CASE WHEN scale({}) > 0 THEN {} ELSE {} END", column(),
                                    Chain(column(), sizes, otherwise), otherwise);
    return TextChain(text, std::move(texts), by_size);
  }

  // Only two values: they are asked for here.
  std::string BooleanColumn() {
    const auto code = [&](bool truth) {
      const std::string_view text = truth ? "true" : "false";
      if (list() != nullptr) return nulls().Contains(text) ? Missing() : Code(finder().Find(text));
      if (cuts() != nullptr) {
        const double number = truth ? 1 : 0;
        return nulls().Contains(number) ? Missing() : Code(finder().Find(number));
      }
      const int64_t number = truth ? 1 : 0;
      return nulls().Contains(number) ? Missing() : Code(finder().Find(number));
    };
    return fmt::format("CASE WHEN {} THEN {} ELSE {} END", column(), code(true), code(false));
  }

  // Of PostgreSQL's dates and times, which are read as text.
  std::string MomentColumn() {
    const bool has_time = type_ != SqlColumnType::kDate;
    const std::string moment = type_ == SqlColumnType::kZonedTimestamp
                                   ? fmt::format("({} AT TIME ZONE 'UTC')", column())
                                   : column();
    CodedTexts texts;
    const auto add = [&](const std::string& text, const std::string& code) {
      const auto read = ParseMoment(text);
      if (!read) return;
      if (has_time && read->hour) Refuse("times that are listed as text");
      if (!has_time && DayText(read->day) == text) texts.emplace_back(text, code);
    };
    for (const std::string& null : nulls().texts()) add(null, Missing());
    std::string cells;
    if (list() != nullptr) {
      cells = NoCell(Fault::kNotListed);
      if (has_time) Refuse("times that are listed as text");
      for (size_t k = 0; k < list()->values.size(); ++k) {
        add(list()->values[k], Listed(k));
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
        moment, Chain(column(), days, cells), list() != nullptr ? Unclear() : Unreadable());
  }

  std::string PresentValue() override {
    const std::string number = column() + "::float8";
    const std::string floor = fmt::format("floor({})::bigint", number);
    const bool is_listed = list() != nullptr;
    switch (type_) {
      case SqlColumnType::kInteger:
        return IntegerColumn(column() + "::bigint");
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
          Refuse(is_integral() || cuts() != nullptr ? "numbers in a column of texts"
                                                    : "dates in a column of texts");
        }
        // concat prints the value as it is; a cast would cut its blanks off.
        return ListedText(type_ == SqlColumnType::kText
                              ? fmt::format("({}::text COLLATE \"C\")", column())
                              : fmt::format("(concat({}) COLLATE \"C\")", column()));
      case SqlColumnType::kDate:
      case SqlColumnType::kTimestamp:
      case SqlColumnType::kZonedTimestamp:
        return MomentColumn();
      case SqlColumnType::kStorageClasses:
        break;
    }
    RESIDUA_CHECK(false);
  }

  const SqlColumnType type_;
};

}  // namespace

CellSql PostgresCellSql(const Attribute& attribute, const NullValues& null_values,
                        SqlColumnType type, const std::string& column) {
  return PostgresCells(attribute, null_values, type, column).Write();
}

}  // namespace residua
