#include "residua/basis/tree_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "residua/base/error.h"
#include "residua/base/portable_math.h"
#include "residua/base/stop.h"
#include "residua/basis/accelerator.h"
#include "residua/model/answer_weights.h"

namespace residua {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// A node that is measured with less than e to this of its part of the budget is as good as not.
constexpr double kMostLogit = 30;
// Part of the weight that every vertex keeps, for the largest variance; see StrategySolver.
constexpr double kKeptWeight = 1e-3;
constexpr double kLeastLogWeight = -32;
// A gain is a sum of squares; rounding may leave nothing of it, or less. A larger one only makes the
// proven gap larger.
constexpr double kLeastGain = 1e-14;
// Of the largest multiplier: rounding may leave others nothing, or less.
constexpr double kLeastMultiplier = 1e-9;
// 1 + eta 1^T V^-1 1 is kept above this.
constexpr double kLeastPositive = 1e-6;
// Queries of the same vertex are asked once more for the largest variance with this step.
constexpr double kWeightStep = 0.7;

double Sigmoid(double x) { return 1 / (1 + PortableExp(-x)); }

}  // namespace

// Of every vertex.
struct TreeSolver::Evaluation {
  VectorXd precision;  // s
  VectorXd scale;      // c
  VectorXd series;     // h, of nodes
  VectorXd residual;   // of its total's variance, diag of W X^-1 W^T: residual + constant / c_root
  VectorXd constant;
  VectorXd variance;
  VectorXd demand;  // derivative of the objective by that variance
  VectorXd gain;    // g
  VectorXd spent;   // sum of s g strictly below, per unit of what is left
  double objective = 0;
  double lower_bound = 0;
};

TreeSolver::TreeSolver(const Attribute& attribute, std::shared_ptr<const CellTree> tree,
                       StrategyGoal goal, std::stop_token stop)
    : tree_(std::move(tree)), goal_(goal), stop_(std::move(stop)) {
  const Index num_vertices = tree_->num_cells + tree_->num_nodes();
  const AnswerWeights weights = WeighAnswers(attribute);
  copies_ = VectorXd::Zero(num_vertices);
  importance_ = VectorXd::Zero(num_vertices);
  weight_ = VectorXd::Zero(num_vertices);
  size_t answer = 0;
  const auto ask = [&](Index vertex) {
    copies_(vertex) += 1;
    importance_(vertex) = std::max(importance_(vertex), weights.importance[answer]);
    weight_(vertex) += weights.share[answer++];
  };
  for (Index cell = 0; cell < tree_->num_cells; ++cell) ask(cell);
  for (const int64_t vertex : VerticesOfGroups(attribute, *tree_)) ask(vertex);
  importance_ = (copies_.array() > 0).select(importance_, 1.0);
  num_answers_ = copies_.sum();
  log_weight_ = VectorXd::Zero(goal == StrategyGoal::kMax ? num_vertices : 0);
  // V itself is of the form of X, with the weights for s.
  VectorXd scale = weight_;
  VectorXd levels = VectorXd::Zero(tree_->num_nodes());
  logit_.resize(tree_->num_nodes());
  for (int64_t node = 0; node < tree_->num_nodes(); ++node) {
    double parallel = 0;
    for (int64_t c = 0; c < tree_->num_children(node); ++c) {
      const int64_t child = tree_->children_of(node)[c];
      parallel += 1 / scale(child);
      const double below = tree_->is_cell(child) ? 0 : levels(child - tree_->num_cells);
      levels(node) = std::max(levels(node), below + 1);
    }
    scale(tree_->num_cells + node) += 1 / parallel;
    logit_(node) = -PortableLog(levels(node));  // the same to every level
  }
  height_ = 1 / scale(num_vertices - 1);
}

void TreeSolver::SpreadWeight() {
  const VectorXd powers = (log_weight_.array() - log_weight_.maxCoeff()).max(kLeastLogWeight).exp();
  weight_ = importance_.array() * copies_.array() *
            ((1 - kKeptWeight) / powers.dot(copies_) * powers.array() + kKeptWeight / num_answers_);
}

void TreeSolver::Evaluate(double eta, Evaluation* at) const {
  const CellTree& tree = *tree_;
  const Index n = tree.num_cells;
  const Index num_vertices = copies_.size();
  const Index root = num_vertices - 1;
  const auto for_children = [&](int64_t node, const auto& visit) {
    for (int64_t c = 0; c < tree.num_children(node); ++c) visit(tree.children_of(node)[c]);
  };
  VectorXd left = VectorXd::Ones(num_vertices);  // of the budget, at the vertex
  at->precision = VectorXd::Zero(num_vertices);
  for (int64_t node = tree.num_nodes() - 1; node >= 0; --node) {
    const bool is_root = n + node == root;
    if (!is_root) at->precision(n + node) = left(n + node) * Sigmoid(logit_(node));
    for_children(node, [&](int64_t child) {
      left(child) = is_root ? 1 : left(n + node) * Sigmoid(-logit_(node));
      if (child < n) at->precision(child) = left(child);
    });
  }
  at->scale = at->precision;
  at->series = VectorXd::Zero(num_vertices);
  for (int64_t node = 0; node < tree.num_nodes(); ++node) {
    double parallel = 0;
    for_children(node, [&](int64_t child) { parallel += 1 / at->scale(child); });
    at->series(n + node) = 1 / parallel;
    at->scale(n + node) += 1 / parallel;
  }
  Split(at);
  // The best part of the budget for what is below the root: R / b + (S + eta) / (1 - b beta).
  const double beta = 1 - at->series(root);
  const double of_residual = std::sqrt(weight_.dot(at->residual) * beta);
  const double of_constant = std::sqrt(std::max(weight_.dot(at->constant) + eta, 0.0));
  const double part = of_residual / (of_residual + of_constant) / beta;
  at->precision *= part;
  at->scale *= part;
  at->series *= part;
  at->residual /= part;
  left *= part;
  at->precision(root) = 1 - part;
  at->scale(root) = at->series(root) + at->precision(root);
  at->variance = at->residual + at->constant / at->scale(root);
  at->objective = weight_.dot(at->variance) + eta * at->variance(root);
  // The chain rule: upwards by variances, downwards by scales.
  at->demand = weight_;
  at->demand(root) += eta;
  for (int64_t node = 0; node < tree.num_nodes(); ++node) {
    for_children(node, [&](int64_t child) {
      const double share = at->series(n + node) / at->scale(child);
      at->demand(n + node) += share * share * at->demand(child);
    });
  }
  at->gain.resize(num_vertices);
  at->gain(root) = at->demand(root) / (at->scale(root) * at->scale(root));
  for (int64_t node = tree.num_nodes() - 1; node >= 0; --node) {
    const double above = at->variance(n + node);
    double of_series = at->gain(n + node);  // minus the derivative by h, through c and the shares
    for_children(node, [&](int64_t child) {
      const double inverse = 1 / at->scale(child);
      const double share = at->series(n + node) * inverse;
      of_series += at->demand(child) * inverse * (inverse - 2 * share * above);
    });
    for_children(node, [&](int64_t child) {
      const double inverse = 1 / at->scale(child);
      const double share = at->series(n + node) * inverse;
      const double gain =
          share * share * of_series +
          at->demand(child) * inverse * (inverse * (1 - 2 * share) + 2 * share * share * above);
      at->gain(child) = std::max(gain, kLeastGain * at->demand(child) * inverse * inverse);
    });
  }
  VectorXd cells = at->gain;  // the sum of lambda of the cells below
  VectorXd below = VectorXd::Zero(num_vertices);
  at->spent = VectorXd::Zero(num_vertices);
  double most = 1;
  for (int64_t node = 0; node < tree.num_nodes(); ++node) {
    cells(n + node) = 0;
    for_children(node, [&](int64_t child) {
      cells(n + node) += cells(child);
      below(n + node) += below(child) + at->precision(child) * at->gain(child);
    });
    if (n + node == root) break;
    at->spent(n + node) = below(n + node) / (left(n + node) * Sigmoid(-logit_(node)));
    most = std::max(most, at->gain(n + node) / cells(n + node));
  }
  // The root's s may be negative, by less than 1 / (its children - 1).
  const double bound = most * cells(root);
  const double missing = std::max(0.0, bound - at->gain(root));
  const auto num_top = static_cast<double>(tree.num_children(tree.num_nodes() - 1));
  at->lower_bound =
      at->objective * at->objective / std::max(at->gain(root), bound + missing / (num_top - 1));
}

// On z the total of a vertex is the product of the shares above it.
void TreeSolver::Split(Evaluation* at) const {
  const Index n = tree_->num_cells;
  at->constant = VectorXd::Ones(copies_.size());
  at->residual = VectorXd::Zero(copies_.size());
  for (int64_t node = tree_->num_nodes() - 1; node >= 0; --node) {
    for (int64_t k = 0; k < tree_->num_children(node); ++k) {
      const int64_t child = tree_->children_of(node)[k];
      const double share = at->series(n + node) / at->scale(child);
      at->constant(child) = share * share * at->constant(n + node);
      at->residual(child) = share * share * at->residual(n + node) + (1 - share) / at->scale(child);
    }
  }
}

Strategy TreeSolver::Solve(double trade_off, double tolerance, int max_iterations) {
  const bool max = goal_ == StrategyGoal::kMax;
  const double eta = std::max(PortableExpm1(trade_off) / height_, (kLeastPositive - 1) / height_);
  const Index root = copies_.size() - 1;
  const Index num_inner = tree_->num_nodes() - 1;  // the root has its part in closed form
  Accelerator accelerator;
  Evaluation at;
  Evaluation best;
  VectorXd best_logit;
  VectorXd best_weight;
  double best_gap = std::numeric_limits<double>::infinity();
  int iteration = 1;
  for (;; ++iteration) {
    CheckNotStopped(stop_);
    if (max) SpreadWeight();
    Evaluate(eta, &at);
    double objective = at.objective;
    if (max) {
      double largest = 0;
      for (Index v = 0; v <= root; ++v) {
        if (copies_(v) > 0) largest = std::max(largest, importance_(v) * at.variance(v));
      }
      objective += largest - weight_.dot(at.variance);
    }
    const double gap = objective / at.lower_bound - 1;
    if (gap < best_gap) {
      best_gap = gap;
      best = at;
      best_logit = logit_;
      best_weight = weight_;
    }
    if (best_gap <= tolerance || iteration >= max_iterations) break;
    VectorXd step = VectorXd::Zero(tree_->num_nodes());
    step.head(num_inner) = 0.5 * (at.gain.segment(tree_->num_cells, num_inner).array() /
                                  at.spent.segment(tree_->num_cells, num_inner).array())
                                     .log();
    RESIDUA_CHECK(step.allFinite());
    if (max) {
      const double mean = weight_.dot(at.variance);
      log_weight_ = log_weight_.array() +
                    kWeightStep * (importance_.array() * at.variance.array() / mean).log();
      log_weight_ = (log_weight_.array() - log_weight_.maxCoeff()).max(kLeastLogWeight);
      logit_ += step;
    } else {
      logit_ = accelerator.Next(logit_, step, 1 / at.objective);
    }
    logit_ = logit_.cwiseMax(-kMostLogit).cwiseMin(kMostLogit);
  }
  logit_ = best_logit;
  weight_ = best_weight;
  multipliers_ = best.gain.head(tree_->num_cells);
  const double most = multipliers_.maxCoeff();
  multipliers_ = most > 0 && multipliers_.allFinite()
                     ? VectorXd(multipliers_.cwiseMax(kLeastMultiplier * most))
                     : VectorXd(VectorXd::Ones(tree_->num_cells));
  multipliers_ /= multipliers_.sum();
  Strategy strategy;
  strategy.relative_gap = best_gap;
  strategy.iterations = iteration;
  const double c = best.scale(root);
  strategy.privacy_cost = 1 - c;
  strategy.constant_mean = weight_.dot(best.constant);
  strategy.residual_mean = weight_.dot(best.residual);
  if (max) {
    std::vector<Index> asked;
    for (Index v = 0; v <= root; ++v) {
      if (copies_(v) > 0) asked.push_back(v);
    }
    strategy.residual_variance = best.residual.cwiseProduct(importance_)(asked);
    strategy.constant_variance = best.constant.cwiseProduct(importance_)(asked);
  }
  strategy.tree_scale = best.scale;
  return strategy;
}

}  // namespace residua
