#include "cli/combination_report.h"

#include <fmt/format.h>

#include <string>

#include "cli/print_text.h"
#include "residua/base/counted.h"

namespace residua::cli {
namespace {

std::string NamesOfOtherBases(const Plan& plan, const CombinationReport& report) {
  std::string names;
  for (const int i : report.attributes_of_other_bases) {
    names += (names.empty() ? "" : ", ") + plan.domain[i].name;
  }
  return names;
}

}  // namespace

void ReportCombination(const Plan& plan, const CombinationReport& report) {
  if (report.num_other_bases > 0) {
    PrintText(stderr,
              "note: {} could not be combined and {} left out: {} measured in another basis than "
              "in the first release that has it; plan the next release with --after to keep the "
              "bases\n",
              Counted(report.num_other_bases, "set"), report.num_other_bases == 1 ? "is" : "are",
              NamesOfOtherBases(plan, report) +
                  (report.attributes_of_other_bases.size() == 1 ? " was" : " were"));
  }
  if (report.num_coarse > 0) {
    PrintText(stderr,
              "note: {} taken from one release alone, because an earlier version drew its noise on "
              "whole numbers\n",
              Counted(report.num_coarse, "set") + (report.num_coarse == 1 ? " is" : " are"));
  }
  if (report.num_lost_tables > 0) {
    PrintText(stderr,
              "note: {} of these releases cannot be made of the combination; {} still in the "
              "release that has {}\n",
              Counted(report.num_lost_tables, "table"),
              report.num_lost_tables == 1 ? "it is" : "they are",
              report.num_lost_tables == 1 ? "it" : "them");
  }
  if (!plan.protection.identifier.empty()) {
    PrintText(stderr,
              "note: each release chose its own rows of whoever has more than {}; the error bars "
              "do not cover how these choices differ\n",
              Counted(plan.protection.max_rows, "row"));
  }
}

}  // namespace residua::cli
