#include "residua/basis/tree/tree_multipliers.h"

#include <algorithm>
#include <cmath>

#include "residua/base/portable_math.h"
#include "residua/basis/accelerator.h"
#include "residua/basis/tree/tree_root.h"

namespace residua {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// A multiplier below this part of the largest moves no bound that a double can show.
constexpr double kLeastLogOfCell = -32;

VectorXd MultipliersAt(const VectorXd& log_lambda) {
  const double top = log_lambda.maxCoeff();
  VectorXd lambda(log_lambda.size());
  double sum = 0;
  for (Index j = 0; j < lambda.size(); ++j) {
    lambda(j) = PortableExp(std::max(log_lambda(j) - top, kLeastLogOfCell));
    sum += lambda(j);
  }
  return lambda / sum;
}

}  // namespace

TreeMultipliers ClimbMultipliers(const TreeProof& proof, const VectorXd& lambda,
                                 const ClimbLimits& limits) {
  Accelerator accelerator;
  TreeMultipliers best{lambda, 0, 0};
  VectorXd now = lambda;
  VectorXd weight = proof.weight;
  const Index root = weight.size() - 1;
  for (int step = 0;; ++step) {
    VectorXd diagonal = VectorXd::Zero(now.size());
    double relative_error = 0;
    for (const TreeProof::Term& term : proof.terms) {
      weight(root) = proof.weight(root) + term.eta;
      const TreeRoot of_term(proof.tree, weight, now);
      diagonal += term.coefficient * of_term.Diagonal();
      relative_error = std::max(relative_error, of_term.relative_error());
    }
    double proven = 0;
    for (const double entry : diagonal) proven += entry;
    const bool gains = proven > best.proven * (1 + limits.gain);
    // A step that was too long lowers it, and is taken back by the accelerator.
    const bool falls = proven < best.proven;
    if (proven > best.proven) best = {now, proven, relative_error};
    if (best.proven >= limits.enough || step >= limits.max_steps || !(gains || falls)) return best;
    VectorXd point(now.size());
    VectorXd change(now.size());
    for (Index j = 0; j < now.size(); ++j) {
      point(j) = PortableLog(now(j));
      change(j) = PortableLog(diagonal(j) / now(j) / proven);
    }
    now = MultipliersAt(accelerator.Next(point, change, proven));
  }
}

}  // namespace residua
