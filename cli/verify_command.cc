#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "residua/files/verify_file.h"

namespace residua::cli {
namespace {

struct VerifyOptions {
  std::string path;
  bool json = false;
};

void Run(const VerifyOptions& options) {
  const VerifiedCost verified = VerifyFile(options.path);
  const Guarantee guarantee = GuaranteeOf(verified.pcost, verified.budget.delta);
  if (options.json) {
    const nlohmann::ordered_json json = {{"file", options.path},
                                         {"verified", true},
                                         {"pcost", ToString(verified.pcost)},
                                         {"budget_pcost", ToString(verified.budget.pcost)},
                                         {"rho", guarantee.rho},
                                         {"epsilon", guarantee.epsilon},
                                         {"delta", guarantee.delta}};
    fmt::print("{}\n", json.dump(2));
    return;
  }
  const bool replaces = verified.protection.neighbours == Protection::Neighbours::kReplaceOne;
  fmt::print("{}: verified {}\n", options.path,
             replaces ? "(one row replaced; rounded up)" : "in exact arithmetic");
  const SpentText cost = TextOfSpent(verified.pcost, verified.budget.pcost);
  fmt::print("  privacy cost {} of a budget of {}: {}-zCDP, epsilon {} at delta {}\n", cost.spent,
             cost.granted, TextAbove(guarantee.rho), TextAbove(guarantee.epsilon),
             DeltaText(guarantee.delta));
}

}  // namespace

void AddVerifyCommand(CLI::App* app) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app->add_subcommand(
      "verify",
      "Recompute the privacy cost of a plan or a measurement in exact rationals, independently");
  command->footer(
      "Example: residua verify plan.json\nThe exit code is 2 if it spends more than its budget or "
      "was changed.");
  command->add_option("FILE", options->path, "The plan or measurement file")->required();
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options] { Run(*options); });
}

}  // namespace residua::cli
