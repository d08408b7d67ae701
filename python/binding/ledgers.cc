#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "python/binding/bindings.h"
#include "residua/base/error.h"
#include "residua/ledger/ledger.h"

namespace residua::python {
namespace {

namespace nb = nanobind;

std::string_view Describe(LedgerEntry::Kind kind) {
  switch (kind) {
    case LedgerEntry::Kind::kGrant:
      return "granted";
    case LedgerEntry::Kind::kReserved:
      return "reserved";
    case LedgerEntry::Kind::kConfirmed:
      return "spent";
    case LedgerEntry::Kind::kForgiven:
      return "forgiven";
    case LedgerEntry::Kind::kRefused:
      return "refused";
  }
  RESIDUA_CHECK(false);
}

nb::list EntriesOf(const std::filesystem::path& path) {
  nb::list entries;
  for (const LedgerEntry& entry : Ledger::Open(path).Entries()) {
    nb::dict row;
    row["id"] = entry.id;
    row["kind"] = std::string(Describe(entry.kind));
    row["time"] = entry.time;
    row["pcost"] = ToString(entry.pcost);
    row["rho"] = ToDoubleUp(entry.pcost / 2);
    row["delta"] = entry.delta;
    row["plan"] = entry.plan_digest;
    row["what"] = entry.what;
    row["neighbours"] = entry.neighbours;
    row["note"] = entry.note;
    entries.append(row);
  }
  return entries;
}

std::pair<std::string, std::string> BalanceOf(const std::filesystem::path& path) {
  const Ledger::Balance balance = Ledger::Open(path).CurrentBalance();
  return {ToString(balance.granted), ToString(balance.spent)};
}

}  // namespace

void BindLedgers(nb::module_& module) {
  module.def(
      "text_above",
      [](const std::string& value) { return TextAbove(ParseRational(value, "a number")); },
      nb::arg("value"));
  module.def(
      "text_of_spent",
      [](const std::string& spent, const std::string& granted) {
        const SpentText text =
            TextOfSpent(ParseRational(spent, "spent"), ParseRational(granted, "granted"));
        return std::pair(text.spent, text.granted);
      },
      nb::arg("spent"), nb::arg("granted"));
  module.def("ledger_entries", &EntriesOf, nb::arg("path"));
  module.def("ledger_balance", &BalanceOf, nb::arg("path"));
  module.def(
      "ledger_grant",
      [](const std::filesystem::path& path, const std::string& pcost, const std::string& reason) {
        if (reason.empty()) {
          Fail(ErrorKind::kBadInput, "a grant needs a reason: who decided, and when");
        }
        Ledger::Open(path).Grant(ParseRational(pcost, "pcost"), reason);
      },
      nb::arg("path"), nb::arg("pcost"), nb::arg("reason"));
  module.def(
      "ledger_forgive",
      [](const std::filesystem::path& path, int64_t id, const std::string& reason) {
        Ledger::Open(path).Forgive(id, reason);
      },
      nb::arg("path"), nb::arg("id"), nb::arg("reason"));
}

}  // namespace residua::python
