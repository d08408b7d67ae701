#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "residua/measure/measurements.h"

namespace residua {

// The rows of a measurement file of format 1, which residua up to 0.4 wrote: one row per attribute
// set, or several where its values are many, each with a digest of itself and of the plan. DuckDB
// reads them.
class FirstMeasurements {
 public:
  // Checks the columns, and that the file claims to hold no more than its plan measures. `plan` must
  // outlive this.
  FirstMeasurements(const std::filesystem::path& path, const Plan& plan, std::string plan_digest);

  // Passes on every residual, in the file's order, holding one at a time; without values, a row at
  // a time.
  void ForEach(bool with_values, const std::function<void(NoisyResidual&&)>& visit) const;

 private:
  std::filesystem::path path_;
  const Plan& plan_;
  std::string plan_digest_;
};

}  // namespace residua
