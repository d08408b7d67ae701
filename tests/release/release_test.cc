#include "residua/release/release.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "residua/base/error.h"
#include "residua/files/file.h"
#include "residua/release/answer_questions.h"
#include "tests/fixtures/folder_test.h"
#include "tests/release/small_measurement.h"

namespace residua {
namespace {

class ReleaseTest : public FolderTest {
 protected:
  ReleaseTest() { WriteSmallMeasurement("m.parquet", "4,3,2", 2); }
};

TEST_F(ReleaseTest, SavedInThePlansOrder) {
  const auto release = Release::Load("m.parquet");
  std::vector<NoisyResidual> residuals = release->residuals();
  std::reverse(residuals.begin(), residuals.end());
  Release(release->plan_file(), residuals).Save("reversed.parquet");
  EXPECT_EQ(ReadFile("reversed.parquet"), ReadFile("m.parquet"));
  EXPECT_THROW(release->Save("m.parquet"), Error);
}

TEST_F(ReleaseTest, FileAnswersAsTheWholeReleaseDoes) {
  const auto release = Release::Load("m.parquet");
  const std::vector<std::string> questions = {"", "0=1", "0=1..2 2=0"};
  const std::vector<QuestionAnswer> answers = AnswerQuestions("m.parquet", questions, 0.95);
  ASSERT_EQ(answers.size(), questions.size());
  for (size_t k = 0; k < questions.size(); ++k) {
    EXPECT_EQ(answers[k].estimate.value, release->Answer(questions[k]).value);
    EXPECT_EQ(answers[k].estimate.variance, release->Answer(questions[k]).variance);
  }
  EXPECT_THROW(AnswerQuestions("m.parquet", std::vector<std::string>{"0=1 1=1 2=1"}, 0.95), Error);
}

TEST_F(ReleaseTest, ComparisonCountsSharedNoiseOnce) {
  const auto release = Release::Load("m.parquet");
  const Comparison both = CompareQuestions("m.parquet", "0=1", "0=2", 0.9);
  const double covariance = release->Covariance(release->Question("0=1"), release->Question("0=2"));
  EXPECT_EQ(both.covariance, covariance);
  EXPECT_DOUBLE_EQ(both.correlation,
                   covariance / std::sqrt(both.first.variance * both.second.variance));
  EXPECT_DOUBLE_EQ(both.difference.value, both.first.value - both.second.value);
  EXPECT_DOUBLE_EQ(both.difference.variance,
                   both.first.variance + both.second.variance - 2 * covariance);
  EXPECT_NEAR(both.sum.variance, release->Answer("0=1..2").variance, 1e-9);
}

TEST_F(ReleaseTest, WeightsBeyondDoublesAreRefused) {
  const auto release = Release::Load("m.parquet");
  const auto query = [&](double weight) {
    return ProductQuery(release->plan().domain, {{1, std::vector<double>{weight, 0, weight}}});
  };
  const Estimate expected = release->Answer(query(2));
  for (const double scale : {1e-70, 1e70}) {
    EXPECT_NEAR(release->Answer(query(2 * scale)).value / (expected.value * scale), 1, 1e-9);
  }
  EXPECT_EQ(release->Answer(query(0)).variance, 0);
  for (const double weight : {1e-308, 1e-200, 1e-80, 1e80, 1e200, 1e308}) {
    EXPECT_THROW(release->Answer(query(weight)), Error) << weight;
  }
  EXPECT_THROW(release->Covariance(query(1e200), query(1e200)), Error);
}

TEST_F(ReleaseTest, BadConfidenceIsRefusedBeforeTheFileIsRead) {
  try {
    CompareQuestions("missing.parquet", "0=1", "0=2", 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("a confidence of 1"), std::string::npos);
  }
}

}  // namespace
}  // namespace residua
