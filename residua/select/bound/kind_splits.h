#pragma once

#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "residua/basis/strategy_solver.h"
#include "residua/basis/tree/tree_solver.h"
#include "residua/model/attribute.h"
#include "residua/select/bound/attribute_split.h"

namespace residua {

// Above this many cells a dense split takes a second or more: weights are hardly searched.
inline constexpr int64_t kLargeKind = 400;
// Above this many cells weights do not ascend: a step would take a tenth of a second.
inline constexpr int64_t kMostAscended = 160;

// The splits of all attributes with the same queries, by the trade-off of the one-attribute problem
// (StrategySolver, or TreeSolver for trees of groups) that the weights of cells and answers are taken
// from. Each is made once.
class KindSplits {
 public:
  KindSplits(const Attribute& attribute, StrategyGoal goal);

  bool is_identity() const { return queries_ == QueryKind::kIdentity; }
  bool is_large() const {
    return is_smooth() || (space_ != nullptr && space_->rank() > kLargeKind);
  }
  // Prefix sums and ranges of many cells, for means: nothing is solved for all of their answers.
  bool is_smooth() const {
    return goal_ == StrategyGoal::kMean && size_ > kLargeKind &&
           (queries_ == QueryKind::kPrefix || queries_ == QueryKind::kRange);
  }
  // Whether its splits take linear time.
  bool is_fast() const {
    return tree_ != nullptr || is_smooth() || (is_large() && solver_->is_fast());
  }

  // At `quarter`. With one active direction, at place 0 <= `place` < kNumPlaces between the two
  // ends of SplitWithoutActive. If its `query_margin` is 1, doubles cannot tell the queries apart,
  // and nothing else is set.
  static constexpr int kNumPlaces = 5;
  const AttributeSplit& Split(int num_active, int place);

  // Of kMean, not the identity nor a quotient, at a split that was made: weights of the cells, which
  // sum to 1.
  Eigen::VectorXd CellMultipliers() const;

  // Whether Ascend can be asked of it, at a split of two or three active directions.
  bool can_ascend() const;
  // Moves to better weights (AscendedWeights), at a `quarter` of their own, beyond those of the
  // search; going back to the one before takes them back.
  void Ascend(int num_active, double exponent,
              const std::function<double(const AttributeSplit&)>& bound);

  std::vector<int> classes;  // of attributes, whose queries are these
  int quarter = 8;           // the trade-off, times 4

 private:
  struct Point {
    std::shared_ptr<const AttributeFrame> frame;
    FrameRoot root;
    Eigen::VectorXd answer_weight;
  };
  const Point& Solved();
  void SolveAtQuarter();
  AttributeSplit SplitOfTree(int num_active);
  AttributeSplit SplitOfMany(int num_active);

  StrategyGoal goal_;
  QueryKind queries_;
  int64_t size_;
  std::shared_ptr<const CellTree> tree_;  // of groups: in place of a space
  std::unique_ptr<TreeSolver> tree_solver_;
  std::map<int, Eigen::VectorXd> tree_multipliers_;  // of kMean, by quarter
  std::unique_ptr<QuerySpace> space_;
  std::unique_ptr<StrategySolver> solver_;
  std::unique_ptr<QuerySpace> coarse_space_;
  std::unique_ptr<StrategySolver> coarse_;
  std::shared_ptr<const AttributeFrame> frame_;
  std::map<int, Point> points_;
  int num_ascents_ = 0;
  std::map<std::tuple<int, int, int>, AttributeSplit> splits_;
};

}  // namespace residua
