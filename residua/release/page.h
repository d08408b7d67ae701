#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "residua/files/spec.h"

namespace residua {

// A page holds this much unless another limit is asked for.
inline constexpr int64_t kDefaultPageBytes = 20'000'000;

// What the page of a measurement file says and holds.
struct PageRequest {
  std::filesystem::path measurements;
  std::filesystem::path output;
  ReleaseText text = {};
  bool is_query = false;                  // as of ReleaseFacts
  double confidence = 0.95;               // of the intervals, until the reader chooses another
  std::string plan_digest = {};           // as plan.json shows it; empty: as this version writes it
  int64_t max_bytes = kDefaultPageBytes;  // of the file
};

struct PageWritten {
  std::filesystem::path output;
  int64_t num_bytes = 0;
  int64_t num_tables = 0;             // that the page can show
  std::vector<std::string> left_out;  // names of tables that did not fit, the largest first
};

// Writes one HTML file that shows a release to its readers: without a server, a network or any
// other file. It holds the plan, the noisy values, and residua's core as WebAssembly, which makes
// every table and answers every question as this library does. Nothing else goes into it, so that
// the same measurements, text and limit give the same bytes.
//
// Where the noisy values are too many for `max_bytes`, the largest tables are left out, and the
// page says which. Error{kTooLarge} if not even the total fits.
PageWritten WritePage(const PageRequest& request);

}  // namespace residua
