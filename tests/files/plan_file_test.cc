#include "residua/files/plan_file.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "residua/base/error.h"
#include "residua/files/digest.h"

namespace residua {
namespace {

constexpr const char* kSpec = R"(
[data]
source = "people.csv"
[privacy]
rho = "1/3"
[attributes.age]
integers = [0, 99]
outside = "clamp"
[attributes.sex]
values = ["female", "male"]
null = true
[attributes.income]
cuts = [10000, 25000.5, 50000]
[workload]
marginals = "<=1"
tables = [["sex", "age"], { attributes = ["income", "sex"], weight = 2.5 }]
objective = "max-variance"
)";

PlanFile MakePlan() {
  const Spec spec = ParseSpec(kSpec, "spec.toml");
  return {Select({spec.domain, spec.workload, spec.objective, *spec.target, {}}), spec.data};
}

TEST(SpecTest, ReadsWhatIsWritten) {
  const Spec spec = ParseSpec(kSpec, "spec.toml");
  ASSERT_EQ(spec.domain.size(), 3);
  EXPECT_EQ(spec.domain[0].name, "age") << "the file's order, not the alphabet's";
  EXPECT_EQ(spec.domain[0].size, 100);
  EXPECT_EQ(spec.domain[1].size, 3) << "the null cell counts";
  EXPECT_EQ(spec.domain[2].size, 4);
  EXPECT_EQ(CellLabel(spec.domain[1], 2), "null");
  EXPECT_EQ(CellLabel(spec.domain[2], 1), "(10000, 25000.5]");
  EXPECT_EQ(CellLabel(spec.domain[0], 17), "17");
  EXPECT_EQ(std::get<Budget>(*spec.target).pcost, Rational(2, 3));
  EXPECT_EQ(spec.workload.marginals[0].attributes, (AttributeSet{0, 1}));
  EXPECT_EQ(spec.workload.marginals[1].weight, 2.5);
  EXPECT_EQ(spec.objective.weighting, Weighting::kEqual);
}

constexpr const char* kDatesSpec = R"(
[data]
source = "flights.csv"
query = "SELECT * FROM data"
null_values = ["NA", -9, ""]
[privacy]
rho = 1
[attributes.day]
dates = ["2013-01-01", 2013-12-31]
every = "week"
[attributes.weekday]
column = "day"
part = "weekday"
[attributes.carrier]
column = "carrier"
values = ["AA", "DL"]
outside = "other"
null = true
[workload]
marginals = "<=1"
)";

TEST(SpecTest, ReadsDatesColumnsAndMissingValues) {
  const Spec spec = ParseSpec(kDatesSpec, "spec.toml");
  EXPECT_EQ(spec.data.source, "flights.csv");
  EXPECT_EQ(spec.data.query, "SELECT * FROM data");
  EXPECT_EQ(spec.data.null_values, (std::vector<std::string>{"NA", "-9", ""}));
  EXPECT_EQ(
      spec.domain[0].encoding.cells,
      (Encoding{DateEncoding{*ParseDay("2013-01-01"), *ParseDay("2013-12-31"), DateStep::kWeek}}
           .cells));
  EXPECT_EQ(spec.domain[0].size, 53);
  EXPECT_EQ(ColumnOf(spec.domain[0]), "day");
  EXPECT_EQ(spec.domain[1].size, 7);
  EXPECT_EQ(ColumnOf(spec.domain[1]), "day");
  EXPECT_EQ(spec.domain[2].size, 4);
  EXPECT_EQ(spec.domain[2].column, "") << "its own name";
  const auto dates = ParseSpec("[attributes.d]\ndates = [\"2013-01-01\", \"2013-01-09\"]\n", "a");
  EXPECT_EQ(dates.domain[0].size, 9) << "days, unless it says otherwise";
}

TEST(PlanFileTest, KeepsDatesColumnsAndMissingValues) {
  const Spec spec = ParseSpec(kDatesSpec, "spec.toml");
  const PlanFile file{Select({spec.domain, spec.workload, spec.objective, *spec.target, {}}),
                      spec.data};
  const std::string text = PlanToJson(file);
  const PlanFile read = PlanFromJson(text, "plan.json");
  EXPECT_EQ(read, file);
  EXPECT_EQ(PlanToJson(read), text);
}

// A plan that needs none of them has no key for them.
TEST(PlanFileTest, WritesNewKeysOnlyWhereTheyAreUsed) {
  const std::string text = PlanToJson(MakePlan());
  for (const char* key : {"dates", "every", "\"part\"", "column", "null_values"}) {
    EXPECT_EQ(text.find(key), std::string::npos) << key;
  }
}

TEST(PlanFileTest, ReadsBackIdentical) {
  const PlanFile file = MakePlan();
  const std::string text = PlanToJson(file);
  const PlanFile read = PlanFromJson(text, "plan.json");
  EXPECT_EQ(read, file);
  EXPECT_EQ(PlanToJson(read), text);
}

// A bound on the standard deviation replaces the objective as a whole; a p that was left over made
// the plan differ from the one in its file.
TEST(PlanFileTest, ABoundOnTheStandardDeviationReadsBackIdentical) {
  std::string text = kSpec;
  text.replace(text.find("rho = \"1/3\""), 11, "max_std_dev = 5");
  text.replace(text.find("max-variance"), 12, "p-norm=3");
  const Spec spec = ParseSpec(text, "spec.toml");
  const PlanFile file{Select(RequestOf(spec)), spec.data};
  EXPECT_EQ(PlanFromJson(PlanToJson(file), "plan.json"), file);
}

TEST(PlanFileTest, KeepsTheMarkOfADraft) {
  EXPECT_EQ(PlanToJson(MakePlan()).find("\"check\""), std::string::npos) << "only where it is set";
  std::string text = kSpec;
  text.insert(text.find("values ="), "check = \"read from the data\"\n");
  const Spec spec = ParseSpec(text, "spec.toml");
  EXPECT_FALSE(spec.domain[0].read_from_data);
  EXPECT_TRUE(spec.domain[1].read_from_data);
  const PlanFile file{Select({spec.domain, spec.workload, spec.objective, *spec.target, {}}),
                      spec.data};
  const PlanFile read = PlanFromJson(PlanToJson(file), "plan.json");
  EXPECT_EQ(read, file);
  EXPECT_TRUE(read.plan.domain[1].read_from_data);
  EXPECT_THROW(CheckDomainIsPublic(read.plan.domain), Error);
}

// With words and digests that fit.
TEST(PlanFileTest, VariancesThatAreNotPositiveAreRefused) {
  for (const auto neighbours :
       {Protection::Neighbours::kAddRemove, Protection::Neighbours::kReplaceOne}) {
    const Spec spec = ParseSpec(kSpec, "spec.toml");
    SelectRequest request = RequestOf(spec);
    request.protection.neighbours = neighbours;
    const PlanFile file{Select(request), spec.data};
    ASSERT_EQ(PlanFromJson(PlanToJson(file), "plan.json"), file);
    for (size_t k = 0; k < file.plan.variances.size(); ++k) {
      for (const Rational& variance : {Rational(0), Rational(-1), Rational(-1, 1000000007)}) {
        PlanFile forged = file;
        forged.plan.variances[k] = variance;
        try {
          PlanFromJson(PlanToJson(forged), "plan.json");
          ADD_FAILURE() << "accepted " << variance;
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::kRefused) << error.what();
          EXPECT_NE(std::string(error.what()).find("must be positive"), std::string::npos);
        }
      }
    }
  }
}

// As read from a file of format 1: without scales.
PlanFile FirstFormat(PlanFile file) {
  file.plan.scale_bits.clear();
  file.plan.mu2.reset();
  return file;
}

TEST(PlanFileTest, AFileOfFormat1IsReadAndWrittenAsItWas) {
  const PlanFile file = FirstFormat(MakePlan());
  const std::string text = PlanToJson(file);
  EXPECT_NE(text.find("\"version\": 1"), std::string::npos);
  for (const char* word : {"mu2", "scale", "Gaussian and", "budget_limits"}) {
    EXPECT_EQ(text.find(word), std::string::npos) << word;
  }
  const PlanFile read = PlanFromJson(text, "plan.json");
  EXPECT_EQ(read, file);
  EXPECT_EQ(PlanToJson(read), text);
  EXPECT_NE(PlanDigest(file.plan), PlanDigest(MakePlan().plan));
  EXPECT_NO_THROW(VerifyPlan(read.plan));
}

// A cost on the curve that its noise does not have, or scales that were not planned, are refused
// though words and digest fit.
TEST(PlanFileTest, ForgedScalesAreRefused) {
  const PlanFile file = MakePlan();
  ASSERT_NO_THROW(VerifyPlan(PlanFromJson(PlanToJson(file), "plan.json").plan));
  const auto is_refused = [&](const std::function<void(Plan*)>& forge) {
    PlanFile forged = file;
    forge(&forged.plan);
    try {
      VerifyPlan(PlanFromJson(PlanToJson(forged), "plan.json").plan);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::kRefused;
    }
    return false;
  };
  EXPECT_TRUE(is_refused([](Plan* plan) { *plan->mu2 *= Rational(999999999, 1000000000); }));
  EXPECT_TRUE(is_refused([](Plan* plan) { *plan->mu2 = plan->pcost; }));
  EXPECT_TRUE(is_refused([](Plan* plan) { --plan->scale_bits[0]; }));
  EXPECT_TRUE(is_refused([](Plan* plan) { ++plan->scale_bits[0]; }));
  EXPECT_TRUE(is_refused([](Plan* plan) { plan->scale_bits[0] = -1; }));
  EXPECT_TRUE(is_refused([](Plan* plan) { plan->scale_bits[0] = 1000000; }));
  EXPECT_TRUE(is_refused([](Plan* plan) { plan->budget.limits = Accounting::kGaussian; }))
      << "rho leaves room for pcost, and mu2 is above it";
}

// Their guarantee in words has all digits of a double, of an epsilon that could be a little low.
TEST(PlanFileTest, TheWordsOfEarlierVersionsAreRead) {
  const PlanFile file = FirstFormat(MakePlan());
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(PlanToJson(file));
  const auto read_with = [&](const GuaranteeText& guarantee) {
    json["privacy"]["guarantee"] =
        fmt::format("{}-zCDP, and so ({}, {})-differential privacy, for discrete Gaussian noise",
                    guarantee.rho, guarantee.epsilon, guarantee.delta);
    json.erase("digest");
    json["digest"] = Sha256(json.dump());
    return PlanFromJson(json.dump(), "plan.json");
  };
  const GuaranteeText now = StatedGuarantee(file.plan);
  const GuaranteeText first = FirstStatedGuarantee(file.plan);
  EXPECT_EQ(now.rho, "0.333334");
  EXPECT_GT(first.rho.size(), 12u);
  EXPECT_EQ(read_with(now), file);
  EXPECT_EQ(read_with(first), file);
  EXPECT_THROW(read_with({now.rho, first.epsilon, now.delta}), Error);
  EXPECT_THROW(read_with({now.rho, "5", now.delta}), Error);
}

TEST(PlanFileTest, EveryTruncationIsBadInput) {
  const std::string text = PlanToJson(MakePlan());
  for (size_t size = 0; size + 2 < text.size(); size += 7) {
    try {
      PlanFromJson(std::string_view(text).substr(0, size), "plan.json");
      ADD_FAILURE() << "accepted the first " << size << " bytes";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    }
  }
}

TEST(PlanFileTest, EveryChangedDigitIsNoticed) {
  const std::string text = PlanToJson(MakePlan());
  int refused = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] < '0' || text[at] > '9') continue;
    std::string changed = text;
    changed[at] = changed[at] == '9' ? '1' : static_cast<char>(changed[at] + 1);
    EXPECT_THROW(PlanFromJson(changed, "plan.json"), Error) << text.substr(at, 30);
    ++refused;
  }
  EXPECT_GT(refused, 100);
}

// What reading a changed plan says; its digest fits, as a forger would make it.
std::optional<Error> ErrorOfForged(const std::function<void(nlohmann::ordered_json&)>& forge) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(PlanToJson(MakePlan()));
  forge(json);
  json.erase("digest");
  json["digest"] = Sha256(json.dump());
  try {
    PlanFromJson(json.dump(), "plan.json");
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

// JSON's own conversion cut 100.5 down to 100.
TEST(PlanFileTest, NumbersThatAreNotWholeOrDoNotFitAreBadInput) {
  const auto kind_with = [](const std::function<void(nlohmann::ordered_json&)>& forge) {
    const auto error = ErrorOfForged(forge);
    return error ? std::optional(error->kind()) : std::nullopt;
  };
  EXPECT_EQ(kind_with([](auto&) {}), std::nullopt);
  for (const nlohmann::ordered_json& bad :
       std::vector<nlohmann::ordered_json>{100.5, 1e300, UINT64_MAX}) {
    EXPECT_EQ(kind_with([&](auto& json) { json["attributes"][0]["size"] = bad; }),
              ErrorKind::kBadInput);
    EXPECT_EQ(kind_with([&](auto& json) { json["classes"][0][0] = bad; }), ErrorKind::kBadInput);
  }
  for (const int64_t last : {int64_t{-1}, INT64_MAX}) {
    EXPECT_EQ(kind_with([&](auto& json) { json["attributes"][0]["integers"][1] = last; }),
              ErrorKind::kBadInput);
  }
}

TEST(PlanFileTest, EncodingsThatContradictThemselvesAreNamed) {
  const auto message_with = [](int attribute, const nlohmann::ordered_json& changes) {
    const auto error =
        ErrorOfForged([&](auto& json) { json["attributes"][attribute].update(changes); });
    return error ? std::string(error->what()) : "";
  };
  EXPECT_EQ(message_with(0, {{"integers", {9, 0}}}),
            "plan.json: attributes.age.integers [9, 0] is not an increasing range of at most 2^40 "
            "integers");
  EXPECT_EQ(message_with(0, {{"integers", {0, 9}}}),
            "plan.json: attributes.age.size is 100, and the encoding has 10 cells");
  EXPECT_EQ(message_with(1, {{"values", {"x", "x"}}}),
            "plan.json: attributes.sex.values lists 'x' twice");
  EXPECT_EQ(message_with(1, {{"values", {"null", "x"}}}),
            "plan.json: attributes.sex.null names missing values null, and values lists 'null' "
            "too; leave one of them out");
  EXPECT_EQ(message_with(1, {{"outside", "clamp"}}),
            "plan.json: attributes.sex.outside \"clamp\" only makes sense with integers, numbers "
            "or dates = "
            "[FIRST, "
            "LAST]");
  EXPECT_EQ(message_with(1, {{"outside", "guess"}}),
            "plan.json: 'guess' is not known; it must be error, clamp, drop, null or other");
  EXPECT_EQ(message_with(2, {{"cuts", {3, 2, 1}}}),
            "plan.json: attributes.income.cuts must increase strictly");
  EXPECT_EQ(message_with(2, {{"cuts", nlohmann::ordered_json::array()}}),
            "plan.json: attributes.income.cuts must hold at least one number");
}

}  // namespace
}  // namespace residua
