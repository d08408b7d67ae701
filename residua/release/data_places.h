#pragma once

#include <filesystem>
#include <string>

#include "residua/data/data_source.h"
#include "residua/files/spec.h"

namespace residua {

// Where the rows are, and the ledger that their budget is kept in.
struct DataPlaces {
  DataSource data;
  std::filesystem::path ledger;
  bool names_ledger = false;  // it was named, and is not taken for granted beside the data
};

// Beside the data itself, whatever spec, plan or link led there: one data set, one ledger.
std::filesystem::path LedgerBeside(const DataSource& data);

// Error{kRefused} if there is no ledger yet, none was named, and the data has other names (hard
// links): there may be one beside another name.
void CheckLedgerIsFound(const DataPlaces& places);

// What a caller names in place of what a spec or plan says; what is empty is as it says.
struct NamedPlaces {
  std::string source = {};
  ArrowArrayStream* arrow = nullptr;
  std::filesystem::path ledger = {};
  CountElsewhere elsewhere = {};
};

// The data and ledger of a spec or plan, whose paths are relative to `folder`. Error{kBadInput} if
// nobody names data, or nobody names a ledger for rows in memory.
DataPlaces FindPlaces(const DataReference& reference, const std::filesystem::path& folder,
                      const NamedPlaces& named = {});

}  // namespace residua
