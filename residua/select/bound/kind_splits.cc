#include "residua/select/bound/kind_splits.h"

#include <cmath>
#include <utility>

#include "residua/base/portable_math.h"
#include "residua/basis/tree/tree_multipliers.h"
#include "residua/basis/tree/tree_root.h"
#include "residua/select/bound/smooth_multipliers.h"
#include "residua/select/bound/weight_ascent.h"

namespace residua {
namespace {

// Multipliers need not be at the fixed point, for the bound is flat there.
constexpr double kTolerance = 1e-4;
constexpr double kMaxTolerance = 1e-3;
constexpr int kIterations = 40;
constexpr int kMaxIterations = 60;
constexpr int kLargeKindIterations = 5;
// The weights of a tree's answers start once, and hardly depend on the trade-off.
constexpr int kLaterTreeIterations = 10;
// For means, large regular trees take 20 to 30; small ones with very uneven weights take more.
constexpr int kTreeIterations = 200;
// Where the family of TreeSolver is further than this above what its multipliers prove, they climb
// on, as long as a step gains so much; in a few dozen steps they come to what any strategy's prove.
constexpr double kProvenEnough = 2e-4;
constexpr double kWorthClimbing = 1e-5;
constexpr int kClimbingSteps = 40;
// Attributes of a smooth kind, of more than twice as many cells, take their multipliers from one of
// this size.
constexpr int64_t kCoarse = 64;
// Where they do so for hundreds of cells, they are wrong near the ends, which costs 1 % for 16,384
// prefix sums; each step from there takes off some three quarters of it.
constexpr int kLargeSteps = 3;
// Beyond every trade-off that is searched.
constexpr int kFirstAscended = 1000;

}  // namespace

KindSplits::KindSplits(const Attribute& attribute, StrategyGoal goal)
    : goal_(goal), queries_(attribute.queries), size_(attribute.size) {
  if (is_identity() || is_smooth()) return;
  Attribute bare = attribute;
  bare.strategy = {};  // the bound is against every strategy
  auto tree = TreeFor(bare);
  // Where a tree has few blocks, a dense split would be the same, but for what rounding leaves open.
  if (tree && goal == StrategyGoal::kMean) {
    if (auto groups = GroupTree(bare)) tree = std::move(groups);
  }
  if (tree && tree->kind == CellTree::Kind::kGroups) {
    tree_ = std::make_shared<const CellTree>(std::move(*tree));
    tree_solver_ = std::make_unique<TreeSolver>(bare, tree_, goal);
    return;
  }
  space_ = tree && tree->kind == CellTree::Kind::kBlocks ? std::make_unique<QuerySpace>(bare, *tree)
                                                         : std::make_unique<QuerySpace>(bare);
  solver_ = std::make_unique<StrategySolver>(*space_, BasisKind::kOblique, goal);
  // The kinds that are fast have smooth multipliers. For the largest variance of ranges, each cell
  // has many answers, whose weights are not known from fewer cells.
  if (!solver_->is_fast() || size_ <= 2 * kCoarse) return;
  bare.size = kCoarse;
  coarse_space_ = std::make_unique<QuerySpace>(bare);
  coarse_ = std::make_unique<StrategySolver>(*coarse_space_, BasisKind::kOblique, goal);
}

const AttributeSplit& KindSplits::Split(int num_active, int place) {
  const auto key = std::make_tuple(quarter, num_active, num_active == 1 ? place : 0);
  const auto known = splits_.find(key);
  if (known != splits_.end()) return known->second;
  AttributeSplit split;
  if (is_identity()) {
    split = SplitIdentity(size_);
  } else if (tree_ != nullptr) {
    split = SplitOfTree(num_active);
  } else if (is_fast()) {
    split = SplitOfMany(num_active);
  } else {
    const Point& point = Solved();
    if (point.frame->query_margin >= 1) {
      split.query_margin = 1;
    } else {
      split = num_active == 1
                  ? SplitWithoutActive(point.root, static_cast<double>(place) / (kNumPlaces - 1))
                  : SplitWithActive(point.root, num_active);
    }
  }
  return splits_.emplace(key, split).first->second;
}

AttributeSplit KindSplits::SplitOfTree(int num_active) {
  if (goal_ == StrategyGoal::kMax) {
    tree_solver_->Solve(0.25 * quarter, kMaxTolerance,
                        splits_.empty() ? kMaxIterations : kLaterTreeIterations);
    const Eigen::VectorXd lambda = ScaledToOne(tree_solver_->multipliers());
    return residua::SplitOfTree(TreeRoot(tree_, tree_solver_->weights(), lambda), lambda,
                                num_active);
  }
  auto known = tree_multipliers_.find(quarter);
  if (known == tree_multipliers_.end()) {
    const Strategy strategy = tree_solver_->Solve(0.25 * quarter, kTolerance, kTreeIterations);
    const double eta = PortableExpm1(0.25 * quarter) / tree_solver_->height();
    const double reached =
        strategy.residual_mean + (strategy.constant_mean + eta) / (1 - strategy.privacy_cost);
    const TreeMultipliers climbed = ClimbMultipliers(
        {tree_, tree_solver_->weights(), {{1, eta}}}, tree_solver_->multipliers(),
        {std::sqrt(reached) * (1 - kProvenEnough), kWorthClimbing, kClimbingSteps});
    known = tree_multipliers_.emplace(quarter, ScaledToOne(climbed.lambda)).first;
  }
  const Eigen::VectorXd& lambda = known->second;
  return residua::SplitOfTree(TreeRoot(tree_, tree_solver_->weights(), lambda), lambda, num_active);
}

Eigen::VectorXd KindSplits::CellMultipliers() const {
  if (tree_ != nullptr) return tree_multipliers_.at(quarter);
  return solver_->multipliers();
}

AttributeSplit KindSplits::SplitOfMany(int num_active) {
  const double trade_off = 0.25 * quarter;
  if (is_smooth()) {
    const Eigen::VectorXd lambda = ScaledToOne(SmoothMultipliers(queries_, size_, trade_off));
    const double total_factor = PortableExp(trade_off);
    if (queries_ == QueryKind::kRange) return SplitOfRanges(lambda, total_factor, num_active);
    const double share = 1 / static_cast<double>(size_);
    return SplitOfPrefixes(Eigen::VectorXd::Constant(lambda.size(), share), lambda, total_factor,
                           num_active);
  }
  SolveAtQuarter();
  return SplitOfPrefixes(solver_->query_weights(), ScaledToOne(solver_->multipliers()),
                         1 + solver_->Eta(trade_off) * solver_->height(), num_active);
}

bool KindSplits::can_ascend() const {
  return !is_identity() && !is_fast() && !space_->is_quotient() && space_->rank() > 1 &&
         size_ <= kMostAscended && points_.at(quarter).frame->query_margin < 1;
}

void KindSplits::Ascend(int num_active, double exponent,
                        const std::function<double(const AttributeSplit&)>& bound) {
  const Point& from = points_.at(quarter);
  const AttributeWeights weights =
      AscendedWeights(*space_, from.root, from.answer_weight, num_active, exponent, bound);
  Point to;
  to.frame = std::make_shared<AttributeFrame>(FrameOf(*space_, weights.answers));
  to.answer_weight = weights.answers;
  if (to.frame->query_margin < 1) to.root = RootOf(*to.frame, weights.cells);
  quarter = kFirstAscended + num_ascents_++;
  points_.emplace(quarter, std::move(to));
}

void KindSplits::SolveAtQuarter() {
  const bool max = goal_ == StrategyGoal::kMax;
  StrategySolver& solver = coarse_ ? *coarse_ : *solver_;
  solver.Solve(0.25 * quarter, max ? kMaxTolerance : kTolerance,
               !coarse_ && is_large() ? kLargeKindIterations
               : max                  ? kMaxIterations
                                      : kIterations,
               false);
  if (!coarse_) return;
  solver_->StartFrom(*coarse_);
  if (is_large()) solver_->Solve(0.25 * quarter, 0, kLargeSteps, false);
}

const KindSplits::Point& KindSplits::Solved() {
  const auto known = points_.find(quarter);
  if (known != points_.end()) return known->second;
  SolveAtQuarter();
  if (goal_ == StrategyGoal::kMax || frame_ == nullptr) {
    frame_ = std::make_shared<AttributeFrame>(FrameOf(*space_, solver_->query_weights()));
  }
  Point point;
  point.frame = frame_;
  point.answer_weight = solver_->query_weights();
  if (frame_->query_margin < 1) point.root = RootOf(*frame_, solver_->multipliers());
  return points_.emplace(quarter, std::move(point)).first->second;
}

}  // namespace residua
