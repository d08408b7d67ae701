#include "residua/basis/query_matrix.h"

#include <algorithm>
#include <cmath>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/basis/dense_products.h"
#include "residua/model/answer_weights.h"

namespace residua {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Up to this many cells the general way is fast, and its last digits are in older files.
constexpr int64_t kFewCells = 256;

Eigen::Index At(int64_t k) { return static_cast<Eigen::Index>(k); }

// sums(j, k) = the sum of M over the first j rows and k columns; one row and column larger than M.
MatrixXd RunningSums(const MatrixXd& matrix) {
  const Eigen::Index n = matrix.rows();
  MatrixXd sums = MatrixXd::Zero(n + 1, n + 1);
  for (Eigen::Index k = 0; k < n; ++k) {
    double column = 0;
    for (Eigen::Index j = 0; j < n; ++j) {
      column += matrix(j, k);
      sums(j + 1, k + 1) = sums(j + 1, k) + column;
    }
  }
  return sums;
}

// G(j, k) = total[max(j, k)].
MatrixXd OfLargerIndex(const VectorXd& total) {
  const Eigen::Index n = total.size();
  MatrixXd gram(n, n);
  for (Eigen::Index k = 0; k < n; ++k) {
    for (Eigen::Index j = 0; j < n; ++j) gram(j, k) = total(std::max(j, k));
  }
  return gram;
}

// Cells j <= k are together in the ranges that start at or before j and end at or after k: sums of
// weights over a corner of the (first, last) square, gathered from that corner.
MatrixXd RangeGram(int64_t n, const VectorXd& weight) {
  MatrixXd gram = MatrixXd::Zero(n, n);
  for (int64_t first = 0; first < n; ++first) {
    double ends = 0;
    for (int64_t last = n - 1; last >= first; --last) {
      ends += weight(At(AnswerOfRange(n, {first, last})));
      gram(first, last) = ends;
    }
    if (first > 0) {
      for (int64_t last = first; last < n; ++last) gram(first, last) += gram(first - 1, last);
    }
  }
  return gram.selfadjointView<Eigen::Upper>();
}

}  // namespace

QueryMatrix::QueryMatrix(const Attribute& attribute)
    : kind_(attribute.queries), num_cells_(attribute.size), num_answers_(NumAnswers(attribute)) {
  CheckQueries(attribute);
  for (const CellGroup& group : attribute.groups) groups_.push_back(group.cells);
  if (kind_ == QueryKind::kCustom) {
    custom_ =
        Eigen::Map<const RowMajorMatrix>(attribute.custom.entries.data(), num_answers_, num_cells_);
  }
}

QueryMatrix::QueryMatrix(MatrixXd matrix)
    : kind_(QueryKind::kCustom),
      num_cells_(matrix.cols()),
      num_answers_(matrix.rows()),
      custom_(std::move(matrix)) {}

VectorXd QueryMatrix::Row(int64_t answer) const {
  RESIDUA_CHECK(answer >= 0 && answer < num_answers_);
  VectorXd row = VectorXd::Zero(num_cells_);
  switch (kind_) {
    case QueryKind::kIdentity:
      row(answer) = 1;
      break;
    case QueryKind::kPrefix:
      row.head(answer + 1).setOnes();
      break;
    case QueryKind::kRange: {
      const CellRange range = RangeOfAnswer(num_cells_, answer);
      row.segment(range.first, range.last - range.first + 1).setOnes();
      break;
    }
    case QueryKind::kHierarchy:
      if (answer < num_cells_) {
        row(answer) = 1;
      } else {
        for (const int64_t cell : groups_[static_cast<size_t>(answer - num_cells_)]) row(cell) = 1;
      }
      break;
    case QueryKind::kCustom:
      row = custom_.row(answer);
      break;
  }
  return row;
}

VectorXd QueryMatrix::Apply(const VectorXd& cells) const {
  const std::vector<double> answers =
      ApplyAlongAxis(std::vector<double>(cells.begin(), cells.end()), 1, 1);
  return Eigen::Map<const VectorXd>(answers.data(), num_answers_);
}

MatrixXd QueryMatrix::Gram() const { return Gram(VectorXd::Ones(num_answers_)); }

MatrixXd QueryMatrix::Gram(const VectorXd& weight) const {
  RESIDUA_CHECK(weight.size() == num_answers_);
  switch (kind_) {
    case QueryKind::kIdentity:
      return weight.asDiagonal();
    case QueryKind::kPrefix: {
      VectorXd total = weight;  // of the prefixes that reach a cell
      for (Eigen::Index k = total.size() - 1; k > 0; --k) total(k - 1) += total(k);
      return OfLargerIndex(total);
    }
    case QueryKind::kRange:
      return RangeGram(num_cells_, weight);
    case QueryKind::kHierarchy: {
      MatrixXd gram = weight.head(num_cells_).asDiagonal();
      for (size_t g = 0; g < groups_.size(); ++g) {
        const double w = weight(num_cells_ + static_cast<Eigen::Index>(g));
        for (const int64_t j : groups_[g]) {
          for (const int64_t k : groups_[g]) gram(j, k) += w;
        }
      }
      return gram;
    }
    case QueryKind::kCustom:
      return TransposedProduct(custom_, MatrixXd(weight.asDiagonal() * custom_));
  }
  RESIDUA_CHECK(false);
}

VectorXd QueryMatrix::QuadraticForms(const MatrixXd& symmetric) const {
  RESIDUA_CHECK(symmetric.rows() == num_cells_ && symmetric.cols() == num_cells_);
  switch (kind_) {
    case QueryKind::kIdentity:
      return symmetric.diagonal();
    case QueryKind::kPrefix:
      return RunningSums(symmetric).diagonal().tail(num_cells_);
    case QueryKind::kRange: {
      const MatrixXd sums = RunningSums(symmetric);
      VectorXd forms(num_answers_);
      Eigen::Index answer = 0;
      for (int64_t first = 0; first < num_cells_; ++first) {
        for (int64_t end = first + 1; end <= num_cells_; ++end) {
          forms(answer++) = sums(end, end) - 2 * sums(first, end) + sums(first, first);
        }
      }
      return forms;
    }
    case QueryKind::kHierarchy: {
      VectorXd forms(num_answers_);
      forms.head(num_cells_) = symmetric.diagonal();
      for (size_t g = 0; g < groups_.size(); ++g) {
        double form = 0;
        for (const int64_t j : groups_[g]) {
          for (const int64_t k : groups_[g]) form += symmetric(j, k);
        }
        forms(num_cells_ + static_cast<Eigen::Index>(g)) = form;
      }
      return forms;
    }
    case QueryKind::kCustom:
      return Product(custom_, symmetric).cwiseProduct(custom_).rowwise().sum();
  }
  RESIDUA_CHECK(false);
}

VectorXd QueryMatrix::SquaredNorms(const MatrixXd& p) const {
  RESIDUA_CHECK(p.rows() == num_cells_);
  if (kind_ == QueryKind::kIdentity) return p.rowwise().squaredNorm();
  if ((kind_ != QueryKind::kPrefix && kind_ != QueryKind::kRange) || num_cells_ <= kFewCells) {
    return QuadraticForms(ProductTransposed(p, p));
  }
  MatrixXd sums = p;  // of the first rows
  for (Eigen::Index k = 0; k < sums.cols(); ++k) {
    for (Eigen::Index j = 1; j < sums.rows(); ++j) sums(j, k) += sums(j - 1, k);
  }
  if (kind_ == QueryKind::kPrefix) {
    VectorXd norms = VectorXd::Zero(num_answers_);
    for (Eigen::Index k = 0; k < sums.cols(); ++k) norms += sums.col(k).cwiseAbs2();
    return norms;
  }
  const MatrixXd products = SquareOfRows(sums);
  VectorXd norms(num_answers_);
  Eigen::Index answer = 0;
  for (int64_t first = 0; first < num_cells_; ++first) {
    for (int64_t last = first; last < num_cells_; ++last) {
      norms(answer) = products(last, last);
      if (first > 0) {
        norms(answer) += products(first - 1, first - 1) - 2 * products(last, first - 1);
      }
      ++answer;
    }
  }
  return norms;
}

std::vector<double> QueryMatrix::ApplyAlongAxis(const std::vector<double>& values, int64_t outer,
                                                int64_t inner) const {
  RESIDUA_CHECK(static_cast<int64_t>(values.size()) == outer * num_cells_ * inner);
  std::vector<double> answers(
      static_cast<size_t>(CheckedMultiply(CheckedMultiply(outer, num_answers_), inner)));
  for (int64_t o = 0; o < outer; ++o) {
    const double* from = values.data() + o * num_cells_ * inner;
    double* to = answers.data() + o * num_answers_ * inner;
    // to(answer) += factor * from(cell), for a whole line of the inner axis.
    const auto add = [&](int64_t answer, int64_t cell, double factor) {
      for (int64_t c = 0; c < inner; ++c) {
        to[answer * inner + c] += factor * from[cell * inner + c];
      }
    };
    // to(answer) = to(before) + from(cell).
    const auto extend = [&](int64_t answer, int64_t before, int64_t cell) {
      for (int64_t c = 0; c < inner; ++c) {
        to[answer * inner + c] = to[before * inner + c] + from[cell * inner + c];
      }
    };
    switch (kind_) {
      case QueryKind::kIdentity:
        std::copy(from, from + num_cells_ * inner, to);
        break;
      case QueryKind::kPrefix:
        add(0, 0, 1);
        for (int64_t k = 1; k < num_cells_; ++k) extend(k, k - 1, k);
        break;
      case QueryKind::kRange: {
        int64_t answer = 0;
        // Along the last axis, where most of a table's ranges are: the same sums in a register.
        for (int64_t first = 0; first < num_cells_ && inner == 1; ++first) {
          double sum = 0;
          for (int64_t last = first; last < num_cells_; ++last) to[answer++] = sum += from[last];
        }
        if (inner == 1) break;
        for (int64_t first = 0; first < num_cells_; ++first) {
          add(answer++, first, 1);
          for (int64_t last = first + 1; last < num_cells_; ++last, ++answer) {
            extend(answer, answer - 1, last);
          }
        }
        break;
      }
      case QueryKind::kHierarchy:
        std::copy(from, from + num_cells_ * inner, to);
        for (size_t g = 0; g < groups_.size(); ++g) {
          for (const int64_t cell : groups_[g]) add(num_cells_ + static_cast<int64_t>(g), cell, 1);
        }
        break;
      case QueryKind::kCustom:
        for (int64_t answer = 0; answer < num_answers_; ++answer) {
          for (int64_t cell = 0; cell < num_cells_; ++cell) {
            add(answer, cell, custom_(answer, cell));
          }
        }
        break;
    }
  }
  return answers;
}

}  // namespace residua
