#include "residua/release/combine.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "residua/base/error.h"
#include "residua/base/stop.h"
#include "residua/files/digest.h"
#include "residua/files/measurement_file.h"
#include "residua/measure/measure.h"
#include "residua/select/plan_errors.h"

namespace residua {
namespace {

// Values that are held of each part at a time, if no set has more.
constexpr int64_t kHeldValues = int64_t{1} << 20;

// A measurement to be combined: its plan, and its residuals set by set, in the order of its
// MeasuredSets.
class CombinePart {
 public:
  CombinePart() = default;
  CombinePart(const CombinePart&) = delete;
  CombinePart& operator=(const CombinePart&) = delete;
  virtual ~CombinePart() = default;

  virtual const PlanFile& plan_file() const = 0;
  virtual std::string name() const = 0;
  // A set of the plan; sets are asked for in order. The residual is valid until the next call.
  virtual const NoisyResidual& Take(const AttributeSet& set) = 0;
};

class ReleasePart final : public CombinePart {
 public:
  ReleasePart(const Release& release, size_t number) : release_(release), number_(number) {}

  const PlanFile& plan_file() const override { return release_.plan_file(); }
  std::string name() const override { return fmt::format("release {}", number_ + 1); }
  const NoisyResidual& Take(const AttributeSet& set) override {
    while (release_.residuals()[next_].attributes != set) ++next_;
    return release_.residuals()[next_];
  }

 private:
  const Release& release_;
  size_t number_;
  size_t next_ = 0;
};

class FilePart final : public CombinePart {
 public:
  explicit FilePart(const std::filesystem::path& path)
      : path_(path), file_(path), sets_(MeasuredSets(file_.plan())) {}

  const PlanFile& plan_file() const override { return file_.plan_file(); }
  std::string name() const override { return path_.string(); }
  const NoisyResidual& Take(const AttributeSet& set) override {
    while (!held_.contains(set)) Hold();
    return held_.at(set);
  }

 private:
  void Hold() {
    RESIDUA_CHECK(next_ < sets_.size());
    held_.clear();
    std::vector<AttributeSet> sets;
    Integer num_values = 0;
    const Plan& plan = file_.plan();
    while (next_ < sets_.size()) {
      Integer size = 1;
      for (const int i : sets_[next_]) {
        const int c = plan.classes.class_of[static_cast<size_t>(i)];
        size *= ToInteger(NumResidualRows(plan.bases[static_cast<size_t>(c)]));
      }
      if (!sets.empty() && num_values + size > kHeldValues) break;
      num_values += size;
      sets.push_back(sets_[next_++]);
    }
    file_.ForEachOf(std::move(sets), [&](NoisyResidual&& residual) {
      AttributeSet set = residual.attributes;
      held_.emplace(std::move(set), std::move(residual));
    });
  }

  std::filesystem::path path_;
  MeasurementFile file_;
  std::vector<AttributeSet> sets_;
  size_t next_ = 0;
  std::map<AttributeSet, NoisyResidual> held_;
};

using PartMaker = std::function<std::unique_ptr<CombinePart>()>;

std::string DigestOf(CombinePart& part, const std::stop_token& stop) {
  const Plan& plan = part.plan_file().plan;
  RunningSha256 digest;
  digest.Add(PlanDigest(plan));
  std::string bytes;
  for (const AttributeSet& set : MeasuredSets(plan)) {
    CheckNotStopped(stop);
    bytes.clear();
    std::visit(
        [&](const auto& values) {
          for (const Int128 value : values) {
            // 16 bytes, the lowest first.
            auto rest = static_cast<UInt128>(value);
            for (int k = 0; k < 16; ++k, rest >>= 8) bytes += static_cast<char>(rest & 0xff);
          }
        },
        part.Take(set).values);
    digest.Add(bytes);
  }
  return digest.Take();
}

// Of all measurements within the plan, if it is a combination.
void AddPartDigests(const Plan& plan, std::set<std::string>* digests) {
  for (const MeasuredPlan& part : plan.parts) {
    digests->insert(part.digest);
    AddPartDigests(*part.plan, digests);
  }
}

// CombinePlans would refuse it too, but cannot say which they are.
void CheckNamedOnce(const std::vector<std::unique_ptr<CombinePart>>& parts,
                    const std::vector<MeasuredPlan>& plans) {
  std::vector<std::set<std::string>> digests(parts.size());
  for (size_t j = 0; j < parts.size(); ++j) {
    digests[j].insert(plans[j].digest);
    AddPartDigests(*plans[j].plan, &digests[j]);
    for (size_t before = 0; before < j; ++before) {
      if (std::none_of(digests[j].begin(), digests[j].end(), [&](const std::string& digest) {
            return digests[before].contains(digest);
          })) {
        continue;
      }
      Fail(ErrorKind::kRefused,
           "{} and {} have a measurement in common, whose noise would count as if it had been "
           "drawn twice; name each measurement once, itself or within a combination",
           parts[before]->name(), parts[j]->name());
    }
  }
}

// Whose data it is: what all state that state anything.
std::string CommonIdentity(const std::vector<std::unique_ptr<CombinePart>>& parts, bool same_data) {
  const CombinePart* known = nullptr;
  for (const auto& part : parts) {
    const std::string& identity = part->plan_file().data.identity;
    if (identity.empty()) {
      if (same_data) continue;
      Fail(ErrorKind::kRefused,
           "{}: does not say which data it measures; if all of them measure the same rows, say so "
           "with {}",
           part->name(), Phrase{Phrase::Kind::kOption, {"same-data"}});
    }
    if (known != nullptr && known->plan_file().data.identity != identity) {
      Fail(ErrorKind::kRefused,
           "{} and {} measure different data, by the ledgers that paid for them; combine releases "
           "of the same data",
           known->name(), part->name());
    }
    if (known == nullptr) known = part.get();
  }
  // One that is vouched for is not stated of the others.
  const bool all_state_it = std::all_of(parts.begin(), parts.end(), [](const auto& part) {
    return !part->plan_file().data.identity.empty();
  });
  return all_state_it ? known->plan_file().data.identity : "";
}

// Y / 2^bits to the nearest, and to even where two are as near.
Int128 RoundedShift(Int128 value, int bits) {
  if (bits == 0) return value;
  const Int128 quotient = value >> bits;  // down
  const Int128 rest = value - (quotient << bits);
  const Int128 half = Int128{1} << (bits - 1);
  return quotient + (rest > half || (rest == half && (quotient & 1) != 0) ? 1 : 0);
}

// The combined values are computed in 128 bits, where every step is checked.
class ValueCombiner {
 public:
  explicit ValueCombiner(const CombinedOrbit& orbit) : orbit_(orbit) {}

  NoisyValues Combine(std::span<const NoisyResidual* const> residuals) {
    std::vector<Int128> sums;
    for (size_t k = 0; k < residuals.size(); ++k) {
      const CombinedOrbit::Term& term = orbit_.terms[k];
      Int128 factor = term.numerator;
      overflows_ |= term.shift > 100 ||
                    __builtin_mul_overflow(factor, Int128{1} << std::min(term.shift, 100), &factor);
      std::visit([&](const auto& values) { Add(factor, values, &sums); }, residuals[k]->values);
    }
    if (overflows_) {
      Fail(ErrorKind::kTooLarge,
           "combined values do not fit 128 bits; their tables are too large to combine");
    }
    for (Int128& sum : sums) sum = RoundedShift(sum, orbit_.rounding_bits);
    return InLeastWidth(std::move(sums));
  }

 private:
  template <typename Value>
  void Add(Int128 factor, const std::vector<Value>& values, std::vector<Int128>* sums) {
    if (sums->empty()) sums->resize(values.size());
    RESIDUA_CHECK(sums->size() == values.size());
    for (size_t k = 0; k < values.size(); ++k) {
      Int128 product = 0;
      overflows_ |= __builtin_mul_overflow(factor, Int128{values[k]}, &product) ||
                    __builtin_add_overflow((*sums)[k], product, &(*sums)[k]);
    }
  }

  const CombinedOrbit& orbit_;
  bool overflows_ = false;
};

// All that combining needs, with everything refused that can be.
struct Combination {
  std::vector<std::unique_ptr<CombinePart>> parts;
  CombinedPlan combined;
  PlanFile plan_file;
};

Combination MakeCombination(const std::vector<PartMaker>& makers, const CombineOptions& options) {
  Combination combination;
  std::vector<MeasuredPlan> plans;
  for (const PartMaker& make : makers) combination.parts.push_back(make());
  const std::string identity = CommonIdentity(combination.parts, options.same_data);
  for (const auto& part : combination.parts) {
    const PlanFile& file = part->plan_file();
    AtPlace(part->name(), [&] { VerifyPlan(file.plan); });
    plans.push_back({DigestOf(*part, options.stop), std::make_shared<const Plan>(file.plan)});
  }
  CheckNamedOnce(combination.parts, plans);
  combination.combined = CombinePlans(plans);
  combination.combined.plan.loss = ObjectiveLoss(combination.combined.plan);
  const DataReference& first = combination.parts.front()->plan_file().data;
  combination.plan_file = {combination.combined.plan, first.WithoutPlaces()};
  combination.plan_file.data.identity = identity;
  // Read from the beginning again.
  for (size_t j = 0; j < makers.size(); ++j) {
    combination.parts[j] = makers[j]();
    if (combination.parts[j]->plan_file().plan != *plans[j].plan) {
      Fail(ErrorKind::kIo, "{}: was changed while it was read", combination.parts[j]->name());
    }
  }
  return combination;
}

void ForEachCombined(const Combination& combination, const std::stop_token& stop,
                     const std::function<void(NoisyResidual&&)>& visit) {
  const Plan& plan = combination.plan_file.plan;
  for (const AttributeSet& set : MeasuredSets(plan)) {
    CheckNotStopped(stop);
    const int64_t number = plan.mechanisms.Find(OrbitOf(plan.classes, set)).value();
    const CombinedOrbit& orbit = combination.combined.orbits[static_cast<size_t>(number)];
    std::vector<const NoisyResidual*> residuals;
    for (const CombinedOrbit::Term& term : orbit.terms) {
      residuals.push_back(&combination.parts[term.part]->Take(set));
    }
    visit({set,
           orbit.is_single() ? residuals.front()->values : ValueCombiner(orbit).Combine(residuals),
           IntegerNoiseVariance(plan, set), ScaleBits(plan, set)});
  }
}

}  // namespace

std::string MeasurementDigest(const Release& release) {
  ReleasePart part(release, 0);
  return DigestOf(part, {});
}

std::string MeasurementDigest(const std::filesystem::path& path) {
  FilePart part(path);
  return DigestOf(part, {});
}

bool ShareNoise(const Release& a, const Release& b) {
  std::set<std::string> of_a, of_b;
  const auto add = [](const Release& release, std::set<std::string>* digests) {
    digests->insert(MeasurementDigest(release));
    AddPartDigests(release.plan(), digests);
  };
  add(a, &of_a);
  add(b, &of_b);
  return std::any_of(of_a.begin(), of_a.end(),
                     [&](const std::string& digest) { return of_b.contains(digest); });
}

MeasuredPlan MeasuredPlanOf(const Release& release) {
  VerifyPlan(release.plan());
  return {MeasurementDigest(release), std::make_shared<const Plan>(release.plan())};
}

MeasuredPlan ReadMeasuredPlan(const std::filesystem::path& path) {
  FilePart part(path);
  const Plan& plan = part.plan_file().plan;
  AtPlace(part.name(), [&] { VerifyPlan(plan); });
  return {DigestOf(part, {}), std::make_shared<const Plan>(plan)};
}

CombinedRelease Combine(std::span<const std::shared_ptr<const Release>> releases,
                        const CombineOptions& options) {
  std::vector<PartMaker> makers;
  for (size_t j = 0; j < releases.size(); ++j) {
    makers.emplace_back([&, j] { return std::make_unique<ReleasePart>(*releases[j], j); });
  }
  const Combination combination = MakeCombination(makers, options);
  std::vector<NoisyResidual> residuals;
  ForEachCombined(combination, options.stop,
                  [&](NoisyResidual&& residual) { residuals.push_back(std::move(residual)); });
  return {std::make_shared<const Release>(combination.plan_file, std::move(residuals)),
          combination.combined.report};
}

CombinedFile CombineFiles(const std::vector<std::filesystem::path>& files,
                          const std::filesystem::path& output, const CombineOptions& options) {
  if (std::filesystem::exists(output)) {
    Fail(ErrorKind::kRefused, "{}: exists already; measurements are not overwritten, {}",
         output.string(), Phrase{Phrase::Kind::kOtherOutput});
  }
  std::vector<PartMaker> makers;
  for (const std::filesystem::path& path : files) {
    makers.emplace_back([&path] { return std::make_unique<FilePart>(path); });
  }
  const Combination combination = MakeCombination(makers, options);
  MeasurementWriter writer(output, combination.plan_file);
  ForEachCombined(combination, options.stop,
                  [&](NoisyResidual&& residual) { writer.Write(residual); });
  writer.Finish();
  return {combination.plan_file, combination.combined.report};
}

}  // namespace residua
