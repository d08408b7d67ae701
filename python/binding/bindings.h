#pragma once

#include <nanobind/nanobind.h>

#include <filesystem>
#include <string>
#include <vector>

#include "residua/release/measure_to_file.h"
#include "residua/reconstruct/residual_index.h"

namespace residua::python {

// A measurement, whole and in memory, with what reading the data and the ledger said of it.
class Release {
 public:
  Release(PlanFile plan, std::vector<NoisyResidual> residuals);
  Release(const Release&) = delete;
  Release& operator=(const Release&) = delete;

  const PlanFile& plan_file() const { return plan_; }
  const Plan& plan() const { return plan_.plan; }
  const std::vector<NoisyResidual>& residuals() const { return residuals_; }
  const ResidualIndex& index() const { return index_; }

 private:
  PlanFile plan_;
  std::vector<NoisyResidual> residuals_;
  ResidualIndex index_;  // of residuals_
};

// One file a noun: what each makes known to Python.
void BindSpecs(nanobind::module_& module);
void BindPlans(nanobind::module_& module);
void BindMeasuring(nanobind::module_& module);
void BindReleases(nanobind::module_& module);
void BindLedgers(nanobind::module_& module);

}  // namespace residua::python
