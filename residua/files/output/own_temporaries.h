#pragma once

#include <functional>
#include <set>
#include <string>

namespace residua {

// The temporary files and folders that this process is writing, so that a program that is told to
// end leaves none of them behind. What is complete under its temporary name is not among them.

// Calls `change`, which makes, renames or keeps a temporary, with the list of their paths. Nothing
// is deleted in between. Error{kStopped} once DeleteOwnTemporaries was called.
void ChangeOwnTemporaries(const std::function<void(std::set<std::string>*)>& change);
// It was deleted.
void ForgetOwnTemporary(const std::string& path);

// For a process that is about to end, while its threads may still be at work: deletes them all.
// From now on none can be made, completed or put in place. Not for a signal handler.
void DeleteOwnTemporaries();

}  // namespace residua
