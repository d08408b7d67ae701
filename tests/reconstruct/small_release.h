#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <unsupported/Eigen/KroneckerProduct>
#include <vector>

#include "residua/base/error.h"
#include "residua/basis/basis_inverse.h"
#include "residua/basis/convolution/convolution_matrix.h"
#include "residua/measure/residual_transform.h"
#include "residua/measure/true_counts.h"
#include "residua/noise/discrete_gaussian.h"
#include "residua/reconstruct/product_query.h"
#include "residua/reconstruct/residual_index.h"
#include "tests/basis/tree_examples.h"
#include "tests/measure/random_table.h"
#include "tests/oracle/deterministic_bits.h"

namespace residua {

// An oblique basis: a random integer matrix whose null vector does not sum to 0, and its inverse.
inline ResidualBasis RandomBasis(int64_t size, std::mt19937_64& random) {
  for (;;) {
    IntegerMatrix matrix{size - 1, size, {}};
    Eigen::MatrixXd whole = Eigen::MatrixXd::Ones(size, size);
    int64_t sensitivity = 0;
    for (int64_t row = 0; row + 1 < size; ++row) {
      for (int64_t column = 0; column < size; ++column) {
        matrix.entries.push_back(static_cast<int64_t>(random() % 11) - 5);
        whole(row + 1, column) = static_cast<double>(matrix.entries.back());
      }
    }
    for (int64_t column = 0; column < size; ++column) {
      sensitivity = std::max(sensitivity,
                             static_cast<int64_t>(whole.col(column).tail(size - 1).squaredNorm()));
    }
    const Eigen::FullPivLU<Eigen::MatrixXd> lu(whole);
    if (!lu.isInvertible()) continue;
    const Eigen::MatrixXd inverse = lu.inverse();
    if (inverse.cwiseAbs().maxCoeff() > 2) continue;  // so that 1e-9 is far above rounding
    ResidualBasis basis;
    basis.size = size;
    basis.num_answers = size;
    basis.squared_sensitivity = static_cast<long>(sensitivity);
    basis.variance_factor = 1;
    basis.privacy_cost = static_cast<double>(sensitivity);
    basis.matrix = matrix;
    basis.inverse = std::make_shared<BasisInverse>(inverse.col(0), inverse.rightCols(size - 1));
    return basis;
  }
}

// A basis of a random tree of groups.
inline ResidualBasis RandomTreeBasis(int64_t size, std::mt19937_64& random) {
  const Attribute attribute = RandomTree(size, random);
  return BasisFromTree(
      attribute,
      RandomTreeMatrix(random() % 2 == 0 ? BlockTree(attribute) : *GroupTree(attribute), random));
}

// A random convolution, whose kernel falls fast enough to be undone well.
inline ResidualBasis RandomConvolutionBasis(int64_t size, std::mt19937_64& random) {
  Attribute attribute;
  attribute.name = "a";
  attribute.size = size;
  attribute.queries = random() % 2 == 0 ? QueryKind::kPrefix : QueryKind::kRange;
  ConvolutionMatrix matrix;
  for (int64_t k = 0; k + 1 < size; ++k) {
    matrix.row_weights.push_back(1 + static_cast<int64_t>(random() % 3));
    matrix.column_weights.push_back(1 + static_cast<int64_t>(random() % 3));
    matrix.kernel.push_back(k == 0 ? 4 : static_cast<int64_t>(random() % 3));
    matrix.total_weights.push_back(static_cast<int64_t>(random() % 3));
  }
  return BasisFromConvolution(attribute, matrix);
}

// The basis' integer matrix, dense.
inline Eigen::MatrixXd DenseMatrixOf(const ResidualBasis& basis) {
  const int64_t n = basis.size;
  if (basis.is_identity()) {
    return static_cast<double>(n) * Eigen::MatrixXd::Identity(n, n) - Eigen::MatrixXd::Ones(n, n);
  }
  const auto* tree = std::get_if<TreeMatrix>(&basis.matrix);
  const auto* convolution = std::get_if<ConvolutionMatrix>(&basis.matrix);
  const IntegerMatrix matrix = tree != nullptr          ? Expanded(*tree)
                               : convolution != nullptr ? Expanded(*convolution)
                                                        : std::get<IntegerMatrix>(basis.matrix);
  Eigen::MatrixXd dense(matrix.num_rows, n);
  for (int64_t row = 0; row < matrix.num_rows; ++row) {
    for (int64_t column = 0; column < n; ++column) {
      dense(row, column) = static_cast<double>(
          matrix.entries[static_cast<size_t>(row * matrix.num_columns + column)]);
    }
  }
  return dense;
}

// What a measured integer stands for, and the true variance of its noise in that unit.
inline double ValueOf(const NoisyResidual& residual, size_t k) {
  const auto& values = std::get<std::vector<int64_t>>(residual.values);
  return std::ldexp(static_cast<double>(values[k]), -residual.scale_bits);
}
inline double TrueVarianceOf(const NoisyResidual& residual) {
  const Rational drawn = residual.noise_variance * (Integer(1) << (2U * residual.scale_bits));
  return std::ldexp(DiscreteGaussianVariance(drawn), -2 * residual.scale_bits);
}

// A table small enough to write down, what is measured of it, and the same as dense matrices.
struct SmallRelease {
  Domain domain;
  std::vector<ResidualBasis> bases;
  std::vector<AttributeSet> sets;  // closed under subsets
  std::vector<double> histogram;   // over the whole domain
  std::map<AttributeSet, std::vector<int64_t>> true_residuals;
  std::map<AttributeSet, Rational> noise_variances;
  std::map<AttributeSet, int> scale_bits;  // of the lattice; sets that are not here have 0
  std::map<AttributeSet, NoisyResidual> residuals;

  // kron over the attributes of (factor(i) if i is in the set, else ones).
  Eigen::MatrixXd Kronecker(const AttributeSet& set,
                            const std::function<Eigen::MatrixXd(int)>& factor) const {
    Eigen::MatrixXd product = Eigen::MatrixXd::Ones(1, 1);
    for (int i = 0; i < domain.size(); ++i) {
      const bool is_in = std::find(set.begin(), set.end(), i) != set.end();
      const Eigen::MatrixXd next = is_in ? factor(i) : Eigen::MatrixXd::Ones(1, domain[i].size);
      product = Eigen::MatrixXd(Eigen::kroneckerProduct(product, next));
    }
    return product;
  }
  Eigen::MatrixXd TableMatrix(const AttributeSet& set) const {
    return Kronecker(
        set, [&](int i) { return Eigen::MatrixXd::Identity(domain[i].size, domain[i].size); });
  }
  Eigen::VectorXd TrueTable(const AttributeSet& set) const {
    return TableMatrix(set) * Eigen::Map<const Eigen::VectorXd>(
                                  histogram.data(), static_cast<int64_t>(histogram.size()));
  }

  ResidualIndex Index() const {
    std::vector<ResidualView> views;
    for (const auto& [set, residual] : residuals) views.push_back(ViewOf(residual));
    return ResidualIndex(domain, bases, views);
  }

  // New noise from `bits`, or none.
  void Measure(BitSource* bits) {
    for (const AttributeSet& set : sets) {
      std::vector<int64_t> values = true_residuals.at(set);
      const auto scaled = scale_bits.find(set);
      const int scale = scaled == scale_bits.end() ? 0 : scaled->second;
      for (int64_t& value : values) value *= int64_t{1} << scale;
      if (bits != nullptr) {
        std::vector<int64_t> noise(values.size());
        SampleDiscreteGaussian(noise_variances.at(set) * (Integer(1) << (2U * scale)), *bits,
                               std::span(noise));
        for (size_t k = 0; k < values.size(); ++k) values[k] += noise[k];
      }
      residuals[set] = {set, values, noise_variances.at(set), scale};
    }
  }
};

inline SmallRelease MakeSmallRelease(const std::vector<int64_t>& sizes,
                                     const std::vector<bool>& is_oblique,
                                     const std::vector<AttributeSet>& maximal,
                                     std::mt19937_64& random) {
  SmallRelease release;
  release.domain = DomainOfSizes(sizes);
  std::vector<ResidualMatrix> matrices;
  int64_t num_cells = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool is_tree = is_oblique[i] && sizes[i] > 2 && random() % 2 == 0;
    const bool is_convolution = is_oblique[i] && !is_tree && random() % 2 == 0;
    release.bases.push_back(is_tree          ? RandomTreeBasis(sizes[i], random)
                            : is_convolution ? RandomConvolutionBasis(sizes[i], random)
                            : is_oblique[i]  ? RandomBasis(sizes[i], random)
                                             : IdentityBasis(sizes[i]));
    matrices.push_back(release.bases.back().matrix);
    num_cells *= sizes[i];
  }
  for (int64_t k = 0; k < num_cells; ++k) {
    release.histogram.push_back(static_cast<double>(random() % 50));
  }
  for (const AttributeSet& set : SetsUpTo(release.domain.size(), sizes.size())) {
    const bool is_measured =
        std::any_of(maximal.begin(), maximal.end(), [&](const AttributeSet& larger) {
          return std::includes(larger.begin(), larger.end(), set.begin(), set.end());
        });
    if (!is_measured) continue;
    release.sets.push_back(set);
    const Eigen::VectorXd table = release.TrueTable(set);
    const TrueResidual residual =
        ResidualTransform(release.domain, matrices)
            .Apply(TrueCounts::Marginal(set, std::vector<int64_t>(table.begin(), table.end())));
    release.true_residuals[set] = std::get<std::vector<int64_t>>(TrueCounts::Values(residual));
    release.noise_variances[set] = Rational(static_cast<long>(1 + random() % 400), 8);
    release.noise_variances[set].canonicalize();
    // Two of three sets are on finer lattices.
    release.scale_bits[set] = static_cast<int>(release.sets.size() % 3) * 5;
  }
  return release;
}

// Two to four attributes of any bases; a random closed family of sets.
inline SmallRelease RandomRelease(std::mt19937_64& random) {
  const size_t order = 1 + random() % 4;
  std::vector<int64_t> sizes;
  std::vector<bool> is_oblique;
  for (size_t i = 0; i < order; ++i) {
    sizes.push_back(2 + static_cast<int64_t>(random() % (order > 3 ? 2 : 4)));
    is_oblique.push_back(random() % 2 == 0);
  }
  std::vector<AttributeSet> maximal;
  const size_t num_maximal = 1 + random() % 3;
  for (size_t m = 0; m < num_maximal; ++m) {
    AttributeSet set;
    for (int i = 0; i < static_cast<int>(order); ++i) {
      if (random() % 3 != 0) set.push_back(i);
    }
    maximal.push_back(set);
  }
  return MakeSmallRelease(sizes, is_oblique, maximal, random);
}

// All that was measured as one least-squares problem over the whole domain, each row divided by
// its noise's standard deviation.
struct DenseProblem {
  Eigen::MatrixXd matrix;
  Eigen::VectorXd values;
};
inline DenseProblem MakeDenseProblem(const SmallRelease& release) {
  DenseProblem problem;
  for (const auto& [set, residual] : release.residuals) {
    const double scale = 1 / std::sqrt(TrueVarianceOf(residual));
    const Eigen::MatrixXd rows = release.Kronecker(set, [&](int i) {
      return DenseMatrixOf(release.bases[static_cast<size_t>(i)]);
    }) * scale;
    const int64_t before = problem.matrix.rows();
    problem.matrix.conservativeResize(before + rows.rows(), rows.cols());
    problem.matrix.bottomRows(rows.rows()) = rows;
    problem.values.conservativeResize(before + rows.rows());
    for (int64_t k = 0; k < rows.rows(); ++k) {
      problem.values[before + k] = ValueOf(residual, static_cast<size_t>(k)) * scale;
    }
  }
  return problem;
}

// The query as a vector over the whole domain.
inline Eigen::VectorXd DenseQuery(const SmallRelease& release, const ProductQuery& query) {
  Eigen::MatrixXd product = Eigen::MatrixXd::Ones(1, 1);
  for (int i = 0; i < release.domain.size(); ++i) {
    Eigen::VectorXd weights = Eigen::VectorXd::Ones(release.domain[i].size);
    for (const AttributeWeights& factor : query.factors()) {
      if (factor.attribute != i) continue;
      const std::vector<double> dense = DenseWeights(factor, release.domain[i].size);
      weights = Eigen::Map<const Eigen::VectorXd>(dense.data(), release.domain[i].size);
    }
    product = Eigen::MatrixXd(Eigen::kroneckerProduct(product, weights));
  }
  return product.col(0);
}

inline ProductQuery RandomQuery(const Domain& domain, const AttributeSet& set,
                                std::mt19937_64& random) {
  std::vector<AttributeWeights> factors;
  for (const int i : set) {
    const int64_t n = domain[i].size;
    if (random() % 3 == 0) {
      std::vector<double> weights;
      for (int64_t k = 0; k < n; ++k) weights.push_back(static_cast<double>(random() % 7) - 2.5);
      factors.push_back({i, weights});
      continue;
    }
    std::vector<CellRange> ranges;
    for (size_t r = 0; r <= random() % 3; ++r) {
      const auto a = static_cast<int64_t>(random() % static_cast<uint64_t>(n));
      const auto b = static_cast<int64_t>(random() % static_cast<uint64_t>(n));
      ranges.push_back({std::min(a, b), std::max(a, b)});
    }
    factors.push_back({i, ranges});
  }
  return ProductQuery(domain, factors);
}

// The message and kind of the Error that `work` throws.
struct Thrown {
  std::string message;
  ErrorKind kind = ErrorKind::kBroken;
};
inline Thrown ErrorOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return {error.what(), error.kind()};
  }
  return {"", ErrorKind::kBroken};
}

}  // namespace residua
