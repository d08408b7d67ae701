#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "residua/reconstruct/mean_estimate.h"
#include "tests/means/dense_fit.h"
#include "tests/means/number_rows.h"

namespace residua {

// Over repeated releases of the same rows, for each answer of a table: how far its sums are from the
// true one, in standard deviations z, and how often intervals cover the true sum and mean.
struct MeanCoverage {
  // Of the table of attribute 0, counted, and attribute 1, whose mean is asked.
  MeanCoverage(const Domain& domain, const std::vector<Row>& rows)
      : true_counts(static_cast<size_t>(domain[0].size)),
        true_sums(true_counts),
        sum_z(true_counts),
        square_z(true_counts),
        sums_covered(true_counts.size()),
        means_covered(true_counts.size()),
        means_unknown(true_counts.size()) {
    for (const Row& row : rows) {
      const auto number = NumberOf(*MeanOf(domain[1]), row[1]);
      if (!number) continue;
      ++true_counts[static_cast<size_t>(row[0])];
      true_sums[static_cast<size_t>(row[0])] += *number;
    }
  }

  // One more release.
  void Add(const MeanColumns& columns) {
    ++num_releases;
    for (size_t k = 0; k < true_sums.size(); ++k) {
      const double z = (columns.sums[k] - true_sums[k]) / columns.sum_std_devs[k];
      sum_z[k] += z;
      square_z[k] += z * z;
      sums_covered[k] += std::abs(z) <= kQuantile ? 1 : 0;
      // An unbounded interval holds every number.
      const double mean = true_sums[k] / true_counts[k];
      const bool is_unknown = std::isnan(columns.means[k]);
      means_unknown[k] += is_unknown ? 1 : 0;
      means_covered[k] +=
          is_unknown || (columns.mean_lower[k] <= mean && mean <= columns.mean_upper[k]) ? 1 : 0;
    }
  }

  std::vector<double> true_counts, true_sums;
  std::vector<double> sum_z, square_z;
  std::vector<int> sums_covered, means_covered, means_unknown;
  int num_releases = 0;
};

// At a level of 1e-4. Answer 0 has many rows, answer 1 too few for a mean, and answer 2 some. A
// standard deviation 10 % too small is told from the right one.
inline void ExpectCentredAndCovered(const MeanCoverage& found) {
  const int tries = found.num_releases;
  for (size_t k = 0; k < found.sum_z.size(); ++k) {
    EXPECT_LT(std::abs(found.sum_z[k]), 3.9 * std::sqrt(tries)) << k;
    EXPECT_LT(std::abs(found.square_z[k] / tries - 1), 3.9 * std::sqrt(2.0 / tries)) << k;
    EXPECT_GT(std::abs(found.square_z[k] / 0.81 / tries - 1), 3.9 * std::sqrt(2.0 / tries));
    EXPECT_TRUE(Fits(found.sums_covered[k], tries, 0.95)) << k << ": " << found.sums_covered[k];
  }
  EXPECT_TRUE(Fits(found.means_covered[0], tries, 0.95)) << found.means_covered[0];
  EXPECT_TRUE(Fits(found.means_covered[2], tries, 0.95)) << found.means_covered[2];
  EXPECT_FALSE(Fits(found.means_covered[0], tries, 0.92)) << "and no other";
  EXPECT_EQ(found.means_unknown[0], 0);
  // Fieller's set is unbounded more often than its complement misses: at least the confidence.
  EXPECT_GE(found.means_covered[1], 0.94 * tries);
  EXPECT_GT(found.means_unknown[1], tries / 10) << "too few rows";
}

}  // namespace residua
