#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "residua/model/symmetry.h"
#include "residua/select/bound/attribute_split.h"

namespace residua {

// The sum of nuclear norms in the bound of docs/lower_bound.md,
//   sum_H  prod_{i in H} rest_i  | D_H^1/2 kron_{i not in H} B_i |_*,
// H over the sets of attributes at rest, D_H diagonal over the sets P of attributes whose active
// index is not the first, with entry `demand` of H union P: a number for each orbit of the closure.
//
// Attributes of one class are interchangeable, so that kron B over t of them falls apart into the
// irreducible representations of gl(m), m = 2 or 3: one for each Young diagram of t boxes and at
// most m rows, as often as the diagram has standard tableaux (Schur and Weyl). Each is written in
// its Gelfand-Tsetlin basis, where E_21 and E_32 have closed forms with no negative entry, so that
// every entry of the blocks is right to a few units in the last place. B being lower triangular,
// only basis vectors with P in the closure take part: few, however many attributes there are.
class SymmetricBlocks {
 public:
  // `num_active` of each class: 1, or 2 or 3 where its attributes are coupled with others'.
  SymmetricBlocks(const AttributeClasses& classes, const MultisetTable& closure,
                  std::vector<int> num_active, double most_work);

  // The sum of the cubes of the blocks' sizes: one Evaluate takes a few times as many
  // multiplications. If it is above `most_work` it may be anything above, and nothing can be
  // evaluated.
  double work() const { return work_; }
  bool too_much() const { return !(work_ <= most_work_); }

  // The sum, but for rounding errors of 1e-11 of it from below: what the eigenvalues of a block may
  // be too large by is taken off them. With a `gradient`, also its derivative by each entry of
  // `demand`. Splits may have fewer active directions than `num_active`.
  double Evaluate(const std::vector<AttributeSplit>& split_of_class, std::span<const double> demand,
                  std::vector<double>* gradient) const;

 private:
  // A set of attributes at rest, and the sets of active ones that go with it.
  struct Rest {
    int64_t orbit = 0;
    double num_sets = 0;
    std::vector<int64_t> patterns;  // of H union P, in the closure
    std::vector<int> counts;        // of P: for each pattern, one of each active class
  };
  template <typename Visit>
  void ForEachBlock(const Rest& rest, const Visit& visit) const;
  int NumFree(const Rest& rest, size_t active) const;

  const AttributeClasses* classes_;
  const MultisetTable* closure_;
  std::vector<int> num_active_;
  std::vector<int> active_;      // classes that are coupled
  std::vector<int> most_taken_;  // of each of those, in one set of the closure
  std::vector<Rest> rests_;
  double most_work_ = 0;
  double work_ = 0;
};

}  // namespace residua
