#pragma once

#include <Eigen/Core>
#include <vector>

#include "residua/basis/tree/tree_multipliers.h"
#include "residua/model/attribute.h"

namespace residua {

// The bound of docs/lower_bound.md for one hierarchy of nested groups beside identity attributes.
// These have equal weights of their cells, so that the nuclear norm falls apart into one for each
// set H of them, and nothing need be pinched:
//   sum_H  factor_H | D_H^1/2 S |_*  =  sum_H  factor_H (h with_tree_H)^1/2 tr (diag(lambda)^1/2
//   (V + eta_H 1 1^T) diag(lambda)^1/2)^1/2,   eta_H = (without_tree_H / with_tree_H - 1) / h,
// V, h and S those of the hierarchy, S scaled by sqrt(h) as in AttributeSplit. Where no table has H
// and the hierarchy, it is factor_H (without_tree_H)^1/2.
struct TreeDemand {
  double factor = 0;        // the sets H of this kind, each by its attributes' `rest`
  double without_tree = 0;  // D at the first direction of the hierarchy
  double with_tree = 0;     // and at every other
};

class TreeBound {
 public:
  // Nothing can be bounded if the groups are not nested.
  explicit TreeBound(const Attribute& attribute);
  bool is_nested() const { return proof_.tree != nullptr; }
  double height() const { return height_; }  // h

  // The sum, less what rounding may have added, at the best multipliers that a few steps from
  // `lambda` find.
  double Sum(const std::vector<TreeDemand>& demands, const Eigen::VectorXd& lambda) const;

 private:
  TreeProof proof_;
  double height_ = 0;
};

}  // namespace residua
