#include "residua/release/expected_errors.h"

#include <cmath>

#include "residua/basis/query_matrix.h"
#include "residua/release/published_errors.h"

namespace residua {

double AverageShare(const Attribute& attribute) {
  if (MeanOf(attribute) != nullptr) return 1;
  const auto n = static_cast<double>(attribute.size);
  switch (attribute.queries) {
    case QueryKind::kIdentity:
      return 1 / n;
    case QueryKind::kPrefix:
      return (n + 1) / (2 * n);
    case QueryKind::kRange:
      return (n + 2) / (3 * n);
    case QueryKind::kHierarchy: {
      double sum = n;
      for (const CellGroup& group : attribute.groups)
        sum += static_cast<double>(group.cells.size());
      return sum / static_cast<double>(NumAnswers(attribute)) / n;
    }
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

std::vector<ExpectedErrors> ExpectErrors(const Plan& plan, double num_rows) {
  std::vector<double> share_of_class;
  for (const auto& members : plan.classes.members) {
    share_of_class.push_back(AverageShare(plan.domain[members.front()]));
  }
  std::vector<ExpectedErrors> expected;
  for (TableErrors& table : CountErrors(plan)) {
    double average = num_rows;
    for (const int c : table.orbit) average *= share_of_class[static_cast<size_t>(c)];
    const double std_dev = std::sqrt(table.mean_variance);
    expected.push_back({std::move(table), average, std_dev});
  }
  return expected;
}

}  // namespace residua
