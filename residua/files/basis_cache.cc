#include "residua/files/basis_cache.h"

#include "residua/base/error.h"
#include "residua/base/version.h"
#include "residua/files/digest.h"
#include "residua/files/file.h"
#include "residua/files/nesting.h"
#include "residua/text/basis_json.h"
#include "residua/text/choice_text.h"
#include "residua/text/json_text.h"
#include "residua/text/workload_text.h"

namespace residua {
namespace {

constexpr std::string_view kCacheFormat = "residua-basis-cache 1";

std::string KeyOf(const SelectRequest& request) {
  Json json;
  json["tool"] = Version();
  json["basis"] = request.basis == BasisKind::kOblique ? "oblique" : "orthogonal";
  json["objective"] = ToString(request.objective);
  json["weights"] = ToString(request.objective.weighting);
  json["replace_one"] = request.protection.neighbours == Protection::Neighbours::kReplaceOne;
  json["max_rows"] = request.protection.max_rows;
  for (const Attribute& attribute : request.domain.attributes()) {
    Json groups = Json::array();
    for (const CellGroup& group : attribute.groups) groups.push_back(group.cells);
    json["attributes"].push_back({attribute.size, ToString(attribute.queries), groups,
                                  attribute.custom.entries, attribute.strategy.entries,
                                  attribute.level_weights});
  }
  for (const MarginalRule& rule : request.workload.rules) json["rules"].push_back(ToString(rule));
  for (const WeightedMarginal& marginal : request.workload.marginals) {
    json["marginals"].push_back({marginal.attributes, marginal.weight});
  }
  return Sha256(JsonLine(json));
}

// The file's entries by key; empty if it does not exist or is damaged. Refuses a file that they could
// not be kept in, before a plan is made.
Json ReadEntries(const std::filesystem::path& path) {
  CheckReplaceable(path, FileKind::kBasisCache);
  if (!std::filesystem::exists(path)) return Json::object();
  const std::string text = ReadFile(path);
  try {
    CheckJsonNesting(text);
    Json json = ParseJson(text);
    const Json entries = json.at("entries");
    if (json.at("format") == kCacheFormat && json.at("digest") == Sha256(JsonLine(entries)) &&
        entries.is_object()) {
      return entries;
    }
  } catch (const Json::exception&) {
    return Json::object();
  } catch (const Error&) {
    return Json::object();
  }
  return Json::object();
}

}  // namespace

std::vector<ResidualMatrix> FindBases(const std::filesystem::path& path,
                                      const SelectRequest& request) {
  const Json entries = ReadEntries(path);
  const auto entry = entries.find(KeyOf(request));
  if (entry == entries.end()) return {};
  try {
    std::vector<ResidualMatrix> matrices(static_cast<size_t>(request.domain.size()));
    for (const Json& item : *entry) {
      for (const int i : WholeNumbers<int>(item.at("attributes"))) {
        ResidualMatrix& matrix = matrices.at(static_cast<size_t>(i));
        if (item.contains("tree")) {
          matrix = TreeFromJson(item, request.domain[i]);
        } else if (IsConvolution(item)) {
          matrix = ConvolutionFromJson(item, request.domain[i]);
        } else {
          matrix = IntegerMatrix{WholeNumber<int64_t>(item.at("rows")),
                                 WholeNumber<int64_t>(item.at("columns")),
                                 WholeNumbers<int64_t>(item.at("entries"))};
        }
        BasisFrom(request.domain[i], matrix);
      }
    }
    for (int i = 0; i < request.domain.size(); ++i) {
      const bool identity = request.domain[i].queries == QueryKind::kIdentity;
      if (identity != std::holds_alternative<SubtractionMatrix>(matrices[static_cast<size_t>(i)])) {
        return {};
      }
    }
    return matrices;
  } catch (const Json::exception&) {
    return {};
  } catch (const std::out_of_range&) {
    return {};
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kBroken) throw;
    return {};
  }
}

void KeepBases(const std::filesystem::path& path, const SelectRequest& request, const Plan& plan) {
  Json entries = ReadEntries(path);
  Json list = Json::array();
  for (int c = 0; c < plan.classes.size(); ++c) {
    const ResidualBasis& basis = plan.bases[static_cast<size_t>(c)];
    if (basis.is_identity()) continue;
    list.push_back({{"attributes", plan.classes.members[static_cast<size_t>(c)]}});
    if (const auto* matrix = std::get_if<IntegerMatrix>(&basis.matrix)) {
      list.back()["rows"] = matrix->num_rows;
      list.back()["columns"] = matrix->num_columns;
      list.back()["entries"] = matrix->entries;
    } else if (const auto* convolution = std::get_if<ConvolutionMatrix>(&basis.matrix)) {
      PutConvolution(*convolution, &list.back());
    } else {
      PutTree(std::get<TreeMatrix>(basis.matrix), &list.back());
    }
  }
  entries[KeyOf(request)] = std::move(list);
  Json json;
  json["format"] = kCacheFormat;
  json["digest"] = Sha256(JsonLine(entries));
  json["entries"] = std::move(entries);
  WriteFileAtomically(path, JsonLine(json) + "\n", FileKind::kBasisCache);
}

}  // namespace residua
