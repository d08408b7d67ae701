#pragma once

#include <span>
#include <vector>

#include "residua/model/multiset_table.h"

namespace residua {

// Every sub-list of every listed orbit: the orbits of all subsets of all workload marginals. Each
// of their attribute sets has one base mechanism.
MultisetTable Closure(const MultisetTable& orbits);

// `count` attributes of one class.
struct ClassRun {
  int attribute_class;
  int count;
};
std::vector<ClassRun> ClassRuns(std::span<const int> orbit);

// Calls visit(sub, taken) for every distinct sub-list `sub` of the orbit that `runs` describe, the
// empty one first and the orbit itself last; taken[k] of its attributes are of the class of
// runs[k].

template <typename Visit>
void ForEachSubOrbit(const std::vector<ClassRun>& runs, const Visit& visit) {
  std::vector<int> taken(runs.size(), 0);
  std::vector<int> sub;
  for (;;) {
    sub.clear();
    for (size_t k = 0; k < runs.size(); ++k) {
      sub.insert(sub.end(), static_cast<size_t>(taken[k]), runs[k].attribute_class);
    }
    visit(std::span<const int>(sub), std::span<const int>(taken));
    size_t k = 0;
    while (k < runs.size() && taken[k] == runs[k].count) taken[k++] = 0;
    if (k == runs.size()) return;
    ++taken[k];
  }
}

}  // namespace residua
