#include "residua/release/release.h"

#include <algorithm>
#include <utility>

#include "residua/base/error.h"
#include "residua/base/stop.h"
#include "residua/files/measurement_file.h"
#include "residua/reconstruct/query_answer.h"
#include "residua/reconstruct/table_answers.h"
#include "residua/reconstruct/table_batches.h"
#include "residua/text/question_text.h"

namespace residua {
namespace {

// Files of older versions have them in another order.
std::vector<NoisyResidual> InPlanOrder(std::vector<NoisyResidual> residuals) {
  std::sort(residuals.begin(), residuals.end(), [](const NoisyResidual& a, const NoisyResidual& b) {
    return ListedBefore(a.attributes, b.attributes);
  });
  return residuals;
}

}  // namespace

Release::Release(PlanFile plan, std::vector<NoisyResidual> residuals)
    : plan_(std::move(plan)),
      residuals_(InPlanOrder(std::move(residuals))),
      index_(IndexResiduals(plan_.plan, residuals_)) {}

std::shared_ptr<const Release> Release::Load(const std::filesystem::path& path,
                                             const std::stop_token& stop) {
  const MeasurementFile file(path);
  std::vector<NoisyResidual> residuals;
  file.ForEach([&](NoisyResidual&& residual) {
    CheckNotStopped(stop);
    residuals.push_back(std::move(residual));
  });
  return std::make_shared<Release>(file.plan_file(), std::move(residuals));
}

void Release::Save(const std::filesystem::path& path) const {
  if (std::filesystem::exists(path)) {
    Fail(ErrorKind::kRefused,
         "{}: exists already; a measurement is paid for and not overwritten, {}", path.string(),
         Phrase{Phrase::Kind::kOtherOutput});
  }
  MeasurementWriter writer(path, {plan(), {}});
  for (const NoisyResidual& residual : residuals_) writer.Write(residual);
  writer.Finish();
}

std::vector<TableNumbers> Release::Tables(std::span<const AttributeSet> tables,
                                          AnswerKind answers) const {
  const std::vector<AxisAnswers> all_axes = AxesOf(plan(), answers);
  std::vector<TableNumbers> numbers(tables.size());
  ReconstructTables(index_, tables, {}, [&](size_t t, std::span<const double> counts) {
    std::vector<const AxisAnswers*> axes;
    for (const int i : tables[t]) axes.push_back(&all_axes[static_cast<size_t>(i)]);
    numbers[t].variances = AnswerVariances(index_, tables[t], axes);
    numbers[t].half_step = TableHalfStep(index_, tables[t], axes, numbers[t].variances);
    if (numbers[t].variances.size() == 1) {
      numbers[t].estimates.assign(counts.begin(), counts.end());
    } else {
      numbers[t].estimates = AnswerTable(counts, axes);
    }
  });
  return numbers;
}

ProductQuery Release::Question(std::string_view text) const {
  return ParseQuestion(text, plan().domain);
}

Estimate Release::Answer(const ProductQuery& query) const { return residua::Answer(index_, query); }

double Release::Covariance(const ProductQuery& a, const ProductQuery& b) const {
  return residua::Covariance(index_, a, b);
}

}  // namespace residua
