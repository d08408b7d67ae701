#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "residua/base/rational.h"
#include "residua/model/attribute.h"
#include "residua/model/attribute_set.h"

namespace residua {

// The attributes of a table, in order. Public knowledge: never inferred from data at release time.
// Invariant: names are distinct and non-empty, every size is between 2 and kMaxAttributeSize, and
// every encoding passes CheckEncoding. Where a mean is asked, nothing else is. It does not change, so that threads may share it.
class Domain {
 public:
  // 2^40: more than any attribute of a table has, small enough that n^2 is exact in 128 bits.
  static constexpr int64_t kMaxAttributeSize = int64_t{1} << 40;

  Domain() = default;
  explicit Domain(std::vector<Attribute> attributes);

  int size() const { return static_cast<int>(attributes_.size()); }
  const Attribute& operator[](int i) const { return attributes_[static_cast<size_t>(i)]; }
  const std::vector<Attribute>& attributes() const { return attributes_; }
  std::optional<int> Find(std::string_view name) const;

  // Sorted and checked: every index in range, none twice.
  AttributeSet MakeSet(std::vector<int> indices) const;

  bool operator==(const Domain&) const = default;

 private:
  std::vector<Attribute> attributes_;
};

// "age x sex", or "total" for the empty set; an attribute of this name alone is in quotes.
std::string SetName(const Domain& domain, const AttributeSet& set);

// The attribute of `set` whose mean is asked, or -1. Error{kBadInput} if there are several: the sum of
// one number is not split by another's two cells.
int MeanAttribute(const Domain& domain, const AttributeSet& set);

// Whether the mean of an attribute is asked.
bool HasMeans(const Domain& domain);

// What a row adds up to in the integers of a table on `set`: the steps of its mean attribute, or 1.
int64_t RowSteps(const Domain& domain, const AttributeSet& set);

// Error{kRefused} names the attributes whose cells were read from the data: which cells there are
// can reveal the data, and no noise hides that.
void CheckDomainIsPublic(const Domain& domain);

// The number of cells of the marginal, exactly; and as an int64 where it must be materialised,
// Error{kTooLarge} if it does not fit.
Integer NumCells(const Domain& domain, const AttributeSet& set);
int64_t NumCellsInMemory(const Domain& domain, const AttributeSet& set);

}  // namespace residua
