#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "residua/files/spec.h"
#include "residua/files/table_files.h"
#include "residua/privacy/budget.h"
#include "residua/release/combine.h"
#include "residua/release/measure_to_file.h"
#include "residua/release/page.h"
#include "residua/release/publish_tables.h"
#include "residua/release/published_errors.h"
#include "residua/release/release.h"
#include "residua/release/warnings.h"

namespace residua {

// The files of a release.
struct ReleaseFolder {
  explicit ReleaseFolder(const std::filesystem::path& folder);

  // The measurement file that the tables are made from: the combined one, where there is one.
  std::filesystem::path published() const;

  std::filesystem::path path, plan, measurements, combined, tables, summary, page;
};

// The measurement file that `place` is, or that is published in the folder `place`.
std::filesystem::path MeasurementFileAt(const std::filesystem::path& place);

// What a release would spend and how good it would be, for whoever decides.
struct ReleaseForecast {
  Rational pcost;
  Guarantee guarantee;
  Protection protection;
  std::filesystem::path ledger;
  std::optional<Ledger::Balance> balance = {};  // before the spend; nothing if the ledger is new
  std::filesystem::path ledger_beside = {};     // as of MeasureOutcome
  PublishedSummary errors = {};
  QueryShape query;  // what the query does to rows, if the data is one's result
  std::vector<ReleaseWarning> warnings = {};  // by the spec's own number of rows
};

// An earlier release of the same data: its folder or its measurement file, or a measurement in
// memory.
using EarlierRelease = std::variant<std::filesystem::path, std::shared_ptr<const Release>>;

struct ReleaseRequest {
  Spec spec;
  std::filesystem::path spec_folder;  // its paths are relative to this folder
  std::string spec_name = {};         // what messages call it
  std::filesystem::path output = {};  // the folder of the release
  std::filesystem::path ledger = {};  // empty: as the spec says, or beside the data
  NamedPlaces data = {};              // the rows, in place of those the spec names
  std::optional<Plan> plan = {};      // of the spec; nothing: it is made
  // The noise is planned given what these know, and the tables are those of all together.
  std::vector<EarlierRelease> after = {};
  bool same_data = false;    // as of CombineOptions
  bool allow_drops = false;  // as of MeasureRequest
  TableFormat format = TableFormat::kCsv;
  TableDigits digits = TableDigits::kSupported;
  double confidence = 0.95;  // of the intervals
  int64_t max_page_bytes = kDefaultPageBytes;
  int num_threads = 0;  // 0: one per processor
  std::stop_token stop = {};
  // Asked before anything is spent, and only then: false declines. Without it nobody is asked.
  std::function<bool(const ReleaseForecast&)> confirm = {};
  // Called once the noise is chosen.
  std::function<void()> on_planned = {};
  // As of MeasureRequest and TablesRequest.
  RowProgress on_rows = {};
  std::function<void(const ReadReport&)> on_read = {};
  std::function<void()> on_reserved = {};
  std::function<void(int64_t, int64_t)> on_sets = {};
  std::function<void(int64_t, int64_t)> on_table = {};
};

// A request for the release of the spec file. Error{kBadInput} unless it names its data and a
// budget or target.
ReleaseRequest RequestReleaseOf(const std::filesystem::path& spec_file,
                                const std::filesystem::path& output);

struct ReleaseOutcome {
  ReleaseFolder folder;
  PlanFile plan;
  DataPlaces places;
  MeasureOutcome measured;
  TablesWritten tables;
  PageWritten page;
  CombinationReport combination = {};  // with earlier releases
  // Plan and measurements were written by an earlier version, and say where the data is.
  bool names_data = false;
};

// The whole job: plans, forecasts and asks, measures, publishes the tables, and writes the summary
// and the page, all in one folder. Run again after an interruption, it continues without spending twice; a
// folder that holds its measurements is finished without asking and without reading the data.
//
// The folder can be published as it is: no file of it says where the data or the ledger is, what
// query was run or who ran it.
//
// After earlier releases, the measurement is combined with theirs in a file of its own, and tables,
// summary and page are of that. Earlier releases of other data are refused before anything is
// spent.
//
// Error{kRefused} if the request is declined, if the folder holds something else, or if it is at
// work already. What is refused before anything is spent leaves nothing behind.
ReleaseOutcome MakeRelease(const ReleaseRequest& request);

}  // namespace residua
