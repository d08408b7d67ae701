#include "residua/base/error.h"

#include <fmt/format.h>  // clang finds no format_to in the library of fmt

#include <charconv>

namespace residua {
namespace {

// Marks in a formatted message. No argument can contain one, because control characters of
// arguments are escaped first.
constexpr char kAfterPlace = '\x1c';
constexpr char kBeforeRemedy = '\x1d';
constexpr char kPhrase = '\x1e';    // before and after a phrase
constexpr char kArgument = '\x1f';  // before each argument of a phrase

// The phrase that the text between two marks describes.
Phrase PhraseFromMark(std::string_view mark) {
  int kind = 0;
  const auto [end, error] = std::from_chars(mark.data(), mark.data() + mark.size(), kind);
  Phrase phrase{static_cast<Phrase::Kind>(kind)};
  mark.remove_prefix(static_cast<size_t>(end - mark.data()));
  while (!mark.empty()) {
    mark.remove_prefix(1);
    const size_t length = std::min(mark.find(kArgument), mark.size());
    phrase.arguments.emplace_back(mark.substr(0, length));
    mark.remove_prefix(length);
  }
  return phrase;
}

Words WordsFromMarks(std::string_view text) {
  Words words;
  while (!text.empty()) {
    const size_t begin = std::min(text.find(kPhrase), text.size());
    if (begin > 0) words.emplace_back(WithoutControls(text.substr(0, begin)));
    text.remove_prefix(begin);
    if (text.empty()) break;
    const size_t end = text.find(kPhrase, 1);
    words.emplace_back(PhraseFromMark(text.substr(1, end - 1)));
    text.remove_prefix(end + 1);
  }
  return words;
}

// Removes everything up to and including `mark` from `text`, and returns what came before the mark.
// Does nothing if there is no mark.
std::string_view TakeUpTo(char mark, std::string_view* text) {
  const size_t at = text->find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view before = text->substr(0, at);
  text->remove_prefix(at + 1);
  return before;
}

std::string Line(const Words& place, const Words& problem, const Words& remedy,
                 const PhraseWords& words) {
  std::string line = WordsInText(problem, words);
  if (!place.empty()) line = WordsInText(place, words) + ": " + line;
  if (!remedy.empty()) line += "; " + WordsInText(remedy, words);
  return line;
}

std::string PlainPhrase(const Phrase& phrase) { return PlainWords(phrase); }

}  // namespace

std::string WordsInText(const Words& words, const PhraseWords& phrase_words) {
  std::string text;
  for (const auto& word : words) {
    const auto* plain = std::get_if<std::string>(&word);
    text += plain != nullptr ? *plain : phrase_words(std::get<Phrase>(word));
  }
  return text;
}

std::string WithoutControls(std::string_view text) {
  std::string shown;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      shown += c;
    }
  }
  return shown;
}

std::string PlainWords(const Phrase& phrase) {
  const auto& arguments = phrase.arguments;
  switch (phrase.kind) {
    case Phrase::Kind::kSetting:
      return fmt::format("{} = {}", arguments[0], arguments[1]);
    case Phrase::Kind::kOption:
      return arguments[0];
    case Phrase::Kind::kOtherOutput:
      return "choose another place";
    case Phrase::Kind::kNameData:
      return "say where it is";
    case Phrase::Kind::kForgive:
      return fmt::format("forgive entry {} of {}", arguments[0], arguments[1]);
    case Phrase::Kind::kGrant:
      return fmt::format("grant {} {} more", arguments[0], arguments[1]);
    case Phrase::Kind::kMeasureAgain:
      return "ask for it to be measured again";
    case Phrase::Kind::kOtherLedger:
      return "keep another ledger";
    case Phrase::Kind::kMakePlan:
      return "make a plan";
    case Phrase::Kind::kMakeMeasurements:
      return "measure a plan";
    case Phrase::Kind::kMakeLedger:
      return "measuring makes one";
    case Phrase::Kind::kMakeTables:
      return "make tables of it";
  }
  RESIDUA_CHECK(false);
}

std::string PlainWords(const Words& words) { return WordsInText(words, PlainPhrase); }

Words Joined(std::initializer_list<Words> parts) {
  Words joined;
  for (const Words& part : parts) joined.insert(joined.end(), part.begin(), part.end());
  return joined;
}

Error::Error(ErrorKind kind, Words place, Words problem, Words remedy)
    : std::runtime_error(Line(place, problem, remedy, PlainPhrase)),
      kind_(kind),
      place_(std::move(place)),
      problem_(std::move(problem)),
      remedy_(std::move(remedy)) {}

std::string Error::Message(const PhraseWords& words) const {
  return Line(place_, problem_, remedy_, words);
}

Error Error::At(std::string_view place) const {
  // "workload.tables.weight" says what "weight" says.
  const std::string own = PlainWords(place_);
  if (place == own || place.ends_with("." + own) || place.ends_with(": " + own)) {
    return Error(kind_, {WithoutControls(place)}, problem_, remedy_);
  }
  const std::string separator = place_.empty() ? "" : ": ";
  return Error(kind_, Joined({{WithoutControls(place) + separator}, place_}), problem_, remedy_);
}

Error Error::About(std::string_view subject) const {
  return Error(kind_, place_, Joined({{WithoutControls(subject) + " "}, problem_}), remedy_);
}

Error internal::MakeError(ErrorKind kind, fmt::string_view format, fmt::format_args arguments) {
  std::string marked(format.data(), format.size());
  if (marked.starts_with("{}: ")) marked.replace(2, 2, 1, kAfterPlace);
  if (const size_t at = marked.find("; "); at != std::string::npos) {
    marked.replace(at, 2, 1, kBeforeRemedy);
  }
  const std::string text = fmt::vformat(marked, arguments);
  std::string_view rest = text;
  const std::string_view place = TakeUpTo(kAfterPlace, &rest);
  std::string_view problem = TakeUpTo(kBeforeRemedy, &rest);
  if (problem.empty()) std::swap(problem, rest);
  return Error(kind, WordsFromMarks(place), WordsFromMarks(problem), WordsFromMarks(rest));
}

Words internal::MakeWords(fmt::string_view format, fmt::format_args arguments) {
  return WordsFromMarks(fmt::vformat(format, arguments));
}

void internal::FailCheck(std::string_view condition, std::string_view file, int line) {
  Fail(ErrorKind::kBroken, "internal check failed: {} ({}:{})", condition, file, line);
}

}  // namespace residua

fmt::format_context::iterator fmt::formatter<residua::Phrase>::format(
    const residua::Phrase& phrase, fmt::format_context& context) const {
  auto out = fmt::format_to(context.out(), "{}{}", residua::kPhrase, static_cast<int>(phrase.kind));
  for (const std::string& argument : phrase.arguments) {
    out = fmt::format_to(out, "{}{}", residua::kArgument, residua::WithoutControls(argument));
  }
  return fmt::format_to(out, "{}", residua::kPhrase);
}
