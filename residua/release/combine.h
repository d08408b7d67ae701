#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "residua/release/release.h"
#include "residua/select/combined_plan.h"

namespace residua {

struct CombineOptions {
  // The caller vouches that all measure the same data, where some do not say whose they are:
  // versions up to 0.4 did not state it. Measurements that state different data are refused anyway.
  bool same_data = false;
  std::stop_token stop = {};
};

// What a measurement is known by, wherever its file is and whichever version of residua wrote it:
// the digest of its plan and of every noisy value.
std::string MeasurementDigest(const Release& release);
std::string MeasurementDigest(const std::filesystem::path& path);

// Whether the two have a measurement in common, as a whole or within a combination: then the noise
// of one is not independent of the other's.
bool ShareNoise(const Release& a, const Release& b);

// A measurement as later plans and combinations refer to it. Error{kRefused} if its plan does not
// cost what it states.
MeasuredPlan MeasuredPlanOf(const Release& release);
MeasuredPlan ReadMeasuredPlan(const std::filesystem::path& path);

// One measurement of the same rows from several: the best unbiased estimates that they give
// together (CombinePlans). Nothing of the data is read and nothing is spent: the result is a
// function of the measurements, and its cost is the sum of theirs.
//
// Error{kRefused} if they measure different data, cells or neighbours, if one of them comes twice,
// itself or within a combination, or if their plans do not cost what they state.
struct CombinedRelease {
  std::shared_ptr<const Release> release;
  CombinationReport report;
};
CombinedRelease Combine(std::span<const std::shared_ptr<const Release>> releases,
                        const CombineOptions& options = {});

// The same from files to a new file, whose name must be free; of each file one set, or a million
// values of smaller sets, is held at a time. The same files, in the same order, make the same file.
struct CombinedFile {
  PlanFile plan;
  CombinationReport report;
};
CombinedFile CombineFiles(const std::vector<std::filesystem::path>& files,
                          const std::filesystem::path& output, const CombineOptions& options = {});

}  // namespace residua
