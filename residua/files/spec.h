#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "residua/select/select.h"
#include "residua/text/budget_text.h"

namespace residua {

// Where the data is: a file that DuckDB reads, a query on such a file, or a query on a DuckDB
// database; and which of its texts mean missing values. Paths are relative to the file that names
// them.
struct DataReference {
  std::string source;
  std::string database;
  std::string query;
  std::string ledger;
  std::vector<std::string> null_values = {};
  // Of what was measured: the identity of the ledger that has the spend (Ledger::Identity), the
  // same for all measurements of the same data. Empty where none is known.
  std::string identity = {};
  bool push_down = false;  // the rows may not leave their database, which counts them itself
  bool empty() const { return source.empty() && query.empty(); }
  // What may be published of it: how texts are read, and nothing of where the data is.
  DataReference WithoutPlaces() const { return {"", "", "", "", null_values, identity}; }
  bool operator==(const DataReference&) const = default;
};

// Whether the text has the form of an identity.
bool IsDataIdentity(std::string_view text);

// What readers of a release are told of it; each may be empty.
struct ReleaseText {
  std::string title;
  std::string description;
  std::string publisher;
  std::string date = {};  // of the release, as its publisher states it: a day, a month or a year
  std::string contact;
  std::string licence;
  bool operator==(const ReleaseText&) const = default;
};

// Error{kBadInput} unless the text is a day, a month or a year: 2026-05-01, 2026-05, 2026. A date is
// stated by the publisher: one that follows from data or clocks would tell something of the data.
void CheckReleaseDate(const std::string& date);

// The mark of an attribute whose cells were read from the data, as `check` in specs and plans.
inline constexpr std::string_view kReadFromData = "read from the data";
// True; Error{kBadInput} for any other text.
bool ParseCheck(std::string_view text);

// A spec file: what to release, of what data, at what cost. Only `domain` must be there; the rest
// may come from flags.
struct Spec {
  DataReference data;
  Domain domain;
  Workload workload;
  Objective objective;
  Protection protection;
  std::optional<std::variant<Budget, LossTarget>> target;
  std::optional<int64_t> public_rows = {};  // about how many rows there are, as is publicly known
  ReleaseText release = {};
};

// What is asked of the planner. The spec has a target.
SelectRequest RequestOf(const Spec& spec);

// "add-remove" or "replace-one".
Protection::Neighbours ParseNeighbours(const std::string& text);

// The same paths, relative to another folder: a spec's, written into a plan elsewhere.
DataReference Rebase(const DataReference& data, const std::filesystem::path& from,
                     const std::filesystem::path& to);

// Reads TOML. Every error names the file, the line, the key and the remedy.
Spec ReadSpec(const std::filesystem::path& path);
Spec ParseSpec(std::string_view text, const std::string& name);

// Error{kBadInput} unless it names its data and a budget or target. `name` is what messages call
// it.
void CheckReleasable(const Spec& spec, const std::string& name);
// Both.
Spec ReadReleasableSpec(const std::filesystem::path& path);

}  // namespace residua
