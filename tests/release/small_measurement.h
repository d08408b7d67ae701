#pragma once

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "residua/files/measurement_file.h"
#include "residua/measure/measure.h"
#include "residua/select/select.h"
#include "residua/text/domain_text.h"

namespace residua {

// Writes a measurement of three rows: all tables of up to `order` attributes of the domain.
inline void WriteSmallMeasurement(const std::filesystem::path& path, std::string_view domain,
                                  int64_t order, DataReference data = {}) {
  const PlanFile plan{Select({ParseDomain(domain),
                              {{{MarginalRule::Kind::kUpTo, order}}, {}},
                              {},
                              BudgetFromPcost(1),
                              {}}),
                      std::move(data)};
  std::vector<CodeColumn> columns;
  for (const Attribute& attribute : plan.plan.domain.attributes()) {
    CodeColumn column = EmptyCodeColumn(attribute);
    std::visit([](auto& codes) { codes = {0, 1, 1}; }, column);
    columns.push_back(std::move(column));
  }
  MeasurementWriter writer(path, plan);
  Measure(plan.plan, EncodedTable(plan.plan.domain, std::move(columns)), {},
          [&](NoisyResidual&& residual) { writer.Write(residual); });
  writer.Finish();
}

}  // namespace residua
