#include "cli/words.h"

namespace residua::cli {
namespace {

std::string CommandWords(const Phrase& phrase) {
  const auto& arguments = phrase.arguments;
  switch (phrase.kind) {
    case Phrase::Kind::kSetting:
      return fmt::format("{} = {}", arguments[0], arguments[1]);
    case Phrase::Kind::kOption:
      return "--" + arguments[0];
    case Phrase::Kind::kOtherOutput:
      return "choose another -o";
    case Phrase::Kind::kNameData:
      return "add --data FILE";
    case Phrase::Kind::kForgive:
      return fmt::format("residua ledger forgive {} --ledger {} --reason ...", arguments[0],
                         arguments[1]);
    case Phrase::Kind::kGrant:
      return fmt::format("residua ledger grant --{} {} --ledger {} --reason ...", arguments[0],
                         arguments[1], arguments[2]);
    case Phrase::Kind::kMeasureAgain:
      return "residua measure PLAN --again";
    case Phrase::Kind::kOtherLedger:
      return "keep another ledger with --ledger";
    case Phrase::Kind::kMakePlan:
      return "make one with residua plan SPEC -o PLAN";
    case Phrase::Kind::kMakeMeasurements:
      return "make one with residua measure PLAN";
    case Phrase::Kind::kMakeLedger:
      return "residua measure makes one";
    case Phrase::Kind::kMakeTables:
      return "make tables of it with residua tables";
  }
  RESIDUA_CHECK(false);
}

}  // namespace

std::string Worded(const Error& error) { return error.Message(CommandWords); }

std::string WordedForRelease(const Error& error) {
  return error.Message([](const Phrase& phrase) {
    return phrase.kind == Phrase::Kind::kMeasureAgain
               ? "residua release SPEC --after OLD_FOLDER -o NEW_FOLDER"
               : CommandWords(phrase);
  });
}

std::string Worded(const ReleaseWarning& warning) {
  return WordsInText(WarningWords(warning), CommandWords);
}

}  // namespace residua::cli
