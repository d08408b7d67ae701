#include "residua/draft/edit_spec.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "residua/base/error.h"
#include "residua/files/spec.h"

namespace residua {
namespace {

// Written as people write: comments, quotes, several lines, tables on one line.
constexpr std::string_view kSpec = R"(# What we publish, and why.
[release]
title = "Täglich [privacy]"   # not a section
description = """
[privacy]
epsilon = 5
"""
[privacy]   # agreed in May
epsilon = 1.0  # ε
delta = 1e-9

# Everyone has one.
[attributes.age]
integers = [0, 99]   # years
queries = "prefix"
[attributes."net income"]
cuts = [ 0, 10_000,  # low
  50_000 ]
[attributes]
sex = { values = ["f", "m"], outside = "drop" }

# The tables.
[workload]
marginals = "<=2")";

std::string Edited(std::string_view text, std::vector<SpecEdit> edits) {
  return EditSpec(text, "spec.toml", edits);
}

// `text` with `from`, which it has once, replaced.
std::string Replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  const size_t at = result.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(result.find(from, at + 1), std::string::npos) << from;
  return result.replace(at, from.size(), to);
}

TEST(EditSpec, ChangesTheValueAndNothingElse) {
  EXPECT_EQ(Edited(kSpec, {{{"privacy", "epsilon"}, "2"}}),
            Replaced(kSpec, "epsilon = 1.0  #", "epsilon = 2  #"));
  EXPECT_EQ(Edited(kSpec, {{{"attributes", "age", "integers"}, "[0, 120]"}}),
            Replaced(kSpec, "[0, 99]", "[0, 120]"));
  EXPECT_EQ(Edited(kSpec, {{{"attributes", "net income", "cuts"}, "[0, 1]"}}),
            Replaced(kSpec, "[ 0, 10_000,  # low\n  50_000 ]", "[0, 1]"));
  EXPECT_EQ(Edited(kSpec, {{{"attributes", "sex", "outside"}, "\"error\""}}),
            Replaced(kSpec, "\"drop\"", "\"error\""));
  EXPECT_EQ(Edited(kSpec, {{{"release", "title"}, "\"x\""}}),
            Replaced(kSpec, "\"Täglich [privacy]\"", "\"x\""));
}

TEST(EditSpec, AddsKeysAtTheEndOfTheirSection) {
  EXPECT_EQ(Edited(kSpec, {{{"privacy", "neighbours"}, "\"replace-one\""}}),
            Replaced(kSpec, "delta = 1e-9\n", "delta = 1e-9\nneighbours = \"replace-one\"\n"));
  EXPECT_EQ(Edited(kSpec, {{{"attributes", "net income", "queries"}, "\"range\""}}),
            Replaced(kSpec, "50_000 ]\n", "50_000 ]\nqueries = \"range\"\n"));
  EXPECT_EQ(Edited(kSpec, {{{"attributes", "sex", "null"}, "true"}}),
            Replaced(kSpec, "\"drop\" }", "\"drop\", null = true }"));
  // Also where the text has no line break at its end.
  EXPECT_EQ(Edited(kSpec, {{{"workload", "objective"}, "\"max-variance\""}}),
            std::string(kSpec) + "\nobjective = \"max-variance\"\n");
}

TEST(EditSpec, AddsSections) {
  const std::string text = Edited(kSpec, {{{"attributes", "a b", "size"}, "3"},
                                          {{"attributes", "a b", "queries"}, "\"range\""},
                                          {{"data", "source"}, "\"x.csv\""}});
  const Spec spec = ParseSpec(text, "spec.toml");
  EXPECT_EQ(spec.domain.size(), 4);
  EXPECT_EQ(spec.domain[3].name, "a b");
  EXPECT_EQ(spec.domain[3].queries, QueryKind::kRange);
  EXPECT_EQ(spec.data.source, "x.csv");
  EXPECT_NE(text.find("[attributes.\"a b\"]\nsize = 3\nqueries = \"range\"\n"), std::string::npos);
  EXPECT_EQ(Edited("", {{{"privacy", "rho"}, "1"}}), "[privacy]\nrho = 1\n");
}

TEST(EditSpec, RemovesKeysAndSections) {
  EXPECT_EQ(Edited(kSpec, {{{"privacy", "delta"}, std::nullopt}}),
            Replaced(kSpec, "delta = 1e-9\n", ""));
  EXPECT_EQ(Edited(kSpec, {{{"attributes", "net income", "cuts"}, std::nullopt}}),
            Replaced(kSpec, "cuts = [ 0, 10_000,  # low\n  50_000 ]\n", ""));
  EXPECT_EQ(Edited(kSpec, {{{"attributes", "sex", "values"}, std::nullopt}}),
            Replaced(kSpec, "values = [\"f\", \"m\"], ", ""));
  EXPECT_EQ(Edited(kSpec, {{{"attributes", "sex", "outside"}, std::nullopt}}),
            Replaced(kSpec, ", outside = \"drop\"", ""));
  EXPECT_EQ(Edited(kSpec, {{{"attributes", "sex"}, std::nullopt}}),
            Replaced(kSpec, "sex = { values = [\"f\", \"m\"], outside = \"drop\" }\n", ""));
  EXPECT_EQ(Edited(kSpec, {{{"attributes", "age"}, std::nullopt}}),
            Replaced(kSpec,
                     "[attributes.age]\nintegers = [0, 99]   # years\nqueries = \"prefix\"\n", ""));
  EXPECT_EQ(Edited(kSpec, {{{"workload", "marginals"}, std::nullopt}}),
            Replaced(kSpec, "marginals = \"<=2\"", ""));
  // The comment above the next section stays.
  EXPECT_EQ(
      Edited(kSpec, {{{"privacy"}, std::nullopt}}),
      Replaced(kSpec, "[privacy]   # agreed in May\nepsilon = 1.0  # ε\ndelta = 1e-9\n\n", ""));
  // What is not there is gone already.
  EXPECT_EQ(Edited(kSpec, {{{"privacy", "rho"}, std::nullopt}}), kSpec);
  EXPECT_EQ(Edited(kSpec, {{{"data", "rows"}, std::nullopt}}), kSpec);
}

TEST(EditSpec, RemovesSectionsWithinSections) {
  constexpr std::string_view kNested = R"([attributes.place]
values = ["a", "b"]
queries = "hierarchy"
[privacy]
rho = 1
[attributes.place.hierarchy]
all = ["a", "b"]
[attributes.sex]
size = 2
)";
  EXPECT_EQ(Edited(kNested, {{{"attributes", "place"}, std::nullopt}}),
            "[privacy]\nrho = 1\n[attributes.sex]\nsize = 2\n");
}

TEST(EditSpec, RefusesWhatItCannotChangeInPlace) {
  // Sections that are written as keys of another.
  EXPECT_THROW(Edited("privacy.rho = 1\n", {{{"privacy", "rho"}, std::nullopt}}), Error);
  EXPECT_THROW(Edited("[[privacy]]\nrho = 1\n", {{{"privacy", "mu"}, "1"}}), Error);
  // Values that are more than a value, or none.
  for (const char* value : {"1\n[x]\ny = 2", "1\nmu = 2", "", "1, 2", "]", "\"", "1 # x\n2"}) {
    EXPECT_THROW(Edited(kSpec, {{{"privacy", "epsilon"}, value}}), Error) << value;
  }
  EXPECT_THROW(Edited("epsilon = ", {{{"privacy", "epsilon"}, "1"}}), Error);
  EXPECT_THROW(Edited("privacy = 1", {{{"privacy", "epsilon"}, "1"}}), Error);
}

// A comment after a value would swallow what follows it.
TEST(EditSpec, KeepsCommentsInValuesFromEatingTheLine) {
  EXPECT_THROW(Edited(kSpec, {{{"attributes", "sex", "outside"}, "\"drop\" # x"}}), Error);
}

TEST(SettingsOf, AreAsTheyAreWritten) {
  const std::vector<SpecSetting> settings = SettingsOf(kSpec, "spec.toml");
  std::vector<std::string> texts;
  for (const SpecSetting& setting : settings) {
    std::string path;
    for (const std::string& key : setting.path) path += key + "/";
    texts.push_back(path + "=" + setting.text);
  }
  const std::vector<std::string> want = {
      "release/title/=\"Täglich [privacy]\"",
      "release/description/=\"\"\"\n[privacy]\nepsilon = 5\n\"\"\"",
      "privacy/epsilon/=1.0",
      "privacy/delta/=1e-9",
      "attributes/age/integers/=[0, 99]",
      "attributes/age/queries/=\"prefix\"",
      "attributes/net income/cuts/=[ 0, 10_000,  # low\n  50_000 ]",
      "attributes/sex/values/=[\"f\", \"m\"]",
      "attributes/sex/outside/=\"drop\"",
      "workload/marginals/=\"<=2\""};
  EXPECT_EQ(texts, want);
}

TEST(MatrixFilesOf, NamesThemAll) {
  EXPECT_EQ(MatrixFilesOf("[attributes.a]\nsize = 3\nqueries = \"custom\"\n"
                          "custom = { matrix = \"q.csv\", strategy = \"s.csv\" }\n",
                          "spec.toml"),
            (std::vector<std::string>{"q.csv", "s.csv"}));
  EXPECT_TRUE(MatrixFilesOf(kSpec, "spec.toml").empty());
}

}  // namespace
}  // namespace residua
