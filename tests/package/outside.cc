#include <residua/residua.h>

#include <cmath>
#include <cstdio>

int main() {
  using namespace residua;

  // 1. Choose the noise: all tables of two attributes, at rho = 1. No data is read.
  const Domain domain({{.name = "sex", .size = 2}, {.name = "region", .size = 3}});
  const Workload all_tables{{{MarginalRule::Kind::kUpTo, 2}}, {}};
  const Plan plan = Select({domain, all_tables, {}, BudgetFromRho(1)});

  // 2. Measure once: 1,000 rows, all of sex 1 and region 1. Whoever measures like this, without a
  // ledger, keeps the account.
  std::vector<CodeColumn> columns;
  for (const Attribute& attribute : domain.attributes()) {
    columns.push_back(EmptyCodeColumn(attribute));
    std::visit([](auto& codes) { codes.assign(1000, 1); }, columns.back());
  }
  std::vector<NoisyResidual> residuals;
  Measure(plan, EncodedTable(domain, columns), {},
          [&](NoisyResidual&& residual) { residuals.push_back(std::move(residual)); });

  // 3. Ask: an unbiased estimate and its exact standard deviation.
  const ResidualIndex index = IndexResiduals(plan, residuals);
  const std::vector<int64_t> cell = {1, 1};
  const Estimate estimate = Answer(index, ProductQuery::Cell(domain, {0, 1}, cell));
  std::printf("residua %.*s: %.3f +- %.3f\n", static_cast<int>(Version().size()), Version().data(),
              estimate.value, std::sqrt(estimate.variance));
  return 0;
}
