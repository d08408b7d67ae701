#include "cli/words.h"

#include "residua/base/counted.h"
#include "residua/privacy/suspicion.h"

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
      return arguments.size() == 1
                 ? fmt::format("residua ledger forgive {}", arguments[0])
                 : fmt::format("residua ledger forgive {} --ledger {} --reason ...", arguments[0],
                               arguments[1]);
    case Phrase::Kind::kGrant:
      return fmt::format("residua ledger grant --{} {} --reason ...", arguments[0], arguments[1]);
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

std::string Worded(const ReleaseWarning& warning) {
  switch (warning.kind) {
    case ReleaseWarning::Kind::kLargeEpsilon:
      return fmt::format(
          "epsilon is {}, and above {} the promise is weak: in the worst case a suspicion of 50 % "
          "grows to {}",
          TextAbove(warning.value), warning.limit,
          PercentAbove(GrownSuspicion(0.5, warning.value)));
    case ReleaseWarning::Kind::kLargeDelta:
      return fmt::format(
          "delta is {}, and 1 / number of rows is {:.3g}: with such a delta a release may reveal "
          "whole rows; choose a delta well below that",
          DeltaText(warning.value), warning.limit);
    case ReleaseWarning::Kind::kMostlyNoise:
      return fmt::format(
          "most answers will be mostly noise: in the tables of {:.15g} of {:.15g} answers the "
          "standard deviation is above the average count; ask for fewer or coarser tables, or "
          "spend more",
          warning.value, warning.limit);
    case ReleaseWarning::Kind::kRowsLeftOut:
      return fmt::format(
          "{:.15g} of {} are left out, because they have values without a cell; widen the domain, "
          "or count such values with null = true and outside = \"null\"",
          warning.value, Counted(static_cast<int64_t>(warning.limit), "row"));
  }
  RESIDUA_CHECK(false);
}

}  // namespace residua::cli
