
#include "cli/commands.h"
#include "cli/guarantee_report.h"
#include "cli/print_text.h"
#include "residua/base/error.h"
#include "residua/files/file.h"
#include "residua/ledger/ledger.h"
#include "residua/release/data_places.h"
#include "residua/text/json_text.h"

namespace residua::cli {
namespace {

using Kind = LedgerEntry::Kind;

struct LedgerOptions {
  std::string path;
  bool json = false;
  int64_t id = 0;
  std::string reason;
  PrivacyText privacy;
  std::string data;
  std::string spec;
};

// What to say where the data must be named.
[[noreturn]] void FailToFindData() {
  Fail(ErrorKind::kBadInput, "name the data with one of --data FILE and --spec SPEC");
}

// Where the data is that --data or the spec names, and its ledger.
DataPlaces PlacesOf(const LedgerOptions& options, const DataReference& of_spec) {
  NamedPlaces named;
  named.source = options.data;
  named.ledger = options.path;
  return FindPlaces(of_spec, options.spec.empty() ? "" : FolderOf(options.spec), named);
}

// The ledger named, that of the data or spec named, or the only one in the current folder.
std::filesystem::path FindLedger(const LedgerOptions& options) {
  if (!options.path.empty()) return options.path;
  if (!options.data.empty() && !options.spec.empty()) FailToFindData();
  if (!options.data.empty()) return PlacesOf(options, {}).ledger;
  if (!options.spec.empty()) return PlacesOf(options, ReadSpec(options.spec).data).ledger;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(".")) {
    if (entry.path().extension() == ".ledger") found.push_back(entry.path().filename());
  }
  if (found.size() == 1) return found.front();
  Fail(ErrorKind::kBadInput,
       "{} ledgers (*.ledger) are in this folder; name one with --ledger FILE, its data with "
       "--data FILE, or a spec of the data with --spec SPEC",
       found.empty() ? "no" : "several");
}

std::string_view Describe(Kind kind) {
  switch (kind) {
    case Kind::kGrant:
      return "granted";
    case Kind::kReserved:
      return "reserved, not confirmed";
    case Kind::kConfirmed:
      return "spent";
    case Kind::kForgiven:
      return "forgiven";
    case Kind::kRefused:
      return "refused";
  }
  RESIDUA_CHECK(false);
}

void Show(const LedgerOptions& options) {
  const std::filesystem::path path = FindLedger(options);
  const Ledger ledger = Ledger::Open(path);
  const Ledger::Balance balance = ledger.CurrentBalance();
  const std::vector<LedgerEntry> entries = ledger.Entries();
  if (options.json) {
    Json json = {{"ledger", path.string()},
                 {"granted_pcost", ToString(balance.granted)},
                 {"spent_pcost", ToString(balance.spent)}};
    AddBalance(balance, &json);
    json["entries"] = Json::array();
    for (const LedgerEntry& entry : entries) {
      Json line = {{"id", entry.id},       {"kind", Describe(entry.kind)},
                   {"time", entry.time},   {"pcost", ToString(entry.pcost)},
                   {"delta", entry.delta}, {"plan", entry.plan_digest},
                   {"what", entry.what}};
      line["mu2"] = entry.mu2 ? Json(ToString(*entry.mu2)) : nullptr;
      if (!entry.note.empty()) line["note"] = entry.note;
      json["entries"].push_back(std::move(line));
    }
    fmt::print("{}\n", IndentedJson(json));
    return;
  }
  PrintText("{}: {}\n\n", path.string(), SpentInWords(balance));
  PrintText("{:>4}  {:<20}  {:<23}  {:>16}  {:>16}  {}\n", "id", "time", "", "rho", "mu^2", "what");
  for (const LedgerEntry& entry : entries) {
    // A spend of all that was granted looks like it.
    const auto text = [&](const Rational& amount, const Rational& spent, const Rational& granted) {
      return entry.kind == Kind::kGrant ? TextOfSpent(spent, amount).granted
                                        : TextOfSpent(amount, granted).spent;
    };
    const bool is_by_curve = entry.kind == Kind::kGrant && entry.mu2;
    PrintText("{:>4}  {:<20}  {:<23}  {:>16}  {:>16}  {}{}\n", entry.id, entry.time,
              Describe(entry.kind),
              is_by_curve ? "" : text(entry.pcost / 2, balance.spent / 2, balance.granted / 2),
              entry.mu2 ? text(*entry.mu2, balance.spent_mu2, balance.granted_mu2) : "", entry.what,
              entry.note.empty() ? "" : fmt::format(" ({})", entry.note));
  }
}

void Forgive(const LedgerOptions& options) {
  Ledger ledger = Ledger::Open(FindLedger(options));
  ledger.Forgive(options.id, options.reason);
  PrintText("Entry {} no longer counts as spent; it stays on record with the reason.\n",
            options.id);
}

// Where a ledger for the data is to be, and what its budget protects.
struct NewLedger {
  DataPlaces places;
  Protection protection = {};
};

NewLedger PlaceFor(const LedgerOptions& options) {
  if (options.data.empty() == options.spec.empty()) FailToFindData();
  if (options.spec.empty()) {
    if (!std::filesystem::exists(options.data)) {
      Fail(ErrorKind::kIo, "{}: does not exist; name the data file that the budget is for",
           options.data);
    }
    return {PlacesOf(options, {})};
  }
  const Spec spec = ReadSpec(options.spec);
  return {PlacesOf(options, spec.data), spec.protection};
}

void Create(const LedgerOptions& options) {
  const auto budget = ParsePrivacy(options.privacy);
  if (!budget) {
    Fail(ErrorKind::kBadInput, "a budget needs --rho, or --epsilon with --delta");
  }
  const NewLedger made = PlaceFor(options);
  CheckLedgerIsFound(made.places);
  const std::string neighbours = NeighboursInWords(made.protection);
  const Budget& granted = std::get<Budget>(budget->target);
  const Ledger ledger =
      Ledger::Create(made.places.ledger, granted.pcost, neighbours, options.reason, granted.limits);
  PrintText("Ledger {} (new; keep it with the data): {}; neighbours: {}\n",
            made.places.ledger.string(), SpentInWords(ledger.CurrentBalance()), neighbours);
}

void Grant(const LedgerOptions& options) {
  const auto budget = ParsePrivacy(options.privacy);
  if (!budget || options.reason.empty()) {
    Fail(ErrorKind::kBadInput,
         "a grant needs --rho, --pcost, --mu or --epsilon with --delta, and a --reason");
  }
  Ledger ledger = Ledger::Open(FindLedger(options));
  const Budget& granted = std::get<Budget>(budget->target);
  ledger.Grant(granted.pcost, options.reason, granted.limits);
  PrintText("Granted; {}.\n", SpentInWords(ledger.CurrentBalance()));
}

}  // namespace

void AddLedgerCommand(CLI::App* app) {
  auto options = std::make_shared<LedgerOptions>();
  CLI::App* command =
      app->add_subcommand("ledger", "What was granted, spent and refused, on what and when");
  command->footer(
      "Examples:\n"
      "  residua ledger --ledger people.csv.ledger\n"
      "  residua ledger --spec people.toml\n"
      "  residua ledger create --data people.csv --rho 2 --reason 'board decision of 1 March'\n"
      "  residua ledger forgive 3 --reason 'crashed at 10:02; nothing of it was published'\n"
      "  residua ledger grant --rho 0.5 --reason 'board decision of 3 May'");
  const std::string ledger_help = "The ledger; by default the only *.ledger of this folder";
  const std::string data_help = "The data file; its ledger is beside it, in place of --ledger";
  const std::string spec_help = "A spec; the ledger of its data, in place of --ledger";
  command->add_option("--ledger", options->path, ledger_help);
  command->add_option("--data", options->data, data_help);
  command->add_option("--spec", options->spec, spec_help);
  command->add_flag("--json", options->json, "Print the result as JSON");
  CLI::App* forgive = command->add_subcommand(
      "forgive", "Stop counting a reserved spend, stating that nothing of it was published");
  forgive->add_option("ID", options->id, "The entry")->required();
  forgive->add_option("--reason", options->reason, "Why; kept on record")->required();
  forgive->add_option("--ledger", options->path, ledger_help);
  forgive->add_option("--data", options->data, data_help);
  forgive->add_option("--spec", options->spec, spec_help);
  CLI::App* grant = command->add_subcommand("grant", "Add to what may be spent");
  grant->add_option("--rho", options->privacy.rho, "In zCDP");
  grant->add_option("--pcost", options->privacy.pcost, "As privacy cost (2 rho)");
  grant->add_option("--mu", options->privacy.mu, "In Gaussian differential privacy");
  grant->add_option("--epsilon", options->privacy.epsilon, "With --delta");
  grant->add_option("--delta", options->privacy.delta, "Of --epsilon");
  grant->add_option("--reason", options->reason, "Who decided, and when; kept on record");
  grant->add_option("--ledger", options->path, ledger_help);
  grant->add_option("--data", options->data, data_help);
  grant->add_option("--spec", options->spec, spec_help);
  CLI::App* create = command->add_subcommand(
      "create", "Set the budget of data before its first release, which otherwise grants its own");
  create->add_option("--data", options->data, "The data file");
  create->add_option("--spec", options->spec,
                     "A spec that names the data, and what is protected; in place of --data");
  create->add_option("--rho", options->privacy.rho, "The budget in zCDP");
  create->add_option("--epsilon", options->privacy.epsilon, "The budget as epsilon, with --delta");
  create->add_option("--delta", options->privacy.delta, "The delta of --epsilon");
  create->add_option("--reason", options->reason, "Who decided, and when; kept on record")
      ->required();
  create->add_option("--ledger", options->path,
                     "The ledger; by default the data file's name + .ledger, beside the data");
  command->require_subcommand(0, 1);
  create->callback([options] { Create(*options); });
  forgive->callback([options] { Forgive(*options); });
  grant->callback([options] { Grant(*options); });
  command->callback([options, command] {
    if (command->get_subcommands().empty()) Show(*options);
  });
}

}  // namespace residua::cli
