#pragma once

#include <cstdint>
#include <string>

#include "residua/model/domain.h"

namespace residua {

// Whom a guarantee protects: which two tables count as neighbours, so that a release may hardly
// tell them apart.
struct Protection {
  enum class Neighbours {
    kAddRemove,   // one table has all rows of one `identifier` more (one row, without identifiers)
    kReplaceOne,  // one row of each differs; the number of rows is known
  };
  Neighbours neighbours = Neighbours::kAddRemove;
  std::string identifier;  // the column that says whose row it is; empty: every row is someone else
  int64_t max_rows = 1;    // at most this many rows of an identifier are counted

  bool operator==(const Protection&) const = default;
};

// At most this many rows of an identifier: the noise grows with them, and beyond there is nothing
// but noise.
inline constexpr int64_t kMaxRowsOfIdentifier = 1'000'000;

// In words: "add or remove one row". What two guarantees must share to be added up.
std::string NeighboursInWords(const Protection& protection);

// The same of what happens: "one row added or removed", with the bound on an identifier's rows.
std::string ChangeInWords(const Protection& protection);

// Error{kBadInput} if it contradicts itself, or the domain: with replaced rows no value may drop
// its row, for then the number of rows would not be known, and rows have no identifiers, of which
// one may have more rows than another.
void CheckProtection(const Protection& protection, const Domain& domain);

}  // namespace residua
