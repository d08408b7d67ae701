#include "cli/tables_format.h"

#include "residua/base/error.h"

namespace residua::cli {

TableFormat ParseTableFormat(std::string_view format, bool one_file) {
  if (format != "csv" && format != "parquet") {
    Fail(ErrorKind::kBadInput, "--format '{}' is not known; choose csv or parquet", format);
  }
  if (one_file) return TableFormat::kOneParquet;
  return format == "csv" ? TableFormat::kCsv : TableFormat::kParquet;
}

}  // namespace residua::cli
