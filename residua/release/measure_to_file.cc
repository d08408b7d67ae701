#include "residua/release/measure_to_file.h"

#include <optional>

#include "residua/base/error.h"
#include "residua/base/stop.h"
#include "residua/files/file.h"
#include "residua/files/measurement_file.h"
#include "residua/noise/secure_bits.h"

namespace residua {
namespace {

namespace fs = std::filesystem;

// The rows as they will be counted, and all that could be refused without a ledger, refused.
EncodedTable ReadRows(const MeasureRequest& request) {
  const Plan& plan = request.plan.plan;
  const std::stop_token& stop = request.options.counting.stop;
  ReadResult read = ReadEncodedTable(request.places.data, plan.domain, plan.protection,
                                     ThreadSecureBits(), [&](int64_t num_rows) {
                                       CheckNotStopped(stop);
                                       if (request.on_rows) request.on_rows(num_rows);
                                     });
  if (request.on_read) request.on_read(read.report);
  CheckMeasurable(plan, read.table.num_rows(), request.options);
  CheckNotStopped(stop);
  return std::move(read.table);
}

MeasureOutcome OutcomeOf(const Ledger& ledger, int64_t entry, bool made_ledger, bool was_measured) {
  MeasureOutcome outcome{entry, ledger.CurrentBalance(), 0, made_ledger, was_measured};
  for (const LedgerEntry& other : ledger.Entries()) {
    if (other.is_spend() && other.id < entry) outcome.spent_before += other.pcost;
  }
  return outcome;
}

// Passes every noisy residual to `visit`, once the spend is in the ledger as `entry`, then confirms
// it when `finish` has put them where they are to be.
void MeasureReserved(const MeasureRequest& request, const EncodedTable& table, Ledger* ledger,
                     int64_t entry, const std::function<void(NoisyResidual&&)>& visit,
                     const std::function<void()>& finish) {
  const Plan& plan = request.plan.plan;
  if (request.on_reserved) request.on_reserved();
  try {
    const auto num_sets = static_cast<int64_t>(MeasuredSets(plan).size());
    MeasureOptions options = request.options;
    // Where the file goes, there is room for its values.
    if (!request.output.empty()) options.waiting.folder = FolderOf(request.output);
    options.on_measured = [&](int64_t num_measured) {
      if (request.on_sets) request.on_sets(num_measured, num_sets);
    };
    Measure(plan, table, options, visit);
    finish();
    ledger->Confirm(entry);
  } catch (const std::exception& error) {
    const std::string path = request.places.ledger.string();
    const std::string remedy =
        request.resume ? "mend it and run the same command again, which goes on with that spend"
                       : fmt::format(
                             "if nothing of it was published, say so with residua ledger "
                             "forgive {} --ledger {} --reason ...",
                             entry, path);
    const auto* known = dynamic_cast<const Error*>(&error);
    const bool is_stopped = known != nullptr && known->kind() == ErrorKind::kStopped;
    throw Error(is_stopped ? ErrorKind::kStopped : ErrorKind::kIo,
                fmt::format("{}; the spend stays reserved as entry {} of {}: {}", MessageOf(error),
                            entry, path, remedy));
  }
}

[[noreturn]] void FailUnknown(const MeasureRequest& request) {
  Fail(ErrorKind::kRefused,
       "{}: was measured, but the ledger {} knows nothing of it; restore the ledger, or choose "
       "another place",
       request.output.string(), request.places.ledger.string());
}

[[noreturn]] void FailExists(const fs::path& output) {
  Fail(ErrorKind::kRefused,
       "{}: exists already; a measurement is paid for and not overwritten, choose another -o",
       output.string());
}

}  // namespace

fs::path LedgerBeside(const DataSource& data) {
  const std::string& file = data.source.empty() ? data.database : data.source;
  std::error_code ignored;
  const fs::path real = fs::canonical(file, ignored);
  const fs::path ledger = (real.empty() ? fs::path(file) : real).string() + ".ledger";
  const fs::path near = fs::proximate(ledger, ignored);
  return !near.empty() && *near.begin() != ".." ? near : ledger;
}

DataPlaces PlacesOf(const DataReference& reference, const fs::path& folder) {
  if (reference.empty()) Fail(ErrorKind::kBadInput, "the plan names no data; add --data FILE");
  const auto resolve = [&](const std::string& path) {
    return path.empty() ? "" : (folder / path).lexically_normal().string();
  };
  DataPlaces places{{resolve(reference.source), resolve(reference.database), reference.query}, {}};
  places.ledger =
      reference.ledger.empty() ? LedgerBeside(places.data) : fs::path(resolve(reference.ledger));
  return places;
}

Ledger::Spend SpendOf(const PlanFile& file, const fs::path& output) {
  return {file.plan.pcost,
          file.plan.budget.delta,
          PlanDigest(file.plan),
          fs::absolute(output).lexically_normal(),
          NeighboursInWords(file.plan.protection),
          false};
}

MeasureOutcome MeasureToFile(const MeasureRequest& request) {
  if (!request.resume && fs::exists(request.output)) FailExists(request.output);
  const Plan& plan = request.plan.plan;
  Ledger::Spend spend = SpendOf(request.plan, request.output);
  spend.again = request.again;
  const fs::path& ledger_path = request.places.ledger;
  const bool has_ledger = fs::exists(ledger_path);
  std::optional<LedgerEntry> known;
  if (has_ledger) {
    Ledger ledger = Ledger::Open(ledger_path);
    if (request.resume && fs::exists(request.output)) {
      // Wherever it was written: the folder may have been moved since.
      const auto paid = ledger.FindPlan(spend.plan_digest);
      if (!paid) FailUnknown(request);
      if (MeasurementFile(request.output).plan() != plan) FailExists(request.output);
      if (paid->kind == LedgerEntry::Kind::kReserved) ledger.Confirm(paid->id);
      return OutcomeOf(ledger, paid->id, false, true);
    }
    if (request.resume) known = ledger.Find(spend);
    if (known && known->kind == LedgerEntry::Kind::kConfirmed) {
      Fail(ErrorKind::kRefused,
           "{}: was measured (entry {} of {}), but is gone; put it back, or wherever it is now, "
           "make tables of it with residua tables",
           request.output.string(), known->id, ledger_path.string());
    }
    // Before the data is read, so that a refusal comes at once; Reserve decides.
    if (!known) ledger.CheckAffordable(spend);
  }
  if (fs::exists(request.output)) FailUnknown(request);

  const EncodedTable table = ReadRows(request);
  if (request.resume) RemoveTemporariesOf(request.output);
  MeasurementWriter writer(request.output, request.plan);
  Ledger ledger = Ledger::OpenOrCreate(ledger_path, plan.budget.pcost, spend.neighbours);
  const int64_t entry = known ? known->id : ledger.Reserve(spend);
  MeasureReserved(
      request, table, &ledger, entry, [&](NoisyResidual&& residual) { writer.Write(residual); },
      [&] { writer.Finish(); });
  return OutcomeOf(ledger, entry, !has_ledger, false);
}

MeasureOutcome MeasureToMemory(const MeasureRequest& request, std::vector<NoisyResidual>* into) {
  RESIDUA_CHECK(!request.resume);
  Ledger::Spend spend = SpendOf(request.plan, kInMemory);
  spend.output = kInMemory;  // and no path
  spend.again = request.again;
  const fs::path& ledger_path = request.places.ledger;
  const bool has_ledger = fs::exists(ledger_path);
  if (has_ledger) Ledger::Open(ledger_path).CheckAffordable(spend);
  const EncodedTable table = ReadRows(request);
  Ledger ledger =
      Ledger::OpenOrCreate(ledger_path, request.plan.plan.budget.pcost, spend.neighbours);
  const int64_t entry = ledger.Reserve(spend);
  std::vector<NoisyResidual> residuals;
  MeasureReserved(
      request, table, &ledger, entry,
      [&](NoisyResidual&& residual) { residuals.push_back(std::move(residual)); }, [] {});
  *into = std::move(residuals);
  return OutcomeOf(ledger, entry, !has_ledger, false);
}

}  // namespace residua
