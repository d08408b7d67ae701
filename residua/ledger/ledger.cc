#include "residua/ledger/ledger.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "residua/base/enum_texts.h"
#include "residua/base/error.h"
#include "residua/files/file.h"
#include "residua/files/format_version.h"
#include "residua/files/spec.h"
#include "residua/ledger/spend_refusal.h"
#include "residua/ledger/sqlite_statement.h"
#include "residua/noise/secure_bits.h"
#include "residua/privacy/protection.h"

namespace residua {
namespace {

using Kind = LedgerEntry::Kind;

constexpr int kSchemaVersion = 1;
// "RESI": how SQLite's own tools tell a ledger from any other database.
constexpr int kApplicationId = 0x52455349;
// How long to wait for another process's transaction, which takes milliseconds.
constexpr int kBusyMilliseconds = 30'000;

constexpr const char* kSchema = R"(
  CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('grant', 'reserved', 'confirmed', 'forgiven', 'refused')),
    time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    pcost TEXT NOT NULL,
    delta REAL NOT NULL,
    plan_digest TEXT NOT NULL,
    what TEXT NOT NULL,
    unit TEXT NOT NULL DEFAULT 'add or remove one row',
    temporary_file TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    mu2 TEXT NOT NULL DEFAULT '',
    limits TEXT NOT NULL DEFAULT '',
    data_identity TEXT NOT NULL DEFAULT ''
  ) STRICT;
)";

// Of the columns above, those that ledgers of earlier versions lack. Such versions can read and
// write a ledger that has them, so the format version stays the same: they count grants on the
// Gaussian curve as nothing, and all spends by their pcost.
constexpr const char* kNewColumns[] = {"temporary_file", "note", "mu2", "limits", "data_identity"};

constexpr EnumTexts<Accounting, 2> kLimits = {
    {{Accounting::kZcdp, "pcost"}, {Accounting::kGaussian, "mu2"}}};

// An empty text stands for what earlier versions knew: zCDP.
Accounting LimitsOf(std::string_view text) {
  if (text.empty()) return Accounting::kZcdp;
  if (const auto limits = ValueOf(kLimits, text)) return *limits;
  Fail(ErrorKind::kBadInput, "the ledger holds an entry limited by the unknown '{}'", text);
}

// Blanks are no reason.
void CheckReason(std::string_view reason, std::string_view what, std::string_view which) {
  if (reason.find_first_not_of(" \t\n\v\f\r") != std::string_view::npos) return;
  Fail(ErrorKind::kBadInput, "{} needs a reason: {}", what, which);
}

// 128 random bits in hexadecimal digits.
std::string DrawIdentity() {
  uint64_t words[2];
  ThreadSecureBits().Fill(words);
  return fmt::format("{:016x}{:016x}", words[0], words[1]);
}

std::optional<Rational> Mu2Of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return ParseRational(text, "a cost on the Gaussian curve in the ledger");
}

LedgerEntry GrantOf(const Rational& amount, Accounting accounting, const std::string& reason,
                    const std::string& neighbours) {
  LedgerEntry entry{.kind = LedgerEntry::Kind::kGrant, .what = reason, .neighbours = neighbours};
  if (accounting == Accounting::kGaussian) {
    entry.mu2 = amount;
    entry.limits = accounting;
  } else {
    entry.pcost = amount;
  }
  return entry;
}

constexpr EnumTexts<Kind, 5> kKinds = {{{Kind::kGrant, "grant"},
                                        {Kind::kReserved, "reserved"},
                                        {Kind::kConfirmed, "confirmed"},
                                        {Kind::kForgiven, "forgiven"},
                                        {Kind::kRefused, "refused"}}};

Kind KindOf(std::string_view text) {
  if (const auto kind = ValueOf(kKinds, text)) return *kind;
  Fail(ErrorKind::kBadInput, "the ledger holds an entry of the unknown kind '{}'", text);
}

void CheckIsNotBeingMeasured(const LedgerEntry& entry) {
  if (!IsBeingMeasured(entry)) return;
  Fail(ErrorKind::kRefused, "{}: another residua is at work on it; wait until it is done",
       entry.what);
}

// A spend may have been published while its file exists, or a temporary one that may be complete.
void CheckNothingIsLeft(const LedgerEntry& entry) {
  const std::filesystem::path output(entry.what);
  std::vector<std::filesystem::path> left = TemporariesOf(output);
  if (std::filesystem::exists(output)) left.insert(left.begin(), output);
  if (left.empty()) return;
  Fail(ErrorKind::kRefused,
       "{} is still there, and may be a complete measurement; delete it if nothing of it was "
       "published, then forgive entry {}",
       left.front().string(), entry.id);
}

}  // namespace

Ledger::Ledger(const std::filesystem::path& path, bool create) : name_(path.string()) {
  const int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
  if (sqlite3_open_v2(path.c_str(), &database_, flags, nullptr) != SQLITE_OK) {
    const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> closed(
        std::exchange(database_, nullptr), &sqlite3_close);
    FailOfSqlite(name_, closed.get());
  }
  sqlite3_busy_timeout(database_, kBusyMilliseconds);
}

Ledger::Ledger(Ledger&& other) noexcept
    : name_(std::move(other.name_)), database_(std::exchange(other.database_, nullptr)) {}

Ledger::~Ledger() { sqlite3_close(database_); }

void Ledger::Execute(const std::string& sql) const {
  if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    FailOfSqlite(name_, database_);
  }
}

// One write transaction: it takes the lock at once, so that what it reads cannot change before it
// has written.
template <typename Work>
auto Ledger::Transact(const Work& work) {
  Execute("BEGIN IMMEDIATE");
  try {
    auto result = work();
    Execute("COMMIT");
    return result;
  } catch (...) {
    sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

Ledger Ledger::Open(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) {
    Fail(ErrorKind::kIo, "{}: there is no such ledger; {}", path.string(),
         Phrase{Phrase::Kind::kMakeLedger});
  }
  Ledger ledger(path, false);
  ledger.Execute("PRAGMA synchronous = EXTRA");
  Statement application(ledger.name_, ledger.database_, "PRAGMA application_id");
  application.Step();
  Statement version(ledger.name_, ledger.database_, "PRAGMA user_version");
  version.Step();
  if (application.Integer(0) != kApplicationId) {
    if (std::filesystem::file_size(path) == 0) {
      Fail(ErrorKind::kRefused,
           "{}: the ledger is empty; restore it from a copy: without it no budget can be spent",
           ledger.name_);
    }
    Fail(ErrorKind::kBadInput, "{}: is not a ledger of residua", ledger.name_);
  }
  CheckFormatVersion(fmt::format("{}: ledger", ledger.name_), version.Integer(0), kSchemaVersion,
                     kSchemaVersion);
  // A trigger could drop a spend, and a view show what nobody wrote.
  Statement others(ledger.name_, ledger.database_,
                   "SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite^_%' ESCAPE '^' "
                   "AND (type <> 'table' OR name <> 'entries')");
  others.Step();
  if (others.Integer(0) != 0) {
    Fail(ErrorKind::kRefused,
         "{}: the ledger holds triggers, views or tables that residua did not make; restore it "
         "from a copy: without it no budget can be spent",
         ledger.name_);
  }
  return ledger;
}

bool Ledger::Make(const std::filesystem::path& path, const LedgerEntry& first_grant) {
  // Made completely under another name, then put in place unless another process was faster: a
  // ledger that exists is never empty. Once it exists, SQLite alone opens and closes it, because
  // the system drops SQLite's locks when this process closes any other descriptor of the file.
  FileInProgress temporary(path);
  temporary.CloseDescriptor();
  {
    Ledger ledger(temporary.path(), true);
    ledger.name_ = path.string();
    ledger.Execute("PRAGMA synchronous = EXTRA");
    ledger.Transact([&] {
      ledger.Execute(kSchema);
      ledger.Execute(fmt::format("PRAGMA application_id = {}", kApplicationId));
      ledger.Execute(fmt::format("PRAGMA user_version = {}", kSchemaVersion));
      ledger.Insert(first_grant);
      return 0;
    });
  }
  if (temporary.PutInPlaceIfFree()) return true;
  temporary.Discard();
  return false;
}

Ledger Ledger::OpenOrCreate(const std::filesystem::path& path, const Rational& first_grant,
                            const std::string& neighbours, Accounting accounting) {
  if (!std::filesystem::exists(path)) {
    Make(path,
         GrantOf(first_grant, accounting, "the budget of the first plan measured", neighbours));
  }
  return Open(path);
}

Ledger Ledger::Create(const std::filesystem::path& path, const Rational& first_grant,
                      const std::string& neighbours, const std::string& reason,
                      Accounting accounting) {
  CheckReason(reason, "a budget", "who decided, and when");
  if (!(first_grant > 0)) {
    Fail(ErrorKind::kBadInput, "a budget of {}; it must be positive", ToString(first_grant));
  }
  if (std::filesystem::exists(path) ||
      !Make(path, GrantOf(first_grant, accounting, reason, neighbours))) {
    Fail(
        ErrorKind::kRefused, "{}: exists already, with a budget; to add to it: {}", path.string(),
        accounting == Accounting::kGaussian
            ? Phrase{Phrase::Kind::kGrant, {"mu", TextAbove(RootAbove(first_grant)), path.string()}}
            : Phrase{Phrase::Kind::kGrant, {"rho", TextBelow(first_grant / 2), path.string()}});
  }
  return Open(path);
}

bool Ledger::HasColumn(const char* column) const {
  Statement select(name_, database_,
                   "SELECT count(*) FROM pragma_table_info('entries') WHERE name = ?");
  select.Bind(1, std::string_view(column));
  select.Step();
  return select.Integer(0) != 0;
}

void Ledger::AddNewColumns() {
  for (const char* column : kNewColumns) {
    if (HasColumn(column)) continue;
    Execute(fmt::format("ALTER TABLE entries ADD COLUMN {} TEXT NOT NULL DEFAULT ''", column));
  }
}

std::string Ledger::Identity() {
  return Transact([&] {
    AddNewColumns();
    {
      Statement select(name_, database_,
                       "SELECT data_identity FROM entries WHERE data_identity <> '' ORDER BY id");
      if (select.Step()) {
        std::string identity = select.Text(0);
        if (!IsDataIdentity(identity)) {
          Fail(ErrorKind::kRefused, "{}: the ledger was changed; restore it from a copy", name_);
        }
        return identity;
      }
    }
    // It stands in the first entry, which every ledger has.
    std::string identity = DrawIdentity();
    Statement update(name_, database_,
                     "UPDATE entries SET data_identity = ? "
                     "WHERE id = (SELECT min(id) FROM entries)");
    update.Bind(1, identity);
    update.Step();
    return identity;
  });
}

int64_t Ledger::Insert(const LedgerEntry& entry) {
  AddNewColumns();
  Statement insert(name_, database_,
                   "INSERT INTO entries (kind, pcost, delta, plan_digest, what, unit, "
                   "temporary_file, note, mu2, limits) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.Bind(1, TextOf(kKinds, entry.kind));
  insert.Bind(2, ToString(entry.pcost));
  insert.Bind(3, entry.delta);
  insert.Bind(4, entry.plan_digest);
  insert.Bind(5, entry.what);
  insert.Bind(6, entry.neighbours);
  insert.Bind(7, entry.temporary);
  insert.Bind(8, entry.note);
  insert.Bind(9, entry.mu2 ? ToString(*entry.mu2) : std::string());
  insert.Bind(10, TextOf(kLimits, entry.limits));
  insert.Step();
  return sqlite3_last_insert_rowid(database_);
}

std::vector<LedgerEntry> Ledger::Entries() const {
  std::string columns = "id, kind, time, pcost, delta, plan_digest, what, unit";
  for (const char* column : kNewColumns)
    columns += HasColumn(column) ? fmt::format(", {}", column) : ", ''";
  Statement select(name_, database_,
                   fmt::format("SELECT {} FROM entries ORDER BY id", columns).c_str());
  std::vector<LedgerEntry> entries;
  while (select.Step()) {
    entries.push_back({select.Integer(0), KindOf(select.Text(1)), select.Text(2),
                       ParseRational(select.Text(3), "a privacy cost in the ledger"),
                       select.Real(4), select.Text(5), select.Text(6), select.Text(7),
                       select.Text(8), select.Text(9), Mu2Of(select.Text(10)),
                       LimitsOf(select.Text(11))});
  }
  return entries;
}

int64_t Ledger::Record(const Spend& spend, const std::optional<SpendRefusal>& refusal) {
  const std::string output = spend.output.string();
  return Insert({.kind = refusal ? Kind::kRefused : Kind::kReserved,
                 .pcost = spend.pcost,
                 .delta = spend.delta,
                 .plan_digest = spend.plan_digest,
                 .what = refusal ? fmt::format("{}: {}", refusal->brief, output) : output,
                 .neighbours = spend.neighbours,
                 .temporary = spend.temporary,
                 .note = spend.note,
                 .mu2 = spend.mu2,
                 .limits = spend.limits});
}

std::optional<LedgerEntry> Ledger::FindToResume(const Spend& spend) const {
  const auto entry = spend.resume ? Find(spend) : std::nullopt;
  if (!entry) return std::nullopt;
  if (entry->kind == Kind::kConfirmed) {
    Fail(ErrorKind::kRefused,
         "{}: was measured (entry {} of {}), but is gone; put it back, or {} where it is now",
         entry->what, entry->id, name_, Phrase{Phrase::Kind::kMakeTables});
  }
  CheckIsNotBeingMeasured(*entry);
  if (entry->temporary.empty()) {
    Fail(
        ErrorKind::kRefused,
        "{}: an earlier version was interrupted measuring it (entry {} of {}), perhaps when it was "
        "already in place; if it was moved, put it back; if nothing of it was published, say so "
        "with {}",
        entry->what, entry->id, name_,
        Phrase{Phrase::Kind::kForgive, {fmt::format("{}", entry->id), name_}});
  }
  return entry;
}

void Ledger::CheckAffordable(const Spend& spend) {
  const auto refusal = Transact([&] {
    if (FindToResume(spend)) return std::optional<SpendRefusal>();
    auto reason = ReasonToRefuse(name_, Entries(), CurrentBalance(), spend);
    if (reason) Record(spend, reason);
    return reason;
  });
  if (refusal) throw refusal->error;
}

std::optional<Error> Ledger::Refusal(const Spend& spend) const {
  const auto refusal = ReasonToRefuse(name_, Entries(), CurrentBalance(), spend);
  return refusal ? std::optional(refusal->error) : std::nullopt;
}

int64_t Ledger::Reserve(const Spend& spend) {
  std::optional<SpendRefusal> refusal;
  const int64_t id = Transact([&] {
    if (spend.output.is_absolute() && std::filesystem::exists(spend.output)) {
      Fail(ErrorKind::kRefused, "{}: another process made it while the data was read",
           spend.output.string());
    }
    if (const auto cut_off = FindToResume(spend)) {
      Statement update(name_, database_, "UPDATE entries SET temporary_file = ? WHERE id = ?");
      update.Bind(1, spend.temporary);
      update.Bind(2, cut_off->id);
      update.Step();
      return cut_off->id;
    }
    refusal = ReasonToRefuse(name_, Entries(), CurrentBalance(), spend);
    return Record(spend, refusal);
  });
  if (refusal) throw refusal->error;
  return id;
}

std::optional<LedgerEntry> Ledger::Find(const Spend& spend) const {
  std::optional<LedgerEntry> found;
  for (LedgerEntry& entry : Entries()) {
    if (entry.is_spend() && entry.plan_digest == spend.plan_digest && entry.pcost == spend.pcost &&
        entry.what == spend.output.string()) {
      found = std::move(entry);
    }
  }
  return found;
}

std::optional<LedgerEntry> Ledger::FindPlan(const std::string& plan_digest) const {
  return SpendOf(Entries(), plan_digest);
}

void Ledger::Confirm(int64_t id, const std::string& temporary) {
  Transact([&] {
    Statement update(name_, database_,
                     "UPDATE entries SET kind = 'confirmed' "
                     "WHERE id = ? AND kind = 'reserved' AND temporary_file = ?");
    update.Bind(1, id);
    update.Bind(2, temporary);
    update.Step();
    if (sqlite3_changes(database_) != 1) {
      Fail(ErrorKind::kRefused,
           "{}: entry {} is no longer this measurement's: another residua resumed it, or it "
           "was forgiven",
           name_, id);
    }
    return 0;
  });
}

void Ledger::ConfirmPlaced(const Spend& spend) {
  Transact([&] {
    std::vector<LedgerEntry> of_file;
    std::vector<LedgerEntry> elsewhere;
    bool is_confirmed = false;
    for (LedgerEntry& entry : Entries()) {
      if (!entry.is_spend() || entry.plan_digest != spend.plan_digest) continue;
      if (entry.kind == Kind::kConfirmed) {
        is_confirmed = true;
      } else {
        auto& into = entry.what == spend.output.string() ? of_file : elsewhere;
        into.push_back(std::move(entry));
      }
    }
    // The folder may have been moved since.
    if (!is_confirmed && of_file.empty() && !elsewhere.empty()) of_file = {elsewhere.front()};
    for (const LedgerEntry& entry : of_file) {
      CheckIsNotBeingMeasured(entry);
      Statement update(name_, database_, "UPDATE entries SET kind = 'confirmed' WHERE id = ?");
      update.Bind(1, entry.id);
      update.Step();
    }
    return 0;
  });
}

void Ledger::Forgive(int64_t id, const std::string& reason) {
  CheckReason(reason, "forgiving a spend", "state that nothing of it was published");
  Transact([&] {
    for (const LedgerEntry& entry : Entries()) {
      if (entry.id == id && entry.kind == Kind::kReserved) CheckNothingIsLeft(entry);
    }
    Statement update(name_, database_,
                     "UPDATE entries SET kind = 'forgiven', what = what || ' (forgiven ' || "
                     "strftime('%Y-%m-%dT%H:%M:%SZ', 'now') || ': ' || ? || ')' "
                     "WHERE id = ? AND kind = 'reserved'");
    update.Bind(1, reason);
    update.Bind(2, id);
    update.Step();
    if (sqlite3_changes(database_) != 1) {
      Fail(ErrorKind::kBadInput, "{}: entry {} is not a spend that is reserved and not confirmed",
           name_, id);
    }
    return 0;
  });
}

std::string Ledger::Neighbours() const {
  const std::vector<LedgerEntry> entries = Entries();
  return entries.empty() ? NeighboursInWords({}) : entries.front().neighbours;
}

void Ledger::Grant(const Rational& amount, const std::string& reason, Accounting accounting) {
  if (amount <= 0) Fail(ErrorKind::kBadInput, "a grant must be positive");
  CheckReason(reason, "a grant", "who decided, and when");
  Transact([&] { return Insert(GrantOf(amount, accounting, reason, Neighbours())); });
}

}  // namespace residua
