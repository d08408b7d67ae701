#include "residua/release/combine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "residua/base/error.h"
#include "residua/files/file.h"
#include "residua/files/measurement_file.h"
#include "residua/files/verify_file.h"
#include "residua/measure/measure_with_bits.h"
#include "residua/release/measure_to_file.h"
#include "residua/select/select_after.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"
#include "tests/data/arrow_rows.h"
#include "tests/fixtures/folder_test.h"
#include "tests/fixtures/resealed.h"
#include "tests/measure/random_table.h"
#include "tests/oracle/deterministic_bits.h"

namespace residua {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIdentity = "00112233445566778899aabbccddeeff";
constexpr const char* kOtherIdentity = "ffeeddccbbaa99887766554433221100";

SelectRequest RequestOf(const std::string& domain, const std::string& marginals,
                        const char* pcost) {
  return {ParseDomain(domain),
          {ParseMarginalRules(marginals), {}},
          {},
          BudgetFromPcost(ParseRational(pcost, "pcost"))};
}

PlanFile Planned(const SelectRequest& request, const std::string& identity = kIdentity) {
  PlanFile plan{Select(request), {}};
  plan.data.identity = identity;
  return plan;
}

std::vector<NoisyResidual> MeasureTable(const Plan& plan, const EncodedTable& table,
                                        BitSource& bits) {
  const VerifiedPlan verified(plan);
  MeasureOptions options;
  options.counting.num_threads = 1;
  const MeasurablePlan measurable(verified, table.num_rows(), options.counting);
  std::vector<NoisyResidual> residuals;
  MeasureWithBits(
      measurable, table, options, [&]() -> BitSource& { return bits; },
      [&](NoisyResidual&& residual) { residuals.push_back(std::move(residual)); });
  return residuals;
}

std::shared_ptr<const Release> Released(const PlanFile& plan, const EncodedTable& table,
                                        BitSource& bits) {
  return std::make_shared<const Release>(plan, MeasureTable(plan.plan, table, bits));
}

MeasuredPlan AsMeasured(const Release& release) {
  return {MeasurementDigest(release), std::make_shared<const Plan>(release.plan())};
}

class CombineTest : public FolderTest {
 protected:
  static std::string Refusal(const std::function<void()>& work) {
    try {
      work();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  static bool Says(const std::string& message, const std::string& words) {
    return message.find(words) != std::string::npos;
  }

  std::mt19937_64 random_{7};
  DeterministicBits bits_{7};
};

// The combined value of every set is the mean of the parts' by their precisions, in exact rationals
// up to one step of a lattice that is far below the noise.
TEST_F(CombineTest, ValuesAreMeansByPrecision) {
  const PlanFile first = Planned(RequestOf("4,3,2", "<=2", "1"));
  const PlanFile second = Planned(RequestOf("4,3,2", "<=1", "3"));
  const EncodedTable table = RandomTable(first.plan.domain, 200, random_);
  const auto a = Released(first, table, bits_);
  const auto b = Released(second, table, bits_);
  const CombinedRelease both = Combine(std::vector{a, b});
  const auto value = [](const Release& release, const AttributeSet& set,
                        size_t k) -> std::optional<Rational> {
    for (const NoisyResidual& residual : release.residuals()) {
      if (residual.attributes != set) continue;
      return std::visit(
          [&](const auto& values) -> Rational {
            return Rational(static_cast<double>(values[k])) /
                   (Integer(1) << static_cast<unsigned>(residual.scale_bits));
          },
          residual.values);
    }
    return std::nullopt;
  };
  EXPECT_EQ(both.report.num_combined, 4);
  EXPECT_EQ(both.report.num_single, 3);
  for (const NoisyResidual& residual : both.release->residuals()) {
    const AttributeSet& set = residual.attributes;
    const size_t size =
        std::visit([](const auto& values) { return values.size(); }, residual.values);
    const Rational variance = IntegerNoiseVariance(both.release->plan(), set);
    for (size_t k = 0; k < size; ++k) {
      const Rational combined = *value(*both.release, set, k);
      Rational expected = *value(*a, set, k);
      if (const auto other = value(*b, set, k)) {
        const Rational v1 = IntegerNoiseVariance(a->plan(), set);
        const Rational v2 = IntegerNoiseVariance(b->plan(), set);
        expected = (v2 * expected + v1 * *other) / (v1 + v2);
      }
      const double off = Rational(combined - expected).get_d() / std::sqrt(variance.get_d());
      EXPECT_NEAR(off, 0, 2e-5) << SetName(first.plan.domain, set);
    }
  }
}

TEST_F(CombineTest, FilesAndReleasesGiveTheSame) {
  const PlanFile first = Planned(RequestOf("4:prefix,3,2", "<=2", "1"));
  const EncodedTable table = RandomTable(first.plan.domain, 100, random_);
  const auto a = Released(first, table, bits_);
  a->Save("a.parquet");
  const SelectRequest more = RequestOf("4:prefix,3,2", "<=3", "0.5");
  PlanFile second{SelectAfter(more, {ReadMeasuredPlan("a.parquet")}).plan, {}};
  second.data.identity = kIdentity;
  const auto b = Released(second, table, bits_);
  b->Save("b.parquet");
  const CombinedFile file = CombineFiles({"a.parquet", "b.parquet"}, "ab.parquet");
  EXPECT_EQ(file.report.num_other_bases, 0) << "the bases were kept";
  EXPECT_EQ(file.report.num_lost_tables, 0);
  const CombinedRelease both = Combine(std::vector{a, b});
  both.release->Save("ab2.parquet");
  EXPECT_TRUE(ReadFile("ab.parquet") == ReadFile("ab2.parquet"));
  CombineFiles({"a.parquet", "b.parquet"}, "ab3.parquet");
  EXPECT_TRUE(ReadFile("ab.parquet") == ReadFile("ab3.parquet")) << "anyone can make it again";
  const VerifiedCost verified = VerifyFile("ab.parquet");
  EXPECT_EQ(verified.cost.pcost, first.plan.pcost + second.plan.pcost);
  EXPECT_EQ(*verified.cost.mu2, *first.plan.mu2 + *second.plan.mu2);
  EXPECT_EQ(verified.parts.size(), 2u);
  const MeasurementFile read("ab.parquet");
  EXPECT_TRUE(read.plan() == both.release->plan());
  EXPECT_EQ(read.plan_file().data.identity, kIdentity);
  EXPECT_EQ(read.plan().parts[0].digest, MeasurementDigest("a.parquet"));
  EXPECT_EQ(read.plan().parts[1].digest, MeasurementDigest(*b));
  EXPECT_LT(both.release->Answer("2=1").variance, a->Answer("2=1").variance);
  EXPECT_TRUE(ShareNoise(*both.release, *a));
  EXPECT_FALSE(ShareNoise(*b, *a));
  // It is not measured, and not overwritten.
  EXPECT_TRUE(Says(Refusal([&] { VerifiedPlan{read.plan()}; }), "is not measured itself"));
  EXPECT_TRUE(Says(Refusal([&] {
                     CombineFiles({"a.parquet", "b.parquet"}, "ab.parquet");
                   }),
                   "exists already"));
}

TEST_F(CombineTest, Refusals) {
  const SelectRequest request = RequestOf("4,3", "<=2", "1");
  const EncodedTable table = RandomTable(request.domain, 100, random_);
  Released(Planned(request), table, bits_)->Save("a.parquet");
  Released(Planned(request), table, bits_)->Save("b.parquet");
  Released(Planned(request), table, bits_)->Save("c.parquet");
  Released(Planned(request, kOtherIdentity), table, bits_)->Save("other.parquet");
  Released(Planned(request, ""), table, bits_)->Save("old.parquet");
  fs::copy_file("a.parquet", "copy.parquet");
  CombineFiles({"a.parquet", "b.parquet"}, "ab.parquet");
  const auto refusal = [&](const std::vector<fs::path>& files, bool same_data = false) {
    const std::string message = Refusal([&] { CombineFiles(files, "out.parquet", {same_data}); });
    EXPECT_FALSE(fs::exists("out.parquet"));
    return message;
  };
  EXPECT_TRUE(Says(refusal({"a.parquet", "copy.parquet"}), "a.parquet and copy.parquet have a"));
  EXPECT_TRUE(Says(refusal({"ab.parquet", "b.parquet"}), "measurement in common"));
  EXPECT_TRUE(Says(refusal({"a.parquet", "c.parquet", "ab.parquet"}), "measurement in common"));
  EXPECT_TRUE(Says(refusal({"a.parquet", "other.parquet"}), "measure different data"));
  EXPECT_TRUE(Says(refusal({"a.parquet", "other.parquet"}, true), "measure different data"));
  EXPECT_TRUE(Says(refusal({"a.parquet", "old.parquet"}), "does not say which data"));
  EXPECT_TRUE(Says(refusal({"a.parquet"}), "at least two"));
  EXPECT_TRUE(Says(refusal({"a.parquet", "none.parquet"}), "no such file"));
  EXPECT_NO_THROW(CombineFiles({"a.parquet", "old.parquet"}, "vouched.parquet", {true}));
  // What was vouched for is not stated.
  EXPECT_EQ(MeasurementFile("vouched.parquet").plan_file().data.identity, "");
  // A combination of a combination.
  EXPECT_NO_THROW(CombineFiles({"ab.parquet", "c.parquet"}, "abc.parquet"));
  EXPECT_NO_THROW(VerifyFile("abc.parquet"));
  EXPECT_TRUE(Says(refusal({"abc.parquet", "a.parquet"}), "measurement in common"));
}

// Someone who makes the digests of the file fit still cannot change what the parts cost.
TEST_F(CombineTest, VerifyFindsAChangedPart) {
  const SelectRequest request = RequestOf("4,3", "<=2", "1");
  const EncodedTable table = RandomTable(request.domain, 100, random_);
  const auto a = Released(Planned(request), table, bits_);
  const auto b = Released(Planned(request), table, bits_);
  const CombinedRelease both = Combine(std::vector{a, b});
  const auto change = [&](const std::function<void(Plan*)>& edit) {
    PlanFile plan = both.release->plan_file();
    edit(&plan.plan);
    fs::remove("x.parquet");
    return Refusal([&] {
      Release(plan, both.release->residuals()).Save("x.parquet");
      VerifyFile("x.parquet");
    });
  };
  EXPECT_EQ(change([](Plan*) {}), "");
  const auto edit_part = [](Plan* plan, const std::function<void(Plan*)>& edit) {
    Plan part = *plan->parts[1].plan;
    edit(&part);
    plan->parts[1].plan = std::make_shared<const Plan>(part);
  };
  EXPECT_NE(change([&](Plan* plan) {
              edit_part(plan, [](Plan* part) { part->variances[1] *= Rational(1, 2); });
            }),
            "");
  EXPECT_NE(change([&](Plan* plan) { edit_part(plan, [](Plan* part) { part->pcost /= 2; }); }), "");
  EXPECT_NE(change([](Plan* plan) { plan->parts.pop_back(); }), "");
  EXPECT_NE(change([](Plan* plan) { plan->pcost /= 2; }), "");
  EXPECT_NE(change([](Plan* plan) { *plan->mu2 /= 2; }), "");
  EXPECT_NE(change([](Plan* plan) { plan->parts[0].digest = plan->parts[1].digest; }), "");
}

// Measured through the ledger: what is published names the ledger's identity, the same for all
// measurements of the data, and a ledger of an earlier version gets one.
TEST_F(CombineTest, TheLedgerTellsWhoseDataItIs) {
  ArrowRows rows({{"0", {0, 1, 2, 3}}, {"1", {0, 0, 1, 2}}});
  const auto measure = [&](const PlanFile& plan, const char* ledger, const char* output) {
    MeasureRequest request{plan, {}, output};
    request.places.data.arrow = rows.stream();
    request.places.ledger = ledger;
    request.again = true;
    MeasureToFile(request);
    return MeasurementFile(output).plan_file().data.identity;
  };
  const PlanFile plan = Planned(RequestOf("4,3", "<=1", "1"), "");
  Ledger::Create("a.ledger", 10, "add or remove one row", "a test");
  const std::string first = measure(plan, "a.ledger", "1.parquet");
  EXPECT_EQ(first, Ledger::Open("a.ledger").Identity());
  EXPECT_TRUE(IsDataIdentity(first));
  EXPECT_EQ(measure(plan, "a.ledger", "2.parquet"), first);
  EXPECT_NE(measure(plan, "b.ledger", "3.parquet"), first);
  EXPECT_NO_THROW(CombineFiles({"1.parquet", "2.parquet"}, "12.parquet"));
  EXPECT_TRUE(Says(Refusal([&] {
                     CombineFiles({"1.parquet", "3.parquet"}, "13.parquet");
                   }),
                   "different data"));
}

// 2,000 times two releases: the combined estimates are centred and covered as stated, and the
// intervals of one release alone would cover too much.
TEST_F(CombineTest, RepeatedReleasesAreCentredAndCovered) {
  constexpr int kTimes = 2000;
  const PlanFile first = Planned(RequestOf("3:prefix,2", "<=2", "1"));
  const EncodedTable table = RandomTable(first.plan.domain, 60, random_);
  const auto once = Released(first, table, bits_);
  PlanFile second{SelectAfter(RequestOf("3:prefix,2", "<=1", "0.8"), {AsMeasured(*once)}).plan, {}};
  second.data.identity = kIdentity;
  const std::vector<std::string> questions = {"", "0=1", "1=0", "0=0..1 1=1"};
  std::vector<double> truth;
  for (const std::string& question : questions) {
    const ProductQuery query = once->Question(question);
    double count = 0;
    for (int64_t row = 0; row < table.num_rows(); ++row) {
      double weight = 1;
      for (const AttributeWeights& factor : query.factors()) {
        const auto cell = std::visit(
            [&](const auto& codes) { return static_cast<size_t>(codes[static_cast<size_t>(row)]); },
            table.column(factor.attribute));
        weight *= DenseWeights(factor, first.plan.domain[factor.attribute].size)[cell];
      }
      count += weight;
    }
    truth.push_back(count);
  }
  std::vector<double> sum(questions.size()), squares(questions.size());
  std::vector<double> variance(questions.size()), first_variance(questions.size());
  std::vector<int> covered(questions.size());
  for (int k = 0; k < kTimes; ++k) {
    const auto a = Released(first, table, bits_);
    const auto b = Released(second, table, bits_);
    const auto both = Combine(std::vector{a, b}).release;
    for (size_t q = 0; q < questions.size(); ++q) {
      const Estimate estimate = both->Answer(questions[q]);
      variance[q] = estimate.variance;
      first_variance[q] = a->Answer(questions[q]).variance;
      const double error = (estimate.value - truth[q]) / std::sqrt(estimate.variance);
      sum[q] += error;
      squares[q] += error * error;
      covered[q] += std::fabs(error) <= 1.959964 ? 1 : 0;
    }
  }
  for (size_t q = 0; q < questions.size(); ++q) {
    // Each is wrong with a probability below 1e-4 for right code: 4 standard deviations.
    EXPECT_NEAR(sum[q] / kTimes, 0, 4 / std::sqrt(kTimes)) << questions[q];
    EXPECT_NEAR(squares[q] / kTimes, 1, 4 * std::sqrt(2.0 / kTimes)) << questions[q];
    EXPECT_NEAR(covered[q] / double{kTimes}, 0.95, 4 * std::sqrt(0.95 * 0.05 / kTimes));
    EXPECT_LT(variance[q], first_variance[q]);
  }
  // The variance of the first release alone would be found too large.
  EXPECT_GT(std::fabs(squares[0] / kTimes * variance[0] / first_variance[0] - 1),
            4 * std::sqrt(2.0 / kTimes));
}

}  // namespace
}  // namespace residua
