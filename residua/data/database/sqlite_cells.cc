#include "residua/data/database/sqlite_cells.h"

#include <fmt/core.h>

#include <utility>

#include "residua/base/error.h"
#include "residua/data/database/cell_sql_writer.h"
#include "residua/data/database/sql_literal.h"
#include "residua/data/duckdb_connection.h"

namespace residua {
namespace {

// Whole numbers of so many digits are exact in every type.
constexpr int kMaxPlainDigits = 15;

// The shape of 2013-01-31.
constexpr std::string_view kDayShape = "'[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'";

class SqliteCells final : public CellSqlWriter {
 public:
  using CellSqlWriter::CellSqlWriter;

 private:
  // A whole number is printed in one way, whatever type it is read as.
  void CheckListed(const std::string& value, const std::string& number) const override {
    const auto whole = WholeOf(number);
    if (whole && fmt::format("{}", *whole) != value) {
      Refuse("numbers that are listed in another way than they are printed");
    }
  }
  std::string Text(std::string_view text) const override { return SqlText(text); }
  std::string Double(double value) const override { return SqliteDouble(value); }
  std::string AsDouble(const std::string& whole) const override {
    return fmt::format("CAST({} AS REAL)", whole);
  }
  // From 2^52 on every double is a whole number, and some are beyond SQLite's.
  std::string IsWhole(const std::string& value, const std::string& floor) const override {
    return fmt::format("({0} = {1} OR abs({0}) >= {2})", value, floor, int64_t{1} << 52);
  }
  std::string BeyondDoubles() override { return Unclear(); }
  std::string MayBeNumber(const std::string& text) const override {
    return fmt::format("instr({0}, '.') > 0 AND {0} NOT GLOB '*[^0-9.eE+-]*'", text);
  }

  // Of a value that is a text.
  std::string StoredText(const std::string& text) {
    if (list() != nullptr) return ListedText(text);
    CodedTexts missing;
    for (const std::string& null : nulls().texts()) missing.emplace_back(null, Missing());
    if (dates() != nullptr || part() != nullptr) {
      return TextChain(text, std::move(missing), StoredMoment(text));
    }
    const std::string number = fmt::format("CAST({} AS INTEGER)", text);
    const std::string cells = fmt::format(
        "CASE WHEN {0} GLOB '[0-9]*' AND {0} NOT GLOB '*[^0-9]*' AND length({0}) <= {1} THEN {2} "
        "WHEN {0} GLOB '*[0-9]*' OR lower({0}) LIKE '%nan%' OR lower({0}) LIKE '%inf%' THEN {3} "
        "ELSE {4} END",
        text, kMaxPlainDigits, IntegerCells(number), Unclear(), Unreadable());
    return TextChain(text, std::move(missing), cells);
  }

  // Of a whole number, as a text may be one.
  std::string IntegerCells(const std::string& value) {
    return cuts() != nullptr ? CutCells(AsDouble(value)) : WholeCells(value);
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

  std::string PresentValue() override {
    // Without the affinity of its column, which would change what it is compared with.
    const std::string value = fmt::format("(+{})", column());
    const std::string text = fmt::format("({} COLLATE BINARY)", value);
    const std::string whole = fmt::format("CAST({} AS INTEGER)", value);
    return fmt::format(
        "CASE typeof({0}) WHEN 'null' THEN {1} WHEN 'integer' THEN {2} WHEN 'real' THEN {3} WHEN "
        "'text' THEN CASE WHEN instr({0}, char(0)) > 0 THEN {5} ELSE {4} END ELSE {5} END",
        column(), Missing(), IntegerColumn(value),
        DoubleColumn<double>(value, fmt::format("({0} - ({1} < {0}))", whole, value)),
        StoredText(text), Unclear());
  }
};

}  // namespace

CellSql SqliteCellSql(const Attribute& attribute, const NullValues& null_values,
                      const std::string& column) {
  return SqliteCells(attribute, null_values, column).Write();
}

}  // namespace residua
