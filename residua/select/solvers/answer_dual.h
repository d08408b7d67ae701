#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "residua/model/symmetry.h"

namespace residua {

// What the answers of a class of attributes contribute to variances with its basis: a and b of each
// (see ResidualBasis), as the objective counts them.
struct ClassVariances {
  double privacy_cost = 0;
  Eigen::VectorXd residual;
  Eigen::VectorXd constant;
};

// How much the weighted sum of all variances grows with a and b of each answer of a class, the
// noise and all else held fixed.
struct AnswerPrices {
  Eigen::VectorXd residual;
  Eigen::VectorXd constant;
};

// Weights w of every answer of every table, for the largest variance. Of sum 1, they bound the loss
// at privacy cost 1 by (sum_k sqrt(cost_k demand_k))^2 from below, demand_k what the weighted sum of
// all variances has of mechanism k, for the bases at hand. The best ones make it the least loss. All
// answers take part, not the peaks alone: with other bases, others are the peaks.
class AnswerDual {
 public:
  // How many terms all variances have, with `num_answers` of each class; what Raise takes, about.
  static double NumTerms(const WorkloadOrbits& workload, const std::vector<int64_t>& num_answers);

  // `importance` of a table of each workload orbit. The weight of an answer is the product of those
  // that `start` has for its attributes, at first.
  AnswerDual(const WorkloadOrbits& workload, const MultisetTable& mechanisms,
             const std::vector<double>& importance, const std::vector<Eigen::VectorXd>& start);

  // The prices of each class at these weights and the best noise for them. Then weights rise with
  // variances.
  std::vector<AnswerPrices> Raise(const std::vector<ClassVariances>& classes);

 private:
  // The answers of one table of an orbit, up to exchanging attributes of one class.
  struct Table {
    double importance = 0;
    std::vector<int> classes;        // of its attributes
    std::vector<int64_t> mechanism;  // of each subset of its attributes, by the bits of its number
    std::vector<Eigen::Index> answers;  // of each row, one an attribute
    std::vector<double> log_weight;     // of each row
    std::vector<double> weight;
  };

  void Normalize();

  std::vector<Table> tables_;
  std::vector<std::vector<int>> classes_of_mechanism_;
  std::vector<double> size_of_mechanism_;  // of its orbit
};

}  // namespace residua
