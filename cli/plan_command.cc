#include <chrono>
#include <memory>

#include "cli/commands.h"
#include "cli/measurement_argument.h"
#include "cli/measuring_report.h"
#include "cli/plan_report.h"
#include "cli/print_text.h"
#include "cli/progress.h"
#include "cli/words.h"
#include "residua/base/error.h"
#include "residua/files/basis_cache.h"
#include "residua/files/file.h"
#include "residua/files/plan_file.h"
#include "residua/measure/measure.h"
#include "residua/release/combine.h"
#include "residua/release/published_errors.h"
#include "residua/release/warnings.h"
#include "residua/select/select_after.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"
#include "residua/text/json_text.h"
#include "residua/text/workload_text.h"

namespace residua::cli {
namespace {

struct PlanOptions {
  std::string spec;
  std::string output;
  std::optional<std::string> domain;
  std::optional<std::string> marginals;
  std::vector<std::string> marginal;
  std::optional<std::string> objective;
  std::optional<std::string> weights;
  std::optional<std::string> neighbours;
  std::string basis = "oblique";
  std::string basis_cache;
  PrivacyText privacy;
  double tolerance = SolverOptions().tolerance;
  std::string compare;
  std::vector<std::string> after;
  std::optional<int64_t> rows;
  bool json = false;
  bool variances = false;
};

// The spec, or what the flags describe; flags take precedence.
Spec Gather(const PlanOptions& options) {
  if (options.spec.empty() == !options.domain) {
    Fail(ErrorKind::kBadInput,
         "plan needs either a SPEC file or --domain, such as --domain 100,50,7,4,2 --marginals "
         "'<=2'");
  }
  Spec spec;
  if (options.domain) {
    spec.domain = ParseDomain(*options.domain);
    spec.target = BudgetFromPcost(1);
  } else {
    spec = ReadSpec(options.spec);
  }
  if (options.rows) {
    if (*options.rows < 1) {
      Fail(ErrorKind::kBadInput, "--rows is {}; it must be at least 1", *options.rows);
    }
    spec.public_rows = options.rows;
  }
  if (options.marginals) spec.workload = {ParseMarginalRules(*options.marginals), {}};
  for (const std::string& text : options.marginal) {
    spec.workload.marginals.push_back({ParseAttributeSet(text, spec.domain), 1.0});
  }
  if (options.objective) spec.objective = ParseObjective(*options.objective);
  if (options.weights) spec.objective.weighting = ParseWeighting(*options.weights);
  if (options.neighbours) spec.protection.neighbours = ParseNeighbours(*options.neighbours);
  std::optional<double> delta;  // of the spec
  if (spec.target && !options.domain) {
    delta = std::visit([](const auto& target) { return target.delta; }, *spec.target);
  }
  const auto privacy = ParsePrivacy(options.privacy, delta);
  if (options.privacy.max_std_dev &&
      (options.weights || (options.objective && *options.objective != "max-variance"))) {
    Fail(ErrorKind::kBadInput,
         "--max-std-dev bounds every answer, so its objective is max-variance; leave out "
         "--objective "
         "and --weights");
  }
  if (privacy) {
    spec.target = privacy->target;
    if (privacy->bounds_every_answer) spec.objective = kEveryAnswer;
  } else if (options.privacy.delta && spec.target) {
    const double stated = ToDoubleDown(ParseRational(*options.privacy.delta, "delta"));
    std::visit([&](auto& target) { target.delta = stated; }, *spec.target);
  }
  if (!spec.target) {
    Fail(ErrorKind::kBadInput,
         "{}: [privacy] sets no budget; give epsilon and delta, rho, mu or pcost", options.spec);
  }
  return spec;
}

void CheckTolerance(double tolerance) {
  if (!(tolerance > 0) || !(tolerance < 1)) {
    Fail(ErrorKind::kBadInput, "--tolerance is {}; it must lie between 0 and 1, such as 1e-6",
         tolerance);
  }
}

// A budget in the same unit as `like`.
Budget BudgetLike(const Budget& like, const std::string& text) {
  PrivacyText privacy;
  switch (like.unit) {
    case BudgetUnit::kPcost:
      privacy.pcost = text;
      break;
    case BudgetUnit::kRho:
      privacy.rho = text;
      break;
    case BudgetUnit::kMu:
      privacy.mu = text;
      break;
    case BudgetUnit::kEpsilonDelta:
      privacy.epsilon = text;
      break;
  }
  Budget budget = std::get<Budget>(ParsePrivacy(privacy, like.delta)->target);
  budget.delta = like.delta;
  return budget;
}

std::string_view NameOf(BudgetUnit unit) {
  switch (unit) {
    case BudgetUnit::kPcost:
      return "pcost";
    case BudgetUnit::kRho:
      return "rho";
    case BudgetUnit::kMu:
      return "mu";
    case BudgetUnit::kEpsilonDelta:
      return "epsilon";
  }
  RESIDUA_CHECK(false);
}

// Plans for several budgets. Bases do not depend on the budget, and are chosen once.
void Compare(const PlanOptions& options, const Spec& spec, SelectRequest request) {
  const auto* like = std::get_if<Budget>(&*spec.target);
  if (like == nullptr || !options.output.empty()) {
    Fail(ErrorKind::kBadInput, "--compare {}",
         like == nullptr ? "needs a budget, such as epsilon or rho, and not a target of accuracy"
                         : "writes no plan; leave out -o");
  }
  std::vector<ComparedPlan> plans;
  {
    const ElapsedTime planning("Planning");
    for (const std::string& text : CLI::detail::split(options.compare, ',')) {
      const auto start = std::chrono::steady_clock::now();
      request.target = AtPlace("--compare", [&] { return BudgetLike(*like, text); });
      Plan plan = Select(request);
      request.matrices = MatrixOfAttributes(plan);
      std::vector<TableErrors> errors = PublishedErrors(plan);
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      plans.push_back({text, std::move(plan), std::move(errors), elapsed.count()});
    }
  }
  if (options.json) {
    fmt::print("{}\n", IndentedJson(ComparisonJson(plans, NameOf(like->unit), options.variances)));
  } else {
    PrintComparison(plans, NameOf(like->unit), options.variances);
  }
}

// What the plan is compared with, where it comes after earlier releases.
struct Alternatives {
  Plan fresh;
  Rational pcost_at_once;
};

PlanAfter PlanAfterReleases(const PlanOptions& options, const SelectRequest& request,
                            std::optional<Alternatives>* alternatives) {
  std::vector<MeasuredPlan> earlier;
  for (const std::string& path : options.after) earlier.push_back(ReadMeasuredPlan(path));
  PlanAfter planned = SelectAfter(request, earlier);
  *alternatives = {planned.fresh, CostAtOnce(request, planned.plan)};
  return planned;
}

void Run(const PlanOptions& options) {
  CheckTolerance(options.tolerance);
  const Spec spec = Gather(options);
  AtPlace(options.spec, [&] { CheckWorkload(spec.domain, spec.workload); });
  if (!options.output.empty()) CheckReplaceable(options.output, FileKind::kPlan);
  const auto start = std::chrono::steady_clock::now();
  SelectRequest request = RequestOf(spec);
  request.solver.tolerance = options.tolerance;
  request.basis = ParseBasisKind(options.basis);
  if (!options.basis_cache.empty()) request.matrices = FindBases(options.basis_cache, request);
  if (!options.compare.empty()) {
    Compare(options, spec, std::move(request));
    return;
  }
  const bool known = !request.matrices.empty();
  std::optional<ElapsedTime> planning("Planning");
  std::optional<Alternatives> alternatives;
  PlanFile file{options.after.empty() ? Select(request)
                                      : PlanAfterReleases(options, request, &alternatives).plan,
                spec.data};
  planning.reset();
  if (!options.basis_cache.empty() && !known && options.after.empty())
    KeepBases(options.basis_cache, request, file.plan);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (!options.output.empty()) {
    file.data = Rebase(spec.data, FolderOf(options.spec), FolderOf(options.output));
    WritePlan(options.output, file);
  }
  try {
    CheckDomainIsPublic(file.plan.domain);
    CheckNoiseIsMeasurable(file.plan);
    for (const Attribute& attribute : file.plan.domain.attributes()) EmptyCodeColumn(attribute);
  } catch (const Error& error) {
    PrintText(stderr, "note: this can be planned but not measured: {}\n", Worded(error));
  }
  const std::vector<TableErrors> errors = PublishedErrors(file.plan);
  std::optional<PlanCertificate> certificate;
  if (options.after.empty()) certificate = CertifyPlan(file.plan);
  const std::vector<ReleaseWarning> warnings = WarningsOf(file.plan, spec.public_rows);
  PrintWarnings(warnings);
  std::optional<double> num_rows;
  if (spec.public_rows) num_rows = static_cast<double>(*spec.public_rows);
  if (options.json) {
    Json json =
        PlanJson(file.plan, errors, certificate, elapsed.count(), options.variances, num_rows);
    json["warnings"] = Json::array();
    for (const ReleaseWarning& warning : warnings) json["warnings"].push_back(Worded(warning));
    if (alternatives) {
      json["after"] =
          AfterJson(file.plan, errors, alternatives->fresh, alternatives->pcost_at_once);
    }
    fmt::print("{}\n", IndentedJson(json));
  } else {
    PrintPlan(file.plan, errors, certificate, elapsed.count(), options.variances, num_rows);
    if (alternatives) {
      PrintAfter(file.plan, alternatives->fresh, alternatives->pcost_at_once);
    }
    if (!options.output.empty()) PrintText("\nWritten to {}\n", options.output);
  }
}

}  // namespace

void AddPlanCommand(CLI::App* app) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app->add_subcommand(
      "plan", "Choose the noise; print its cost in every unit and the error of each table");
  command->footer(
      "Examples:\n"
      "  residua plan people.toml -o plan.json\n"
      "  residua plan --domain 100,50,7,4,2 --marginals '<=3' --objective max-variance --rho 0.5\n"
      "  residua plan people.toml --compare 0.5,1,2,4\n"
      "  residua plan more.toml --after first/measurements.parquet -o second.json\n"
      "No data is read. With --domain and no budget, the privacy cost is 1.");
  command->add_option("SPEC", options->spec, "The spec file (TOML)");
  command->add_option("-o,--output", options->output, "Write the plan to this file");
  command->add_option("--domain", options->domain,
                      "Attribute sizes: a comma list of SIZE[:QUERIES][*COUNT]");
  command->add_option(
      "--marginals", options->marginals,
      "A comma list of K (all K-way), <=K (up to K-way), cells<=N (at most N cells)");
  command
      ->add_option("--marginal", options->marginal,
                   "One more marginal: attribute names or indices, a,b")
      ->expected(1)
      ->take_all();
  command->add_option("--objective", options->objective, "sum-variance, max-variance or p-norm=P");
  command->add_option("--weights", options->weights,
                      "Importance of a table's mean variance: equal (the default), cells (the sum "
                      "of variances is then the RMSE over all answers) or sqrt-cells");
  command->add_option(
      "--neighbours", options->neighbours,
      "Data sets that a release can hardly tell apart: add-remove (one row more or less, "
      "the default) or replace-one (one row replaced)");
  command->add_option("--basis", options->basis,
                      "Residual bases of prefix, range and other queries: oblique (the best), or "
                      "orthogonal (ResidualPlanner+'s, for comparison)");
  command->add_option("--basis-cache", options->basis_cache,
                      "Save bases in this file, and reuse them when planning the same again");
  command->add_option("--pcost", options->privacy.pcost, "Budget as privacy cost (2 rho)");
  command->add_option("--rho", options->privacy.rho, "Budget in zCDP");
  command->add_option("--epsilon", options->privacy.epsilon, "Budget as epsilon, with --delta");
  command->add_option("--delta", options->privacy.delta, "The delta that epsilon is stated at");
  command->add_option("--mu", options->privacy.mu, "Budget in Gaussian differential privacy");
  command->add_option("--max-std-dev", options->privacy.max_std_dev,
                      "The least budget with which no answer has a larger standard deviation; "
                      "those of sums of value - LOW are in units of HIGH - LOW");
  command->add_option("--target-loss", options->privacy.target_loss,
                      "The least budget with which the objective is at most this");
  command->add_option("--tolerance", options->tolerance,
                      "Stop at this relative gap to the optimum");
  command->add_option("--rows", options->rows,
                      "About how many rows there are, if that is publicly known: warns of a large "
                      "delta, and of noise above most counts");
  command->add_option(
      "--compare", options->compare,
      "Show the errors for several budgets, a comma list in the unit of the budget: "
      "0.5,1,2,4");
  AcceptReleaseFolder(
      command->add_option("--after", options->after,
                          "The folder or measurement file of an earlier release of the same data, "
                          "which the new one will be combined with; may be repeated. Errors are "
                          "those after combining"))
      ->expected(1)
      ->take_all();
  command->add_flag("--variances", options->variances,
                    "List every table, with the mean and the largest variance of its answers");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options] { Run(*options); });
}

}  // namespace residua::cli
