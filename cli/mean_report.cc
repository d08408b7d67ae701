#include "cli/mean_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/print_text.h"
#include "residua/release/expected_errors.h"

namespace residua::cli {
namespace {

// Those of an average answer, as `check` says of other tables.
double RowsOfAnswer(const Plan& plan, const MeanErrors& errors, double num_rows) {
  double rows = num_rows;
  for (const int i : errors.table) rows *= AverageShare(plan.domain[i]);
  return rows;
}

}  // namespace

void PrintMeanErrors(const Plan& plan, std::span<const MeanErrors> errors,
                     std::optional<double> num_rows) {
  size_t width = 5;
  for (const MeanErrors& of : errors) {
    width = std::max(width, SetName(plan.domain, of.table).size());
  }
  width = std::min<size_t>(width, 60);
  PrintText(
      "Counts, sums and means of numbers, each in its own unit: standard deviation, root mean "
      "square\n");
  PrintText("{:<{}}  {:>9}  {:>10}  {:>10}  mean, at most\n", "table", width, "answers", "count",
            "sum");
  for (const MeanErrors& of : errors) {
    const double one_row = std::sqrt(of.most_variance);
    std::string mean = fmt::format("{:.4g} / rows", one_row);
    if (num_rows) {
      const double rows = RowsOfAnswer(plan, of, *num_rows);
      mean += fmt::format(" = {:.3g} for {:.4g} rows", one_row / rows, rows);
    }
    PrintText("{:<{}}  {:>9.15g}  {:>10.4g}  {:>10.4g}  {}\n", SetName(plan.domain, of.table),
              width, of.num_answers, std::sqrt(of.count_variance), std::sqrt(of.sum_variance),
              mean);
  }
}

Json MeanErrorsJson(const Plan& plan, const MeanErrors& errors, std::optional<double> num_rows) {
  const double one_row = std::sqrt(errors.most_variance);
  Json json = {{"attribute", plan.domain[errors.attribute].name},
               {"answers", errors.num_answers},
               {"count_std_dev", std::sqrt(errors.count_variance)},
               {"sum_std_dev", std::sqrt(errors.sum_variance)},
               {"mean_std_dev_times_rows", one_row}};
  if (num_rows) {
    json["rows"] = RowsOfAnswer(plan, errors, *num_rows);
    json["mean_std_dev"] = one_row / RowsOfAnswer(plan, errors, *num_rows);
  }
  return json;
}

std::string ErrorsInWords(const PublishedSummary& errors) {
  return fmt::format("{}: root mean square {:.6g}, largest {:.6g}",
                     errors.num_sums > 0 ? "counts" : "answers", errors.rms_std_dev,
                     errors.largest_std_dev);
}

std::string SumErrorsInWords(const PublishedSummary& errors) {
  if (!(errors.num_sums > 0)) return "";
  return fmt::format("sums of value - LOW, in units of HIGH - LOW: largest {:.6g}",
                     errors.largest_sum_std_dev);
}

std::string LeftOutInWords(const Domain& domain, const Workload& workload) {
  const std::vector<int> means = MeansKeptApart(domain, workload);
  if (means.empty()) return "";
  constexpr size_t kMaxNamed = 6;
  std::vector<std::string> names;
  for (size_t k = 0; k < std::min(means.size(), kMaxNamed); ++k) {
    names.push_back(domain[means[k]].name);
  }
  const size_t others = means.size() - names.size();
  return fmt::format("tables with two of the numbers {}{}: a table has the mean of one number",
                     fmt::join(names, ", "), others > 0 ? fmt::format(" and {} more", others) : "");
}

}  // namespace residua::cli
