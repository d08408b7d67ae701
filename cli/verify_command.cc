#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "residua/base/error.h"
#include "residua/io/plan_file.h"

namespace residua::cli {
namespace {

struct VerifyOptions {
  std::string path;
  bool json = false;
};

void Run(const VerifyOptions& options) {
  const PlanFile file = ReadPlan(options.path);
  try {
    VerifyPlan(file.plan);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", options.path, error.what()));
  }
  const Guarantee guarantee = GuaranteeOf(file.plan.pcost, file.plan.budget.delta);
  if (options.json) {
    const nlohmann::ordered_json json = {{"file", options.path},
                                         {"verified", true},
                                         {"pcost", ToString(file.plan.pcost)},
                                         {"budget_pcost", ToString(file.plan.budget.pcost)},
                                         {"rho", guarantee.rho},
                                         {"epsilon", guarantee.epsilon},
                                         {"delta", guarantee.delta}};
    fmt::print("{}\n", json.dump(2));
    return;
  }
  fmt::print("{}: verified in exact arithmetic\n", options.path);
  fmt::print(
      "  privacy cost {:.10g} of a budget of {:.10g}: {:.6g}-zCDP, epsilon {:.6g} at delta {:g}\n",
      guarantee.pcost, file.plan.budget.pcost.get_d(), guarantee.rho, guarantee.epsilon,
      guarantee.delta);
}

}  // namespace

void AddVerifyCommand(CLI::App* app) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app->add_subcommand(
      "verify", "Recompute a plan's privacy cost in exact rationals, independently of the planner");
  command->footer(
      "Example: residua verify plan.json\nExit code 2 if it overspends or was changed.");
  command->add_option("PLAN", options->path, "The plan file")->required();
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options] { Run(*options); });
}

}  // namespace residua::cli
