#include "residua/measure/measure.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/base/stop.h"
#include "residua/base/threads.h"
#include "residua/measure/counting.h"
#include "residua/measure/measure_with_bits.h"
#include "residua/measure/residual_transform.h"
#include "residua/measure/slab_cut.h"
#include "residua/measure/true_counts.h"
#include "residua/measure/true_slabs.h"
#include "residua/measure/waiting_residuals.h"
#include "residua/noise/discrete_gaussian.h"
#include "residua/noise/secure_bits.h"
#include "residua/privacy/gaussian_curve.h"

namespace residua {
namespace {

// No plan of residua has larger scales; values of this scale leave room for 2^97 rows.
constexpr int kMaxMeasuredScaleBits = 30;

// Of the noise on integers that are multiplied by 2^`scale_bits` and by `row_steps`.
Rational DrawnVariance(const Rational& variance, int scale_bits, int64_t row_steps) {
  const Integer scale = ToInteger(row_steps) << static_cast<unsigned>(scale_bits);
  return variance * (scale * scale);
}

// The most RowSteps of any set of the orbit.
int64_t MostRowSteps(const Plan& plan, std::span<const int> orbit) {
  int64_t most = 1;
  for (const int c : orbit) {
    for (const int i : plan.classes.members[static_cast<size_t>(c)]) {
      most = std::max(most, RowSteps(plan.domain, {i}));
    }
  }
  return most;
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

// Measures what `counts` has.
class Measurer {
 public:
  // The counts of some rows: the marginals of the sets that are counted whole, batch by batch, and
  // the slabs of each of the others.
  struct Counts {
    std::function<void(const MarginalsVisitor&)> marginals;
    std::function<std::unique_ptr<TrueSlabs>(const AttributeSet&)> slabs;
  };

  Measurer(const MeasurablePlan& measurable, const MeasureOptions& options,
           const BitsOfThread& bits_of_thread, const MeasuredVisitor& visitor)
      : measurable_(measurable),
        plan_(measurable.plan()),
        transform_(plan_.domain, MatrixOfAttributes(plan_)),
        threads_(options.counting.num_threads),
        options_(options),
        bits_of_thread_(bits_of_thread),
        visitor_(visitor) {}

  void Run(const Counts& counts, const std::vector<AttributeSet>& in_slabs) {
    const std::function<void(NoisyResidual &&)> pass_on = [&](NoisyResidual&& residual) {
      CheckNotStopped(options_.counting.stop);
      visitor_.visit(std::move(residual));
    };
    const auto measure_slabs = [&](const AttributeSet& set) {
      MeasureSlabs(*counts.slabs(set));
      Report(1);
    };
    WaitingResiduals waiting(measurable_.sets(), options_.waiting, pass_on,
                             {in_slabs, measure_slabs});
    waiting.Start();
    counts.marginals([&](std::vector<TrueMarginal>&& marginals) {
      std::vector<std::optional<NoisyResidual>> noisy(marginals.size());
      threads_.Run([&] {
        ParallelFor(size_t{0}, marginals.size(), [&](size_t k) {
          CheckNotStopped(options_.counting.stop);
          const int scale_bits = ScaleBits(plan_, marginals[k].attributes());
          noisy[k] = WithNoise(transform_.Apply(std::move(marginals[k]), scale_bits), scale_bits);
        });
      });
      for (auto& residual : noisy) {
        CheckNotStopped(options_.counting.stop);
        waiting.Add(*std::exchange(residual, std::nullopt));
      }
      Report(std::ssize(noisy));
    });
    RESIDUA_CHECK(waiting.done());
  }

 private:
  NoisyResidual WithNoise(TrueResidual&& residual, int scale_bits) const {
    const AttributeSet attributes = residual.attributes();
    const Rational variance = IntegerNoiseVariance(plan_, attributes);
    const Rational drawn = DrawnVariance(variance, scale_bits, RowSteps(plan_.domain, attributes));
    return {attributes, AddNoise(std::move(residual), drawn, bits_of_thread_()), variance,
            scale_bits};
  }

  void MeasureSlabs(const TrueSlabs& table) {
    const int scale_bits = ScaleBits(plan_, table.attributes());
    const SlabResiduals residuals(table, transform_, measurable_.num_rows(), scale_bits);
    int64_t first_value = 0;
    std::vector<std::optional<NoisyResidual>> noisy(static_cast<size_t>(threads_.count()));
    for (int64_t first = 0; first < residuals.num_slabs(); first += std::ssize(noisy)) {
      const int64_t last = std::min(first + std::ssize(noisy), residuals.num_slabs());
      threads_.Run([&] {
        ParallelFor(first, last, [&](int64_t slab) {
          CheckNotStopped(options_.counting.stop);
          noisy[static_cast<size_t>(slab - first)] = WithNoise(residuals.Slab(slab), scale_bits);
        });
      });
      for (int64_t slab = first; slab < last; ++slab) {
        CheckNotStopped(options_.counting.stop);
        auto& residual = noisy[static_cast<size_t>(slab - first)];
        const int64_t num_values = NumValues(residual->values);
        visitor_.visit_piece({*std::exchange(residual, std::nullopt), first_value,
                              slab + 1 == residuals.num_slabs()});
        first_value += num_values;
      }
    }
  }

  static int64_t NumValues(const NoisyValues& values) {
    return std::visit([](const auto& of_width) { return std::ssize(of_width); }, values);
  }

  void Report(int64_t num_more) {
    num_measured_ += num_more;
    if (options_.on_measured) options_.on_measured(num_measured_);
  }

  const MeasurablePlan& measurable_;
  const Plan& plan_;
  const ResidualTransform transform_;
  Threads threads_;
  const MeasureOptions& options_;
  const BitsOfThread& bits_of_thread_;
  const MeasuredVisitor& visitor_;
  int64_t num_measured_ = 0;
};

void CheckNumRows(const MeasurablePlan& plan, int64_t num_rows) {
  if (num_rows == plan.num_rows()) return;
  Fail(ErrorKind::kBadInput, "the table has {} rows, and the plan was checked for {}", num_rows,
       plan.num_rows());
}

}  // namespace

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
    const Rational drawn =
        DrawnVariance(variance, bits, MostRowSteps(plan, plan.mechanisms[static_cast<int64_t>(k)]));
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
    transform.CheckFits(set, CheckedMultiply(num_rows, RowSteps(plan.domain, set)),
                        ScaleBits(plan, set));
  }
}

MeasuredVisitor WholeVisitor(const std::function<void(NoisyResidual&&)>& visit) {
  // In one of two widths.
  struct Gathered {
    std::vector<int64_t> narrow;
    std::vector<Int128> wide;
  };
  const auto gathered = std::make_shared<Gathered>();
  const auto gather = [visit, gathered](NoisyPiece&& piece) {
    NoisyResidual& part = piece.part;
    std::vector<int64_t>& narrow = gathered->narrow;
    std::vector<Int128>& wide = gathered->wide;
    if (const auto* fitting = std::get_if<std::vector<int64_t>>(&part.values);
        fitting != nullptr && wide.empty()) {
      narrow.insert(narrow.end(), fitting->begin(), fitting->end());
    } else {
      wide.insert(wide.end(), narrow.begin(), narrow.end());
      narrow = {};
      std::visit([&](const auto& values) { wide.insert(wide.end(), values.begin(), values.end()); },
                 part.values);
    }
    if (!piece.is_last) return;
    part.values = wide.empty() ? NoisyValues(std::exchange(narrow, {}))
                               : InLeastWidth(std::exchange(wide, {}));
    visit(std::move(part));
  };
  return {visit, gather};
}

void Measure(const MeasurablePlan& plan, const EncodedTable& table, const MeasureOptions& options,
             const std::function<void(NoisyResidual&&)>& visit) {
  MeasureWithBits(
      plan, table, options, []() -> BitSource& { return ThreadSecureBits(); }, visit);
}

void Measure(const MeasurablePlan& plan, CountedRows&& rows, const MeasureOptions& options,
             const std::function<void(NoisyResidual&&)>& visit) {
  Measure(plan, std::move(rows), options, WholeVisitor(visit));
}

void Measure(const MeasurablePlan& plan, CountedRows&& rows, const MeasureOptions& options,
             const MeasuredVisitor& visitor) {
  MeasureWithBits(
      plan, std::move(rows), options, []() -> BitSource& { return ThreadSecureBits(); }, visitor);
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
  const Domain& domain = plan.plan().domain;
  const CountingOptions& counting = options.counting;
  const SplitSets split = SplitBySize(domain, plan.sets(), counting);
  const MeasuredVisitor visitor = WholeVisitor(visit);
  Measurer(plan, options, bits_of_thread, visitor)
      .Run({[&](const MarginalsVisitor& pass_on) {
              CountMarginalBatches(table, domain, split.whole, counting, pass_on);
            },
            [&](const AttributeSet& set) {
              return CountSlabs(std::span(&table, 1), domain, set, counting);
            }},
           split.in_slabs);
}

void MeasureWithBits(const MeasurablePlan& plan, CountedRows&& rows, const MeasureOptions& options,
                     const BitsOfThread& bits_of_thread, const MeasuredVisitor& visitor) {
  CheckNumRows(plan, rows.num_rows());
  if (rows.sets() != plan.sets()) {
    Fail(ErrorKind::kBadInput, "the rows were counted for other tables than those of the plan");
  }
  CountedRows counted = std::move(rows);
  Measurer(plan, options, bits_of_thread, visitor)
      .Run({[&](const MarginalsVisitor& pass_on) {
              CountMarginalBatches(counted, options.counting, pass_on);
            },
            [&](const AttributeSet& set) { return TakeSlabs(counted, set); }},
           InSlabs(counted));
}

}  // namespace residua
