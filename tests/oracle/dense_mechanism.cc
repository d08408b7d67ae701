#include "tests/oracle/dense_mechanism.h"

#include <algorithm>
#include <set>
#include <unsupported/Eigen/KroneckerProduct>

#include "residua/basis/convolution/convolution_matrix.h"
#include "residua/basis/tree_matrix.h"
#include "residua/select/plan_errors.h"

namespace residua::oracle {
namespace {

using Eigen::MatrixXd;

bool Asked(const Plan& plan, const AttributeSet& set) {
  for (const WeightedMarginal& marginal : plan.workload.marginals) {
    if (marginal.attributes == set) return true;
  }
  double cells = 1;
  for (const int i : set) cells *= static_cast<double>(plan.domain[i].size);
  for (const MarginalRule& rule : plan.workload.rules) {
    const auto order = static_cast<int64_t>(set.size());
    if (rule.kind == MarginalRule::Kind::kExactly && order == rule.bound) return true;
    if (rule.kind == MarginalRule::Kind::kUpTo && order <= rule.bound) return true;
    if (rule.kind == MarginalRule::Kind::kMaxCells && cells <= static_cast<double>(rule.bound))
      return true;
  }
  return false;
}

std::vector<AttributeSet> AllSets(const Domain& domain) {
  std::vector<AttributeSet> sets;
  for (int mask = 0; mask < 1 << domain.size(); ++mask) {
    AttributeSet set;
    for (int i = 0; i < domain.size(); ++i) {
      if ((mask >> i & 1) != 0) set.push_back(i);
    }
    sets.push_back(set);
  }
  return sets;
}

}  // namespace

MatrixXd SubtractionMatrix(int64_t size) {
  MatrixXd sub = MatrixXd::Zero(size - 1, size);
  sub.col(0).setOnes();
  for (int64_t k = 0; k + 1 < size; ++k) sub(k, k + 1) = -1;
  return sub;
}

MatrixXd DenseQueries(const Attribute& attribute) {
  const int64_t n = attribute.size;
  if (attribute.queries == QueryKind::kPrefix) {
    return MatrixXd(MatrixXd::Ones(n, n).triangularView<Eigen::Lower>());
  }
  if (attribute.queries == QueryKind::kRange) {
    MatrixXd ranges = MatrixXd::Zero(n * (n + 1) / 2, n);
    int64_t row = 0;
    for (int64_t first = 0; first < n; ++first) {
      for (int64_t last = first; last < n; ++last, ++row) {
        for (int64_t cell = first; cell <= last; ++cell) ranges(row, cell) = 1;
      }
    }
    return ranges;
  }
  if (attribute.queries == QueryKind::kCustom) {
    MatrixXd custom(attribute.custom.num_rows, n);
    for (int64_t row = 0; row < attribute.custom.num_rows; ++row) {
      for (int64_t cell = 0; cell < n; ++cell) {
        custom(row, cell) = attribute.custom.entries[static_cast<size_t>(row * n + cell)];
      }
    }
    return custom;
  }
  const auto num_groups = static_cast<int64_t>(attribute.groups.size());
  MatrixXd stacked = MatrixXd::Zero(n + num_groups, n);
  stacked.topRows(n).setIdentity();
  for (int64_t g = 0; g < num_groups; ++g) {
    for (const int64_t cell : attribute.groups[static_cast<size_t>(g)].cells) {
      stacked(n + g, cell) = 1;
    }
  }
  return stacked;
}

MatrixXd KroneckerOver(const Domain& domain, const AttributeSet& set,
                       const std::vector<MatrixXd>& in_set) {
  MatrixXd product = MatrixXd::Ones(1, 1);
  for (int i = 0; i < domain.size(); ++i) {
    const bool in = std::find(set.begin(), set.end(), i) != set.end();
    const MatrixXd factor = in ? in_set[static_cast<size_t>(i)] : MatrixXd::Ones(1, domain[i].size);
    product = MatrixXd(Eigen::kroneckerProduct(product, factor));
  }
  return product;
}

std::vector<AttributeSet> AllMarginals(const Plan& plan) {
  std::vector<AttributeSet> marginals;
  for (const AttributeSet& set : AllSets(plan.domain)) {
    if (Asked(plan, set)) marginals.push_back(set);
  }
  return marginals;
}

std::vector<AttributeSet> AllMechanisms(const Plan& plan) {
  const std::vector<AttributeSet> marginals = AllMarginals(plan);
  std::vector<AttributeSet> mechanisms;
  for (const AttributeSet& set : AllSets(plan.domain)) {
    if (std::any_of(marginals.begin(), marginals.end(), [&](const AttributeSet& marginal) {
          return std::includes(marginal.begin(), marginal.end(), set.begin(), set.end());
        })) {
      mechanisms.push_back(set);
    }
  }
  return mechanisms;
}

MatrixXd PrivacyCostMatrix(const Plan& plan) {
  std::vector<MatrixXd> subs;
  std::vector<MatrixXd> covariances;  // of each attribute's noise, before scaling
  int64_t num_cells = 1;
  for (int i = 0; i < plan.domain.size(); ++i) {
    const int c = plan.classes.class_of[static_cast<size_t>(i)];
    const ResidualMatrix& matrix = plan.bases[static_cast<size_t>(c)].matrix;
    const auto* integers = std::get_if<IntegerMatrix>(&matrix);
    IntegerMatrix expanded;
    if (const auto* tree = std::get_if<TreeMatrix>(&matrix)) {
      expanded = Expanded(*tree);
      integers = &expanded;
    }
    if (const auto* convolution = std::get_if<ConvolutionMatrix>(&matrix)) {
      expanded = Expanded(*convolution);
      integers = &expanded;
    }
    if (integers == nullptr) {
      subs.push_back(SubtractionMatrix(plan.domain[i].size));
      covariances.push_back(subs.back() * subs.back().transpose());
    } else {
      MatrixXd sub(integers->num_rows, integers->num_columns);
      for (int64_t row = 0; row < integers->num_rows; ++row) {
        for (int64_t k = 0; k < integers->num_columns; ++k) {
          sub(row, k) = static_cast<double>(
              integers->entries[static_cast<size_t>(row * integers->num_columns + k)]);
        }
      }
      subs.push_back(sub);
      covariances.push_back(MatrixXd::Identity(sub.rows(), sub.rows()));
    }
    num_cells *= plan.domain[i].size;
  }
  MatrixXd total = MatrixXd::Zero(num_cells, num_cells);
  for (const AttributeSet& set : AllMechanisms(plan)) {
    const MatrixXd residual = KroneckerOver(plan.domain, set, subs);
    MatrixXd sigma = MatrixXd::Ones(1, 1);
    for (const int i : set) {
      sigma = MatrixXd(Eigen::kroneckerProduct(sigma, covariances[static_cast<size_t>(i)]));
    }
    total += residual.transpose() * sigma.inverse() * residual / NoiseVariance(plan, set).get_d();
  }
  return total;
}

MatrixXd MarginalCovariance(const Plan& plan, const AttributeSet& set) {
  std::vector<MatrixXd> queries;
  for (const Attribute& attribute : plan.domain.attributes()) {
    queries.push_back(DenseQueries(attribute));
  }
  const MatrixXd query = KroneckerOver(plan.domain, set, queries);
  const MatrixXd inverse =
      PrivacyCostMatrix(plan).completeOrthogonalDecomposition().pseudoInverse();
  return query * inverse * query.transpose();
}

}  // namespace residua::oracle
