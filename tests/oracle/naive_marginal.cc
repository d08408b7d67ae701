#include "tests/oracle/naive_marginal.h"

namespace residua::oracle {

std::vector<int64_t> NaiveMarginal(const EncodedTable& table, const Domain& domain,
                                   const AttributeSet& set) {
  std::vector<int64_t> cells(static_cast<size_t>(NumCellsInMemory(domain, set)), 0);
  for (int64_t row = 0; row < table.num_rows(); ++row) {
    int64_t cell = 0;
    for (const int i : set) {
      const int64_t code =
          std::visit([&](const auto& codes) { return int64_t{codes[static_cast<size_t>(row)]}; },
                     table.column(i));
      cell = cell * domain[i].size + code;
    }
    ++cells[static_cast<size_t>(cell)];
  }
  return cells;
}

DenseMatrix Kronecker(const DenseMatrix& left, const DenseMatrix& right) {
  DenseMatrix product;
  for (const auto& left_row : left) {
    for (const auto& right_row : right) {
      std::vector<Integer> row;
      for (const Integer& a : left_row) {
        for (const Integer& b : right_row) row.push_back(a * b);
      }
      product.push_back(row);
    }
  }
  return product;
}

std::vector<Integer> Multiply(const DenseMatrix& matrix, const std::vector<Integer>& vector) {
  std::vector<Integer> product;
  for (const auto& row : matrix) {
    Integer sum = 0;
    for (size_t j = 0; j < vector.size(); ++j) sum += row[j] * vector[j];
    product.push_back(sum);
  }
  return product;
}

}  // namespace residua::oracle
