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

// A set of attributes as bits; a number of values, mostly the right one; whether they are wide and
// whether the noise is the plan's; the values.
NoisyResidual TakeResidual(const Plan& plan, Bytes* bytes) {
  NoisyResidual residual;
  const uint8_t bits = bytes->Take();
  int64_t num_values = 1;
  for (int i = 0; i < plan.domain.size(); ++i) {
    if ((bits >> i & 1) == 0) continue;
    residual.attributes.push_back(i);
    const int c = plan.classes.class_of[static_cast<size_t>(i)];
    num_values *= NumResidualRows(plan.bases[static_cast<size_t>(c)]);
  }
  if ((bits & 0x80) != 0) num_values = bytes->Take();
  const bool in_plan = plan.mechanisms.Find(OrbitOf(plan.classes, residual.attributes)).has_value();
  residual.noise_variance =
      in_plan && (bits & 0x40) == 0 ? IntegerNoiseVariance(plan, residual.attributes) : Rational(7);
  if (in_plan) residual.scale_bits = ScaleBits(plan, residual.attributes);
  const auto take = [&](auto& values) {
    for (int64_t k = 0; k < num_values; ++k) {
      values.push_back(static_cast<int8_t>(bytes->Take()));
      if ((bits & 0x10) != 0) values.back() *= int64_t{1} << 50;
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

// Rows that fit the plan read back as they were written; others are refused.
void WriteAndRead(const std::filesystem::path& path, Bytes bytes) {
  const PlanFile& plan = FixedPlan();
  std::vector<NoisyResidual> written;
  while (!bytes.empty() && written.size() < 16) {
    written.push_back(TakeResidual(plan.plan, &bytes));
  }
  std::stable_sort(written.begin(), written.end(), [](const auto& a, const auto& b) {
    return ListedBefore(a.attributes, b.attributes);
  });
  {
    MeasurementWriter writer(path, plan);
    for (const NoisyResidual& residual : written) writer.Write(residual);
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
