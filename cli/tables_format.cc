#include "cli/tables_format.h"

#include <fmt/format.h>

#include "residua/base/error.h"

namespace residua::cli {

TableFormat ParseTableFormat(std::string_view format, bool one_file) {
  if (format != "csv" && format != "parquet") {
    Fail(ErrorKind::kBadInput, "--format '{}' is not known; choose csv or parquet", format);
  }
  if (one_file) return TableFormat::kOneParquet;
  return format == "csv" ? TableFormat::kCsv : TableFormat::kParquet;
}

std::string InWords(const TablesWritten& written) {
  return fmt::format("{} {} with {} {}", written.num_tables,
                     written.num_tables == 1 ? "table" : "tables", written.num_answers,
                     written.num_answers == 1 ? "answer" : "answers");
}

}  // namespace residua::cli
