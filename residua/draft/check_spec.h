#pragma once

#include <string>
#include <vector>

#include "residua/base/error.h"
#include "residua/data/data_source.h"
#include "residua/files/spec.h"
#include "residua/select/plan_errors.h"

namespace residua {

// What a spec and its data say about a release. It contains true counts: for the curator's eyes.
struct SpecCheck {
  Plan plan;  // that a release would follow
  ReadReport report;
  double memory_bytes = 0;       // that a release will take, roughly
  double seconds = 0;            // likewise
  std::vector<Error> obstacles;  // each would stop a release
  BetterAlone better_alone;
};

// Tries the spec on its data and spends nothing. The spec has a target; `name` is what messages
// call it. `on_rows` is called now and then with the number of rows read so far.
SpecCheck CheckSpec(const Spec& spec, const std::string& name, const DataSource& data,
                    const RowProgress& on_rows = {});

}  // namespace residua
