#pragma once

#include <Eigen/Core>
#include <functional>

#include "residua/select/bound/attribute_split.h"

namespace residua {

// Weights of an attribute's answers and cells: mu and lambda of docs/lower_bound.md. Those of cells
// sum to 1, those of answers do so when divided by the answers' importance (QuerySpace).
struct AttributeWeights {
  Eigen::VectorXd answers;
  Eigen::VectorXd cells;
};

// Weights from which the bound is larger, as a rule. `bound` is that with this attribute's split
// replaced, everything else as it is. Its derivatives by rho, h and the active block, which are few,
// are taken by differences. From there the chain rule goes to S = (h T diag(lambda) T^T)^1/2, and
// on to every cell and answer: with G the derivative by S, S Y + Y S = G, and t_r the columns of T,
//   lambda_r <- lambda_r h t_r^T Y t_r,    mu_q <- mu_q (derivative by mu_q)^exponent,
// renormalised, which is the fixed point of StrategySolver with the coupling to other attributes in
// G. Directions are held fixed. Every outcome gives a bound; nothing here need be exact.
AttributeWeights AscendedWeights(const QuerySpace& space, const FrameRoot& root,
                                 const Eigen::VectorXd& answer_weight, int num_active,
                                 double exponent,
                                 const std::function<double(const AttributeSplit&)>& bound);

}  // namespace residua
