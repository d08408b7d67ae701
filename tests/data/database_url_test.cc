#include "residua/data/database_url.h"

#include <gtest/gtest.h>

#include "residua/base/error.h"

namespace residua {
namespace {

TEST(DatabaseUrl, TellsUrlsFromPaths) {
  for (const char* url : {"postgresql://host/name", "postgres://host/name", "sqlite:people.db"}) {
    EXPECT_TRUE(IsDatabaseUrl(url)) << url;
  }
  for (const char* path :
       {"people.duckdb", "/data/sqlite/people.duckdb", "", "postgresql.duckdb"}) {
    EXPECT_FALSE(IsDatabaseUrl(path)) << path;
    EXPECT_NO_THROW(CheckDatabaseUrl(path)) << path;
  }
}

TEST(DatabaseUrl, RefusesPasswordsAndDoesNotRepeatThem) {
  for (const char* url :
       {"postgresql://me:secret@host/name", "postgres://me:secret@host:5432",
        "postgresql://:secret@host", "postgresql://me:se/secret@host/name",
        "postgresql://host/name?password=secret", "postgresql://host/name?user=me&PassWord=secret",
        "postgresql://host/?p%61ssword=secret", "postgresql://host/?sslpassword=secret",
        "postgresql://me:@host/secret"}) {
    try {
      CheckDatabaseUrl(url);
      ADD_FAILURE() << url;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kRefused);
      EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos) << error.what();
    }
  }
  for (const char* url :
       {"postgresql://me@host:5432/name", "postgresql://host:5432/name?sslmode=require",
        "postgresql:///name?host=/run/postgresql", "postgresql://[::1]:5432/name",
        "postgresql://host/?options=-c%20geqo%3Doff"}) {
    EXPECT_NO_THROW(CheckDatabaseUrl(url)) << url;
  }
}

TEST(DatabaseUrl, NamesKindsThatCannotBeRead) {
  try {
    CheckDatabaseUrl("mysql://me:secret@host/name");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "data.database: databases of the kind mysql cannot be read; use "
                 "postgresql://HOST/NAME, sqlite:FILE or a DuckDB file");
  }
}

TEST(DatabaseUrl, RebasesPathsAlone) {
  const auto rebase = [](const std::string& path) { return "folder/" + path; };
  EXPECT_EQ(RebasedDatabase("people.duckdb", rebase), "folder/people.duckdb");
  EXPECT_EQ(RebasedDatabase("sqlite:people.db", rebase), "sqlite:folder/people.db");
  EXPECT_EQ(RebasedDatabase("postgresql://host/name", rebase), "postgresql://host/name");
}

}  // namespace
}  // namespace residua
