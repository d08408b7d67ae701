#pragma once

#include <stop_token>
#include <string>

// Of the Arrow C stream interface.
struct ArrowArrayStream;

namespace residua {

// A spec (TOML) for the columns of the data file at `path`, to be edited by a person: a domain is
// public knowledge, and this one was read from the data. Each attribute carries the mark that
// CheckDomainIsPublic refuses, and no comment holds a value of the data, because comments may stay
// in the spec. The spec names the data as `source`, which may be relative to a different folder
// than `path`.
//
// The file is read once, as measuring would read it (JSON a second time, for its names), in memory
// that does not grow with its rows. Error{kBadInput} if it has no rows, or no column to read.
// Error{kStopped} as of CheckNotStopped.
std::string DraftSpec(const std::string& path, const std::string& source,
                      const std::stop_token& stop = {});

// The same of rows in memory. The spec names no data. Does not take ownership of the stream.
std::string DraftSpec(ArrowArrayStream* rows, const std::stop_token& stop = {});

}  // namespace residua
