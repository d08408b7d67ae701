#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "residua/model/domain.h"

namespace residua {

// A vector over the cells of an attribute: 1 on the ranges and 0 elsewhere (value lists are ranges
// of one cell), or a number for each cell.
struct AttributeWeights {
  int attribute = 0;
  std::variant<std::vector<CellRange>, std::vector<double>> weights;
};

// The query x -> (kron over attributes i of q_i)^T x, q_i = the weights of attribute i if it has
// any, else all ones: the number of rows with age in 18..30 and sex female, for example.
// Invariant: attributes strictly increasing; ranges sorted, neither touching nor empty, within the
// attribute; weights finite, one for each cell. An attribute whose weights are all one, which asks
// nothing of it, is left out.
class ProductQuery {
 public:
  // Takes attributes and ranges in any order, ranges that overlap included. No range at all, or an
  // attribute named twice, is Error{kBadInput}.
  ProductQuery(const Domain& domain, std::vector<AttributeWeights> factors);

  // The count of one cell of a table.
  static ProductQuery Cell(const Domain& domain, const AttributeSet& table,
                           std::span<const int64_t> cell);

  const AttributeSet& attributes() const { return attributes_; }
  // In the order of `attributes`.
  const std::vector<AttributeWeights>& factors() const { return factors_; }

 private:
  AttributeSet attributes_;
  std::vector<AttributeWeights> factors_;
};

// The weights written out, a number for each of `size` cells.
std::vector<double> DenseWeights(const AttributeWeights& factor, int64_t size);

// The sum of the weights, and of the products of two attributes' weights: what identity attributes
// ask of them. O(number of ranges) for ranges.
double SumOfWeights(const AttributeWeights& factor);
double Overlap(const AttributeWeights& factor_a, const AttributeWeights& factor_b);

}  // namespace residua
