#pragma once

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "residua/data/data_source.h"
#include "residua/ledger/ledger.h"
#include "residua/files/plan_file.h"
#include "residua/measure/measure.h"

namespace residua {

// Beside the data itself, whatever spec, plan or link led there: one data set, one ledger.
std::filesystem::path LedgerBeside(const DataSource& data);

// The plan's data and ledger, whose paths are relative to `folder`. Error{kBadInput} if it names
// no data.
struct DataPlaces {
  DataSource data;
  std::filesystem::path ledger;
};
DataPlaces PlacesOf(const DataReference& reference, const std::filesystem::path& folder);

// What measuring the plan into the file `output` will spend.
Ledger::Spend SpendOf(const PlanFile& plan, const std::filesystem::path& output);

struct MeasureRequest {
  const PlanFile& plan;
  DataPlaces places;
  std::filesystem::path output;
  bool again = false;   // the plan may have been measured before: a new spend
  bool resume = false;  // what a measurement of this plan into this file left undone is finished
  MeasureOptions options = {};
  // Called once the rows are read, before anything is spent.
  std::function<void(const ReadReport&)> on_read = {};
  RowProgress on_rows = {};
  // Called with the number of attribute sets measured so far, and of all.
  std::function<void(int64_t, int64_t)> on_sets = {};
  // Called once the spend is in the ledger.
  std::function<void()> on_reserved = {};
};

struct MeasureOutcome {
  int64_t entry = 0;  // of the ledger
  Ledger::Balance balance;
  Rational spent_before;  // by entries before it
  bool made_ledger = false;
  bool was_measured = false;  // resumed, and the file was there already
};

// The one way from data to a published measurement: reads the rows, reserves the spend in the
// ledger, counts, adds noise, writes the file, confirms the spend. Whatever can be refused is
// refused before the ledger is touched (an overspend is recorded there as refused). If something
// fails after that, the spend stays reserved, and the message says so.
//
// With `resume`: a file of this very plan is taken as it is and its spend confirmed; a spend
// reserved for this plan and this file, which is not there, is used for measuring now, once what
// the first attempt left unfinished has been deleted. Nothing of it was published, so that one
// spend covers what is. The caller must make sure that the first attempt is over.
MeasureOutcome MeasureToFile(const MeasureRequest& request);

// The same into memory, for callers that ask before they save: `request.output` and `resume` are
// unused, and the ledger calls the place kInMemory. The spend is confirmed once every residual is
// there. Whether one of them is ever seen nobody can tell later, so it stays spent if they are
// lost.
inline constexpr std::string_view kInMemory = "(in memory)";
MeasureOutcome MeasureToMemory(const MeasureRequest& request, std::vector<NoisyResidual>* into);

}  // namespace residua
