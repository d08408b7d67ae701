#pragma once

#include <optional>
#include <span>
#include <string>

#include "cli/progress.h"
#include "residua/release/measure_to_file.h"
#include "residua/release/warnings.h"

namespace residua::cli {

// Prints the notes on stderr, one line each.
void PrintNotes(std::span<const std::string> notes);

// Prints the warnings on stderr, one line each.
void PrintWarnings(std::span<const ReleaseWarning> warnings);

// Shows on stderr how far a measurement is, and what reading did to values that have no cell: true
// counts, for the curator. Sets the callbacks of a MeasureRequest or ReleaseRequest. This object
// and the domain must outlive the work.
class MeasuringReport {
 public:
  template <typename Request>
  MeasuringReport(const Domain& domain, Request* request) : domain_(domain) {
    progress_.emplace("Reading");
    request->on_rows = [this](int64_t num_rows) { progress_->ShowRows(num_rows); };
    request->on_read = [this](const ReadReport& report) { BeginMeasuring(report); };
    request->on_sets = [this](int64_t done, int64_t total) { progress_->Show(done, total); };
  }
  MeasuringReport(const MeasuringReport&) = delete;
  MeasuringReport& operator=(const MeasuringReport&) = delete;

  // Measuring is over; other work may show its own progress.
  void End() { progress_.reset(); }

 private:
  void BeginMeasuring(const ReadReport& report);

  const Domain& domain_;
  std::optional<Progress> progress_;
};

// Says on stderr that the spend is not only in the ledger that was named.
void ReportLedgers(const std::filesystem::path& ledger_beside, const std::filesystem::path& ledger);

}  // namespace residua::cli
