#pragma once

#include <map>
#include <optional>
#include <string>

#include "bench/paper/figures.h"

namespace residua::bench {

// Our result beside one figure of the paper. `bound`, for accuracies, is what no matrix mechanism
// can beat; `relative_gap` is the certified distance of the noise from the best for its bases.
struct RowResult {
  double ours = 0;
  std::optional<double> bound;
  std::optional<double> relative_gap;
};

// Computes figures, each workload once. Times are medians of up to five runs if the runs are short.
class RowRunner {
 public:
  RowResult Run(const Figure& figure);

 private:
  struct Selection {
    double seconds = 0;
    double rmse = 0;
    double max_variance = 0;
    double relative_gap = 0;
    double bound = 0;  // on the RMSE or the largest variance, whichever the objective is for
  };
  const Selection& Select(const Figure& figure);

  std::map<std::string, Selection> selections_;
};

// Whether the row takes half a minute or more, if others use the machine too.
bool IsLong(const Figure& figure);

}  // namespace residua::bench
