#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace residua {

// The first line of a CSV file. The delimiter is the one of , ; tab | that occurs most often
// outside quotes, or the comma if none does. It is found from the header alone, so that no row of
// the data can change how the others are read.
struct CsvHeader {
  char delimiter = ',';
  std::vector<std::string> names;
};

CsvHeader ParseCsvHeader(std::string_view line);
// The same where the delimiter is known to be a tab.
CsvHeader ParseTsvHeader(std::string_view line);

}  // namespace residua
