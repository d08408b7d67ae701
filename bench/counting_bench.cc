// Counts all marginals of at most three of 14 attributes of the Adult sizes, and compares with
// DuckDB's GROUP BY of three-way sets on the same table in memory, with as many threads.
//
//   counting_bench [ROWS] [THREADS] [SAMPLED_SETS]     10000000, all processors, 14
//
// DuckDB's time for all three-way sets is that of the sampled ones, evenly spread over the sets in
// order of their number of cells, times the number of sets per sampled one. Smaller sets cost
// nothing extra on our side and are left out on DuckDB's. The counts of each sampled set are
// compared, cell by cell.

#include <duckdb.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "bench/stopwatch.h"
#include "bench/synthetic_tables.h"
#include "residua/base/error.h"
#include "residua/measure/counting.h"
#include "residua/measure/true_counts.h"

namespace residua {
namespace {

class GroupBy {
 public:
  GroupBy(const EncodedTable& table, int num_threads) {
    RESIDUA_CHECK(duckdb_open(nullptr, &database_) == DuckDBSuccess);
    RESIDUA_CHECK(duckdb_connect(database_, &connection_) == DuckDBSuccess);
    Run(fmt::format("SET threads = {}", num_threads), nullptr);
    std::string columns;
    for (int i = 0; i < table.num_columns(); ++i) {
      columns += fmt::format("{}a{} UTINYINT", i == 0 ? "" : ", ", i);
    }
    Run("CREATE TABLE t (" + columns + ")", nullptr);
    Load(table);
  }
  GroupBy(const GroupBy&) = delete;
  GroupBy& operator=(const GroupBy&) = delete;
  ~GroupBy() {
    duckdb_disconnect(&connection_);
    duckdb_close(&database_);
  }

  // The time of the statement, and its cells.
  double Seconds(const Domain& domain, const AttributeSet& set, std::vector<int64_t>& cells) {
    std::string names;
    for (const int i : set) {
      names += fmt::format("{}a{}", names.empty() ? "" : ", ", i);
    }
    duckdb_result result;
    const double seconds =
        bench::TimesOf([&] {
          Run(fmt::format("SELECT {}, count(*) FROM t GROUP BY {}", names, names), &result);
        }).wall;
    cells.assign(static_cast<size_t>(NumCellsInMemory(domain, set)), 0);
    while (duckdb_data_chunk chunk = duckdb_fetch_chunk(result)) {
      std::vector<const uint8_t*> codes;
      for (idx_t k = 0; k < set.size(); ++k) {
        codes.push_back(static_cast<const uint8_t*>(
            duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, k))));
      }
      const auto* counts = static_cast<const int64_t*>(
          duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, set.size())));
      for (idx_t row = 0; row < duckdb_data_chunk_get_size(chunk); ++row) {
        int64_t index = 0;
        for (size_t k = 0; k < set.size(); ++k) index = index * domain[set[k]].size + codes[k][row];
        cells[static_cast<size_t>(index)] = counts[row];
      }
      duckdb_destroy_data_chunk(&chunk);
    }
    duckdb_destroy_result(&result);
    return seconds;
  }

 private:
  void Run(const std::string& sql, duckdb_result* result) {
    if (duckdb_query(connection_, sql.c_str(), result) != DuckDBSuccess) {
      Fail(ErrorKind::kBroken, "DuckDB refused: {}", sql);
    }
  }

  void Load(const EncodedTable& table) {
    duckdb_appender appender = nullptr;
    RESIDUA_CHECK(duckdb_appender_create(connection_, nullptr, "t", &appender) == DuckDBSuccess);
    const auto num_columns = static_cast<idx_t>(table.num_columns());
    std::vector<duckdb_logical_type> types(num_columns,
                                           duckdb_create_logical_type(DUCKDB_TYPE_UTINYINT));
    duckdb_data_chunk chunk = duckdb_create_data_chunk(types.data(), num_columns);
    const auto chunk_rows = static_cast<int64_t>(duckdb_vector_size());
    for (int64_t row = 0; row < table.num_rows(); row += chunk_rows) {
      const int64_t num_rows = std::min(chunk_rows, table.num_rows() - row);
      for (idx_t i = 0; i < num_columns; ++i) {
        const auto& codes = std::get<std::vector<uint8_t>>(table.column(static_cast<int>(i)));
        std::copy_n(
            codes.data() + row, num_rows,
            static_cast<uint8_t*>(duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, i))));
      }
      duckdb_data_chunk_set_size(chunk, static_cast<idx_t>(num_rows));
      RESIDUA_CHECK(duckdb_append_data_chunk(appender, chunk) == DuckDBSuccess);
      duckdb_data_chunk_reset(chunk);
    }
    duckdb_destroy_data_chunk(&chunk);
    duckdb_destroy_logical_type(&types.front());
    RESIDUA_CHECK(duckdb_appender_destroy(&appender) == DuckDBSuccess);
  }

  duckdb_database database_ = nullptr;
  duckdb_connection connection_ = nullptr;
};

int Main(int64_t num_rows, int num_threads, size_t num_sampled) {
  const Domain domain = bench::AdultDomain();
  const EncodedTable table = bench::UniformTable(domain, num_rows);
  std::vector<AttributeSet> sets = {{}};
  std::vector<AttributeSet> three_way;
  for (int i = 0; i < domain.size(); ++i) {
    sets.push_back({i});
    for (int j = i + 1; j < domain.size(); ++j) {
      sets.push_back({i, j});
      for (int k = j + 1; k < domain.size(); ++k) three_way.push_back({i, j, k});
    }
  }
  sets.insert(sets.end(), three_way.begin(), three_way.end());
  std::stable_sort(three_way.begin(), three_way.end(), [&](const auto& a, const auto& b) {
    return NumCellsInMemory(domain, a) < NumCellsInMemory(domain, b);
  });
  std::map<AttributeSet, std::vector<int64_t>> sampled;
  num_sampled = std::min(num_sampled, three_way.size());
  for (size_t k = 0; k < num_sampled; ++k) {
    // The middle of each of `num_sampled` equal parts.
    sampled[three_way[(2 * k + 1) * three_way.size() / (2 * num_sampled)]] = {};
  }

  const CountingOptions options{.num_threads = num_threads};
  double counting_seconds = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const double seconds =
        bench::TimesOf([&] {
          CountMarginals(table, domain, sets, options, [&](TrueMarginal&& marginal) {
            const auto at = sampled.find(marginal.attributes());
            if (at != sampled.end()) at->second = TrueCounts::Cells(marginal);
          });
        }).wall;
    fmt::print("count all {} sets <=3-way, run {}:  {:.3f} s\n", sets.size(), repeat + 1, seconds);
    counting_seconds = repeat == 0 ? seconds : std::min(counting_seconds, seconds);
  }
  fmt::print("rows {}  threads {}  best {:.3f} s  {:.3g} rows/s  {:.3g} rows x sets/s\n", num_rows,
             num_threads, counting_seconds, static_cast<double>(num_rows) / counting_seconds,
             static_cast<double>(num_rows) * static_cast<double>(sets.size()) / counting_seconds);

  GroupBy group_by(table, num_threads);
  double sampled_seconds = 0;
  for (const auto& [set, cells] : sampled) {
    std::vector<int64_t> other_cells;
    const double seconds = group_by.Seconds(domain, set, other_cells);
    fmt::print("DuckDB GROUP BY {:<16} {:>8} cells  {:.3f} s\n", SetName(domain, set), cells.size(),
               seconds);
    sampled_seconds += seconds;
    if (cells != other_cells) {
      fmt::print("the counts of {} differ\n", SetName(domain, set));
      return 1;
    }
  }
  const double group_by_seconds =
      sampled_seconds * static_cast<double>(three_way.size()) / static_cast<double>(sampled.size());
  fmt::print("DuckDB, {} three-way sets scaled from {}: {:.1f} s;  ratio {:.1f}\n",
             three_way.size(), sampled.size(), group_by_seconds,
             group_by_seconds / counting_seconds);
  return 0;
}

}  // namespace
}  // namespace residua

int main(int argc, char** argv) {
  const int64_t num_rows = argc > 1 ? std::atoll(argv[1]) : 10'000'000;
  const int num_threads =
      argc > 2 ? std::atoi(argv[2]) : static_cast<int>(std::thread::hardware_concurrency());
  const int num_sampled = argc > 3 ? std::atoi(argv[3]) : 14;
  if (num_rows < 1 || num_threads < 1 || num_sampled < 1) {
    fmt::print(stderr, "counting_bench [ROWS] [THREADS] [SAMPLED_SETS]: each 1 or more\n");
    return 1;
  }
  return residua::Main(num_rows, num_threads, static_cast<size_t>(num_sampled));
}
