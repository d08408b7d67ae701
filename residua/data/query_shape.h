#pragma once

#include <string>
#include <vector>

namespace residua {

// What a query may do beyond selecting rows of one table, leaving some out and computing columns
// from each row by itself. If it does, a row of its result is not a row of a table: one row of a
// table may be in several rows of the result, or decide what others hold, or whether they are
// there.
enum class RowOperation {
  kJoin,  // subqueries in expressions too
  kAggregate,
  kDistinct,
  kWindow,
  kUnnest,
  kSetOperation,
  kRecursion,
  kSample,
  kLimit,
};

// "joins tables": what it does, after "the query".
std::string InWords(RowOperation operation);

// All such operations of a query, including those of the views and macros it uses, each once and in
// the order above. Without any, every row of the result is a row of one table.
struct QueryShape {
  std::vector<RowOperation> operations;
  bool operator==(const QueryShape&) const = default;
};

// "joins tables, groups rows and keeps a limited number of rows"; empty without operations.
std::string InWords(const QueryShape& shape);

}  // namespace residua
