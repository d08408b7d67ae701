#include "residua/select/solvers/answer_dual.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "residua/base/error.h"
#include "residua/base/portable_math.h"
#include "residua/model/closure.h"

namespace residua {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// The exponent of the multiplicative step. With 0.9 it takes nearly twice as many; MinimizeMax, whose
// bases stand still, takes 1.8.
constexpr double kRaise = 1.5;
// No logarithm of a weight is further below the largest: what vanished must be able to come back.
constexpr double kLeastLogRaised = -16;
// An answer that has next to no variance falls by no more than this in a step.
constexpr double kLeastRatio = 1e-4;

// result[S] = product over the attributes but `left_out` of a for those in S, of b for the others.
void SubsetProducts(const std::vector<double>& a, const std::vector<double>& b, size_t left_out,
                    double factor, std::vector<double>* result) {
  result->assign(size_t{1} << a.size(), 0.0);
  (*result)[0] = factor;
  for (size_t i = 0; i < a.size(); ++i) {
    if (i == left_out) continue;
    const size_t bit = size_t{1} << i;
    for (size_t subset = 0; subset < bit; ++subset) {
      (*result)[subset | bit] = (*result)[subset] * a[i];
      (*result)[subset] *= b[i];
    }
  }
}

}  // namespace

double AnswerDual::NumTerms(const WorkloadOrbits& workload,
                            const std::vector<int64_t>& num_answers) {
  double sum = 0;
  for (int64_t j = 0; j < workload.orbits.size(); ++j) {
    double terms = 1;
    for (const int c : workload.orbits[j]) {
      terms *= 2 * static_cast<double>(num_answers[static_cast<size_t>(c)]);
    }
    sum += terms;
  }
  return sum;
}

AnswerDual::AnswerDual(const WorkloadOrbits& workload, const MultisetTable& mechanisms,
                       const std::vector<double>& importance, const std::vector<VectorXd>& start) {
  for (int64_t k = 0; k < mechanisms.size(); ++k) {
    classes_of_mechanism_.emplace_back(mechanisms[k].begin(), mechanisms[k].end());
    size_of_mechanism_.push_back(OrbitSize(workload.classes, mechanisms[k]).get_d());
  }
  for (int64_t j = 0; j < workload.orbits.size(); ++j) {
    Table table;
    table.importance = importance[static_cast<size_t>(j)];
    table.classes.assign(workload.orbits[j].begin(), workload.orbits[j].end());
    const size_t order = table.classes.size();
    for (size_t subset = 0; subset < size_t{1} << order; ++subset) {
      std::vector<int> orbit;
      for (size_t i = 0; i < order; ++i) {
        if ((subset >> i & 1) != 0) orbit.push_back(table.classes[i]);
      }
      const auto index = mechanisms.Find(orbit);
      RESIDUA_CHECK(index.has_value());
      table.mechanism.push_back(*index);
    }
    std::vector<Index> answer(order, 0);
    for (;;) {
      double log_weight = 0;
      bool first_of_orbit = true;
      for (size_t i = 0; i < order; ++i) {
        log_weight += PortableLog(start[static_cast<size_t>(table.classes[i])](answer[i]));
        if (i > 0 && table.classes[i] == table.classes[i - 1] && answer[i] > answer[i - 1]) {
          first_of_orbit = false;
        }
      }
      if (first_of_orbit) {
        table.answers.insert(table.answers.end(), answer.begin(), answer.end());
        table.log_weight.push_back(log_weight);
      }
      size_t i = 0;
      while (i < order && answer[i] + 1 == start[static_cast<size_t>(table.classes[i])].size()) {
        answer[i++] = 0;
      }
      if (i == order) break;
      ++answer[i];
    }
    tables_.push_back(std::move(table));
  }
  Normalize();
}

void AnswerDual::Normalize() {
  double largest = -std::numeric_limits<double>::infinity();
  for (const Table& table : tables_) {
    for (const double weight : table.log_weight) largest = std::max(largest, weight);
  }
  double sum = 0;
  for (Table& table : tables_) {
    table.weight.resize(table.log_weight.size());
    for (size_t row = 0; row < table.weight.size(); ++row) {
      table.log_weight[row] = std::max(table.log_weight[row] - largest, kLeastLogRaised);
      table.weight[row] = PortableExp(table.log_weight[row]);
      sum += table.weight[row];
    }
  }
  for (Table& table : tables_) {
    for (double& weight : table.weight) weight /= sum;
  }
}

std::vector<AnswerPrices> AnswerDual::Raise(const std::vector<ClassVariances>& classes) {
  std::vector<double> a;
  std::vector<double> b;
  std::vector<double> products;
  const auto read = [&](const Table& table, size_t row) {
    const size_t order = table.classes.size();
    a.resize(order);
    b.resize(order);
    for (size_t i = 0; i < order; ++i) {
      const ClassVariances& of = classes[static_cast<size_t>(table.classes[i])];
      a[i] = of.residual(table.answers[row * order + i]);
      b[i] = of.constant(table.answers[row * order + i]);
    }
  };
  std::vector<double> demand(classes_of_mechanism_.size(), 0.0);
  for (const Table& table : tables_) {
    for (size_t row = 0; row < table.weight.size(); ++row) {
      read(table, row);
      SubsetProducts(a, b, a.size(), table.weight[row] * table.importance, &products);
      for (size_t subset = 0; subset < products.size(); ++subset) {
        demand[static_cast<size_t>(table.mechanism[subset])] += products[subset];
      }
    }
  }
  // At the bound, but for its root as a factor.
  std::vector<double> noise(demand.size());
  double root_of_bound = 0;
  for (size_t k = 0; k < demand.size(); ++k) {
    double cost = size_of_mechanism_[k];
    for (const int c : classes_of_mechanism_[k]) {
      cost *= classes[static_cast<size_t>(c)].privacy_cost;
    }
    noise[k] = demand[k] > 0 ? std::sqrt(cost / demand[k]) : 0;
    root_of_bound += std::sqrt(cost * demand[k]);
  }
  std::vector<AnswerPrices> prices;
  for (const ClassVariances& of : classes) {
    prices.push_back({VectorXd::Zero(of.residual.size()), VectorXd::Zero(of.constant.size())});
  }
  for (Table& table : tables_) {
    const size_t order = table.classes.size();
    for (size_t row = 0; row < table.weight.size(); ++row) {
      read(table, row);
      double variance =
          order == 0 ? table.importance * noise[static_cast<size_t>(table.mechanism.front())] : 0;
      for (size_t i = 0; i < order; ++i) {
        SubsetProducts(a, b, i, table.importance, &products);
        const size_t bit = size_t{1} << i;
        double by_a = 0;
        double by_b = 0;
        for (size_t subset = 0; subset < products.size(); ++subset) {
          if ((subset & bit) != 0) continue;
          by_b += products[subset] * noise[static_cast<size_t>(table.mechanism[subset])];
          by_a += products[subset] * noise[static_cast<size_t>(table.mechanism[subset | bit])];
        }
        variance = by_a * a[i] + by_b * b[i];
        AnswerPrices& price = prices[static_cast<size_t>(table.classes[i])];
        const Index answer = table.answers[row * order + i];
        price.residual(answer) += table.weight[row] * by_a;
        price.constant(answer) += table.weight[row] * by_b;
      }
      table.log_weight[row] +=
          kRaise * PortableLog(std::max(variance / root_of_bound, kLeastRatio));
    }
  }
  Normalize();
  return prices;
}

}  // namespace residua
