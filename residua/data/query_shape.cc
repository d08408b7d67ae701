#include "residua/data/query_shape.h"

#include "residua/base/error.h"

namespace residua {

std::string InWords(RowOperation operation) {
  switch (operation) {
    case RowOperation::kJoin:
      return "joins tables or subqueries";
    case RowOperation::kAggregate:
      return "groups rows";
    case RowOperation::kDistinct:
      return "removes duplicate rows";
    case RowOperation::kWindow:
      return "computes columns from several rows";
    case RowOperation::kUnnest:
      return "makes several rows of one";
    case RowOperation::kSetOperation:
      return "combines the rows of several queries";
    case RowOperation::kRecursion:
      return "repeats itself";
    case RowOperation::kSample:
      return "takes a sample of the rows";
    case RowOperation::kLimit:
      return "keeps a limited number of rows";
  }
  RESIDUA_CHECK(false);
}

std::string InWords(const QueryShape& shape) {
  std::string words;
  for (size_t k = 0; k < shape.operations.size(); ++k) {
    if (k > 0) words += k + 1 == shape.operations.size() ? " and " : ", ";
    words += InWords(shape.operations[k]);
  }
  return words;
}

}  // namespace residua
