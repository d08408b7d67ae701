#pragma once

#include <optional>
#include <stop_token>
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
  double memory_bytes = 0;       // that a release will take, within a factor of two or so
  double seconds = 0;            // likewise, on a machine with nothing else to do
  std::vector<Error> obstacles;  // each would stop a release
  // Where the rows are in a database that is read through a driver: why it cannot count them itself,
  // as far as public facts tell. Nothing where it can.
  std::optional<Error> push_down_fault;
  // Where it can: the cells of all attributes together, and what their counters take here.
  int64_t num_joint_cells = 0;
  int64_t joint_bytes = 0;
  BetterAlone better_alone;
};

// The rows that a release counts: not left out by a policy, an identifier or its `max_rows`.
int64_t NumRowsCounted(const ReadReport& report);

// The rows that would be counted with other choices of `max_rows`: a few round numbers up to the
// first that leaves out none, and the one given. Empty without an identifier.
struct RowsKept {
  int64_t max_rows = 0;
  int64_t num_rows = 0;

  bool operator==(const RowsKept&) const = default;
};
std::vector<RowsKept> RowsKeptByMaxRows(const ReadReport& report, int64_t max_rows);

// Tries a plan on its data and spends nothing; `name` is what messages call it. `on_rows` is called
// now and then with the number of rows read so far; what it throws stops. A database is told to
// `stop`.
SpecCheck CheckPlan(const Plan& plan, const std::string& name, const DataSource& data,
                    const RowProgress& on_rows = {}, const std::stop_token& stop = {});
// Tries the spec on its data and spends nothing. The spec has a target; `name` is what messages
// call it. `on_rows` is called now and then with the number of rows read so far.
SpecCheck CheckSpec(const Spec& spec, const std::string& name, const DataSource& data,
                    const RowProgress& on_rows = {}, const std::stop_token& stop = {});

}  // namespace residua
