// Tries to falsify the guarantee: neighbouring files of data, released many times by the whole
// pipeline (spec, plan, plan file, data source, measurement), and a lower confidence bound on rho
// from what is published alone: the numbers, the order they come in, and the structure of files. It
// must stay below the claim, and above it wherever a fault is planted.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "residua/data/data_source.h"
#include "residua/files/plan_file.h"
#include "residua/files/spec.h"
#include "residua/measure/measure_with_bits.h"
#include "residua/measure/residual_transform.h"
#include "residua/measure/true_counts.h"
#include "residua/noise/secure_bits.h"
#include "residua/select/plan_cost.h"
#include "residua/select/select.h"
#include "tests/audit/auditor.h"
#include "tests/fixtures/folder_test.h"
#include "tests/oracle/deterministic_bits.h"

namespace residua {
namespace {

using audit::LowerBoundOnRho;
using audit::LowerBoundsOnCurve;
using audit::Published;
using audit::StructuralDifference;

using Cells = std::vector<int64_t>;  // one for each attribute

// What the residuals show, in the order they come in.
Published Show(const Domain& domain, const std::vector<NoisyResidual>& residuals) {
  std::vector<double> numbers;
  Published published;
  for (const NoisyResidual& residual : residuals) {
    published.structure += SetName(domain, residual.attributes);
    published.structure += residual.values.index() == 0 ? "\n" : ", wide\n";
    std::visit(
        [&](const auto& values) {
          for (const auto value : values) numbers.push_back(static_cast<double>(value));
        },
        residual.values);
  }
  published.numbers =
      Eigen::Map<Eigen::VectorXd>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
  return published;
}

// With the operating system's bits where `bits_of_thread` is empty.
Published Publish(const MeasurablePlan& plan, const EncodedTable& table,
                  const MeasureOptions& options, const BitsOfThread& bits_of_thread = {}) {
  std::vector<NoisyResidual> residuals;
  const auto keep = [&](NoisyResidual&& residual) { residuals.push_back(std::move(residual)); };
  if (bits_of_thread) {
    MeasureWithBits(plan, table, options, bits_of_thread, keep);
  } else {
    Measure(plan, table, options, keep);
  }
  return Show(plan.plan().domain, residuals);
}

// With `factor` times the variance of the noise, and stating what that costs: measuring refuses any
// other plan.
Plan WithNoise(const Plan& plan, const Rational& factor) {
  Plan changed = plan;
  for (Rational& variance : changed.variances) variance *= factor;
  changed.scale_bits = ChooseScaleBits(MechanismsOf(changed), changed.variances);
  const PrivacyCost cost =
      PlanPrivacyCost(MechanismsOf(changed), changed.variances, changed.scale_bits);
  changed.pcost = cost.pcost;
  changed.mu2 = cost.mu2;
  changed.budget.pcost = changed.budget.limits == Accounting::kZcdp ? cost.pcost : *cost.mu2;
  return changed;
}

double RhoOf(const Rational& pcost) { return pcost.get_d() / 2; }

class AuditTest : public FolderTest {
 protected:
  AuditTest() { options_.counting.num_threads = 1; }

  // A spec of the attributes, its plan as it comes back from its file.
  Plan PlanFor(const std::string& privacy, const std::string& attributes,
               const std::string& workload) {
    Write("people.toml", "[data]\nsource = \"people.csv\"\n[privacy]\n" + privacy + "\n" +
                             attributes + "\n[workload]\n" + workload + "\n");
    const Spec spec = ReadReleasableSpec("people.toml");
    WritePlan("plan.json", {Select(RequestOf(spec)), spec.data});
    Plan plan = ReadPlan("plan.json").plan;
    VerifyPlan(plan);
    return plan;
  }

  // Ten rows in cell 0 of all attributes, and one more for each of `extra`.
  static EncodedTable TableWith(const Plan& plan, const std::vector<Cells>& extra) {
    std::string csv;
    for (int i = 0; i < plan.domain.size(); ++i) csv += (i > 0 ? "," : "") + plan.domain[i].name;
    std::vector<Cells> rows(10, Cells(static_cast<size_t>(plan.domain.size()), 0));
    rows.insert(rows.end(), extra.begin(), extra.end());
    for (const Cells& row : rows) {
      csv += "\n";
      for (size_t i = 0; i < row.size(); ++i) csv += (i > 0 ? "," : "") + std::to_string(row[i]);
    }
    Write("people.csv", csv + "\n");
    return ReadEncodedTable({"people.csv", "", ""}, plan.domain).table;
  }

  audit::Release ReleaseOf(const Plan& plan, const std::vector<Cells>& extra) {
    const auto table = std::make_shared<const EncodedTable>(TableWith(plan, extra));
    const auto kept = std::make_shared<const Plan>(plan);
    const MeasurablePlan measurable(VerifiedPlan(*kept), table->num_rows(), {});
    return [this, kept, measurable, table] {
      return Publish(measurable, *table, options_, bits_of_thread_);
    };
  }

  double BoundFor(const Plan& plan, const Cells& cell) {
    return LowerBoundOnRho(ReleaseOf(plan, {cell}), ReleaseOf(plan, {}));
  }

  MeasureOptions options_;
  BitsOfThread bits_of_thread_;
};

// The cells of a row that moves the measurements furthest, relative to their noise.
Cells MostExpensiveCells(const Plan& plan) {
  const ResidualTransform transform(plan.domain, MatrixOfAttributes(plan));
  Cells cells(static_cast<size_t>(plan.domain.size()), 0), most_expensive;
  double most = 0;
  for (;;) {
    double cost = 0;
    for (const AttributeSet& set : MeasuredSets(plan)) {
      std::vector<int64_t> counts(static_cast<size_t>(NumCellsInMemory(plan.domain, set)));
      int64_t at = 0;
      for (const int i : set) at = at * plan.domain[i].size + cells[static_cast<size_t>(i)];
      counts[static_cast<size_t>(at)] = 1;
      const TrueResidual moved = transform.Apply(TrueCounts::Marginal(set, counts));
      double squares = 0;
      for (const int64_t value : std::get<std::vector<int64_t>>(TrueCounts::Values(moved))) {
        squares += static_cast<double>(value) * static_cast<double>(value);
      }
      cost += squares / IntegerNoiseVariance(plan, set).get_d();
    }
    if (cost > most) {
      most = cost;
      most_expensive = cells;
    }
    size_t i = cells.size();
    while (i > 0 && cells[i - 1] + 1 == plan.domain[static_cast<int>(i - 1)].size) {
      cells[--i] = 0;
    }
    if (i == 0) return most_expensive;
    ++cells[i - 1];
  }
}

constexpr const char* kIdentity =
    "[attributes.a]\nintegers = [0, 2]\n[attributes.b]\nintegers = [0, 1]\n[attributes.c]\n"
    "integers = [0, 3]\n";
// Mechanisms of the same noise.
constexpr const char* kAlike =
    "[attributes.a]\nintegers = [0, 2]\n[attributes.b]\nintegers = [0, 2]\n[attributes.c]\n"
    "integers = [0, 2]\n";
constexpr const char* kMixed =
    "[attributes.a]\nintegers = [0, 7]\nqueries = \"prefix\"\n[attributes.b]\nintegers = [0, 1]\n";

// For `--gtest_output=xml`.
double Recorded(double bound, double claim) {
  testing::Test::RecordProperty("bound_over_claim", std::to_string(bound / claim));
  return bound;
}

// Below the claim, and near enough to it that a fault would show.
void ExpectHonest(double bound, double claim) {
  EXPECT_LT(Recorded(bound, claim), claim);
  EXPECT_GT(bound, 0.8 * claim);
}

void ExpectCaught(double bound, double claim) { EXPECT_GT(Recorded(bound, claim), claim); }

TEST_F(AuditTest, Marginals) {
  const Plan plan = PlanFor("rho = 0.5", kIdentity, "marginals = \"<=2\"");
  ExpectHonest(BoundFor(plan, {1, 1, 2}), RhoOf(plan.pcost));
}

TEST_F(AuditTest, PrefixSumsBesideMarginals) {
  const Plan plan =
      PlanFor("rho = 0.5", kMixed, "marginals = \"<=2\"\nobjective = \"max-variance\"");
  ExpectHonest(BoundFor(plan, MostExpensiveCells(plan)), RhoOf(plan.pcost));
}

TEST_F(AuditTest, ReplacedRows) {
  const Plan plan =
      PlanFor("rho = 0.5\nneighbours = \"replace-one\"", kIdentity, "marginals = \"<=1\"");
  const double bound = LowerBoundOnRho(ReleaseOf(plan, {{1, 0, 2}}), ReleaseOf(plan, {{2, 1, 3}}));
  ExpectHonest(bound, RhoOf(plan.pcost));
}

// Numbers of 0 to 4 whose mean is asked: the lowest and the highest cost most, and all is shown. A
// fault is planted in clamping: the plan is for 0 to 4, and a row of 6 counts as 6.
TEST_F(AuditTest, MeansHoldAndCatchANumberThatIsNotClamped) {
  const auto attributes = [](int highest) {
    return "[attributes.a]\nintegers = [0, 2]\n[attributes.m]\nintegers = [0, " +
           std::to_string(highest) + "]\nqueries = \"mean\"\noutside = \"clamp\"\n";
  };
  const Plan plan = PlanFor("rho = 0.5", attributes(4), "marginals = \"<=2\"");
  const double claim = RhoOf(plan.pcost);
  ExpectHonest(BoundFor(plan, {1, 4}), claim);
  ExpectHonest(BoundFor(plan, {1, 6}), claim);  // is clamped
  // Every integer and its noise as in the plan for 0 to 4, but for one row of 6 steps of 4.
  const EncodedTable with = TableWith(plan, {{1, 4}});
  const EncodedTable without = TableWith(plan, {});
  const ResidualTransform transform(plan.domain, MatrixOfAttributes(plan));
  const auto release = [&](const EncodedTable& table, bool is_faulty) {
    std::vector<NoisyResidual> residuals;
    Measure(plan, table, options_,
            [&](NoisyResidual&& residual) { residuals.push_back(std::move(residual)); });
    for (NoisyResidual& residual : residuals) {
      if (!is_faulty || std::ranges::count(residual.attributes, 1) == 0) continue;
      // Two steps more than the highest: -2 in the first cell, 2 in the second.
      const bool has_a = residual.attributes.size() == 2;
      std::vector<int64_t> more(has_a ? 6 : 2, 0);
      more[has_a ? 3 : 1] = 2;
      std::vector<int64_t> less(more.size(), 0);
      less[has_a ? 2 : 0] = 2;
      const TrueResidual plus =
          transform.Apply(TrueCounts::Marginal(residual.attributes, more), residual.scale_bits);
      const TrueResidual minus =
          transform.Apply(TrueCounts::Marginal(residual.attributes, less), residual.scale_bits);
      auto& values = std::get<std::vector<int64_t>>(residual.values);
      for (size_t k = 0; k < values.size(); ++k) {
        values[k] += std::get<std::vector<int64_t>>(TrueCounts::Values(plus))[k] -
                     std::get<std::vector<int64_t>>(TrueCounts::Values(minus))[k];
      }
    }
    return Show(plan.domain, residuals);
  };
  ExpectCaught(
      LowerBoundOnRho([&] { return release(with, true); }, [&] { return release(without, false); },
                      {.num_training = 5'000, .num_testing = 30'000}),
      claim);
}

TEST_F(AuditTest, CatchesNoiseTenPercentLow) {
  const Plan plan = PlanFor("rho = 0.5", kIdentity, "marginals = \"<=2\"");
  ExpectCaught(BoundFor(WithNoise(plan, Rational(81, 100)), {1, 1, 2}), RhoOf(plan.pcost));
}

TEST_F(AuditTest, CatchesABaseMechanismThatIsNotPriced) {
  const Plan plan = PlanFor("rho = 0.5", kIdentity, "marginals = \"<=2\"");
  Rational largest = 0;
  const std::vector<PricedMechanism> priced = PriceMechanisms(MechanismsOf(plan), plan.variances);
  for (const PricedMechanism& mechanism : priced) {
    largest = std::max(largest, Rational(mechanism.squared_sensitivity / mechanism.variance));
  }
  ExpectCaught(BoundFor(plan, {1, 1, 2}), RhoOf(plan.pcost - largest));
}

// An (epsilon, delta) budget, spent to the last bit: what is published shows nearly all of the mu
// and the delta that are claimed, and not more. Noise for a mu that is 5 % low is caught by both.
TEST_F(AuditTest, TheGaussianCurveHoldsAndIsNearlyAttained) {
  constexpr double kEpsilon = 1;
  constexpr double kDelta = 0.3;
  for (const char* neighbours : {"add-remove", "replace-one"}) {
    const Plan plan =
        PlanFor("epsilon = 1\ndelta = 0.3\nneighbours = \"" + std::string(neighbours) + "\"",
                kAlike, "marginals = \"<=1\"");
    const bool replaces = plan.protection.neighbours == Protection::Neighbours::kReplaceOne;
    const Guarantee claim = GuaranteeOf(plan);
    ASSERT_LE(claim.epsilon, kEpsilon);
    DeterministicBits bits(20);
    bits_of_thread_ = [&]() -> BitSource& { return bits; };
    const auto bounds_of = [&](const Plan& measured) {
      return LowerBoundsOnCurve(
          ReleaseOf(measured, {{1, 2, 1}}),
          ReleaseOf(measured, replaces ? std::vector<Cells>{{2, 1, 2}} : std::vector<Cells>{}),
          kEpsilon, {.num_testing = 120'000});
    };
    const audit::CurveBounds honest = bounds_of(plan);
    EXPECT_LT(Recorded(honest.mu, *claim.mu), *claim.mu) << neighbours;
    EXPECT_GT(honest.mu, 0.96 * *claim.mu) << neighbours;
    EXPECT_LT(honest.delta, kDelta) << neighbours;
    EXPECT_GT(honest.delta, 0.85 * kDelta) << neighbours;
    const audit::CurveBounds caught = bounds_of(WithNoise(plan, Rational(9025, 10000)));
    EXPECT_GT(Recorded(caught.mu, *claim.mu), *claim.mu) << neighbours;
    EXPECT_GT(caught.delta, kDelta) << neighbours;
  }
}

// The source of mechanism k of the release is DeterministicBits(seed_of(release, k)).
class SeededPublisher {
 public:
  using SeedOf = std::function<uint64_t(uint64_t release, uint64_t mechanism)>;
  SeededPublisher(const Plan& plan, SeedOf seed_of) : plan_(plan), seed_of_(std::move(seed_of)) {}

  Published operator()(const EncodedTable& table) {
    std::vector<std::unique_ptr<DeterministicBits>> sources;
    MeasureOptions options;
    options.counting.num_threads = 1;
    const auto bits_of_thread = [&]() -> BitSource& {
      const uint64_t seed = seed_of_(num_releases_, sources.size());
      sources.push_back(std::make_unique<DeterministicBits>(seed));
      return *sources.back();
    };
    ++num_releases_;
    std::vector<NoisyResidual> residuals;
    MeasureWithBits(MeasurablePlan(VerifiedPlan(plan_), table.num_rows(), {}), table, options,
                    bits_of_thread,
                    [&](NoisyResidual&& residual) { residuals.push_back(std::move(residual)); });
    return Show(plan_.domain, residuals);
  }

 private:
  const Plan& plan_;
  SeedOf seed_of_;
  uint64_t num_releases_ = 0;
};

TEST_F(AuditTest, CatchesARandomStreamUsedTwice) {
  const Plan plan = PlanFor("rho = 0.5", kAlike, "marginals = \"<=2\"");
  const EncodedTable with = TableWith(plan, {{1, 2, 0}});
  const EncodedTable without = TableWith(plan, {});
  const auto bound_for = [&](const SeededPublisher::SeedOf& seed_of) {
    SeededPublisher publish(plan, seed_of);
    return LowerBoundOnRho([&] { return publish(with); }, [&] { return publish(without); },
                           {.num_training = 2'000, .num_testing = 20'000});
  };
  const double claim = RhoOf(plan.pcost);
  EXPECT_LT(bound_for([](uint64_t release, uint64_t k) { return release * 1000 + k; }), claim);
  // By all mechanisms of a release; by all releases.
  ExpectCaught(bound_for([](uint64_t release, uint64_t) { return release; }), claim);
  ExpectCaught(bound_for([](uint64_t, uint64_t k) { return k; }), claim);
}

// The mean of the diagonal of Sub^T (Gamma Gamma^T)^-1 Sub in place of its largest entry.
TEST_F(AuditTest, CatchesABasisPricedWithAnotherCovariance) {
  const Plan plan = PlanFor("rho = 0.5", kMixed, "marginals = \"<=2\"");
  std::vector<ResidualBasis> bases = plan.bases;
  for (ResidualBasis& basis : bases) {
    const auto* matrix = std::get_if<IntegerMatrix>(&basis.matrix);
    if (matrix == nullptr) continue;
    Integer squares = 0;
    for (const int64_t entry : matrix->entries) squares += Integer(entry) * Integer(entry);
    basis.squared_sensitivity = squares / Integer(2 * basis.size);
  }
  const Rational claimed =
      PlanPcost({plan.protection, bases, plan.classes, plan.mechanisms}, plan.variances);
  ASSERT_LT(claimed, plan.pcost);
  ExpectCaught(BoundFor(plan, MostExpensiveCells(plan)), RhoOf(claimed));
}

// The order and the width of what is published, by the number of rows; the numbers are correct.
TEST_F(AuditTest, CatchesAnOrderOrAWidthThatFollowsTheNumberOfRows) {
  const Plan plan = PlanFor("rho = 0.5", kIdentity, "marginals = \"<=2\"");
  const EncodedTable with = TableWith(plan, {{1, 1, 2}});
  const EncodedTable without = TableWith(plan, {});
  const auto bound_for = [&](const std::function<void(std::vector<NoisyResidual>*)>& fault) {
    const auto release = [&](const EncodedTable& table) {
      std::vector<NoisyResidual> residuals;
      Measure(plan, table, options_,
              [&](NoisyResidual&& residual) { residuals.push_back(std::move(residual)); });
      if (table.num_rows() > 10) fault(&residuals);
      return Show(plan.domain, residuals);
    };
    return LowerBoundOnRho([&] { return release(with); }, [&] { return release(without); },
                           {.num_training = 1'000, .num_testing = 5'000});
  };
  const double claim = RhoOf(plan.pcost);
  EXPECT_LT(bound_for([](std::vector<NoisyResidual>*) {}), claim);
  ExpectCaught(bound_for([](std::vector<NoisyResidual>* residuals) {
                 std::reverse(residuals->begin(), residuals->end());
               }),
               claim);
  ExpectCaught(bound_for([](std::vector<NoisyResidual>* residuals) {
                 const auto& values = std::get<std::vector<int64_t>>(residuals->back().values);
                 residuals->back().values = std::vector<Int128>(values.begin(), values.end());
               }),
               claim);
}

// Ada has twelve rows, of which two count.
class ContributionAudit : public AuditTest {
 protected:
  ContributionAudit()
      : plan_(PlanFor("rho = 0.5\nidentifier = \"person\"\nmax_rows = 2", kVisits,
                      "marginals = \"<=1\"")) {
    const std::string others = "person,visit\nbob,0\nbob,1\ncem,2\n";
    Write("without.csv", others);
    std::string with = others;
    for (int k = 0; k < 12; ++k) with += "ada,3\n";
    Write("with.csv", with);
  }

  audit::Release ReleaseOf(const std::string& file, const Protection& protection) {
    return [this, file, protection] {
      const ReadResult read =
          ReadEncodedTable({file, "", ""}, plan_.domain, protection, ThreadSecureBits());
      return Publish(MeasurablePlan(VerifiedPlan(plan_), read.table.num_rows(), {}), read.table,
                     options_);
    };
  }

  double BoundFor(const Protection& protection) {
    return LowerBoundOnRho(ReleaseOf("with.csv", protection), ReleaseOf("without.csv", protection),
                           {.num_training = 60, .num_testing = 200, .cut_off = 1.5});
  }

  static constexpr const char* kVisits = "[attributes.visit]\nintegers = [0, 3]\n";
  const Plan plan_;
};

TEST_F(ContributionAudit, HoldsWithTheBoundAndFailsWithoutIt) {
  const double claim = RhoOf(plan_.pcost);
  EXPECT_LT(BoundFor(plan_.protection), claim);
  Protection unbounded = plan_.protection;
  unbounded.max_rows = 12;
  ExpectCaught(BoundFor(unbounded), claim);
}

}  // namespace
}  // namespace residua
