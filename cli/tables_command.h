#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace residua::cli {

struct TablesOptions {
  std::string measurements;
  std::string output;
  std::vector<std::string> tables;
  std::string format = "csv";
  std::string answers = "planned";
  bool one_file = false;
  double confidence = 0.95;
  bool nonnegative = false;
  bool integers = false;
  int threads = 0;
  bool json = false;

  bool is_adjusted() const { return nonnegative || integers; }
};

struct TablesWritten {
  int64_t num_tables = 0;
  int64_t num_answers = 0;
  std::string output;
};

// Error{kBadInput} if they contradict themselves.
void CheckTablesOptions(const TablesOptions& options);

// Reconstructs the tables and writes them.
TablesWritten WriteTables(const TablesOptions& options);

}  // namespace residua::cli
