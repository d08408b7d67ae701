#include "cli/measuring_report.h"

#include <fmt/format.h>

#include <cstdio>

namespace residua::cli {

void PrintQueryNote(const DataSource& data) {
  for (const std::string& note : NotesOf(SurveyQuery(data))) fmt::print(stderr, "note: {}\n", note);
}

MeasuringReport::MeasuringReport(MeasureRequest* request) {
  progress_.emplace("Reading");
  const Domain& domain = request->plan.plan.domain;
  request->on_rows = [this](int64_t num_rows) { progress_->ShowRows(num_rows); };
  request->on_read = [this, &domain](const ReadReport& report) {
    progress_.emplace("Measuring");
    for (const std::string& note : NotesOf(report, domain)) {
      fmt::print(stderr, "note: {}\n", note);
    }
  };
  request->on_sets = [this](int64_t done, int64_t total) { progress_->Show(done, total); };
}

void ReportLedgers(const std::filesystem::path& ledger_beside, const DataPlaces& places) {
  if (ledger_beside.empty()) return;
  fmt::print(stderr,
             "note: {} lies beside the data, and {} was named; the spend is in both ledgers\n",
             ledger_beside.string(), places.ledger.string());
}

}  // namespace residua::cli
