#include <algorithm>

#include "fuzz/only_errors.h"
#include "fuzz/scratch_folder.h"
#include "residua/files/measurement_file.h"
#include "residua/measure/measure.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"

namespace residua {
namespace {

const PlanFile& FixedPlan() {
  static const PlanFile plan{Select({ParseDomain("3,2:prefix,4"),
                                     {{{MarginalRule::Kind::kUpTo, 2}}, {}},
                                     {},
                                     BudgetFromPcost(1),
                                     {}}),
                             {}};
  return plan;
}

class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool empty() const { return size_ == 0; }
  uint8_t Take() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

// Bits that say whether the number of values is the right one, whether the noise is the plan's,
// and how large the values are; then the values.
NoisyResidual TakeResidual(const Plan& plan, const AttributeSet& set, Bytes* bytes) {
  NoisyResidual residual{set, {}, IntegerNoiseVariance(plan, set), ScaleBits(plan, set)};
  const uint8_t bits = bytes->Take();
  int64_t num_values = 1;
  for (const int i : set) {
    const int c = plan.classes.class_of[static_cast<size_t>(i)];
    num_values *= NumResidualRows(plan.bases[static_cast<size_t>(c)]);
  }
  if ((bits & 0x80) != 0) num_values = bytes->Take();
  if ((bits & 0x40) != 0) residual.noise_variance = 7;
  const auto take = [&](auto& values) {
    using Value = typename std::decay_t<decltype(values)>::value_type;
    for (int64_t k = 0; k < num_values; ++k) {
      values.push_back(static_cast<int8_t>(bytes->Take()));
      if ((bits & 0x10) != 0) values.back() *= Value{1} << (sizeof(Value) == 8 ? 50 : 90);
    }
  };
  if ((bits & 0x20) != 0) residual.values = std::vector<Int128>();
  std::visit(take, residual.values);
  return residual;
}

// As they are written.
NoisyValues Narrowed(const NoisyValues& values) {
  const auto* wide = std::get_if<std::vector<Int128>>(&values);
  return wide == nullptr ? values : InLeastWidth(*wide);
}

// What fits the plan reads back as it was written, whether at once or in pieces; the rest is
// refused.
void WriteAndRead(const std::filesystem::path& path, Bytes bytes) {
  const PlanFile& plan = FixedPlan();
  const uint8_t piece = bytes.Take();
  std::vector<NoisyResidual> written;
  for (const AttributeSet& set : MeasuredSets(plan.plan)) {
    written.push_back(TakeResidual(plan.plan, set, &bytes));
  }
  {
    MeasurementWriter writer(path, plan);
    for (const NoisyResidual& residual : written) {
      if (piece % 2 == 0) {
        writer.Write(residual);
        continue;
      }
      writer.Begin(residual.attributes);
      std::visit(
          [&](const auto& values) {
            for (size_t first = 0; first < values.size(); first += piece) {
              const size_t size = std::min<size_t>(piece, values.size() - first);
              writer.Append(std::span(values).subspan(first, size));
            }
          },
          residual.values);
    }
    writer.Finish();
  }
  const MeasurementFile file(path);
  const Measurements read = file.ReadAll();
  RESIDUA_CHECK(read.residuals.size() == written.size());
  for (const NoisyResidual& residual : written) {
    RESIDUA_CHECK(read.residuals.at(residual.attributes).values == Narrowed(residual.values));
  }
  RESIDUA_CHECK(VerifyMeasurements(file) == plan.plan.pcost);
}

}  // namespace
}  // namespace residua

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const residua::ScratchFolder folder;
  residua::ExpectOnlyErrors(
      [&] { residua::WriteAndRead(folder.Path("m.parquet"), residua::Bytes(data, size)); });
  return 0;
}
