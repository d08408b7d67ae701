#include "residua/release/warnings.h"

#include <cmath>

#include "residua/basis/query_matrix.h"
#include "residua/release/published_errors.h"

namespace residua {
namespace {

using Kind = ReleaseWarning::Kind;

// The share of all rows in an average answer of the attribute, if they are spread evenly.
double AverageShare(const Attribute& attribute) {
  const auto n = static_cast<double>(attribute.size);
  switch (attribute.queries) {
    case QueryKind::kIdentity:
      return 1 / n;
    case QueryKind::kPrefix:
      return (n + 1) / (2 * n);
    case QueryKind::kRange:
      return (n + 2) / (3 * n);
    case QueryKind::kHierarchy:
    case QueryKind::kCustom:
      break;
  }
  const QueryMatrix queries(attribute);
  double sum = 0;
  for (int64_t answer = 0; answer < queries.num_answers(); ++answer) {
    sum += queries.Row(answer).cwiseAbs().sum();
  }
  return sum / static_cast<double>(queries.num_answers()) / n;
}

std::optional<ReleaseWarning> NoiseWarning(const Plan& plan, double num_rows) {
  std::vector<double> share_of_class;
  for (const auto& members : plan.classes.members) {
    share_of_class.push_back(AverageShare(plan.domain[members.front()]));
  }
  double num_answers = 0;
  double num_noisy = 0;
  for (const TableErrors& table : PublishedErrors(plan)) {
    double average = num_rows;
    for (const int c : table.orbit) average *= share_of_class[static_cast<size_t>(c)];
    const double answers = table.num_tables * table.num_answers;
    num_answers += answers;
    if (!(std::sqrt(table.mean_variance) <= average)) num_noisy += answers;
  }
  if (2 * num_noisy <= num_answers) return std::nullopt;
  return ReleaseWarning{Kind::kMostlyNoise, num_noisy, num_answers};
}

}  // namespace

std::vector<ReleaseWarning> WarningsOf(const Plan& plan, std::optional<int64_t> num_rows) {
  std::vector<ReleaseWarning> warnings;
  const Guarantee guarantee = GuaranteeOf(plan);
  if (!(guarantee.epsilon <= kLargeEpsilon)) {
    warnings.push_back({Kind::kLargeEpsilon, guarantee.epsilon, kLargeEpsilon});
  }
  if (!num_rows || *num_rows < 1) return warnings;
  const auto rows = static_cast<double>(*num_rows);
  if (!(guarantee.delta < 1 / rows)) {
    warnings.push_back({Kind::kLargeDelta, guarantee.delta, 1 / rows});
  }
  if (const auto noise = NoiseWarning(plan, rows)) warnings.push_back(*noise);
  return warnings;
}

std::vector<ReleaseWarning> WarningsOf(const ReadReport& report) {
  if (report.num_rows_dropped <= report.num_rows_read / 10) return {};
  return {{Kind::kRowsLeftOut, static_cast<double>(report.num_rows_dropped),
           static_cast<double>(report.num_rows_read)}};
}

}  // namespace residua
