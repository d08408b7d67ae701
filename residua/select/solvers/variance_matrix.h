#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "residua/basis/residual_basis.h"
#include "residua/model/symmetry.h"

namespace residua {

// variance of row j = sum over k in row j of coefficient[k] * (noise variance of mechanism
// column[k]). Rows are workload tables (or cells of them), columns are orbits of base mechanisms; a
// coefficient counts all subsets of the table in that orbit.
struct VarianceMatrix {
  int64_t num_columns = 0;
  std::vector<int64_t> row_begin = {0};
  std::vector<int32_t> column;
  std::vector<double> coefficient;
  std::vector<int64_t> table;  // the workload orbit each row belongs to

  int64_t num_rows() const { return static_cast<int64_t>(row_begin.size()) - 1; }
};

// How the answers of a table count: alike, as they are reported, or as WeighAnswers says, as an
// objective sees them.
enum class AnswerCounting { kAlike, kWeighted };

// One row a workload orbit: the mean variance of its cells.
VarianceMatrix MeanVarianceMatrix(const MultisetTable& tables, const MultisetTable& mechanisms,
                                  const std::vector<ResidualBasis>& basis_of_class,
                                  AnswerCounting counting);

// Rows for every cell that can have the largest variance of its table, one a combination of peaks;
// with a tolerance, only those of each basis's ThinHull.
VarianceMatrix PeakVarianceMatrix(const MultisetTable& tables, const MultisetTable& mechanisms,
                                  const std::vector<ResidualBasis>& basis_of_class,
                                  AnswerCounting counting, double tolerance = 0);

// The same for the answers of one level of one attribute of a class, all answers of all others
// counting alike. Only tables with the class have rows.
VarianceMatrix LevelMeanMatrix(const MultisetTable& tables, const MultisetTable& mechanisms,
                               const std::vector<ResidualBasis>& basis_of_class,
                               int attribute_class, size_t level);
VarianceMatrix LevelPeakMatrix(const MultisetTable& tables, const MultisetTable& mechanisms,
                               const std::vector<ResidualBasis>& basis_of_class,
                               int attribute_class, size_t level);

// result[j] = variance of row j.
void Multiply(const VarianceMatrix& matrix, std::span<const double> noise_variance,
              std::span<double> result);

// result[i] = sum over rows j of weight[j] * coefficient of column i.
void MultiplyTransposed(const VarianceMatrix& matrix, std::span<const double> weight,
                        std::span<double> result);

}  // namespace residua
