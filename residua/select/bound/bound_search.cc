#include "residua/select/bound/bound_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "residua/base/error.h"
#include "residua/base/portable_math.h"
#include "residua/model/closure.h"
#include "residua/model/symmetry.h"
#include "residua/select/bound/kind_splits.h"
#include "residua/select/bound/symmetric_blocks.h"
#include "residua/select/bound/tree_bound.h"
#include "residua/select/objective_rows.h"
#include "residua/select/solvers/closed_form.h"
#include "residua/select/solvers/convex_loss.h"
#include "residua/select/solvers/max_variance.h"

namespace residua {
namespace {

// What sums of positive terms may be wrong by, millions of them; see docs/lower_bound.md.
constexpr double kRoundingMargin = 1e-9;
// Trade-offs in quarters: the steps of the search, of which the first is for smooth kinds of many
// cells, whose best trade-off grows with the logarithm of their number; and its ends, the last one
// beyond that of equal weights of the total and the largest attributes there are.
constexpr int kFarStep = 12;
constexpr int kSteps[] = {kFarStep, 4, 2, 1};
constexpr int kLeastQuarter = -8;
constexpr int kMostQuarter = 56;
// Work for blocks, as SymmetricBlocks counts it: a tenth of a second or so, each.
constexpr double kSearchWork = 1e7;
constexpr double kFinalWork = 3e8;
constexpr double kAscentWork = 2e7;
// Steps of the ascent in table weights, while searching and at last, and the gap that ends it.
constexpr int kSearchAscent = 12;
constexpr int kFinalAscent = 80;
constexpr double kAscentTolerance = 1e-5;
// The same with weights of answers and cells: steps, of which each is worth this much, table weights
// within one, and the exponent, which is halved when a step fails.
constexpr int kWeightAscents = 30;
constexpr double kWorthAscending = 2e-4;
constexpr int kInnerAscent = 3;
constexpr double kFirstExponent = 1.5;
constexpr double kLeastExponent = 0.3;
// Of the ascent: the exponent for the largest variance, and the least share of a table.
constexpr double kExponent = 1.8;
constexpr double kLeastLogShare = -40;

// Row j, column k: what the weight of every table of workload orbit j adds to the demand on a set
// of closure orbit k: prod_{i in A} 1/h_i for each table A that holds the set.
VarianceMatrix DemandMatrix(const WorkloadOrbits& workload, const MultisetTable& closure,
                            const std::vector<AttributeSplit>& splits) {
  VarianceMatrix matrix;
  matrix.num_columns = closure.size();
  for (int64_t j = 0; j < workload.orbits.size(); ++j) {
    const std::vector<ClassRun> runs = ClassRuns(workload.orbits[j]);
    double scale = 1;
    for (const int c : workload.orbits[j]) scale /= splits[static_cast<size_t>(c)].height;
    ForEachSubOrbit(runs, [&](std::span<const int> sub, std::span<const int> taken) {
      const auto index = closure.Find(sub);
      RESIDUA_CHECK(index.has_value());
      double coefficient = scale;
      for (size_t k = 0; k < runs.size(); ++k) {
        const auto c = static_cast<size_t>(runs[k].attribute_class);
        const int others = static_cast<int>(workload.classes.members[c].size()) - taken[k];
        for (int i = 0; i < runs[k].count - taken[k]; ++i) {
          coefficient *= static_cast<double>(others - i) / (i + 1);
        }
      }
      matrix.column.push_back(static_cast<int32_t>(*index));
      matrix.coefficient.push_back(coefficient);
    });
    matrix.row_begin.push_back(static_cast<int64_t>(matrix.column.size()));
    matrix.table.push_back(j);
  }
  return matrix;
}

class BoundSearch {
 public:
  BoundSearch(const Domain& domain, const Workload& workload, const Objective& objective,
              StrategyGoal goal)
      : objective_(objective),
        goal_(goal),
        workload_(FindSymmetry(domain, workload)),
        closure_(Closure(workload_.orbits)) {
    const auto num_classes = static_cast<size_t>(workload_.classes.size());
    asked_.assign(num_classes, false);
    for (int64_t j = 0; j < workload_.orbits.size(); ++j) {
      most_order_ = std::max(most_order_, workload_.orbits[j].size());
      for (const int c : workload_.orbits[j]) asked_[static_cast<size_t>(c)] = true;
    }
    std::vector<ResidualBasis> sizes(num_classes);  // as far as WeighTables looks
    for (int c = 0; c < workload_.classes.size(); ++c) {
      const Attribute& attribute =
          domain[workload_.classes.members[static_cast<size_t>(c)].front()];
      sizes[static_cast<size_t>(c)].num_answers = NumAnswers(attribute);
      if (!asked_[static_cast<size_t>(c)]) continue;
      size_t k = 0;
      while (k < kinds_.size() && !SameQueries(*first_of_kind_[k], attribute)) ++k;
      if (k == kinds_.size()) {
        kinds_.emplace_back(attribute, goal);
        first_of_kind_.push_back(&attribute);
      }
      kinds_[k].classes.push_back(c);
    }
    weights_ = WeighTables(workload_, sizes, objective.weighting);
    StartWeights();
  }

  double Run() {
    std::vector<int> active(asked_.size(), 1);
    if (std::all_of(kinds_.begin(), kinds_.end(),
                    [](const KindSplits& k) { return k.is_identity(); })) {
      return Uncoupled(Splits(active, 0));
    }
    // Searched with as many active directions as are quickly coupled.
    active = ChooseActive(kSearchWork, kMaxActive);
    blocks_ = MakeBlocks(active, kSearchWork);
    SearchTradeOffs(active);
    if (goal_ == StrategyGoal::kMax) AscendWeights(active);
    int best_place = 0;
    if (std::any_of(kinds_.begin(), kinds_.end(), [&](const KindSplits& kind) {
          return !kind.is_identity() && active[static_cast<size_t>(kind.classes.front())] == 1;
        })) {
      double best = 0;
      for (int place = 0; place < KindSplits::kNumPlaces; ++place) {
        const double bound = Bound(active, place, kSearchAscent);
        if (bound > best) {
          best = bound;
          best_place = place;
        }
      }
    }
    const double most_work = IsLinear() ? kFinalWork : kAscentWork;
    active = ChooseActive(most_work, kMaxActive);
    blocks_ = MakeBlocks(active, most_work);
    return std::max(Bound(active, best_place, kFinalAscent), BoundOfOneTree(active));
  }

 private:
  bool IsMax() const { return objective_.kind == Objective::Kind::kMaxVariance; }
  bool IsLinear() const {
    return objective_.kind == Objective::Kind::kSumVariance ||
           (objective_.kind == Objective::Kind::kPNorm && objective_.p == 1);
  }

  std::unique_ptr<SymmetricBlocks> MakeBlocks(const std::vector<int>& active,
                                              double most_work) const {
    return std::make_unique<SymmetricBlocks>(workload_.classes, closure_, active, most_work);
  }

  // Up to `most` active directions for every class whose queries are not the identity; if that is
  // too much work, two; if that is, for three quarters of the kinds, and so on, those with the
  // strongest coupling.
  std::vector<int> ChooseActive(double most_work, int most) {
    std::vector<KindSplits*> coupled;
    for (KindSplits& kind : kinds_) {
      if (!kind.is_identity()) coupled.push_back(&kind);
    }
    const auto with = [&](size_t num_kinds, int num_active) {
      std::vector<int> active(asked_.size(), 1);
      for (size_t k = 0; k < num_kinds; ++k) {
        for (const int c : coupled[k]->classes) active[static_cast<size_t>(c)] = num_active;
      }
      return active;
    };
    for (int num_active = most; num_active >= 2; --num_active) {
      const std::vector<int> active = with(coupled.size(), num_active);
      if (!MakeBlocks(active, most_work)->too_much()) return active;
    }
    std::stable_sort(coupled.begin(), coupled.end(), [](KindSplits* a, KindSplits* b) {
      const AttributeSplit& of_a = a->Split(2, 0);
      const AttributeSplit& of_b = b->Split(2, 0);
      return of_a.link * of_a.second > of_b.link * of_b.second;
    });
    for (size_t count = coupled.size() * 3 / 4; count > 0; count = count * 3 / 4) {
      const std::vector<int> active = with(count, 2);
      if (!MakeBlocks(active, most_work)->too_much()) return active;
    }
    return with(0, 1);
  }

  std::vector<AttributeSplit> Splits(const std::vector<int>& active, int place) {
    AttributeSplit never_asked;
    never_asked.height = 1;
    std::vector<AttributeSplit> splits(asked_.size(), never_asked);
    for (KindSplits& kind : kinds_) {
      for (const int c : kind.classes) {
        splits[static_cast<size_t>(c)] = kind.Split(active[static_cast<size_t>(c)], place);
      }
    }
    return splits;
  }

  // All kinds at once, then each by itself; each step as long as it pays.
  void SearchTradeOffs(const std::vector<int>& active) {
    std::vector<std::vector<KindSplits*>> groups(1);
    for (KindSplits& kind : kinds_) {
      if (!kind.is_identity() && (!kind.is_large() || kind.is_fast())) groups[0].push_back(&kind);
    }
    if (groups[0].empty()) return;
    const std::vector<KindSplits*> all = groups[0];
    double best = Bound(active, 0, kSearchAscent);
    const bool far =
        std::any_of(all.begin(), all.end(), [](const KindSplits* k) { return k->is_smooth(); });
    for (const int step : kSteps) {
      if (step == kFarStep && !far) continue;
      for (const std::vector<KindSplits*>& group : groups) {
        for (const int direction : {1, -1}) {
          bool moved = false;
          for (;;) {
            const int trial = group.front()->quarter + direction * step;
            if (trial < kLeastQuarter || trial > kMostQuarter) break;
            for (KindSplits* kind : group) kind->quarter += direction * step;
            const double bound = Bound(active, 0, kSearchAscent);
            if (!(bound > best * (1 + 1e-6))) {
              for (KindSplits* kind : group) kind->quarter -= direction * step;
              break;
            }
            best = bound;
            moved = true;
          }
          if (moved) break;
        }
      }
      if (all.size() > 1 && all.size() <= kMaxSearchedKinds && groups.size() == 1) {
        for (KindSplits* kind : all) groups.push_back({kind});
      }
    }
  }

  // From the weights of each kind's own problem to better ones for all together. Every answer of a
  // kind has one weight in all tables.
  void AscendWeights(const std::vector<int>& active) {
    std::vector<KindSplits*> kinds;
    for (KindSplits& kind : kinds_) {
      const int num_active = active[static_cast<size_t>(kind.classes.front())];
      if (num_active > 1 && kind.can_ascend() && kind.Split(num_active, 0).num_active > 1) {
        kinds.push_back(&kind);
      }
    }
    if (kinds.empty()) return;
    double best = Bound(active, 0, kSearchAscent);
    double exponent = kFirstExponent;
    for (int step = 0; step < kWeightAscents && exponent >= kLeastExponent; ++step) {
      const std::vector<double> weight_before = log_weight_;
      std::vector<int> before;
      const std::vector<AttributeSplit> splits = Splits(active, 0);
      const std::vector<double> weight = NormalisedWeights();
      for (KindSplits* kind : kinds) {
        before.push_back(kind->quarter);
        const auto c = static_cast<size_t>(kind->classes.front());
        kind->Ascend(splits[c].num_active, exponent, [&](const AttributeSplit& split) {
          std::vector<AttributeSplit> replaced = splits;
          for (const int of : kind->classes) replaced[static_cast<size_t>(of)] = split;
          std::vector<double> demand;
          SetDemand(DemandMatrix(workload_, closure_, replaced), weight, &demand);
          return blocks_->Evaluate(replaced, demand, nullptr);
        });
      }
      const double bound = Bound(active, 0, kInnerAscent);
      if (bound > best * (1 + kWorthAscending)) {
        best = bound;
        continue;
      }
      exponent /= 2;
      if (bound > best) continue;
      for (size_t k = 0; k < kinds.size(); ++k) kinds[k]->quarter = before[k];
      log_weight_ = weight_before;
    }
  }

  // What rounding may have added, relatively.
  double Margin(const std::vector<AttributeSplit>& splits) const {
    double margin = kRoundingMargin;
    double query_margin = 0;
    for (size_t c = 0; c < splits.size(); ++c) {
      margin += 2 * splits[c].margin * static_cast<double>(workload_.classes.members[c].size());
      query_margin = std::max(query_margin, splits[c].query_margin);
    }
    return std::min(1.0, margin + query_margin * static_cast<double>(most_order_));
  }

  // The weight of each workload orbit's tables, all together, per unit of its mean variance: of
  // dual norm 1, so that weight . variances <= loss.
  void StartWeights() {
    log_weight_.clear();
    for (size_t j = 0; j < weights_.importance.size(); ++j) {
      log_weight_.push_back(PortableLog(weights_.total_importance[j]));
    }
  }

  // Of the weight that a table has by itself: shares of it are what the norm looks at.
  double LogUnit(size_t j) const {
    return IsMax() ? PortableLog(weights_.importance[j])
                   : PortableLog(weights_.total_importance[j]) / objective_.p;
  }

  std::vector<double> NormalisedWeights() {
    std::vector<double> weight(log_weight_.size());
    const double largest = *std::max_element(log_weight_.begin(), log_weight_.end());
    double largest_share = -std::numeric_limits<double>::infinity();
    for (size_t j = 0; j < weight.size(); ++j) {
      log_weight_[j] -= largest;
      largest_share = std::max(largest_share, log_weight_[j] - LogUnit(j));
    }
    for (size_t j = 0; j < weight.size(); ++j) {
      log_weight_[j] = std::max(log_weight_[j], LogUnit(j) + largest_share + kLeastLogShare);
      weight[j] = PortableExp(log_weight_[j]);
    }
    double norm = 0;
    if (IsMax()) {
      for (size_t j = 0; j < weight.size(); ++j) norm += weight[j] / weights_.importance[j];
    } else {
      // sum_j g_j v_j <= (sum_j (g_j / b_j)^q)^(1/q) (sum_j (b_j v_j)^p)^(1/p), b_j^p = importance.
      const double q = objective_.p / (objective_.p - 1);
      double scale = 0;
      std::vector<double> ratio(weight.size());
      for (size_t j = 0; j < weight.size(); ++j) {
        ratio[j] = weight[j] / PortablePow(weights_.total_importance[j], 1 / objective_.p);
        scale = std::max(scale, ratio[j]);
      }
      for (const double r : ratio) norm += PortablePow(r / scale, q);
      norm = scale * PortablePow(norm, 1 / q);
    }
    for (double& w : weight) w /= norm;
    return weight;
  }

  // What the tables' `weight`, each orbit's together, asks of every set of the closure.
  void SetDemand(const VarianceMatrix& matrix, const std::vector<double>& weight,
                 std::vector<double>* demand) const {
    std::vector<double> per_table(weight.size());
    for (size_t j = 0; j < weight.size(); ++j) per_table[j] = weight[j] / weights_.num_tables[j];
    demand->assign(static_cast<size_t>(closure_.size()), 0.0);
    MultiplyTransposed(matrix, per_table, *demand);
  }

  double Bound(const std::vector<int>& active, int place, int max_steps) {
    const std::vector<AttributeSplit> splits = Splits(active, place);
    const double margin = Margin(splits);
    if (margin >= 1) return 0;
    const VarianceMatrix matrix = DemandMatrix(workload_, closure_, splits);
    std::vector<double> demand;
    if (IsLinear()) {
      SetDemand(matrix, weights_.total_importance, &demand);
      const double sum = blocks_->Evaluate(splits, demand, nullptr);
      return sum * sum * (1 - margin);
    }
    double best = 0;
    std::vector<double> best_weight = log_weight_;
    std::vector<double> gradient;
    std::vector<double> variance(weights_.importance.size());
    for (int step = 0; step < max_steps; ++step) {
      SetDemand(matrix, NormalisedWeights(), &demand);
      const double sum = blocks_->Evaluate(splits, demand, &gradient);
      const double bound = sum * sum;
      if (bound > best) {
        best = bound;
        best_weight = log_weight_;
      }
      // The derivative of the bound by the weight of an orbit: its tables' mean variance.
      Multiply(matrix, gradient, variance);
      double largest = 0;
      for (size_t j = 0; j < variance.size(); ++j) {
        variance[j] *= 2 * sum / weights_.num_tables[j];
        largest = std::max(largest, variance[j] * weights_.importance[j]);
      }
      if (IsMax()) {
        if (largest <= bound * (1 + kAscentTolerance)) break;
        for (size_t j = 0; j < variance.size(); ++j) {
          log_weight_[j] += kExponent * PortableLog(variance[j] * weights_.importance[j] / bound);
        }
      } else {
        // Towards the gradient of the loss, total_importance_j v_j^(p-1), and the less far the
        // larger p: the variances answer to the weights.
        const double damping = 1 / (1 + 0.6 * (objective_.p - 1));
        std::vector<double> target(variance.size());
        for (size_t j = 0; j < variance.size(); ++j) {
          target[j] = PortableLog(weights_.total_importance[j]) +
                      (objective_.p - 1) * PortableLog(variance[j]);
        }
        const double shift = *std::max_element(target.begin(), target.end());
        double most = 0;
        for (size_t j = 0; j < variance.size(); ++j) {
          const double move = damping * (target[j] - shift - log_weight_[j]);
          most = std::max(most, std::fabs(move));
          log_weight_[j] += move;
        }
        if (most < kAscentTolerance) break;
      }
    }
    log_weight_ = best_weight;
    return best * (1 - margin);
  }

  // For sums, where one hierarchy is asked for beside identity attributes: TreeBound. Otherwise 0.
  double BoundOfOneTree(const std::vector<int>& active) {
    if (!IsLinear() || goal_ != StrategyGoal::kMean) return 0;
    size_t only = kinds_.size();
    for (size_t k = 0; k < kinds_.size(); ++k) {
      if (kinds_[k].is_identity()) continue;
      if (only < kinds_.size()) return 0;
      only = k;
    }
    const int tree_class = kinds_[only].classes.front();
    if (kinds_[only].classes.size() > 1 ||
        workload_.classes.members[static_cast<size_t>(tree_class)].size() > 1) {
      return 0;
    }
    Attribute bare = *first_of_kind_[only];
    bare.strategy = {};
    const TreeBound tree(bare);
    if (!tree.is_nested()) return 0;
    std::vector<AttributeSplit> splits = Splits(active, 0);
    splits[static_cast<size_t>(tree_class)].height = tree.height();
    std::vector<double> demand;
    SetDemand(DemandMatrix(workload_, closure_, splits), weights_.total_importance, &demand);
    std::vector<TreeDemand> demands;
    for (int64_t k = 0; k < closure_.size(); ++k) {
      std::vector<int> set(closure_[k].begin(), closure_[k].end());
      if (std::find(set.begin(), set.end(), tree_class) != set.end()) continue;
      TreeDemand of_set;
      of_set.factor = OrbitSize(workload_.classes, set).get_d();
      for (const int c : set) of_set.factor *= splits[static_cast<size_t>(c)].rest;
      of_set.without_tree = demand[static_cast<size_t>(k)];
      set.insert(std::upper_bound(set.begin(), set.end(), tree_class), tree_class);
      const auto with = closure_.Find(set);
      if (with) of_set.with_tree = demand[static_cast<size_t>(*with)];
      demands.push_back(of_set);
    }
    if (demands.size() > kMostSetsBesideTree) return 0;
    splits[static_cast<size_t>(tree_class)].margin = 0;
    splits[static_cast<size_t>(tree_class)].query_margin = 0;
    const double sum = tree.Sum(demands, kinds_[only].CellMultipliers());
    return sum * sum * (1 - Margin(splits));
  }

  // With nothing coupled, the bound is the closed form of a plan's loss, and its solvers find the
  // best weights to the last digits.
  double Uncoupled(const std::vector<AttributeSplit>& splits) const {
    const VarianceMatrix matrix = DemandMatrix(workload_, closure_, splits);
    std::vector<double> cost;
    for (int64_t k = 0; k < closure_.size(); ++k) {
      double root = OrbitSize(workload_.classes, closure_[k]).get_d();
      for (const int c : closure_[k]) root *= splits[static_cast<size_t>(c)].rest;
      cost.push_back(root * root);
    }
    std::vector<double> weight = IsMax() ? weights_.importance : weights_.total_importance;
    const double p = IsLinear() || IsMax() ? 1 : objective_.p;
    for (size_t j = 0; j < weight.size(); ++j) weight[j] /= PortablePow(weights_.num_tables[j], p);
    const double margin = 1 - Margin(splits);
    if (IsLinear()) return margin * MinimizeSum(matrix, cost, weight, 1).lower_bound;
    if (IsMax()) return margin * MinimizeMax(matrix, cost, weight, 1, {}).lower_bound;
    return margin * MinimizeConvex(matrix, cost, PNormLoss(weight, p), 1, {}).lower_bound;
  }

  // Beyond, TreeBound takes longer than the rest.
  static constexpr size_t kMostSetsBesideTree = 32;
  // Beyond, one trade-off does for all.
  static constexpr size_t kMaxSearchedKinds = 4;

  Objective objective_;
  StrategyGoal goal_;
  WorkloadOrbits workload_;
  MultisetTable closure_;
  std::vector<bool> asked_;
  size_t most_order_ = 0;
  std::vector<KindSplits> kinds_;
  std::vector<const Attribute*> first_of_kind_;
  TableWeights weights_;
  std::vector<double> log_weight_;
  std::unique_ptr<SymmetricBlocks> blocks_;
};

}  // namespace

double SearchBound(const Domain& domain, const Workload& workload, const Objective& objective,
                   StrategyGoal goal) {
  return BoundSearch(domain, workload, objective, goal).Run();
}

}  // namespace residua
