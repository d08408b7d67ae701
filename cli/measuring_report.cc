#include "cli/measuring_report.h"

#include <fmt/format.h>

#include <cstdio>

namespace residua::cli {
namespace {

void ReportReading(const ReadReport& report, const Domain& domain) {
  for (int i = 0; i < domain.size(); ++i) {
    const AttributeReport& attribute = report.attributes[static_cast<size_t>(i)];
    if (attribute.num_clamped > 0) {
      fmt::print(stderr, "note: {}: {} values clamped (a true count: not for publication)\n",
                 domain[i].name, attribute.num_clamped);
    }
    if (attribute.num_nulled > 0) {
      fmt::print(stderr,
                 "note: {}: {} values taken as missing (a true count: not for publication)\n",
                 domain[i].name, attribute.num_nulled);
    }
  }
  if (report.num_rows_over > 0) {
    fmt::print(stderr,
               "note: rows left out, beyond max_rows: {} (a true count: not for publication)\n",
               report.num_rows_over);
  }
  if (report.num_rows_dropped > 0) {
    fmt::print(stderr, "note: {} rows dropped (a true count: not for publication)\n",
               report.num_rows_dropped);
  }
}

}  // namespace

MeasuringReport::MeasuringReport(MeasureRequest* request) {
  progress_.emplace("Reading");
  const Domain& domain = request->plan.plan.domain;
  request->on_rows = [this](int64_t num_rows) { progress_->ShowRows(num_rows); };
  request->on_read = [this, &domain](const ReadReport& report) {
    progress_.emplace("Measuring");
    ReportReading(report, domain);
  };
  request->on_sets = [this](int64_t done, int64_t total) { progress_->Show(done, total); };
}

}  // namespace residua::cli
