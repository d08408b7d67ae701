#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "residua/base/rational.h"
#include "residua/basis/residual_matrix.h"
#include "residua/model/attribute.h"

namespace residua {

struct BasisInverse;  // basis/basis_inverse.h, which needs dense algebra

// What one query of an attribute contributes to the variance of a table cell: `residual` if the
// base mechanism contains the attribute (its diagonal entry of W P Gamma Gamma^T P^T W^T),
// `constant` if not (its squared entry of W z).
struct QueryVariance {
  double residual = 0;
  double constant = 0;
};

// The queries of one level of a hierarchy.
struct LevelVariance {
  int64_t num_answers = 0;
  QueryVariance mean;
  std::vector<QueryVariance> peaks;
};

// An attribute's residual basis, as far as choosing noise needs it. With I = z 1^T + P Sub and
// noise covariance Gamma Gamma^T:
//   `privacy_cost`  = max diag(Sub^T (Gamma Gamma^T)^-1 Sub), beta in the mathematics;
//   `mean`          = the average over the attribute's `num_answers` queries of what each
//                     contributes;
//   `peaks`         = contributions of the queries that can have the largest variance in a table,
//                     and of the counts beside a mean;
//   `levels`        = the same for the queries of each level of a hierarchy (AnswerLevels);
//   `weighted_mean`, `weighted_peaks` = the same as an objective counts them, by the shares and
//                     with the importance of WeighAnswers.
// It is measured in integers: the counts times `matrix`, of squared sensitivity
// `squared_sensitivity`, with a noise variance `variance_factor` times the base mechanism's, so
// that
//   privacy_cost = squared_sensitivity / variance_factor.
// With an IntegerMatrix, Sub = matrix, Gamma = I, and [1^T; matrix]^-1 = [z | P] is `inverse`.
// Where the attribute's queries do not tell all cells apart, the matrix has fewer rows and [z | P]
// is a right inverse with W = W (z 1^T + P matrix). With a SubtractionMatrix there is none: z =
// 1/n, and P applied to what Sub would give is (1/n)(I - 1 1^T / n) applied to what H gives.
// With a TreeMatrix, Sub = matrix, Gamma = I, and I = z 1^T + P Sub is kept node by node. With a
// ConvolutionMatrix too Sub = matrix and Gamma = I, and P is kept as another sequence.
struct ResidualBasis {
  int64_t size = 0;  // number of cells
  double privacy_cost = 0;
  int64_t num_answers = 0;
  QueryVariance mean;
  std::vector<QueryVariance> peaks;
  std::vector<LevelVariance> levels;  // empty, but for a hierarchy
  QueryVariance weighted_mean;
  std::vector<QueryVariance> weighted_peaks;
  Integer squared_sensitivity;
  Integer variance_factor;
  ResidualMatrix matrix;
  std::shared_ptr<const BasisInverse> inverse;  // copies of the basis share it

  bool is_identity() const { return std::holds_alternative<SubtractionMatrix>(matrix); }
  // Whether every query is determined by what is measured, not only the attribute's own.
  bool tells_cells_apart() const { return NumRowsOf(matrix, size) >= size - 1; }
  // All else follows from the attribute and the matrix.
  bool operator==(const ResidualBasis& other) const {
    return size == other.size && num_answers == other.num_answers && matrix == other.matrix;
  }
};

// The basis of identity attributes: Sub the subtraction matrix, measured as H = n I - 1 1^T with
// noise variance n^2 times the base mechanism's (ResidualPlanner's discrete measurement algorithm).
ResidualBasis IdentityBasis(int64_t size);
// The same of an attribute. Where its mean is asked, counts are published, which add up two of the
// cells: they have a place among the peaks beside the cells. The means are those of cells.
ResidualBasis IdentityBasis(const Attribute& attribute);

// How the inverse of a basis is computed: the fastest way, or as versions that wrote format 1 did,
// so that their releases are answered to the last digit.
enum class Inversion { kFastest, kAsInFormat1 };

// The oblique basis that an integer matrix makes for the attribute's queries. Error{kRefused} if
// the matrix does not fit the attribute, or its rows together with the all-ones row do not
// determine the queries' answers.
ResidualBasis BasisFromMatrix(const Attribute& attribute, IntegerMatrix matrix,
                              Inversion inversion = Inversion::kFastest);

// The same for a tree of the attribute's groups.
ResidualBasis BasisFromTree(const Attribute& attribute, TreeMatrix matrix);
// The same for a convolution, of prefix sums or ranges.
ResidualBasis BasisFromConvolution(const Attribute& attribute, ConvolutionMatrix matrix);
// Of any kind that is not the identity's.
ResidualBasis BasisFrom(const Attribute& attribute, const ResidualMatrix& matrix);

// Sets what the basis knows of its queries from what each contributes: `num_answers`, means, peaks
// and levels.
void SetVariances(const Attribute& attribute, std::vector<QueryVariance> of_answers,
                  ResidualBasis* basis);

// The largest squared column norm, exactly: how far one row of data moves the measured integers.
Integer SquaredSensitivity(const IntegerMatrix& matrix);

// Of the points (residual, constant), those that maximise some combination of both with
// non-negative coefficients: the vertices of their upper right convex hull. A cell's variance is
// such a combination in each attribute, the others held fixed, so that its maximum over a table is
// at a combination of vertices.
std::vector<QueryVariance> UpperRightHull(std::vector<QueryVariance> points);

// A subset of a hull's vertices, such that all others lie within `tolerance` (relative to the
// hull's extent) of the chain through it: the maximum over the subset is less by no more than
// that. A good basis for the largest variance has many vertices nearly in a line.
std::vector<QueryVariance> ThinHull(const std::vector<QueryVariance>& hull, double tolerance);

}  // namespace residua
