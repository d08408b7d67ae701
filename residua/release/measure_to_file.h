#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "residua/files/plan_file.h"
#include "residua/ledger/ledger.h"
#include "residua/measure/measure.h"
#include "residua/release/data_places.h"

namespace residua {

// What measuring the plan, which must be verified, into the file `output` will spend.
Ledger::Spend SpendOf(const PlanFile& plan, const std::filesystem::path& output);

struct MeasureRequest {
  const PlanFile& plan;
  DataPlaces places;
  std::filesystem::path output;
  bool again = false;   // the plan may have been measured before: a new spend
  bool resume = false;  // what a measurement of this plan into this file left undone is finished
  bool allow_drops = false;    // an attribute may leave out nearly all rows (FindMassDrop)
  std::string plan_name = {};  // what messages call the plan: the file it was read from
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
  Ledger::Balance before;  // what entries before it granted and spent
  bool made_ledger = false;
  bool was_measured = false;  // resumed, and the file was there already, if not in place
  // The ledger beside the data, where there is one and another was named: the spend is in both.
  std::filesystem::path ledger_beside = {};
  // Of the ledger that answers for the data (Ledger::Identity); of MeasureToMemory alone, because a
  // file states it itself.
  std::string data_identity = {};
};

// Refuses now what MeasureToFile would refuse before it reads the data. A front end asks its user
// after that.
struct MeasureForecast {
  VerifiedPlan plan;                         // of the request
  bool spends = false;                       // not if the file is there, or its spend in the ledger
  std::filesystem::path ledger_beside = {};  // as of MeasureOutcome
};
MeasureForecast CheckMeasuring(const MeasureRequest& request);

// Why the ledgers of the data would refuse a first measurement of the plan now, if they would. Nothing
// is recorded.
std::optional<Error> FindSpendRefusal(const PlanFile& plan, const DataPlaces& places);

// The identity of the data (Ledger::Identity), by the ledger beside it or the one that was chosen;
// empty if there is none yet.
std::string FindDataIdentity(const DataPlaces& places);

// The one way from data to a published measurement: checks the plan, reads the rows, reserves the
// spend in the ledger, counts, adds noise, writes the file under a temporary name, confirms the
// spend, and gives the file its name, which must be free. Whatever can be refused is refused before
// the ledger is touched (an overspend is recorded there as refused). If something fails after that,
// the spend stays reserved, and the message says so.
//
// Of several processes that measure under one spend, only that which confirms it, in one
// transaction of the ledger, puts its file in place; the others delete theirs. While one of them
// lives, the rest are refused as soon as they look.
//
// A ledger that is named while there is another beside the data does not bypass that one: it must
// allow the spend as well, and records it. Costs for other neighbours than its own do not add up;
// it records them without counting them. Every ledger has the spend reserved before noise is drawn
// and confirmed before the file is in place. Data that has other names (hard links) gets no new
// ledger unless that is named: there may be one beside another name.
//
// With `resume`: a file of this very plan is taken as it is and its spend confirmed. One that is
// complete, but was never put in place, is verified and put there. A spend reserved for this plan
// and this file is used for measuring now, unless its process is still at work: nothing of it was
// put in place, so that one spend covers what is. Not so a spend that was reserved by a version
// which put the file in place first.
MeasureOutcome MeasureToFile(const MeasureRequest& request);
// The same with the request's plan, verified before.
MeasureOutcome MeasureToFile(const MeasureRequest& request, const VerifiedPlan& verified);

// The same into memory, for callers that ask before they save: `request.output` and `resume` are
// unused, and the ledger calls the place kInMemory. The spend is confirmed once every residual is
// there. Whether one of them is ever seen nobody can tell later, so it stays spent if they are
// lost.
inline constexpr std::string_view kInMemory = "(in memory)";
MeasureOutcome MeasureToMemory(const MeasureRequest& request, std::vector<NoisyResidual>* into);

}  // namespace residua
