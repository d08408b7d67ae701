#pragma once

#include <filesystem>
#include <string>

#include "residua/files/spec.h"
#include "residua/select/plan.h"

namespace residua {

// A plan as it is stored: JSON with a format version, the tool's version, the neighbour relation,
// the guarantee, and a SHA-256 digest of all of it. docs/formats.md describes every key.
struct PlanFile {
  Plan plan;
  DataReference data;
  bool operator==(const PlanFile&) const = default;
};

std::string PlanToJson(const PlanFile& file);

// Of the plan alone, wherever its file and its data are and whichever version of residua wrote it.
std::string PlanDigest(const Plan& plan);

// Error{kBadInput} if `text` is no plan or of another version; Error{kRefused} if the digest shows
// that it was changed. `name` is what messages call the file.
PlanFile PlanFromJson(std::string_view text, const std::string& name);

void WritePlan(const std::filesystem::path& path, const PlanFile& file);
PlanFile ReadPlan(const std::filesystem::path& path);

}  // namespace residua
