#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "residua/select/lower_bound.h"
#include "residua/select/plan_errors.h"

namespace residua::cli {

// What `residua plan` prints: for machines, and for people. With `all_tables`, every single table.
nlohmann::ordered_json PlanJson(const Plan& plan, const std::vector<TableErrors>& errors,
                                const std::optional<PlanCertificate>& certificate, double seconds,
                                bool all_tables);
void PrintPlan(const Plan& plan, const std::vector<TableErrors>& errors,
               const std::optional<PlanCertificate>& certificate, double seconds, bool all_tables);

// "total, age, sex and 3 others": tables that would be better off with independent noise.
std::string NamesInWords(const Domain& domain, const BetterAlone& better);
nlohmann::ordered_json BetterAloneJson(const Domain& domain, const BetterAlone& better);

}  // namespace residua::cli
