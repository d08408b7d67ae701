#pragma once

#include <nanobind/nanobind.h>

#include "residua/data/arrow_stream.h"
#include "residua/data/data_source.h"
#include "residua/files/plan_file.h"

namespace residua::python {

// The stream that a capsule of Python's owns; null for None.
ArrowArrayStream* StreamOf(const nanobind::object& capsule);

// Rows that Python has counted in parts: `parts(plan, key, is_stopped)` gives the sums of the
// counts, sealed with the key, as PartialSums makes them; its attribute `task_memory` is the memory
// for the counters of a part. It is called on the thread of the job, with the GIL. Both arguments
// must outlive the result.
CountElsewhere CountedByPython(const PlanFile& plan, const nanobind::object& parts);

}  // namespace residua::python
