#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "residua/base/error.h"
#include "residua/base/memory.h"
#include "residua/io/data_source.h"
#include "residua/io/digest.h"
#include "residua/io/ledger.h"
#include "residua/io/measurement_file.h"
#include "residua/measure/measure.h"

namespace residua::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string plan;
  std::string output;
  std::string data;
  std::string ledger;
  bool again = false;
  bool json = false;
  int threads = 0;
};

// Paths as the plan states them are relative to its folder.
struct Places {
  DataSource data;
  fs::path ledger;
  fs::path output;
};

Places FindPlaces(const Options& options, const DataReference& reference) {
  const fs::path folder = fs::path(options.plan).parent_path();
  Places places;
  if (!options.data.empty()) {
    places.data.source = options.data;
  } else if (reference.empty()) {
    Fail(ErrorKind::kBadInput, "{}: the plan names no data; add --data FILE", options.plan);
  } else {
    const auto resolve = [&](const std::string& path) {
      return path.empty() ? "" : (folder / path).lexically_normal().string();
    };
    places.data.source = resolve(reference.source);
    places.data.database = resolve(reference.database);
    places.data.query = reference.query;
  }
  if (!options.ledger.empty()) {
    places.ledger = options.ledger;
  } else if (!reference.ledger.empty()) {
    places.ledger = (folder / reference.ledger).lexically_normal();
  } else {
    // Beside the data itself, whatever spec, plan or link led there: one data set, one ledger.
    const std::string& data =
        places.data.source.empty() ? places.data.database : places.data.source;
    std::error_code ignored;
    const fs::path real = fs::canonical(data, ignored);
    places.ledger = (real.empty() ? fs::path(data) : real).string() + ".ledger";
    const fs::path near = fs::proximate(places.ledger, ignored);
    if (!near.empty() && *near.begin() != "..") places.ledger = near;
  }
  places.output =
      options.output.empty() ? folder / "measurements.parquet" : fs::path(options.output);
  if (fs::exists(places.output)) {
    Fail(ErrorKind::kRefused,
         "{}: exists already; a measurement is paid for and not overwritten, choose another -o",
         places.output.string());
  }
  return places;
}

void ReportReading(const ReadReport& report, const Domain& domain) {
  for (int i = 0; i < domain.size(); ++i) {
    const AttributeReport& attribute = report.attributes[static_cast<size_t>(i)];
    if (attribute.num_clamped > 0) {
      fmt::print(stderr, "note: {}: {} values clamped (a true count: not for publication)\n",
                 domain[i].name, attribute.num_clamped);
    }
    if (attribute.num_nulled > 0) {
      fmt::print(stderr,
                 "note: {}: {} values taken as missing (a true count: not for publication)\n",
                 domain[i].name, attribute.num_nulled);
    }
  }
  if (report.num_rows_dropped > 0) {
    fmt::print(stderr, "note: {} rows dropped (a true count: not for publication)\n",
               report.num_rows_dropped);
  }
}

void Run(const Options& options) {
  const PlanFile file = ReadPlan(options.plan);
  const Plan& plan = file.plan;
  try {
    VerifyPlan(plan);
    CheckDomainIsPublic(plan.domain);
    CheckNoiseIsMeasurable(plan);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", options.plan, error.what()));
  }
  const Places places = FindPlaces(options, file.data);
  const Ledger::Spend spend{plan.pcost, plan.budget.delta, Sha256(PlanToJson(file)),
                            fs::absolute(places.output).lexically_normal(), options.again};
  // Before the data is read, so that a refusal comes at once; Reserve decides.
  const bool has_ledger = fs::exists(places.ledger) && fs::file_size(places.ledger) > 0;
  if (has_ledger) Ledger::Open(places.ledger).CheckAffordable(spend);

  const ReadResult read = ReadEncodedTable(places.data, plan.domain);
  ReportReading(read.report, plan.domain);
  MeasureOptions measure;
  measure.counting.num_threads = options.threads;
  measure.counting.memory_limit_bytes = MemoryOfMachine() / 4 * 3;
  CheckMeasurable(plan, read.table.num_rows(), measure);
  MeasurementWriter writer(places.output, file);
  Ledger ledger = Ledger::OpenOrCreate(places.ledger, plan.budget.pcost);
  const int64_t entry = ledger.Reserve(spend);
  try {
    Measure(plan, read.table, measure, [&](NoisyResidual&& residual) { writer.Write(residual); });
    writer.Finish();
    ledger.Confirm(entry);
  } catch (const std::exception& error) {
    throw Error(
        ErrorKind::kIo,
        fmt::format(
            "{}; the spend stays reserved as entry {} of {}: if nothing of it was published, "
            "say so with residua ledger forgive {} --ledger {} --reason ...",
            error.what(), entry, places.ledger.string(), entry, places.ledger.string()));
  }
  const Ledger::Balance balance = ledger.CurrentBalance();
  const Guarantee guarantee = GuaranteeOf(plan.pcost, plan.budget.delta);
  if (options.json) {
    const nlohmann::ordered_json json = {{"measurements", places.output.string()},
                                         {"ledger", places.ledger.string()},
                                         {"entry", entry},
                                         {"rho", guarantee.rho},
                                         {"epsilon", guarantee.epsilon},
                                         {"delta", guarantee.delta},
                                         {"spent_rho", ToDoubleUp(balance.spent / 2)},
                                         {"granted_rho", ToDoubleDown(balance.granted / 2)}};
    fmt::print("{}\n", json.dump(2));
    return;
  }
  fmt::print(
      "Measured once, with discrete Gaussian noise: {:.6g}-zCDP, epsilon {:.6g} at delta {:g}\n",
      guarantee.rho, guarantee.epsilon, guarantee.delta);
  fmt::print("Ledger {}{}: entry {}, rho {:.6g} of {:.6g} spent\n", places.ledger.string(),
             has_ledger ? "" : " (new; keep it with the data)", entry,
             ToDoubleUp(balance.spent / 2), ToDoubleDown(balance.granted / 2));
  fmt::print("Written to {}\n", places.output.string());
}

}  // namespace

void AddMeasureCommand(CLI::App* app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app->add_subcommand("measure", "Count, add noise, record the spend in the ledger");
  command->footer(
      "Example: residua measure plan.json -o measurements.parquet\n"
      "The data is where the plan's spec said, beside it, unless --data names another file.\n"
      "The spend is in the ledger before noise is drawn. A plan is measured once, unless you add "
      "--again.");
  command->add_option("PLAN", options->plan, "The plan file")->required();
  command->add_option("-o,--output", options->output,
                      "The measurement file; by default measurements.parquet beside the plan");
  command->add_option("--data", options->data, "Read this file instead: CSV, Parquet or JSON");
  command->add_option("--ledger", options->ledger,
                      "The ledger; by default the data file's name + .ledger, beside the data");
  command->add_option("--threads", options->threads, "Threads; by default one a processor")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--again", options->again,
                    "Measure a plan that was measured before: a new spend");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options] { Run(*options); });
}

}  // namespace residua::cli
