#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "residua/io/duckdb_connection.h"

namespace residua {

// Each test has a directory of its own and runs inside it, so that messages show short paths.
class FolderTest : public testing::Test {
 protected:
  FolderTest() : home_(std::filesystem::current_path()) {
    std::string path = (std::filesystem::temp_directory_path() / "residua-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary directory");
    directory_ = path;
    std::filesystem::current_path(directory_);
  }
  ~FolderTest() override {
    std::filesystem::current_path(home_);
    std::filesystem::remove_all(directory_);
  }

  static void Write(const std::string& name, const std::string& text) {
    std::ofstream(name, std::ios::binary) << text;
  }

  // Runs SQL with DuckDB itself, to make the files that are read.
  static void Sql(const std::string& database, const std::vector<std::string>& statements) {
    duckdb_database handle = nullptr;
    duckdb_connection connection = nullptr;
    ASSERT_EQ(duckdb_open(database.empty() ? nullptr : database.c_str(), &handle), DuckDBSuccess);
    ASSERT_EQ(duckdb_connect(handle, &connection), DuckDBSuccess);
    for (const std::string& statement : statements) {
      duckdb_result result;
      EXPECT_EQ(duckdb_query(connection, statement.c_str(), &result), DuckDBSuccess)
          << duckdb_result_error(&result);
      duckdb_destroy_result(&result);
    }
    duckdb_disconnect(&connection);
    duckdb_close(&handle);
  }

  std::filesystem::path home_;
  std::filesystem::path directory_;
};

}  // namespace residua
