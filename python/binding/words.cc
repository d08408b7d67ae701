#include "python/binding/words.h"

#include <algorithm>

#include "residua/base/counted.h"

namespace residua::python {
namespace {

// max_std_dev of max-std-dev.
std::string ArgumentName(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string CallWords(const Phrase& phrase) {
  const auto& arguments = phrase.arguments;
  switch (phrase.kind) {
    case Phrase::Kind::kSetting:
      return fmt::format("{}={}", arguments[0], arguments[1] == "true" ? "True" : arguments[1]);
    case Phrase::Kind::kOption:
      return ArgumentName(arguments[0]);
    case Phrase::Kind::kOtherOutput:
      return "choose another path";
    case Phrase::Kind::kNameData:
      return "pass it to measure";
    case Phrase::Kind::kForgive:
      return fmt::format("residua.Ledger(\"{}\").forgive({}, reason=...)", arguments[1],
                         arguments[0]);
    case Phrase::Kind::kGrant:
      return fmt::format("residua.Ledger(\"{}\").grant({}={}, reason=...)", arguments[2],
                         arguments[0], arguments[1]);
    case Phrase::Kind::kMeasureAgain:
      return "measure(..., again=True)";
    case Phrase::Kind::kOtherLedger:
      return "keep another ledger";
    case Phrase::Kind::kMakePlan:
      return "make one with Plan.save";
    case Phrase::Kind::kMakeMeasurements:
      return "make one with measure and save";
    case Phrase::Kind::kMakeLedger:
      return "measuring makes one";
    case Phrase::Kind::kMakeTables:
      return "load it with residua.load";
  }
  RESIDUA_CHECK(false);
}

}  // namespace

std::string Worded(const Error& error) { return error.Message(CallWords); }

std::string Worded(const ReleaseWarning& warning) {
  return WordsInText(WarningWords(warning), CallWords);
}

std::vector<std::string> Worded(const CombinationReport& report, const Plan& combined) {
  std::vector<std::string> lines;
  if (report.num_other_bases > 0) {
    std::string names;
    for (const int i : report.attributes_of_other_bases) {
      names += (names.empty() ? "" : ", ") + combined.domain[i].name;
    }
    lines.push_back(fmt::format(
        "{} could not be combined and {} left out, because of other bases than in the first "
        "release "
        "that has them: {}; plan the next release with after= to keep the bases",
        Counted(report.num_other_bases, "set"), report.num_other_bases == 1 ? "is" : "are", names));
  }
  if (report.num_coarse > 0) {
    lines.push_back(fmt::format(
        "{} taken from one release alone, because an earlier version drew the noise on whole "
        "numbers",
        Counted(report.num_coarse, "set") + (report.num_coarse == 1 ? " is" : " are")));
  }
  if (report.num_lost_tables > 0) {
    lines.push_back(fmt::format("{} cannot be made of the combination",
                                Counted(report.num_lost_tables, "table")));
  }
  if (!combined.protection.identifier.empty()) {
    lines.push_back(fmt::format(
        "each release chose its own rows of whoever has more than {}; the error bars do not cover "
        "how these choices differ",
        Counted(combined.protection.max_rows, "row")));
  }
  return lines;
}

}  // namespace residua::python
