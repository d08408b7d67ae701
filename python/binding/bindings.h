#pragma once

#include <nanobind/nanobind.h>

namespace residua::python {

// One file per noun: what each makes known to Python.
void BindSpecs(nanobind::module_& module);
void BindPlans(nanobind::module_& module);
void BindMeasuring(nanobind::module_& module);
void BindReleases(nanobind::module_& module);
void BindLedgers(nanobind::module_& module);
void BindParts(nanobind::module_& module);

}  // namespace residua::python
