#include "residua/reconstruct/product_query.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "residua/base/error.h"

namespace residua {
namespace {

// Sorted, overlapping and touching ones joined.
std::vector<CellRange> Normalise(const Attribute& attribute, std::vector<CellRange> ranges) {
  for (const CellRange& range : ranges) {
    if (range.first < 0 || range.last >= attribute.size || range.first > range.last) {
      Fail(ErrorKind::kBadInput, "attribute '{}' has no cells {} to {}; its cells are 0 to {}",
           attribute.name, range.first, range.last, attribute.size - 1);
    }
  }
  if (ranges.empty()) {
    Fail(ErrorKind::kBadInput, "the query names no cell of attribute '{}'", attribute.name);
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const CellRange& a, const CellRange& b) { return a.first < b.first; });
  std::vector<CellRange> joined;
  for (const CellRange& range : ranges) {
    if (!joined.empty() && range.first <= joined.back().last + 1) {
      joined.back().last = std::max(joined.back().last, range.last);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

void CheckWeights(const Attribute& attribute, const std::vector<double>& weights) {
  if (static_cast<int64_t>(weights.size()) != attribute.size) {
    Fail(ErrorKind::kBadInput, "{} weights for the {} cells of attribute '{}'", weights.size(),
         attribute.size, attribute.name);
  }
  for (const double weight : weights) {
    if (!std::isfinite(weight)) {
      Fail(ErrorKind::kBadInput, "a weight of attribute '{}' is {}; weights are finite numbers",
           attribute.name, weight);
    }
  }
}

bool IsAllOnes(const AttributeWeights& factor, int64_t size) {
  if (const auto* ranges = std::get_if<std::vector<CellRange>>(&factor.weights)) {
    return ranges->size() == 1 && ranges->front() == CellRange{0, size - 1};
  }
  const auto& weights = std::get<std::vector<double>>(factor.weights);
  return std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 1; });
}

}  // namespace

ProductQuery::ProductQuery(const Domain& domain, std::vector<AttributeWeights> factors) {
  std::sort(factors.begin(), factors.end(),
            [](const auto& a, const auto& b) { return a.attribute < b.attribute; });
  int last = -1;
  for (AttributeWeights& factor : factors) {
    if (factor.attribute < 0 || factor.attribute >= domain.size()) {
      Fail(ErrorKind::kBadInput, "there is no attribute {}; they are 0 to {}", factor.attribute,
           domain.size() - 1);
    }
    const Attribute& attribute = domain[factor.attribute];
    if (factor.attribute == last) {
      Fail(ErrorKind::kBadInput, "the query names attribute '{}' twice; join its values with |",
           attribute.name);
    }
    last = factor.attribute;
    if (auto* ranges = std::get_if<std::vector<CellRange>>(&factor.weights)) {
      *ranges = Normalise(attribute, std::move(*ranges));
    } else {
      CheckWeights(attribute, std::get<std::vector<double>>(factor.weights));
    }
    if (IsAllOnes(factor, attribute.size)) continue;
    attributes_.push_back(factor.attribute);
    factors_.push_back(std::move(factor));
  }
}

ProductQuery ProductQuery::Cell(const Domain& domain, const AttributeSet& table,
                                std::span<const int64_t> cell) {
  if (cell.size() != table.size()) {
    Fail(ErrorKind::kBadInput, "a cell of a table of {} attributes has {} values, not {}",
         table.size(), table.size(), cell.size());
  }
  std::vector<AttributeWeights> factors;
  for (size_t k = 0; k < table.size(); ++k) {
    factors.push_back({table[k], std::vector<CellRange>{{cell[k], cell[k]}}});
  }
  return ProductQuery(domain, std::move(factors));
}

std::vector<double> DenseWeights(const AttributeWeights& factor, int64_t size) {
  if (const auto* weights = std::get_if<std::vector<double>>(&factor.weights)) return *weights;
  std::vector<double> dense(static_cast<size_t>(size), 0.0);
  for (const CellRange& range : std::get<std::vector<CellRange>>(factor.weights)) {
    std::fill(dense.begin() + range.first, dense.begin() + range.last + 1, 1.0);
  }
  return dense;
}

double SumOfWeights(const AttributeWeights& factor) {
  double sum = 0;
  if (const auto* ranges = std::get_if<std::vector<CellRange>>(&factor.weights)) {
    for (const CellRange& range : *ranges) sum += static_cast<double>(range.last - range.first + 1);
  } else {
    for (const double weight : std::get<std::vector<double>>(factor.weights)) sum += weight;
  }
  return sum;
}

double Overlap(const AttributeWeights& factor_a, const AttributeWeights& factor_b) {
  const auto* ranges_a = std::get_if<std::vector<CellRange>>(&factor_a.weights);
  const auto* ranges_b = std::get_if<std::vector<CellRange>>(&factor_b.weights);
  if (ranges_a == nullptr && ranges_b != nullptr) return Overlap(factor_b, factor_a);
  double overlap = 0;
  if (ranges_a != nullptr && ranges_b != nullptr) {
    for (size_t a = 0, b = 0; a < ranges_a->size() && b < ranges_b->size();) {
      const CellRange& range_a = (*ranges_a)[a];
      const CellRange& range_b = (*ranges_b)[b];
      const int64_t common =
          std::min(range_a.last, range_b.last) - std::max(range_a.first, range_b.first) + 1;
      overlap += static_cast<double>(std::max<int64_t>(common, 0));
      (range_a.last < range_b.last ? a : b) += 1;
    }
    return overlap;
  }
  const auto& weights_b = std::get<std::vector<double>>(factor_b.weights);
  if (ranges_a != nullptr) {
    for (const CellRange& range : *ranges_a) {
      for (int64_t k = range.first; k <= range.last; ++k) {
        overlap += weights_b[static_cast<size_t>(k)];
      }
    }
    return overlap;
  }
  const auto& weights_a = std::get<std::vector<double>>(factor_a.weights);
  for (size_t k = 0; k < weights_a.size(); ++k) overlap += weights_a[k] * weights_b[k];
  return overlap;
}

}  // namespace residua
