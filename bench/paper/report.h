#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/paper/figures.h"
#include "bench/paper/row_runner.h"
#include "bench/paper/tables.h"

namespace residua::bench {

struct ReportRow {
  Figure figure;
  RowResult result;
};

// The paper's figure divided by ours, where it is a number: above 1, ours is smaller.
std::optional<double> PaperOverOurs(const ReportRow& row);

// Aligned Markdown: one table per quantity and objective, columns that would be empty left out, and
// the remarks below.
std::string TextOf(const PaperTable& table, const std::vector<ReportRow>& rows);

nlohmann::ordered_json JsonOf(const PaperTable& table, const ReportRow& row);

// Rows of cells, the first the header, as Markdown with columns of even width.
std::string MarkdownOf(const std::vector<std::vector<std::string>>& cells);

}  // namespace residua::bench
