#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "residua/select/lower_bound.h"
#include "residua/select/plan_errors.h"
#include "residua/text/json_text.h"

namespace residua::cli {

// What `residua plan` prints: for machines, and for people. With `all_tables`, every single table.
// With `num_rows`, about how many rows there are, what means to expect.
Json PlanJson(const Plan& plan, const std::vector<TableErrors>& errors,
              const std::optional<PlanCertificate>& certificate, double seconds, bool all_tables,
              std::optional<double> num_rows);
void PrintPlan(const Plan& plan, const std::vector<TableErrors>& errors,
               const std::optional<PlanCertificate>& certificate, double seconds, bool all_tables,
               std::optional<double> num_rows);

// Of a plan that comes after earlier releases: what each table gains over `fresh`, a plan for the
// same target from nothing, and what the same accuracy would have cost at once.
Json AfterJson(const Plan& plan, const std::vector<TableErrors>& errors, const Plan& fresh,
               const Rational& pcost_at_once);
void PrintAfter(const Plan& plan, const Plan& fresh, const Rational& pcost_at_once);

// A plan for one of several budgets, for the same tables and objective.
struct ComparedPlan {
  std::string budget;  // as it was typed
  Plan plan;
  std::vector<TableErrors> errors;
  double seconds = 0;
};

// What `residua plan --compare` prints; `unit` is that of the budgets.
Json ComparisonJson(std::span<const ComparedPlan> plans, std::string_view unit, bool all_tables);
void PrintComparison(std::span<const ComparedPlan> plans, std::string_view unit, bool all_tables);
// "total, age, sex and 3 others": tables that would be better off with independent noise.
std::string NamesInWords(const Domain& domain, const BetterAlone& better);
Json BetterAloneJson(const Domain& domain, const BetterAlone& better);

}  // namespace residua::cli
