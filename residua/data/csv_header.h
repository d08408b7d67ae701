#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace residua {

// The first line of a CSV file. The delimiter is whichever of , ; tab | it has most of outside
// quotes, the comma if it has none: found from the header alone, so that no row of the data can
// change how the others are read.
struct CsvHeader {
  char delimiter = ',';
  std::vector<std::string> names;
};

CsvHeader ParseCsvHeader(std::string_view line);

}  // namespace residua
