#include "bench/paper/fairness.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/paper/report.h"
#include "bench/stopwatch.h"
#include "residua/model/symmetry.h"
#include "residua/select/plan_errors.h"
#include "residua/select/select.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"

namespace residua::bench {
namespace {

constexpr char kAdult[] = "100*3,99,85,42,16,15,9,7,6,5,2*2";
constexpr size_t kMaxAttributes = 3;

struct Study {
  Weighting weighting;
  const char* claim;  // of the paper
};
constexpr Study kStudies[] = {
    {Weighting::kEqual, "large tables over 2 times the noise of small ones"},
    {Weighting::kSqrtCells, "large tables favoured by about 1 order of magnitude"},
    {Weighting::kCells, "large tables favoured by several orders of magnitude"},
};

constexpr const char* kOrders[] = {"total", "1 attribute", "2 attributes", "3 attributes"};

std::vector<double> VariancesOf(const std::vector<FairnessPoint>& points, Weighting weighting,
                                size_t num_attributes) {
  std::vector<double> variances;
  for (const FairnessPoint& point : points) {
    if (point.weighting == weighting && point.attributes.size() == num_attributes) {
      variances.push_back(point.variance);
    }
  }
  std::sort(variances.begin(), variances.end());
  return variances;
}

// Of the tables of at least one attribute.
double LargestOverLeast(const std::vector<FairnessPoint>& points, Weighting weighting) {
  double least = 0;
  double largest = 0;
  for (size_t k = 1; k <= kMaxAttributes; ++k) {
    const std::vector<double> variances = VariancesOf(points, weighting, k);
    least = least == 0 ? variances.front() : std::min(least, variances.front());
    largest = std::max(largest, variances.back());
  }
  return largest / least;
}

}  // namespace

std::vector<FairnessPoint> StudyFairness() {
  const Domain domain = ParseDomain(kAdult);
  std::vector<FairnessPoint> points;
  for (const Study& study : kStudies) {
    Objective objective;
    objective.weighting = study.weighting;
    const Plan plan =
        Select({domain, {ParseMarginalRules("<=3"), {}}, objective, BudgetFromPcost(1)});
    for (const TableErrors& errors : PredictErrors(plan)) {
      ForEachMember(plan.classes, errors.orbit, [&](const AttributeSet& set) {
        points.push_back({study.weighting, set, errors.num_answers, errors.mean_variance});
      });
    }
  }
  return points;
}

std::string FairnessCsv(const std::vector<FairnessPoint>& points) {
  const Domain domain = ParseDomain(kAdult);
  std::string csv = "weighting,attributes,num_attributes,num_cells,variance\n";
  for (const FairnessPoint& point : points) {
    std::string sizes;
    for (const int i : point.attributes) {
      sizes += fmt::format("{}{}", sizes.empty() ? "" : "x", domain[i].size);
    }
    csv += fmt::format("{},{},{},{},{:.10g}\n", ToString(point.weighting),
                       sizes.empty() ? "total" : sizes, point.attributes.size(), point.num_cells,
                       point.variance);
  }
  return csv;
}

std::string FairnessText(const std::vector<FairnessPoint>& points) {
  std::vector<std::vector<std::string>> cells = {
      {"weighting", "tables of", "tables", "least variance", "median", "largest"}};
  std::string claims;
  for (const Study& study : kStudies) {
    for (size_t k = 0; k <= kMaxAttributes; ++k) {
      const std::vector<double> variances = VariancesOf(points, study.weighting, k);
      cells.push_back({std::string(ToString(study.weighting)), kOrders[k],
                       std::to_string(variances.size()), fmt::format("{:.4g}", variances.front()),
                       fmt::format("{:.4g}", Median(variances)),
                       fmt::format("{:.4g}", variances.back())});
    }
    claims += fmt::format("- {}: largest over least {:.3g} (without the total). The paper: {}.\n",
                          ToString(study.weighting), LargestOverLeast(points, study.weighting),
                          study.claim);
  }
  return fmt::format(
      "## fairness\nVariance of a cell of every table of up to 3 of Adult's attributes, three "
      "weightings of the sum of variances (fig:unweighted-comb-log, fig:sqrt-comb-log, "
      "fig:orig-comb-log).\n\n{}\n{}\n--csv writes every table's variance, which bench/charts.py "
      "draws.\n",
      MarkdownOf(cells), claims);
}

nlohmann::ordered_json FairnessJson(const std::vector<FairnessPoint>& points) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const FairnessPoint& point : points) {
    json.push_back({{"weighting", ToString(point.weighting)},
                    {"attributes", point.attributes},
                    {"cells", point.num_cells},
                    {"variance", point.variance}});
  }
  return json;
}

}  // namespace residua::bench
