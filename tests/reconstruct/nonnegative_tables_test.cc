#include "residua/reconstruct/nonnegative_tables.h"
#include "residua/basis/basis_inverse.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "residua/reconstruct/joint_covariance.h"
#include "residua/reconstruct/query_answer.h"
#include "residua/reconstruct/table_answers.h"
#include "residua/reconstruct/table_reconstruction.h"
#include "tests/reconstruct/small_release.h"

namespace residua {
namespace {

bool IsPartOf(const AttributeSet& part, const AttributeSet& whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

// kron over the attributes of `table` of (factor(i) if i is in `part`, else a row of ones).
Eigen::MatrixXd KroneckerIn(const SmallRelease& release, const AttributeSet& table,
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
Eigen::MatrixXd MarginMatrix(const SmallRelease& release, const AttributeSet& table,
                             const AttributeSet& part) {
  return KroneckerIn(release, table, part, [&](int i) {
    return Eigen::MatrixXd::Identity(release.domain[i].size, release.domain[i].size);
  });
}
Eigen::VectorXd AsVector(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<int64_t>(values.size()));
}

// Another histogram, and noise of another size: the true residuals by their definition.
void Change(const std::vector<double>& histogram, int64_t noise_factor, SmallRelease* release) {
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
std::vector<double> SparseHistogram(size_t num_cells, std::mt19937_64& random) {
  std::vector<double> histogram(num_cells, 0.0);
  for (double& cell : histogram) {
    if (random() % 6 == 0) cell = static_cast<double>(random() % 60);
  }
  histogram[random() % num_cells] += 40;
  return histogram;
}

// An oblique basis as one would choose it: nearly the differences of neighbours, for which the
// iteration is quick. Random bases (RandomBasis) may be very badly conditioned.
ResidualBasis DifferenceBasis(int64_t size, std::mt19937_64& random) {
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
SmallRelease NoisyRelease(Bases bases, std::mt19937_64& random, BitSource* bits) {
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

TEST(JointCovariance, IsThatOfTheCellsLessTheTotalsNoise) {
  std::mt19937_64 random(1);
  DeterministicBits bits(1);
  for (int trial = 0; trial < 40; ++trial) {
    const SmallRelease release = NoisyRelease(Bases::kAny, random, &bits);
    const ResidualIndex index = release.Index();
    const std::vector<AttributeSet> tables = ReconstructNonnegative(index, release.sets).tables;
    if (tables.front().empty()) continue;
    JointCovariance covariance(index, tables);
    std::vector<ProductQuery> cells;
    std::vector<double> constants;  // what each cell has of the total
    for (const AttributeSet& table : tables) {
      std::vector<int64_t> cell(table.size(), 0);
      for (int64_t c = 0; c < NumCellsInMemory(release.domain, table); ++c) {
        double constant = 1;
        int64_t rest = c;
        for (size_t k = table.size(); k-- > 0;) {
          const ResidualBasis& basis = release.bases[static_cast<size_t>(table[k])];
          cell[k] = rest % basis.size;
          rest /= basis.size;
          constant *= basis.is_identity() ? 1 / static_cast<double>(basis.size)
                                          : basis.inverse->constant(cell[k]);
        }
        cells.push_back(ProductQuery::Cell(release.domain, table, cell));
        constants.push_back(constant);
      }
    }
    ASSERT_EQ(covariance.num_cells(), static_cast<int64_t>(cells.size()));
    std::vector<double> unit(cells.size(), 0.0), column(cells.size());
    double largest = 0;
    for (const ProductQuery& cell : cells) largest = std::max(largest, Variance(index, cell));
    for (size_t a = 0; a < cells.size(); a += 7) {
      unit[a] = 1;
      covariance.Apply(unit, column);
      unit[a] = 0;
      for (size_t b = 0; b < cells.size(); ++b) {
        const double expected = Covariance(index, cells[a], cells[b]) -
                                index.Find(AttributeSet{})->variance * constants[a] * constants[b];
        ASSERT_NEAR(column[b], expected, 1e-9 * largest);
      }
    }
  }
}

// With identity attributes K <= diag(scales): the steps of the iteration are never too long.
TEST(JointCovariance, IsBoundedByItsScales) {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<int64_t> sizes;
    for (int i = 0; i < 4; ++i) sizes.push_back(2 + static_cast<int64_t>(random() % 3));
    SmallRelease release =
        MakeSmallRelease(sizes, std::vector<bool>(4, false), {{0, 1}, {0, 2, 3}, {1, 2}}, random);
    release.Measure(nullptr);
    const ResidualIndex index = release.Index();
    JointCovariance covariance(index, std::vector<AttributeSet>{{0, 1}, {0, 2, 3}, {1, 2}});
    const int64_t n = covariance.num_cells();
    Eigen::MatrixXd dense(n, n);
    const std::vector<double> scales = covariance.Scales();
    Eigen::VectorXd bound(n);
    for (size_t t = 0; t < covariance.num_tables(); ++t) {
      bound.segment(covariance.begin(t), covariance.begin(t + 1) - covariance.begin(t))
          .setConstant(1 / std::sqrt(scales[t]));
    }
    for (int64_t k = 0; k < n; ++k) {
      std::vector<double> unit(static_cast<size_t>(n), 0.0), column(static_cast<size_t>(n));
      unit[static_cast<size_t>(k)] = 1;
      covariance.Apply(unit, column);
      dense.col(k) = AsVector(column);
    }
    EXPECT_LT((dense - dense.transpose()).norm(), 1e-12 * dense.norm());
    const Eigen::VectorXd eigenvalues = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(
                                            bound.asDiagonal() * dense * bound.asDiagonal())
                                            .eigenvalues();
    EXPECT_LT(eigenvalues.maxCoeff(), 1 + 1e-9);
    EXPECT_GT(eigenvalues.maxCoeff(), 0.2);
    EXPECT_GT(eigenvalues.minCoeff(), -1e-9);
  }
}

// Small releases may take any number of iterations: their noise was not planned but drawn at
// random.
NonnegativeOptions Unhurried() {
  NonnegativeOptions options;
  options.max_iterations = 200000;
  return options;
}

void ExpectNonnegativeAndConsistent(const SmallRelease& release, const NonnegativeTables& result) {
  const double tolerance = 1e-9 * (1 + result.total);
  for (const double count : result.counts) {
    ASSERT_GE(count, 0.0);
    ASSERT_FALSE(std::signbit(count));
  }
  for (const AttributeSet& a : result.tables) {
    const Eigen::VectorXd counts = AsVector(CountsOf(result, release.domain, a));
    EXPECT_NEAR(counts.sum(), result.total, tolerance);
    for (const AttributeSet& part : release.sets) {
      if (!IsPartOf(part, a)) continue;
      const Eigen::VectorXd margin = MarginMatrix(release, a, part) * counts;
      const Eigen::VectorXd expected = AsVector(CountsOf(result, release.domain, part));
      ASSERT_EQ(margin.size(), expected.size());
      EXPECT_LT((margin - expected).cwiseAbs().maxCoeff(), tolerance);
    }
  }
}

TEST(ReconstructNonnegative, IsNonnegativeAndConsistent) {
  std::mt19937_64 random(3);
  DeterministicBits bits(3);
  int num_changed = 0;
  int num_stopped = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Bases bases = trial % 4 == 0 ? Bases::kAny : Bases::kGood;
    const SmallRelease release = NoisyRelease(bases, random, &bits);
    const ResidualIndex index = release.Index();
    const NonnegativeTables result = ReconstructNonnegative(index, release.sets, Unhurried());
    ExpectNonnegativeAndConsistent(release, result);
    EXPECT_EQ(result.total, std::max(0.0, Reconstruct(index, {}).front()));
    if (bases == Bases::kGood) {
      EXPECT_LE(result.max_deviation, 0.1) << trial << " " << result.iterations;
    }
    num_changed += result.objective > 0 ? 1 : 0;
    // However early it stops, and then it says so.
    for (const int limit : {0, 1, 7}) {
      NonnegativeOptions options;
      options.max_iterations = limit;
      const NonnegativeTables stopped = ReconstructNonnegative(index, release.sets, options);
      ExpectNonnegativeAndConsistent(release, stopped);
      EXPECT_LE(stopped.iterations, limit);
      EXPECT_GE(stopped.objective,
                result.objective - 0.5 * result.max_deviation * result.max_deviation - 1e-9);
      num_stopped += stopped.max_deviation > 0.1 ? 1 : 0;
    }
  }
  EXPECT_GT(num_changed, 100);
  EXPECT_GT(num_stopped, 100);
}

// The problem as it is stated, written out with dense matrices: variables x, all tables' cells.
struct DenseFit {
  Eigen::MatrixXd residuals;  // f(x) = 1/2 ||residuals x - values||^2
  Eigen::VectorXd values;
  Eigen::MatrixXd equalities;  // equalities x = 0, and each table sums to the total
  Eigen::VectorXd uniform;

  double Objective(const Eigen::VectorXd& x) const {
    return 0.5 * (residuals * x - values).squaredNorm();
  }
};

void AppendRows(const Eigen::MatrixXd& rows, int64_t column, int64_t num_columns,
                Eigen::MatrixXd* matrix) {
  const int64_t before = matrix->rows();
  matrix->conservativeResize(before + rows.rows(), num_columns);
  matrix->bottomRows(rows.rows()).setZero();
  matrix->block(before, column, rows.rows(), rows.cols()) = rows;
}

DenseFit MakeDenseFit(const SmallRelease& release, const NonnegativeTables& result) {
  DenseFit fit;
  const int64_t num_cells = result.begin.back();
  fit.uniform.resize(num_cells);
  for (size_t t = 0; t < result.tables.size(); ++t) {
    const AttributeSet& table = result.tables[t];
    const int64_t size = result.begin[t + 1] - result.begin[t];
    fit.uniform.segment(result.begin[t], size)
        .setConstant(result.total / static_cast<double>(size));
    AppendRows(Eigen::MatrixXd::Ones(1, size), result.begin[t], num_cells, &fit.equalities);
    for (size_t s = 0; s < t; ++s) {
      AttributeSet common;
      std::set_intersection(table.begin(), table.end(), result.tables[s].begin(),
                            result.tables[s].end(), std::back_inserter(common));
      const int64_t row = fit.equalities.rows();
      AppendRows(MarginMatrix(release, table, common), result.begin[t], num_cells, &fit.equalities);
      const Eigen::MatrixXd other = MarginMatrix(release, result.tables[s], common);
      fit.equalities.block(row, result.begin[s], other.rows(), other.cols()) -= other;
    }
  }
  for (const AttributeSet& set : release.sets) {
    if (set.empty()) continue;
    const auto larger = std::find_if(result.tables.begin(), result.tables.end(),
                                     [&](const AttributeSet& t) { return IsPartOf(set, t); });
    const NoisyResidual& residual = release.residuals.at(set);
    const double scale = 1 / std::sqrt(TrueVarianceOf(residual));
    Eigen::VectorXd y =
        std::ldexp(scale, -residual.scale_bits) *
        Eigen::Map<const Eigen::Matrix<int64_t, Eigen::Dynamic, 1>>(
            std::get<std::vector<int64_t>>(residual.values).data(),
            static_cast<int64_t>(std::get<std::vector<int64_t>>(residual.values).size()))
            .cast<double>();
    const Eigen::MatrixXd rows = scale * KroneckerIn(release, *larger, set, [&](int i) {
                                   return DenseMatrixOf(release.bases[static_cast<size_t>(i)]);
                                 });
    // The part of y that no table explains is the same for all, and 0 for the unbiased ones.
    y = rows * rows.completeOrthogonalDecomposition().solve(y);
    AppendRows(rows, result.begin[static_cast<size_t>(larger - result.tables.begin())], num_cells,
               &fit.residuals);
    fit.values.conservativeResize(fit.residuals.rows());
    fit.values.tail(y.size()) = y;
  }
  return fit;
}

// By Newton's method with logarithmic barriers: within num_cells / sharpness of the optimum.
Eigen::VectorXd Solve(const DenseFit& fit) {
  const Eigen::MatrixXd directions = fit.equalities.fullPivLu().kernel();
  Eigen::VectorXd x = fit.uniform;
  for (double sharpness = 1e-3; sharpness < 1e9; sharpness *= 4) {
    const auto value = [&](const Eigen::VectorXd& at) {
      return at.minCoeff() <= 0 ? std::numeric_limits<double>::infinity()
                                : sharpness * fit.Objective(at) - at.array().log().sum();
    };
    for (int step = 0; step < 100; ++step) {
      const Eigen::VectorXd gradient =
          sharpness * (fit.residuals.transpose() * (fit.residuals * x - fit.values)) -
          x.cwiseInverse();
      Eigen::MatrixXd hessian = sharpness * (fit.residuals.transpose() * fit.residuals);
      hessian.diagonal() += x.cwiseAbs2().cwiseInverse();
      const Eigen::VectorXd move = -directions * (directions.transpose() * hessian * directions)
                                                     .ldlt()
                                                     .solve(directions.transpose() * gradient);
      const double decrement = -gradient.dot(move);
      if (!(decrement > 1e-9)) break;
      double length = 1;
      while (length > 1e-12 && value(x + length * move) > value(x) - 0.1 * length * decrement) {
        length /= 2;
      }
      x += length * move;
    }
  }
  return x;
}

// The objective to 1 % and a hundredth, and every count within the stated deviation.
TEST(ReconstructNonnegative, IsAsCloseToTheOptimumAsItSays) {
  std::mt19937_64 random(4);
  DeterministicBits bits(4);
  int num_compared = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Bases bases = trial % 4 == 0 ? Bases::kAny : Bases::kGood;
    const SmallRelease release = NoisyRelease(bases, random, &bits);
    const ResidualIndex index = release.Index();
    const NonnegativeTables result = ReconstructNonnegative(index, release.sets, Unhurried());
    if (result.objective == 0 || result.begin.back() > 120) continue;
    const DenseFit fit = MakeDenseFit(release, result);
    const Eigen::VectorXd counts = AsVector(result.counts);
    const Eigen::VectorXd optimum = Solve(fit);
    const double objective = fit.Objective(counts);
    const double least = fit.Objective(optimum);
    EXPECT_NEAR(objective, result.objective, 1e-7 * (1 + objective));
    EXPECT_GE(objective, least - 1e-6) << trial;
    EXPECT_LE(objective, least + 0.5 * result.max_deviation * result.max_deviation + 1e-6) << trial;
    if (bases == Bases::kGood) {
      EXPECT_LE(objective, 1.01 * least + 0.01) << trial;
    }
    for (size_t t = 0; t < result.tables.size(); ++t) {
      const std::vector<double> variances = CellVariances(index, result.tables[t]);
      for (size_t c = 0; c < variances.size(); ++c) {
        const int64_t at = result.begin[t] + static_cast<int64_t>(c);
        EXPECT_LE(std::abs(counts(at) - optimum(at)),
                  (result.max_deviation + 1e-3) * std::sqrt(variances[c]));
      }
    }
    ++num_compared;
  }
  EXPECT_GT(num_compared, 60);
}

TEST(ReconstructNonnegative, LeavesNonnegativeTablesAlone) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 100; ++trial) {
    SmallRelease release = RandomRelease(random);
    std::vector<double> histogram = release.histogram;
    for (double& cell : histogram) cell += 1;
    Change(histogram, 1, &release);
    release.Measure(nullptr);
    const NonnegativeTables result = ReconstructNonnegative(release.Index(), release.sets);
    EXPECT_EQ(result.iterations, 0);
    for (const AttributeSet& set : release.sets) {
      EXPECT_LT((AsVector(CountsOf(result, release.domain, set)) - release.TrueTable(set))
                    .cwiseAbs()
                    .maxCoeff(),
                1e-9 * result.total);
    }
  }
}

TEST(ReconstructNonnegative, ANegativeTotalLeavesNothing) {
  std::mt19937_64 random(6);
  SmallRelease release =
      MakeSmallRelease({3, 2, 4}, {false, true, false}, {{0, 1}, {1, 2}}, random);
  release.Measure(nullptr);
  std::get<std::vector<int64_t>>(release.residuals[{}].values)[0] = -3;
  const NonnegativeTables result = ReconstructNonnegative(release.Index(), release.sets);
  EXPECT_EQ(result.total, 0);
  EXPECT_EQ(result.counts, std::vector<double>(6 + 8, 0.0));
  EXPECT_EQ(CountsOf(result, release.domain, {1}), std::vector<double>(2, 0.0));
}

TEST(ReconstructNonnegative, TheTotalAlone) {
  std::mt19937_64 random(7);
  SmallRelease release = MakeSmallRelease({3, 2}, {false, false}, {{0, 1}}, random);
  release.Measure(nullptr);
  const double total = release.TrueTable({})(0);
  const NonnegativeTables result =
      ReconstructNonnegative(release.Index(), std::vector<AttributeSet>{{}, {}});
  EXPECT_EQ(CountsOf(result, release.domain, {}), std::vector<double>{total});
  EXPECT_EQ(ErrorOf([&] { CountsOf(result, release.domain, {0}); }).message,
            "a0 is part of none of the non-negative tables");
  EXPECT_TRUE(ReconstructNonnegative(release.Index(), {}).tables.empty());
}

TEST(ReconstructNonnegative, DoesNotDependOnThreads) {
  std::mt19937_64 random(8);
  DeterministicBits bits(8);
  for (int trial = 0; trial < 20; ++trial) {
    const SmallRelease release = NoisyRelease(Bases::kGood, random, &bits);
    NonnegativeOptions options;
    options.num_threads = 1;
    const std::vector<double> expected =
        ReconstructNonnegative(release.Index(), release.sets, options).counts;
    options.num_threads = 2;
    EXPECT_EQ(ReconstructNonnegative(release.Index(), release.sets, options).counts, expected);
  }
}

// Against the truth, on sparse data: root mean squared error of the cells of all measured sets.
// Over 40 releases the two are so far apart that neither a fixed seed nor a small change matters,
// and tables made of nothing but the total are worse than both.
TEST(ReconstructNonnegative, IsCloserToSparseData) {
  std::mt19937_64 random(9);
  DeterministicBits bits(9);
  double unbiased_error = 0, adjusted_error = 0, uniform_error = 0;
  for (int trial = 0; trial < 40; ++trial) {
    SmallRelease release = MakeSmallRelease({6, 5, 4, 6}, {false, trial % 2 == 0, false, false},
                                            {{0, 1}, {1, 2}, {0, 2, 3}}, random);
    std::vector<double> histogram(6 * 5 * 4 * 6, 0.0);
    for (int k = 0; k < 12; ++k) histogram[random() % histogram.size()] += 60;
    Change(histogram, 1, &release);
    // Noise of about 8 per cell, whatever the units of the basis.
    for (const AttributeSet& set : release.sets) {
      Rational variance = 64;
      for (const int i : set) {
        const int64_t n = release.domain[i].size;
        variance *=
            static_cast<long>(release.bases[static_cast<size_t>(i)].is_identity() ? n * n : 20);
      }
      release.noise_variances[set] = variance;
    }
    release.Measure(&bits);
    const ResidualIndex index = release.Index();
    const NonnegativeTables result = ReconstructNonnegative(index, release.sets);
    for (const AttributeSet& set : release.sets) {
      const Eigen::VectorXd truth = release.TrueTable(set);
      unbiased_error += (AsVector(Reconstruct(index, set)) - truth).squaredNorm();
      adjusted_error += (AsVector(CountsOf(result, release.domain, set)) - truth).squaredNorm();
      uniform_error += (truth.array() - truth.mean()).square().sum();
    }
  }
  EXPECT_LT(adjusted_error, 0.5 * unbiased_error);
  EXPECT_GT(uniform_error, 2 * unbiased_error);
}

TEST(ReconstructNonnegative, RefusesWhatItCannotDo) {
  std::mt19937_64 random(10);
  SmallRelease release = MakeSmallRelease({3, 2, 4}, {false, true, false}, {{0, 1}, {2}}, random);
  release.Measure(nullptr);
  const ResidualIndex index = release.Index();
  EXPECT_EQ(ErrorOf([&] {
              ReconstructNonnegative(index, std::vector<AttributeSet>{{0, 2}});
            }).kind,
            ErrorKind::kBadInput);
  NonnegativeOptions options;
  options.memory_budget_bytes = 100;
  const Thrown thrown = ErrorOf([&] { ReconstructNonnegative(index, release.sets, options); });
  EXPECT_EQ(thrown.kind, ErrorKind::kTooLarge);
  EXPECT_NE(thrown.message.find("2 tables of 10 cells"), std::string::npos) << thrown.message;
  for (const double deviation : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    options = {};
    options.max_deviation = deviation;
    EXPECT_EQ(ErrorOf([&] { ReconstructNonnegative(index, release.sets, options); }).kind,
              ErrorKind::kBadInput);
  }
  for (const int bad : {-1, std::numeric_limits<int>::min()}) {
    options = {};
    options.max_iterations = bad;
    EXPECT_EQ(ErrorOf([&] { ReconstructNonnegative(index, release.sets, options); }).kind,
              ErrorKind::kBadInput);
    options = {};
    options.num_threads = bad;
    EXPECT_EQ(ErrorOf([&] { ReconstructNonnegative(index, release.sets, options); }).kind,
              ErrorKind::kBadInput);
  }
}

}  // namespace
}  // namespace residua
