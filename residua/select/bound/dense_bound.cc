#include "residua/select/bound/dense_bound.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "residua/basis/dense_products.h"
#include "residua/basis/query_matrix.h"
#include "residua/basis/symmetric_eigen.h"
#include "residua/model/answer_weights.h"
#include "residua/model/symmetry.h"
#include "residua/select/objective_rows.h"

namespace residua {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// A step is the stack times its columns again, and eigenvalues of about ten times their cube, for
// each block. With fewer steps than the least the bound may be 3 % below its limit.
constexpr double kEigenWork = 10;
constexpr double kMostDenseWork = 3e9;
constexpr double kLeastDenseSteps = 10;
constexpr double kMostDenseSteps = 200;
constexpr double kDenseTolerance = 1e-3;
// The fixed point's own step of the queries' weights, made longer: half as many steps are needed.
constexpr double kQueryExponent = 1.8;
// Beyond, listing the tables may take long.
constexpr int kMostAttributes = 16;
// Every query keeps a share, so that those that vanished can come back.
constexpr double kLeastShare = 1e-9;
// Identity attributes of one table, all of whose subsets have a block each.
constexpr size_t kMostIdentities = 8;

MatrixXd Kronecker(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd product(a.rows() * b.rows(), a.cols() * b.cols());
  for (Index j = 0; j < a.rows(); ++j) {
    for (Index k = 0; k < a.cols(); ++k) {
      product.block(j * b.rows(), k * b.cols(), b.rows(), b.cols()) = a(j, k) * b;
    }
  }
  return product;
}

// The rows of one table in the stack.
struct TableRows {
  std::vector<bool> identities;  // by attribute
  Index first = 0;
  Index count = 0;
};

// Records, but for the identity attributes, along which they are symmetric.
struct ReducedStack {
  MatrixXd queries;  // empty if a bound would take too long
  std::vector<TableRows> tables;
  // The sets H of identity attributes that some table holds, by attribute, and prod_H (n_i - 1).
  std::map<std::vector<bool>, double> blocks;
  double work = 0;  // of a step
};

void AddBlocks(const Domain& domain, const std::vector<bool>& identities, ReducedStack* stack) {
  if (!stack->blocks.emplace(identities, 1).second) return;
  double& multiplicity = stack->blocks[identities];
  for (size_t i = 0; i < identities.size(); ++i) {
    if (!identities[i]) continue;
    multiplicity *= static_cast<double>(domain[static_cast<int>(i)].size - 1);
    std::vector<bool> without = identities;
    without[i] = false;
    AddBlocks(domain, without, stack);
  }
}

bool Holds(const std::vector<bool>& larger, const std::vector<bool>& smaller) {
  for (size_t i = 0; i < larger.size(); ++i) {
    if (smaller[i] && !larger[i]) return false;
  }
  return true;
}

ReducedStack StackOf(const Domain& domain, const WorkloadOrbits& tables,
                     const TableWeights& weights) {
  ReducedStack stack;
  std::vector<bool> reduced(static_cast<size_t>(domain.size()), true);  // or never asked for
  double num_queries = 0;
  for (int64_t j = 0; j < tables.orbits.size(); ++j) {
    TableRows table;
    table.identities.assign(reduced.size(), false);
    double num_rows = 1;
    for (const int i : tables.orbits[j]) {
      if (domain[i].queries == QueryKind::kIdentity) {
        table.identities[static_cast<size_t>(i)] = true;
      } else {
        reduced[static_cast<size_t>(i)] = false;
        num_rows *= static_cast<double>(NumAnswers(domain[i]));
      }
    }
    const auto num_identities = std::count(table.identities.begin(), table.identities.end(), true);
    if (num_identities > static_cast<int64_t>(kMostIdentities)) return {};
    AddBlocks(domain, table.identities, &stack);
    table.first = static_cast<Index>(num_queries);
    table.count = static_cast<Index>(std::min(num_rows, kMostDenseWork));
    num_queries += num_rows;
    stack.work += num_rows * std::ldexp(1, static_cast<int>(num_identities));
    if (stack.work > kMostDenseWork) return {};
    stack.tables.push_back(std::move(table));
  }
  double num_records = 1;
  for (int i = 0; i < domain.size(); ++i) {
    if (!reduced[static_cast<size_t>(i)]) num_records *= static_cast<double>(domain[i].size);
  }
  stack.work += kEigenWork * num_records * static_cast<double>(stack.blocks.size());
  stack.work *= num_records * num_records;
  if (stack.work * kLeastDenseSteps > kMostDenseWork) return {};
  stack.queries.resize(static_cast<Index>(num_queries), static_cast<Index>(num_records));
  for (int64_t j = 0; j < tables.orbits.size(); ++j) {
    const auto table = tables.orbits[j];
    double scale = std::sqrt(weights.importance[static_cast<size_t>(j)]);
    MatrixXd rows = MatrixXd::Ones(1, 1);
    for (int i = 0; i < domain.size(); ++i) {
      const bool held = std::find(table.begin(), table.end(), i) != table.end();
      if (reduced[static_cast<size_t>(i)]) {
        if (held) scale /= static_cast<double>(domain[i].size);
        continue;
      }
      MatrixXd factor = MatrixXd::Ones(1, domain[i].size);
      if (held) {
        const QueryMatrix queries(domain[i]);
        factor.resize(queries.num_answers(), domain[i].size);
        const std::vector<double> importance = WeighAnswers(domain[i]).importance;
        for (Index q = 0; q < factor.rows(); ++q) {
          factor.row(q) =
              std::sqrt(importance[static_cast<size_t>(q)]) * queries.Row(q).transpose();
        }
      }
      rows = Kronecker(rows, factor);
    }
    const TableRows& place = stack.tables[static_cast<size_t>(j)];
    stack.queries.middleRows(place.first, place.count) = scale * rows;
  }
  return stack;
}

// Sum at most 1, whatever rounding does.
VectorXd Shares(const VectorXd& positive) {
  const auto size = static_cast<double>(positive.size());
  const VectorXd kept =
      positive / positive.sum() + VectorXd::Constant(positive.size(), kLeastShare);
  return kept / (kept.sum() * (1 + 4 * size * std::numeric_limits<double>::epsilon()));
}

// The sum of nuclear norms at these weights, from below, and its derivatives by the logarithms of
// the weights, divided by the weights.
struct DenseEvaluation {
  double sum = 0;
  VectorXd cost;      // of the records
  VectorXd variance;  // of the queries
};

DenseEvaluation EvaluateStack(const ReducedStack& stack, const VectorXd& record,
                              const VectorXd& query) {
  const Index num_records = stack.queries.cols();
  // Of the eigenvalues below, relative to their sum.
  const double error = 16 * static_cast<double>(stack.queries.rows() + num_records) *
                       std::numeric_limits<double>::epsilon();
  DenseEvaluation at;
  at.cost = VectorXd::Zero(num_records);
  at.variance = VectorXd::Zero(stack.queries.rows());
  const MatrixXd scaled = stack.queries * record.cwiseSqrt().asDiagonal();
  std::vector<MatrixXd> gram_of_table;
  for (const TableRows& table : stack.tables) {
    const MatrixXd weighted = query.segment(table.first, table.count).cwiseSqrt().asDiagonal() *
                              scaled.middleRows(table.first, table.count);
    gram_of_table.push_back(TransposedProduct(weighted, weighted));
  }
  for (const auto& [identities, multiplicity] : stack.blocks) {
    MatrixXd gram = MatrixXd::Zero(num_records, num_records);
    for (size_t j = 0; j < stack.tables.size(); ++j) {
      if (Holds(stack.tables[j].identities, identities)) gram += gram_of_table[j];
    }
    const SymmetricEigen eigen = EigenOf(gram);
    const VectorXd safe = (eigen.values.array() - error * eigen.values.sum()).max(0).sqrt();
    at.sum += multiplicity * safe.sum();
    at.cost += multiplicity * Product(eigen.vectors.cwiseAbs2(), safe);
    // Directions that no query asks for stay out.
    VectorXd inverse_root = safe;
    for (double& root : inverse_root) root = root > 0 ? multiplicity / root : 0;
    for (const TableRows& table : stack.tables) {
      if (!Holds(table.identities, identities)) continue;
      const MatrixXd rows = scaled.middleRows(table.first, table.count);
      at.variance.segment(table.first, table.count) +=
          Product(Product(rows, eigen.vectors).cwiseAbs2(), inverse_root);
    }
  }
  at.cost = at.cost.cwiseQuotient(record);
  return at;
}

}  // namespace

double DenseMaxVarianceBound(const Domain& domain, const Workload& workload,
                             const Objective& objective) {
  if (domain.size() > kMostAttributes) return 0;
  const WorkloadOrbits tables = WithoutSymmetry(domain, workload);
  std::vector<ResidualBasis> sizes(static_cast<size_t>(domain.size()));  // as WeighTables looks
  for (int i = 0; i < domain.size(); ++i) {
    sizes[static_cast<size_t>(i)].num_answers = NumAnswers(domain[i]);
  }
  const ReducedStack stack =
      StackOf(domain, tables, WeighTables(tables, sizes, objective.weighting));
  if (stack.queries.size() == 0) return 0;
  VectorXd record = Shares(VectorXd::Ones(stack.queries.cols()));
  VectorXd query(stack.queries.rows());
  for (const TableRows& table : stack.tables) {
    query.segment(table.first, table.count).setConstant(1 / static_cast<double>(table.count));
  }
  query = Shares(query);
  const auto num_steps = static_cast<int>(std::min(kMostDenseSteps, kMostDenseWork / stack.work));
  double bound = 0;
  for (int step = 0; step < num_steps; ++step) {
    const DenseEvaluation at = EvaluateStack(stack, record, query);
    bound = std::max(bound, at.sum * at.sum);
    if (at.cost.maxCoeff() * at.variance.maxCoeff() <= bound * (1 + kDenseTolerance)) break;
    record = Shares(record.cwiseProduct(at.cost));
    const VectorXd relative = at.variance / at.sum;
    query = Shares(query.array() * relative.array().pow(kQueryExponent));
  }
  return bound * (1 - 1e-9);
}

}  // namespace residua
