// What the planning page asks of residua's core. Every call brings the text of a spec, which is
// read as the program reads it: what the page shows is what the program says of that text.

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/plan_report.h"
#include "cli/words.h"
#include "residua/base/error.h"
#include "residua/draft/edit_spec.h"
#include "residua/files/file.h"
#include "residua/files/spec.h"
#include "residua/release/expected_errors.h"
#include "residua/release/privacy_facts.h"
#include "residua/release/published_errors.h"
#include "residua/release/warnings.h"
#include "residua/select/lower_bound.h"
#include "residua/select/select.h"
#include "residua/text/choice_text.h"
#include "residua/text/workload_text.h"
#include "web/core/door.h"

namespace residua {
namespace {

// More tables than a page can show one by one.
constexpr double kMostListed = 5000;

// Of an attribute, the page shows this many labels.
constexpr int64_t kMostLabels = 12;

// The files that specs name: matrices of queries. A page has no others.
std::map<std::string, std::string> page_files;

// Bases do not depend on the budget, and take most of the time: those of the last few workloads.
struct KnownBases {
  Domain domain;
  Workload workload;
  Objective objective;
  Protection protection;
  std::vector<ResidualMatrix> matrices;
};
std::deque<KnownBases> known_bases;
constexpr size_t kMostKnown = 8;

Plan SelectWithKnownBases(SelectRequest request) {
  for (const KnownBases& known : known_bases) {
    if (known.domain == request.domain && known.workload == request.workload &&
        known.objective == request.objective && known.protection == request.protection) {
      request.matrices = known.matrices;
      return Select(request);
    }
  }
  Plan plan = Select(request);
  known_bases.push_front({request.domain, request.workload, request.objective, request.protection,
                          MatrixOfAttributes(plan)});
  if (known_bases.size() > kMostKnown) known_bases.pop_back();
  return plan;
}

std::string NameIn(const Json& request) { return request.at("name").get<std::string>(); }

// The number of rows that the page guesses is for a spec that names none.
Spec SpecIn(const Json& request) {
  Spec spec = ParseSpec(request.at("text").get<std::string>(), NameIn(request));
  if (!spec.public_rows && !request.at("rows").is_null()) {
    spec.public_rows = WholeNumber<int64_t>(request.at("rows"));
  }
  return spec;
}

// A spec that can be planned, as `residua plan` asks for it.
Spec PlannableSpecIn(const Json& request) {
  Spec spec = SpecIn(request);
  const std::string name = NameIn(request);
  AtPlace(name, [&] { CheckWorkload(spec.domain, spec.workload); });
  if (!spec.target) {
    Fail(ErrorKind::kBadInput,
         "{}: [privacy] sets no budget; give epsilon and delta, rho, mu or pcost", name);
  }
  return spec;
}

Json AttributeJson(const Attribute& attribute) {
  Json labels = Json::array();
  for (int64_t cell = 0; cell < std::min(attribute.size, kMostLabels); ++cell) {
    labels.push_back(CellLabel(attribute, cell));
  }
  Json json = {{"name", attribute.name},
               {"size", attribute.size},
               {"queries", QueriesText(attribute)},
               {"labels", std::move(labels)},
               {"last", CellLabel(attribute, attribute.size - 1)},
               {"readFromData", attribute.read_from_data}};
  if (const MeanEncoding* mean = MeanOf(attribute)) {
    json["range"] = DecimalValue(mean->high - mean->low, mean->decimals);
  }
  return json;
}

// What the spec says, and how it is written.
Json Describe(const Json& request) {
  const Spec spec = SpecIn(request);
  Json attributes = Json::array();
  for (const Attribute& attribute : spec.domain.attributes()) {
    attributes.push_back(AttributeJson(attribute));
  }
  Json rules = Json::array();
  for (const MarginalRule& rule : spec.workload.rules) rules.push_back(ToString(rule));
  Json tables = Json::array();
  for (const WeightedMarginal& marginal : spec.workload.marginals) {
    tables.push_back({{"attributes", marginal.attributes}, {"weight", marginal.weight}});
  }
  Json settings = Json::array();
  for (const SpecSetting& setting :
       SettingsOf(request.at("text").get<std::string>(), NameIn(request))) {
    settings.push_back({setting.path, setting.text});
  }
  return {{"title", spec.release.title},
          {"attributes", std::move(attributes)},
          {"rules", std::move(rules)},
          {"tables", std::move(tables)},
          {"objective", ToString(spec.objective)},
          {"weights", ToString(spec.objective.weighting)},
          {"neighbours", spec.protection.neighbours == Protection::Neighbours::kReplaceOne
                             ? "replace-one"
                             : "add-remove"},
          {"identifier", spec.protection.identifier},
          {"maxRows", spec.protection.max_rows},
          {"rows", spec.public_rows ? Json(*spec.public_rows) : Json(nullptr)},
          {"hasData", !spec.data.empty()},
          {"settings", std::move(settings)}};
}

Json EditCall(const Json& request) {
  std::vector<SpecEdit> edits;
  for (const Json& edit : request.at("edits")) {
    edits.push_back({edit.at("path").get<std::vector<std::string>>(),
                     edit.at("value").is_null()
                         ? std::nullopt
                         : std::optional(edit.at("value").get<std::string>())});
  }
  return {{"text", EditSpec(request.at("text").get<std::string>(), NameIn(request), edits)}};
}

std::string_view WarningName(ReleaseWarning::Kind kind) {
  switch (kind) {
    case ReleaseWarning::Kind::kLargeEpsilon:
      return "epsilon";
    case ReleaseWarning::Kind::kLargeDelta:
      return "delta";
    case ReleaseWarning::Kind::kMostlyNoise:
      return "noise";
    case ReleaseWarning::Kind::kRowsLeftOut:
      break;
  }
  RESIDUA_CHECK(false);
}

// As `residua plan --json --variances` prints it, and what the page shows beside it. Tables with a
// mean have the errors of their counts.
Json PlanCall(const Json& request) {
  const Spec spec = PlannableSpecIn(request);
  const Plan plan = SelectWithKnownBases(RequestOf(spec));
  const std::vector<TableErrors> errors = PublishedErrors(plan);
  const bool lists = Summarize(plan, errors).num_marginals <= kMostListed;
  std::optional<double> num_rows;
  if (spec.public_rows) num_rows = static_cast<double>(*spec.public_rows);
  Json json = cli::PlanJson(plan, errors, std::nullopt, 0, lists, num_rows);
  json["promise"] = PrivacyFacts(plan);
  json["warnings"] = Json::array();
  for (const ReleaseWarning& warning : WarningsOf(plan, spec.public_rows)) {
    json["warnings"].push_back({{"kind", WarningName(warning.kind)},
                                {"value", warning.value},
                                {"limit", warning.limit},
                                {"words", cli::Worded(warning)}});
  }
  const std::vector<TableErrors> counts = CountErrors(plan);
  double alone = 0;
  for (const TableErrors& table : counts) {
    alone += table.num_tables * table.num_answers * table.alone_variance;
  }
  const double num_counts = Summarize(plan, counts).num_answers;
  json["cells"] = num_counts;
  json["alone_rmse"] = std::sqrt(alone / num_counts);
  if (!lists) return json;
  std::vector<double> average_of_orbit(counts.size(), 0);
  if (spec.public_rows) {
    const auto expected = ExpectErrors(plan, static_cast<double>(*spec.public_rows));
    for (size_t k = 0; k < counts.size(); ++k) average_of_orbit[k] = expected[k].average_answer;
  }
  size_t place = 0;
  for (const ListedTable& table : ListTables(plan, counts)) {
    Json& listed = json["tables"][place++];
    listed["set"] = table.attributes;
    listed["cells"] = table.errors->num_answers;
    listed["mean_variance"] = table.errors->mean_variance;
    listed["max_variance"] = table.errors->max_variance;
    listed["alone_variance"] = table.errors->alone_variance;
    listed["average"] = average_of_orbit[static_cast<size_t>(table.errors - counts.data())];
  }
  return json;
}

Json CertifyCall(const Json& request) {
  const Plan plan = SelectWithKnownBases(RequestOf(PlannableSpecIn(request)));
  const std::optional<PlanCertificate> certificate = CertifyPlan(plan);
  if (!certificate) return {{"lower_bound", nullptr}, {"above_lower_bound", nullptr}};
  return {{"lower_bound", certificate->lower_bound},
          {"above_lower_bound", certificate->above_lower_bound}};
}

double DeltaOf(const Spec& spec) {
  return std::visit([](const auto& target) { return target.delta; }, *spec.target);
}

Json GuaranteeJson(const Plan& plan, double std_dev) {
  const Guarantee guarantee = GuaranteeOf(plan);
  return {
      {"std_dev", std_dev},           {"pcost", guarantee.pcost},
      {"rho", guarantee.rho},         {"mu", guarantee.mu ? Json(*guarantee.mu) : Json(nullptr)},
      {"epsilon", guarantee.epsilon}, {"delta", guarantee.delta}};
}

// The root mean square of a table's standard deviations; of all answers, without a table.
double StdDevIn(const Plan& plan, const std::optional<AttributeSet>& set) {
  if (!set) return SummarizePublished(plan).rms_std_dev;
  const std::vector<TableErrors> errors = CountErrors(plan);
  for (const ListedTable& table : ListTables(plan, errors)) {
    if (table.attributes == *set) return std::sqrt(table.errors->mean_variance);
  }
  Fail(ErrorKind::kBadInput, "this table is not among those of the plan; switch it on");
}

std::optional<AttributeSet> SetIn(const Json& request, const Domain& domain) {
  const Json& set = request.at("set");
  if (set.is_null()) return std::nullopt;
  return domain.MakeSet(set.get<std::vector<int>>());
}

// The least budget with which the table's standard deviation is at most `within`: variances fall as
// the privacy cost grows, in proportion but for their rounding.
Json CostCall(const Json& request) {
  const Spec spec = PlannableSpecIn(request);
  const auto within = request.at("within").get<double>();
  if (!(within > 0) || !std::isfinite(within)) {
    Fail(ErrorKind::kBadInput, "a standard deviation must be above 0");
  }
  SelectRequest asked = RequestOf(spec);
  const std::optional<AttributeSet> set = SetIn(request, spec.domain);
  Plan plan = SelectWithKnownBases(asked);
  double pcost = ToDoubleUp(plan.pcost);
  double std_dev = StdDevIn(plan, set);
  // Each step is right but for the rounding of variances; the first is most of the way.
  constexpr int kMostSteps = 8;
  for (int step = 0; step < kMostSteps; ++step) {
    const double too_large = std_dev / within;
    if (step > 0 && too_large <= 1 && too_large > 1 - 1e-6) break;
    pcost *= too_large * too_large * (1 + 1e-9);
    asked.target = BudgetFromPcost(Rational(pcost), DeltaOf(spec));
    plan = SelectWithKnownBases(asked);
    std_dev = StdDevIn(plan, set);
  }
  return GuaranteeJson(plan, std_dev);
}

// The error at another epsilon, for the same tables.
Json FrontierCall(const Json& request) {
  const Spec spec = PlannableSpecIn(request);
  SelectRequest asked = RequestOf(spec);
  asked.target = BudgetFromEpsilon(
      ParseRational(request.at("epsilon").get<std::string>(), "epsilon"), DeltaOf(spec));
  const Plan plan = SelectWithKnownBases(asked);
  return GuaranteeJson(plan, StdDevIn(plan, SetIn(request, spec.domain)));
}

Json FilesCall(const Json& request) {
  page_files = request.at("files").get<std::map<std::string, std::string>>();
  return Json::object();
}

}  // namespace

std::string ReadFile(const std::filesystem::path& path) {
  const auto file = page_files.find(path.string());
  if (file == page_files.end()) {
    Fail(ErrorKind::kIo, "{}: this page has not got the file; start from a spec that names it",
         path.string());
  }
  return file->second;
}

Json Call(const Json& request, const uint8_t*, size_t) {
  const auto what = request.at("do").get<std::string>();
  if (what == "files") return FilesCall(request);
  if (what == "describe") return Describe(request);
  if (what == "edit") return EditCall(request);
  if (what == "plan") return PlanCall(request);
  if (what == "certify") return CertifyCall(request);
  if (what == "cost") return CostCall(request);
  if (what == "frontier") return FrontierCall(request);
  Fail(ErrorKind::kBadInput, "'{}' is not a call", what);
}

}  // namespace residua
