#pragma once

#include <filesystem>
#include <vector>

#include "residua/select/select.h"

namespace residua {

// A file of residual bases that were chosen before, each under a SHA-256 of all that the choice
// depends on: the attributes' sizes and queries, workload, objective, kind of basis, and version of
// residua. It saves time and nothing else: bases are public, and a plan made with them is priced
// and verified like any other. Threads and processes may use the file at once; of two that add to
// it at the same time, one may have to add again.

// The bases for this request, one matrix per attribute; empty if the file does not exist, lacks
// them, or is damaged. Error{kRefused} if it is another file, which would be lost.
std::vector<ResidualMatrix> FindBases(const std::filesystem::path& path,
                                      const SelectRequest& request);

// Adds the plan's bases to the file, which is replaced as a whole; a damaged one is begun anew.
void KeepBases(const std::filesystem::path& path, const SelectRequest& request, const Plan& plan);

}  // namespace residua
