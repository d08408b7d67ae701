#include "residua/release/measure_to_file.h"

#include <optional>
#include <set>

#include "residua/base/error.h"
#include "residua/base/stop.h"
#include "residua/data/database_url.h"
#include "residua/data/mass_drop.h"
#include "residua/draft/release_cost.h"
#include "residua/files/file.h"
#include "residua/files/measurement_file.h"
#include "residua/noise/secure_bits.h"

namespace residua {
namespace {

namespace fs = std::filesystem;

// The rows, counted, and the plan that can be measured on them: all that could be refused without a
// ledger is refused.
struct MeasurableRows {
  CountedRows rows;
  MeasurablePlan plan;
};

MeasurableRows ReadRows(const MeasureRequest& request, const VerifiedPlan& verified) {
  const Plan& plan = request.plan.plan;
  const std::stop_token& stop = request.options.counting.stop;
  CountedResult read =
      ReadCountedRows(request.places.data, plan.domain, plan.protection, ThreadSecureBits(),
                      MeasuredSets(plan), request.options.counting, [&](int64_t num_rows) {
                        CheckNotStopped(stop);
                        if (request.on_rows) request.on_rows(num_rows);
                      });
  if (request.on_read) request.on_read(read.report);
  if (!request.allow_drops) {
    if (const auto drop = FindMassDrop(read.report, plan.domain, request.places.data)) throw *drop;
  }
  MeasurablePlan measurable(verified, read.rows.num_rows(), request.options.counting);
  CheckNotStopped(stop);
  return {std::move(read.rows), std::move(measurable)};
}

// The spend as one ledger has it.
struct Account {
  fs::path path;
  Ledger::Spend spend;
  std::optional<Ledger> ledger = {};  // nothing while the file is not there
  int64_t entry = 0;
};

// One spend in each ledger that answers for the data: first the one that was chosen, then the one
// beside the data, where there is one and it is another.
using Accounts = std::vector<Account>;

// How the ledger beside the data records what was spent by the chosen one.
Ledger::Spend SpendBeside(Ledger::Spend spend, const Ledger& ledger, const fs::path& chosen) {
  spend.note =
      fmt::format("spent by the ledger {}", fs::absolute(chosen).lexically_normal().string());
  if (ledger.Neighbours() != spend.neighbours) {
    spend.note = fmt::format("rho {} for other neighbours (\"{}\"), {}", TextAbove(spend.pcost / 2),
                             spend.neighbours, spend.note);
    spend.pcost = 0;
    spend.mu2 = 0;
    spend.neighbours = ledger.Neighbours();
  }
  return spend;
}

// The ledger beside the data, where there is one and it is another than the chosen one; empty
// otherwise.
fs::path OtherLedger(const DataPlaces& places) {
  if (places.data.is_given() || IsDatabaseUrl(places.data.database)) return {};
  const fs::path beside = LedgerBeside(places.data);
  std::error_code ignored;
  const bool is_other = fs::exists(beside) && !fs::equivalent(beside, places.ledger, ignored);
  return is_other ? beside : fs::path();
}

// Digests of the plans whose measurements are among `measured`, or within their combinations.
void AddPlanDigests(const std::vector<MeasuredPlan>& measured, std::set<std::string>* digests) {
  for (const MeasuredPlan& item : measured) {
    if (item.plan->parts.empty()) digests->insert(PlanDigest(*item.plan));
    AddPlanDigests(item.plan->parts, digests);
  }
}

// A spend that adds to earlier ones names their entries: releases of one family.
void NoteEarlier(const Plan& plan, Account* account) {
  std::set<std::string> digests;
  AddPlanDigests(plan.after, &digests);
  if (digests.empty() || !account->ledger) return;
  std::string entries;
  for (const LedgerEntry& entry : account->ledger->Entries()) {
    if (!entry.is_spend() || !digests.contains(entry.plan_digest)) continue;
    entries += fmt::format("{}{}", entries.empty() ? "" : ", ", entry.id);
  }
  if (entries.empty()) return;
  std::string& note = account->spend.note;
  note = fmt::format("adds to entry {}{}{}", entries, note.empty() ? "" : "; ", note);
}

Accounts AccountsOf(const MeasureRequest& request, Ledger::Spend spend) {
  spend.again = request.again;
  spend.resume = request.resume;
  spend.note.clear();
  const DataPlaces& places = request.places;
  Accounts accounts;
  accounts.push_back({places.ledger, spend});
  if (fs::exists(places.ledger)) accounts.front().ledger.emplace(Ledger::Open(places.ledger));
  if (const fs::path beside = OtherLedger(places); !beside.empty()) {
    accounts.push_back({beside, spend});
    Account& other = accounts.back();
    other.ledger.emplace(Ledger::Open(beside));
    other.spend = SpendBeside(spend, *other.ledger, places.ledger);
    accounts.front().spend.note =
        fmt::format("also in the ledger {}", fs::absolute(beside).lexically_normal().string());
  }
  for (Account& account : accounts) NoteEarlier(request.plan.plan, &account);
  return accounts;
}

// The ledger beside the data, if it has the spend or `will` have it; empty otherwise.
fs::path PathBeside(const Accounts& accounts, bool will) {
  if (accounts.size() < 2) return {};
  const Account& beside = accounts.back();
  return will || beside.ledger->FindPlan(beside.spend.plan_digest) ? beside.path : fs::path();
}

MeasureOutcome OutcomeOf(const Accounts& accounts, bool made_ledger, bool was_measured) {
  const Account& chosen = accounts.front();
  return {chosen.entry,
          chosen.ledger->CurrentBalance(),
          chosen.ledger->BalanceBefore(chosen.entry),
          made_ledger,
          was_measured,
          PathBeside(accounts, false)};
}

VerifiedPlan Verified(const MeasureRequest& request) {
  return AtPlace(request.plan_name, [&] { return VerifiedPlan(request.plan.plan); });
}

// The plan itself; what was measured of it before is not judged again.
void CheckPlan(const MeasureRequest& request) {
  if (fs::exists(request.output)) return;
  AtPlace(request.plan_name, [&] {
    CheckDomainIsPublic(request.plan.plan.domain);
    CheckNoiseIsMeasurable(request.plan.plan);
    CheckMeasuringFits(request.plan.plan);
  });
}

// All that can be refused of a new measurement before the data is read.
void CheckNew(const MeasureRequest& request, Accounts* accounts) {
  CheckLedgerIsFound(request.places);
  for (Account& account : *accounts) {
    if (account.ledger) account.ledger->CheckAffordable(account.spend);
  }
}

std::string EntriesInWords(const Accounts& accounts) {
  std::string words;
  for (const Account& account : accounts) {
    words += fmt::format("{}entry {} of {}", words.empty() ? "" : " and ", account.entry,
                         account.path.string());
  }
  return words;
}

Words HowToForgive(const Accounts& accounts) {
  Words words;
  for (const Account& account : accounts) {
    const Phrase forgive{Phrase::Kind::kForgive,
                         {fmt::format("{}", account.entry), account.path.string()}};
    words = words.empty() ? Words{forgive} : Joined({words, {" and "}, {forgive}});
  }
  return words;
}

// What failed, and that its spend stays reserved.
Error StaysReserved(const std::exception& failure, bool resumes, const Accounts& accounts) {
  const auto* error = dynamic_cast<const Error*>(&failure);
  const bool is_stopped = error != nullptr && error->kind() == ErrorKind::kStopped;
  const Words own = error != nullptr ? error->remedy() : Words();
  const Words what_now =
      resumes ? Words{"fix it and run the same command again; it continues without spending twice"}
              : Joined({{"if nothing of it was published, say so with "}, HowToForgive(accounts)});
  const Words remedy =
      Joined({own, own.empty() ? Words() : Words{"; "},
              WordsOf("the spend stays reserved as {}: ", EntriesInWords(accounts)), what_now});
  return Error(is_stopped ? ErrorKind::kStopped : ErrorKind::kIo,
               error != nullptr ? error->place() : Words(),
               error != nullptr ? error->problem() : Words{MessageOf(failure)}, remedy);
}

// Puts the spend into every ledger; first beside the data, so that none is chosen without it.
void Reserve(const MeasureRequest& request, const std::string& temporary, Accounts* accounts) {
  // Anew: a ledger may have come, gone or been restored while the data was read.
  *accounts = AccountsOf(request, accounts->front().spend);
  Account& chosen = accounts->front();
  if (!chosen.ledger) {
    const Budget& budget = request.plan.plan.budget;
    chosen.ledger.emplace(
        Ledger::OpenOrCreate(chosen.path, budget.pcost, chosen.spend.neighbours, budget.limits));
  }
  for (auto account = accounts->rbegin(); account != accounts->rend(); ++account) {
    account->spend.temporary = temporary;
    account->entry = account->ledger->Reserve(account->spend);
  }
}

// What is published says which ledger answers for the data: the one beside it, where there is one.
std::string IdentityOf(Accounts* accounts) { return accounts->back().ledger->Identity(); }

// Passes all noisy values to the visitor, once the spend is in every ledger, then calls `finish`.
void MeasureReserved(const MeasureRequest& request, MeasurableRows&& rows, const Accounts& accounts,
                     const MeasuredVisitor& visitor, const std::function<void()>& finish) {
  if (request.on_reserved) request.on_reserved();
  try {
    MeasureOptions options = request.options;
    // Where the file goes, there is room for its values.
    if (!request.output.empty()) options.waiting.folder = FolderOf(request.output);
    options.on_measured = [&](int64_t num_measured) {
      if (request.on_sets) request.on_sets(num_measured, std::ssize(rows.plan.sets()));
    };
    Measure(rows.plan, std::move(rows.rows), options, visitor);
    finish();
  } catch (const std::exception& error) {
    throw StaysReserved(error, request.resume, accounts);
  }
}

// Whoever gets through may publish what was measured under the spend, and nobody else.
void Confirm(Accounts* accounts) {
  for (auto account = accounts->rbegin(); account != accounts->rend(); ++account) {
    account->ledger->Confirm(account->entry, account->spend.temporary);
  }
}

[[noreturn]] void FailUnknown(const MeasureRequest& request) {
  Fail(ErrorKind::kRefused,
       "{}: was measured, but the ledger {} knows nothing of it; restore the ledger, or choose "
       "another place",
       request.output.string(), request.places.ledger.string());
}

[[noreturn]] void FailExists(const fs::path& output) {
  Fail(ErrorKind::kRefused, "{}: exists already; a measurement is paid for and not overwritten, {}",
       output.string(), Phrase{Phrase::Kind::kOtherOutput});
}

// The file is in place already: its spend is confirmed, wherever it was written, for the folder may
// have been moved since.
MeasureOutcome TakeInPlace(Accounts* accounts) {
  for (Account& account : *accounts) account.ledger->ConfirmPlaced(account.spend);
  Account& chosen = accounts->front();
  const auto paid = chosen.ledger->Find(chosen.spend);
  chosen.entry = (paid ? paid : chosen.ledger->FindPlan(chosen.spend.plan_digest))->id;
  return OutcomeOf(*accounts, false, true);
}

// The name of the file that is complete, but was never put in place: the chosen ledger has its
// spend, one ledger has confirmed it, and none has another.
std::string CompleteTemporary(const MeasureRequest& request, const Accounts& accounts) {
  std::string confirmed;
  std::vector<LedgerEntry> entries;
  for (const Account& account : accounts) {
    const auto entry = account.ledger ? account.ledger->Find(account.spend) : std::nullopt;
    if (!entry && entries.empty()) return "";
    if (!entry) continue;
    if (entry->kind == LedgerEntry::Kind::kConfirmed) confirmed = entry->temporary;
    entries.push_back(*entry);
  }
  for (const LedgerEntry& entry : entries) {
    if (entry.temporary != confirmed) return "";
  }
  return !confirmed.empty() && fs::exists(FolderOf(request.output) / confirmed) ? confirmed : "";
}

MeasureOutcome PutInPlace(const MeasureRequest& request, const std::string& temporary,
                          Accounts* accounts) {
  const fs::path path = FolderOf(request.output) / temporary;
  FileInProgress file(request.output, path);
  const MeasurementFile measurements(path);
  if (measurements.plan() != request.plan.plan) FailExists(path);
  VerifyMeasurements(measurements);
  for (Account& account : *accounts) {
    const auto entry = account.ledger->Find(account.spend);
    if (!entry) continue;
    account.entry = entry->id;
    if (entry->kind == LedgerEntry::Kind::kReserved) account.ledger->Confirm(entry->id, temporary);
  }
  if (!file.PutInPlaceIfFree()) FailExists(request.output);
  return OutcomeOf(*accounts, false, true);
}

// What is left to do, with all that can be refused before the data is read refused.
struct Work {
  enum class Kind { kTakeInPlace, kPutInPlace, kMeasure };
  Kind kind = Kind::kMeasure;
  std::string temporary = {};  // to be put in place
};

Work FindWork(const MeasureRequest& request, Accounts* accounts) {
  if (fs::exists(request.output)) {
    if (!request.resume) FailExists(request.output);
    const Account& chosen = accounts->front();
    if (!chosen.ledger || !chosen.ledger->FindPlan(chosen.spend.plan_digest)) FailUnknown(request);
    if (MeasurementFile(request.output).plan() != request.plan.plan) FailExists(request.output);
    return {Work::Kind::kTakeInPlace};
  }
  if (request.resume) {
    const std::string temporary = CompleteTemporary(request, *accounts);
    if (!temporary.empty()) return {Work::Kind::kPutInPlace, temporary};
  }
  CheckNew(request, accounts);
  return {};
}

// What earlier attempts left, but for what was paid for.
void RemoveLeftovers(const MeasureRequest& request, const Accounts& accounts) {
  std::vector<std::string> kept;
  for (const Account& account : accounts) {
    for (const LedgerEntry& entry : account.ledger->Entries()) {
      if (entry.kind == LedgerEntry::Kind::kConfirmed) kept.push_back(entry.temporary);
    }
  }
  RemoveTemporariesOf(request.output, kept);
}

}  // namespace

Ledger::Spend SpendOf(const PlanFile& file, const fs::path& output) {
  Ledger::Spend spend{file.plan.pcost, file.plan.budget.delta, PlanDigest(file.plan),
                      fs::absolute(output).lexically_normal(),
                      NeighboursInWords(file.plan.protection)};
  spend.mu2 = CostOf(file.plan).mu2;
  spend.limits = file.plan.budget.limits;
  return spend;
}

std::string FindDataIdentity(const DataPlaces& places) {
  const fs::path beside = OtherLedger(places);
  const fs::path& ledger = beside.empty() ? places.ledger : beside;
  return fs::exists(ledger) ? Ledger::Open(ledger).Identity() : "";
}

std::optional<Error> FindSpendRefusal(const PlanFile& plan, const DataPlaces& places) {
  const MeasureRequest request{plan, places, kInMemory};
  try {
    CheckLedgerIsFound(places);
    for (const Account& account : AccountsOf(request, SpendOf(plan, request.output))) {
      if (!account.ledger) continue;
      if (auto refusal = account.ledger->Refusal(account.spend)) return refusal;
    }
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

MeasureForecast CheckMeasuring(const MeasureRequest& request) {
  const VerifiedPlan verified = Verified(request);
  CheckPlan(request);
  Accounts accounts = AccountsOf(request, SpendOf(request.plan, request.output));
  const bool measures = FindWork(request, &accounts).kind == Work::Kind::kMeasure;
  const Account& chosen = accounts.front();
  const bool is_reserved =
      request.resume && chosen.ledger && chosen.ledger->Find(chosen.spend).has_value();
  return {verified, measures && !is_reserved, PathBeside(accounts, measures)};
}

MeasureOutcome MeasureToFile(const MeasureRequest& request) {
  return MeasureToFile(request, Verified(request));
}

MeasureOutcome MeasureToFile(const MeasureRequest& request, const VerifiedPlan& verified) {
  RESIDUA_CHECK(&verified.plan() == &request.plan.plan);
  CheckPlan(request);
  Accounts accounts = AccountsOf(request, SpendOf(request.plan, request.output));
  const Work work = FindWork(request, &accounts);
  if (work.kind == Work::Kind::kTakeInPlace) return TakeInPlace(&accounts);
  if (work.kind == Work::Kind::kPutInPlace) return PutInPlace(request, work.temporary, &accounts);

  const bool makes_ledger = !accounts.front().ledger;
  MeasurableRows rows = ReadRows(request, verified);
  // It is published, so it does not say where the data is.
  MeasurementWriter writer(request.output, {request.plan.plan, request.plan.data.WithoutPlaces()});
  FileInProgress& file = writer.file();
  Reserve(request, fs::path(file.path()).filename(), &accounts);
  if (request.resume) RemoveLeftovers(request, accounts);
  const auto write = [&](NoisyResidual&& residual) { writer.Write(residual); };
  const auto write_piece = [&](NoisyPiece&& piece) { writer.Write(piece); };
  MeasureReserved(request, std::move(rows), accounts, {write, write_piece}, [&] {
    if (fs::exists(request.output)) FailExists(request.output);
    writer.SetIdentity(IdentityOf(&accounts));
    writer.Complete();
  });
  try {
    Confirm(&accounts);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kRefused) file.Discard();
    throw;
  }
  if (!file.PutInPlaceIfFree()) {
    Fail(ErrorKind::kRefused,
         "{}: was made by another meanwhile; this measurement is paid for ({}) and complete: give "
         "{} another name",
         request.output.string(), EntriesInWords(accounts), file.path());
  }
  return OutcomeOf(accounts, makes_ledger, false);
}

MeasureOutcome MeasureToMemory(const MeasureRequest& request, std::vector<NoisyResidual>* into) {
  RESIDUA_CHECK(!request.resume);
  const VerifiedPlan verified = Verified(request);
  CheckPlan(request);
  Ledger::Spend spend = SpendOf(request.plan, kInMemory);
  spend.output = kInMemory;  // and no path
  Accounts accounts = AccountsOf(request, spend);
  CheckNew(request, &accounts);
  const bool makes_ledger = !accounts.front().ledger;
  MeasurableRows rows = ReadRows(request, verified);
  Reserve(request, std::string(kInMemory), &accounts);
  std::vector<NoisyResidual> residuals;
  std::string identity;
  const auto keep = [&](NoisyResidual&& residual) { residuals.push_back(std::move(residual)); };
  MeasureReserved(request, std::move(rows), accounts, WholeVisitor(keep),
                  [&] { identity = IdentityOf(&accounts); });
  Confirm(&accounts);
  *into = std::move(residuals);
  MeasureOutcome outcome = OutcomeOf(accounts, makes_ledger, false);
  outcome.data_identity = std::move(identity);
  return outcome;
}

}  // namespace residua
