#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <Eigen/Dense>
#include <cmath>
#include <map>
#include <memory>
#include <string>

#include "bench/paper_objective.h"
#include "bench/stages/stage.h"
#include "bench/synthetic_residuals.h"
#include "bench/synthetic_tables.h"
#include "residua/select/select.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"

namespace residua::bench {
namespace {

SelectRequest RequestFor(const std::string& domain, const std::string& marginals,
                         const std::string& objective) {
  SelectRequest request{ParseDomain(domain),
                        {ParseMarginalRules(marginals), {}},
                        PaperObjective(objective),
                        BudgetFromPcost(1)};
  request.solver.tolerance = 1e-5;
  return request;
}

Work Selecting(const SelectRequest& request) {
  return Timed([request] {
    Plan plan = Select(request);
    benchmark::DoNotOptimize(plan);
  });
}

// The closed form for the sum of variances as it is published: every table is visited, and every
// subset of it found in a map.
Work SelectingTableByTable(int num_attributes, double size) {
  return Timed([=] {
    std::map<AttributeSet, double> coefficients;
    for (const AttributeSet& table : SetsUpToThree(num_attributes)) {
      for (size_t mask = 0; mask < size_t{1} << table.size(); ++mask) {
        AttributeSet subset;
        double variance = 1;  // of a cell, for unit noise on the subset
        for (size_t k = 0; k < table.size(); ++k) {
          const bool taken = (mask >> k & 1) != 0;
          if (taken) subset.push_back(table[k]);
          variance *= taken ? (size - 1) / size : 1 / (size * size);
        }
        coefficients[subset] += variance * std::pow(size, static_cast<double>(table.size()));
      }
    }
    double sum = 0;
    for (const auto& [set, coefficient] : coefficients) {
      sum += std::sqrt(coefficient * std::pow((size - 1) / size, static_cast<double>(set.size())));
    }
    benchmark::DoNotOptimize(sum);
  });
}

Work CopyingDomain(const SelectRequest& request) {
  return Timed([request] {
    Domain copy = request.domain;
    benchmark::DoNotOptimize(copy);
  });
}

Growth AlikeAttributes() {
  Growth growth{"select", "attributes", "10 values each, all tables of up to 3, sum of variances",
                "copying the domain into the plan",
                "every table and every subset of it by itself (the published way)"};
  growth.title = "attributes alike";
  for (const int count : {5, 10, 20, 50, 100, 200, 500, 1000}) {
    const SelectRequest request = RequestFor(fmt::format("10*{}", count), "<=3", "sum-variance");
    growth.points.push_back({static_cast<double>(count), Selecting(request), CopyingDomain(request),
                             count <= 100 ? SelectingTableByTable(count, 10) : Work()});
  }
  return growth;
}

// An exact fraction for each base mechanism: what a plan holds.
Work WritingFractions(size_t count) {
  return Timed([count] {
    std::vector<Rational> variances;
    variances.reserve(count);
    for (size_t k = 0; k < count; ++k) {
      variances.emplace_back(Integer(1) << 40, Integer(static_cast<unsigned long>(k + 1)));
    }
    benchmark::DoNotOptimize(variances.data());
  });
}

Growth DifferentAttributes(const std::string& objective) {
  Growth growth{
      "select", "attributes",
      fmt::format("2, 3, 4, ... values: no two alike, all tables of up to 3, {}", objective),
      "writing one exact fraction for each base mechanism"};
  growth.title = "no two alike, " + objective;
  for (const int count : {5, 10, 20, 50, 100}) {
    growth.points.push_back({static_cast<double>(count),
                             Selecting(RequestFor(DifferentSizes(count), "<=3", objective)),
                             WritingFractions(SetsUpToThree(count).size())});
  }
  return growth;
}

Growth PrefixSizes() {
  Growth growth{"select", "size", "prefix sums of one attribute: the basis and the noise",
                "one Cholesky factorisation of that size"};
  growth.title = "prefix sums";
  for (const int size : {8, 16, 32, 64, 128, 256}) {
    const auto matrix = std::make_shared<Eigen::MatrixXd>(
        Eigen::MatrixXd::Identity(size, size) * size + Eigen::MatrixXd::Ones(size, size));
    growth.points.push_back(
        {static_cast<double>(size),
         Selecting(RequestFor(fmt::format("{}:prefix", size), "<=1", "sum-variance")),
         Timed([matrix] {
           Eigen::LLT<Eigen::MatrixXd> factor(*matrix);
           benchmark::DoNotOptimize(factor);
         })});
  }
  return growth;
}

}  // namespace

std::vector<MakeGrowth> SelectGrowths() {
  return {AlikeAttributes, [] { return DifferentAttributes("sum-variance"); },
          [] { return DifferentAttributes("max-variance"); }, PrefixSizes};
}

}  // namespace residua::bench
