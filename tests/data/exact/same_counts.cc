// Exact counts, without noise, of rows that are read and of rows that a database counts itself:
// same_counts LIST. Every line of the file LIST names two specs. The first one's rows are read, the
// second one's database counts them. Prints one line for each pair: "same", "refused" by both,
// "unclear" where the database refuses what can be read, or what differs. This program is for
// tests: it prints no count, but is not to be installed.
#include <fmt/format.h>

#include <fstream>
#include <map>
#include <string>
#include <variant>

#include "residua/base/error.h"
#include "residua/data/data_source.h"
#include "residua/files/spec.h"
#include "residua/measure/counting.h"
#include "residua/measure/true_counts.h"
#include "residua/noise/secure_bits.h"
#include "residua/release/data_places.h"

namespace residua {
namespace {

struct Counts {
  std::map<AttributeSet, std::vector<int64_t>> marginals;
  ReadReport report;
};

// All attributes together, and each alone.
std::vector<AttributeSet> SetsOf(const Domain& domain) {
  std::vector<AttributeSet> sets = {{}};
  AttributeSet all;
  for (int i = 0; i < domain.size(); ++i) {
    sets.push_back({i});
    all.push_back(i);
  }
  if (domain.size() > 1) sets.push_back(all);
  return sets;
}

// The counts, or why there are none.
std::variant<Counts, std::string> Count(const std::string& path, bool push_down) {
  try {
    const Spec spec = ReadSpec(path);
    DataSource source = FindPlaces(spec.data, "").data;
    source.push_down = push_down;
    CountedResult counted = ReadCountedRows(source, spec.domain, spec.protection,
                                            ThreadSecureBits(), SetsOf(spec.domain), {});
    Counts counts;
    counts.report = std::move(counted.report);
    CountMarginalBatches(counted.rows, {}, [&](std::vector<TrueMarginal>&& batch) {
      for (const TrueMarginal& m : batch) counts.marginals[m.attributes()] = TrueCounts::Cells(m);
    });
    return counts;
  } catch (const Error& error) {
    return std::string(error.what());
  }
}

std::string Difference(const Counts& read, const Counts& pushed) {
  if (read.marginals.size() != pushed.marginals.size()) return "the tables";
  for (const auto& [set, cells] : read.marginals) {
    const auto& other = pushed.marginals.at(set);
    if (cells != other) return fmt::format("a table of {} attributes", set.size());
  }
  if (read.report.num_rows_read != pushed.report.num_rows_read) return "the rows read";
  if (read.report.num_rows_dropped != pushed.report.num_rows_dropped) return "the rows left out";
  for (size_t i = 0; i < read.report.attributes.size(); ++i) {
    const AttributeReport& one = read.report.attributes[i];
    const AttributeReport& other = pushed.report.attributes[i];
    if (one.num_dropped != other.num_dropped || one.num_clamped != other.num_clamped ||
        one.num_nulled != other.num_nulled || one.num_missing != other.num_missing) {
      return fmt::format("the report of attribute {}", i);
    }
  }
  return "";
}

std::string Compare(const std::string& read_spec, const std::string& pushed_spec) {
  const auto read = Count(read_spec, false);
  const auto pushed = Count(pushed_spec, true);
  const auto* read_fault = std::get_if<std::string>(&read);
  const auto* pushed_fault = std::get_if<std::string>(&pushed);
  if (pushed_fault != nullptr) {
    const bool is_unclear = pushed_fault->find("the database cannot") != std::string::npos;
    if (is_unclear) return fmt::format("unclear {}", *pushed_fault);
    return read_fault != nullptr ? fmt::format("refused {}", *pushed_fault)
                                 : fmt::format("differ: pushed down, {}", *pushed_fault);
  }
  if (read_fault != nullptr) return fmt::format("differ: read, {}", *read_fault);
  const std::string difference = Difference(std::get<Counts>(read), std::get<Counts>(pushed));
  return difference.empty() ? "same" : fmt::format("differ: {}", difference);
}

}  // namespace
}  // namespace residua

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  std::ifstream list(argv[1]);
  std::string read;
  std::string pushed;
  while (list >> read >> pushed) fmt::print("{}\n", residua::Compare(read, pushed));
  return 0;
}
