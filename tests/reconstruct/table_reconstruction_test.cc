#include "residua/reconstruct/table_reconstruction.h"

#include <gtest/gtest.h>

#include <limits>

#include "residua/reconstruct/table_batches.h"
#include "tests/reconstruct/small_release.h"

namespace residua {
namespace {

Eigen::VectorXd ReconstructedTable(const ResidualIndex& index, const AttributeSet& set) {
  const std::vector<double> counts = Reconstruct(index, set);
  return Eigen::Map<const Eigen::VectorXd>(counts.data(), static_cast<int64_t>(counts.size()));
}

TEST(Reconstruct, EqualsTheDensePseudoInverse) {
  std::mt19937_64 random(1);
  DeterministicBits bits(1);
  for (int trial = 0; trial < 150; ++trial) {
    SmallRelease release = RandomRelease(random);
    release.Measure(&bits);
    const ResidualIndex index = release.Index();
    const DenseProblem problem = MakeDenseProblem(release);
    const Eigen::VectorXd histogram =
        problem.matrix.completeOrthogonalDecomposition().solve(problem.values);
    for (const AttributeSet& set : release.sets) {
      const Eigen::VectorXd expected = release.TableMatrix(set) * histogram;
      const Eigen::VectorXd actual = ReconstructedTable(index, set);
      ASSERT_EQ(actual.size(), expected.size());
      EXPECT_LT((actual - expected).cwiseAbs().maxCoeff(),
                1e-9 * (1 + expected.cwiseAbs().maxCoeff()))
          << trial << " " << SetName(release.domain, set);
    }
  }
}

TEST(Reconstruct, TablesAgreeOnTheirCommonMargins) {
  std::mt19937_64 random(2);
  DeterministicBits bits(2);
  for (int trial = 0; trial < 100; ++trial) {
    SmallRelease release = RandomRelease(random);
    release.Measure(&bits);
    const ResidualIndex index = release.Index();
    for (const AttributeSet& set : release.sets) {
      const Eigen::VectorXd table = ReconstructedTable(index, set);
      const Eigen::MatrixXd to_cells = release.TableMatrix(set).transpose();
      for (const AttributeSet& smaller : release.sets) {
        if (!std::includes(set.begin(), set.end(), smaller.begin(), smaller.end())) continue;
        // Each cell of the table is the sum of many cells of the domain.
        const double repeats =
            static_cast<double>(to_cells.rows()) / static_cast<double>(to_cells.cols());
        const Eigen::VectorXd margin = release.TableMatrix(smaller) * (to_cells * table) / repeats;
        EXPECT_LT((margin - ReconstructedTable(index, smaller)).cwiseAbs().maxCoeff(),
                  1e-11 * (1 + table.cwiseAbs().sum()));
      }
    }
  }
}

TEST(Reconstruct, WithoutNoiseGivesTheTrueTable) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 150; ++trial) {
    SmallRelease release = RandomRelease(random);
    release.Measure(nullptr);
    const ResidualIndex index = release.Index();
    for (const AttributeSet& set : release.sets) {
      const Eigen::VectorXd expected = release.TrueTable(set);
      const Eigen::VectorXd actual = ReconstructedTable(index, set);
      const bool is_identity = std::all_of(set.begin(), set.end(), [&](int i) {
        return release.bases[static_cast<size_t>(i)].is_identity();
      });
      if (is_identity) {
        EXPECT_EQ(actual, expected);
      } else {
        EXPECT_LT((actual - expected).cwiseAbs().maxCoeff(), 1e-9);
      }
    }
  }
}

// Values of many sizes on a table with identity attributes only: every way a table is laid out.
struct IdentityTable {
  explicit IdentityTable(const std::vector<int64_t>& sizes) : domain(DomainOfSizes(sizes)) {
    std::mt19937_64 random(4);
    for (const int64_t size : sizes) bases.push_back(IdentityBasis(size));
    for (const AttributeSet& set : SetsUpTo(domain.size(), sizes.size())) {
      std::vector<int64_t> values(static_cast<size_t>(NumCellsInMemory(domain, set)));
      for (int64_t& value : values) value = static_cast<int64_t>(random()) >> 34;
      residuals.push_back({set, values, 1000});
    }
  }
  ResidualIndex Index() const {
    std::vector<ResidualView> views;
    for (const NoisyResidual& residual : residuals) views.push_back(ViewOf(residual));
    return ResidualIndex(domain, bases, views);
  }
  Domain domain;
  std::vector<ResidualBasis> bases;
  std::vector<NoisyResidual> residuals;
};

// The defining sum over subsets, axis by axis, each with its own projections.
std::vector<double> ByDefinition(const IdentityTable& identity, const AttributeSet& table) {
  const int64_t num_cells = NumCellsInMemory(identity.domain, table);
  std::vector<double> counts(static_cast<size_t>(num_cells), 0.0);
  for (const NoisyResidual& residual : identity.residuals) {
    const AttributeSet& set = residual.attributes;
    if (!std::includes(table.begin(), table.end(), set.begin(), set.end())) continue;
    const auto& integers = std::get<std::vector<int64_t>>(residual.values);
    std::vector<double> values(integers.begin(), integers.end());
    int64_t inner = 1;
    for (size_t k = set.size(); k-- > 0;) {
      const int64_t n = identity.domain[set[k]].size;
      for (int64_t first = 0; first < static_cast<int64_t>(values.size()); ++first) {
        if (first / inner % n != 0) continue;
        double mean = 0;
        for (int64_t c = 0; c < n; ++c) mean += values[static_cast<size_t>(first + c * inner)];
        mean /= static_cast<double>(n);
        for (int64_t c = 0; c < n; ++c) values[static_cast<size_t>(first + c * inner)] -= mean;
      }
      inner *= n;
    }
    for (int64_t cell = 0; cell < num_cells; ++cell) {
      int64_t rest = cell;
      int64_t at = 0;
      int64_t stride = 1;
      for (size_t k = table.size(); k-- > 0;) {
        const int64_t n = identity.domain[table[k]].size;
        if (std::find(set.begin(), set.end(), table[k]) != set.end()) {
          at += rest % n * stride;
          stride *= n;
        }
        rest /= n;
      }
      counts[static_cast<size_t>(cell)] +=
          values[static_cast<size_t>(at)] / static_cast<double>(num_cells);
    }
  }
  return counts;
}

TEST(Reconstruct, AgreesWithTheDefinitionForEveryLayout) {
  const std::vector<std::vector<int64_t>> shapes = {{7},
                                                    {1000},
                                                    {3, 5},
                                                    {90, 70},
                                                    {2, 300},
                                                    {300, 2},
                                                    {10, 10, 10},
                                                    {13, 3, 17},
                                                    {5, 6, 200},
                                                    {200, 3, 2},
                                                    {70, 30, 30},
                                                    {3, 4, 5, 6},
                                                    {5, 4, 9, 8},
                                                    {2, 3, 2, 3, 2},
                                                    {20, 15, 12, 2},
                                                    {128, 130, 131},
                                                    {2, 1100, 1000},
                                                    {40, 50, 33, 35},
                                                    {1500, 1500}};
  for (const auto& sizes : shapes) {
    const IdentityTable identity(sizes);
    const ResidualIndex index = identity.Index();
    AttributeSet table;
    for (int i = 0; i < identity.domain.size(); ++i) table.push_back(i);
    const std::vector<double> expected = ByDefinition(identity, table);
    const std::vector<double> actual = Reconstruct(index, table);
    ASSERT_EQ(actual.size(), expected.size());
    double largest = 0;
    double error = 0;
    for (size_t k = 0; k < expected.size(); ++k) {
      largest = std::max(largest, std::abs(expected[k]));
      error = std::max(error, std::abs(actual[k] - expected[k]));
    }
    EXPECT_LT(error, 1e-11 * largest) << sizes.size() << " axes, the first of " << sizes[0];

    ReconstructionWorkspace workspace;
    std::vector<double> one_thread(expected.size());
    ReconstructInto(index, table, workspace, one_thread);
    EXPECT_EQ(one_thread, actual);
  }
}

TEST(Reconstruct, WideValuesGiveTheSameTable) {
  std::mt19937_64 random(5);
  DeterministicBits bits(5);
  for (int trial = 0; trial < 30; ++trial) {
    SmallRelease release = RandomRelease(random);
    release.Measure(&bits);
    SmallRelease wide = release;
    for (auto& [set, residual] : wide.residuals) {
      const auto& values = std::get<std::vector<int64_t>>(residual.values);
      residual.values = std::vector<Int128>(values.begin(), values.end());
    }
    for (const AttributeSet& set : release.sets) {
      const Eigen::VectorXd expected = ReconstructedTable(release.Index(), set);
      const Eigen::VectorXd actual = ReconstructedTable(wide.Index(), set);
      EXPECT_LT((actual - expected).cwiseAbs().maxCoeff(), 1e-12 * expected.cwiseAbs().sum());
    }
  }
}

TEST(Reconstruct, ReadsTheWholeRangeOfIntegers) {
  const Domain domain = DomainOfSizes({2});
  const int64_t low = std::numeric_limits<int64_t>::min();
  const int64_t high = std::numeric_limits<int64_t>::max();
  const NoisyResidual total{{}, std::vector<int64_t>{high}, 1};
  const NoisyResidual residual{{0}, std::vector<int64_t>{low, high}, 4};
  const std::vector<ResidualView> views = {ViewOf(total), ViewOf(residual)};
  const ResidualIndex index(domain, {IdentityBasis(2)}, views);
  EXPECT_EQ(Reconstruct(index, {}), std::vector<double>{0x1p63});
  EXPECT_EQ(Reconstruct(index, {0}), (std::vector<double>{0, 0x1p63}));
}

TEST(ReconstructTables, VisitsEveryTableInOrderWithTheSameCounts) {
  std::mt19937_64 random(6);
  DeterministicBits bits(6);
  SmallRelease release = MakeSmallRelease({3, 4, 2, 5, 3}, {false, false, true, false, false},
                                          {{0, 1, 2}, {0, 1, 3, 4}, {2, 3}}, random);
  release.Measure(&bits);
  const ResidualIndex index = release.Index();
  std::vector<AttributeSet> tables = release.sets;
  tables.push_back({0, 1});  // twice
  for (const int64_t batch_bytes : {int64_t{0}, int64_t{1000}, int64_t{1} << 26}) {
    for (const int num_threads : {1, 2, 3}) {
      size_t next = 0;
      ReconstructTables(index, tables, {batch_bytes, num_threads},
                        [&](size_t t, std::span<const double> counts) {
                          EXPECT_EQ(t, next++);
                          EXPECT_EQ(std::vector<double>(counts.begin(), counts.end()),
                                    Reconstruct(index, tables[t]));
                        });
      EXPECT_EQ(next, tables.size());
    }
  }
}

TEST(ReconstructTables, MixesLargeAndSmallTables) {
  const IdentityTable identity({130, 129, 128, 3});
  const ResidualIndex index = identity.Index();
  const std::vector<AttributeSet> tables = {{0, 3}, {0, 1, 2}, {1, 2}, {}, {2, 3}, {0, 1, 3}};
  size_t next = 0;
  ReconstructTables(index, tables, {}, [&](size_t t, std::span<const double> counts) {
    EXPECT_EQ(t, next++);
    EXPECT_TRUE(std::ranges::equal(counts, Reconstruct(index, tables[t])));
  });
  EXPECT_EQ(next, tables.size());
}

TEST(Reconstruct, RefusesWhatWasNotMeasuredAndNamesTheClosest) {
  std::mt19937_64 random(7);
  SmallRelease release =
      MakeSmallRelease({2, 3, 2, 2}, {false, true, false, false}, {{0, 1}, {1, 2}, {3}}, random);
  release.Measure(nullptr);
  const ResidualIndex index = release.Index();
  const Thrown thrown = ErrorOf([&] { Reconstruct(index, {0, 1, 2}); });
  EXPECT_EQ(thrown.kind, ErrorKind::kBadInput);
  EXPECT_EQ(thrown.message,
            "the table a0 x a1 x a2 was not measured; the closest that are: a0 x a1, a1 x a2");
  const std::vector<AttributeSet> tables = {{0}, {0, 3}};
  EXPECT_EQ(ErrorOf([&] { ReconstructTables(index, tables, {}, [](size_t, auto) {}); }).message,
            "the table a0 x a3 was not measured; the closest that are: a0, a3");
  EXPECT_EQ(ErrorOf([&] { Reconstruct(index, {4}); }).message,
            "there is no attribute 4; they are 0 to 3");
  EXPECT_EQ(ErrorOf([&] { Reconstruct(index, {-1}); }).message,
            "there is no attribute -1; they are 0 to 3");
  EXPECT_EQ(ErrorOf([&] {
              Reconstruct(index, {1, 0});
            }).message,
            "attribute 'a0' is out of order or named twice in a set");
  const std::vector<AttributeSet> bad = {{1, 1}};
  EXPECT_EQ(ErrorOf([&] { ReconstructTables(index, bad, {}, [](size_t, auto) {}); }).message,
            "attribute 'a1' is out of order or named twice in a set");
  EXPECT_EQ(ErrorOf([&] {
              ReconstructTables(index, tables, {-1, 0}, [](size_t, auto) {});
            }).kind,
            ErrorKind::kBadInput);
  std::vector<double> wrong_size(5);
  ReconstructionWorkspace workspace;
  EXPECT_EQ(ErrorOf([&] {
              ReconstructInto(index, {0, 1}, workspace, wrong_size);
            }).message,
            "the table a0 x a1 has 6 cells; there is room for 5");
}

TEST(ResidualIndex, RefusesWhatDoesNotFit) {
  const Domain domain = DomainOfSizes({2, 3});
  const std::vector<ResidualBasis> bases = {IdentityBasis(2), IdentityBasis(3)};
  const std::vector<int64_t> values(6, 1);
  const auto message = [&](const std::vector<ResidualView>& views) {
    return ErrorOf([&] { ResidualIndex(domain, bases, views); }).message;
  };
  const std::span<const int64_t> span(values);
  EXPECT_EQ(message({{{0, 1}, span, 1}}), "");
  EXPECT_EQ(message({{{0}, span, 1}}), "the residual of a0 has 6 values; its bases ask for 2");
  EXPECT_EQ(message({{{0, 1}, span, 1}, {{0, 1}, span, 1}}), "there are two residuals of a0 x a1");
  EXPECT_EQ(message({{{0, 1}, span, Rational(1, 200)}}),
            "variance: 0.005 is below 0.01, the smallest discrete Gaussian");
  EXPECT_EQ(message({{{0, 1}, span, 0}}),
            "variance: 0 is below 0.01, the smallest discrete Gaussian");
  EXPECT_EQ(message({{{0, 1}, span, -1}}),
            "variance: -1 is below 0.01, the smallest discrete Gaussian");
  EXPECT_EQ(message({{{0, 2}, span, 1}}), "there is no attribute 2; they are 0 to 1");
  EXPECT_EQ(ErrorOf([&] { ResidualIndex(domain, {IdentityBasis(2)}, {}); }).message,
            "1 bases for 2 attributes; give one for each");
  EXPECT_EQ(ErrorOf([&] {
              ResidualIndex(domain, {IdentityBasis(2), IdentityBasis(2)}, {});
            }).message,
            "attribute 'a1' has 3 cells and a basis of 2");
  std::mt19937_64 random(8);
  ResidualBasis broken = RandomBasis(3, random);
  BasisInverse inverse = *broken.inverse;
  inverse.constant[1] = std::numeric_limits<double>::quiet_NaN();
  broken.inverse = std::make_shared<BasisInverse>(inverse);
  EXPECT_EQ(ErrorOf([&] {
              ResidualIndex(domain, {IdentityBasis(2), broken}, {});
            }).message,
            "the inverse basis of attribute 'a1' must be 3 finite numbers and a 3 x 2 matrix");
}

}  // namespace
}  // namespace residua
