// The part of the audit that no number shows: whether anything that is published, other than the
// noisy numbers, tells neighbouring tables apart.

#include <gtest/gtest.h>

#include "residua/files/file.h"
#include "residua/files/measurement_file.h"
#include "residua/release/measure_to_file.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"
#include "tests/audit/auditor.h"
#include "tests/audit/file_structure.h"
#include "tests/fixtures/folder_test.h"
#include "tests/fixtures/written_tables.h"
#include "tests/measure/counting_changes.h"

namespace residua {
namespace {

namespace fs = std::filesystem;

using audit::LowerBoundOnRho;
using audit::Published;
using audit::StructuralDifference;

PlanFile PlanFor(const char* domain, const char* marginals) {
  return {Select({ParseDomain(domain), {ParseMarginalRules(marginals), {}}, {}, BudgetFromRho(1)}),
          {}};
}

class StructureAudit : public FolderTest {
 protected:
  // Done to the folder of a release before it is looked at.
  using Fault = std::function<void(int64_t num_rows)>;

  // A file of data, measured into a folder with its tables, as a release is.
  static audit::Release ReleaseOf(const PlanFile& plan, int64_t num_rows, const Fault& fault = {}) {
    std::string header, row;
    for (int i = 0; i < plan.plan.domain.size(); ++i) {
      header += (i > 0 ? "," : "") + plan.plan.domain[i].name;
      row += i > 0 ? ",1" : "1";
    }
    std::string csv = header + "\n";
    for (int64_t k = 0; k < num_rows; ++k) csv += row + "\n";
    const std::string data = std::to_string(num_rows) + ".csv";
    Write(data, csv);
    return [&plan, data, num_rows, fault] {
      fs::remove_all("out");
      fs::remove("ledger");
      fs::create_directory("out");
      MeasureToFile({plan, {{data, "", ""}, "ledger"}, "out/m.parquet"});
      const MeasurementFile file("out/m.parquet");
      WriteAllTables(file, "out/tables", TableFormat::kCsv);
      WriteAllTables(file, "out/many", TableFormat::kParquet);
      WriteAllTables(file, "out/tables.parquet", TableFormat::kOneParquet);
      if (fault) fault(num_rows);
      return Published{{}, audit::StructureOfFolder("out")};
    };
  }

  static void RewriteTables(const std::string& select, const std::string& options) {
    Sql("", {"COPY (SELECT " + select + ") TO 'out/n.parquet' (FORMAT parquet" + options + ")"});
    fs::rename("out/n.parquet", "out/tables.parquet");
  }

  // The measurement file with its rows as `select` gives them.
  static void Rewrite(const std::string& select, const std::string& options = "") {
    Sql("", {"COPY (SELECT " + select + ") TO 'out/n.parquet' (FORMAT parquet" + options + ")"});
    fs::rename("out/n.parquet", "out/m.parquet");
  }
};

constexpr const char* kAsItIs = "* FROM read_parquet('out/m.parquet')";

TEST_F(StructureAudit, FilesOfNeighbouringTablesAreAlike) {
  for (const PlanFile& plan : {PlanFor("2*6", "<=3"), PlanFor("6:prefix*3,250", "<=4")}) {
    std::set<int64_t> changes = WidthChanges(plan.plan, 5000);
    changes.insert({1, 600});  // from none
    for (const int64_t num_rows : changes) {
      const auto difference =
          StructuralDifference(ReleaseOf(plan, num_rows), ReleaseOf(plan, num_rows - 1), 2);
      EXPECT_EQ(difference, std::nullopt) << num_rows << " rows";
    }
  }
}

// Each fault shows from 600 rows on, as the order of sets once did.
TEST_F(StructureAudit, CatchesWhateverFollowsTheNumberOfRows) {
  const std::vector<std::pair<std::string, Fault>> faults = {
      {"order",
       [](int64_t n) {
         Rewrite(std::string(kAsItIs) + (n < 600 ? "" : " ORDER BY \"set\" DESC"));
       }},
      {"width",
       [](int64_t n) {
         Rewrite(n < 600 ? kAsItIs
                         : "* REPLACE (NULL::BIGINT AS \"value\", "
                           "\"value\"::DECIMAL(38,0) AS wide_value) "
                           "FROM read_parquet('out/m.parquet')");
       }},
      {"compression", [](int64_t n) { Rewrite(kAsItIs, n < 600 ? "" : ", COMPRESSION zstd"); }},
      {"metadata",
       [](int64_t n) {
         Rewrite(kAsItIs, ", KV_METADATA {rows: '" + std::to_string(n / 600) + "'}");
       }},
      {"type",
       [](int64_t n) {
         Rewrite(n < 600
                     ? kAsItIs
                     : "* REPLACE (scale::INTEGER AS scale) FROM read_parquet('out/m.parquet')");
       }},
      {"encoding",
       [](int64_t n) {
         // Without its noisy numbers, so that nothing but the dictionary differs.
         RewriteTables(
             "* REPLACE (0::DOUBLE AS estimate, 0::DOUBLE AS ci_lower, 0::DOUBLE AS ci_upper) "
             "FROM read_parquet('out/tables.parquet')",
             n < 600 ? ", COMPRESSION uncompressed"
                     : ", COMPRESSION uncompressed, DICTIONARY_SIZE_LIMIT 1");
       }},
      {"decimals",
       [](int64_t n) {
         std::string csv = ReadFile("out/tables/0.csv");
         if (n >= 600) csv.insert(csv.size() - 1, "0");
         Write("out/tables/0.csv", csv);
       }},
      {"name", [](int64_t n) { Write(n < 600 ? "out/few.txt" : "out/many.txt", ""); }},
      {"text", [](int64_t n) { Write("out/note.txt", n < 600 ? "few" : "many"); }},
      {"left out",
       [](int64_t n) {
         std::string csv = ReadFile("out/tables/0.csv");
         if (n >= 600) csv.resize(csv.rfind('\n', csv.size() - 2) + 1);
         Write("out/tables/0.csv", csv);
       }},
  };
  const PlanFile plan = PlanFor("2,3", "<=2");
  for (const auto& [name, fault] : faults) {
    EXPECT_NE(StructuralDifference(ReleaseOf(plan, 600, fault), ReleaseOf(plan, 599, fault), 1),
              std::nullopt)
        << name;
    // It is the number of rows that shows, not the fault.
    EXPECT_EQ(StructuralDifference(ReleaseOf(plan, 599, fault), ReleaseOf(plan, 598, fault), 1),
              std::nullopt)
        << name;
  }
}

// The same numbers in another order: the bound itself is infinite.
TEST_F(StructureAudit, ALeakOfStructureGivesAnInfiniteBound) {
  int64_t calls = 0;
  const auto release = [&](const char* structure) {
    return [&calls, structure] {
      return Published{Eigen::VectorXd::Constant(1, static_cast<double>(++calls % 7)), structure};
    };
  };
  const audit::AuditOptions options{.num_training = 100, .num_testing = 1000};
  EXPECT_LT(LowerBoundOnRho(release("a\nb\n"), release("a\nb\n"), options), 0.5);
  EXPECT_GT(LowerBoundOnRho(release("a\nb\n"), release("b\na\n"), options), 1e300);
  EXPECT_EQ(StructuralDifference(release("a\nb\n"), release("a\n"), 1), "(nothing) / b");
}

}  // namespace
}  // namespace residua
