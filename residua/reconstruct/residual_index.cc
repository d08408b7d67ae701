#include "residua/reconstruct/residual_index.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/basis/basis_inverse.h"
#include "residua/basis/structured_inverse.h"
#include "residua/noise/discrete_gaussian.h"
#include "residua/reconstruct/closest_sets.h"

namespace residua {
namespace {

// With more attributes, a table has more subsets than anyone measures.
constexpr size_t kMaxOrder = 24;

// From here on the variance of a discrete Gaussian is its parameter, to a double: the relative
// difference is 8 pi^2 v exp(-2 pi^2 v), below 1e-31.
constexpr int kLargeVariance = 4;

// Of the noise on an integer in units of one, drawn on a lattice 2^`scale_bits` times `row_steps`
// times finer.
double TrueVariance(const Rational& variance, int scale_bits, int64_t row_steps) {
  const Integer scale = ToInteger(row_steps) << static_cast<unsigned>(scale_bits);
  const Rational drawn = variance * (scale * scale);
  if (drawn >= kLargeVariance) return variance.get_d();
  const auto steps = static_cast<double>(row_steps);
  return std::ldexp(DiscreteGaussianVariance(drawn), -2 * scale_bits) / (steps * steps);
}

void CheckBasis(const Attribute& attribute, const ResidualBasis& basis) {
  if (basis.size != attribute.size) {
    Fail(ErrorKind::kBadInput, "attribute '{}' has {} cells and a basis of {}", attribute.name,
         attribute.size, basis.size);
  }
  RESIDUA_CHECK(basis.variance_factor > 0);
  if (basis.is_identity()) return;
  RESIDUA_CHECK(basis.inverse != nullptr);
  const Eigen::VectorXd& constant = basis.inverse->constant;
  if (const StructuredInverse* structured = basis.inverse->structured.get()) {
    RESIDUA_CHECK(structured->num_cells() == basis.size && constant.size() == basis.size &&
                  structured->num_rows() == NumResidualRows(basis) && constant.allFinite());
    return;
  }
  const auto& matrix = std::get<IntegerMatrix>(basis.matrix);
  const Eigen::MatrixXd& residual = basis.inverse->residual;
  if (constant.size() != basis.size || residual.rows() != basis.size ||
      residual.cols() != matrix.num_rows || !constant.allFinite() || !residual.allFinite()) {
    Fail(ErrorKind::kBadInput,
         "the inverse basis of attribute '{}' must be {} finite numbers and a {} x {} matrix",
         attribute.name, basis.size, basis.size, matrix.num_rows);
  }
}

void CheckSet(const Domain& domain, std::span<const int> set) {
  for (size_t k = 0; k < set.size(); ++k) {
    if (set[k] < 0 || set[k] >= domain.size()) {
      Fail(ErrorKind::kBadInput, "there is no attribute {}; they are 0 to {}", set[k],
           domain.size() - 1);
    }
    if (k > 0 && set[k] <= set[k - 1]) {
      Fail(ErrorKind::kBadInput, "attribute '{}' is out of order or named twice in a set",
           domain[set[k]].name);
    }
  }
}

}  // namespace

ResidualIndex::ResidualIndex(Domain domain, std::vector<ResidualBasis> basis_of_attribute,
                             std::span<const ResidualView> residuals)
    : domain_(std::move(domain)), bases_(std::move(basis_of_attribute)) {
  if (static_cast<int>(bases_.size()) != domain_.size()) {
    Fail(ErrorKind::kBadInput, "{} bases for {} attributes; give one for each", bases_.size(),
         domain_.size());
  }
  for (size_t i = 0; i < bases_.size(); ++i) {
    CheckBasis(domain_[static_cast<int>(i)], bases_[i]);
  }
  // Sets of one orbit share their noise: few variances are computed twice.
  std::map<std::tuple<Rational, int, int64_t>, double> true_variance;
  entries_.reserve(residuals.size());
  for (const ResidualView& residual : residuals) {
    CheckSet(domain_, residual.attributes);
    int64_t num_values = 1;
    double factor = 1;
    for (const int i : residual.attributes) {
      num_values = CheckedMultiply(num_values, NumResidualRows(basis(i)));
      factor *= basis(i).variance_factor.get_d();
    }
    const auto given = static_cast<int64_t>(
        std::visit([](const auto& values) { return values.size(); }, residual.values));
    if (given != (residual.is_elsewhere ? 0 : num_values)) {
      Fail(ErrorKind::kBadInput, "the residual of {} has {} values; its bases ask for {}",
           SetName(domain_, residual.attributes), given, num_values);
    }
    if (residual.scale_bits < 0 || residual.scale_bits > 62) {
      Fail(ErrorKind::kBadInput, "the residual of {} has a scale of 2^{}; at most 2^62 is read",
           SetName(domain_, residual.attributes), residual.scale_bits);
    }
    const int64_t row_steps = RowSteps(domain_, residual.attributes);
    auto [known, is_new] =
        true_variance.try_emplace({residual.noise_variance, residual.scale_bits, row_steps}, 0);
    if (is_new) {
      known->second = TrueVariance(residual.noise_variance, residual.scale_bits, row_steps);
    }
    const double variance = known->second / factor;
    if (!(variance > 0) || !std::isfinite(variance)) {
      Fail(ErrorKind::kTooLarge, "the noise variance of {} does not fit a double",
           SetName(domain_, residual.attributes));
    }
    if (sets_.Insert(residual.attributes) != static_cast<int64_t>(entries_.size())) {
      Fail(ErrorKind::kBadInput, "there are two residuals of {}",
           SetName(domain_, residual.attributes));
    }
    const double unit = std::ldexp(1.0, -residual.scale_bits) / static_cast<double>(row_steps);
    entries_.push_back(
        {residual.values, unit, variance, unit * unit / factor, residual.is_elsewhere});
    has_coarse_noise_ |= HalfStep(entries_.back().squared_step, variance) > 0;
  }
}

void CheckHasValues(const ResidualIndex::Entry& entry) { RESIDUA_CHECK(!entry.is_elsewhere); }

double HalfStep(double squared_step, double variance) {
  constexpr double kSmallStep = 1.0 / 32;
  const double step = std::sqrt(squared_step);
  return step < kSmallStep * std::sqrt(variance) ? 0 : step / 2;
}

int64_t ResidualIndex::FindNear(int64_t last, std::span<const int> set) const {
  if (last >= 0 && std::ranges::equal(sets_[last], set)) return last;
  if (last + 1 < size() && std::ranges::equal(sets_[last + 1], set)) return last + 1;
  return sets_.Find(set).value_or(-1);
}

int64_t ResidualIndex::NumCells(std::span<const int> set) const {
  CheckSet(domain_, set);
  int64_t num_cells = 1;
  for (const int i : set) num_cells = CheckedMultiply(num_cells, domain_[i].size);
  return num_cells;
}

void ResidualIndex::FindSubsets(const AttributeSet& table,
                                std::vector<const Entry*>* entries) const {
  CheckSet(domain_, table);
  if (table.size() > kMaxOrder) {
    Fail(ErrorKind::kTooLarge, "a table of {} attributes; at most {} can be reconstructed",
         table.size(), kMaxOrder);
  }
  const auto find = [&](std::span<const int> subset) {
    const Entry* entry = Find(subset);
    if (entry != nullptr) return entry;
    std::string closest;
    for (const AttributeSet& set : ClosestMeasured(*this, table, 3)) {
      closest += (closest.empty() ? "; the closest that are: " : ", ") + SetName(domain_, set);
    }
    Fail(ErrorKind::kBadInput, "the table {} was not measured{}", SetName(domain_, table), closest);
  };
  find(table);  // first: if it is missing, so is the table
  entries->resize(size_t{1} << table.size());
  ForEachSubset(table,
                [&](size_t mask, std::span<const int> subset) { (*entries)[mask] = find(subset); });
}

ResidualIndex IndexResiduals(const Plan& plan, std::span<const NoisyResidual> residuals) {
  std::vector<ResidualView> views;
  views.reserve(residuals.size());
  for (const NoisyResidual& residual : residuals) views.push_back(ViewOf(residual));
  return ResidualIndex(plan.domain, BasisOfAttributes(plan), views);
}

ResidualIndex IndexResiduals(const Measurements& measurements) {
  const Plan& plan = measurements.plan;
  std::vector<ResidualView> views;
  views.reserve(measurements.residuals.size());
  for (const auto& [set, residual] : measurements.residuals) {
    RESIDUA_CHECK(set == residual.attributes);
    views.push_back(ViewOf(residual));
  }
  return ResidualIndex(plan.domain, BasisOfAttributes(plan), views);
}

ResidualView ViewOf(const NoisyResidual& residual) {
  return {residual.attributes,
          std::visit([](const auto& values) { return ResidualValues(std::span(values)); },
                     residual.values),
          residual.noise_variance, residual.scale_bits};
}

}  // namespace residua
