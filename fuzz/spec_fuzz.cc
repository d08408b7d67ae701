#include "fuzz/only_errors.h"
#include "residua/files/plan_file.h"

namespace residua {
namespace {

// Up to this size a domain is planned within milliseconds; larger ones are only read.
bool IsSmall(const Spec& spec) {
  if (!spec.target || spec.domain.size() > 4 || spec.workload.marginals.size() > 8) return false;
  for (const Attribute& attribute : spec.domain.attributes()) {
    if (attribute.size > 12 || attribute.custom.num_rows > 24) return false;
  }
  return true;
}

// A spec that is accepted has a plan that verifies and reads back as it was written, or none.
void ReadAndPlan(std::string_view text) {
  const Spec spec = ParseSpec(text, "spec.toml");
  if (!IsSmall(spec)) return;
  const PlanFile file{Select(RequestOf(spec)), spec.data};
  VerifyPlan(file.plan);
  RESIDUA_CHECK(PlanFromJson(PlanToJson(file), "plan.json") == file);
}

}  // namespace
}  // namespace residua

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  residua::ExpectOnlyErrors([&] { residua::ReadAndPlan(residua::TextOfInput(data, size)); });
  return 0;
}
