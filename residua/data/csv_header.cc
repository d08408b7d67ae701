#include "residua/data/csv_header.h"

#include <algorithm>

namespace residua {
namespace {

// Splits at delimiters outside quotes; a doubled quote inside quotes is a quote.
std::vector<std::string> Split(std::string_view line, char delimiter) {
  std::vector<std::string> fields(1);
  bool in_quotes = false;
  for (size_t k = 0; k < line.size(); ++k) {
    if (line[k] == '"') {
      if (in_quotes && k + 1 < line.size() && line[k + 1] == '"') {
        fields.back() += line[++k];
      } else {
        in_quotes = !in_quotes;
      }
    } else if (line[k] == delimiter && !in_quotes) {
      fields.emplace_back();
    } else {
      fields.back() += line[k];
    }
  }
  return fields;
}

}  // namespace

CsvHeader ParseCsvHeader(std::string_view line) {
  CsvHeader header{',', Split(line, ',')};
  for (const char delimiter : {';', '\t', '|'}) {
    std::vector<std::string> names = Split(line, delimiter);
    if (names.size() > header.names.size()) header = {delimiter, std::move(names)};
  }
  return header;
}

CsvHeader ParseTsvHeader(std::string_view line) { return {'\t', Split(line, '\t')}; }

}  // namespace residua
