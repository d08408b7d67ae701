#include "residua/basis/strategy_solver.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "residua/base/portable_math.h"
#include "residua/base/stop.h"
#include "residua/basis/accelerator.h"
#include "residua/basis/dense_products.h"
#include "residua/basis/orthogonal_factors.h"
#include "residua/basis/symmetric_eigen.h"
#include "residua/basis/triangular_factors.h"

namespace residua {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// A multiplier below this fraction of the whole moves no bound that a double can show.
constexpr double kLeastLogMultiplier = -32;
// Part of the weight that every query keeps, so that V stays positive definite while the others
// vanish. It costs at most this fraction of the largest variance.
constexpr double kSharedWeight = 1e-3;
// Eigenvalues are positive in exact arithmetic; this floor (relative to the largest) guards roots.
constexpr double kLeastEigenvalue = 1e-26;
// Variances are positive in exact arithmetic; differences of running sums may cancel below this.
constexpr double kLeastVariance = 1e-9;
// At a new trade-off no query starts further than this below the largest, in logarithms: those that
// vanished at the trade-off before would not come back within the steps there are.
// Of many queries, further: those that do not matter must not outweigh the largest, all together.
constexpr double kWidestStart = 3;
// 1 + eta 1^T V^-1 1 is kept above this.
constexpr double kLeastDefiniteness = 1e-6;

// Powers of sum 1, where each stands for as many as `copies` says, if that is not empty.
VectorXd Normalized(const VectorXd& logs, const VectorXd& copies) {
  const VectorXd powers = (logs.array() - logs.maxCoeff()).max(kLeastLogMultiplier).exp();
  return powers / (copies.size() > 0 ? powers.dot(copies) : powers.sum());
}

}  // namespace

VectorXd Stretched(const VectorXd& from, Index size) {
  const double scale = static_cast<double>(from.size()) / static_cast<double>(size);
  VectorXd values(size);
  for (Index j = 0; j < size; ++j) {
    const double place = (static_cast<double>(j) + 0.5) * scale - 0.5;
    const double low = std::clamp(std::floor(place), 0.0, static_cast<double>(from.size() - 2));
    const auto k = static_cast<Index>(low);
    values(j) = from(k) + (place - low) * (from(k + 1) - from(k));
  }
  return values;
}

// X = columns^T Y columns, Y = T diag(eigenvalues)^-1/2 T^T with T = B U.
struct StrategySolver::Evaluation {
  VectorXd lambda;
  VectorXd root;        // of the eigenvalues of M
  MatrixXd vectors;     // U
  MatrixXd rotated;     // T
  VectorXd left_over;   // of a quotient: X on the left-over part of each block
  VectorXd diagonal;    // of X, over cells
  MatrixXd inverse;     // of Y; kMax only
  VectorXd variance;    // diag(W X^-1 W^T); kMax only
  double trace = 0;     // of M^1/2
  double rank_one = 0;  // kappa: B = factor (I + kappa direction direction^T)
  double eta = 0;
  double upper_bound = 0;
  double lower_bound = 0;
};

StrategySolver::StrategySolver(const QuerySpace& space, BasisKind kind, StrategyGoal goal,
                               std::stop_token stop)
    : space_(&space),
      kind_(kind),
      goal_(goal),
      stop_(std::move(stop)),
      columns_(space.dense_columns) {
  const Index num_cells =
      space.is_full() ? space.rank() : static_cast<Index>(space.columns.num_columns);
  const double all_cells =
      space.is_quotient() ? space.cells_of_block.sum() : static_cast<double>(num_cells);
  if (kind == BasisKind::kOrthogonal) {
    const VectorXd total =
        space.is_full() ? space.ones : VectorXd(space.dense_columns.rowwise().sum());
    projection_ = RowsOrthogonalTo(total);
    fixed_constant_ = total / all_cells;
    embedding_ = projection_.transpose() - Outer(fixed_constant_, Product(projection_, space.ones));
    columns_ = space.is_full() ? projection_ : Product(projection_, space.dense_columns);
  }
  const QueryKind queries = space.queries.kind();
  is_fast_ = space.is_full() && kind == BasisKind::kOblique &&
             (queries == QueryKind::kPrefix ||
              (queries == QueryKind::kRange && goal == StrategyGoal::kMean));
  log_lambda_ = VectorXd::Zero(num_cells);
  log_weight_ = VectorXd::Zero(goal == StrategyGoal::kMax ? space.queries.num_answers() : 0);
  weight_ = space.share;
  Factor();
}

void StrategySolver::StartFrom(const StrategySolver& coarser) {
  log_lambda_ = Stretched(coarser.log_lambda_, log_lambda_.size());
  if (goal_ == StrategyGoal::kMax && log_weight_.size() == log_lambda_.size() &&
      coarser.log_weight_.size() == coarser.log_lambda_.size()) {
    log_weight_ = Stretched(coarser.log_weight_, log_weight_.size());
    SpreadWeight();
    Factor();
  }
}

VectorXd StrategySolver::multipliers() const {
  return Normalized(log_lambda_, space_->cells_of_block);
}

void StrategySolver::SpreadWeight() {
  const VectorXd& copies = space_->copies_of_answer;
  if (space_->is_quotient()) {
    weight_ = copies.array() * ((1 - kSharedWeight) * Normalized(log_weight_, copies).array() +
                                kSharedWeight / copies.sum());
  } else {
    weight_ = (1 - kSharedWeight) * Normalized(log_weight_, copies).array() +
              kSharedWeight / static_cast<double>(log_weight_.size());
  }
  weight_ = weight_.cwiseProduct(space_->importance);
}

void StrategySolver::Factor() {
  if (is_fast_) {
    // All cells are the last prefix; with equal weights the ranges of an end cell see one another.
    height_ = space_->queries.kind() == QueryKind::kPrefix ? 1 / weight_(weight_.size() - 1)
                                                           : static_cast<double>(space_->rank());
    if (goal_ == StrategyGoal::kMean || first_height_ == 0) first_height_ = height_;
    return;
  }
  MatrixXd gram = space_->queries.Gram(weight_);
  if (embedding_.size() > 0) gram = Product(TransposedProduct(embedding_, gram), embedding_);
  factor_ = CholeskyFactorOf(gram);
  if (kind_ == BasisKind::kOrthogonal) return;
  direction_ = SolveLower(factor_, space_->ones);
  height_ = direction_.squaredNorm();
  if (goal_ == StrategyGoal::kMean || first_height_ == 0) first_height_ = height_;
}

// Under kMax, eta must not move with the weights, or the dual would not be one function; where it
// is negative it must not spoil definiteness.
double StrategySolver::Eta(double trade_off) const {
  const bool given = goal_ == StrategyGoal::kMax && !weights_move_;
  return std::max(PortableExpm1(trade_off) / (given ? height_ : first_height_),
                  kLeastDefiniteness / height_ - 1 / height_);
}

VectorXd StrategySolver::WeightWith(double eta) const {
  VectorXd weight = weight_;
  weight(weight.size() - 1) += eta;
  return weight;
}

// Prefix sums: V + eta 1 1^T = W^T diag(weight) W with eta in the last weight, and W^-1 takes
// differences. Ranges: V^-1 takes second differences, up to a factor, and V^-1 1 is in the ends.
BidiagonalRoot StrategySolver::CellRoot(const VectorXd& lambda, double eta) const {
  if (space_->queries.kind() == QueryKind::kPrefix) {
    return RootOfSummedCells(WeightWith(eta), lambda);
  }
  const Index n = lambda.size();
  const auto size = static_cast<double>(n);
  VectorXd pivots(n);
  VectorXd below(n - 1);
  double trace = 0;
  // (size / 2) tridiag(-1, 2, -1).
  for (Index k = 0; k < n; ++k) {
    const auto place = static_cast<double>(k + 1);
    pivots(k) = size / 2 * (place + 1) / place / lambda(k);
    if (k + 1 < n) below(k) = -place / (place + 1) * std::sqrt(lambda(k) / lambda(k + 1));
    trace += lambda(k) * (place * (size + 1 - place) * 2 / (size * (size + 1)) + eta);
  }
  VectorXd ends = VectorXd::Zero(n);
  ends(0) = size / 2 / std::sqrt(lambda(0));
  ends(n - 1) = size / 2 / std::sqrt(lambda(n - 1));
  return {std::move(pivots), std::move(below), std::move(ends), eta / (1 + eta * height_), trace};
}

BidiagonalRoot StrategySolver::PrefixRoot(const VectorXd& lambda, double eta) const {
  return RootOfSums(WeightWith(eta).reverse(), lambda.reverse());
}

double StrategySolver::EvaluateFast(double trade_off, Evaluation* at) const {
  at->lambda = multipliers();
  at->eta = Eta(trade_off);
  const VectorXd diagonal = CellRoot(at->lambda, at->eta).Diagonal();
  at->diagonal = diagonal.cwiseQuotient(at->lambda);
  at->trace = diagonal.sum();
  at->lower_bound = at->trace * at->trace;
  double objective = at->trace;
  if (goal_ == StrategyGoal::kMax) {
    at->variance =
        PrefixRoot(at->lambda, at->eta).Diagonal().reverse().cwiseQuotient(WeightWith(at->eta));
    if (weights_move_) objective += at->variance.maxCoeff() - weight_.dot(at->variance);
  }
  at->upper_bound = objective * at->diagonal.maxCoeff();
  return at->trace;
}

VectorXd StrategySolver::SolveOnes(const Evaluation& at) const {
  if (is_fast_ && space_->queries.kind() == QueryKind::kPrefix) {
    // The last column of W X^-1 W^T, of which the differences are taken.
    const VectorXd weight = WeightWith(at.eta);
    const Index last = weight.size() - 1;
    const VectorXd total = VectorXd::Unit(last + 1, 0) / std::sqrt(weight(last));
    VectorXd solved =
        PrefixRoot(at.lambda, at.eta).Apply(total).reverse().cwiseQuotient(weight.cwiseSqrt());
    for (Index k = last; k > 0; --k) solved(k) -= solved(k - 1);
    return solved;
  }
  if (is_fast_) {
    const VectorXd roots = at.lambda.cwiseSqrt();
    const BidiagonalRoot root = CellRoot(at.lambda, at.eta);
    return roots.cwiseProduct(root.Inverse(root.Apply(roots)));
  }
  // Y^-1 1 = B^-T M^1/2 B^-1 1, and B^-1 1 = direction / (1 + kappa height).
  const double shrink = 1 / (1 + at.rank_one * height_);
  const VectorXd scaled = at.root.cwiseProduct(TransposedProduct(at.vectors, direction_));
  const VectorXd inner = Product(at.vectors, scaled) * shrink;
  const VectorXd solved = inner - at.rank_one * shrink * direction_.dot(inner) * direction_;
  return SolveLowerTransposed(factor_, solved);
}

MatrixXd StrategySolver::DenseX(const Evaluation& at) const {
  if (!is_fast_) {
    return ProductTransposed(at.rotated * at.root.cwiseInverse().asDiagonal(), at.rotated);
  }
  const VectorXd scale = at.lambda.cwiseSqrt().cwiseInverse();
  return scale.asDiagonal() * CellRoot(at.lambda, at.eta).Dense() * scale.asDiagonal();
}

// Returns the sum of lambda_j X_jj.
double StrategySolver::Evaluate(double trade_off, Evaluation* at) const {
  if (is_fast_) return EvaluateFast(trade_off, at);
  const bool oblique = kind_ == BasisKind::kOblique;
  at->lambda = multipliers();
  MatrixXd b = factor_;
  if (oblique) {
    at->eta = Eta(trade_off);
    at->rank_one = (std::sqrt(1 + at->eta * height_) - 1) / height_;
    b += Outer(at->rank_one * space_->ones, direction_);
  }
  MatrixXd cells;  // C^T B
  if (columns_.size() > 0) cells = TransposedProduct(columns_, b);
  const MatrixXd& rows = columns_.size() > 0 ? cells : b;
  const MatrixXd scaled = at->lambda.cwiseSqrt().asDiagonal() * rows;
  SymmetricEigen eigen = EigenOf(LowerSquareOfColumns(scaled));
  const VectorXd& values = eigen.values;
  at->root = values.cwiseMax(kLeastEigenvalue * values.maxCoeff()).cwiseSqrt();
  at->vectors = std::move(eigen.vectors);
  at->rotated = Product(b, at->vectors);
  const VectorXd inverse_root = at->root.cwiseInverse();
  if (columns_.size() > 0) {
    at->diagonal = Product(TransposedProduct(columns_, at->rotated).cwiseAbs2(), inverse_root);
  } else {
    at->diagonal = Product(at->rotated.cwiseAbs2(), inverse_root);
  }
  at->trace = at->root.sum();
  const VectorXd& sizes = space_->cells_of_block;
  VectorXd left_over_variance;  // of one cell of each block
  if (space_->is_quotient()) {
    // There V is w_g, the weight of one cell's answer, and M is w_g lambda_g, m_g - 1 times.
    const VectorXd answer = weight_.head(sizes.size()).cwiseQuotient(sizes);
    const VectorXd parts = (sizes.array() - 1) / sizes.array();  // of one cell
    at->left_over = answer.cwiseQuotient(at->lambda).cwiseSqrt();
    at->trace += ((sizes.array() - 1) * answer.cwiseProduct(at->lambda).cwiseSqrt().array()).sum();
    at->diagonal = at->diagonal.cwiseQuotient(sizes) + parts.cwiseProduct(at->left_over);
    left_over_variance = parts.cwiseQuotient(at->left_over);
  }
  at->lower_bound = at->trace * at->trace;
  double objective = at->trace;
  if (goal_ == StrategyGoal::kMax) {
    // B^-T U, then Y^-1 = (B^-T U) diag(root) (B^-T U)^T.
    MatrixXd dual = at->vectors;
    if (oblique) {
      dual -= Outer(at->rank_one / (1 + at->rank_one * height_) * direction_,
                    TransposedProduct(at->vectors, direction_));
    }
    dual = SolveLowerTransposed(factor_, dual);
    at->inverse = ProductTransposed(dual * at->root.asDiagonal(), dual);
    at->variance = space_->queries.QuadraticForms(
        embedding_.size() > 0 ? ProductTransposed(Product(embedding_, at->inverse), embedding_)
                              : at->inverse);
    if (space_->is_quotient()) at->variance.head(sizes.size()) += left_over_variance;
    at->variance = at->variance.cwiseMax(kLeastVariance * at->variance.maxCoeff());
    if (weights_move_) {
      objective +=
          at->variance.cwiseProduct(space_->importance).maxCoeff() - weight_.dot(at->variance);
    }
  }
  at->upper_bound = objective * at->diagonal.maxCoeff();
  return space_->is_quotient() ? at->lambda.cwiseProduct(sizes).dot(at->diagonal)
                               : at->lambda.dot(at->diagonal);
}

Strategy StrategySolver::Solve(double trade_off, double tolerance, int max_iterations,
                               bool with_gram) {
  weights_move_ = goal_ == StrategyGoal::kMax;
  if (const auto known = solved_.find(trade_off); known != solved_.end()) {
    log_lambda_ = known->second.log_lambda;
    log_weight_ = known->second.log_weight;
  } else if (weights_move_) {
    const double widest =
        std::max(kWidestStart, PortableLog(static_cast<double>(log_weight_.size())));
    log_weight_ = log_weight_.cwiseMax(log_weight_.maxCoeff() - widest);
  }
  const Strategy strategy = Iterate(trade_off, tolerance, max_iterations, with_gram);
  if (weights_move_) solved_[trade_off] = {log_lambda_, log_weight_};
  return strategy;
}

void StrategySolver::WeighAnswers(const VectorXd& answer_weight) {
  weights_move_ = false;
  const VectorXd& copies = space_->copies_of_answer;
  const VectorXd alike =
      space_->is_quotient()
          ? VectorXd(copies / copies.sum())
          : VectorXd::Constant(answer_weight.size(), 1 / static_cast<double>(answer_weight.size()));
  weight_ = ((1 - kSharedWeight) * answer_weight + kSharedWeight * alike)
                .cwiseProduct(space_->importance);
  Factor();
}

Strategy StrategySolver::SolveWeighed(double trade_off, double tolerance, int max_iterations,
                                      bool with_gram) {
  return Iterate(trade_off, tolerance, max_iterations, with_gram);
}

Strategy StrategySolver::Iterate(double trade_off, double tolerance, int max_iterations,
                                 bool with_gram) {
  const Index num_cells = log_lambda_.size();
  const bool max = goal_ == StrategyGoal::kMax;
  Accelerator accelerator;
  Evaluation at;
  Evaluation best;
  double best_gap = std::numeric_limits<double>::infinity();
  VectorXd best_point;
  VectorXd best_weight;
  int iteration = 1;
  for (;; ++iteration) {
    CheckNotStopped(stop_);
    if (weights_move_) {
      SpreadWeight();
      Factor();
    }
    const double mean = Evaluate(trade_off, &at);
    VectorXd point = log_lambda_;
    if (weights_move_) {
      point.resize(num_cells + log_weight_.size());
      point << log_lambda_, log_weight_;
    }
    VectorXd step(point.size());
    // Where the basis is orthogonal, a cell that no query sees beside the total costs nothing.
    step.head(num_cells) = (at.diagonal / mean).array().max(PortableExp(kLeastLogMultiplier)).log();
    if (weights_move_) {
      step.tail(log_weight_.size()) =
          (at.variance.cwiseProduct(space_->importance) / weight_.dot(at.variance)).array().log();
    }
    const double gap = at.upper_bound / at.lower_bound - 1;
    if (gap < best_gap) {
      best_gap = gap;
      best_point = point;
      best_weight = weight_;
      best = at;
    }
    if (best_gap <= tolerance || iteration >= max_iterations) break;
    const VectorXd next = accelerator.Next(point, step, at.lower_bound);
    log_lambda_ = next.head(num_cells);
    log_lambda_ = (log_lambda_.array() - log_lambda_.maxCoeff()).max(kLeastLogMultiplier);
    if (weights_move_) {
      log_weight_ = next.tail(log_weight_.size());
      log_weight_ = (log_weight_.array() - log_weight_.maxCoeff()).max(kLeastLogMultiplier);
    }
  }
  log_lambda_ = best_point.head(num_cells);
  if (weights_move_) {
    log_weight_ = best_point.tail(log_weight_.size());
    weight_ = best_weight;
    Factor();
  }
  // Normalised so that the largest diagonal entry of X is 1.
  const double largest = best.diagonal.maxCoeff();
  Strategy strategy;
  strategy.relative_gap = best_gap;
  strategy.iterations = iteration;
  strategy.constant = fixed_constant_;
  double c = 0;
  if (kind_ == BasisKind::kOblique) {
    const VectorXd solved = SolveOnes(best) * largest;
    c = 1 / space_->ones.dot(solved);
    strategy.constant = c * solved;
    if (with_gram) {
      strategy.gram = DenseX(best) / largest - Outer(c * space_->ones, space_->ones);
    }
  } else if (with_gram) {
    strategy.gram =
        Product(TransposedProduct(projection_, MatrixXd(DenseX(best) / largest)), projection_);
  }
  if (space_->is_quotient()) strategy.left_over = best.left_over / largest;
  strategy.privacy_cost = 1 - c;
  const VectorXd on_constant = space_->queries.Apply(strategy.constant).cwiseAbs2();
  strategy.constant_mean = weight_.dot(on_constant);
  // tr(V Y^-1) = tr(M^1/2) - eta 1^T Y^-1 1, and Y^-1 = z z^T / c + P P^T.
  strategy.residual_mean = largest * best.trace;
  if (kind_ == BasisKind::kOblique) {
    strategy.residual_mean -= (best.eta + strategy.constant_mean) / c;
  }
  if (max && is_fast_) {
    strategy.residual_variance = best.variance * largest - on_constant / c;
    strategy.constant_variance = on_constant;
  } else if (max) {
    MatrixXd inverse = best.inverse * largest;
    if (embedding_.size() > 0)
      inverse = ProductTransposed(Product(embedding_, inverse), embedding_);
    if (c > 0) inverse -= Outer(strategy.constant, strategy.constant) / c;
    strategy.residual_variance = space_->queries.QuadraticForms(inverse);
    if (space_->is_quotient()) {
      const VectorXd& sizes = space_->cells_of_block;
      strategy.residual_variance.head(sizes.size()).array() +=
          (sizes.array() - 1) / sizes.array() / strategy.left_over.array();
    }
    strategy.constant_variance = on_constant;
  }
  if (max) {
    strategy.residual_variance = strategy.residual_variance.cwiseProduct(space_->importance);
    strategy.constant_variance = strategy.constant_variance.cwiseProduct(space_->importance);
  }
  return strategy;
}

}  // namespace residua
