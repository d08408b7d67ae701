#include "residua/data/database_url.h"

#include <cctype>
#include <charconv>

#include "residua/base/error.h"
#include "residua/base/shown_text.h"

namespace residua {
namespace {

constexpr std::string_view kSqlite = "sqlite:";

bool IsPostgres(std::string_view database) {
  return database.starts_with("postgresql://") || database.starts_with("postgres://");
}

// In small letters, with %41 as what it stands for.
std::string Decoded(std::string_view text) {
  std::string decoded;
  for (size_t k = 0; k < text.size(); ++k) {
    int character = static_cast<unsigned char>(text[k]);
    if (text[k] == '%' && k + 2 < text.size()) {
      const char* digits = text.data() + k + 1;
      if (std::from_chars(digits, digits + 2, character, 16).ptr == digits + 2) k += 2;
    }
    decoded += static_cast<char>(std::tolower(character));
  }
  return decoded;
}

// postgresql://USER:PASSWORD@HOST/NAME, or ?password=PASSWORD, in capital letters too.
bool HasPassword(std::string_view url) {
  const size_t authority = url.find("://") + 3;
  const std::string_view address =
      url.substr(authority, url.find_first_of("/?", authority) - authority);
  const size_t at = address.rfind('@');
  if (at != std::string_view::npos && address.substr(0, at).find(':') != std::string_view::npos) {
    return true;
  }
  // A password may hold any character that ends the address early.
  if (at == std::string_view::npos && address.find(':') != std::string_view::npos &&
      url.find('@', authority) != std::string_view::npos) {
    return true;
  }
  const size_t question = url.find('?');
  if (question == std::string_view::npos) return false;
  return Decoded(url.substr(question)).find("password") != std::string::npos;
}

}  // namespace

bool IsDatabaseUrl(std::string_view database) {
  return IsPostgres(database) || database.starts_with(kSqlite);
}

void CheckDatabaseUrl(const std::string& database) {
  if (IsPostgres(database) && HasPassword(database)) {
    Fail(ErrorKind::kRefused,
         "data.database: a password must not be in a file; leave it out, and set the environment "
         "variable PGPASSWORD or write it into ~/.pgpass");
  }
  if (database.find("://") == std::string::npos || IsDatabaseUrl(database)) return;
  Fail(ErrorKind::kBadInput,
       "data.database: databases of the kind {} cannot be read; use postgresql://HOST/NAME, "
       "sqlite:FILE or a DuckDB file",
       ShownText(database.substr(0, database.find("://"))));
}

std::string RebasedDatabase(const std::string& database,
                            const std::function<std::string(const std::string&)>& rebase) {
  if (database.starts_with(kSqlite)) {
    return std::string(kSqlite) + rebase(database.substr(kSqlite.size()));
  }
  return IsDatabaseUrl(database) ? database : rebase(database);
}

}  // namespace residua
