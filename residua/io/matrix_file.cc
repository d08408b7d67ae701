#include "residua/io/matrix_file.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "residua/base/error.h"
#include "residua/io/file.h"

namespace residua {
namespace {

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace

CellMatrix ReadMatrix(const std::filesystem::path& path, int64_t num_columns) {
  const std::string content = ReadFile(path);
  std::string_view rest = content;
  CellMatrix matrix;
  for (int64_t line_number = 1; !rest.empty(); ++line_number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = Trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty() || line.front() == '#') continue;
    int64_t column = 0;
    for (bool more = true; more; ++column) {
      const size_t comma = line.find(',');
      more = comma != std::string_view::npos;
      const std::string_view text = Trim(line.substr(0, comma));
      if (more) line.remove_prefix(comma + 1);
      double value = 0;
      const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (text.empty() || error != std::errc() || stop != text.data() + text.size() ||
          !std::isfinite(value)) {
        Fail(ErrorKind::kBadInput, "{}:{}: '{}' is not a finite number; write numbers with commas",
             path.string(), line_number, text);
      }
      matrix.entries.push_back(value);
    }
    if (column != num_columns) {
      Fail(ErrorKind::kBadInput,
           "{}:{}: this row has {} entries and the attribute {} cells; give one for each cell",
           path.string(), line_number, column, num_columns);
    }
    ++matrix.num_rows;
  }
  if (matrix.num_rows == 0) {
    Fail(ErrorKind::kBadInput, "{}: there are no rows; write one line a query", path.string());
  }
  return matrix;
}

}  // namespace residua
