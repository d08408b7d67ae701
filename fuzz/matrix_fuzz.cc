#include "fuzz/only_errors.h"
#include "residua/basis/query_matrix.h"
#include "residua/files/matrix_file.h"

namespace residua {
namespace {

std::string TextOf(const CellMatrix& matrix, int64_t num_columns) {
  std::string text;
  for (size_t k = 0; k < matrix.entries.size(); ++k) {
    const bool last = (k + 1) % static_cast<size_t>(num_columns) == 0;
    text += fmt::format("{}{}", matrix.entries[k], last ? '\n' : ',');
  }
  return text;
}

// A matrix reads back as it was written, and is accepted as queries or refused.
void ReadTwice(std::string_view text, int64_t num_columns) {
  const CellMatrix matrix = ParseMatrix(text, "matrix.csv", num_columns);
  RESIDUA_CHECK(ParseMatrix(TextOf(matrix, num_columns), "again.csv", num_columns) == matrix);
  Attribute attribute;
  attribute.name = "a";
  attribute.size = num_columns;
  attribute.queries = QueryKind::kCustom;
  attribute.custom = matrix;
  CheckQueries(attribute);
}

}  // namespace
}  // namespace residua

// The first byte says how many columns the attribute has.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const int64_t num_columns = 2 + data[0] % 6;
  residua::ExpectOnlyErrors(
      [&] { residua::ReadTwice(residua::TextOfInput(data + 1, size - 1), num_columns); });
  return 0;
}
