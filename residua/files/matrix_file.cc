#include "residua/files/matrix_file.h"

#include <charconv>
#include <cmath>

#include "residua/base/error.h"
#include "residua/base/shown_text.h"
#include "residua/files/file.h"

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
  return ParseMatrix(ReadFile(path), path.string(), num_columns);
}

CellMatrix ParseMatrix(std::string_view text, const std::string& name, int64_t num_columns) {
  std::string_view rest = text;
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
      const std::string_view entry = Trim(line.substr(0, comma));
      if (more) line.remove_prefix(comma + 1);
      double value = 0;
      const auto [stop, error] = std::from_chars(entry.data(), entry.data() + entry.size(), value);
      if (entry.empty() || error != std::errc() || stop != entry.data() + entry.size() ||
          !std::isfinite(value)) {
        Fail(ErrorKind::kBadInput, "{}: '{}' is not a finite number; write numbers with commas",
             fmt::format("{}:{}", name, line_number), ShownText(entry));
      }
      matrix.entries.push_back(value);
    }
    if (column != num_columns) {
      Fail(ErrorKind::kBadInput,
           "{}: this row has {} {} and the attribute {} cells; give one for each cell",
           fmt::format("{}:{}", name, line_number), column, column == 1 ? "entry" : "entries",
           num_columns);
    }
    ++matrix.num_rows;
  }
  if (matrix.num_rows == 0) {
    Fail(ErrorKind::kBadInput, "{}: there are no rows; write one line per query", name);
  }
  return matrix;
}

}  // namespace residua
