#pragma once

#include <optional>

#include "cli/progress.h"
#include "residua/io/measure_to_file.h"

namespace residua::cli {

// On stderr, what a query does to rows, if it does: for whoever decides on a release of its result.
void PrintQueryNote(const DataSource& data);

// On stderr, how far a measurement is, and what reading did to values that have no cell: true
// counts, for the curator. Sets the request's callbacks, and must outlive the measurement.
class MeasuringReport {
 public:
  explicit MeasuringReport(MeasureRequest* request);
  MeasuringReport(const MeasuringReport&) = delete;
  MeasuringReport& operator=(const MeasuringReport&) = delete;

 private:
  std::optional<Progress> progress_;
};

// On stderr, that the ledger which was named is not the only one that has the spend.
void ReportLedgers(const std::filesystem::path& ledger_beside, const DataPlaces& places);

}  // namespace residua::cli
