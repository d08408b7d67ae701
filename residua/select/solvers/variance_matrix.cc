#include "residua/select/solvers/variance_matrix.h"

#include <algorithm>
#include <functional>

#include "residua/base/error.h"
#include "residua/model/closure.h"

namespace residua {
namespace {

// Rows of a few hundred million entries would not fit the memory of most machines.
constexpr int64_t kMaxEntries = 400'000'000;

// Coefficients of t^0..t^k of the product of (constant + residual t): the total contribution of
// the subsets that take 0..k of the attributes.
std::vector<double> TakeCoefficients(const std::vector<QueryVariance>& queries) {
  std::vector<double> coefficients = {1.0};
  for (const QueryVariance& query : queries) {
    coefficients.push_back(0.0);
    for (size_t k = coefficients.size() - 1; k > 0; --k) {
      coefficients[k] = coefficients[k] * query.constant + coefficients[k - 1] * query.residual;
    }
    coefficients[0] *= query.constant;
  }
  return coefficients;
}

class RowBuilder {
 public:
  RowBuilder(const MultisetTable& mechanisms, VarianceMatrix* matrix)
      : mechanisms_(mechanisms), matrix_(matrix) {
    matrix->num_columns = mechanisms.size();
  }

  void AddRow(int64_t table, const std::vector<ClassRun>& runs,
              const std::vector<const std::vector<double>*>& coefficients) {
    ForEachSubOrbit(runs, [&](std::span<const int> sub, std::span<const int> taken) {
      const auto index = mechanisms_.Find(sub);
      RESIDUA_CHECK(index.has_value());
      double coefficient = 1.0;
      for (size_t k = 0; k < taken.size(); ++k) {
        coefficient *= (*coefficients[k])[static_cast<size_t>(taken[k])];
      }
      matrix_->column.push_back(static_cast<int32_t>(*index));
      matrix_->coefficient.push_back(coefficient);
    });
    if (static_cast<int64_t>(matrix_->column.size()) > kMaxEntries) {
      Fail(ErrorKind::kTooLarge,
           "the workload's variances have more than {} terms; ask for fewer marginals",
           kMaxEntries);
    }
    matrix_->row_begin.push_back(static_cast<int64_t>(matrix_->column.size()));
    matrix_->table.push_back(table);
  }

 private:
  const MultisetTable& mechanisms_;
  VarianceMatrix* matrix_;
};

// All multisets of `count` peaks, each as its coefficients; one of them is of `first`, if that is
// given.
std::vector<std::vector<double>> PeakChoices(const std::vector<QueryVariance>& peaks, int count,
                                             const std::vector<QueryVariance>* first = nullptr) {
  std::vector<std::vector<double>> choices;
  std::vector<QueryVariance> chosen;
  const std::function<void(size_t)> extend = [&](size_t least) {
    if (static_cast<int>(chosen.size()) == count) {
      choices.push_back(TakeCoefficients(chosen));
      return;
    }
    for (size_t k = least; k < peaks.size(); ++k) {
      chosen.push_back(peaks[k]);
      extend(k);
      chosen.pop_back();
    }
  };
  if (first == nullptr) {
    extend(0);
    return choices;
  }
  for (const QueryVariance& peak : *first) {
    chosen = {peak};
    extend(0);
  }
  return choices;
}

// Which tables have rows.
constexpr auto kEveryTable = [](const std::vector<ClassRun>&) { return true; };
struct TablesWith {
  int attribute_class;
  bool operator()(const std::vector<ClassRun>& runs) const {
    return std::any_of(runs.begin(), runs.end(),
                       [&](const ClassRun& run) { return run.attribute_class == attribute_class; });
  }
};

// Rows for all combinations of one choice per run; choices_of(class, count) lists the choices of a
// run. Tables without rows are those that asks_for(runs) leaves out.
template <typename ChoicesOf, typename AsksFor>
VarianceMatrix BuildMatrix(const MultisetTable& tables, const MultisetTable& mechanisms,
                           const ChoicesOf& choices_of, const AsksFor& asks_for) {
  VarianceMatrix matrix;
  RowBuilder builder(mechanisms, &matrix);
  // Runs repeat from table to table: keyed by class, then by count.
  std::vector<std::vector<std::vector<std::vector<double>>>> cache;
  const auto cached = [&](const ClassRun& run) -> const std::vector<std::vector<double>>& {
    const auto c = static_cast<size_t>(run.attribute_class);
    const auto count = static_cast<size_t>(run.count);
    if (cache.size() <= c) cache.resize(c + 1);
    if (cache[c].size() <= count) cache[c].resize(count + 1);
    if (cache[c][count].empty()) cache[c][count] = choices_of(run);
    return cache[c][count];
  };
  for (int64_t j = 0; j < tables.size(); ++j) {
    const std::vector<ClassRun> runs = ClassRuns(tables[j]);
    if (!asks_for(runs)) continue;
    for (const ClassRun& run : runs) cached(run);
    std::vector<size_t> choice(runs.size(), 0);
    std::vector<const std::vector<double>*> coefficients(runs.size());
    for (;;) {
      for (size_t k = 0; k < runs.size(); ++k) coefficients[k] = &cached(runs[k])[choice[k]];
      builder.AddRow(j, runs, coefficients);
      size_t k = 0;
      while (k < runs.size() && choice[k] + 1 == cached(runs[k]).size()) choice[k++] = 0;
      if (k == runs.size()) break;
      ++choice[k];
    }
  }
  return matrix;
}

}  // namespace

VarianceMatrix MeanVarianceMatrix(const MultisetTable& tables, const MultisetTable& mechanisms,
                                  const std::vector<ResidualBasis>& basis_of_class,
                                  AnswerCounting counting) {
  const auto choices_of = [&](const ClassRun& run) {
    const ResidualBasis& basis = basis_of_class[static_cast<size_t>(run.attribute_class)];
    const std::vector<QueryVariance> queries(
        static_cast<size_t>(run.count),
        counting == AnswerCounting::kAlike ? basis.mean : basis.weighted_mean);
    return std::vector<std::vector<double>>{TakeCoefficients(queries)};
  };
  return BuildMatrix(tables, mechanisms, choices_of, kEveryTable);
}

VarianceMatrix PeakVarianceMatrix(const MultisetTable& tables, const MultisetTable& mechanisms,
                                  const std::vector<ResidualBasis>& basis_of_class,
                                  AnswerCounting counting, double tolerance) {
  const auto choices_of = [&](const ClassRun& run) {
    const ResidualBasis& basis = basis_of_class[static_cast<size_t>(run.attribute_class)];
    const auto& peaks = counting == AnswerCounting::kAlike ? basis.peaks : basis.weighted_peaks;
    return PeakChoices(tolerance > 0 ? ThinHull(peaks, tolerance) : peaks, run.count);
  };
  return BuildMatrix(tables, mechanisms, choices_of, kEveryTable);
}

VarianceMatrix LevelMeanMatrix(const MultisetTable& tables, const MultisetTable& mechanisms,
                               const std::vector<ResidualBasis>& basis_of_class,
                               int attribute_class, size_t level) {
  const auto choices_of = [&](const ClassRun& run) {
    const ResidualBasis& basis = basis_of_class[static_cast<size_t>(run.attribute_class)];
    std::vector<QueryVariance> queries(static_cast<size_t>(run.count), basis.mean);
    if (run.attribute_class == attribute_class) queries.front() = basis.levels[level].mean;
    return std::vector<std::vector<double>>{TakeCoefficients(queries)};
  };
  return BuildMatrix(tables, mechanisms, choices_of, TablesWith{attribute_class});
}

VarianceMatrix LevelPeakMatrix(const MultisetTable& tables, const MultisetTable& mechanisms,
                               const std::vector<ResidualBasis>& basis_of_class,
                               int attribute_class, size_t level) {
  const auto choices_of = [&](const ClassRun& run) {
    const ResidualBasis& basis = basis_of_class[static_cast<size_t>(run.attribute_class)];
    if (run.attribute_class != attribute_class) return PeakChoices(basis.peaks, run.count);
    return PeakChoices(basis.peaks, run.count, &basis.levels[level].peaks);
  };
  return BuildMatrix(tables, mechanisms, choices_of, TablesWith{attribute_class});
}

void Multiply(const VarianceMatrix& matrix, std::span<const double> noise_variance,
              std::span<double> result) {
  for (int64_t j = 0; j < matrix.num_rows(); ++j) {
    double sum = 0;
    const auto begin = static_cast<size_t>(matrix.row_begin[static_cast<size_t>(j)]);
    const auto end = static_cast<size_t>(matrix.row_begin[static_cast<size_t>(j) + 1]);
    for (size_t k = begin; k < end; ++k) {
      sum += matrix.coefficient[k] * noise_variance[static_cast<size_t>(matrix.column[k])];
    }
    result[static_cast<size_t>(j)] = sum;
  }
}

void MultiplyTransposed(const VarianceMatrix& matrix, std::span<const double> weight,
                        std::span<double> result) {
  std::fill(result.begin(), result.end(), 0.0);
  for (int64_t j = 0; j < matrix.num_rows(); ++j) {
    const double w = weight[static_cast<size_t>(j)];
    const auto begin = static_cast<size_t>(matrix.row_begin[static_cast<size_t>(j)]);
    const auto end = static_cast<size_t>(matrix.row_begin[static_cast<size_t>(j) + 1]);
    for (size_t k = begin; k < end; ++k) {
      result[static_cast<size_t>(matrix.column[k])] += w * matrix.coefficient[k];
    }
  }
}

}  // namespace residua
