#include "residua/draft/draft_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/base/shown_text.h"
#include "residua/base/toml_text.h"
#include "residua/draft/column_summary.h"
#include "residua/draft/data_columns.h"
#include "residua/draft/round_cuts.h"
#include "residua/files/spec.h"
#include "residua/model/date.h"

namespace residua {
namespace {

constexpr size_t kLineWidth = 100;
// Integers in a wider range are cut.
constexpr int64_t kMaxIntegers = 1000;
// Of integers in so wide a range, the mean is proposed too.
constexpr int64_t kMinMeanRange = 50;
// Fewer rows may all differ by chance.
constexpr int64_t kMinAllDifferent = 10;
// Dates are counted by the shortest period that has at most this many.
constexpr int64_t kMaxPeriods = 100;
// On average an identifier has at least and at most this many rows; fewer if its name fits.
constexpr double kLeastRowsOfEach = 1.5;
constexpr double kLeastRowsOfEachNamed = 1.05;
constexpr double kMostRowsOfEach = 1000;
// A workload above this is slow to publish, and has more cells than most data has rows.
constexpr int64_t kMaxCells = 10'000'000;

// A column's part of the spec; `num_cells` is 0 where it is only a comment.
struct Draft {
  std::string text;
  int64_t num_cells = 0;
};

// Words from `text`, broken into lines that begin with '#'.
std::string Comment(std::string_view text) {
  std::string lines;
  size_t width = kLineWidth;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (width + 1 + end > kLineWidth) {
      lines += lines.empty() ? "#" : "\n#";
      width = 1;
    }
    lines += fmt::format(" {}", text.substr(0, end));
    width += 1 + end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines + "\n";
}

// key = [...], on as many lines as it takes.
std::string List(std::string_view key, const std::vector<std::string>& items) {
  const std::string line = fmt::format("{} = [{}]\n", key, fmt::join(items, ", "));
  if (line.size() <= kLineWidth + 1) return line;
  std::string lines = fmt::format("{} = [\n ", key);
  size_t width = 1;
  for (const std::string& item : items) {
    if (width > 1 && width + item.size() + 2 > kLineWidth) {
      lines += "\n ";
      width = 1;
    }
    lines += fmt::format(" {},", item);
    width += item.size() + 2;
  }
  return lines + "\n]\n";
}

// A cut as TOML. Whole numbers from 2^53 on must look like reals, or the spec refuses them.
std::string CutText(double cut) {
  std::string text = fmt::format("{}", cut);
  const bool is_written_whole = text.find_first_of(".e") == std::string::npos;
  if (is_written_whole && std::abs(cut) >= 0x1p53) text += ".0";
  return text;
}

// Every row has a value of its own, and it is no quantity that cuts would divide.
bool IsAllDifferent(const DataColumn& column) {
  const ColumnSummary& summary = column.summary;
  return summary.num_values() >= kMinAllDifferent && summary.all_different() &&
         !summary.is_date() && (summary.is_whole() || !summary.is_number());
}

// "patient_id", "customerID", "tailnum": what a column that says whose row it is may be called.
bool IsNamedLikeIdentifier(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::string_view, 13> kEndings = {
      "id",   "key",     "number", "num",      "name",     "person",   "patient",
      "user", "account", "member", "customer", "employee", "household"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return lower.ends_with(ending); });
}

// Many different values with several rows each: text, or whole numbers of a fitting name.
bool IsLikeIdentifier(const DataColumn& column) {
  const ColumnSummary& summary = column.summary;
  if (!column.IsRead() || summary.all_different() || summary.is_date()) return false;
  if (summary.is_number() && !(summary.is_whole() && IsNamedLikeIdentifier(column.name))) {
    return false;
  }
  const double num_different = summary.num_different();
  const double rows_of_each = static_cast<double>(summary.num_values()) / num_different;
  const double least =
      IsNamedLikeIdentifier(column.name) ? kLeastRowsOfEachNamed : kLeastRowsOfEach;
  return num_different > ColumnSummary::kMaxListed && rows_of_each >= least &&
         rows_of_each <= kMostRowsOfEach;
}

// Why a column is left out, and what to do; empty if it is not.
std::string ReasonLeftOut(const DataColumn& column) {
  const ColumnSummary& summary = column.summary;
  if (column.num_same_name > 1) {
    return fmt::format("{} columns have this name; rename all but one.", column.num_same_name);
  }
  if (column.type == ColumnType::kNested) {
    return fmt::format(
        "of type {}, which cannot be tabulated; take a single value of it in data.query.",
        ShownText(column.sql_type));
  }
  if (summary.num_values() == 0 || summary.is_nan()) return "every value is missing.";
  if (summary.is_infinite()) {
    return "it has infinities and no finite number. If they mean that the value is missing, make "
           "them NULL in data.query; otherwise give it cuts.";
  }
  if (IsAllDifferent(column)) {
    return fmt::format(
        "every row has a different value, so that a table would count single rows. {}",
        summary.is_number() ? "If it is a quantity, give it cuts."
                            : "To tabulate it anyway, list values that are "
                              "publicly known.");
  }
  if (summary.is_constant()) return "it has one value, which needs no attribute.";
  if (summary.is_number() && IsLikeIdentifier(column)) {
    return "it seems to say whose row it is. If so, name it as identifier in [privacy]; if it is a "
           "quantity, give it cuts.";
  }
  if (summary.is_other_date() && !summary.is_date()) {
    return "it seems to hold dates that are not written like 2013-01-31, and whether the day or "
           "the "
           "month comes first cannot be told. Convert it in data.query with strptime, and give it "
           "dates.";
  }
  if (!summary.is_number() && !summary.is_date() && !summary.has_list()) {
    if (summary.is_mostly_number()) {
      return "most values are numbers and some are text. Give it cuts. If the text means that the "
             "value is missing, add it to null_values in [data] and set null = true; otherwise set "
             "null = true and outside = \"null\".";
    }
    return fmt::format(
        "text with more than {} different values. List those that are publicly known, with outside "
        "= \"other\" for all others; or leave it out.",
        ColumnSummary::kMaxListed);
  }
  return "";
}

// The shortest period of which there are at most kMaxPeriods.
DateStep StepFor(int64_t first_day, int64_t last_day) {
  for (const auto& [every, text] : kDateSteps) {
    if (PeriodOf(last_day, every) - PeriodOf(first_day, every) < kMaxPeriods) return every;
  }
  return DateStep::kYear;
}

Draft DraftDates(const ColumnSummary& summary) {
  const int64_t first = summary.first_day();
  const int64_t last = summary.last_day();
  if (first == last) {
    const PartEncoding hour{DatePart::kHour};
    return {"part = \"hour\"\n", NumCells({hour}).value()};
  }
  const DateEncoding dates{first, last, StepFor(first, last)};
  return {fmt::format("dates = [\"{}\", \"{}\"]\nevery = \"{}\"  # day, week, month, quarter or "
                      "year; part = \"{}\" instead is the {}\n",
                      DayText(first), DayText(last), TextOf(kDateSteps, dates.every),
                      summary.has_time() ? "hour" : "weekday",
                      summary.has_time() ? "time of day" : "day of the week"),
          NumCells({dates}).value()};
}

// How to ask for the mean of a number. It has no number of the data: the range must be known
// without it, and TOML refuses the lines until a person has put one in.
std::string ProposeMean(const ColumnSummary& summary) {
  return Comment(
             "For its sum and mean in place of counts, with a range from public knowledge (the "
             "noise "
             "of a sum grows with the range):") +
         (summary.is_whole() ? "# integers = [LOW, HIGH]\n# queries = \"mean\"\n"
                             : "# numbers = [LOW, HIGH]\n# step = 0.01\n") +
         "# outside = \"clamp\"\n";
}

Draft DraftColumn(const DataColumn& column, size_t position) {
  if (column.name.empty()) {
    return {Comment(fmt::format("Column {} is left out: it has no name; give it one in the data.",
                                position + 1)),
            0};
  }
  const std::string reason = ReasonLeftOut(column);
  if (!reason.empty()) {
    return {Comment(fmt::format("{} is left out: {}", ShownText(TomlKey(column.name)), reason)), 0};
  }
  const ColumnSummary& summary = column.summary;
  Draft draft{fmt::format("[attributes.{}]\n", TomlKey(column.name)), 0};
  int64_t span = 0;
  // A single day without times is a value like any other.
  if (summary.is_date() && (summary.first_day() < summary.last_day() || summary.has_time())) {
    const Draft dates = DraftDates(summary);
    draft.text += dates.text;
    draft.num_cells = dates.num_cells;
  } else if (summary.has_range() &&
             !__builtin_sub_overflow(summary.last(), summary.first(), &span) &&
             span < kMaxIntegers) {
    draft.text += fmt::format("integers = [{}, {}]\n", summary.first(), summary.last());
    draft.num_cells = span + 1;
    if (span >= kMinMeanRange) draft.text += ProposeMean(summary);
  } else if (summary.is_number()) {
    std::vector<std::string> cuts;
    for (const double cut : RoundCuts(summary.sample(), summary.is_whole())) {
      cuts.push_back(CutText(cut));
    }
    draft.text += List("cuts", cuts);
    draft.num_cells = static_cast<int64_t>(cuts.size()) + 1;
    draft.text += ProposeMean(summary);
  } else {
    std::vector<std::string> values;
    for (const std::string& value : summary.values()) values.push_back(TomlString(value));
    draft.text += List("values", values);
    draft.num_cells = static_cast<int64_t>(values.size());
  }
  if (summary.num_missing() > 0 || (summary.is_number() && summary.has_nan())) {
    draft.text += "null = true\n";
    ++draft.num_cells;
  }
  draft.text += fmt::format("check = {}\n", TomlString(kReadFromData));
  return draft;
}

std::string DraftPrivacy(const std::vector<DataColumn>& columns) {
  std::string identifiers;
  std::string others;
  bool has_row_numbers = false;
  for (const DataColumn& column : columns) {
    if (column.IsRead() && IsAllDifferent(column)) has_row_numbers = true;
    if (!IsLikeIdentifier(column)) continue;
    (IsNamedLikeIdentifier(column.name) ? identifiers : others) +=
        fmt::format("# identifier = {}\n", TomlString(column.name));
  }
  // Where rows are numbered and no name fits, each row is probably someone else.
  if (identifiers.empty() && !has_row_numbers) identifiers = others;
  if (identifiers.empty()) identifiers = "# identifier = \"COLUMN\"\n";
  return "[privacy]\n"
         "epsilon = 1.0  # less is more private and noisier; residua plan shows the errors "
         "beforehand\n"
         "delta = 1e-9   # far below 1 / the number of people\n" +
         Comment(
             "What is protected is one row. If one person may have several, name the column "
             "that says whose row it is, and how many rows of one person to count at most. That "
             "cannot be told from the data for certain:") +
         identifiers + "# max_rows = 1\n";
}

// The texts of the data that are read as missing.
std::string DraftNullValues(const std::vector<DataColumn>& columns) {
  uint32_t found = 0;
  for (const DataColumn& column : columns) found |= column.summary.missing_texts();
  if (found == 0) return "";
  std::vector<std::string> texts;
  const auto known = ColumnSummary::MissingTexts();
  for (size_t k = 0; k < known.size(); ++k) {
    if ((found >> k & 1) != 0) texts.push_back(TomlString(known[k]));
  }
  return Comment(
             "Texts that seem to mean a missing value, in any column. Remove those that are values "
             "of their own.") +
         List("null_values", texts);
}

std::string DraftWorkload(const std::vector<std::string>& names, int64_t num_cells) {
  std::string text =
      "[workload]\n" +
      Comment(
          "\"<=2\" asks for the total, the table of each attribute and the table of each pair; "
          "\"<=3\" adds the triples, and \"cells<=1000\" asks for every table of at most 1000 "
          "cells.");
  if (names.size() >= 2) {
    text += fmt::format("# Single tables, in addition or instead: tables = [[{}, {}]]\n",
                        TomlString(names[0]), TomlString(names[1]));
  }
  if (num_cells > kMaxCells) {
    text += Comment(
        fmt::format("As drafted these are {:.1f} million cells, most of which would be noise: give "
                    "large attributes cuts, remove some, or ask for fewer tables.",
                    static_cast<double>(num_cells) / 1e6));
  }
  return text + "marginals = \"<=2\"\n";
}

// `source` is the entry that names the data, or empty.
std::string DraftOf(const std::vector<DataColumn>& columns, const std::string& source) {
  std::string attributes;
  std::vector<std::string> names;
  int64_t num_cells = 1;  // of the tables of at most two attributes
  int64_t num_single_cells = 0;
  std::set<std::string_view> seen;
  for (size_t k = 0; k < columns.size(); ++k) {
    // Columns with the same name get one comment.
    if (!columns[k].name.empty() && !seen.insert(columns[k].name).second) continue;
    const Draft draft = DraftColumn(columns[k], k);
    attributes += "\n" + draft.text;
    if (draft.num_cells == 0) continue;
    names.push_back(columns[k].name);
    num_cells =
        CheckedAdd(num_cells, CheckedMultiply(draft.num_cells, CheckedAdd(1, num_single_cells)));
    num_single_cells += draft.num_cells;
  }
  if (names.empty()) {
    attributes += "\n" + Comment("No column can be drafted; describe at least one, as in");
    attributes += "# [attributes.sex]\n# values = [\"female\", \"male\"]\n";
  }
  const std::string data = source + DraftNullValues(columns);
  return Comment(
             "Drafted by residua init: a start, to be edited. It was read from the data; do not "
             "publish it.") +
         "#\n" +
         Comment(fmt::format(
             "The domain must be public knowledge, because its cells can reveal the data: "
             "the age of the oldest person, a rare illness. Replace each domain by what is known "
             "without looking at the data, then remove its line check = \"{}\". residua release "
             "and residua measure refuse the spec until then.",
             kReadFromData)) +
         fmt::format("\n{}{}{}\n{}", data.empty() ? "" : "[data]\n" + data + "\n",
                     DraftPrivacy(columns), attributes, DraftWorkload(names, num_cells));
}

}  // namespace

std::string DraftSpec(const std::string& path, const std::string& source,
                      const std::stop_token& stop) {
  return DraftOf(ReadDataColumns(path, stop), fmt::format("source = {}\n", TomlString(source)));
}

std::string DraftSpec(ArrowArrayStream* rows, const std::stop_token& stop) {
  return DraftOf(ReadDataColumns(rows, stop), "");
}

}  // namespace residua
