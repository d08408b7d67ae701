#include "residua/text/question_text.h"

#include <algorithm>
#include <optional>

#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/base/rational.h"
#include "residua/model/cell_finder.h"
#include "residua/text/domain_text.h"

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

  ProductQuery Read() {
    std::vector<AttributeWeights> terms;
    for (SkipSpaces(); !rest_.empty(); SkipSpaces()) {
      terms.push_back(ReadTerm());
      for (size_t k = 0; k + 1 < terms.size(); ++k) {
        if (terms[k].attribute == terms.back().attribute) {
          Fail(ErrorKind::kBadInput, "the question names '{}' twice; join its values with |",
               domain_[terms[k].attribute].name);
        }
      }
    }
    return ProductQuery(domain_, std::move(terms));
  }

 private:
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
      cells.push_back(ReadRange(attribute, finder));
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

  CellRange ReadRange(const Attribute& attribute, const CellFinder& finder) {
    const Piece first = ReadPiece(/*is_name=*/false);
    if (!Take("..")) {
      if (first.text.empty() && !first.quoted) {
        Fail(ErrorKind::kBadInput, "the question gives no value for '{}'; write {}=VALUE",
             attribute.name, attribute.name);
      }
      return Single(attribute, finder, first);
    }
    const Piece last = ReadPiece(/*is_name=*/false);
    const CellRange range{LowerEnd(attribute, finder, first), UpperEnd(attribute, finder, last)};
    if (range.first > range.last) {
      Fail(ErrorKind::kBadInput, "the range {}..{} of '{}' is empty or reversed", first.text,
           last.text, attribute.name);
    }
    return range;
  }

  [[noreturn]] static void FailNoCell(const Attribute& attribute, const std::string& text) {
    std::string known;
    const int64_t count = NumValueCells(attribute);
    if (const auto* integers = std::get_if<IntegerEncoding>(&attribute.encoding.cells)) {
      known = fmt::format("{} to {}", integers->first, integers->last);
    } else {
      for (int64_t cell = 0; cell < std::min<int64_t>(count, 8); ++cell) {
        known += fmt::format("{}{}", cell > 0 ? ", " : "", CellLabel(attribute, cell));
      }
      if (count > 8) known += ", ...";
    }
    Fail(ErrorKind::kBadInput, "'{}' has no value '{}'; its values are {}", attribute.name, text,
         known);
  }

  // The cell of the value `text`; a cell between cuts is named by its label.
  static std::optional<int64_t> CellOf(const Attribute& attribute, const CellFinder& finder,
                                       const std::string& text) {
    if (std::holds_alternative<CutEncoding>(attribute.encoding.cells)) {
      for (int64_t cell = 0; cell < NumValueCells(attribute); ++cell) {
        if (CellLabel(attribute, cell) == text) return cell;
      }
      return std::nullopt;
    }
    const FoundCell found = finder.Find(text);
    return found.is_found() ? std::optional(found.cell) : std::nullopt;
  }

  static CellRange Single(const Attribute& attribute, const CellFinder& finder,
                          const Piece& piece) {
    if (const auto cell = CellOf(attribute, finder, piece.text)) return {*cell, *cell};
    if (!piece.quoted && piece.text == "null" && attribute.encoding.null_cell) {
      return {attribute.size - 1, attribute.size - 1};
    }
    FailNoCell(attribute, piece.text);
  }

  // The cell that ends at the cut `text`.
  static int64_t CellUpTo(const Attribute& attribute, const std::vector<double>& cuts,
                          const CellFinder& finder, const std::string& text) {
    const double value = NearestDouble(ParseRational(text, attribute.name));
    const auto cell = static_cast<size_t>(finder.Find(value).cell);
    if (cell == cuts.size() || cuts[cell] != value) {
      Fail(ErrorKind::kBadInput,
           "a range of '{}' must begin and end at its cuts; {} is not a cut, the nearest is {}",
           attribute.name, text, cuts[std::min(cell, cuts.size() - 1)]);
    }
    return static_cast<int64_t>(cell);
  }

  static int64_t LowerEnd(const Attribute& attribute, const CellFinder& finder,
                          const Piece& piece) {
    if (piece.text.empty()) return 0;
    if (const auto* bins = std::get_if<CutEncoding>(&attribute.encoding.cells)) {
      return CellUpTo(attribute, bins->cuts, finder, piece.text) + 1;
    }
    return Single(attribute, finder, piece).first;
  }

  static int64_t UpperEnd(const Attribute& attribute, const CellFinder& finder,
                          const Piece& piece) {
    if (piece.text.empty()) return NumValueCells(attribute) - 1;
    if (const auto* bins = std::get_if<CutEncoding>(&attribute.encoding.cells)) {
      return CellUpTo(attribute, bins->cuts, finder, piece.text);
    }
    return Single(attribute, finder, piece).last;
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
  return QuestionReader(text, domain).Read();
}

}  // namespace residua
