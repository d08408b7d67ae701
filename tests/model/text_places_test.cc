#include "residua/model/text_places.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace residua {
namespace {

TEST(TextPlaces, FindsWhatAMapFinds) {
  std::mt19937_64 random(1);
  // Few letters, zero among them, so that beginnings, ends and lengths coincide.
  const auto draw = [&](size_t max_length) {
    std::string text(random() % (max_length + 1), 'a');
    for (char& c : text) c = static_cast<char>(random() % 16 == 0 ? random() % 2 : 'a');
    return text;
  };
  for (const size_t max_length : {3, 8, 9, 16, 17, 40}) {
    for (const size_t count : {0, 1, 2, 7, 100, 3000}) {
      std::vector<std::string> texts;
      std::map<std::string, int32_t> expected;
      for (size_t k = 0; k < count; ++k) {
        texts.push_back(draw(max_length));
        expected.emplace(texts.back(), static_cast<int32_t>(k));
      }
      const TextPlaces places(texts);
      EXPECT_EQ(places.size(), expected.size());
      for (const auto& [text, place] : expected) EXPECT_EQ(places.Find(text), place);
      for (int repeat = 0; repeat < 1000; ++repeat) {
        const std::string text = draw(max_length + 2);
        const auto at = expected.find(text);
        EXPECT_EQ(places.Find(text), at == expected.end() ? TextPlaces::kNone : at->second);
      }
    }
  }
}

TEST(TextPlaces, TellsTextsWithTheSameEndsApart) {
  const std::vector<std::string> long_texts = {"eight letters, 1, and eight more",
                                               "eight letters, 2, and eight more"};
  const TextPlaces places(long_texts);
  EXPECT_EQ(places.Find("eight letters, 2, and eight more"), 1);
  EXPECT_EQ(places.Find("eight letters, 3, and eight more"), TextPlaces::kNone);
  const std::vector<std::string> texts = {"a", std::string("a\0", 2), ""};
  const TextPlaces zeros(texts);
  EXPECT_EQ(zeros.Find(std::string_view("a\0", 2)), 1);
  EXPECT_EQ(zeros.Find(std::string_view("a\0\0", 3)), TextPlaces::kNone);
  EXPECT_EQ(zeros.Find(""), 2);
}

}  // namespace
}  // namespace residua
