#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "residua/files/spec.h"
#include "residua/select/plan.h"

namespace residua {

// A plan as it is stored: JSON with a format version, the tool's version, the neighbour relation,
// the guarantee, and a SHA-256 digest of all of it. docs/formats.md describes every key. A plan
// that was read in format 1 has no scales, and is written in format 1 again.
struct PlanFile {
  Plan plan;
  DataReference data;
  bool operator==(const PlanFile&) const = default;
};

// The numbers of a plan's guarantee as its files say them, in words.
struct GuaranteeText {
  std::string rho;
  std::string epsilon;
  std::string delta;
  std::string mu = {};  // empty for plans of format 1, whose files state zCDP alone
};
// Rounded up.
GuaranteeText StatedGuarantee(const Plan& plan);
// As files of residua 0.1 and 0.2.0 say them: they are read as well.
GuaranteeText FirstStatedGuarantee(const Plan& plan);
// Whether the words are those of the plan's guarantee, by any version.
bool IsStatedGuarantee(const Plan& plan,
                       const std::function<bool(const GuaranteeText&)>& are_the_words);

std::string PlanToJson(const PlanFile& file);

// Of the plan alone, wherever its file and its data are and whichever version of residua wrote it:
// a ledger knows a plan by it.
std::string PlanDigest(const Plan& plan);

// Error{kBadInput} if `text` is no plan or of another version; Error{kRefused} if the digest shows
// that it was changed. `name` is what messages call the file.
PlanFile PlanFromJson(std::string_view text, const std::string& name);

void WritePlan(const std::filesystem::path& path, const PlanFile& file);
PlanFile ReadPlan(const std::filesystem::path& path);

}  // namespace residua
