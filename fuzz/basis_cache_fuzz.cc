#include <nlohmann/json.hpp>

#include "fuzz/only_errors.h"
#include "fuzz/scratch_folder.h"
#include "residua/files/basis_cache.h"
#include "residua/files/digest.h"
#include "residua/files/file.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"

namespace residua {
namespace {

using Json = nlohmann::ordered_json;

const SelectRequest& FixedRequest() {
  static const SelectRequest request{ParseDomain("4:prefix,3"),
                                     {{{MarginalRule::Kind::kUpTo, 2}}, {}},
                                     {},
                                     BudgetFromPcost(1),
                                     {}};
  return request;
}

// A cache as residua writes it, with the bases of one request.
Json MakeCache(const std::filesystem::path& path) {
  KeepBases(path, FixedRequest(), Select(FixedRequest()));
  return Json::parse(ReadFile(path));
}

// The same with `text` in place of the bases, under the digest it should have.
std::string CacheWith(std::string_view text, Json cache) {
  const Json bases = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (bases.is_discarded()) return std::string(text);
  for (auto& entry : cache["entries"]) entry = bases;
  cache["digest"] = Sha256(cache["entries"].dump());
  return cache.dump();
}

// A damaged cache is ignored; any bases that are taken from it make a plan that verifies, or none.
void PlanFrom(const std::filesystem::path& path) {
  SelectRequest request = FixedRequest();
  request.matrices = FindBases(path, request);
  if (!request.matrices.empty()) VerifyPlan(Select(request));
}

}  // namespace
}  // namespace residua

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const residua::ScratchFolder folder;
  static const residua::Json cache = residua::MakeCache(folder.Path("made.json"));
  const std::string_view text = residua::TextOfInput(data, size);
  for (const std::string& content : {std::string(text), residua::CacheWith(text, cache)}) {
    const auto path = folder.Write("bases.json", content);
    residua::ExpectOnlyErrors([&] { residua::PlanFrom(path); });
  }
  return 0;
}
