#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "residua/select/plan_errors.h"
#include "residua/select/select.h"
#include "tests/oracle/dense_mechanism.h"

namespace residua {

// What a plan's dense covariances say of all its answers together.
struct DenseErrors {
  double total_variance = 0;
  double num_answers = 0;
  double max_variance = 0;
};

// Expects the covariances of `num_pairs` random pairs of answers of each table to be the dense ones.
inline DenseErrors ExpectDenseCovariances(const Plan& plan, int num_pairs, std::mt19937& random) {
  DenseErrors errors;
  for (const AttributeSet& set : oracle::AllMarginals(plan)) {
    const Eigen::MatrixXd covariance = oracle::MarginalCovariance(plan, set);
    const double largest = covariance.diagonal().maxCoeff();
    errors.total_variance += covariance.trace();
    errors.num_answers += static_cast<double>(covariance.rows());
    errors.max_variance = std::max(errors.max_variance, largest);
    for (int pair = 0; pair < num_pairs; ++pair) {
      std::vector<int64_t> a;
      std::vector<int64_t> b;
      int64_t row = 0;
      int64_t column = 0;
      for (const int i : set) {
        const int64_t m = NumAnswers(plan.domain[i]);
        a.push_back(static_cast<int64_t>(random()) % m);
        b.push_back(static_cast<int64_t>(random()) % m);
        row = row * m + a.back();
        column = column * m + b.back();
      }
      EXPECT_NEAR(AnswerCovariance(plan, set, a, b), covariance(row, column), 1e-7 * largest);
    }
  }
  return errors;
}

// Plans the request for rows that are replaced: no pair of cells may cost more than the plan says.
inline void ExpectReplacedRowsCostAtMost(SelectRequest request) {
  request.protection.neighbours = Protection::Neighbours::kReplaceOne;
  const Plan plan = Select(request);
  VerifyPlan(plan);
  const Eigen::MatrixXd cost = oracle::PrivacyCostMatrix(plan);
  const double total = 1 / NoiseVariance(plan, {}).get_d();
  for (Eigen::Index u = 0; u < cost.rows(); ++u) {
    for (Eigen::Index v = 0; v < u; ++v) {
      const double pair = cost(u, u) + cost(v, v) - 2 * cost(u, v);
      EXPECT_LE(pair, plan.pcost.get_d() + 1e-9 * total);
    }
  }
}

}  // namespace residua
