#include "residua/release/page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "residua/base/error.h"
#include "residua/files/file.h"
#include "residua/release/page_template.h"
#include "residua/release/planning_page.h"
#include "tests/fixtures/folder_test.h"
#include "tests/release/small_measurement.h"

namespace residua {
namespace {

class PageTest : public FolderTest {
 protected:
  PageTest() {
    // As earlier versions wrote plans: with where the data is.
    WriteSmallMeasurement("m.parquet", "40:prefix,30,20", 3, {"secret/people.csv", "", "", ""});
  }

  static nlohmann::json FactsOf(const std::string& html) {
    const std::string mark = "id=\"facts\">";
    const size_t begin = html.find(mark) + mark.size();
    return nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin));
  }
};

TEST_F(PageTest, IsAFunctionOfTheMeasurements) {
  const PageWritten written = WritePage({"m.parquet", "a.html"});
  WritePage({"m.parquet", "b.html"});
  const std::string html = ReadFile("a.html");
  EXPECT_EQ(html, ReadFile("b.html"));
  EXPECT_EQ(written.num_bytes, static_cast<int64_t>(html.size()));
  EXPECT_EQ(written.num_tables, 8);
  EXPECT_TRUE(written.left_out.empty());
  EXPECT_EQ(html.find("secret"), std::string::npos);
  EXPECT_EQ(html.find("<!-- residua:"), std::string::npos);
}

TEST_F(PageTest, ReplacesNothingButAPage) {
  const std::string measured = ReadFile("m.parquet");
  EXPECT_THROW(WritePage({"m.parquet", "m.parquet"}), Error);
  EXPECT_EQ(ReadFile("m.parquet"), measured);
  Write("spec.toml", BlankSpec());
  Write("data.csv", "x\n1\n");
  EXPECT_THROW(WritePlanningPage("spec.toml", "data.csv"), Error);
  EXPECT_EQ(ReadFile("data.csv"), "x\n1\n");
  WritePlanningPage("spec.toml", "a.html");
  WritePage({"m.parquet", "a.html"});
  WritePage({"m.parquet", "a.html"});
}

TEST_F(PageTest, TextsEndNoElement) {
  PageRequest request{"m.parquet", "a.html"};
  request.text.title = "</title><script>alert(1)</script>";
  request.text.publisher = "</script><script>alert(2)</script>";
  request.text.date = "2026-05";
  WritePage(request);
  const std::string html = ReadFile("a.html");
  EXPECT_EQ(html.find("alert(1)</script></title>"), std::string::npos);
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_EQ(FactsOf(html).at("publisher"), request.text.publisher);
  EXPECT_EQ(FactsOf(html).at("date"), request.text.date);
}

TEST_F(PageTest, LargestTablesAreLeftOutAndNamed) {
  PageRequest request{"m.parquet", "a.html"};
  request.max_bytes = WritePage(request).num_bytes - 1;
  const PageWritten written = WritePage(request);
  EXPECT_LE(written.num_bytes, request.max_bytes);
  ASSERT_EQ(written.left_out.size(), 1u);
  EXPECT_EQ(written.left_out[0], "0 x 1 x 2");
  EXPECT_EQ(written.num_tables, 7);
  EXPECT_EQ(FactsOf(ReadFile("a.html")).at("leftOut"), nlohmann::json(written.left_out));

  request.max_bytes = static_cast<int64_t>(ReaderPageTemplate().size());
  request.output = "b.html";
  std::string message;
  try {
    WritePage(request);
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_FALSE(std::filesystem::exists("b.html"));
  const std::string start =
      fmt::format("b.html: a page of {} bytes cannot hold it; allow at least ", request.max_bytes);
  ASSERT_TRUE(message.starts_with(start)) << message;
  request.max_bytes = std::stoll(message.substr(start.size()));
  EXPECT_EQ(WritePage(request).num_bytes, request.max_bytes) << "the least that is enough";
  request.max_bytes -= 1;
  EXPECT_THROW(WritePage(request), Error);
}

TEST_F(PageTest, SaysThePromiseOfThePlan) {
  WritePage({"m.parquet", "a.html"});
  const nlohmann::json privacy = FactsOf(ReadFile("a.html")).at("privacy");
  EXPECT_EQ(privacy.at("rho"), "0.5");
  EXPECT_EQ(privacy.at("suspicion"), "99.8 %");
  EXPECT_EQ(privacy.at("isWeak"), false);
}

}  // namespace
}  // namespace residua
