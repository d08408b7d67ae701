#include "bench/paper/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace residua::bench {
namespace {

std::string_view NameOf(Quantity quantity) {
  switch (quantity) {
    case Quantity::kSelectSeconds:
      return "seconds to select";
    case Quantity::kReconstructSeconds:
      return "seconds to reconstruct all tables";
    case Quantity::kAnswerSeconds:
      return "seconds to reconstruct all tables and answer every query of each";
    case Quantity::kRmse:
      return "RMSE";
    case Quantity::kMaxVariance:
      return "largest variance";
  }
  return "";
}

std::string Number(const ReportRow& row, double value) {
  if (IsTime(row.figure.quantity)) return fmt::format("{:.3g}", value);
  const bool known = NumberOf(row.figure.paper).has_value();
  return fmt::format("{:.{}f}", value, known ? DecimalsOf(row.figure.paper) : 3);
}

std::string Ratio(double ratio) {
  return ratio < 100 ? fmt::format("{:.3f}", ratio) : fmt::format("{:.0f}", ratio);
}

// Printed characters: continuation bytes of UTF-8 do not count.
size_t Width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string GroupText(const PaperTable& table, const std::vector<const ReportRow*>& rows) {
  std::vector<std::vector<std::string>> cells = {
      {"workload", "ours", "paper", table.hdmm.empty() ? "HDMM" : table.hdmm, table.second,
       "paper / ours", "lower bound", "ours / bound"}};
  for (const ReportRow* row : rows) {
    const auto ratio = PaperOverOurs(*row);
    const auto& bound = row->result.bound;
    cells.push_back({row->figure.row, Number(*row, row->result.ours), row->figure.paper,
                     row->figure.hdmm, row->figure.second, ratio ? Ratio(*ratio) : "",
                     bound ? Number(*row, *bound) : "",
                     bound ? Ratio(row->result.ours / *bound) : ""});
  }
  for (size_t column = cells[0].size(); column-- > 1;) {
    const bool empty = std::all_of(cells.begin() + 1, cells.end(),
                                   [&](const auto& line) { return line[column].empty(); });
    if (!empty) continue;
    for (auto& line : cells) line.erase(line.begin() + static_cast<std::ptrdiff_t>(column));
  }
  const Figure& first = rows.front()->figure;
  const std::string heading =
      first.quantity == Quantity::kSelectSeconds
          ? fmt::format("{}, {}", NameOf(first.quantity),
                        first.objective == "max-variance" ? "largest variance" : "RMSE")
          : std::string(NameOf(first.quantity));
  return fmt::format("{}:\n\n{}\n", heading, MarkdownOf(cells));
}

}  // namespace

std::optional<double> PaperOverOurs(const ReportRow& row) {
  const auto paper = NumberOf(row.figure.paper);
  if (!paper) return {};
  return *paper / row.result.ours;
}

std::string MarkdownOf(const std::vector<std::vector<std::string>>& cells) {
  std::vector<size_t> width(cells[0].size(), 3);
  for (const auto& line : cells) {
    for (size_t k = 0; k < line.size(); ++k) width[k] = std::max(width[k], Width(line[k]));
  }
  std::string text;
  for (size_t i = 0; i < cells.size(); ++i) {
    for (size_t k = 0; k < cells[i].size(); ++k) {
      const std::string padding(width[k] - Width(cells[i][k]), ' ');
      text += k == 0 ? fmt::format("| {}{} |", cells[i][k], padding)
                     : fmt::format(" {}{} |", padding, cells[i][k]);
    }
    text += "\n";
    if (i > 0) continue;
    for (size_t k = 0; k < width.size(); ++k) {
      const std::string dashes(width[k] + 1, '-');
      text += k == 0 ? fmt::format("|{}-|", dashes) : fmt::format("{}:|", dashes);
    }
    text += "\n";
  }
  return text;
}

std::string TextOf(const PaperTable& table, const std::vector<ReportRow>& rows) {
  std::string text = fmt::format("## {}\n{} ({}).\n\n", table.name, table.title, table.labels);
  for (size_t begin = 0; begin < rows.size();) {
    const Figure& first = rows[begin].figure;
    std::vector<const ReportRow*> group;
    size_t end = begin;
    while (end < rows.size() && rows[end].figure.quantity == first.quantity &&
           rows[end].figure.objective == first.objective) {
      group.push_back(&rows[end++]);
    }
    text += GroupText(table, group);
    begin = end;
  }
  return text + table.remarks + "\n";
}

nlohmann::ordered_json JsonOf(const PaperTable& table, const ReportRow& row) {
  const Figure& figure = row.figure;
  nlohmann::ordered_json json = {
      {"table", figure.table},         {"row", figure.row},
      {"domain", figure.domain},       {"marginals", figure.marginals},
      {"objective", figure.objective}, {"quantity", KeyOf(figure.quantity)},
      {"ours", row.result.ours},       {"paper", figure.paper}};
  if (!figure.hdmm.empty()) json["hdmm"] = figure.hdmm;
  if (!figure.second.empty()) json[table.second] = figure.second;
  if (const auto ratio = PaperOverOurs(row)) json["paper_over_ours"] = *ratio;
  if (row.result.bound) json["lower_bound"] = *row.result.bound;
  if (row.result.relative_gap) json["relative_gap"] = *row.result.relative_gap;
  return json;
}

}  // namespace residua::bench
