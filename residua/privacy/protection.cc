#include "residua/privacy/protection.h"

#include "residua/base/error.h"

namespace residua {

std::string NeighboursInWords(const Protection& protection) {
  if (protection.neighbours == Protection::Neighbours::kReplaceOne) return "replace one row";
  if (protection.identifier.empty()) return "add or remove one row";
  return fmt::format("add or remove all rows of one '{}'", protection.identifier);
}

std::string ChangeInWords(const Protection& protection) {
  if (protection.neighbours == Protection::Neighbours::kReplaceOne) return "one row replaced";
  if (protection.identifier.empty()) return "one row added or removed";
  return fmt::format("all rows of one '{}' added or removed, of which at most {} {} counted",
                     protection.identifier, protection.max_rows,
                     protection.max_rows == 1 ? "is" : "are");
}

void CheckProtection(const Protection& protection, const Domain& domain) {
  if (protection.max_rows < 1 || protection.max_rows > kMaxRowsOfIdentifier) {
    Fail(ErrorKind::kBadInput, "max_rows is {}; it must lie between 1 and {}", protection.max_rows,
         kMaxRowsOfIdentifier);
  }
  if (protection.identifier.empty() && protection.max_rows != 1) {
    Fail(ErrorKind::kBadInput,
         "max_rows is {} without an identifier; name the column that says whose row it is",
         protection.max_rows);
  }
  if (protection.neighbours != Protection::Neighbours::kReplaceOne) return;
  if (!protection.identifier.empty()) {
    Fail(ErrorKind::kBadInput,
         "replace-one with the identifier '{}' is not offered: people may have different numbers "
         "of rows; use neighbours = \"add-remove\"",
         protection.identifier);
  }
  for (const Attribute& attribute : domain.attributes()) {
    if (attribute.encoding.outside == OutsidePolicy::kDrop) {
      Fail(ErrorKind::kBadInput,
           "attribute '{}' drops rows, which replace-one does not hide: it takes the number of "
           "rows as known; use outside = \"null\", \"clamp\" or \"error\", or neighbours = "
           "\"add-remove\"",
           attribute.name);
    }
  }
}

}  // namespace residua
