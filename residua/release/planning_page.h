#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace residua {

struct PlanningPageWritten {
  std::filesystem::path output;
  int64_t num_bytes = 0;
};

// Writes one HTML file in which a curator changes a spec and sees at once what it costs and how
// large the errors are: without a server, a network or any other file. It holds the text of the
// spec, the matrices that it names, and residua's core as WebAssembly. It is for the curator: it
// says all that the spec says, also where the data is. No data is read.
//
// Without a spec it begins with BlankSpec. Error{kBadInput} as of ReadSpec.
PlanningPageWritten WritePlanningPage(const std::filesystem::path& spec,
                                      const std::filesystem::path& output);

// A spec of two made-up attributes, to be replaced.
std::string BlankSpec();

}  // namespace residua
