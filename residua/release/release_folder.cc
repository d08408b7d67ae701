#include "residua/release/release_folder.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "residua/base/error.h"
#include "residua/draft/release_cost.h"
#include "residua/files/file.h"
#include "residua/files/measurement_file.h"
#include "residua/release/combine.h"
#include "residua/release/summary.h"
#include "residua/select/select_after.h"
#include "residua/text/json_text.h"

namespace residua {
namespace {

namespace fs = std::filesystem;

// Nothing but what a first attempt left when it was interrupted writing its plan.
bool IsAsGoodAsEmpty(const ReleaseFolder& folder) {
  const auto num_entries = std::distance(fs::directory_iterator(folder.path), {});
  return num_entries == std::ssize(TemporariesOf(folder.plan));
}

// The plan of an earlier attempt in the folder; nothing if the folder is not there or empty. A
// measurement file is complete by itself.
std::optional<Plan> EarlierPlan(const ReleaseFolder& folder) {
  if (!fs::exists(folder.path)) return std::nullopt;
  if (!fs::is_directory(folder.path)) {
    Fail(ErrorKind::kRefused, "{}: exists and is not a folder; {}", folder.path.string(),
         Phrase{Phrase::Kind::kOtherOutput});
  }
  if (fs::exists(folder.plan)) return ReadPlan(folder.plan).plan;
  if (fs::exists(folder.measurements)) return MeasurementFile(folder.measurements).plan();
  if (IsAsGoodAsEmpty(folder)) return std::nullopt;
  Fail(ErrorKind::kRefused, "{}: exists and is not a release of residua; {}, or empty it",
       folder.path.string(), Phrase{Phrase::Kind::kOtherOutput});
}

MeasuredPlan PlanMeasuredBy(const EarlierRelease& earlier) {
  if (const auto* path = std::get_if<fs::path>(&earlier))
    return ReadMeasuredPlan(MeasurementFileAt(*path));
  return MeasuredPlanOf(*std::get<std::shared_ptr<const Release>>(earlier));
}

// Whether the plan comes after exactly these.
bool IsAfter(const Plan& plan, const std::vector<MeasuredPlan>& earlier) {
  return std::equal(
      plan.after.begin(), plan.after.end(), earlier.begin(), earlier.end(),
      [](const MeasuredPlan& a, const MeasuredPlan& b) { return a.digest == b.digest; });
}

// What could not be combined is refused before it is paid for.
void CheckEarlier(const ReleaseRequest& request, const DataPlaces& places) {
  if (request.after.empty()) return;
  const std::string identity = FindDataIdentity(places);
  for (size_t j = 0; j < request.after.size(); ++j) {
    std::string stated, name;
    if (const auto* path = std::get_if<fs::path>(&request.after[j])) {
      name = MeasurementFileAt(*path).string();
      stated = MeasurementFile(name).plan_file().data.identity;
    } else {
      name = fmt::format("earlier release {}", j + 1);
      stated =
          std::get<std::shared_ptr<const Release>>(request.after[j])->plan_file().data.identity;
    }
    if (stated.empty() ? request.same_data : stated == identity) continue;
    if (stated.empty()) {
      Fail(ErrorKind::kRefused,
           "{}: does not say which data it measures; if it measures the same rows, say so with {}",
           name, Phrase{Phrase::Kind::kOption, {"same-data"}});
    }
    Fail(ErrorKind::kRefused,
         "{}: measures other data, by the ledger that paid for it; name releases of the same data",
         name);
  }
}

// The earlier releases and the measurement of this one, in the folder's combined file.
CombinedFile CombineInto(const ReleaseFolder& folder, const ReleaseRequest& request) {
  const CombineOptions options{request.same_data, request.stop};
  // It follows from the parts: one of an earlier attempt is made again.
  fs::remove(folder.combined);
  std::vector<fs::path> files;
  for (const EarlierRelease& earlier : request.after) {
    if (const auto* path = std::get_if<fs::path>(&earlier))
      files.push_back(MeasurementFileAt(*path));
  }
  if (files.size() == request.after.size()) {
    files.push_back(folder.measurements);
    return CombineFiles(files, folder.combined, options);
  }
  std::vector<std::shared_ptr<const Release>> parts;
  for (const EarlierRelease& earlier : request.after) {
    const auto* path = std::get_if<fs::path>(&earlier);
    parts.push_back(path != nullptr ? Release::Load(MeasurementFileAt(*path), request.stop)
                                    : std::get<std::shared_ptr<const Release>>(earlier));
  }
  parts.push_back(Release::Load(folder.measurements, request.stop));
  CombinedRelease combined = Combine(parts, options);
  combined.release->Save(folder.combined);
  return {combined.release->plan_file(), combined.report};
}

bool IsPlanFor(const Spec& spec, const Plan& plan) {
  const auto* budget = std::get_if<Budget>(&*spec.target);
  return budget != nullptr && plan.budget == *budget && plan.domain == spec.domain &&
         plan.workload == spec.workload && plan.objective == spec.objective &&
         plan.protection == spec.protection;
}

// What was planned for this spec in the folder stays planned: another version of residua, or
// another processor, may choose other noise.
Plan PlanIn(const ReleaseFolder& folder, const ReleaseRequest& request) {
  std::optional<Plan> earlier = EarlierPlan(folder);
  std::vector<MeasuredPlan> after;
  for (const EarlierRelease& release : request.after) after.push_back(PlanMeasuredBy(release));
  if (!request.plan && earlier && IsPlanFor(request.spec, *earlier) && IsAfter(*earlier, after)) {
    return *std::move(earlier);
  }
  Plan plan = request.plan    ? *request.plan
              : after.empty() ? Select(RequestOf(request.spec))
                              : SelectAfter(RequestOf(request.spec), after).plan;
  if (plan.after.empty() && !after.empty()) {
    Fail(ErrorKind::kRefused,
         "the plan was made without the earlier releases that are named; plan it given them, or "
         "measure it alone and combine it with them");
  }
  if (!IsAfter(plan, after)) {
    Fail(ErrorKind::kRefused,
         "the plan adds to other earlier releases than are named; measure it, then combine it with "
         "those");
  }
  if (earlier && *earlier != plan) {
    Fail(ErrorKind::kRefused,
         "{}: holds the release of another plan; {} for a new release, or put the spec back as it "
         "was to continue this one",
         folder.path.string(), Phrase{Phrase::Kind::kOtherOutput});
  }
  return plan;
}

ReleaseForecast Forecast(const Plan& plan, const DataPlaces& places,
                         const MeasureForecast& measuring, std::optional<int64_t> public_rows) {
  ReleaseForecast forecast;
  forecast.pcost = plan.pcost;
  forecast.guarantee = GuaranteeOf(plan);
  forecast.protection = plan.protection;
  forecast.ledger = places.ledger;
  if (fs::exists(places.ledger)) {
    forecast.balance = Ledger::Open(places.ledger).CurrentBalance();
  }
  forecast.ledger_beside = measuring.ledger_beside;
  forecast.errors = SummarizePublished(plan);
  forecast.query = SurveyQuery(places.data);
  forecast.warnings = WarningsOf(plan, public_rows);
  return forecast;
}

// True if it was not there before.
bool MakeFolder(const fs::path& path) {
  std::error_code error;
  const bool is_new = fs::create_directories(path, error);
  if (error) {
    Fail(ErrorKind::kIo, "{}: the folder cannot be made: {}", path.string(), error.message());
  }
  return is_new;
}

// Measures into the folder. What is refused before anything is spent leaves no trace of it, if it
// is new.
MeasureOutcome MeasureInto(const ReleaseFolder& folder, bool is_new, const VerifiedPlan& verified,
                           MeasureRequest request) {
  const bool made_plan = !fs::exists(folder.plan);
  bool is_spent = !made_plan;
  for (const fs::path& unfinished :
       {folder.plan, folder.combined, folder.tables, folder.summary, folder.page}) {
    RemoveTemporariesOf(unfinished);
  }
  try {
    if (made_plan) WritePlan(folder.plan, request.plan);
    request.resume = true;
    request.on_reserved = [&is_spent, tell = std::move(request.on_reserved)] {
      is_spent = true;
      if (tell) tell();
    };
    return MeasureToFile(request, verified);
  } catch (...) {
    std::error_code ignored;
    if (!is_spent) fs::remove(folder.plan, ignored);
    if (!is_spent && is_new) fs::remove(folder.path, ignored);
    throw;
  }
}

// Earlier versions wrote into a plan where the data is. Whether they wrote the measurements too,
// which then say so as well; if not, the plan is written again without it.
bool NamesData(const ReleaseFolder& folder, const PlanFile& plan) {
  const DataReference data = MeasurementFile(folder.measurements).plan_file().data;
  if (data != data.WithoutPlaces()) return true;
  const DataReference planned = ReadPlan(folder.plan).data;
  if (planned != planned.WithoutPlaces()) WritePlan(folder.plan, plan);
  return false;
}

// Of a plan file, as readers see it.
std::string DigestShownIn(const fs::path& plan) {
  return ParseJson(ReadFile(plan)).at("digest").get<std::string>();
}

TablesRequest TablesOf(const ReleaseRequest& request, const ReleaseFolder& folder) {
  TablesRequest tables;
  tables.measurements = request.after.empty() ? folder.measurements : folder.combined;
  tables.output = folder.tables;
  tables.format = request.format;
  tables.digits = request.digits;
  tables.confidence = request.confidence;
  tables.num_threads = request.num_threads;
  tables.on_table = request.on_table;
  return tables;
}

}  // namespace

ReleaseFolder::ReleaseFolder(const fs::path& folder)
    : path(folder),
      plan(folder / "plan.json"),
      measurements(folder / "measurements.parquet"),
      combined(folder / "combined.parquet"),
      tables(folder / "tables"),
      summary(folder / "summary.md"),
      page(folder / "index.html") {}

fs::path ReleaseFolder::published() const { return fs::exists(combined) ? combined : measurements; }

fs::path MeasurementFileAt(const fs::path& place) {
  return fs::is_directory(place) ? ReleaseFolder(place).published() : place;
}

ReleaseRequest RequestReleaseOf(const fs::path& spec_file, const fs::path& output) {
  return {ReadReleasableSpec(spec_file), FolderOf(spec_file), spec_file.string(), output};
}

ReleaseOutcome MakeRelease(const ReleaseRequest& request) {
  const Spec& spec = request.spec;
  if (request.data.arrow == nullptr && request.data.elsewhere == nullptr &&
      request.data.source.empty()) {
    CheckReleasable(spec, request.spec_name);
  }
  const ReleaseFolder folder(request.output);
  const TablesRequest tables = TablesOf(request, folder);
  CheckTablesRequest(tables);
  CheckReplaceable(folder.summary, FileKind::kSummary);
  CheckReplaceable(folder.page, FileKind::kPage);
  // Without the data: the folder can be published as it is, and the spec is given again to resume.
  PlanFile plan{PlanIn(folder, request), spec.data.WithoutPlaces()};
  if (request.on_planned) request.on_planned();

  NamedPlaces named = request.data;
  named.ledger = request.ledger;
  MeasureRequest measure{plan, FindPlaces(spec.data, request.spec_folder, named),
                         folder.measurements};
  measure.plan_name = request.spec_name;
  measure.allow_drops = request.allow_drops;
  measure.options.counting.num_threads = request.num_threads;
  measure.options.counting.stop = request.stop;
  measure.on_rows = request.on_rows;
  measure.on_read = request.on_read;
  measure.on_reserved = request.on_reserved;
  measure.on_sets = request.on_sets;
  // A spend that was interrupted is continued only where it was made, and refused otherwise: what
  // it paid for may lie in a folder that was moved away.
  measure.resume = fs::exists(folder.plan) || fs::exists(folder.measurements);
  CheckEarlier(request, measure.places);
  const MeasureForecast forecast = CheckMeasuring(measure);
  if (forecast.spends) AtPlace(request.spec_name, [&] { CheckTablesFit(plan.plan); });
  if (forecast.spends && request.confirm &&
      !request.confirm(Forecast(plan.plan, measure.places, forecast, spec.public_rows))) {
    Fail(ErrorKind::kRefused, "nothing was spent, nothing was written");
  }

  const bool is_new = MakeFolder(folder.path);
  const FolderLock lock(folder.path);
  MeasureOutcome measured = MeasureInto(folder, is_new, forecast.plan, measure);
  const bool names_data = NamesData(folder, plan);
  CombinationReport combination;
  PlanFile published = plan;
  if (!request.after.empty()) {
    CombinedFile combined = CombineInto(folder, request);
    combination = combined.report;
    published = std::move(combined.plan);
  }
  TablesWritten written = PublishTables(tables);
  ReleaseFacts facts{measured.before,     request.confidence,       written.num_tables,
                     written.num_answers, !spec.data.query.empty(), DigestShownIn(folder.plan),
                     spec.release};
  facts.measured_cost = CostOf(plan.plan);
  WriteFileAtomically(folder.summary, SummaryText(published, facts), FileKind::kSummary);
  PageWritten page = WritePage({tables.measurements, folder.page, spec.release, facts.is_query,
                                request.confidence, facts.plan_digest, request.max_page_bytes});
  return {folder,
          std::move(plan),
          std::move(measure.places),
          std::move(measured),
          std::move(written),
          std::move(page),
          std::move(combination),
          names_data};
}

}  // namespace residua
