#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "tests/reconstruct/small_release.h"

namespace residua {

// Small releases with much noise, whose estimates are often negative, and dense matrices that say
// what their tables must be.
inline bool IsPartOf(const AttributeSet& part, const AttributeSet& whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

// kron over the attributes of `table` of (factor(i) if i is in `part`, else a row of ones).
inline Eigen::MatrixXd KroneckerIn(const SmallRelease& release, const AttributeSet& table,
                                   const AttributeSet& part,
                                   const std::function<Eigen::MatrixXd(int)>& factor) {
  Eigen::MatrixXd product = Eigen::MatrixXd::Ones(1, 1);
  for (const int i : table) {
    const bool is_in = std::binary_search(part.begin(), part.end(), i);
    const Eigen::MatrixXd next =
        is_in ? factor(i) : Eigen::MatrixXd::Ones(1, release.domain[i].size);
    product = Eigen::MatrixXd(Eigen::kroneckerProduct(product, next));
  }
  return product;
}
inline Eigen::MatrixXd MarginMatrix(const SmallRelease& release, const AttributeSet& table,
                                    const AttributeSet& part) {
  return KroneckerIn(release, table, part, [&](int i) {
    return Eigen::MatrixXd::Identity(release.domain[i].size, release.domain[i].size);
  });
}
inline Eigen::VectorXd AsVector(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<int64_t>(values.size()));
}

// Another histogram, and noise of another size: the true residuals by their definition.
inline void Change(const std::vector<double>& histogram, int64_t noise_factor,
                   SmallRelease* release) {
  release->histogram = histogram;
  const Eigen::VectorXd truth = AsVector(histogram);
  for (const AttributeSet& set : release->sets) {
    const Eigen::VectorXd residual = release->Kronecker(set, [&](int i) {
      return DenseMatrixOf(release->bases[static_cast<size_t>(i)]);
    }) * truth;
    std::vector<int64_t>& values = release->true_residuals[set];
    values.clear();
    for (const double value : residual) values.push_back(std::llround(value));
    release->noise_variances[set] *= noise_factor;
  }
}

// Most rows are in few cells.
inline std::vector<double> SparseHistogram(size_t num_cells, std::mt19937_64& random) {
  std::vector<double> histogram(num_cells, 0.0);
  for (double& cell : histogram) {
    if (random() % 6 == 0) cell = static_cast<double>(random() % 60);
  }
  histogram[random() % num_cells] += 40;
  return histogram;
}

// An oblique basis as one would choose it: nearly the differences of neighbours, for which the
// iteration is quick. Random bases (RandomBasis) may be very badly conditioned.
inline ResidualBasis DifferenceBasis(int64_t size, std::mt19937_64& random) {
  Attribute attribute;
  attribute.name = "a";
  attribute.size = size;
  attribute.queries = QueryKind::kPrefix;
  IntegerMatrix matrix{size - 1, size, {}};
  for (int64_t row = 0; row + 1 < size; ++row) {
    for (int64_t column = 0; column < size; ++column) {
      const int64_t difference = column == row ? 10 : column == row + 1 ? -10 : 0;
      matrix.entries.push_back(difference + static_cast<int64_t>(random() % 5) - 2);
    }
  }
  return BasisFromMatrix(attribute, matrix);
}

// Two to four attributes of 2 to 6 cells of any bases, tables that overlap, and much noise.
enum class Bases { kGood, kAny };
inline SmallRelease NoisyRelease(Bases bases, std::mt19937_64& random, BitSource* bits) {
  const size_t order = 2 + random() % 3;
  std::vector<int64_t> sizes;
  std::vector<bool> is_oblique;
  size_t num_cells = 1;
  const bool may_be_oblique = random() % 2 == 0;
  for (size_t i = 0; i < order; ++i) {
    sizes.push_back(2 + static_cast<int64_t>(random() % (order > 3 ? 3 : 5)));
    is_oblique.push_back(may_be_oblique && random() % 2 == 0);
    num_cells *= static_cast<size_t>(sizes.back());
  }
  std::vector<AttributeSet> maximal;
  const size_t num_maximal = 1 + random() % 4;
  for (size_t m = 0; m < num_maximal; ++m) {
    AttributeSet set;
    for (int i = 0; i < static_cast<int>(order); ++i) {
      if (random() % 5 > 1 && set.size() < 3) set.push_back(i);
    }
    maximal.push_back(set);
  }
  SmallRelease release = MakeSmallRelease(sizes, is_oblique, maximal, random);
  for (size_t i = 0; i < order; ++i) {
    if (bases == Bases::kGood && is_oblique[i]) {
      release.bases[i] = DifferenceBasis(sizes[i], random);
    }
  }
  Change(SparseHistogram(num_cells, random), 1 + static_cast<int64_t>(random() % 100), &release);
  release.Measure(bits);
  return release;
}

}  // namespace residua
