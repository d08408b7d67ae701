#include "residua/files/plan_file.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "residua/base/enum_texts.h"
#include "residua/base/error.h"
#include "residua/base/shown_text.h"
#include "residua/base/version.h"
#include "residua/basis/query_limits.h"
#include "residua/files/attribute_json.h"
#include "residua/files/digest.h"
#include "residua/files/file.h"
#include "residua/files/format_version.h"
#include "residua/files/json_values.h"
#include "residua/files/nesting.h"
#include "residua/privacy/conversion.h"
#include "residua/text/basis_json.h"
#include "residua/text/choice_text.h"
#include "residua/text/json_text.h"
#include "residua/text/workload_text.h"

namespace residua {
namespace {

constexpr std::string_view kFormat = "residua-plan";
// Format 2 has scales and the cost on the Gaussian curve.
constexpr int kFirstFormatVersion = 1;
constexpr int kFormatVersion = 2;
// A ledger knows a plan by its digest, whichever version of residua asks: all take it as the first
// one did, which had its own version in it and, in format 1, its own rounding of the guarantee.
// From format 2 on the digest is of exact numbers alone.
constexpr std::string_view kDigestVersion = "0.1.0";
constexpr std::array<std::string_view, 17> kKeys = {
    "format",       "version",   "tool",    "privacy",    "data",  "attributes",
    "workload",     "objective", "weights", "loss",       "parts", "after",
    "relative_gap", "converged", "classes", "mechanisms", "bases"};

constexpr EnumTexts<BudgetUnit, 4> kBudgetUnits = {{{BudgetUnit::kPcost, "pcost"},
                                                    {BudgetUnit::kRho, "rho"},
                                                    {BudgetUnit::kMu, "mu"},
                                                    {BudgetUnit::kEpsilonDelta, "epsilon"}}};

constexpr EnumTexts<Accounting, 2> kAccountings = {
    {{Accounting::kZcdp, "pcost"}, {Accounting::kGaussian, "mu2"}}};

bool IsFirstFormat(const Plan& plan) { return plan.scale_bits.empty(); }

Json WorkloadToJson(const Workload& workload) {
  Json json;
  json["rules"] = Json::array();
  for (const MarginalRule& rule : workload.rules) json["rules"].push_back(ToString(rule));
  json["marginals"] = Json::array();
  for (const WeightedMarginal& marginal : workload.marginals) {
    json["marginals"].push_back({{"attributes", marginal.attributes}, {"weight", marginal.weight}});
  }
  return json;
}

Workload WorkloadFromJson(const Json& json, const Domain& domain) {
  Workload workload;
  for (const Json& rule : json.at("rules")) {
    for (const MarginalRule& parsed : ParseMarginalRules(rule.get<std::string>())) {
      workload.rules.push_back(parsed);
    }
  }
  for (const Json& marginal : json.at("marginals")) {
    workload.marginals.push_back({domain.MakeSet(WholeNumbers<int>(marginal.at("attributes"))),
                                  marginal.at("weight").get<double>()});
  }
  CheckWorkload(domain, workload);
  return workload;
}

std::string GuaranteeInWords(const GuaranteeText& guarantee) {
  if (guarantee.mu.empty()) {
    return fmt::format("{}-zCDP, and so ({}, {})-differential privacy, for discrete Gaussian noise",
                       guarantee.rho, guarantee.epsilon, guarantee.delta);
  }
  return fmt::format(
      "{}-zCDP, {}-Gaussian and ({}, {})-differential privacy, for discrete Gaussian noise",
      guarantee.rho, guarantee.mu, guarantee.epsilon, guarantee.delta);
}

Json PrivacyToJson(const Plan& plan, const std::optional<GuaranteeText>& guarantee) {
  Json json;
  json["neighbours"] = NeighboursInWords(plan.protection);
  if (!plan.protection.identifier.empty()) {
    json["identifier"] = plan.protection.identifier;
    json["max_rows"] = plan.protection.max_rows;
  }
  if (guarantee) json["guarantee"] = GuaranteeInWords(*guarantee);
  json["budget_unit"] = TextOf(kBudgetUnits, plan.budget.unit);
  if (IsFirstFormat(plan)) {
    json["budget_pcost"] = ToString(plan.budget.pcost);
    json["pcost"] = ToString(plan.pcost);
  } else {
    json["budget_limits"] = TextOf(kAccountings, plan.budget.limits);
    json["budget"] = ToString(plan.budget.pcost);
    json["pcost"] = ToString(plan.pcost);
    json["mu2"] = plan.mu2 ? Json(ToString(*plan.mu2)) : Json(nullptr);
  }
  json["delta"] = plan.budget.delta;
  return json;
}

// The words are those of NeighboursInWords, and are compared with what it says of the result.
Protection ProtectionFromJson(const Json& privacy) {
  Protection protection;
  if (privacy.contains("identifier")) {
    protection.identifier = privacy["identifier"].get<std::string>();
    protection.max_rows = WholeNumber<int64_t>(privacy.at("max_rows"));
  }
  Protection replaced;
  replaced.neighbours = Protection::Neighbours::kReplaceOne;
  if (privacy.at("neighbours") == NeighboursInWords(replaced)) {
    protection.neighbours = Protection::Neighbours::kReplaceOne;
  }
  return protection;
}

// Each distinct basis once; identity attributes' follow from their size and are left out.
Json BasesToJson(const Plan& plan) {
  Json list = Json::array();
  std::vector<int> listed;
  for (int c = 0; c < plan.classes.size(); ++c) {
    const ResidualBasis& basis = plan.bases[static_cast<size_t>(c)];
    if (basis.is_identity()) continue;
    const auto same = std::find_if(listed.begin(), listed.end(), [&](int other) {
      return plan.bases[static_cast<size_t>(other)].matrix ==
             plan.bases[static_cast<size_t>(c)].matrix;
    });
    if (same != listed.end()) {
      list[static_cast<size_t>(same - listed.begin())]["classes"].push_back(c);
      continue;
    }
    listed.push_back(c);
    list.push_back({{"classes", {c}}});
    if (const auto* matrix = std::get_if<IntegerMatrix>(&basis.matrix)) {
      list.back()["matrix"] = MatrixToJson(matrix->num_rows, matrix->num_columns, matrix->entries);
    } else if (const auto* convolution = std::get_if<ConvolutionMatrix>(&basis.matrix)) {
      PutConvolution(*convolution, &list.back());
    } else {
      PutTree(std::get<TreeMatrix>(basis.matrix), &list.back());
    }
  }
  return list;
}

std::vector<ResidualBasis> BasesFromJson(const Json& json, const Plan& plan, Inversion inversion) {
  std::vector<ResidualBasis> bases;
  for (const auto& members : plan.classes.members) {
    bases.push_back(IdentityBasis(plan.domain[members.front()]));
  }
  std::vector<bool> given(bases.size(), false);
  for (const Json& item : json) {
    std::optional<ResidualBasis> basis;
    const Attribute* attribute = nullptr;  // that the basis was made for
    for (const int c : WholeNumbers<int>(item.at("classes"))) {
      if (c < 0 || c >= plan.classes.size() || given[static_cast<size_t>(c)]) {
        Fail(ErrorKind::kRefused, "a basis is listed for a class that has one or does not exist");
      }
      const Attribute& other = plan.domain[plan.classes.members[static_cast<size_t>(c)].front()];
      if (!basis || !SameQueries(*attribute, other)) {
        attribute = &other;
        if (item.contains("tree") || IsConvolution(item)) {
          basis = IsConvolution(item)
                      ? BasisFromConvolution(other, ConvolutionFromJson(item, other))
                      : BasisFromTree(other, TreeFromJson(item, other));
          bases[static_cast<size_t>(c)] = *basis;
          given[static_cast<size_t>(c)] = true;
          continue;
        }
        IntegerMatrix matrix{static_cast<int64_t>(item.at("matrix").size()), other.size, {}};
        matrix.entries = MatrixFromJson<int64_t>(item.at("matrix"), other.size, "a basis");
        basis = BasisFromMatrix(other, std::move(matrix), inversion);
      }
      bases[static_cast<size_t>(c)] = *basis;
      given[static_cast<size_t>(c)] = true;
    }
  }
  for (int c = 0; c < plan.classes.size(); ++c) {
    const Attribute& attribute = plan.domain[plan.classes.members[static_cast<size_t>(c)].front()];
    if (given[static_cast<size_t>(c)] == (attribute.queries == QueryKind::kIdentity)) {
      Fail(ErrorKind::kRefused, "attribute '{}' has no basis, or one it does not need",
           attribute.name);
    }
  }
  return bases;
}

Json MechanismsToJson(const Plan& plan) {
  Json list = Json::array();
  for (int64_t k = 0; k < plan.mechanisms.size(); ++k) {
    const auto orbit = plan.mechanisms[k];
    list.push_back({{"classes", std::vector<int>(orbit.begin(), orbit.end())},
                    {"variance", ToString(plan.variances[static_cast<size_t>(k)])}});
    if (!IsFirstFormat(plan)) {
      list.back()["scale_log2"] = plan.scale_bits[static_cast<size_t>(k)];
    }
  }
  return list;
}

void MechanismsFromJson(const Json& json, bool has_scales, Plan* plan) {
  for (const Json& mechanism : json) {
    const auto orbit = WholeNumbers<int>(mechanism.at("classes"));
    if (!std::is_sorted(orbit.begin(), orbit.end()) ||
        plan->mechanisms.Insert(orbit) != static_cast<int64_t>(plan->variances.size())) {
      Fail(ErrorKind::kRefused, "a base mechanism is listed twice, or out of order");
    }
    if (!orbit.empty() && (orbit.front() < 0 || orbit.back() >= plan->classes.size())) {
      Fail(ErrorKind::kRefused, "a base mechanism names a class that does not exist");
    }
    plan->variances.push_back(
        ParseRational(mechanism.at("variance").get<std::string>(), "variance"));
    CheckNoiseVariance(plan->variances.back());
    if (has_scales) plan->scale_bits.push_back(WholeNumber<int>(mechanism.at("scale_log2")));
  }
}

AttributeClasses ClassesFromJson(const Json& json, int num_attributes) {
  AttributeClasses classes;
  for (const Json& members : json) classes.members.push_back(WholeNumbers<int>(members));
  classes.class_of.assign(static_cast<size_t>(num_attributes), -1);
  for (int c = 0; c < classes.size(); ++c) {
    const auto& members = classes.members[static_cast<size_t>(c)];
    if (members.empty()) Fail(ErrorKind::kBadInput, "a class of attributes is empty");
    for (const int i : members) {
      if (i < 0 || i >= num_attributes || classes.class_of[static_cast<size_t>(i)] != -1) {
        Fail(ErrorKind::kRefused, "the classes do not partition the attributes");
      }
      classes.class_of[static_cast<size_t>(i)] = c;
    }
  }
  if (std::count(classes.class_of.begin(), classes.class_of.end(), -1) > 0) {
    Fail(ErrorKind::kRefused, "the classes do not partition the attributes");
  }
  return classes;
}

PlanFile PlanFromObject(Json json);

// The measurements that a plan builds on, each with its plan as a file would have it.
std::vector<MeasuredPlan> MeasuredPlansFromJson(const Json& json) {
  std::vector<MeasuredPlan> plans;
  for (const Json& item : json) {
    plans.push_back({item.at("measurement").get<std::string>(),
                     std::make_shared<const Plan>(PlanFromObject(item.at("plan")).plan)});
  }
  return plans;
}

PlanFile FromJson(const Json& json, bool is_first_format) {
  PlanFile file;
  Plan& plan = file.plan;
  const Json& data = json.at("data");
  file.data = {data.at("source").get<std::string>(), data.at("database").get<std::string>(),
               data.at("query").get<std::string>(), data.at("ledger").get<std::string>()};
  if (data.contains("null_values")) {
    file.data.null_values = data["null_values"].get<std::vector<std::string>>();
  }
  if (data.contains("push_down")) {
    file.data.database = data["push_down"].get<std::string>();
    file.data.push_down = true;
  }
  std::vector<Attribute> attributes;
  for (const Json& attribute : json.at("attributes")) {
    attributes.push_back(AttributeFromJson(attribute));
  }
  plan.domain = Domain(std::move(attributes));
  for (const Attribute& attribute : plan.domain.attributes()) CheckQueries(attribute);
  plan.workload = WorkloadFromJson(json.at("workload"), plan.domain);
  plan.objective = ParseObjective(json.at("objective").get<std::string>());
  plan.objective.weighting = ParseWeighting(json.at("weights").get<std::string>());
  const Json& privacy = json.at("privacy");
  plan.budget.unit = ValueFromJson(kBudgetUnits, privacy.at("budget_unit"));
  const auto number = [&](const char* key) {
    return ParseRational(privacy.at(key).get<std::string>(), key);
  };
  if (is_first_format) {
    plan.budget.pcost = number("budget_pcost");
  } else {
    plan.budget.limits = ValueFromJson(kAccountings, privacy.at("budget_limits"));
    plan.budget.pcost = number("budget");
    if (json.contains("parts")) plan.parts = MeasuredPlansFromJson(json["parts"]);
    // Unknown only where a part was measured with too little noise for it.
    if (plan.parts.empty() || !privacy.at("mu2").is_null()) {
      plan.mu2 = number("mu2");
      CheckStatedPcost(*plan.mu2);
    }
  }
  if (json.contains("after")) plan.after = MeasuredPlansFromJson(json["after"]);
  plan.budget.delta = privacy.at("delta").get<double>();
  CheckDelta(plan.budget.delta);
  plan.pcost = number("pcost");
  CheckStatedPcost(plan.pcost);
  CheckStatedPcost(plan.budget.pcost);
  plan.protection = ProtectionFromJson(privacy);
  plan.loss = json.at("loss").get<double>();
  const Json& gap = json.at("relative_gap");
  plan.relative_gap = !plan.parts.empty() && gap.is_null() ? std::numeric_limits<double>::infinity()
                                                           : gap.get<double>();
  plan.converged = json.at("converged").get<bool>();
  plan.classes = ClassesFromJson(json.at("classes"), plan.domain.size());
  plan.bases = BasesFromJson(json.at("bases"), plan,
                             is_first_format ? Inversion::kAsInFormat1 : Inversion::kFastest);
  MechanismsFromJson(json.at("mechanisms"), !is_first_format, &plan);
  if (plan.variances.empty()) Fail(ErrorKind::kRefused, "the plan has no base mechanisms");
  return file;
}

PlanFile PlanFromObject(Json json) {
  if (!json.is_object() || json.value("format", "") != kFormat) {
    Fail(ErrorKind::kBadInput, "this is not a plan; {}", Phrase{Phrase::Kind::kMakePlan});
  }
  const auto version = WholeNumber<int64_t>(json.at("version"));
  CheckFormatVersion("plan", version, kFirstFormatVersion, kFormatVersion);
  const std::string digest = json.at("digest").get<std::string>();
  json.erase("digest");
  if (Sha256(JsonLine(json)) != digest) {
    Fail(ErrorKind::kRefused,
         "the plan was changed after it was written (its digest does not fit); plan again");
  }
  PlanFile file = FromJson(json, version == kFirstFormatVersion);
  // What the file says in words must be what its numbers say.
  const Json& privacy = json.at("privacy");
  if (!IsStatedGuarantee(file.plan, [&](const GuaranteeText& guarantee) {
        return privacy == PrivacyToJson(file.plan, guarantee);
      })) {
    Fail(ErrorKind::kRefused, "the guarantee it states is not the one of its noise");
  }
  for (const auto& [key, value] : json.items()) {
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      Fail(ErrorKind::kBadInput, "'{}' is no part of a plan", key);
    }
  }
  return file;
}

PlanFile ParsePlan(std::string_view text) {
  try {
    CheckJsonNesting(text);
    return PlanFromObject(ParseJson(text));
  } catch (const Json::exception& error) {
    const std::string_view what = error.what();  // "[json.exception...] explanation"
    Fail(ErrorKind::kBadInput, "is not a plan, or incomplete; {} ({})",
         Phrase{Phrase::Kind::kMakePlan}, what.substr(std::min(what.size(), what.find("] ") + 2)));
  }
}

}  // namespace

namespace {

// What a file says of a plan's guarantee in words; nothing where only exact numbers count.
using StatedWords = std::optional<GuaranteeText> (*)(const Plan& plan);

Json ToObject(const PlanFile& file, std::string_view tool_version, StatedWords words) {
  const Plan& plan = file.plan;
  Json json;
  json["format"] = kFormat;
  json["version"] = IsFirstFormat(plan) ? kFirstFormatVersion : kFormatVersion;
  json["tool"] = fmt::format("residua {}", tool_version);
  json["privacy"] = PrivacyToJson(plan, words(plan));
  json["data"] = {{"source", file.data.source},
                  {"database", file.data.database},
                  {"query", file.data.query},
                  {"ledger", file.data.ledger}};
  if (!file.data.null_values.empty()) json["data"]["null_values"] = file.data.null_values;
  if (file.data.push_down) {
    // Versions that do not know it would read the rows: they find no database.
    json["data"]["database"] = "";
    json["data"]["push_down"] = file.data.database;
  }
  const auto add = [&](const char* key, const std::vector<MeasuredPlan>& measured) {
    if (measured.empty()) return;
    json[key] = Json::array();
    for (const MeasuredPlan& item : measured) {
      json[key].push_back({{"measurement", item.digest},
                           {"plan", ToObject({*item.plan, {}}, tool_version, words)}});
    }
  };
  add("parts", plan.parts);
  add("after", plan.after);
  json["attributes"] = Json::array();
  for (const Attribute& attribute : plan.domain.attributes()) {
    json["attributes"].push_back(AttributeToJson(attribute));
  }
  json["workload"] = WorkloadToJson(plan.workload);
  json["objective"] = ToString(plan.objective);
  json["weights"] = ToString(plan.objective.weighting);
  json["loss"] = plan.loss;
  json["relative_gap"] = plan.relative_gap;
  json["converged"] = plan.converged;
  json["classes"] = plan.classes.members;
  json["bases"] = BasesToJson(plan);
  json["mechanisms"] = MechanismsToJson(plan);
  json["digest"] = Sha256(JsonLine(json));
  return json;
}

std::string ToJson(const PlanFile& file, std::string_view tool_version, StatedWords words) {
  const Json json = ToObject(file, tool_version, words);
  // One mechanism a line keeps the file readable and its differences short.
  std::string text = "{\n";
  for (const auto& [key, value] : json.items()) {
    text += fmt::format("  {}: ", JsonLine(Json(key)));
    if (value.is_array() && !value.empty() && value.front().is_structured()) {
      text += "[\n";
      for (const Json& item : value) {
        text += fmt::format("    {}{}\n", JsonLine(item), &item == &value.back() ? "" : ",");
      }
      text += "  ]";
    } else {
      text += JsonLine(value);
    }
    text += key == "digest" ? "\n" : ",\n";
  }
  return text + "}\n";
}

}  // namespace

GuaranteeText StatedGuarantee(const Plan& plan) {
  const Guarantee guarantee = IsFirstFormat(plan)
                                  ? GuaranteeOf(PrivacyCost{plan.pcost}, plan.budget.delta)
                                  : GuaranteeOf(plan);
  return {TextAbove(guarantee.rho), TextAbove(guarantee.epsilon), DeltaText(guarantee.delta),
          guarantee.mu ? TextAbove(*guarantee.mu) : ""};
}

GuaranteeText FirstStatedGuarantee(const Plan& plan) {
  const Guarantee guarantee = GuaranteeOf(PrivacyCost{plan.pcost}, plan.budget.delta);
  return {fmt::format("{}", guarantee.rho),
          fmt::format("{}", FirstEpsilonFromZcdp(guarantee.rho, guarantee.delta)),
          fmt::format("{}", guarantee.delta)};
}

bool IsStatedGuarantee(const Plan& plan,
                       const std::function<bool(const GuaranteeText&)>& are_the_words) {
  return are_the_words(StatedGuarantee(plan)) ||
         (IsFirstFormat(plan) && are_the_words(FirstStatedGuarantee(plan)));
}

std::string PlanToJson(const PlanFile& file) {
  return ToJson(file, Version(),
                [](const Plan& plan) { return std::optional(StatedGuarantee(plan)); });
}

std::string PlanDigest(const Plan& plan) {
  return Sha256(
      ToJson({plan, {}}, kDigestVersion, [](const Plan& of) -> std::optional<GuaranteeText> {
        if (IsFirstFormat(of)) return FirstStatedGuarantee(of);
        return std::nullopt;
      }));
}

PlanFile PlanFromJson(std::string_view text, const std::string& name) {
  return AtPlace(name, [&] { return ParsePlan(text); });
}

void WritePlan(const std::filesystem::path& path, const PlanFile& file) {
  WriteFileAtomically(path, PlanToJson(file), FileKind::kPlan);
}

PlanFile ReadPlan(const std::filesystem::path& path) {
  return PlanFromJson(ReadFile(path), path.string());
}

}  // namespace residua
