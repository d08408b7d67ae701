#include <nlohmann/json.hpp>

#include "fuzz/only_errors.h"
#include "residua/files/digest.h"
#include "residua/files/plan_file.h"

namespace residua {
namespace {

using Json = nlohmann::ordered_json;

// The same with a digest that fits: the file of a careful forger.
std::string WithItsDigest(std::string_view text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return "";
  json.erase("digest");
  const std::string digest = Sha256(json.dump());
  json["digest"] = digest;
  return json.dump();
}

// A plan that was read is written to the same text again; verifying it gives the stated cost, or
// refuses it.
void ReadTwice(std::string_view text) {
  const PlanFile file = PlanFromJson(text, "plan.json");
  const std::string written = PlanToJson(file);
  const PlanFile again = PlanFromJson(written, "again.json");
  RESIDUA_CHECK(PlanToJson(again) == written);
  RESIDUA_CHECK(again == file);
  VerifyPlan(file.plan);
  RESIDUA_CHECK(LimitedCost(file.plan.budget, CostOf(file.plan)) <= file.plan.budget.pcost);
}

}  // namespace
}  // namespace residua

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = residua::TextOfInput(data, size);
  residua::ExpectOnlyErrors([&] { residua::ReadTwice(text); });
  const std::string forged = residua::WithItsDigest(text);
  if (!forged.empty()) residua::ExpectOnlyErrors([&] { residua::ReadTwice(forged); });
  return 0;
}
