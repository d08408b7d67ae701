#pragma once

#include <functional>
#include <vector>

namespace residua::bench {

// By the clock, and of all processors together: the second hardly depends on who else is there.
struct Times {
  double wall = 0;
  double processor = 0;
};
Times TimesOf(const std::function<void()>& work);

double Median(std::vector<double> values);
Times Medians(const std::vector<Times>& times);

// The median by the clock of up to `max_runs`; no more are started once they took `enough` seconds.
double MedianSeconds(const std::function<void()>& work, int max_runs, double enough);

// Of this process so far.
double MegabytesAtPeak();

}  // namespace residua::bench
