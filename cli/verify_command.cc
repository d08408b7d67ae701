#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/guarantee_report.h"
#include "cli/measurement_argument.h"
#include "cli/print_text.h"
#include "residua/files/verify_file.h"
#include "residua/text/json_text.h"

namespace residua::cli {
namespace {

struct VerifyOptions {
  std::string path;
  bool json = false;
};

void Run(const VerifyOptions& options) {
  const VerifiedCost verified = VerifyFile(options.path);
  const PrivacyCost& cost = verified.cost;
  const Budget& budget = verified.budget;
  const bool is_by_curve = budget.limits == Accounting::kGaussian;
  if (options.json) {
    Json json = {{"file", options.path},
                 {"verified", true},
                 {"pcost", ToString(cost.pcost)},
                 {"mu2", cost.mu2 ? Json(ToString(*cost.mu2)) : nullptr},
                 {is_by_curve ? "budget_mu2" : "budget_pcost", ToString(budget.pcost)}};
    AddGuarantee(verified.guarantee, &json);
    for (const Guarantee& part : verified.parts) {
      Json of_part;
      AddGuarantee(part, &of_part);
      json["parts"].push_back(std::move(of_part));
    }
    fmt::print("{}\n", IndentedJson(json));
    return;
  }
  const bool replaces = verified.protection.neighbours == Protection::Neighbours::kReplaceOne;
  PrintText("{}: verified {}\n", options.path,
            replaces ? "(one row replaced; rounded up)" : "in exact arithmetic");
  const SpentText spent = TextOfSpent(LimitedCost(budget, cost), budget.pcost);
  PrintText("  {} {} of a budget of {}\n", is_by_curve ? "mu^2" : "privacy cost", spent.spent,
            spent.granted);
  PrintText("  {}\n", GuaranteeInWords(verified.guarantee));
  for (size_t k = 0; k < verified.parts.size(); ++k) {
    PrintText("  of that release {}: {}\n", k + 1, GuaranteeInWords(verified.parts[k]));
  }
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
  AcceptReleaseFolder(
      command->add_option("FILE", options->path,
                          "The plan or measurement file, or the folder of a release"))
      ->required();
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options] { Run(*options); });
}

}  // namespace residua::cli
