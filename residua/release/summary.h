#pragma once

#include <optional>
#include <string>

#include "residua/files/plan_file.h"
#include "residua/ledger/ledger.h"

namespace residua {

// What a release's summary says beside what its plan does.
struct ReleaseFacts {
  // What was granted for the same data, and spent, by the ledger's entries before this release. What
  // came later is not in its summary, whenever that is written.
  Ledger::Balance before;
  double confidence = 0.95;
  int64_t num_tables = 0;
  int64_t num_answers = 0;
  bool is_query = false;         // the rows are those of a query's result
  std::string plan_digest = {};  // as plan.json shows it
  ReleaseText text = {};
  // Of what was measured for this release; the plan's, unless it combines this with earlier ones.
  std::optional<PrivacyCost> measured_cost = {};
};

// A page in Markdown for the readers of the tables: what was published, how private and how exact
// it is, the budget, and what to do with the files. It says nothing that is not in the plan, the
// ledger or the spec's [release] section. Every number of it is one that the plan gives, and the
// words for the promise follow from the numbers.
std::string SummaryText(const PlanFile& file, const ReleaseFacts& facts);

}  // namespace residua
