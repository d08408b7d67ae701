#pragma once

#include <vector>

#include "residua/draft/check_spec.h"
#include "residua/release/expected_errors.h"
#include "residua/text/json_text.h"

namespace residua::cli {

// The errors that readers can expect, and the number of rows that they are for.
struct Expectation {
  double num_rows = 0;
  bool is_public = false;  // the spec's number of rows, and not the data's
  std::vector<ExpectedErrors> orbits;
  double num_tables = 0;
  double num_mostly_noise = 0;  // of these tables
};

// By the number of rows that the spec states, or else by that of the data which a release would
// count.
Expectation ExpectationOf(const Spec& spec, const SpecCheck& check);

// What `residua check` says of it: for machines, and for people.
Json ExpectationJson(const Plan& plan, const Expectation& expectation);
void PrintExpectation(const Plan& plan, const Expectation& expectation);

}  // namespace residua::cli
