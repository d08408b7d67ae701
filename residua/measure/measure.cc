#include "residua/measure/measure.h"

#include <algorithm>
#include <optional>

#include "residua/base/error.h"
#include "residua/base/stop.h"
#include "residua/base/threads.h"
#include "residua/measure/counting.h"
#include "residua/measure/measure_with_bits.h"
#include "residua/measure/residual_transform.h"
#include "residua/measure/true_counts.h"
#include "residua/measure/waiting_residuals.h"
#include "residua/noise/discrete_gaussian.h"
#include "residua/noise/secure_bits.h"
#include "residua/privacy/gaussian_curve.h"

namespace residua {
namespace {

// No plan of residua has larger scales; values of this scale leave room for 2^97 rows.
constexpr int kMaxMeasuredScaleBits = 30;

// Of the noise on integers that are multiplied by 2^`scale_bits`.
Rational DrawnVariance(const Rational& variance, int scale_bits) {
  return variance * (Integer(1) << static_cast<unsigned>(2 * scale_bits));
}

// Noise is drawn this many values at a time, and added in place: there is no memory for a second
// table of a billion cells.
constexpr size_t kDrawnAtOnce = size_t{1} << 16;

std::vector<Int128> Widen(const std::vector<int64_t>& values) {
  return {values.begin(), values.end()};
}

template <typename Noise>
void AddNoise(const Rational& variance, BitSource& bits, std::span<Int128> values) {
  std::vector<Noise> noise(std::min(values.size(), kDrawnAtOnce));
  for (size_t begin = 0; begin < values.size(); begin += noise.size()) {
    const std::span<Int128> part =
        values.subspan(begin, std::min(noise.size(), values.size() - begin));
    SampleDiscreteGaussian(variance, bits, std::span(noise).first(part.size()));
    for (size_t k = 0; k < part.size(); ++k) {
      if (__builtin_add_overflow(part[k], Int128{noise[k]}, &part[k])) {
        Fail(ErrorKind::kTooLarge, "a noisy value does not fit 128 bits; plan for smaller tables");
      }
    }
  }
}

// InLeastWidth, without a detour through 128 bits.
NoisyValues AddNarrowNoise(const Rational& variance, BitSource& bits, std::vector<int64_t> values) {
  std::vector<int64_t> noise(std::min(values.size(), kDrawnAtOnce));
  for (size_t begin = 0; begin < values.size(); begin += noise.size()) {
    const std::span<int64_t> part =
        std::span(values).subspan(begin, std::min(noise.size(), values.size() - begin));
    SampleDiscreteGaussian(variance, bits, std::span(noise).first(part.size()));
    for (size_t k = 0; k < part.size(); ++k) {
      int64_t sum = 0;
      if (!__builtin_add_overflow(part[k], noise[k], &sum)) {
        part[k] = sum;
        continue;
      }
      // The rest of the drawn noise, and all still to draw, is added in 128 bits.
      std::vector<Int128> wide = Widen(values);
      for (size_t rest = k; rest < part.size(); ++rest) wide[begin + rest] += noise[rest];
      AddNoise<int64_t>(variance, bits, std::span(wide).subspan(begin + part.size()));
      return wide;
    }
  }
  return values;
}

NoisyValues AddNoise(TrueResidual&& residual, const Rational& variance, BitSource& bits) {
  TrueCounts::ResidualValues values = TrueCounts::TakeValues(std::move(residual));
  auto* narrow = std::get_if<std::vector<int64_t>>(&values);
  const bool is_narrow = variance <= MaxNarrowDiscreteGaussianVariance();
  if (narrow != nullptr && is_narrow) return AddNarrowNoise(variance, bits, std::move(*narrow));
  std::vector<Int128> wide =
      narrow != nullptr ? Widen(*narrow) : std::get<std::vector<Int128>>(std::move(values));
  if (is_narrow) {
    AddNoise<int64_t>(variance, bits, wide);
  } else {
    AddNoise<Int128>(variance, bits, wide);
  }
  return InLeastWidth(std::move(wide));
}

// Measures the marginals of `count`, which passes on those of every set, batch by batch.
void MeasureBatches(const MeasurablePlan& measurable, const MeasureOptions& options,
                    const BitsOfThread& bits_of_thread,
                    const std::function<void(const MarginalsVisitor&)>& count,
                    const std::function<void(NoisyResidual&&)>& visit) {
  const Plan& plan = measurable.plan();
  const ResidualTransform transform(plan.domain, MatrixOfAttributes(plan));
  Threads threads(options.counting.num_threads);
  const std::function<void(NoisyResidual &&)> pass_on = [&](NoisyResidual&& residual) {
    CheckNotStopped(options.counting.stop);
    visit(std::move(residual));
  };
  WaitingResiduals waiting(measurable.sets(), options.waiting, pass_on);
  int64_t num_measured = 0;
  count([&](std::vector<TrueMarginal>&& marginals) {
    std::vector<std::optional<NoisyResidual>> noisy(marginals.size());
    threads.Run([&] {
      ParallelFor(size_t{0}, marginals.size(), [&](size_t k) {
        CheckNotStopped(options.counting.stop);
        const AttributeSet attributes = marginals[k].attributes();
        const Rational variance = IntegerNoiseVariance(plan, attributes);
        const int scale_bits = ScaleBits(plan, attributes);
        TrueResidual residual = transform.Apply(std::move(marginals[k]), scale_bits);
        noisy[k] = {
            attributes,
            AddNoise(std::move(residual), DrawnVariance(variance, scale_bits), bits_of_thread()),
            variance, scale_bits};
      });
    });
    for (auto& residual : noisy) {
      CheckNotStopped(options.counting.stop);
      waiting.Add(*std::exchange(residual, std::nullopt));
    }
    num_measured += std::ssize(noisy);
    if (options.on_measured) options.on_measured(num_measured);
  });
  RESIDUA_CHECK(waiting.done());
}

void CheckNumRows(const MeasurablePlan& plan, int64_t num_rows) {
  if (num_rows == plan.num_rows()) return;
  Fail(ErrorKind::kBadInput, "the table has {} rows, and the plan was checked for {}", num_rows,
       plan.num_rows());
}

}  // namespace

std::vector<AttributeSet> MeasuredSets(const Plan& plan) {
  std::vector<AttributeSet> sets;
  for (int64_t k = 0; k < plan.mechanisms.size(); ++k) {
    ForEachMember(plan.classes, plan.mechanisms[k],
                  [&](const AttributeSet& set) { sets.push_back(set); });
  }
  std::sort(sets.begin(), sets.end(), ListedBefore);
  return sets;
}

void CheckNoiseIsMeasurable(const Plan& plan) {
  const std::vector<PricedMechanism> mechanisms =
      PriceMechanisms(MechanismsOf(plan), plan.variances);
  for (size_t k = 0; k < mechanisms.size(); ++k) {
    const Rational& variance = mechanisms[k].variance;
    const int bits = plan.scale_bits.empty() ? 0 : plan.scale_bits[k];
    if (variance < MinDiscreteGaussianVariance()) {
      Fail(ErrorKind::kBadInput,
           "the plan asks for noise of variance {:.3g}, below the {:.3g} that can be drawn; its "
           "budget is too large to protect anything",
           variance.get_d(), MinDiscreteGaussianVariance().get_d());
    }
    if (bits > kMaxMeasuredScaleBits) {
      Fail(ErrorKind::kTooLarge,
           "the plan asks for numbers scaled by 2^{}, more than the 2^{} that can be measured; "
           "plan again",
           bits, kMaxMeasuredScaleBits);
    }
    const Rational drawn = DrawnVariance(variance, bits);
    if (drawn > MaxDiscreteGaussianVariance()) {
      Fail(ErrorKind::kTooLarge,
           "the plan asks for integer noise of variance {:.3g}, above the 2^{} that can be drawn; "
           "plan for smaller tables or a larger budget",
           drawn.get_d(), kLog2MaxVariance);
    }
  }
  if (NumMeasuredIntegers(MechanismsOf(plan)) > MostMeasuredIntegers()) {
    Fail(ErrorKind::kTooLarge,
         "the plan measures more than 2^50 numbers, which no file holds; plan for fewer or smaller "
         "tables");
  }
}

VerifiedPlan::VerifiedPlan(const Plan& plan) : plan_(&plan) {
  if (!plan.parts.empty()) {
    Fail(ErrorKind::kRefused,
         "the plan combines measurements that were made before, and is not measured itself; plan "
         "again to measure more");
  }
  VerifyPlan(plan);
}

MeasurablePlan::MeasurablePlan(const VerifiedPlan& verified, int64_t num_rows,
                               const CountingOptions& counting)
    : verified_(verified), num_rows_(num_rows) {
  const Plan& plan = verified.plan();
  CheckDomainIsPublic(plan.domain);
  CheckNoiseIsMeasurable(plan);
  sets_ = MeasuredSets(plan);
  CheckCountable(plan.domain, sets_, num_rows, counting);
  const ResidualTransform transform(plan.domain, MatrixOfAttributes(plan));
  for (const AttributeSet& set : sets_) {
    transform.CheckFits(set, num_rows, ScaleBits(plan, set));
  }
}

void Measure(const MeasurablePlan& plan, const EncodedTable& table, const MeasureOptions& options,
             const std::function<void(NoisyResidual&&)>& visit) {
  MeasureWithBits(
      plan, table, options, []() -> BitSource& { return ThreadSecureBits(); }, visit);
}

void Measure(const MeasurablePlan& plan, CountedRows&& rows, const MeasureOptions& options,
             const std::function<void(NoisyResidual&&)>& visit) {
  MeasureWithBits(
      plan, std::move(rows), options, []() -> BitSource& { return ThreadSecureBits(); }, visit);
}

void Measure(const Plan& plan, const EncodedTable& table, const MeasureOptions& options,
             const std::function<void(NoisyResidual&&)>& visit) {
  Measure(MeasurablePlan(VerifiedPlan(plan), table.num_rows(), options.counting), table, options,
          visit);
}

void MeasureWithBits(const MeasurablePlan& plan, const EncodedTable& table,
                     const MeasureOptions& options, const BitsOfThread& bits_of_thread,
                     const std::function<void(NoisyResidual&&)>& visit) {
  CheckNumRows(plan, table.num_rows());
  const auto count = [&](const MarginalsVisitor& pass_on) {
    CountMarginalBatches(table, plan.plan().domain, plan.sets(), options.counting, pass_on);
  };
  MeasureBatches(plan, options, bits_of_thread, count, visit);
}

void MeasureWithBits(const MeasurablePlan& plan, CountedRows&& rows, const MeasureOptions& options,
                     const BitsOfThread& bits_of_thread,
                     const std::function<void(NoisyResidual&&)>& visit) {
  CheckNumRows(plan, rows.num_rows());
  if (rows.sets() != plan.sets()) {
    Fail(ErrorKind::kBadInput, "the rows were counted for other tables than those of the plan");
  }
  const auto count = [&](const MarginalsVisitor& pass_on) {
    CountMarginalBatches(std::move(rows), options.counting, pass_on);
  };
  MeasureBatches(plan, options, bits_of_thread, count, visit);
}

}  // namespace residua
