#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/stopwatch.h"

namespace residua::bench {

// Does something once and returns how many seconds it took.
using Work = std::function<double()>;

template <typename Function>
Work Timed(Function function) {
  return [function = std::move(function)] { return TimesOf(function).wall; };
}

// residua at one size, the least that its stage can cost there, and the naive way where that does
// not take too long.
struct StagePoint {
  double x = 0;
  Work residua;
  Work limit;
  Work naive = {};
};

// How a stage's cost grows with one quantity.
struct Growth {
  std::string stage;
  std::string grows_with;
  std::string setting;
  std::string limit;
  std::string naive = {};
  std::vector<StagePoint> points = {};
  std::string title = {};  // of its chart, where `grows_with` does not tell it from the others
};

// Made one after the other, as each holds its data.
using MakeGrowth = std::function<Growth()>;

std::vector<MakeGrowth> SelectGrowths();
std::vector<MakeGrowth> CountGrowths();
std::vector<MakeGrowth> SampleGrowths();
std::vector<MakeGrowth> TransformGrowths();
std::vector<MakeGrowth> ReconstructGrowths();
std::vector<MakeGrowth> QueryGrowths();

// 1, 2, 4, ... and the number of processors.
std::vector<int> ThreadCounts();

}  // namespace residua::bench
