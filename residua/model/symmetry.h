#pragma once

#include <functional>
#include <span>
#include <vector>

#include "residua/model/domain.h"
#include "residua/model/multiset_table.h"
#include "residua/model/workload.h"

namespace residua {

// A partition of the attributes into classes of interchangeable ones: permuting the members of a
// class leaves the domain's sizes and queries, and the workload with its weights, unchanged. An
// attribute set's *orbit* is the sorted list of its attributes' classes, repetitions kept:
// [0, 0, 3].
struct AttributeClasses {
  std::vector<std::vector<int>> members;  // of each class, increasing
  std::vector<int> class_of;              // of each attribute

  int size() const { return static_cast<int>(members.size()); }
  bool operator==(const AttributeClasses&) const = default;
};

// Every attribute is a class of its own.
AttributeClasses TrivialClasses(const Domain& domain);

// The workload's marginals, orbit by orbit: all sets of one orbit have one weight.
struct WorkloadOrbits {
  AttributeClasses classes;
  MultisetTable orbits;
  std::vector<double> weight;
};

// Groups attributes of equal size and queries, then splits groups until each orbit is asked for as
// a whole and with one weight, or not at all. The result is checked against every listed set.
WorkloadOrbits FindSymmetry(const Domain& domain, const Workload& workload);

// The same, but every attribute is a class of its own: one orbit per marginal.
WorkloadOrbits WithoutSymmetry(const Domain& domain, const Workload& workload);

// The workload under given classes. Throws Error{kRefused} if an orbit is asked for only in part,
// or with several weights: then `classes` is not a symmetry of the workload.
WorkloadOrbits OrbitsUnder(const Domain& domain, const Workload& workload,
                           AttributeClasses classes);

// How many attribute sets the orbit has: the product of binomials, exactly.
Integer OrbitSize(const AttributeClasses& classes, std::span<const int> orbit);

// The orbit of `set`.
std::vector<int> OrbitOf(const AttributeClasses& classes, const AttributeSet& set);

// Calls `visit` with every attribute set of the orbit, in lexicographic order of class members.
void ForEachMember(const AttributeClasses& classes, std::span<const int> orbit,
                   const std::function<void(const AttributeSet&)>& visit);

}  // namespace residua
