#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "residua/base/error.h"
#include "residua/files/digest.h"
#include "residua/files/plan_file.h"
#include "residua/select/plan_cost.h"

namespace residua {

using Json = nlohmann::ordered_json;

// What reading and verifying a changed plan says; its digest fits, as a forger would make it.
inline std::optional<ErrorKind> KindOfForged(const PlanFile& plan,
                                             const std::function<void(Json&)>& forge) {
  Json json = Json::parse(PlanToJson(plan));
  forge(json);
  json.erase("digest");
  json["digest"] = Sha256(json.dump());
  try {
    VerifyPlan(PlanFromJson(json.dump(), "plan.json").plan);
  } catch (const Error& error) {
    return error.kind();
  }
  return std::nullopt;
}

}  // namespace residua
