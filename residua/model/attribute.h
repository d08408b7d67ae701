#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace residua {

// What happens to a value the encoding has no cell for.
enum class OutsidePolicy { kError, kClamp, kDrop, kNull };

// One cell for each integer of [first, last].
struct IntegerEncoding {
  int64_t first = 0;
  int64_t last = 0;
  bool operator==(const IntegerEncoding&) const = default;
};

// Cells (-inf, cuts[0]], (cuts[0], cuts[1]], ..., (cuts.back(), inf); `cuts` strictly increasing.
struct CutEncoding {
  std::vector<double> cuts;
  bool operator==(const CutEncoding&) const = default;
};

// One cell for each listed value, compared as text.
struct ValueEncoding {
  std::vector<std::string> values;
  bool operator==(const ValueEncoding&) const = default;
};

// How a column's values become cells 0..size-1. With `null_cell`, missing values have the last
// cell. std::monostate: a bare size, for planning without data.
struct Encoding {
  std::variant<std::monostate, IntegerEncoding, CutEncoding, ValueEncoding> cells;
  bool null_cell = false;
  OutsidePolicy outside = OutsidePolicy::kError;
  bool operator==(const Encoding&) const = default;
};

// The questions asked along one attribute: its query matrix W.
enum class QueryKind { kIdentity };

struct Attribute {
  std::string name;
  int64_t size = 0;  // number of cells, the null cell included
  QueryKind queries = QueryKind::kIdentity;
  Encoding encoding;
  bool operator==(const Attribute&) const = default;
};

// The label of `cell` in a table: the value itself, an integer, "(10000, 25000]", or "null".
std::string CellLabel(const Attribute& attribute, int64_t cell);

}  // namespace residua
