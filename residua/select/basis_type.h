#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <vector>

#include "residua/basis/residual_basis.h"
#include "residua/basis/strategy_solver.h"
#include "residua/basis/tree/tree_solver.h"
#include "residua/select/choose_bases.h"

namespace residua {

// Above this many cells a dense step takes a second: the last digits are not worth a minute.
inline constexpr int64_t kLargeAttribute = 400;
// Bracket of the trade-off u: beyond, privacy costs differ from their limits by less than 1e-3.
inline constexpr double kLeastTradeOff = -12;
inline constexpr double kMostTradeOff = 12;
// How near the final strategy of a large attribute is to its optimum, and any for the largest
// variance.
inline constexpr double kLargeTolerance = 2e-5;
// Steps of a solution while searching, and at last.
inline constexpr int kSearchSteps = 60;
inline constexpr int kFinalSteps = 200;
// The finest scale of integer bases that is tried, in bits.
inline constexpr int kMostScaleBits = 24;

// Attributes with the same queries that share a basis.
struct BasisType {
  const Attribute* attribute = nullptr;
  std::vector<int> classes;
  std::shared_ptr<const QuerySpace> space;
  std::shared_ptr<StrategySolver> solver;
  std::shared_ptr<const CellTree> tree;     // that the basis follows, if any
  std::shared_ptr<TreeSolver> tree_solver;  // in place of space and solver
  Eigen::MatrixXd factor;  // of the user's own strategy, or the solver's in the end
  // Of blocks what is left over, beside the factor; else precisions, beside it or in its place.
  Eigen::VectorXd on_tree;
  Eigen::VectorXd shares;                      // beside precisions
  std::shared_ptr<const ResidualBasis> fixed;  // in place of all of these
  bool is_convolution = false;                 // whose trade-off is searched by the loss
  double trade_off = 0;
  Eigen::VectorXd answer_weight;  // of kMax: from the whole problem; empty for the attribute's own

  bool is_given() const { return solver == nullptr && tree_solver == nullptr; }
  bool is_large() const {
    return solver != nullptr && space->rank() > kLargeAttribute && !solver->is_fast();
  }
  // Of a tree more, where its queries say little of the total by themselves: eta and not e^u = 1 +
  // eta h must come to what tables without the attribute ask.
  double MostTradeOff() const;
  // Steps of a solution, while searching and at last.
  int search_steps() const;
  int final_steps() const;
  Strategy Solve(double at, double tolerance, int max_steps, bool with_gram) const;
  // Of kMax: what Solve counts answers for from here on.
  void Weigh(const Eigen::VectorXd& weight);
};

// A type for each kind of queries that is not the identity's.
std::vector<BasisType> GroupTypes(const BasisProblem& problem);

// A type for each class, from the trade-offs found for all classes of a type together; as it is if
// that would be too many, or none more.
std::vector<BasisType> SplitTypes(const std::vector<BasisType>& types, StrategyGoal goal);

// For all of the type's classes.
void PutBasis(const BasisType& type, const ResidualBasis& basis, std::vector<ResidualBasis>* bases);

// A basis as far as selection looks at it: its answers as the objective counts them.
ResidualBasis Draft(const BasisType& type, const Strategy& strategy);

// F with F^T F = G of the strategy, in the coordinates of the type's space.
Eigen::MatrixXd FactorOf(const BasisType& type, const Strategy& strategy);

// What is chosen, in integers of that scale. None if they are too coarse for queries that nearly
// depend on one another, and finer ones can be had.
std::optional<ResidualBasis> RoundedTo(int scale_bits, const BasisType& type);

}  // namespace residua
