#include "residua/files/output/file_kind.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "residua/base/error.h"
#include "residua/files/basis_cache.h"
#include "residua/files/file.h"
#include "residua/files/plan_file.h"
#include "residua/text/domain_text.h"
#include "tests/fixtures/folder_test.h"

namespace residua {
namespace {

constexpr const char* kTheirs = "x\n1\n";

const SelectRequest& RequestOfBases() {
  static const SelectRequest request{ParseDomain("4:prefix,3"),
                                     {{{MarginalRule::Kind::kUpTo, 2}}, {}},
                                     {},
                                     BudgetFromPcost(1),
                                     {}};
  return request;
}

class FileKindTest : public FolderTest {
 protected:
  FileKindTest() : plan_{Select(RequestOfBases()), {}} {
    Write("data.csv", kTheirs);
    WritePlan("plan.json", plan_);
    KeepBases("bases.json", RequestOfBases(), plan_.plan);
  }

  // Writing is refused in one line that says what to do, and leaves the file as it was.
  template <typename Work>
  static void ExpectRefused(const std::string& name, const Work& work) {
    const std::string before = ReadFile(name);
    try {
      work();
      ADD_FAILURE() << name << " was overwritten";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kRefused);
      EXPECT_EQ(PlainWords(error.place()), name);
      EXPECT_EQ(PlainWords(error.remedy()), "choose another place");
    }
    EXPECT_EQ(ReadFile(name), before);
    EXPECT_TRUE(TemporariesOf(name).empty());
  }

  PlanFile plan_;
};

TEST_F(FileKindTest, APlanReplacesOnlyAPlan) {
  for (const char* name : {"data.csv", "bases.json"}) {
    ExpectRefused(name, [&] { WritePlan(name, plan_); });
  }
  WritePlan("plan.json", plan_);
  WritePlan("new.json", plan_);
  Write("empty.json", "");
  WritePlan("empty.json", plan_);
  Write("older.json", R"({"format": "residua-plan", "version": 1, "tool": "residua 0.1.0"})");
  WritePlan("older.json", plan_);
  EXPECT_EQ(ReadPlan("older.json").plan, plan_.plan);
  // Data that speaks of plans is none.
  Write("words.csv", "what,\"residua-plan\"\n");
  ExpectRefused("words.csv", [&] { WritePlan("words.csv", plan_); });
}

TEST_F(FileKindTest, BasesReplaceOnlyBases) {
  for (const char* name : {"data.csv", "plan.json"}) {
    ExpectRefused(name, [&] { KeepBases(name, RequestOfBases(), plan_.plan); });
    ExpectRefused(name, [&] { FindBases(name, RequestOfBases()); });
  }
  // One that is damaged is begun anew.
  Write("bases.json", ReadFile("bases.json").substr(0, 100));
  EXPECT_TRUE(FindBases("bases.json", RequestOfBases()).empty());
  KeepBases("bases.json", RequestOfBases(), plan_.plan);
  EXPECT_FALSE(FindBases("bases.json", RequestOfBases()).empty());
}

TEST_F(FileKindTest, PagesAndSummariesReplaceOnlyTheirLike) {
  const std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta name=\"generator\" content=\"residua\">";
  const std::string summary =
      "# A release\n\n...\n\nThe noise is discrete Gaussian, drawn exactly; the figures are "
      "rounded.";
  Write("page.html", page);
  Write("summary.md", summary);
  for (const char* name : {"data.csv", "plan.json", "summary.md"}) {
    ExpectRefused(name, [&] { WriteFileAtomically(name, page, FileKind::kPage); });
  }
  for (const char* name : {"data.csv", "plan.json", "page.html"}) {
    ExpectRefused(name, [&] { WriteFileAtomically(name, summary, FileKind::kSummary); });
  }
  WriteFileAtomically("page.html", page + "new", FileKind::kPage);
  EXPECT_EQ(ReadFile("page.html"), page + "new");
  WriteFileAtomically("summary.md", summary + "new", FileKind::kSummary);
  EXPECT_EQ(ReadFile("summary.md"), summary + "new");
}

TEST_F(FileKindTest, ANewFileReplacesNothing) {
  Write("empty", "");
  for (const char* name : {"data.csv", "empty"}) {
    ExpectRefused(name, [&] { WriteFileAtomically(name, "new", FileKind::kNew); });
  }
  WriteFileAtomically("new", "new", FileKind::kNew);
  EXPECT_EQ(ReadFile("new"), "new");
}

TEST_F(FileKindTest, PipesAreWrittenTo) {
  ASSERT_EQ(mkfifo("pipe", 0600), 0);
  std::string read;
  std::thread reader([&] {
    std::ifstream stream("pipe");
    std::getline(stream, read);
  });
  WriteFileAtomically("pipe", "text\n", FileKind::kPlan);
  reader.join();
  EXPECT_EQ(read, "text");
  EXPECT_TRUE(std::filesystem::is_fifo("pipe"));
}

}  // namespace
}  // namespace residua
