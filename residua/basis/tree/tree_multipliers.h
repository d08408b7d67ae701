#pragma once

#include <Eigen/Core>
#include <memory>
#include <stop_token>
#include <vector>

#include "residua/basis/cell_tree.h"

namespace residua {

// What multipliers lambda of the cells of a tree of groups, all positive, of sum 1, can prove:
//   f(lambda) = sum over terms of coefficient tr (diag(lambda)^1/2 (V + eta 1 1^T)
//               diag(lambda)^1/2)^1/2,   V = sum over vertices v of weight_v 1_v 1_v^T.
// With one term of coefficient 1, tr((V + eta 1 1^T) X^-1) is at least f(lambda)^2 for every
// positive definite X of diagonal at most 1.
struct TreeProof {
  struct Term {
    double coefficient = 1;
    double eta = 0;  // that leaves V + eta 1 1^T positive definite
  };
  std::shared_ptr<const CellTree> tree;
  Eigen::VectorXd weight;  // of every vertex
  std::vector<Term> terms;
};

struct TreeMultipliers {
  Eigen::VectorXd lambda;
  double proven = 0;          // f(lambda)
  double relative_error = 0;  // that rounding may have added to it
};

// When to stop: where f comes to `enough`, where a step gains less than `gain` of it, or after
// `max_steps` steps.
struct ClimbLimits {
  double enough = 0;
  double gain = 0;
  int max_steps = 0;
};

// From `lambda`, by the fixed point of StrategySolver, which never lowers f: lambda_j goes to the
// sum of coefficient times the roots' j-th diagonal entries, of sum 1. Anderson's acceleration of
// the logarithms makes it fast. The multipliers of a TreeSolver, from which it may start, are those
// of its family; these are any strategy's.
TreeMultipliers ClimbMultipliers(const TreeProof& proof, const Eigen::VectorXd& lambda,
                                 const ClimbLimits& limits);

}  // namespace residua
