#pragma once

#include <Eigen/Core>

#include "residua/basis/matrix_root.h"
#include "residua/basis/query_space.h"
#include "residua/basis/tree/tree_root.h"

namespace residua {

// At most this many directions of an attribute are coupled with other attributes'. A fourth moves
// the bound by less than 0.1 %.
inline constexpr int kMaxActive = 3;

// One attribute in the bound of docs/lower_bound.md, everything scaled by sqrt(h):
//   `height` = h, `rest` = rho, and the active block B, up to orthogonal factors that change no
//   nuclear norm: B = corner * diag(1, second, third) * (I + twist E_32) * (I + link E_21),
// cut to its first `num_active` rows and columns. No entry is negative.
// The true quantities are at least these times 1 - `margin` (B B^T in the sense of definite
// matrices), and the attribute's V at least 1 - `query_margin` times the one they belong to.
struct AttributeSplit {
  double height = 0;
  double rest = 0;
  int num_active = 1;
  double corner = 1;
  double link = 0;
  double second = 0;
  double twist = 0;
  double third = 0;
  double margin = 0;
  double query_margin = 0;
};

// T with T^T T = V = W^T diag(weight) W, whose first row is 1^T / sqrt(h), h = 1^T V^+ 1.
struct AttributeFrame {
  Eigen::MatrixXd rows;          // a column for each cell, as many rows as W has rank
  Eigen::MatrixXd inverse_rows;  // T^-T, in the coordinates of the space
  double height = 0;
  double query_margin = 0;
  // Of a quotient, where a column stands for a block's normalised sum: the cells of each block, and
  // V on what is left of it; see QuerySpace.
  Eigen::VectorXd cells_of_block = {};
  Eigen::VectorXd left_over = {};
};
AttributeFrame FrameOf(const QuerySpace& space, const Eigen::VectorXd& query_weight);

// Identity queries with equal weights on answers and cells, in closed form.
AttributeSplit SplitIdentity(int64_t size);

inline constexpr double kBend = 0.7;

// S = (h T diag(lambda) T^T)^1/2 for weights `lambda` of the cells, scaled to sum at most 1. Its
// square is not above the true one: what eigenvalues may be too large by is taken off them. In a
// quotient lambda is that of one cell of each block, and S has sqrt(h lambda_g v_g) on what is left
// of block g, m_g - 1 times, orthogonal to every active direction.
struct FrameRoot {
  const AttributeFrame* frame = nullptr;
  Eigen::VectorXd lambda;
  Eigen::MatrixXd gram;  // h T diag(lambda) T^T
  Eigen::MatrixXd root;
  Eigen::VectorXd bent;  // S^kBend e_1
  double trace = 0;
  double left_over = 0;  // of the trace: what is left of the blocks of a quotient
  double norm = 0;       // the largest eigenvalue of S
};
Eigen::VectorXd ScaledToOne(const Eigen::VectorXd& lambda);
FrameRoot RootOf(const AttributeFrame& frame, const Eigen::VectorXd& lambda);

// Directions e_1, S e_1, S^kBend e_1, made orthonormal; fewer if the attribute has no more or they
// would not be determined well. S e_1 is there so that nothing is lost in tables without the
// attribute; of powers for the third, those just below S itself gave the best bounds (S^2 e_1, the
// next Krylov vector, loses up to 0.2 % of them).
AttributeSplit SplitWithActive(const FrameRoot& root, int num_active);

// The directions L, and L^T S L.
struct ActiveBlock {
  Eigen::MatrixXd directions;
  Eigen::MatrixXd block;
};
ActiveBlock ActiveBlockOf(const FrameRoot& root, int num_active);
// The split with this block of two or three rows, whatever its margin.
AttributeSplit SplitWith(const FrameRoot& root, const ActiveBlock& active);

// Without anything dense and with e_1 known exactly, so that nothing is amplified by an inverse,
// which would be seen in margins from tens of thousands of cells on. And with the polar factor of
// another matrix: P = (h K T diag(lambda) T^T K)^1/2 in place of S, K^2 = I + (`total_factor` - 1)
// e_1 e_1^T, and B = K^-1 L^T P L. Where tables with and without the attribute ask for the total in
// proportion to K^2, nothing is lost, whatever the directions (docs/lower_bound.md, Which polar
// factor). `lambda` sums to at most 1.
//
// Prefix sums: T = diag(`weight`)^1/2 W with the total first will do.
AttributeSplit SplitOfPrefixes(const Eigen::VectorXd& weight, const Eigen::VectorXd& lambda,
                               double total_factor, int num_active);
// All ranges with equal weights, and the mean of lambda and its mirror image: MirrorRanges. The
// opposites are all at rest.
AttributeSplit SplitOfRanges(const Eigen::VectorXd& lambda, double total_factor, int num_active);

// Trees of groups, by the root R of diag(lambda)^1/2 V diag(lambda)^1/2: S = O (sqrt(h) R) O^T with O
// orthogonal, and O^T e_1 = R^-1 lambda^1/2 / sqrt(h). The root gives it entry by entry: no inverse
// amplifies what rounding leaves open, however far the weights of levels are apart. The third
// direction is `Bent`. `lambda` sums to at most 1.
AttributeSplit SplitOfTree(const TreeRoot& root, const Eigen::VectorXd& lambda, int num_active);

// One direction x of the cells beside e_1: from lambda^1/2 (`place` 0), which loses nothing in
// tables without the attribute, to that of the polar factor (`place` 1).
AttributeSplit SplitWithoutActive(const FrameRoot& root, double place);

}  // namespace residua
