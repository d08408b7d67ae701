#include "cli/words.h"

namespace residua::cli {
namespace {

std::string CommandWords(const Step& step) {
  const auto& arguments = step.arguments;
  switch (step.kind) {
    case Step::Kind::kSetting:
      return fmt::format("{} = {}", arguments[0], arguments[1]);
    case Step::Kind::kOption:
      return "--" + arguments[0];
    case Step::Kind::kOtherOutput:
      return "choose another -o";
    case Step::Kind::kNameData:
      return "add --data FILE";
    case Step::Kind::kForgive:
      return arguments.size() == 1
                 ? fmt::format("residua ledger forgive {}", arguments[0])
                 : fmt::format("residua ledger forgive {} --ledger {} --reason ...", arguments[0],
                               arguments[1]);
    case Step::Kind::kGrant:
      return fmt::format("residua ledger grant --rho {} --reason ...", arguments[0]);
    case Step::Kind::kMeasureAgain:
      return "residua measure PLAN --again";
    case Step::Kind::kOtherLedger:
      return "keep another ledger with --ledger";
    case Step::Kind::kMakePlan:
      return "make one with residua plan SPEC -o PLAN";
    case Step::Kind::kMakeMeasurements:
      return "make one with residua measure PLAN";
    case Step::Kind::kMakeLedger:
      return "residua measure makes one";
    case Step::Kind::kMakeTables:
      return "make tables of it with residua tables";
  }
  RESIDUA_CHECK(false);
}

}  // namespace

std::string Worded(const Error& error) { return error.Message(CommandWords); }

}  // namespace residua::cli
