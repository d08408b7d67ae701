#include "residua/text/choice_text.h"

#include <gtest/gtest.h>

namespace residua {
namespace {

TEST(ChoiceTextTest, EveryObjectiveHasEqualWeightsUnlessToldOtherwise) {
  for (const char* text : {"sum-variance", "max-variance", "p-norm=1", "p-norm=2.5"}) {
    EXPECT_EQ(ParseObjective(text).weighting, Weighting::kEqual) << text;
    EXPECT_EQ(ToString(ParseObjective(text)), text);
  }
  EXPECT_EQ(Objective().weighting, Weighting::kEqual);
}

}  // namespace
}  // namespace residua
