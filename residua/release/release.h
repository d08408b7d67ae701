#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "residua/files/plan_file.h"
#include "residua/measure/measurements.h"
#include "residua/reconstruct/answer_kind.h"
#include "residua/reconstruct/estimate.h"
#include "residua/reconstruct/mean_estimate.h"
#include "residua/reconstruct/product_query.h"
#include "residua/reconstruct/residual_index.h"

namespace residua {

// A table as it is published, row-major in the answers of its attributes. A single variance stands
// for all answers where they are alike. `half_step` is the largest of the answers, as of Estimate.
struct TableNumbers {
  std::vector<double> estimates;
  std::vector<double> variances;
  double half_step = 0;
};

// What adjusted tables are made to be.
struct Adjustment {
  bool nonnegative = false;  // the most likely counts that are not negative
  bool integers = false;     // whole numbers
};

// Tables that are biased and have no error bars. `max_deviation`, of non-negative tables: no answer
// is further from the most likely one, in standard deviations of its unbiased estimate.
struct AdjustedTables {
  std::vector<std::vector<double>> answers;  // of each table, row-major
  double max_deviation = 0;
};

// A measurement, whole and in memory: what every table and answer is made from. It does not change,
// so that several threads may ask it at once.
class Release {
 public:
  Release(PlanFile plan, std::vector<NoisyResidual> residuals);
  Release(const Release&) = delete;
  Release& operator=(const Release&) = delete;

  // Reads a measurement file; Error{kStopped} when asked to stop.
  static std::shared_ptr<const Release> Load(const std::filesystem::path& path,
                                             const std::stop_token& stop = {});
  // Writes one, whose plan names no data. Error{kRefused} if there is a file of that name.
  void Save(const std::filesystem::path& path) const;

  const PlanFile& plan_file() const { return plan_; }
  const Plan& plan() const { return plan_.plan; }
  // In the plan's order, whatever order they came in: that of MeasuredSets.
  const std::vector<NoisyResidual>& residuals() const { return residuals_; }
  const ResidualIndex& index() const { return index_; }

  // Each of `tables`, all of which have an attribute whose mean is asked; with intervals of so many
  // standard deviations to either side.
  std::vector<MeanColumns> MeanTables(std::span<const AttributeSet> tables, AnswerKind answers,
                                      double quantile) const;

  // Each of `tables`. Error{kBadInput} for one that the measurements do not cover, or that has a
  // mean.
  std::vector<TableNumbers> Tables(std::span<const AttributeSet> tables, AnswerKind answers) const;

  // Each of `tables`, adjusted. Non-negative tables agree with each other. Error{kBadInput} where
  // whole counts do not give whole answers.
  AdjustedTables Adjusted(std::span<const AttributeSet> tables, AnswerKind answers,
                          const Adjustment& adjustment) const;

  // "age=18..30 sex=female", as a query of this release's domain.
  ProductQuery Question(std::string_view text) const;
  // Error{kBadInput} for weights whose answer is beyond doubles, or nearly.
  Estimate Answer(const ProductQuery& query) const;
  Estimate Answer(std::string_view question) const { return Answer(Question(question)); }
  double Covariance(const ProductQuery& a, const ProductQuery& b) const;

 private:
  PlanFile plan_;
  std::vector<NoisyResidual> residuals_;
  ResidualIndex index_;  // of residuals_
};

}  // namespace residua
