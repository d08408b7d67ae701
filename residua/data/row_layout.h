#pragma once

#include <string>
#include <vector>

#include "residua/data/relation.h"
#include "residua/data/value_outcomes.h"
#include "residua/model/domain.h"
#include "residua/privacy/protection.h"

namespace residua {

// How the columns of a source become codes.
struct RowLayout {
  std::string file;                   // names the source in messages
  std::vector<ValueKind> kinds;       // of each attribute
  std::vector<std::string> selected;  // SQL: each attribute's column, and the identifier's as text
  std::vector<std::string> stored;    // the attributes' columns with as few casts as can be read
  bool is_number_identifier = false;
};

// Finds the columns of all attributes, and of the identifier if there is one. Error{kBadInput} for
// a column that is not there, or whose type cannot be read.
RowLayout LayoutOf(const std::string& file, const Relation& relation, const Domain& domain,
                   const Protection& protection);

// The columns among `names` that LayoutOf would find, in the order in which it selects them, each
// once.
std::vector<size_t> FindColumns(const std::string& file, const std::vector<std::string>& names,
                                const Domain& domain, const Protection& protection);

}  // namespace residua
