#pragma once

#include <functional>
#include <vector>

namespace residua::bench {

// Seconds by the clock, and of all processors together: the second hardly depends on other
// processes.
struct Times {
  double wall = 0;
  double processor = 0;
};
Times TimesOf(const std::function<void()>& work);

double Median(std::vector<double> values);
Times Medians(const std::vector<Times>& times);

// The median by the clock of up to `max_runs` runs; no more are started after `enough` seconds.
double MedianSeconds(const std::function<void()>& work, int max_runs, double enough);

// The time of this process so far.
double MegabytesAtPeak();

}  // namespace residua::bench
