#pragma once

#include <cstdint>
#include <vector>

#include "residua/model/domain.h"

namespace residua {

// A family of marginals that depends on attribute sizes alone:
//   kExactly: all sets of `bound` attributes;  kUpTo: all of at most `bound`, the total included;
//   kMaxCells: all sets whose attribute sizes multiply to at most `bound`, the total included.
// None has two attributes whose mean is asked (MeanAttribute).
struct MarginalRule {
  enum class Kind { kExactly, kUpTo, kMaxCells };
  Kind kind = Kind::kUpTo;
  int64_t bound = 0;
  bool operator==(const MarginalRule&) const = default;
};

// One marginal by name, with the weight that its loss is multiplied by.
struct WeightedMarginal {
  AttributeSet attributes;
  double weight = 1.0;
  bool operator==(const WeightedMarginal&) const = default;
};

// What is asked for: the union of the rules' marginals, each of weight 1, and of `marginals`, whose
// weights take precedence.
struct Workload {
  std::vector<MarginalRule> rules;
  std::vector<WeightedMarginal> marginals;
  bool operator==(const Workload&) const = default;
};

// Throws unless the workload asks for something, every rule and set fits the domain, no set has two
// attributes whose mean is asked, every weight is positive and finite, and no set is listed with two weights.
void CheckWorkload(const Domain& domain, const Workload& workload);

// The attributes whose mean is asked, if the rules would ask for a table with two of them, could a
// table have two: then these tables are left out. Empty if none is.
std::vector<int> MeansKeptApart(const Domain& domain, const Workload& workload);

}  // namespace residua
