#include <residua/base/version.h>
#include <residua/measure/measure.h>
#include <residua/reconstruct/query_answer.h>
#include <residua/select/select.h>
#include <residua/text/domain_text.h>
#include <residua/text/workload_text.h>

#include <cmath>
#include <cstdio>

// Plans all tables of two attributes, measures 1,000 rows held in memory, and asks for a cell.
int main() {
  using namespace residua;
  const SelectRequest request{
      ParseDomain("2,3"), {ParseMarginalRules("<=2"), {}}, {}, BudgetFromRho(1)};
  Measurements measurements{Select(request), {}};
  std::vector<CodeColumn> columns;
  for (const Attribute& attribute : request.domain.attributes()) {
    columns.push_back(EmptyCodeColumn(attribute));
    std::visit([](auto& codes) { codes.assign(1000, 1); }, columns.back());
  }
  Measure(measurements.plan, EncodedTable(request.domain, columns), {},
          [&](NoisyResidual&& residual) {
            AttributeSet set = residual.attributes;
            measurements.residuals.emplace(std::move(set), std::move(residual));
          });
  const ResidualIndex index = IndexResiduals(measurements);
  const std::vector<int64_t> cell = {1, 1};
  const Estimate estimate = Answer(index, ProductQuery::Cell(request.domain, {0, 1}, cell));
  std::printf("residua %.*s: %.3f +- %.3f\n", static_cast<int>(Version().size()), Version().data(),
              estimate.value, std::sqrt(estimate.variance));
  return 0;
}
