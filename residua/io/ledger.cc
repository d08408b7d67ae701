#include "residua/io/ledger.h"

#include <sqlite3.h>

#include <utility>

#include "residua/base/error.h"
#include "residua/io/file.h"
#include "residua/io/format_version.h"
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
    unit TEXT NOT NULL DEFAULT 'add or remove one row'
  ) STRICT;
)";

std::string_view Name(Kind kind) {
  switch (kind) {
    case Kind::kGrant:
      return "grant";
    case Kind::kReserved:
      return "reserved";
    case Kind::kConfirmed:
      return "confirmed";
    case Kind::kForgiven:
      return "forgiven";
    case Kind::kRefused:
      return "refused";
  }
  RESIDUA_CHECK(false);
}

Kind KindOf(std::string_view name) {
  for (const Kind kind :
       {Kind::kGrant, Kind::kReserved, Kind::kConfirmed, Kind::kForgiven, Kind::kRefused}) {
    if (Name(kind) == name) return kind;
  }
  Fail(ErrorKind::kBadInput, "the ledger holds an entry of the unknown kind '{}'", name);
}

[[noreturn]] void FailWith(const std::string& name, sqlite3* database) {
  const int code = sqlite3_errcode(database);
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
    Fail(ErrorKind::kIo, "{}: the ledger is locked by another process; try again when it is done",
         name);
  }
  if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT) {
    Fail(ErrorKind::kRefused,
         "{}: is not a ledger, or is damaged; restore it from a copy: without it no "
         "budget can be spent",
         name);
  }
  Fail(ErrorKind::kIo, "{}: the ledger cannot be used: {}", name, sqlite3_errmsg(database));
}

class Statement {
 public:
  Statement(const std::string& name, sqlite3* database, const char* sql)
      : name_(name), database_(database) {
    if (sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr) != SQLITE_OK) {
      FailWith(name, database);
    }
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  void Bind(int index, std::string_view text) {
    sqlite3_bind_text(statement_, index, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
  }
  void Bind(int index, double value) { sqlite3_bind_double(statement_, index, value); }
  void Bind(int index, int64_t value) { sqlite3_bind_int64(statement_, index, value); }

  // True while there is a row.
  bool Step() {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) FailWith(name_, database_);
    return code == SQLITE_ROW;
  }

  int64_t Integer(int column) const { return sqlite3_column_int64(statement_, column); }
  double Real(int column) const { return sqlite3_column_double(statement_, column); }
  std::string Text(int column) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return text == nullptr ? "" : text;
  }

 private:
  const std::string& name_;
  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
};

// A spend whose file exists, or a temporary one that may be as complete, was not for nothing.
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
    const std::string reason = sqlite3_errmsg(database_);
    sqlite3_close(std::exchange(database_, nullptr));
    Fail(ErrorKind::kIo, "{}: the ledger cannot be opened: {}", name_, reason);
  }
  sqlite3_busy_timeout(database_, kBusyMilliseconds);
}

Ledger::Ledger(Ledger&& other) noexcept
    : name_(std::move(other.name_)), database_(std::exchange(other.database_, nullptr)) {}

Ledger::~Ledger() { sqlite3_close(database_); }

void Ledger::Execute(const std::string& sql) const {
  if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    FailWith(name_, database_);
  }
}

// One write transaction: it takes the lock at once, so that what is read inside cannot change
// before what is written is there.
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
    Fail(ErrorKind::kIo, "{}: there is no such ledger; residua measure makes one", path.string());
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
    Fail(ErrorKind::kBadInput, "{}: is not a residua ledger", ledger.name_);
  }
  CheckFormatVersion(fmt::format("{}: ledger", ledger.name_), version.Integer(0), kSchemaVersion);
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

Ledger Ledger::OpenOrCreate(const std::filesystem::path& path, const Rational& first_grant,
                            const std::string& neighbours) {
  if (std::filesystem::exists(path)) return Open(path);
  // Made whole under another name and put in place unless someone else was faster: a ledger that is
  // there is never an empty one. Once it is there, SQLite alone opens and closes it: the system
  // drops SQLite's locks when this process closes any other descriptor of the file.
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
      ledger.Insert(Kind::kGrant, first_grant, 0, "", "the budget of the first plan measured",
                    neighbours);
      return 0;
    });
  }
  if (!temporary.PutInPlaceIfFree()) temporary.Discard();
  return Open(path);
}

int64_t Ledger::Insert(Kind kind, const Rational& pcost, double delta, const std::string& digest,
                       const std::string& what, const std::string& neighbours) {
  Statement insert(name_, database_,
                   "INSERT INTO entries (kind, pcost, delta, plan_digest, what, unit) "
                   "VALUES (?, ?, ?, ?, ?, ?)");
  insert.Bind(1, Name(kind));
  insert.Bind(2, ToString(pcost));
  insert.Bind(3, delta);
  insert.Bind(4, digest);
  insert.Bind(5, what);
  insert.Bind(6, neighbours);
  insert.Step();
  return sqlite3_last_insert_rowid(database_);
}

std::vector<LedgerEntry> Ledger::Entries() const {
  Statement select(
      name_, database_,
      "SELECT id, kind, time, pcost, delta, plan_digest, what, unit FROM entries ORDER BY id");
  std::vector<LedgerEntry> entries;
  while (select.Step()) {
    entries.push_back({select.Integer(0), KindOf(select.Text(1)), select.Text(2),
                       ParseRational(select.Text(3), "a privacy cost in the ledger"),
                       select.Real(4), select.Text(5), select.Text(6), select.Text(7)});
  }
  return entries;
}

Ledger::Balance Ledger::CurrentBalance() const {
  Balance balance;
  for (const LedgerEntry& entry : Entries()) {
    if (entry.pcost < 0) {
      Fail(ErrorKind::kRefused, "{}: entry {} has a negative cost", name_, entry.id);
    }
    if (entry.kind == Kind::kGrant) balance.granted += entry.pcost;
    if (entry.is_spend()) balance.spent += entry.pcost;
  }
  return balance;
}

std::optional<Ledger::Refusal> Ledger::ReasonToRefuse(const Spend& spend) const {
  RESIDUA_CHECK(spend.pcost > 0);
  for (const LedgerEntry& entry : Entries()) {
    if (entry.kind != Kind::kRefused && entry.neighbours != spend.neighbours) {
      return Refusal{
          "for other neighbours",
          fmt::format("{}: the ledger is kept for \"{}\", the plan for \"{}\", and their costs "
                      "do not add up; plan for the former, or keep another ledger with --ledger "
                      "and answer for both",
                      name_, entry.neighbours, spend.neighbours)};
    }
  }
  const auto earlier = spend.again ? std::nullopt : FindPlan(spend.plan_digest);
  if (earlier && earlier->kind == Kind::kConfirmed) {
    return Refusal{
        "measured before",
        fmt::format("{}: this plan was measured before, into {} (entry {}, {}); measuring it again "
                    "is a new spend: residua measure PLAN --again if you mean it",
                    name_, earlier->what, earlier->id, earlier->time)};
  }
  if (earlier) {
    return Refusal{
        "cut off before",
        fmt::format(
            "{}: a measurement of this plan into {} was cut off (entry {}, {}); if it was a "
            "release, put its folder back and run the same command again; if nothing of it was "
            "published, residua ledger forgive {} frees its budget",
            name_, earlier->what, earlier->id, earlier->time, earlier->id)};
  }
  const Balance balance = CurrentBalance();
  if (balance.spent + spend.pcost > balance.granted) {
    return Refusal{
        "over the budget",
        fmt::format(
            "{}: the budget does not allow it: rho {} was spent and {} is asked for, of {:.6g} "
            "granted; plan for less, or residua ledger grant --rho {} --reason ...",
            name_, TextAbove(balance.spent / 2), TextAbove(spend.pcost / 2),
            ToDoubleDown(balance.granted / 2),
            TextAbove((balance.spent + spend.pcost - balance.granted) / 2))};
  }
  return std::nullopt;
}

int64_t Ledger::Record(const Spend& spend, const std::optional<Refusal>& refusal) {
  const std::string output = spend.output.string();
  return Insert(refusal ? Kind::kRefused : Kind::kReserved, spend.pcost, spend.delta,
                spend.plan_digest, refusal ? fmt::format("{}: {}", refusal->brief, output) : output,
                spend.neighbours);
}

void Ledger::CheckAffordable(const Spend& spend) {
  const auto refusal = Transact([&] {
    auto reason = ReasonToRefuse(spend);
    if (reason) Record(spend, reason);
    return reason;
  });
  if (refusal) throw Error(ErrorKind::kRefused, refusal->message);
}

int64_t Ledger::Reserve(const Spend& spend) {
  std::optional<Refusal> refusal;
  const int64_t id = Transact([&] {
    refusal = ReasonToRefuse(spend);
    return Record(spend, refusal);
  });
  if (refusal) throw Error(ErrorKind::kRefused, refusal->message);
  return id;
}

std::optional<LedgerEntry> Ledger::Find(const Spend& spend) const {
  for (const LedgerEntry& entry : Entries()) {
    if (entry.is_spend() && entry.plan_digest == spend.plan_digest && entry.pcost == spend.pcost &&
        entry.what == spend.output.string()) {
      return entry;
    }
  }
  return std::nullopt;
}

std::optional<LedgerEntry> Ledger::FindPlan(const std::string& plan_digest) const {
  for (const LedgerEntry& entry : Entries()) {
    if (entry.is_spend() && entry.plan_digest == plan_digest) return entry;
  }
  return std::nullopt;
}

void Ledger::Confirm(int64_t id) {
  Transact([&] {
    Statement update(name_, database_,
                     "UPDATE entries SET kind = 'confirmed' WHERE id = ? AND kind = 'reserved'");
    update.Bind(1, id);
    update.Step();
    RESIDUA_CHECK(sqlite3_changes(database_) == 1);
    return 0;
  });
}

void Ledger::Forgive(int64_t id, const std::string& reason) {
  if (reason.find_first_not_of(" \t\n") == std::string::npos) {
    Fail(ErrorKind::kBadInput,
         "forgiving a spend needs a reason: say in so many words that nothing of it was published");
  }
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

void Ledger::Grant(const Rational& pcost, const std::string& reason) {
  if (pcost <= 0) Fail(ErrorKind::kBadInput, "a grant must be positive");
  Transact([&] {
    const std::vector<LedgerEntry> entries = Entries();
    return Insert(Kind::kGrant, pcost, 0, "", reason,
                  entries.empty() ? NeighboursInWords({}) : entries.front().neighbours);
  });
}

}  // namespace residua
