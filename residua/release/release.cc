#include "residua/release/release.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "residua/base/error.h"
#include "residua/base/memory.h"
#include "residua/base/stop.h"
#include "residua/files/measurement_file.h"
#include "residua/reconstruct/nonnegative_tables.h"
#include "residua/reconstruct/query_answer.h"
#include "residua/reconstruct/table_answers.h"
#include "residua/reconstruct/table_batches.h"
#include "residua/reconstruct/whole_counts.h"
#include "residua/release/publish_tables.h"
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

// Intervals of means and of ratios need fourth powers of answers, which are doubles up to here.
constexpr double kMaxAnswer = 1e75;
constexpr double kMaxVariance = 1e150;
// Below, products of variances and covariances lose digits, and then become 0.
constexpr double kMinVariance = 1e-150;

// With a weight for each cell, a question may ask for any multiple of an answer.
void CheckCanBeComputed(bool is_in_range) {
  if (is_in_range) return;
  Fail(ErrorKind::kBadInput,
       "the question's weights are too large or too small to compute with; multiply them all by "
       "one number that brings them near 1");
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
  MeasurementWriter writer(path, {plan(), plan_.data.WithoutPlaces()});
  for (const NoisyResidual& residual : residuals_) writer.Write(residual);
  writer.Finish();
}

std::vector<MeanColumns> Release::MeanTables(std::span<const AttributeSet> tables,
                                             AnswerKind answers, double quantile) const {
  const std::vector<AxisAnswers> all_axes = AxesOf(plan(), answers);
  std::vector<MeanColumns> columns(tables.size());
  ReconstructTables(index_, tables, {}, [&](size_t t, std::span<const double> counts) {
    columns[t] = MeanColumnsOf(plan(), index_, tables[t], all_axes, counts, quantile);
  });
  return columns;
}

std::vector<TableNumbers> Release::Tables(std::span<const AttributeSet> tables,
                                          AnswerKind answers) const {
  for (const AttributeSet& table : tables) {
    if (MeanAttribute(plan().domain, table) < 0) continue;
    Fail(ErrorKind::kBadInput, "{} has a mean, and no answers along it",
         SetName(plan().domain, table));
  }
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

AdjustedTables Release::Adjusted(std::span<const AttributeSet> tables, AnswerKind answers,
                                 const Adjustment& adjustment) const {
  CheckNoMeans(plan().domain, tables);
  const std::vector<AxisAnswers> all_axes = AxesOf(plan(), answers);
  const auto axes_of = [&](const AttributeSet& table) {
    std::vector<const AxisAnswers*> axes;
    for (const int i : table) axes.push_back(&all_axes[static_cast<size_t>(i)]);
    return axes;
  };
  if (adjustment.nonnegative && adjustment.integers) {
    std::set<int> attributes;
    for (const AttributeSet& table : tables) attributes.insert(table.begin(), table.end());
    for (const int i : attributes) {
      CheckWholeAnswers(plan().domain[i], all_axes[static_cast<size_t>(i)].queries);
    }
  }
  AdjustedTables adjusted;
  adjusted.answers.resize(tables.size());
  if (!adjustment.nonnegative) {
    ReconstructTables(index_, tables, {}, [&](size_t t, std::span<const double> counts) {
      adjusted.answers[t] = AnswerTable(counts, axes_of(tables[t]));
      if (adjustment.integers) RoundEach(adjusted.answers[t]);
    });
    return adjusted;
  }
  NonnegativeOptions options;
  options.memory_budget_bytes = MemoryOfMachine() / 2;
  const NonnegativeTables fitted = ReconstructNonnegative(index_, tables, options);
  adjusted.max_deviation = fitted.max_deviation;
  for (size_t t = 0; t < tables.size(); ++t) {
    std::vector<double> counts = CountsOf(fitted, plan().domain, tables[t]);
    if (adjustment.integers) RoundToTotal(fitted.total, counts);
    adjusted.answers[t] = AnswerTable(counts, axes_of(tables[t]));
  }
  return adjusted;
}

ProductQuery Release::Question(std::string_view text) const {
  return ParseQuestion(text, plan().domain);
}

Estimate Release::Answer(const ProductQuery& query) const {
  const Estimate answer = residua::Answer(index_, query);
  const bool is_nothing = answer.value == 0 && answer.variance == 0;
  CheckCanBeComputed(is_nothing ||
                     (std::abs(answer.value) <= kMaxAnswer && answer.variance >= kMinVariance &&
                      answer.variance <= kMaxVariance));
  return answer;
}

double Release::Covariance(const ProductQuery& a, const ProductQuery& b) const {
  const double covariance = residua::Covariance(index_, a, b);
  CheckCanBeComputed(std::abs(covariance) <= kMaxVariance);
  return covariance;
}

}  // namespace residua
