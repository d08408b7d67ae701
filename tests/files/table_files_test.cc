#include "residua/files/table_files.h"

#include <cmath>
#include <random>

#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/files/file.h"
#include "tests/fixtures/folder_test.h"

namespace residua {
namespace {

namespace fs = std::filesystem;

Domain PeopleDomain() {
  return Domain({{.name = "age", .size = 3}, {.name = "estimate", .size = 2}});
}

// Of people: ages 0, 1, 2 and two estimates.
TableLayout PeopleLayout(TableFormat format) {
  return {.format = format,
          .names = NamesOf(PeopleDomain()),
          .labels = {{"0", "1", "2"}, {"a,b", "\u00e9"}},
          .about = "{}\n"};
}

std::vector<std::string> LinesOf(const fs::path& path) {
  std::vector<std::string> lines;
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class TableFilesTest : public FolderTest {
 protected:
  // The rows of a result, columns separated by "|", and "none" where there is no value.
  static std::vector<std::string> Query(const std::string& path, const std::string& columns,
                                        const std::string& rest = "") {
    std::vector<std::string> rows;
    DuckDbConnection connection = DuckDbConnection::InMemory(path, path);
    connection.Stream(
        "SELECT concat_ws('|', " + columns + ") FROM read_parquet(" + SqlText(path) + ") " + rest,
        [&](const DuckDbChunk& chunk) {
          for (int64_t row = 0; row < chunk.num_rows(); ++row) {
            rows.emplace_back(TextOf(chunk.Values<duckdb_string_t>(0)[row]));
          }
        });
    return rows;
  }
};

TEST_F(TableFilesTest, NumbersInCsvHaveTheDigitsThatTheErrorBarSupports) {
  const std::vector<double> estimates = {1234.56789, -0.00049, 3};
  const std::vector<double> std_devs = {12.3456};
  const auto writer = MakeTableWriter("t", PeopleLayout(TableFormat::kCsv));
  writer->Write({{0}, estimates, std_devs, 2});
  writer->Finish();
  EXPECT_EQ(LinesOf("t/age.csv"),
            (std::vector<std::string>{"age,estimate,std_dev,ci_lower,ci_upper",
                                      "0,1234.57,12.35,1209.87,1259.26",
                                      "1,0.00,12.35,-24.70,24.70", "2,3.00,12.35,-21.70,27.70"}));
}

TEST_F(TableFilesTest, AllDigitsIfAsked) {
  const std::vector<double> estimates = {0.1, 1e16, -2};
  const std::vector<double> std_devs = {0.5};
  TableLayout layout = PeopleLayout(TableFormat::kCsv);
  layout.digits = TableDigits::kFull;
  const auto writer = MakeTableWriter("t", layout);
  writer->Write({{0}, estimates, std_devs, 1});
  writer->Finish();
  EXPECT_EQ(
      LinesOf("t/age.csv"),
      (std::vector<std::string>{"age,estimate,std_dev,ci_lower,ci_upper", "0,0.1,0.5,-0.4,0.6",
                                "1,1e+16,0.5,1e+16,1e+16", "2,-2,0.5,-2.5,-1.5"}));
}

// Answers of one table may have different errors: the smallest decides for all.
TEST_F(TableFilesTest, RoundedIntervalsContainTheExactOnes) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, 1000);
  std::vector<double> estimates, std_devs;
  for (int k = 0; k < 30000; ++k) {
    estimates.push_back(normal(random));
    std_devs.push_back(0.5 + std::abs(normal(random)));
  }
  TableLayout layout = PeopleLayout(TableFormat::kCsv);
  layout.labels = {std::vector<std::string>(10000, "l"), {"x", "y", "z"}};
  const auto writer = MakeTableWriter("t", layout);
  writer->Write({{0, 1}, estimates, std_devs, 1.96});
  writer->Finish();
  const std::vector<std::string> lines = LinesOf("t/age_x_estimate.csv");
  ASSERT_EQ(lines.size(), estimates.size() + 1);
  EXPECT_EQ(lines[0], "age,estimate_,estimate,std_dev,ci_lower,ci_upper");
  for (size_t k = 0; k < estimates.size(); ++k) {
    EXPECT_EQ(lines[k + 1].substr(0, 4), std::string("l,") + "xyz"[k % 3] + ",");
    double numbers[4];
    std::istringstream fields(lines[k + 1].substr(4));
    std::string field;
    for (double& number : numbers) {
      std::getline(fields, field, ',');
      EXPECT_EQ(field.size() - field.find('.'), 5u) << lines[k + 1];
      number = ParseNumber(field).value();
    }
    const double lower = estimates[k] - 1.96 * std_devs[k];
    const double upper = estimates[k] + 1.96 * std_devs[k];
    EXPECT_NEAR(numbers[0], estimates[k], 0.5000001e-4);
    EXPECT_NEAR(numbers[1], std_devs[k], 0.5000001e-4);
    EXPECT_TRUE(numbers[2] <= lower && lower < numbers[2] + 1.000001e-4) << lines[k + 1];
    EXPECT_TRUE(numbers[3] >= upper && upper > numbers[3] - 1.000001e-4) << lines[k + 1];
  }
}

TEST_F(TableFilesTest, ThreadsMakeTheSameText) {
  std::vector<double> estimates(200000);
  for (size_t k = 0; k < estimates.size(); ++k) estimates[k] = std::sin(static_cast<double>(k));
  const std::vector<double> std_devs = {0.1};
  for (const int num_threads : {1, 2}) {
    TableLayout layout = PeopleLayout(TableFormat::kCsv);
    layout.labels = {std::vector<std::string>(100000, "label"), {"x", "y"}};
    layout.num_threads = num_threads;
    const auto writer = MakeTableWriter(std::to_string(num_threads), layout);
    writer->Write({{0, 1}, estimates, std_devs, 2});
    writer->Finish();
  }
  EXPECT_TRUE(ReadFile("1/age_x_estimate.csv") == ReadFile("2/age_x_estimate.csv"));
}

TEST_F(TableFilesTest, OneFileHasAColumnForEachAttribute) {
  const std::vector<double> one = {60}, three = {10, 20, 30}, six = {1, 2, 3, 4, 5, 6};
  const std::vector<double> constant = {2}, varying = {1, 2, 3};
  // Once with a standard deviation for each table, once with some for each row.
  for (const bool varies : {false, true}) {
    const auto writer = MakeTableWriter("t.parquet", PeopleLayout(TableFormat::kOneParquet));
    writer->Write({{}, one, constant, 2});
    writer->Write({{0}, three, varies ? varying : constant, 2});
    writer->Write({{0, 1}, six, constant, 2});
    writer->Finish();
    EXPECT_EQ(
        Query("t.parquet",
              "\"table\", coalesce(age, 'none'), coalesce(estimate_, 'none'), estimate, std_dev, "
              "ci_lower, ci_upper"),
        (std::vector<std::string>{
            "total|none|none|60.0|2.0|56.0|64.0",
            varies ? "age|0|none|10.0|1.0|8.0|12.0" : "age|0|none|10.0|2.0|6.0|14.0",
            "age|1|none|20.0|2.0|16.0|24.0",
            varies ? "age|2|none|30.0|3.0|24.0|36.0" : "age|2|none|30.0|2.0|26.0|34.0",
            "age_x_estimate|0|a,b|1.0|2.0|-3.0|5.0", "age_x_estimate|0|\u00e9|2.0|2.0|-2.0|6.0",
            "age_x_estimate|1|a,b|3.0|2.0|-1.0|7.0", "age_x_estimate|1|\u00e9|4.0|2.0|0.0|8.0",
            "age_x_estimate|2|a,b|5.0|2.0|1.0|9.0", "age_x_estimate|2|\u00e9|6.0|2.0|2.0|10.0"}));
    EXPECT_EQ(Query("t.parquet", "estimate",
                    "WHERE \"table\" = 'age_x_estimate' AND age = '1' AND estimate_ = '\u00e9'"),
              std::vector<std::string>{"4.0"});
    EXPECT_EQ(Query("t.parquet", "estimate", "WHERE age IS NULL"),
              std::vector<std::string>{"60.0"});
    fs::remove("t.parquet");
  }
}

TEST_F(TableFilesTest, HierarchiesHaveAColumnOfLevels) {
  const Domain domain({{.name = "age", .size = 2},
                       {.name = "region",
                        .size = 2,
                        .queries = QueryKind::kHierarchy,
                        .groups = {{"all, of them", {0, 1}}}}});
  TableLayout layout{.names = NamesOf(domain), .labels = {{"0", "1"}, {"N", "S", "all, of them"}}};
  layout.companions = CompanionsOf(domain, layout.names);
  const std::vector<double> two = {10, 20}, six = {1, 2, 3, 4, 5, 9};
  const std::vector<double> std_dev = {2};
  const auto write = [&](TableFormat format, const std::string& path) {
    layout.format = format;
    const auto writer = MakeTableWriter(path, layout);
    writer->Write({{0}, two, std_dev, 2});
    writer->Write({{0, 1}, six, std_dev, 2});
    writer->Finish();
  };
  write(TableFormat::kCsv, "csv");
  const std::vector<std::string> lines = LinesOf("csv/age_x_region.csv");
  EXPECT_EQ(lines[0], "age,region,region_level,estimate,std_dev,ci_lower,ci_upper");
  EXPECT_EQ(lines[3], "0,\"all, of them\",1,3.000,2.000,-1.000,7.000");
  EXPECT_EQ(lines[4], "1,N,0,4.000,2.000,0.000,8.000");
  EXPECT_EQ(LinesOf("csv/age.csv")[0], "age,estimate,std_dev,ci_lower,ci_upper");

  write(TableFormat::kParquet, "parquet");
  const std::vector<std::string> groups = {"0|all, of them|3.0|BIGINT",
                                           "1|all, of them|9.0|BIGINT"};
  const std::string columns = "age, region, estimate, typeof(region_level)";
  EXPECT_EQ(Query("parquet/age_x_region.parquet", columns, "WHERE region_level = 1"), groups);

  write(TableFormat::kOneParquet, "t.parquet");
  EXPECT_EQ(Query("t.parquet", columns, "WHERE region_level = 1"), groups);
  EXPECT_EQ(Query("t.parquet", "estimate", "WHERE region_level IS NULL"),
            (std::vector<std::string>{"10.0", "20.0"}));
  EXPECT_EQ(Query("t.parquet", "sum(estimate)", "WHERE region_level = 0"),
            std::vector<std::string>{"12.0"});
}

TEST_F(TableFilesTest, PrefixSumsAndRangesHaveBounds) {
  const Domain domain(
      {{.name = "age",
        .size = 3,
        .queries = QueryKind::kPrefix,
        .encoding = {IntegerEncoding{18, 19}, true}},
       {.name = "wage", .size = 2, .queries = QueryKind::kRange, .encoding = {CutEncoding{{1.5}}}},
       {.name = "day",
        .size = 2,
        .queries = QueryKind::kPrefix,
        .encoding = {DateEncoding{*ParseDay("2024-01-15"), *ParseDay("2024-02-03"),
                                  DateStep::kMonth}}},
       {.name = "hour", .size = 2, .queries = QueryKind::kPrefix}});
  TableLayout layout{.names = NamesOf(domain)};
  for (const Attribute& attribute : domain.attributes()) {
    layout.labels.emplace_back();
    for (int64_t k = 0; k < NumAnswers(attribute); ++k) {
      layout.labels.back().push_back(AnswerLabel(attribute, k));
    }
  }
  layout.companions = CompanionsOf(domain, layout.names);
  const std::vector<double> two = {1, 2}, three = {1, 2, 3};
  const std::vector<double> std_dev = {2};
  const auto write = [&](TableFormat format, const std::string& path) {
    layout.format = format;
    const auto writer = MakeTableWriter(path, layout);
    writer->Write({{0}, three, std_dev, 2});
    writer->Write({{1}, three, std_dev, 2});
    writer->Write({{2}, two, std_dev, 2});
    writer->Write({{3}, two, std_dev, 2});
    writer->Finish();
  };
  write(TableFormat::kCsv, "csv");
  const std::string numbers = "estimate,std_dev,ci_lower,ci_upper";
  EXPECT_EQ(LinesOf("csv/age.csv"),
            (std::vector<std::string>{
                "age,age_lower,age_upper," + numbers, "<=18,18,18,1.000,2.000,-3.000,5.000",
                "<=19,18,19,2.000,2.000,-2.000,6.000", "all,18,,3.000,2.000,-1.000,7.000"}));
  const std::vector<std::string> wage = LinesOf("csv/wage.csv");
  EXPECT_EQ(wage[1], "\"(-inf, 1.5]\",-Inf,1.5,1.000,2.000,-3.000,5.000");
  EXPECT_EQ(wage[2], "\"(-inf, inf)\",-Inf,Inf,2.000,2.000,-2.000,6.000");
  EXPECT_EQ(wage[3], "\"(1.5, inf)\",1.5,Inf,3.000,2.000,-1.000,7.000");
  EXPECT_EQ(LinesOf("csv/day.csv")[2], "<=2024-02,2024-01-15,2024-02-03,2.000,2.000,-2.000,6.000");
  EXPECT_EQ(LinesOf("csv/hour.csv")[0], "hour," + numbers);  // a bare size has no values

  write(TableFormat::kOneParquet, "t.parquet");
  EXPECT_EQ(Query("t.parquet", "age, age_lower, age_upper", "WHERE age_upper <= 19"),
            (std::vector<std::string>{"<=18|18.0|18.0", "<=19|18.0|19.0"}));
  EXPECT_EQ(Query("t.parquet", "age", "WHERE isnan(age_upper)"), std::vector<std::string>{"all"});
  EXPECT_EQ(Query("t.parquet", "estimate", "WHERE day_upper = '2024-02-03'"),
            std::vector<std::string>{"2.0"});
}

// A table that begins in one row group and ends in the third.
TEST_F(TableFilesTest, TablesOfManyRowGroups) {
  TableLayout layout = PeopleLayout(TableFormat::kOneParquet);
  layout.labels = {{}, {"a", "b", "c"}};
  for (int k = 0; k < 200000; ++k) layout.labels[0].push_back(std::to_string(k));
  std::vector<double> few(3), many(600000), std_devs(600000);
  for (size_t k = 0; k < many.size(); ++k) {
    many[k] = static_cast<double>(k);
    std_devs[k] = static_cast<double>(k % 10 + 1);
  }
  const auto writer = MakeTableWriter("t.parquet", layout);
  writer->Write({{1}, few, std::span(std_devs).first(1), 2});
  writer->Write({{0, 1}, many, std_devs, 2});
  writer->Finish();
  EXPECT_EQ(
      Query("t.parquet",
            "count(*), sum((age = (estimate::BIGINT // 3)::VARCHAR AND estimate_ = "
            "chr(97 + (estimate % 3)::INTEGER) AND std_dev = estimate % 10 + 1 AND ci_upper = "
            "estimate + 2 * std_dev)::INTEGER)",
            "WHERE \"table\" = 'age_x_estimate'"),
      std::vector<std::string>{"600000|600000"});
  EXPECT_EQ(Query("t.parquet", "count(*)", "WHERE age IS NULL"), std::vector<std::string>{"3"});
}

TEST_F(TableFilesTest, WholeNumbersAreIntegers) {
  const std::vector<double> counts = {3, 0, 7};
  TableLayout layout = PeopleLayout(TableFormat::kParquet);
  layout.columns = TableColumns::kAdjustedWhole;
  const auto writer = MakeTableWriter("t", layout);
  writer->Write({{0}, counts});
  writer->Finish();
  EXPECT_EQ(Query("t/age.adjusted.parquet", "age, adjusted, typeof(adjusted)"),
            (std::vector<std::string>{"0|3|BIGINT", "1|0|BIGINT", "2|7|BIGINT"}));
  EXPECT_EQ(ReadFile("t/residua.json"), "{}\n");
}

// A large table in pieces, between small ones: the files are the same, byte by byte.
TEST_F(TableFilesTest, PiecesDoNotShow) {
  TableLayout layout{
      .names = NamesOf(Domain({{.name = "a", .size = 700}, {.name = "b", .size = 500}})),
      .labels = std::vector<std::vector<std::string>>(2),
      .about = "{}\n"};
  for (int k = 0; k < 700; ++k) layout.labels[0].push_back(fmt::format("a{}", k));
  for (int k = 0; k < 500; ++k) layout.labels[1].push_back(fmt::format("b{}", k));
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(0, 100);
  std::vector<double> estimates(700 * 500);
  for (double& estimate : estimates) estimate = normal(random);
  const std::vector<double> std_dev = {12.5};
  const auto write = [&](TableFormat format, const fs::path& path, size_t size) {
    TableLayout of_format = layout;
    of_format.format = format;
    const auto writer = MakeTableWriter(path, std::move(of_format));
    writer->Write({{0}, std::span(estimates).first(700), std_dev, 2});
    for (size_t first = 0; first < estimates.size(); first += size) {
      const size_t count = std::min(size, estimates.size() - first);
      writer->Write({{0, 1},
                     std::span(estimates).subspan(first, count),
                     std_dev,
                     2,
                     0,
                     static_cast<int64_t>(first)});
    }
    writer->Write({{1}, std::span(estimates).first(500), std_dev, 2});
    writer->Finish();
  };
  for (const size_t size : {size_t{500}, size_t{100'000}, size_t{262'144}}) {
    for (const auto& [format, file] : {std::pair{TableFormat::kCsv, "/a_x_b.csv"},
                                       std::pair{TableFormat::kParquet, "/a_x_b.parquet"},
                                       std::pair{TableFormat::kOneParquet, ""}}) {
      const std::string whole = fmt::format("whole{}", static_cast<int>(format));
      const std::string pieces = fmt::format("{}-{}", whole, size);
      if (!fs::exists(whole)) write(format, whole, estimates.size());
      write(format, pieces, size);
      EXPECT_TRUE(ReadFile(whole + file) == ReadFile(pieces + file)) << pieces;
    }
  }
}

}  // namespace
}  // namespace residua
