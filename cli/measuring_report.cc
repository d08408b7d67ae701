#include "cli/measuring_report.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/print_text.h"
#include "cli/words.h"

namespace residua::cli {

void PrintNotes(std::span<const std::string> notes) {
  for (const std::string& note : notes) PrintText(stderr, "note: {}\n", note);
}

void PrintWarnings(std::span<const ReleaseWarning> warnings) {
  for (const ReleaseWarning& warning : warnings) {
    PrintText(stderr, "warning: {}\n", Worded(warning));
  }
}

void MeasuringReport::BeginMeasuring(const ReadReport& report) {
  progress_.emplace("Measuring");
  PrintNotes(NotesOf(report, domain_));
}

void ReportLedgers(const std::filesystem::path& ledger_beside,
                   const std::filesystem::path& ledger) {
  if (ledger_beside.empty()) return;
  PrintText(stderr,
            "note: {} lies beside the data, and {} was named; the spend is in both ledgers\n",
            ledger_beside.string(), ledger.string());
}

}  // namespace residua::cli
