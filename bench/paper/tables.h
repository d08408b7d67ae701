#pragma once

#include <string>
#include <vector>

namespace residua::bench {

// A table of the paper by our name for it.
struct PaperTable {
  std::string name;
  std::string labels;  // in the paper's source: its tables, and the figures that plot them
  std::string title;
  std::string second;   // the heading of the column beside HDMM
  std::string hdmm;     // the heading of the HDMM column, if not HDMM
  std::string remarks;  // why our figures differ from the paper's, or why they do not
};
const std::vector<PaperTable>& PaperTables();

// The cell-fairness study, which has figures only.
inline constexpr char kFairness[] = "fairness";

}  // namespace residua::bench
