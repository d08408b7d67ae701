#pragma once

#include <functional>
#include <span>
#include <vector>

#include "residua/reconstruct/estimate.h"
#include "residua/reconstruct/product_query.h"
#include "residua/reconstruct/residual_index.h"

namespace residua {

// All of these give Error{kBadInput}, naming the closest measured sets, for a query over a set that
// the measurements do not cover, and for one whose answer the bases do not determine: a custom
// query matrix may not tell all cells apart.

// Passes the values of a set to `use`, in their order, in pieces of any size.
using ReadPieces =
    std::function<void(const AttributeSet& set, const std::function<void(ResidualValues)>& use)>;

// The answer on the reconstructed table, without making it: every residual on a subset of the
// query's attributes is read once. `read_elsewhere` reads those whose values are elsewhere; the
// answer is the same to the last bit.
Estimate Answer(const ResidualIndex& index, const ProductQuery& query,
                const ReadPieces& read_elsewhere = {});

// The variance of the answer to one query, and the covariance of the answers to two, over any two
// covered sets A and B: only the noise that they share counts,
//   sum over A' subset A cap B of variance_{A'} prod_{i in A'} q_a,i^T P_i P_i^T q_b,i
//     prod_{j in A\A'} q_a,j^T z_j  prod_{j in B\A'} q_b,j^T z_j.
// O(2^|A cap B|) and, for an attribute of another basis than the identity, its size times its
// number of ranges: microseconds, whatever the size of the tables.
double Variance(const ResidualIndex& index, const ProductQuery& query);

// As of Estimate, for an answer of that variance.
double QueryHalfStep(const ResidualIndex& index, const ProductQuery& query, double variance);
double Covariance(const ResidualIndex& index, const ProductQuery& query_a,
                  const ProductQuery& query_b);

// sum over subsets of variance[mask] prod over k of (residual[k] if bit k is in the mask, else
// constant[k]), by folding the last bit again and again: `variances` has 2^k entries and is
// overwritten.
double FoldVariances(std::span<const double> residual, std::span<const double> constant,
                     std::span<double> variances);

}  // namespace residua
