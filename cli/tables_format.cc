#include "cli/tables_format.h"

#include <fmt/format.h>

#include "cli/print_text.h"
#include "residua/base/error.h"

namespace residua::cli {

TableFormat ParseTableFormat(std::string_view format, bool one_file) {
  if (!format.empty() && format != "csv" && format != "parquet") {
    Fail(ErrorKind::kBadInput, "--format '{}' is not known; choose csv or parquet", format);
  }
  if (one_file && format == "csv") {
    Fail(ErrorKind::kBadInput,
         "--one-file writes Parquet, not CSV; leave out --format csv, or leave out --one-file for "
         "one CSV file per table");
  }
  if (one_file) return TableFormat::kOneParquet;
  return format == "parquet" ? TableFormat::kParquet : TableFormat::kCsv;
}

TableDigits ParseTableDigits(std::string_view digits, TableFormat format) {
  if (digits == "full") return TableDigits::kFull;
  if (!digits.empty() && digits != "supported") {
    Fail(ErrorKind::kBadInput, "--digits '{}' is not known; choose supported or full", digits);
  }
  if (!digits.empty() && format != TableFormat::kCsv) {
    Fail(ErrorKind::kBadInput,
         "--digits supported: Parquet holds all digits; leave it out, or write CSV");
  }
  return TableDigits::kSupported;
}

void ReportRenamed(const TablesWritten& written) {
  for (const auto& [attribute, column] : written.renamed) {
    PrintText(stderr, "residua: the column of attribute '{}' is called '{}'\n",
              WithoutControls(attribute), WithoutControls(column));
  }
}

std::string InWords(const TablesWritten& written) {
  return fmt::format("{} {} with {} {}", written.num_tables,
                     written.num_tables == 1 ? "table" : "tables", written.num_answers,
                     written.num_answers == 1 ? "answer" : "answers");
}

}  // namespace residua::cli
