#pragma once

#include <Eigen/Dense>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "residua/measure/encoded_table.h"
#include "residua/model/domain.h"

namespace residua {

// Attributes of which tests of means are made.
inline Attribute OfCells(const std::string& name, int64_t size,
                         QueryKind queries = QueryKind::kIdentity) {
  Attribute attribute;
  attribute.name = name;
  attribute.size = size;
  attribute.queries = queries;
  return attribute;
}
inline Attribute Averaged(const std::string& name, const MeanEncoding& mean, bool null_cell) {
  Attribute attribute;
  attribute.name = name;
  attribute.encoding = {mean, null_cell, OutsidePolicy::kClamp};
  attribute.size = null_cell ? 3 : 2;
  return attribute;
}
inline MeanEncoding Whole(int64_t low, int64_t high) {
  return {.low = low, .high = high, .is_integers = true};
}

// One row: a cell of each attribute or, of a mean, a number of steps, and -1 for a missing one.
using Row = std::vector<int64_t>;

inline std::vector<Row> RandomRows(const Domain& domain, int64_t num_rows,
                                   std::mt19937_64& random) {
  std::vector<Row> rows;
  for (int64_t k = 0; k < num_rows; ++k) {
    Row row;
    for (const Attribute& attribute : domain.attributes()) {
      const auto codes = static_cast<uint64_t>(NumCodes(attribute));
      auto code = static_cast<int64_t>(std::min(random() % codes, random() % codes));
      const bool is_last = code + 1 == static_cast<int64_t>(codes);
      if (MeanOf(attribute) != nullptr && attribute.encoding.null_cell && is_last) code = -1;
      row.push_back(code);
    }
    rows.push_back(row);
  }
  return rows;
}

inline EncodedTable Encoded(const Domain& domain, const std::vector<Row>& rows) {
  std::vector<CodeColumn> columns;
  for (int i = 0; i < domain.size(); ++i) {
    CodeColumn column = EmptyCodeColumn(domain[i]);
    std::visit(
        [&](auto& codes) {
          using Code = typename std::decay_t<decltype(codes)>::value_type;
          for (const Row& row : rows) {
            const int64_t code = row[static_cast<size_t>(i)];
            codes.push_back(static_cast<Code>(code < 0 ? NumCodes(domain[i]) - 1 : code));
          }
        },
        column);
    columns.push_back(std::move(column));
  }
  return EncodedTable(domain, std::move(columns));
}

// What share of the row is in each cell of the attribute, by the definition.
inline std::vector<double> SharesOf(const Attribute& attribute, int64_t code) {
  std::vector<double> shares(static_cast<size_t>(attribute.size), 0.0);
  const MeanEncoding* mean = MeanOf(attribute);
  if (mean == nullptr) {
    shares[static_cast<size_t>(code)] = 1;
  } else if (code < 0) {
    shares[2] = 1;
  } else {
    shares[1] = static_cast<double>(code) / static_cast<double>(mean->num_steps());
    shares[0] = 1 - shares[1];
  }
  return shares;
}

// The row's share of each cell of the table on `set`.
inline Eigen::VectorXd SplitOver(const Domain& domain, const AttributeSet& set, const Row& row) {
  Eigen::VectorXd split = Eigen::VectorXd::Ones(1);
  for (const int i : set) {
    const std::vector<double> shares = SharesOf(domain[i], row[static_cast<size_t>(i)]);
    Eigen::VectorXd next(split.size() * static_cast<Eigen::Index>(shares.size()));
    Eigen::Index to = 0;
    for (const double before : split) {
      for (const double share : shares) next[to++] = before * share;
    }
    split = next;
  }
  return split;
}

// The number of a row that is so many steps above the lowest; nothing for a missing one.
inline std::optional<double> NumberOf(const MeanEncoding& mean, int64_t code) {
  if (code < 0) return std::nullopt;
  return DecimalValue(mean.low + code * mean.step, mean.decimals);
}

}  // namespace residua
