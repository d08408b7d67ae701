#include <gtest/gtest.h>

#include <cmath>

#include "residua/base/error.h"
#include "residua/measure/counting.h"
#include "residua/measure/measure.h"
#include "residua/measure/residual_transform.h"
#include "residua/measure/true_counts.h"
#include "residua/select/select.h"
#include "tests/means/number_rows.h"

namespace residua {
namespace {

Domain SmallDomain(bool null_cell) {
  return Domain({OfCells("a", 3), Averaged("m", Whole(-2, 5), null_cell),
                 OfCells("p", 4, QueryKind::kPrefix), Averaged("w", Whole(0, 3), false)});
}

Plan PlanOf(const Domain& domain, const Protection& protection, int64_t order = 3) {
  SelectRequest request;
  request.domain = domain;
  request.workload.rules = {{MarginalRule::Kind::kUpTo, order}};
  request.target = BudgetFromRho(Rational(1, 2));
  request.protection = protection;
  return Select(request);
}

// Every row that the domain has: all numbers, not only the ends.
std::vector<Row> EveryRow(const Domain& domain) {
  std::vector<Row> rows = {{}};
  for (const Attribute& attribute : domain.attributes()) {
    std::vector<Row> longer;
    for (const Row& row : rows) {
      const MeanEncoding* mean = MeanOf(attribute);
      const int64_t last = mean != nullptr ? mean->num_steps() : attribute.size - 1;
      const bool has_null = mean != nullptr && attribute.encoding.null_cell;
      for (int64_t code = has_null ? -1 : 0; code <= last; ++code) {
        longer.push_back(row);
        longer.back().push_back(code);
      }
    }
    rows = longer;
  }
  return rows;
}

// The integers that the row adds to those of each set, as measuring makes them, in standard deviations
// of the noise that is drawn for them.
class RowMoves {
 public:
  explicit RowMoves(const Plan& plan)
      : plan_(plan), transform_(plan.domain, MatrixOfAttributes(plan)), sets_(MeasuredSets(plan)) {}

  Eigen::VectorXd Of(const Row& row) const {
    std::vector<double> moves;
    CountMarginals(Encoded(plan_.domain, {row}), plan_.domain, sets_, {.num_threads = 1},
                   [&](TrueMarginal&& marginal) {
                     const AttributeSet set = marginal.attributes();
                     const int bits = ScaleBits(plan_, set);
                     const Integer scale = ToInteger(RowSteps(plan_.domain, set))
                                           << static_cast<unsigned>(bits);
                     const Rational drawn = IntegerNoiseVariance(plan_, set) * (scale * scale);
                     const TrueResidual residual = transform_.Apply(std::move(marginal), bits);
                     std::visit(
                         [&](const auto& values) {
                           for (const auto value : values) {
                             moves.push_back(static_cast<double>(value) / std::sqrt(drawn.get_d()));
                           }
                         },
                         TrueCounts::Values(residual));
                   });
    return Eigen::Map<Eigen::VectorXd>(moves.data(), static_cast<Eigen::Index>(moves.size()));
  }

 private:
  const Plan& plan_;
  ResidualTransform transform_;
  std::vector<AttributeSet> sets_;
};

bool IsAtEnds(const Domain& domain, const Row& row) {
  for (int i = 0; i < domain.size(); ++i) {
    const MeanEncoding* mean = MeanOf(domain[i]);
    const int64_t code = row[static_cast<size_t>(i)];
    if (mean != nullptr && code > 0 && code < mean->num_steps()) return false;
  }
  return true;
}

// The privacy cost is what the most expensive row moves the measured integers by, over all rows of
// the domain. Every row with a number between the ends costs less.
TEST(MeanPrivacyTest, NoRowCostsMoreThanThePlanStates) {
  for (const bool null_cell : {false, true}) {
    const Plan plan = PlanOf(SmallDomain(null_cell), {});
    const RowMoves moves(plan);
    double most = 0;
    double most_between = 0;
    for (const Row& row : EveryRow(plan.domain)) {
      const double cost = moves.Of(row).squaredNorm();
      EXPECT_LE(cost, plan.pcost.get_d() * (1 + 1e-12));
      double& largest = IsAtEnds(plan.domain, row) ? most : most_between;
      largest = std::max(largest, cost);
    }
    EXPECT_NEAR(most, plan.pcost.get_d(), 1e-9);
    EXPECT_LT(most_between, most);
    EXPECT_GT(most_between, most / 2) << "they were measured";
  }
}

TEST(MeanPrivacyTest, NoPairOfRowsCostsMoreThanThePlanStates) {
  Protection replace;
  replace.neighbours = Protection::Neighbours::kReplaceOne;
  const Attribute mean = Averaged("m", Whole(-1, 3), true);
  // Exact for identity attributes, and a bound beside prefix sums.
  for (const QueryKind queries : {QueryKind::kIdentity, QueryKind::kPrefix}) {
    const Domain domain({OfCells("a", 2), mean, OfCells("p", 3, queries)});
    const Plan plan = PlanOf(domain, replace);
    const RowMoves moves(plan);
    const std::vector<Row> rows = EveryRow(domain);
    double most = 0;
    double most_at_ends = 0;
    for (const Row& from : rows) {
      const Eigen::VectorXd moved = moves.Of(from);
      for (const Row& to : rows) {
        const double cost = (moved - moves.Of(to)).squaredNorm();
        most = std::max(most, cost);
        if (IsAtEnds(domain, from) && IsAtEnds(domain, to)) {
          most_at_ends = std::max(most_at_ends, cost);
        }
      }
    }
    EXPECT_DOUBLE_EQ(most, most_at_ends);
    EXPECT_LE(most, plan.pcost.get_d());
    if (queries == QueryKind::kIdentity) {
      EXPECT_NEAR(most, plan.pcost.get_d(), 1e-9);
    }
  }
}

// Rules ask for no table with two means, and a list that does is refused.
TEST(MeanPrivacyTest, ATableHasOneMean) {
  const Domain domain = SmallDomain(true);
  const Plan plan = PlanOf(domain, {}, 4);
  for (const AttributeSet& set : MeasuredSets(plan)) {
    EXPECT_FALSE(std::ranges::count(set, 1) > 0 && std::ranges::count(set, 3) > 0);
  }
  // The total, then 4, 5 of 6 and 2 of 4.
  EXPECT_EQ(MeasuredSets(plan).size(), 12u);
  const auto message_of = [&](const Workload& workload) -> std::string {
    try {
      CheckWorkload(domain, workload);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message_of({{}, {{{1, 3}, 1}}}),
            "the table m x w has two attributes whose mean is asked, 'm' and 'w'; a table can have "
            "one");
  EXPECT_EQ(
      message_of({{{MarginalRule::Kind::kExactly, 4}}, {}}),
      "there are no 4-way marginals with at most one attribute whose mean is asked; ask for 0 "
      "to 3");
  EXPECT_EQ(message_of({{{MarginalRule::Kind::kExactly, 3}}, {}}), "");
}

// A plan that was changed to measure such a table would cost something else.
TEST(MeanPrivacyTest, VerifyingRefusesABaseMechanismOfTwoMeans) {
  Plan plan = PlanOf(SmallDomain(false), {}, 2);
  VerifyPlan(plan);
  std::vector<int> orbit = {plan.classes.class_of[1], plan.classes.class_of[3]};
  std::sort(orbit.begin(), orbit.end());
  plan.mechanisms.Insert(orbit);
  plan.variances.emplace_back(1000);
  plan.scale_bits.push_back(10);
  try {
    VerifyPlan(plan);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRefused);
    EXPECT_NE(std::string(error.what()).find("two attributes whose mean is asked"),
              std::string::npos);
  }
}

// Numbers of different ranges are planned alike, and are no identity attributes of two cells.
TEST(MeanPrivacyTest, MeansAreAClassOfTheirOwn) {
  const Domain domain({OfCells("a", 2), Averaged("m", Whole(0, 9), false),
                       Averaged("w", Whole(-500, 2), false), OfCells("b", 2)});
  const Plan plan = PlanOf(domain, {}, 2);
  EXPECT_EQ(plan.classes.members, (std::vector<std::vector<int>>{{0, 3}, {1, 2}}));
  EXPECT_EQ(MeasuredSets(plan).size(), 1u + 4 + 5);
}

}  // namespace
}  // namespace residua
