#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua {

// A change to the text of a spec: the value at `path` becomes `value`, which is written in TOML. It
// is added where there is none; without a `value`, the key is removed, or a section with all that
// is in it.
struct SpecEdit {
  std::vector<std::string> path;  // {"privacy", "epsilon"}
  std::optional<std::string> value;
};

// The text with these changes, made one after the other. All else stays as it was written:
// comments, order, and what the caller knows nothing of. `name` is what messages call the spec.
//
// The result is read again: Error{kBadInput} unless it says what the spec said, with the changes
// and nothing but them. That happens where a change does not fit the way the spec is written.
std::string EditSpec(std::string_view text, const std::string& name,
                     std::span<const SpecEdit> edits);

// What a spec sets, in the order of its text: `text` is the value as it is written.
struct SpecSetting {
  std::vector<std::string> path;
  std::string text;
};
std::vector<SpecSetting> SettingsOf(std::string_view text, const std::string& name);

// The files with matrices that the spec's custom queries name, as it names them.
std::vector<std::string> MatrixFilesOf(std::string_view text, const std::string& name);

}  // namespace residua
