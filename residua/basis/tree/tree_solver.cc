#include "residua/basis/tree/tree_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "residua/base/error.h"
#include "residua/base/portable_math.h"
#include "residua/base/stop.h"
#include "residua/model/answer_weights.h"

namespace residua {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Part of the weight that the levels keep, each alike, for the largest variance. It costs the bound
// that part of what is not at the largest, and keeps V well conditioned there.
constexpr double kKeptWeight = 5e-3;
// Of the largest: less is as good as nothing, and could not come back.
constexpr double kLeastPower = 1e-14;
// Of sums of squares that are computed as differences: rounding may leave nothing of them, or less.
constexpr double kLeastSquares = 1e-14;
// Of the largest multiplier: a cell that others keep from ever costing the most has none, and its
// subtree's shares are those of a little one.
constexpr double kLeastMultiplier = 1e-9;
// 1 + eta 1^T V^-1 1 is kept above this.
constexpr double kLeastPositive = 1e-6;
// Steps converge linearly: about this many times the last change is still to come.
constexpr double kChangesLeft = 4;
// Where so many steps bring nothing, multipliers swing: they answer to costs of a step before, and
// costs of a node of two children move faster than its multipliers do. From then on a step goes half
// as far, three times at most.
constexpr int kStepsInVain = 12;
constexpr int kMostHalvings = 3;
// Steps from given multipliers that leave them as they are, while shares and spreads settle.
constexpr int kSettlingSteps = 20;

// Sums in one order, whatever the processor.
double Dot(const VectorXd& a, const VectorXd& b) {
  double sum = 0;
  for (Index k = 0; k < a.size(); ++k) sum += a(k) * b(k);
  return sum;
}

// Of sum 1, none below kLeastMultiplier of the largest.
void Normalise(VectorXd* lambda) {
  *lambda = lambda->cwiseMax(kLeastMultiplier * lambda->maxCoeff());
  double sum = 0;
  for (const double value : *lambda) sum += value;
  *lambda /= sum;
}

// Of V = sum over vertices of weight_v 1_v 1_v^T: the largest c with V >= c 1 1^T on the cells below
// each vertex.
VectorXd ScalesOf(const CellTree& tree, const VectorXd& weight) {
  VectorXd scale = weight;
  for (int64_t node = 0; node < tree.num_nodes(); ++node) {
    double parallel = 0;
    for (int64_t c = 0; c < tree.num_children(node); ++c) {
      parallel += 1 / scale(tree.children_of(node)[c]);
    }
    scale(tree.num_cells + node) += 1 / parallel;
  }
  return scale;
}

template <typename Visit>
void ForEachChild(const CellTree& tree, int64_t node, const Visit& visit) {
  for (int64_t c = 0; c < tree.num_children(node); ++c) visit(tree.children_of(node)[c]);
}

}  // namespace

// Of every vertex; X is as it comes, of any size.
struct TreeSolver::Evaluation {
  VectorXd share;     // z
  VectorXd spread;    // v of this X
  VectorXd wanted;    // v of the next
  VectorXd demand;    // D
  VectorXd residual;  // of its total's variance: residual + constant / c
  VectorXd constant;
  VectorXd variance;
  VectorXd cost;  // of X_jj: what the path to the vertex adds up to
  double c = 0;
  double objective = 0;
  double mean_cost = 0;  // by lambda
  double most_cost = 0;
  TreeTop::Solution top;  // of the root, if groups are left to it
};

TreeSolver::TreeSolver(const Attribute& attribute, std::shared_ptr<const CellTree> tree,
                       StrategyGoal goal, std::stop_token stop)
    : tree_(std::move(tree)), goal_(goal), stop_(std::move(stop)) {
  const Index n = tree_->num_cells;
  const Index num_vertices = n + tree_->num_nodes();
  const AnswerWeights weights = WeighAnswers(attribute);
  copies_ = VectorXd::Zero(num_vertices);
  importance_ = VectorXd::Zero(num_vertices);
  weight_ = VectorXd::Zero(num_vertices);
  if (tree_->kind != CellTree::Kind::kGroups) {
    RESIDUA_CHECK(goal == StrategyGoal::kMean);
    top_ = std::make_shared<const TreeTop>(attribute, *tree_, weights);
  }
  size_t answer = 0;
  const auto ask = [&](Index vertex) {
    if (top_ != nullptr && (vertex < 0 || vertex + 1 == num_vertices)) {
      ++answer;  // left to the root
      return;
    }
    copies_(vertex) += 1;
    importance_(vertex) = std::max(importance_(vertex), weights.importance[answer]);
    weight_(vertex) += weights.share[answer++];
  };
  for (Index cell = 0; cell < n; ++cell) ask(cell);
  for (const int64_t vertex : VerticesOfGroups(attribute, *tree_)) ask(vertex);
  importance_ = (copies_.array() > 0).select(importance_, 1.0);
  if (goal == StrategyGoal::kMax) {
    StartWeight();
    SpreadWeight();
  }
  // V is of the form of X, with the precisions `scale` and shares in proportion to their inverses.
  // Its root would be best if every cell had the same lambda.
  VectorXd scale = ScalesOf(*tree_, weight_);
  if (top_ != nullptr) scale(num_vertices - 1) = top_->Scale(OfTopChildren(scale));
  height_ = 1 / scale(num_vertices - 1);
  lambda_ = VectorXd::Constant(n, 1 / static_cast<double>(n));
  spread_ = VectorXd::Zero(num_vertices);
  variance_ = VectorXd::Zero(num_vertices);
  variance_(num_vertices - 1) = std::sqrt(height_);
  if (top_ != nullptr) {
    const TreeTop::Solution at_first =
        top_->Solve(OfTopChildren(scale), OfTopChildren(SumsBelow(lambda_)), 0);
    for (int64_t c = 0; c < at_first.variance.size(); ++c) {
      variance_(tree_->children_of(tree_->num_nodes() - 1)[c]) = at_first.variance(c);
    }
  }
  for (int64_t node = NumSharing() - 1; node >= 0; --node) {
    double parallel = 0;
    double largest = 0;
    ForEachChild(*tree_, node, [&](int64_t child) {
      parallel += 1 / scale(child);
      largest = std::max(largest, scale(child));
    });
    double sum = 0;
    ForEachChild(*tree_, node, [&](int64_t child) {
      // Two children have one difference, measured twice.
      const double own = tree_->num_children(node) == 2 ? largest : scale(child);
      spread_(child) = 1 / std::sqrt(own);
      sum += spread_(child);
    });
    ForEachChild(*tree_, node, [&](int64_t child) {
      const double share = 1 / (scale(child) * parallel);
      variance_(child) =
          share * share * variance_(n + node) + spread_(child) * (1 - spread_(child) / sum);
    });
  }
}

void TreeSolver::StartFrom(const VectorXd& lambda) {
  lambda_ = lambda;
  Normalise(&lambda_);
  num_halvings_ = 0;
  Evaluation at;
  for (int step = 0; step < kSettlingSteps; ++step) {
    CheckNotStopped(stop_);
    Evaluate(0, &at);
    spread_ = at.wanted;
    variance_ = at.variance;
  }
}

VectorXd TreeSolver::OfTopChildren(const VectorXd& of_vertex) const {
  const int64_t root = tree_->num_nodes() - 1;
  VectorXd of_child(tree_->num_children(root));
  for (Index c = 0; c < of_child.size(); ++c) of_child(c) = of_vertex(tree_->children_of(root)[c]);
  return of_child;
}

VectorXd TreeSolver::SumsBelow(const VectorXd& of_cell) const {
  VectorXd sums = VectorXd::Zero(copies_.size());
  sums.head(of_cell.size()) = of_cell;
  for (Index v = 0; v + 1 < sums.size(); ++v) {
    sums(tree_->num_cells + tree_->parent[static_cast<size_t>(v)]) += sums(v);
  }
  return sums;
}

// The same to every level: where the largest variance is least, each has answers that bind.
void TreeSolver::StartWeight() {
  std::vector<size_t> level(static_cast<size_t>(copies_.size()), 0);
  std::vector<double> num_answers;
  for (size_t v = 0; v < level.size(); ++v) {
    num_answers.resize(std::max(num_answers.size(), level[v] + 1), 0);
    num_answers[level[v]] += copies_(static_cast<Index>(v));
    if (v + 1 == level.size()) break;
    size_t& above = level[static_cast<size_t>(tree_->num_cells + tree_->parent[v])];
    above = std::max(above, level[v] + 1);
  }
  first_power_.resize(copies_.size());
  for (size_t v = 0; v < level.size(); ++v) {
    const auto vertex = static_cast<Index>(v);
    first_power_(vertex) = copies_(vertex) > 0 ? 1 / num_answers[level[v]] : 0;
  }
  first_power_ /= Dot(first_power_, copies_);
  power_ = first_power_;
}

void TreeSolver::SpreadWeight() {
  const double kept = (1 - kKeptWeight) / Dot(power_, copies_);
  weight_ = importance_.array() * copies_.array() *
            (kept * power_.array() + kKeptWeight * first_power_.array());
}

void TreeSolver::Evaluate(double eta, Evaluation* at) const {
  const CellTree& tree = *tree_;
  const Index n = tree.num_cells;
  const Index num_vertices = copies_.size();
  const Index root = num_vertices - 1;
  at->share = VectorXd::Ones(num_vertices);
  at->spread = spread_;
  at->wanted = VectorXd::Zero(num_vertices);
  at->demand = weight_;
  at->cost = VectorXd::Zero(num_vertices);  // at first, of each vertex by itself
  const VectorXd below = SumsBelow(lambda_);
  for (int64_t node = 0; node < NumSharing(); ++node) {
    const double all = below(n + node);
    double sum = 0;
    ForEachChild(tree, node, [&](int64_t child) { sum += spread_(child); });
    // z = (L_c / v_c + level) / (Var(T) D_c + L / v_c), the level such that they sum to 1.
    const double above = variance_(n + node);
    double without_level = 0;
    double of_level = 0;
    ForEachChild(tree, node, [&](int64_t child) {
      const double bend = above * at->demand(child) + all / spread_(child);
      without_level += below(child) / spread_(child) / bend;
      of_level += 1 / bend;
    });
    const double level = std::max(0.0, 1 - without_level) / of_level;
    double demand = 0;
    double common_cost = 0;    // sum z_d^2 / v_d
    double common_demand = 0;  // sum D_d p_d^2
    ForEachChild(tree, node, [&](int64_t child) {
      const double bend = above * at->demand(child) + all / spread_(child);
      const double share = (below(child) / spread_(child) + level) / bend;
      const double part = spread_(child) / sum;
      at->share(child) = share;
      demand += share * share * at->demand(child);
      common_cost += share * share / spread_(child);
      common_demand += part * part * at->demand(child);
    });
    at->demand(n + node) += demand;
    ForEachChild(tree, node, [&](int64_t child) {
      const double share = at->share(child);
      const double part = spread_(child) / sum;
      at->cost(child) = (1 - 2 * share) / spread_(child) + common_cost;
      const double price = below(child) * (1 - 2 * share) + all * share * share;
      const double want = at->demand(child) * (1 - 2 * part) + common_demand;
      at->wanted(child) = std::sqrt(std::max(price, kLeastSquares * all) /
                                    std::max(want, kLeastSquares * common_demand));
    });
    if (tree.num_children(node) == 2) {
      const int64_t* pair = tree.children_of(node);
      at->wanted(pair[1]) = at->wanted(pair[0]);
    }
  }
  at->constant = VectorXd::Ones(num_vertices);
  at->residual = VectorXd::Zero(num_vertices);
  if (top_ != nullptr) {
    EvaluateTop(eta, below, at);
  } else {
    at->demand(root) += eta;
    at->c = std::sqrt(at->demand(root));
    at->cost(root) = at->c;
  }
  for (int64_t node = NumSharing() - 1; node >= 0; --node) {
    double sum = 0;
    ForEachChild(tree, node, [&](int64_t child) { sum += spread_(child); });
    ForEachChild(tree, node, [&](int64_t child) {
      const double squared = at->share(child) * at->share(child);
      at->cost(child) += at->cost(n + node);
      at->constant(child) = squared * at->constant(n + node);
      at->residual(child) =
          squared * at->residual(n + node) + spread_(child) * (1 - spread_(child) / sum);
    });
  }
  at->variance = at->residual + at->constant / at->c;
  at->objective = Dot(weight_, at->variance) + eta * at->variance(root) + at->top.variance_sum;
  at->mean_cost = Dot(lambda_, at->cost.head(n));
  at->most_cost = at->cost.head(n).maxCoeff();
}

void TreeSolver::EvaluateTop(double eta, const VectorXd& below, Evaluation* at) const {
  at->top = top_->Solve(OfTopChildren(at->demand), OfTopChildren(below), eta);
  at->c = at->top.c;
  for (Index c = 0; c < at->top.share.size(); ++c) {
    const int64_t child = tree_->children_of(tree_->num_nodes() - 1)[c];
    const double squared = at->top.share(c) * at->top.share(c);
    at->share(child) = at->top.share(c);
    at->cost(child) = at->top.cost(c);
    at->constant(child) = squared;
    at->residual(child) = at->top.variance(c) - squared / at->c;
  }
}

void TreeSolver::Advance(const Evaluation& at) {
  VectorXd factor = at.cost.head(tree_->num_cells) / at.mean_cost;
  for (int k = 0; k < num_halvings_; ++k) factor = factor.cwiseSqrt();
  spread_ = at.wanted;
  variance_ = at.variance;
  lambda_ = lambda_.cwiseProduct(factor);
  Normalise(&lambda_);
}

void TreeSolver::AscendWeight(const Evaluation& at) {
  const double mean = Dot(weight_, at.variance);
  double most = 0;
  for (Index v = 0; v < power_.size(); ++v) {
    // To the power 3/4, in operations that every processor rounds alike.
    const double root = std::sqrt(importance_(v) * at.variance(v) / mean);
    power_(v) *= root * std::sqrt(root);
    most = std::max(most, power_(v));
  }
  power_ = (copies_.array() > 0).select((power_ / most).cwiseMax(kLeastPower), 0.0);
}

double TreeSolver::LargestVariance(const Evaluation& at) const {
  double largest = 0;
  for (Index v = 0; v < copies_.size(); ++v) {
    if (copies_(v) > 0) largest = std::max(largest, importance_(v) * at.variance(v));
  }
  return largest;
}

Strategy TreeSolver::Solve(double trade_off, double tolerance, int max_iterations, bool with_gram) {
  const bool max = goal_ == StrategyGoal::kMax;
  const double wanted_eta = PortableExpm1(trade_off) / height_;
  double least_eta = (kLeastPositive - 1) / height_;
  const Index root = copies_.size() - 1;
  Evaluation at;
  Evaluation best;
  VectorXd best_lambda;
  VectorXd best_weight;
  double least = std::numeric_limits<double>::infinity();
  double best_gap = std::numeric_limits<double>::infinity();
  double before = 0;
  int iteration = 1;
  int num_in_vain = 0;
  for (;; ++iteration) {
    CheckNotStopped(stop_);
    if (max) {
      SpreadWeight();
      least_eta = (kLeastPositive - 1) * ScalesOf(*tree_, weight_)(root);
    }
    Evaluate(std::max(wanted_eta, least_eta), &at);
    double objective = at.objective;
    if (max) objective += LargestVariance(at) - Dot(weight_, at.variance);
    const double upper = objective * at.most_cost;
    const double lower = at.objective * at.mean_cost;
    RESIDUA_CHECK(std::isfinite(upper) && lower > 0 && upper > 0);
    const double gap = upper / lower - 1 + kChangesLeft * std::fabs(lower - before) / lower;
    before = lower;
    best_gap = std::min(best_gap, gap);
    ++num_in_vain;
    if (upper < least) {
      num_in_vain = 0;
      least = upper;
      best = at;
      best_lambda = lambda_;
      best_weight = weight_;
    }
    if (best_gap <= tolerance || iteration >= max_iterations) break;
    if (num_in_vain >= kStepsInVain && num_halvings_ < kMostHalvings) {
      ++num_halvings_;
      num_in_vain = 0;
    }
    if (max) AscendWeight(at);
    Advance(at);
  }
  weight_ = best_weight;
  multipliers_ = best_lambda;
  Strategy strategy;
  strategy.relative_gap = best_gap;
  strategy.iterations = iteration;
  // Scaled to a largest diagonal entry of 1.
  strategy.privacy_cost = 1 - best.c / best.most_cost;
  best.residual *= best.most_cost;
  strategy.constant_mean = Dot(weight_, best.constant) + best.top.constant_sum;
  strategy.residual_mean = Dot(weight_, best.residual);
  if (top_ != nullptr) {
    strategy.residual_mean +=
        best.most_cost * (best.top.variance_sum - best.top.constant_sum / best.c);
  }
  if (top_ != nullptr && with_gram) {
    const MatrixXd x =
        top_->Dense(OfTopChildren(best.demand), OfTopChildren(SumsBelow(best_lambda)),
                    std::max(wanted_eta, least_eta));
    strategy.gram = (x.array() - best.c).matrix() / best.most_cost;
    strategy.constant = best.top.share;
  }
  if (max) {
    std::vector<Index> asked;
    for (Index v = 0; v <= root; ++v) {
      if (copies_(v) > 0) asked.push_back(v);
    }
    strategy.residual_variance = best.residual.cwiseProduct(importance_)(asked);
    strategy.constant_variance = best.constant.cwiseProduct(importance_)(asked);
  }
  strategy.tree_share = std::move(best.share);
  strategy.tree_precision =
      (best.spread.array() > 0).select(1 / (best.most_cost * best.spread.array()), 0.0);
  return strategy;
}

}  // namespace residua
