#include "residua/release/data_places.h"

#include "residua/base/error.h"
#include "residua/base/shown_text.h"
#include "residua/data/database_url.h"

namespace residua {

namespace fs = std::filesystem;

fs::path LedgerBeside(const DataSource& data) {
  const std::string& file = data.source.empty() ? data.database : data.source;
  std::error_code ignored;
  const fs::path real = fs::canonical(file, ignored);
  const fs::path ledger = (real.empty() ? fs::path(file) : real).string() + ".ledger";
  const fs::path near = fs::proximate(ledger, ignored);
  return !near.empty() && *near.begin() != ".." ? near : ledger;
}

void CheckLedgerIsFound(const DataPlaces& places) {
  if (places.names_ledger || places.data.is_given() || fs::exists(places.ledger) ||
      places.ledger != LedgerBeside(places.data)) {
    return;
  }
  const std::string& file = places.data.source.empty() ? places.data.database : places.data.source;
  std::error_code error;
  const std::uintmax_t num_names = fs::hard_link_count(file, error);
  if (error || num_names < 2 || !fs::is_regular_file(file)) return;
  Fail(ErrorKind::kRefused,
       "{}: the file has {} names (hard links) and no ledger beside this one; name the ledger that "
       "its budget is kept in, or {} if it has none yet",
       file, num_names, places.ledger.string());
}

DataPlaces FindPlaces(const DataReference& reference, const fs::path& folder,
                      const NamedPlaces& named) {
  const auto resolve = [&](const std::string& path) {
    return path.empty() ? "" : (folder / path).lexically_normal().string();
  };
  DataPlaces places;
  if (named.arrow != nullptr) {
    places.data.arrow = named.arrow;
  } else if (named.elsewhere != nullptr) {
    places.data.elsewhere = named.elsewhere;
  } else if (!named.source.empty()) {
    places.data.source = named.source;
    // Another file of the same kind: the query of the planned file is for it too.
    if (!reference.source.empty()) places.data.query = reference.query;
  } else if (!reference.empty()) {
    places.data.source = resolve(reference.source);
    places.data.database = RebasedDatabase(reference.database, resolve);
    CheckDatabaseUrl(places.data.database);
    places.data.query = reference.query;
  } else {
    Fail(ErrorKind::kBadInput, "the plan names no data; {}", Phrase{Phrase::Kind::kNameData});
  }
  places.data.null_values = reference.null_values;
  places.data.push_down = reference.push_down;
  places.ledger = named.ledger.empty() ? fs::path(resolve(reference.ledger)) : named.ledger;
  places.names_ledger = !places.ledger.empty();
  if (places.names_ledger) return places;
  if (places.data.is_given()) {
    Fail(ErrorKind::kBadInput,
         "rows {} have no ledger beside them; name the one that their budget is kept in, "
         "such as people.ledger",
         places.data.elsewhere != nullptr ? "on a cluster" : "in memory");
  }
  if (IsDatabaseUrl(places.data.database)) {
    Fail(ErrorKind::kBadInput,
         "{}: a database has no ledger beside it; name the one that its budget is kept in: set "
         "ledger = \"FILE.ledger\" beside database",
         ShownText(places.data.database));
  }
  places.ledger = LedgerBeside(places.data);
  return places;
}

}  // namespace residua
