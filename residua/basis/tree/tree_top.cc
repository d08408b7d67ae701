#include "residua/basis/tree/tree_top.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "residua/base/error.h"
#include "residua/basis/tree/tree_root.h"

namespace residua {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TreeTop::TreeTop(const Attribute& attribute, const CellTree& tree, const AnswerWeights& weights) {
  const int64_t n = tree.num_cells;
  const int64_t root = n + tree.num_nodes() - 1;
  // Of each vertex below the root: which child of the root holds it.
  std::vector<int64_t> place(static_cast<size_t>(root), -1);
  for (int64_t c = 0; c < tree.num_children(root - n); ++c) {
    place[static_cast<size_t>(tree.children_of(root - n)[c])] = c;
  }
  for (int64_t v = root - 1; v >= 0; --v) {
    int64_t& own = place[static_cast<size_t>(v)];
    if (own < 0) own = place[static_cast<size_t>(n + tree.parent[static_cast<size_t>(v)])];
  }
  Attribute above;
  above.queries = QueryKind::kHierarchy;
  above.size = tree.num_children(root - n);
  std::vector<double> share;
  const std::vector<int64_t> vertices = VerticesOfGroups(attribute, tree);
  for (size_t g = 0; g < vertices.size(); ++g) {
    if (vertices[g] >= 0 && vertices[g] < root) continue;
    CellGroup group;
    for (const int64_t cell : attribute.groups[g].cells) {
      group.cells.push_back(place[static_cast<size_t>(cell)]);
    }
    std::sort(group.cells.begin(), group.cells.end());
    group.cells.erase(std::unique(group.cells.begin(), group.cells.end()), group.cells.end());
    above.groups.push_back(std::move(group));
    share.push_back(weights.share[static_cast<size_t>(n) + g]);
  }
  std::optional<CellTree> groups = GroupTree(above);
  RESIDUA_CHECK(groups.has_value());
  tree_ = std::make_shared<const CellTree>(std::move(*groups));
  weight_ = VectorXd::Zero(tree_->num_cells + tree_->num_nodes());
  const std::vector<int64_t> places = VerticesOfGroups(above, *tree_);
  for (size_t g = 0; g < places.size(); ++g) weight_(places[g]) += share[g];
}

VectorXd TreeTop::WeightWith(const VectorXd& demand, double eta) const {
  VectorXd weight = weight_;
  weight.head(demand.size()) = demand;
  weight(weight.size() - 1) += eta;
  return weight;
}

TreeTop::Solution TreeTop::Solve(const VectorXd& demand, const VectorXd& lambda, double eta) const {
  const TreeRoot root(tree_, WeightWith(demand, eta), lambda);
  Solution solution;
  const VectorXd diagonal = root.Diagonal();
  solution.cost = diagonal.cwiseQuotient(lambda);
  solution.variance = lambda.cwiseProduct(root.InverseDiagonal());
  VectorXd solved = lambda.cwiseSqrt().cwiseProduct(root.InverseRootOfLambda());  // X^-1 1
  double all = 0;
  for (const double entry : solved) all += entry;
  solution.c = 1 / all;
  solution.share = solved / all;
  // tr(V X^-1) = tr A^1/2.
  for (Index c = 0; c < demand.size(); ++c) {
    solution.variance_sum += diagonal(c) - demand(c) * solution.variance(c);
  }
  solution.variance_sum -= eta / solution.c;
  VectorXd below = VectorXd::Zero(weight_.size());
  below.head(demand.size()) = solution.share;
  for (Index v = 0; v < below.size(); ++v) {
    solution.constant_sum += weight_(v) * below(v) * below(v);
    if (v + 1 == below.size()) break;
    below(tree_->num_cells + tree_->parent[static_cast<size_t>(v)]) += below(v);
  }
  return solution;
}

MatrixXd TreeTop::Dense(const VectorXd& demand, const VectorXd& lambda, double eta) const {
  const TreeRoot root(tree_, WeightWith(demand, eta), lambda);
  const VectorXd inverse = lambda.cwiseSqrt().cwiseInverse();
  MatrixXd dense(lambda.size(), lambda.size());
  for (Index c = 0; c < lambda.size(); ++c) {
    dense.col(c) = inverse.cwiseProduct(root.Apply(inverse(c) * VectorXd::Unit(lambda.size(), c)));
  }
  return (dense + dense.transpose()) / 2;
}

double TreeTop::Scale(const VectorXd& scale) const {
  VectorXd all = weight_;
  all.head(scale.size()) = scale;
  VectorXd series = VectorXd::Zero(all.size());
  for (Index v = 0; v < all.size(); ++v) {
    if (v >= scale.size()) all(v) += 1 / series(v);
    if (v + 1 == all.size()) break;
    series(tree_->num_cells + tree_->parent[static_cast<size_t>(v)]) += 1 / all(v);
  }
  return all(all.size() - 1);
}

}  // namespace residua
