#include "residua/text/question_text.h"

#include <algorithm>
#include <optional>

#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/base/rational.h"
#include "residua/model/cell_finder.h"
#include "residua/text/domain_text.h"
#include "residua/text/pieces.h"

namespace residua {
namespace {

// A word of the question. A word in quotes is always text, never a keyword.
struct Piece {
  std::string text;
  bool quoted = false;
};

class QuestionReader {
 public:
  QuestionReader(std::string_view text, const Domain& domain) : rest_(text), domain_(domain) {}

  AnyQuestion Read() {
    std::vector<AttributeWeights> terms;
    if (Trim(rest_) == "total") return ProductQuery(domain_, {});
    std::optional<size_t> mean;  // the term that asks for one
    for (SkipSpaces(); !rest_.empty(); SkipSpaces()) {
      if (const auto moment = TakeMoment()) {
        if (moment->is_mean) mean = terms.size();
        terms.push_back({moment->attribute, SumWeights(domain_[moment->attribute])});
      } else {
        terms.push_back(ReadTerm());
      }
      for (size_t k = 0; k + 1 < terms.size(); ++k) {
        if (terms[k].attribute == terms.back().attribute) FailTwice(domain_[terms[k].attribute]);
      }
    }
    if (!mean) return ProductQuery(domain_, std::move(terms));
    std::vector<AttributeWeights> of_count = terms;
    of_count[*mean].weights = std::vector<CellRange>{{0, 1}};
    return MeanQuestion{ProductQuery(domain_, std::move(terms)),
                        ProductQuery(domain_, std::move(of_count))};
  }

 private:
  // sum(NAME) or mean(NAME).
  struct Moment {
    int attribute = 0;
    bool is_mean = false;
  };

  [[noreturn]] static void FailTwice(const Attribute& attribute) {
    if (MeanOf(attribute) != nullptr) {
      Fail(ErrorKind::kBadInput,
           "the question names '{0}' twice; ask for mean({0}) or sum({0}) alone, which are of all "
           "rows that have a number",
           attribute.name);
    }
    Fail(ErrorKind::kBadInput, "the question names '{}' twice; join its values with |",
         attribute.name);
  }

  // Nothing, and nothing is taken, where the question goes on in another way: "mean(x)" may be a
  // name too, before a "=".
  std::optional<Moment> TakeMoment() {
    const std::string_view before = rest_;
    const bool is_mean = Take("mean(");
    if (!is_mean && !Take("sum(")) return std::nullopt;
    std::string name;
    if (rest_.starts_with("\"")) {
      name = ReadPiece(/*is_name=*/true).text;
    } else {
      const size_t end = std::min(rest_.find(')'), rest_.size());
      name = rest_.substr(0, end);
      rest_.remove_prefix(end);
    }
    if (!Take(")") ||
        (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) == 0)) {
      rest_ = before;
      return std::nullopt;
    }
    const int attribute = FindAttribute(domain_, name);
    if (MeanOf(domain_[attribute]) == nullptr) {
      Fail(ErrorKind::kBadInput, "'{}' was counted, and has neither a sum nor a mean", name);
    }
    return Moment{attribute, is_mean};
  }

  // Over the cells that a row is split between.
  static std::vector<double> SumWeights(const Attribute& attribute) {
    const MeanEncoding& mean = *MeanOf(attribute);
    std::vector<double> weights(static_cast<size_t>(attribute.size), 0.0);
    weights[0] = DecimalValue(mean.low, mean.decimals);
    weights[1] = DecimalValue(mean.high, mean.decimals);
    return weights;
  }

  void SkipSpaces() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) {
      rest_.remove_prefix(1);
    }
  }

  bool Take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  // Up to a space, '|', '..' or, in a name, '='.
  Piece ReadPiece(bool is_name) {
    Piece piece;
    if (Take("\"")) {
      piece.quoted = true;
      for (;;) {
        if (rest_.empty()) {
          Fail(ErrorKind::kBadInput, "the question has a quote that is not closed");
        }
        if (Take("\"\"")) {
          piece.text += '"';
        } else if (Take("\"")) {
          return piece;
        } else {
          piece.text += rest_.front();
          rest_.remove_prefix(1);
        }
      }
    }
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) == 0 &&
           !rest_.starts_with("|") && !rest_.starts_with("..") &&
           !(is_name && rest_.starts_with("="))) {
      piece.text += rest_.front();
      rest_.remove_prefix(1);
    }
    return piece;
  }

  AttributeWeights ReadTerm() {
    const std::string name = ReadPiece(/*is_name=*/true).text;
    if (!Take("=")) {
      Fail(ErrorKind::kBadInput,
           "'{}' in the question is not NAME=VALUES; write it like age=18..30 sex=female", name);
    }
    const int index = FindAttribute(domain_, name);
    const Attribute& attribute = domain_[index];
    const CellFinder finder(attribute);
    std::vector<CellRange> cells;
    do {
      const std::vector<CellRange> added = ReadRanges(attribute, finder);
      cells.insert(cells.end(), added.begin(), added.end());
    } while (Take("|"));
    if (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) == 0) {
      Fail(ErrorKind::kBadInput,
           "'{}' in the question is not understood after {}; put values with spaces, | or .. in "
           "double quotes",
           rest_.substr(0, 20), name);
    }
    CheckDisjoint(attribute, cells);
    return {index, std::move(cells)};
  }

  // The cells of a value, a group, a label or a range.
  std::vector<CellRange> ReadRanges(const Attribute& attribute, const CellFinder& finder) {
    const Piece first = ReadPiece(/*is_name=*/false);
    if (!Take("..")) {
      if (first.text.empty() && !first.quoted) {
        Fail(ErrorKind::kBadInput, "the question gives no value for '{}'; write {}=VALUE",
             attribute.name, attribute.name);
      }
      return Named(attribute, finder, first);
    }
    const Piece last = ReadPiece(/*is_name=*/false);
    if (MeanOf(attribute) != nullptr) FailNoCell(attribute, "");
    const CellRange range{LowerEnd(attribute, finder, first), UpperEnd(attribute, finder, last)};
    if (range.first > range.last) {
      Fail(ErrorKind::kBadInput, "the range {}..{} of '{}' is empty or reversed", first.text,
           last.text, attribute.name);
    }
    return {range};
  }

  [[noreturn]] static void FailNoCell(const Attribute& attribute, const std::string& text) {
    if (MeanOf(attribute) != nullptr) {
      Fail(ErrorKind::kBadInput,
           "only the sum and the mean of '{}' were measured, and no count of {}; ask for "
           "mean({}) or sum({})",
           attribute.name, text.empty() ? "a range" : text, attribute.name, attribute.name);
    }
    std::string known;
    const int64_t count = NumValueCells(attribute);
    if (const auto* integers = std::get_if<IntegerEncoding>(&attribute.encoding.cells)) {
      known = fmt::format("{} to {}", integers->first, integers->last);
    } else if (std::holds_alternative<DateEncoding>(attribute.encoding.cells)) {
      known = fmt::format("{} to {}", CellLabel(attribute, 0), CellLabel(attribute, count - 1));
    } else {
      for (int64_t cell = 0; cell < std::min<int64_t>(count, 8); ++cell) {
        known += fmt::format("{}{}", cell > 0 ? ", " : "", CellLabel(attribute, cell));
      }
      if (count > 8) known += ", ...";
    }
    if (attribute.encoding.null_cell) known += ", and null for missing values";
    Fail(ErrorKind::kBadInput, "'{}' has no value '{}'; its values are {}", attribute.name, text,
         known);
  }

  // The cells of the value or the period `text`; cells between cuts and parts of a date are named
  // by their labels.
  static std::optional<CellRange> CellsOf(const Attribute& attribute, const CellFinder& finder,
                                          const std::string& text) {
    const auto& cells = attribute.encoding.cells;
    if (MeanOf(attribute) != nullptr) return std::nullopt;
    if (std::holds_alternative<DateEncoding>(cells)) {
      return AtPlace(fmt::format("'{}'", attribute.name), [&] { return finder.FindPeriod(text); });
    }
    if (std::holds_alternative<CutEncoding>(cells) || std::holds_alternative<PartEncoding>(cells)) {
      for (int64_t cell = 0; cell < NumValueCells(attribute); ++cell) {
        if (CellLabel(attribute, cell) == text) return CellRange{cell, cell};
      }
      return std::nullopt;
    }
    const FoundCell found = finder.Find(text);
    if (!found.is_found()) return std::nullopt;
    return CellRange{found.cell, found.cell};
  }

  static bool IsNull(const Attribute& attribute, const Piece& piece) {
    return !piece.quoted && piece.text == "null" && attribute.encoding.null_cell;
  }

  // The cells that a group, a value or the label of an answer names. No value is named like a
  // group.
  static std::vector<CellRange> Named(const Attribute& attribute, const CellFinder& finder,
                                      const Piece& piece) {
    for (const CellGroup& group : attribute.groups) {
      if (group.name == piece.text) return RangesOf(group);
    }
    const auto value = CellsOf(attribute, finder, piece.text);
    const auto labelled = CellsOfLabel(attribute, finder, piece.text);
    if (value && labelled && !piece.quoted && attribute.queries == QueryKind::kPrefix) {
      Fail(ErrorKind::kBadInput,
           "'{}' is a value of '{}' and the label of several; put the value in double quotes, or "
           "write a range that ends in it, such as ..VALUE",
           piece.text, attribute.name);
    }
    if (value) return {*value};
    if (IsNull(attribute, piece)) return {{attribute.size - 1, attribute.size - 1}};
    if (labelled) return {*labelled};
    FailNoCell(attribute, piece.text);
  }

  static std::vector<CellRange> RangesOf(const CellGroup& group) {
    std::vector<CellRange> ranges;
    for (const int64_t cell : group.cells) {
      if (!ranges.empty() && ranges.back().last + 1 == cell) {
        ranges.back().last = cell;
      } else {
        ranges.push_back({cell, cell});
      }
    }
    return ranges;
  }

  // The cells of an answer's label, "all", "<=60" or "(10000, 50000]", where it is one.
  static std::optional<CellRange> CellsOfLabel(const Attribute& attribute, const CellFinder& finder,
                                               const std::string& text) {
    if (text == "all") return CellRange{0, attribute.size - 1};
    if (MeanOf(attribute) != nullptr) return std::nullopt;
    const auto* bins = std::get_if<CutEncoding>(&attribute.encoding.cells);
    if (text.starts_with("<=")) {
      const std::string end = text.substr(2);
      if (bins != nullptr) {
        const auto cell = CellEndingAt(*bins, end);
        return cell ? std::optional(CellRange{0, *cell}) : std::nullopt;
      }
      const auto cells = CellsOf(attribute, finder, end);
      return cells ? std::optional(CellRange{0, cells->last}) : std::nullopt;
    }
    const size_t comma = text.find(", ");
    if (bins == nullptr || comma == std::string::npos || text.front() != '(') return std::nullopt;
    const std::string lower = text.substr(1, comma - 1);
    const std::string upper = text.substr(comma + 2, text.size() - comma - 3);
    const auto below = lower == "-inf" ? std::optional<int64_t>(-1) : CellEndingAt(*bins, lower);
    const auto last = CellEndingAt(*bins, upper);
    if (!below || !last || *below >= *last) return std::nullopt;
    if (text.back() != (upper == "inf" ? ')' : ']')) return std::nullopt;
    return CellRange{*below + 1, *last};
  }

  // The cell whose label ends at the cut `text`, or at "inf".
  static std::optional<int64_t> CellEndingAt(const CutEncoding& bins, const std::string& text) {
    const auto num_cuts = static_cast<int64_t>(bins.cuts.size());
    if (text == "inf") return num_cuts;
    for (int64_t k = 0; k < num_cuts; ++k) {
      if (fmt::format("{}", bins.cuts[static_cast<size_t>(k)]) == text) return k;
    }
    return std::nullopt;
  }

  // The cells of one end of a range.
  static CellRange End(const Attribute& attribute, const CellFinder& finder, const Piece& piece) {
    if (const auto cells = CellsOf(attribute, finder, piece.text)) return *cells;
    if (IsNull(attribute, piece)) return {attribute.size - 1, attribute.size - 1};
    FailNoCell(attribute, piece.text);
  }

  // A number that is to be a cut, unless it is the label of a cell.
  static bool IsCut(const Attribute& attribute, const CellFinder& finder, const Piece& piece) {
    return std::holds_alternative<CutEncoding>(attribute.encoding.cells) &&
           !IsNull(attribute, piece) && !CellsOf(attribute, finder, piece.text);
  }

  // The cell that ends at the cut `text`.
  static int64_t CellUpTo(const Attribute& attribute, const CellFinder& finder,
                          const std::string& text) {
    const auto& cuts = std::get<CutEncoding>(attribute.encoding.cells).cuts;
    const double value = NearestDouble(ParseRational(text, attribute.name));
    const auto cell = static_cast<size_t>(finder.Find(value).cell);
    if (cell == cuts.size() || cuts[cell] != value) {
      size_t nearest = std::min(cell, cuts.size() - 1);
      if (nearest > 0 && value - cuts[nearest - 1] < cuts[nearest] - value) --nearest;
      Fail(ErrorKind::kBadInput,
           "a range of '{}' must begin and end at its cuts; {} is not a cut, the nearest is {}",
           attribute.name, text, cuts[nearest]);
    }
    return static_cast<int64_t>(cell);
  }

  static int64_t LowerEnd(const Attribute& attribute, const CellFinder& finder,
                          const Piece& piece) {
    if (piece.text.empty()) return 0;
    if (IsCut(attribute, finder, piece)) return CellUpTo(attribute, finder, piece.text) + 1;
    return End(attribute, finder, piece).first;
  }

  static int64_t UpperEnd(const Attribute& attribute, const CellFinder& finder,
                          const Piece& piece) {
    if (piece.text.empty()) return NumValueCells(attribute) - 1;
    if (IsCut(attribute, finder, piece)) return CellUpTo(attribute, finder, piece.text);
    return End(attribute, finder, piece).last;
  }

  // A reader may expect a cell that is asked for twice to count twice, but it would count once.
  static void CheckDisjoint(const Attribute& attribute, std::vector<CellRange> cells) {
    std::sort(cells.begin(), cells.end(),
              [](const CellRange& a, const CellRange& b) { return a.first < b.first; });
    for (size_t k = 1; k < cells.size(); ++k) {
      if (cells[k].first <= cells[k - 1].last) {
        Fail(ErrorKind::kBadInput, "the question asks for '{}' = {} twice", attribute.name,
             CellLabel(attribute, cells[k].first));
      }
    }
  }

  std::string_view rest_;
  const Domain& domain_;
};

}  // namespace

ProductQuery ParseQuestion(std::string_view text, const Domain& domain) {
  AnyQuestion question = ParseAnyQuestion(text, domain);
  if (auto* query = std::get_if<ProductQuery>(&question)) return std::move(*query);
  Fail(ErrorKind::kBadInput, "'{}' asks for a mean, where a count or a sum is needed", text);
}

AnyQuestion ParseAnyQuestion(std::string_view text, const Domain& domain) {
  return QuestionReader(text, domain).Read();
}

}  // namespace residua
