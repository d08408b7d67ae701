#include "residua/select/dense_bound.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "residua/basis/dense_products.h"
#include "residua/basis/orthogonal_factors.h"
#include "residua/basis/query_matrix.h"
#include "residua/model/symmetry.h"
#include "residua/select/objective_rows.h"

namespace residua {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// A step is the stack times its columns again, and eigenvalues of about ten times their cube; all
// steps together take half a second at most.
constexpr double kMostStackWork = 2e7;
constexpr double kEigenWork = 10;
constexpr double kMostDenseWork = 8e8;
constexpr double kDenseSteps = 200;
constexpr double kDenseTolerance = 1e-3;
// Every query keeps a share, so that those that vanished can come back.
constexpr double kLeastShare = 1e-9;

MatrixXd Kronecker(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd product(a.rows() * b.rows(), a.cols() * b.cols());
  for (Index j = 0; j < a.rows(); ++j) {
    for (Index k = 0; k < a.cols(); ++k) {
      product.block(j * b.rows(), k * b.cols(), b.rows(), b.cols()) = a(j, k) * b;
    }
  }
  return product;
}

// The queries of all tables over the attributes that any of them has, a row each; empty if they are
// too many.
MatrixXd StackOf(const Domain& domain, const WorkloadOrbits& tables, const TableWeights& weights) {
  std::vector<bool> asked(static_cast<size_t>(domain.size()), false);
  double num_queries = 0;
  for (int64_t j = 0; j < tables.orbits.size(); ++j) {
    for (const int i : tables.orbits[j]) asked[static_cast<size_t>(i)] = true;
    num_queries += weights.num_answers[static_cast<size_t>(j)];
  }
  double num_records = 1;
  for (int i = 0; i < domain.size(); ++i) {
    if (asked[static_cast<size_t>(i)]) num_records *= static_cast<double>(domain[i].size);
  }
  if (num_records > kMostRecords || num_queries * num_records * num_records > kMostStackWork) {
    return {};
  }
  MatrixXd stack(static_cast<Index>(num_queries), static_cast<Index>(num_records));
  Index first = 0;
  for (int64_t j = 0; j < tables.orbits.size(); ++j) {
    MatrixXd rows = MatrixXd::Constant(1, 1, std::sqrt(weights.importance[static_cast<size_t>(j)]));
    for (int i = 0; i < domain.size(); ++i) {
      if (!asked[static_cast<size_t>(i)]) continue;
      MatrixXd factor = MatrixXd::Ones(1, domain[i].size);
      const auto table = tables.orbits[j];
      if (std::find(table.begin(), table.end(), i) != table.end()) {
        const QueryMatrix queries(domain[i]);
        factor.resize(queries.num_answers(), domain[i].size);
        for (Index q = 0; q < factor.rows(); ++q) factor.row(q) = queries.Row(q).transpose();
      }
      rows = Kronecker(rows, factor);
    }
    stack.middleRows(first, rows.rows()) = rows;
    first += rows.rows();
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

}  // namespace

double DenseMaxVarianceBound(const Domain& domain, const Workload& workload,
                             const Objective& objective) {
  if (domain.size() > 2 * static_cast<int>(std::log2(kMostRecords))) return 0;
  const WorkloadOrbits tables = WithoutSymmetry(domain, workload);
  std::vector<ResidualBasis> sizes(static_cast<size_t>(domain.size()));  // as WeighTables looks
  for (int i = 0; i < domain.size(); ++i) {
    sizes[static_cast<size_t>(i)].num_answers = NumAnswers(domain[i]);
  }
  const MatrixXd stack = StackOf(domain, tables, WeighTables(tables, sizes, objective.weighting));
  if (stack.size() == 0) return 0;
  VectorXd record = Shares(VectorXd::Ones(stack.cols()));
  VectorXd query = Shares(VectorXd::Ones(stack.rows()));
  // Of the eigenvalues below, relative to their sum.
  const double error = 16 * static_cast<double>(stack.rows() + stack.cols()) *
                       std::numeric_limits<double>::epsilon();
  const auto num_records = static_cast<double>(stack.cols());
  const double work =
      num_records * num_records * (static_cast<double>(stack.rows()) + kEigenWork * num_records);
  const auto num_steps = static_cast<int>(std::min(kDenseSteps, kMostDenseWork / work));
  double bound = 0;
  for (int step = 0; step < num_steps; ++step) {
    const MatrixXd scaled = stack * record.cwiseSqrt().asDiagonal();
    const MatrixXd weighted = query.cwiseSqrt().asDiagonal() * scaled;
    const SymmetricEigen eigen = EigenOf(TransposedProduct(weighted, weighted));
    const VectorXd safe = (eigen.values.array() - error * eigen.values.sum()).max(0).sqrt();
    bound = std::max(bound, safe.sum() * safe.sum());
    // Directions that no query asks for stay out.
    VectorXd inverse_root = safe;
    for (double& root : inverse_root) root = root > 0 ? 1 / root : 0;
    const VectorXd cost = Product(eigen.vectors.cwiseAbs2(), safe).cwiseQuotient(record);
    const VectorXd variance = Product(Product(scaled, eigen.vectors).cwiseAbs2(), inverse_root);
    if (cost.maxCoeff() * variance.maxCoeff() <= bound * (1 + kDenseTolerance)) break;
    record = Shares(record.cwiseProduct(cost));
    query = Shares(query.cwiseProduct(variance));
  }
  return bound * (1 - 1e-9);
}

}  // namespace residua
