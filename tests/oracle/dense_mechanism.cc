#include "tests/oracle/dense_mechanism.h"

#include <algorithm>
#include <set>
#include <unsupported/Eigen/KroneckerProduct>

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
  int64_t records = 1;
  for (const Attribute& attribute : plan.domain.attributes()) {
    subs.push_back(SubtractionMatrix(attribute.size));
    records *= attribute.size;
  }
  MatrixXd total = MatrixXd::Zero(records, records);
  for (const AttributeSet& set : AllMechanisms(plan)) {
    const MatrixXd residual = KroneckerOver(plan.domain, set, subs);
    // Sigma_A = kron over A of Sub Sub^T: the covariance before scaling.
    MatrixXd sigma = MatrixXd::Ones(1, 1);
    for (const int i : set) {
      const MatrixXd& sub = subs[static_cast<size_t>(i)];
      sigma = MatrixXd(Eigen::kroneckerProduct(sigma, sub * sub.transpose()));
    }
    total += residual.transpose() * sigma.inverse() * residual / NoiseVariance(plan, set).get_d();
  }
  return total;
}

MatrixXd MarginalCovariance(const Plan& plan, const AttributeSet& set) {
  std::vector<MatrixXd> identities;
  for (const Attribute& attribute : plan.domain.attributes()) {
    identities.push_back(MatrixXd::Identity(attribute.size, attribute.size));
  }
  const MatrixXd query = KroneckerOver(plan.domain, set, identities);
  const MatrixXd inverse =
      PrivacyCostMatrix(plan).completeOrthogonalDecomposition().pseudoInverse();
  return query * inverse * query.transpose();
}

}  // namespace residua::oracle
