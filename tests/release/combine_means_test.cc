#include <gtest/gtest.h>

#include <memory>

#include "residua/files/verify_file.h"
#include "residua/release/answer_questions.h"
#include "residua/release/combine.h"
#include "residua/select/select_after.h"
#include "tests/fixtures/folder_test.h"
#include "tests/means/dense_fit.h"
#include "tests/means/mean_coverage.h"
#include "tests/oracle/deterministic_bits.h"

namespace residua {
namespace {

constexpr const char* kIdentity = "00112233445566778899aabbccddeeff";

SelectRequest RequestOf(const Domain& domain, int64_t order, const Rational& rho,
                        const Protection& protection) {
  SelectRequest request;
  request.domain = domain;
  request.workload.rules = {{MarginalRule::Kind::kUpTo, order}};
  request.target = BudgetFromRho(rho);
  request.protection = protection;
  return request;
}

std::shared_ptr<const Release> Released(Plan plan, const EncodedTable& table, BitSource& bits) {
  std::vector<NoisyResidual> residuals = MeasuredWith(plan, table, bits);
  PlanFile file{std::move(plan), {}};
  file.data.identity = kIdentity;
  return std::make_shared<const Release>(std::move(file), std::move(residuals));
}

// The second release, planned from nothing or after the first.
Plan SecondPlan(const SelectRequest& request, const Release& first, bool is_after) {
  return is_after ? SelectAfter(request, {MeasuredPlanOf(first)}).plan : Select(request);
}

class CombineMeansTest : public FolderTest {};

// Two releases, the second planned from nothing or after the first, for each kind of neighbours:
// what they give together is the dense least-squares solution of all that was measured.
TEST_F(CombineMeansTest, EqualsTheDenseLeastSquaresSolution) {
  std::mt19937_64 random(5);
  Protection of_person;
  of_person.identifier = "person";
  of_person.max_rows = 3;
  Protection replace;
  replace.neighbours = Protection::Neighbours::kReplaceOne;
  int num_tables = 0;
  int round = 0;
  for (const Protection& protection : {Protection(), of_person, replace}) {
    for (const bool is_after : {false, true}) {
      for (const QueryKind queries : {QueryKind::kIdentity, QueryKind::kPrefix}) {
        // For other tables, prefix sums get other bases, and then not all is combined.
        if (queries == QueryKind::kPrefix && !is_after) continue;
        const Domain domain(
            {OfCells("a", 3), Averaged("m", Whole(-60, 600), round % 2 == 0),
             OfCells("p", 4, queries),
             Averaged("w", MakeMeanEncoding(0, Rational(7, 2), Rational(1, 4)), round % 3 == 0)});
        const EncodedTable table = Encoded(domain, RandomRows(domain, 500, random));
        DeterministicBits bits(static_cast<uint64_t>(++round));
        const auto first =
            Released(Select(RequestOf(domain, 2, Rational(1, 4), protection)), table, bits);
        const SelectRequest more = RequestOf(domain, 3, Rational(1, 2), protection);
        const auto second = Released(SecondPlan(more, *first, is_after), table, bits);
        const CombinedRelease both = Combine(std::vector{first, second});
        EXPECT_EQ(both.report.num_other_bases, 0);
        EXPECT_EQ(both.report.num_lost_tables, 0);
        const DenseFit fit(
            {{first->plan(), first->residuals()}, {second->plan(), second->residuals()}});
        for (const AttributeSet& set : MeasuredSets(both.release->plan())) {
          if (MeanAttribute(domain, set) < 0) continue;
          ++num_tables;
          const std::vector<MeanColumns> columns = both.release->MeanTables(
              std::vector<AttributeSet>{set}, AnswerKind::kPlanned, kQuantile);
          // The weights of the parts are rounded, to 2^-24.
          ExpectDenseMeans(fit, set, columns[0], 1e-5);
        }
      }
    }
  }
  EXPECT_EQ(num_tables, 9 * 8);
}

// From files: means of the combination are asked and verified as those of one release.
TEST_F(CombineMeansTest, FilesGiveTheSame) {
  std::mt19937_64 random(6);
  DeterministicBits bits(6);
  const Domain domain({OfCells("a", 3), Averaged("m", Whole(0, 90), true)});
  const EncodedTable table = Encoded(domain, RandomRows(domain, 3000, random));
  const auto first = Released(Select(RequestOf(domain, 1, 1, {})), table, bits);
  first->Save("first.parquet");
  const SelectRequest more = RequestOf(domain, 2, 1, {});
  const auto second = Released(SecondPlan(more, *first, true), table, bits);
  second->Save("second.parquet");
  const CombinedFile file = CombineFiles({"first.parquet", "second.parquet"}, "both.parquet");
  EXPECT_EQ(file.report.num_lost_tables, 0);
  VerifyFile("both.parquet");
  const CombinedRelease both = Combine(std::vector{first, second});
  const MeanColumns columns = both.release->MeanTables(std::vector<AttributeSet>{{0, 1}},
                                                       AnswerKind::kPlanned, kQuantile)[0];
  for (size_t k = 0; k < 3; ++k) {
    const std::vector<std::string> question = {"mean(m) a=" + std::to_string(k)};
    const QuestionAnswer answer = AnswerQuestions("both.parquet", question, 0.95)[0];
    ASSERT_TRUE(answer.interval);
    EXPECT_NEAR(answer.estimate.value, columns.means[k], 1e-9);
    EXPECT_NEAR(answer.interval->lower, columns.mean_lower[k], 1e-6);
  }
}

// Two releases, over and over: what they give together is centred and covers as often as it says,
// and a standard deviation 10 % too small is told from the right one.
TEST_F(CombineMeansTest, RepeatedCombinationsAreCentredAndCovered) {
  constexpr int kNumReleases = 2000;
  const Domain domain({OfCells("a", 3), Averaged("m", Whole(-60, 600), true)});
  std::vector<Row> rows;
  std::mt19937_64 random(8);
  const std::vector<int> num_rows = {3000, 4, 60};
  for (size_t cell = 0; cell < 3; ++cell) {
    for (int k = 0; k < num_rows[cell]; ++k) {
      const int64_t code = k % 9 == 0 ? -1 : static_cast<int64_t>(random() % 200);
      rows.push_back({static_cast<int64_t>(cell), code});
    }
  }
  const EncodedTable table = Encoded(domain, rows);
  DeterministicBits bits(9);
  const Plan first_plan = Select(RequestOf(domain, 2, Rational(1, 8), {}));
  const auto one = Released(first_plan, table, bits);
  const Plan second_plan = SecondPlan(RequestOf(domain, 2, Rational(1, 4), {}), *one, true);
  // The weights are those of the plans: measured anew, they are combined in the same way.
  const Plan second_alone = [&] {
    Plan plan = second_plan;
    plan.after.clear();
    return plan;
  }();
  MeanCoverage coverage(domain, rows);
  for (int r = 0; r < kNumReleases; ++r) {
    const auto first = Released(first_plan, table, bits);
    const auto second = Released(second_alone, table, bits);
    const CombinedRelease both = Combine(std::vector{first, second});
    coverage.Add(both.release->MeanTables(std::vector<AttributeSet>{{0, 1}}, AnswerKind::kPlanned,
                                          kQuantile)[0]);
  }
  ExpectCentredAndCovered(coverage);
}

}  // namespace
}  // namespace residua
