#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/binding/bindings.h"
#include "residua/base/error.h"
#include "residua/files/spec.h"
#include "residua/ledger/ledger.h"
#include "residua/text/budget_text.h"

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
    row["mu2"] = entry.mu2 ? nb::cast(ToString(*entry.mu2)) : nb::none();
    row["delta"] = entry.delta;
    row["plan"] = entry.plan_digest;
    row["what"] = entry.what;
    row["neighbours"] = entry.neighbours;
    row["note"] = entry.note;
    entries.append(row);
  }
  return entries;
}

// Granted and spent, by zCDP and by the Gaussian curve.
std::vector<std::string> BalanceOf(const std::filesystem::path& path) {
  const Ledger::Balance balance = Ledger::Open(path).CurrentBalance();
  return {ToString(balance.granted), ToString(balance.spent), ToString(balance.granted_mu2),
          ToString(balance.spent_mu2)};
}

// The budget that is granted, in one of its units.
Budget GrantedBudget(const std::map<std::string, std::string>& privacy) {
  PrivacyText text;
  const auto take = [&](const char* key, std::optional<std::string>* into) {
    const auto found = privacy.find(key);
    if (found != privacy.end()) *into = found->second;
  };
  take("rho", &text.rho);
  take("mu", &text.mu);
  take("epsilon", &text.epsilon);
  take("delta", &text.delta);
  const auto parsed = ParsePrivacy(text);
  if (!parsed || !std::holds_alternative<Budget>(parsed->target)) {
    Fail(ErrorKind::kBadInput, "a grant needs rho, mu, or epsilon with delta");
  }
  return std::get<Budget>(parsed->target);
}

}  // namespace

void BindLedgers(nb::module_& module) {
  module.def(
      "text_above",
      [](const std::string& value) { return TextAbove(ParseRational(value, "a number")); },
      nb::arg("value"));
  module.def("ledger_entries", &EntriesOf, nb::arg("path"));
  module.def("ledger_balance", &BalanceOf, nb::arg("path"));
  module.def(
      "ledger_grant",
      [](const std::filesystem::path& path, const std::map<std::string, std::string>& privacy,
         const std::string& reason) {
        if (reason.empty()) {
          Fail(ErrorKind::kBadInput, "a grant needs a reason: who decided, and when");
        }
        const Budget budget = GrantedBudget(privacy);
        Ledger::Open(path).Grant(budget.pcost, reason, budget.limits);
      },
      nb::arg("path"), nb::arg("privacy"), nb::arg("reason"));
  module.def(
      "ledger_create",
      [](const std::filesystem::path& path, const std::map<std::string, std::string>& privacy,
         const std::string& reason, const std::string& neighbours, const std::string& identifier,
         int64_t max_rows) {
        Protection protection;
        protection.neighbours = ParseNeighbours(neighbours);
        protection.identifier = identifier;
        protection.max_rows = max_rows;
        const Budget budget = GrantedBudget(privacy);
        Ledger::Create(path, budget.pcost, NeighboursInWords(protection), reason, budget.limits);
      },
      nb::arg("path"), nb::arg("privacy"), nb::arg("reason"), nb::arg("neighbours"),
      nb::arg("identifier"), nb::arg("max_rows"));
  module.def(
      "ledger_in_words",
      [](const std::filesystem::path& path) {
        return SpentInWords(Ledger::Open(path).CurrentBalance());
      },
      nb::arg("path"));
  module.def(
      "ledger_forgive",
      [](const std::filesystem::path& path, int64_t id, const std::string& reason) {
        Ledger::Open(path).Forgive(id, reason);
      },
      nb::arg("path"), nb::arg("id"), nb::arg("reason"));
}

}  // namespace residua::python
