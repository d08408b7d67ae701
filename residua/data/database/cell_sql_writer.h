#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "residua/data/database/cell_sql.h"
#include "residua/data/null_values.h"
#include "residua/model/attribute.h"
#include "residua/model/cell_finder.h"

namespace residua {

// Writes the expression of CellSql for one attribute. What all databases say alike is here; what
// one says in its own way is left to its own writer.
class CellSqlWriter {
 public:
  // The attribute and the values must outlive this.
  CellSqlWriter(const Attribute& attribute, const NullValues& null_values, std::string column);
  CellSqlWriter(const CellSqlWriter&) = delete;
  CellSqlWriter& operator=(const CellSqlWriter&) = delete;
  virtual ~CellSqlWriter() = default;

  CellSql Write() &&;

 protected:
  using Fault = FoundCell::Fault;
  // A literal, and the number of its outcome.
  struct Literal {
    std::string text;
    std::string code;
  };
  using Literals = std::vector<Literal>;
  // Texts, and the numbers of their outcomes.
  using CodedTexts = std::vector<std::pair<std::string, std::string>>;
  // Of a date and, from 1970 on, its number; the hour of a moment.
  struct SqlMoment {
    std::string day_number;
    std::string year;
    std::string month;
    std::string hour;  // empty: there is none
  };

  // The number of the outcome of a value that is not null.
  virtual std::string PresentValue() = 0;
  // Refuses a listed value that is this `number`, as CanonicalDecimal writes it.
  virtual void CheckListed(const std::string& value, const std::string& number) const = 0;
  virtual std::string Text(std::string_view text) const = 0;
  virtual std::string Double(double value) const = 0;
  // A whole number as a double.
  virtual std::string AsDouble(const std::string& whole) const = 0;
  // Whether a double is whole; `floor` is the whole number below it.
  virtual std::string IsWhole(const std::string& value, const std::string& floor) const = 0;
  // What is said of doubles where the cells are whole numbers that doubles do not tell apart.
  virtual std::string BeyondDoubles() = 0;
  // Whether a text with a decimal point may be a number.
  virtual std::string MayBeNumber(const std::string& text) const = 0;

  [[noreturn]] static void Refuse(std::string_view problem);

  // The number of an outcome.
  std::string Code(const std::optional<FoundCell>& outcome);
  std::string NoCell(Fault fault) { return Code(FoundCell{FoundCell::kNoCell, fault}); }
  std::string Listed(size_t k) { return Code(FoundCell{static_cast<int64_t>(k)}); }
  std::string Missing() { return NoCell(Fault::kNan); }
  std::string Unclear() { return Code(std::nullopt); }
  std::string Unreadable();

  static std::string Chain(const std::string& value, const Literals& literals,
                           const std::string& otherwise);
  // The same for texts. Those of plain characters have one order in every database, and are
  // searched by halves.
  std::string TextChain(const std::string& value, CodedTexts texts,
                        const std::string& otherwise) const;

  // Cells of whole numbers; `value` is one.
  std::string WholeCells(const std::string& value);
  // Cells of whole numbers; `value` is a double, `floor` the whole number below it.
  std::string FlooredCells(const std::string& value, const std::string& floor);
  std::string CutCells(const std::string& value) const;
  std::string MomentCells(const SqlMoment& moment);

  // Of a column of whole numbers.
  std::string IntegerColumn(const std::string& value);
  // Of a column of doubles, or of floats that `value` makes doubles of; `floor` as above.
  template <typename Number>
  std::string DoubleColumn(const std::string& value, const std::string& floor);
  // Of texts and listed values.
  std::string ListedText(const std::string& text);

  bool is_integral() const {
    return cuts_ == nullptr && list_ == nullptr && dates_ == nullptr && part_ == nullptr;
  }
  const Attribute& attribute() const { return attribute_; }
  const NullValues& nulls() const { return nulls_; }
  const std::string& column() const { return column_; }
  const CellFinder& finder() const { return finder_; }
  // How the attribute's cells are encoded: at most one is not null.
  const CutEncoding* cuts() const { return cuts_; }
  const ValueEncoding* list() const { return list_; }
  const DateEncoding* dates() const { return dates_; }
  const PartEncoding* part() const { return part_; }
  // The listed numbers, as CanonicalDecimal writes them.
  const Literals& numbers() const { return numbers_; }

 private:
  void ReadList();

  const Attribute& attribute_;
  const NullValues& nulls_;
  const std::string column_;
  const CellFinder finder_;
  const CutEncoding* cuts_;
  const ValueEncoding* list_;
  const DateEncoding* dates_;
  const PartEncoding* part_;
  std::vector<std::optional<FoundCell>> outcomes_;
  Literals numbers_;
};

// A number as CanonicalDecimal writes it, as a whole number; nothing if it is none of 64 bits.
std::optional<int64_t> WholeOf(const std::string& canonical);

}  // namespace residua
