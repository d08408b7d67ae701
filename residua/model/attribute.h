#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "residua/model/encoding.h"

namespace residua {

// The questions asked along one attribute: its query matrix W, one row per answer.
//   kIdentity:  the count of each cell;
//   kPrefix:    the counts of cells 0..k, for every k;
//   kRange:     the counts of cells j..k, for every j <= k, ordered by j, then k;
//   kHierarchy: the count of each cell, then of each of the attribute's `groups`;
//   kCustom:    the rows of the attribute's own matrix.
enum class QueryKind { kIdentity, kPrefix, kRange, kHierarchy, kCustom };

// A node of a hierarchy: the cells below it, increasing.
struct CellGroup {
  std::string name;
  std::vector<int64_t> cells;
  bool operator==(const CellGroup&) const = default;
};

// A dense matrix with a column for each cell, row-major.
struct CellMatrix {
  int64_t num_rows = 0;
  std::vector<double> entries;
  bool operator==(const CellMatrix&) const = default;
};

struct Attribute {
  std::string name;
  int64_t size = 0;  // number of cells, the null cell included
  QueryKind queries = QueryKind::kIdentity;
  Encoding encoding = {};
  std::vector<CellGroup> groups = {};  // of kHierarchy: level by level, the lowest first
  // Of kHierarchy, may be empty: how much the mean variance of each level's answers counts in an
  // objective, the cells' first, as AnswerLevels numbers them. Empty: every answer counts alike.
  std::vector<double> level_weights = {};
  CellMatrix custom = {};       // of kCustom: the query matrix
  CellMatrix strategy = {};     // of kCustom, may be empty: what to measure instead
  bool read_from_data = false;  // a draft's cells, not public knowledge: never measured
  std::string column = {};      // of the data; empty: the one with the attribute's name
  bool operator==(const Attribute&) const = default;
};

// The numbers whose mean is asked; null for any other attribute. Where they are not null, `queries`
// is kIdentity and the cells are the two that a row is split between.
const MeanEncoding* MeanOf(const Attribute& attribute);

// Whether the two have equal sizes, query matrices and weights of levels, and are both asked for
// means or both not. Names, also of groups, do not matter.
bool SameQueries(const Attribute& a, const Attribute& b);

// What a spec calls it: attributes.age, or attributes."net income".
std::string SpecKey(const Attribute& attribute);

// The column of the data that the attribute reads.
const std::string& ColumnOf(const Attribute& attribute);

// The number of cells that values have: all but the null cell.
int64_t NumValueCells(const Attribute& attribute);

// The number of different codes that data has: the cells or, where a mean is asked, the numbers and
// then the missing value.
int64_t NumCodes(const Attribute& attribute);

// The number of rows of the query matrix.
int64_t NumAnswers(const Attribute& attribute);

// Cells first to last of an attribute, both included.
struct CellRange {
  int64_t first = 0;
  int64_t last = 0;
  bool operator==(const CellRange&) const = default;
};

// The cells of one answer of a range attribute with `size` cells, and the answer of these cells.
CellRange RangeOfAnswer(int64_t size, int64_t answer);
int64_t AnswerOfRange(int64_t size, const CellRange& range);

// The label of `cell` in a table: the value itself, an integer, "(10000, 25000]", "2013-01",
// "Monday", "other" or "null".
std::string CellLabel(const Attribute& attribute, int64_t cell);

// The label of an answer: a cell's own, "<=30" for a prefix ("all" for the last one where missing
// values have a cell), "18..30" for a range (a single cell's own), a group's name, "query 3".
std::string AnswerLabel(const Attribute& attribute, int64_t answer);

// The level of each answer of a hierarchy: 0 for a cell, and for a group one more than the highest
// level of what is below it. Empty for other queries.
std::vector<int64_t> AnswerLevels(const Attribute& attribute);

}  // namespace residua
