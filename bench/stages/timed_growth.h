#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/stages/stage.h"

namespace residua::bench {

// Medians of runs in random order, in seconds.
struct TimedPoint {
  double x = 0;
  double residua = 0;
  double limit = 0;
  std::optional<double> naive;
};

struct TimedGrowth {
  std::string stage;
  std::string grows_with;
  std::string setting;
  std::string limit;
  std::string naive;
  std::string title;
  std::vector<TimedPoint> points;
};

// Runs all of it under Google Benchmark: its points, limits and naive ways, in random order.
TimedGrowth TimeGrowth(const Growth& growth);

// A Markdown table.
std::string TableOf(const TimedGrowth& growth);

// One line for the whole stage: the ratio to its limit at the largest sizes.
std::string SummaryRow(const TimedGrowth& growth);

// What bench/charts.py draws: one row per point, in seconds; `naive` may be empty.
std::string TsvHeader();
std::string TsvOf(const TimedGrowth& growth);

}  // namespace residua::bench
