#include "residua/reconstruct/query_answer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "residua/reconstruct/loaded_table.h"
#include "residua/reconstruct/table_answers.h"
#include "residua/reconstruct/table_reconstruction.h"
#include "tests/reconstruct/small_release.h"

namespace residua {
namespace {

TEST(Answer, EqualsTheDenseEstimateAndCovariance) {
  std::mt19937_64 random(21);
  DeterministicBits bits(21);
  for (int trial = 0; trial < 100; ++trial) {
    SmallRelease release = RandomRelease(random);
    release.Measure(&bits);
    const ResidualIndex index = release.Index();
    const DenseProblem problem = MakeDenseProblem(release);
    const Eigen::MatrixXd inverse =
        problem.matrix.completeOrthogonalDecomposition().pseudoInverse();
    const Eigen::VectorXd histogram = inverse * problem.values;
    // The weighted rows have noise of variance 1.
    const Eigen::MatrixXd covariance = inverse * inverse.transpose();
    for (int pair = 0; pair < 10; ++pair) {
      const auto& set_a = release.sets[random() % release.sets.size()];
      const auto& set_b = release.sets[random() % release.sets.size()];
      const ProductQuery a = RandomQuery(release.domain, set_a, random);
      const ProductQuery b = RandomQuery(release.domain, set_b, random);
      const Eigen::VectorXd dense_a = DenseQuery(release, a);
      const Eigen::VectorXd dense_b = DenseQuery(release, b);
      const double variance_a = dense_a.dot(covariance * dense_a);
      const double variance_b = dense_b.dot(covariance * dense_b);
      const Estimate estimate = Answer(index, a);
      EXPECT_NEAR(estimate.value, dense_a.dot(histogram),
                  1e-9 * (1 + dense_a.cwiseAbs().dot(histogram.cwiseAbs())));
      EXPECT_NEAR(estimate.variance, variance_a, 1e-9 * variance_a);
      EXPECT_EQ(Variance(index, a), estimate.variance);
      EXPECT_NEAR(Covariance(index, a, b), dense_a.dot(covariance * dense_b),
                  1e-9 * std::sqrt(variance_a * variance_b));
      EXPECT_NEAR(Covariance(index, b, a), Covariance(index, a, b),
                  1e-12 * std::sqrt(variance_a * variance_b));

      // A loaded table that has the attributes, and more, answers the same.
      const LoadedTable loaded(index, set_a);
      const Estimate from_table = loaded.Answer(a);
      EXPECT_NEAR(from_table.value, estimate.value,
                  1e-9 * (1 + dense_a.cwiseAbs().dot(histogram.cwiseAbs())));
      EXPECT_EQ(from_table.variance, estimate.variance);
    }
  }
}

// Queries that only tell the first two cells of an attribute from the last two: the count of either
// pair has an answer, and a single cell has none, whatever is asked with it.
TEST(Answer, IsRefusedWhereTheMeasurementsDoNotDetermineIt) {
  Attribute halves;
  halves.name = "age";
  halves.size = 4;
  halves.queries = QueryKind::kCustom;
  halves.custom = {2, {1, 1, 0, 0, 0, 0, 1, 1}};
  Attribute sex;
  sex.name = "sex";
  sex.size = 2;
  const Domain domain({halves, sex});
  const std::vector<ResidualBasis> bases = {BasisFromMatrix(halves, {1, 4, {1, 1, -1, -1}}),
                                            IdentityBasis(2)};
  ASSERT_FALSE(bases[0].tells_cells_apart());
  const std::vector<NoisyResidual> residuals = {{{}, std::vector<int64_t>{100}, 4},
                                                {{0}, std::vector<int64_t>{20}, 4},
                                                {{1}, std::vector<int64_t>{10, -10}, 4},
                                                {{0, 1}, std::vector<int64_t>{6, -6}, 4}};
  std::vector<ResidualView> views;
  for (const NoisyResidual& residual : residuals) views.push_back(ViewOf(residual));
  const ResidualIndex index(domain, bases, views);
  const LoadedTable loaded(index, {0, 1});

  const auto ranges_of = [](int64_t first, int64_t last) {
    return std::vector<CellRange>{{first, last}, {0, 0}};
  };
  const auto query_of = [&](int64_t first, int64_t last) {
    return ProductQuery(
        domain, {{0, std::vector<CellRange>{{first, last}}}, {1, std::vector<CellRange>{{0, 0}}}});
  };
  const ProductQuery half = query_of(0, 1);
  EXPECT_NEAR(Answer(index, ProductQuery(domain, {{0, std::vector<CellRange>{{0, 1}}}})).value, 60,
              1e-9);
  EXPECT_NEAR(loaded.Answer(half).value, Answer(index, half).value, 1e-9);
  EXPECT_NEAR(loaded.AnswerRange(ranges_of(0, 1)).value, Answer(index, half).value, 1e-9);
  const ProductQuery weighed(domain, {{0, std::vector<double>{2, 2, -1, -1}}});
  EXPECT_NEAR(Answer(index, weighed).value, 2 * 60 - 40, 1e-9);

  const std::vector<std::function<void()>> undetermined = {
      [&] { Answer(index, query_of(0, 0)); },
      [&] { Answer(index, query_of(1, 2)); },
      [&] {
        Answer(index, ProductQuery(domain, {{0, std::vector<double>{2, 1, 0, 0}}}));
      },
      [&] { Variance(index, query_of(0, 0)); },
      [&] { Covariance(index, query_of(0, 0), half); },
      [&] { Covariance(index, half, query_of(0, 2)); },
      [&] { loaded.Answer(query_of(3, 3)); },
      [&] { loaded.AnswerRange(ranges_of(0, 0)); },
      [&] { CellVariances(index, {0}); }};
  for (size_t k = 0; k < undetermined.size(); ++k) {
    const Thrown thrown = ErrorOf(undetermined[k]);
    EXPECT_EQ(thrown.kind, ErrorKind::kBadInput) << k;
    EXPECT_NE(thrown.message.find("'age' do not determine"), std::string::npos) << k;
  }
}

TEST(CellVariances, AreTheVariancesOfTheCells) {
  std::mt19937_64 random(22);
  for (int trial = 0; trial < 50; ++trial) {
    SmallRelease release = RandomRelease(random);
    release.Measure(nullptr);
    const ResidualIndex index = release.Index();
    for (const AttributeSet& set : release.sets) {
      const std::vector<double> variances = CellVariances(index, set);
      std::vector<int64_t> cell(set.size(), 0);
      for (const double variance : variances) {
        const double expected = Variance(index, ProductQuery::Cell(release.domain, set, cell));
        EXPECT_NEAR(variance, expected, 1e-12 * expected);
        for (size_t k = set.size(); k-- > 0;) {
          if (++cell[k] < release.domain[set[k]].size) break;
          cell[k] = 0;
        }
      }
    }
  }
}

TEST(LoadedTable, RangesAndListsAreSumsOfItsCounts) {
  std::mt19937_64 random(23);
  DeterministicBits bits(23);
  for (const bool is_oblique : {false, true}) {
    SmallRelease release =
        MakeSmallRelease({9, 2, 21}, {false, is_oblique, false}, {{0, 1, 2}}, random);
    release.Measure(&bits);
    const ResidualIndex index = release.Index();
    const LoadedTable loaded(index, {0, 1, 2});
    for (int trial = 0; trial < 300; ++trial) {
      std::vector<CellRange> ranges;
      std::vector<AttributeWeights> factors;
      for (int i = 0; i < 3; ++i) {
        const auto n = static_cast<uint64_t>(release.domain[i].size);
        const auto a = static_cast<int64_t>(random() % n);
        const auto b = static_cast<int64_t>(random() % n);
        ranges.push_back({std::min(a, b), std::max(a, b)});
        factors.push_back({i, std::vector<CellRange>{ranges.back()}});
      }
      double sum = 0;
      for (int64_t cell = 0; cell < 9 * 2 * 21; ++cell) {
        const int64_t place[3] = {cell / 42, cell / 21 % 2, cell % 21};
        bool is_in = true;
        for (size_t k = 0; k < 3; ++k) {
          is_in = is_in && place[k] >= ranges[k].first && place[k] <= ranges[k].last;
        }
        if (is_in) sum += loaded.counts()[static_cast<size_t>(cell)];
      }
      const Estimate estimate = loaded.AnswerRange(ranges);
      EXPECT_NEAR(estimate.value, sum, 1e-9);
      const double variance = Variance(index, ProductQuery(release.domain, factors));
      EXPECT_NEAR(estimate.variance, variance, 1e-12 * variance);

      const ProductQuery query = RandomQuery(release.domain, {0, 1, 2}, random);
      EXPECT_NEAR(loaded.Answer(query).value, Answer(index, query).value, 1e-8);
    }
    EXPECT_EQ(ErrorOf([&] {
                loaded.AnswerRange(std::vector<CellRange>{{0, 1}});
              }).kind,
              ErrorKind::kBadInput);
    for (const CellRange bad : {CellRange{-1, 0}, {2, 1}, {0, 9}}) {
      const std::vector<CellRange> ranges = {bad, {0, 1}, {0, 20}};
      EXPECT_EQ(ErrorOf([&] { loaded.AnswerRange(ranges); }).message,
                fmt::format("attribute 'a0' has no cells {} to {}; its cells are 0 to 8", bad.first,
                            bad.last));
    }
  }
}

TEST(LoadedTable, AnswersOnlyItsOwnAttributes) {
  std::mt19937_64 random(24);
  SmallRelease release = MakeSmallRelease({3, 2}, {false, false}, {{0, 1}}, random);
  release.Measure(nullptr);
  const ResidualIndex index = release.Index();
  const LoadedTable loaded(index, {0});
  const std::vector<int64_t> cell = {1, 1};
  EXPECT_EQ(ErrorOf([&] {
              loaded.Answer(ProductQuery::Cell(release.domain, {0, 1}, cell));
            }).message,
            "the query asks for a0 x a1, the loaded table is a0");
  const LoadedTable total(index, {});
  EXPECT_EQ(total.Answer(ProductQuery(release.domain, {})).value, release.TrueTable({})[0]);
  EXPECT_EQ(total.AnswerRange({}).value, release.TrueTable({})[0]);
}

TEST(ProductQuery, BringsRangesIntoOrderAndLeavesOutWhatAsksNothing) {
  const Domain domain = DomainOfSizes({10, 4, 5});
  const ProductQuery query(domain, {{2, std::vector<CellRange>{{4, 4}, {0, 1}, {1, 2}}},
                                    {0, std::vector<CellRange>{{5, 9}, {0, 4}}},
                                    {1, std::vector<double>{1, 1, 1, 1}}});
  EXPECT_EQ(query.attributes(), AttributeSet{2});
  EXPECT_EQ(std::get<std::vector<CellRange>>(query.factors()[0].weights),
            (std::vector<CellRange>{{0, 2}, {4, 4}}));
}

TEST(ProductQuery, RefusesBadInput) {
  const Domain domain = DomainOfSizes({3, 2});
  const auto message = [&](std::vector<AttributeWeights> factors) {
    return ErrorOf([&] { ProductQuery(domain, std::move(factors)); }).message;
  };
  using Ranges = std::vector<CellRange>;
  EXPECT_EQ(message({{2, Ranges{{0, 0}}}}), "there is no attribute 2; they are 0 to 1");
  EXPECT_EQ(message({{-1, Ranges{{0, 0}}}}), "there is no attribute -1; they are 0 to 1");
  EXPECT_EQ(message({{0, Ranges{}}}), "the query names no cell of attribute 'a0'");
  EXPECT_EQ(message({{0, Ranges{{1, 3}}}}),
            "attribute 'a0' has no cells 1 to 3; its cells are 0 to 2");
  EXPECT_EQ(message({{0, Ranges{{0, 0}}}, {0, Ranges{{1, 1}}}}),
            "the query names attribute 'a0' twice; join its values with |");
  EXPECT_EQ(message({{1, std::vector<double>{1, 2, 3}}}),
            "3 weights for the 2 cells of attribute 'a1'");
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(message({{1, std::vector<double>{1, bad}}}),
              fmt::format("a weight of attribute 'a1' is {}; weights are finite numbers", bad));
  }
}

TEST(Answer, RefusesASetThatWasNotMeasured) {
  std::mt19937_64 random(25);
  SmallRelease release = MakeSmallRelease({2, 3, 2}, {false, true, false}, {{0, 1}, {2}}, random);
  release.Measure(nullptr);
  const ResidualIndex index = release.Index();
  const std::vector<int64_t> cell = {0, 0};
  const ProductQuery query = ProductQuery::Cell(release.domain, {1, 2}, cell);
  const ProductQuery covered = ProductQuery::Cell(release.domain, {0, 1}, cell);
  const std::string expected = "the table a1 x a2 was not measured; the closest that are: a1, a2";
  EXPECT_EQ(ErrorOf([&] { Answer(index, query); }).message, expected);
  EXPECT_EQ(ErrorOf([&] { Covariance(index, covered, query); }).message, expected);
  EXPECT_EQ(ErrorOf([&] { Covariance(index, query, covered); }).message, expected);
  EXPECT_EQ(ErrorOf([&] { CellVariances(index, {1, 2}); }).message, expected);
}

}  // namespace
}  // namespace residua
