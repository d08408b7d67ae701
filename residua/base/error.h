#pragma once

#include <fmt/core.h>

#include <functional>
#include <initializer_list>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace residua {

// What went wrong. A caller may act differently on each kind. `kRefused` is for privacy and safety:
// the request is well formed and will not be carried out. `kStopped`: the caller asked for it.
enum class ErrorKind { kBadInput, kTooLarge, kIo, kRefused, kEntropy, kStopped, kBroken };

// Writes control characters, including line breaks, as \x0a: names and values from files may
// contain any.
std::string WithoutControls(std::string_view text);

// Something to set, name or do that each front end has its own words for: a flag or a command of
// the command line, an argument or a call in Python. It is passed to Fail like any other argument.
struct Phrase {
  enum class Kind {
    kSetting,           // of an attribute, {name, value}: outside = "drop"
    kOption,            // of the call, {name}: --max-std-dev
    kOtherOutput,       // choose another place to write to
    kNameData,          // say where the data is
    kForgive,           // a spend that came to nothing: {entry, ledger}
    kGrant,             // more budget: {unit, amount, ledger}, as {"rho", "0.5", "a.ledger"}
    kMeasureAgain,      // as a new spend
    kOtherLedger,       // keep another ledger
    kMakePlan,          // the file that is needed
    kMakeMeasurements,  // likewise
    kMakeLedger,        // what makes a ledger
    kMakeTables,        // from a measurement file
  };
  Kind kind;
  std::vector<std::string> arguments = {};
};

}  // namespace residua

// Writes a mark, which Fail turns back into the phrase.
template <>
struct fmt::formatter<residua::Phrase> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  fmt::format_context::iterator format(const residua::Phrase& phrase,
                                       fmt::format_context& context) const;
};

namespace residua {

// Text with phrases in it.
using Words = std::vector<std::variant<std::string, Phrase>>;
using PhraseWords = std::function<std::string(const Phrase&)>;

// The parts, one after the other.
Words Joined(std::initializer_list<Words> parts);

// The text, with `phrase_words` for its phrases.
std::string WordsInText(const Words& words, const PhraseWords& phrase_words);

// The library's own words for a phrase, which name no flag, command or call.
std::string PlainWords(const Phrase& phrase);
std::string PlainWords(const Words& words);

// The only exception type residua throws on purpose. Its parts are data, so that front ends can
// word them for their users; `what()` is one line, "PLACE: PROBLEM; REMEDY", in plain words.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, Words place, Words problem, Words remedy);

  ErrorKind kind() const { return kind_; }
  const Words& place() const { return place_; }  // a file, a line, a key, a parameter; may be empty
  const Words& problem() const { return problem_; }
  const Words& remedy() const { return remedy_; }  // may be empty

  // The line, with `words` for its phrases.
  std::string Message(const PhraseWords& words) const;
  // The same error, with `place` in front of its own place, or instead of it where `place` is its
  // longer name: "workload.marginals" of "marginals".
  Error At(std::string_view place) const;
  // The same error, with `subject` in front of its problem.
  Error About(std::string_view subject) const;

 private:
  ErrorKind kind_;
  Words place_, problem_, remedy_;
};

// The message of any exception; running out of memory is put into words.
inline std::string MessageOf(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return "not enough memory; ask for fewer or smaller tables";
  }
  return error.what();
}

namespace internal {

// Escapes control characters in text, so that none is taken for a mark of Fail. Other arguments are
// unchanged.
template <typename Argument>
decltype(auto) SafeArgument(const Argument& argument) {
  if constexpr (std::is_convertible_v<const Argument&, std::string_view>) {
    return WithoutControls(argument);
  } else {
    return (argument);
  }
}

Error MakeError(ErrorKind kind, fmt::string_view format, fmt::format_args arguments);
Words MakeWords(fmt::string_view format, fmt::format_args arguments);
[[noreturn]] void FailCheck(std::string_view condition, std::string_view file, int line);

}  // namespace internal

// Text with phrases in it.
template <typename... Args>
Words WordsOf(fmt::format_string<Args...> format, Args&&... args) {
  return [&](const auto&... safe) {
    return internal::MakeWords(fmt::string_view(format), fmt::make_format_args(safe...));
  }(internal::SafeArgument(args)...);
}

// An Error. The format reads "PLACE: PROBLEM; REMEDY". It has a place if it begins with "{}: ", and
// a remedy after its first "; ". The contents of the arguments do not matter for this.
template <typename... Args>
Error ErrorOf(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return [&](const auto&... safe) {
    return internal::MakeError(kind, fmt::string_view(format), fmt::make_format_args(safe...));
  }(internal::SafeArgument(args)...);
}

// Throws it.
template <typename... Args>
[[noreturn]] void Fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw ErrorOf(kind, format, std::forward<Args>(args)...);
}

// Runs `work`. If it throws an Error, puts `place` in front of the error's place, unless `place` is
// empty or the error's place already begins with `file`.
template <typename Work>
auto AtPlace(std::string_view place, std::string_view file, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    const bool is_named = !error.place().empty() && PlainWords(error.place()).starts_with(file);
    if (error.kind() == ErrorKind::kBroken || place.empty() || is_named) throw;
    throw error.At(place);
  }
}

// The same for a place that is a file, or not in one.
template <typename Work>
auto AtPlace(std::string_view place, const Work& work) {
  return AtPlace(place, place, work);
}

// A broken invariant is a bug in residua, and is checked in release builds: a wrong release is
// worse than none.
#define RESIDUA_CHECK(condition)                                                      \
  do {                                                                                \
    if (!(condition)) ::residua::internal::FailCheck(#condition, __FILE__, __LINE__); \
  } while (false)

}  // namespace residua
