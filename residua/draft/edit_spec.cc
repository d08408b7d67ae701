#include "residua/draft/edit_spec.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <toml++/toml.h>

#include "residua/base/error.h"
#include "residua/base/toml_text.h"
#include "residua/files/nesting.h"

namespace residua {
namespace {

using Position = toml::source_position;

toml::table ParsedText(std::string_view text, const std::string& name) {
  AtPlace(name, [&] { CheckTomlKeys(text); });
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    Fail(ErrorKind::kBadInput, "{}: not valid TOML: {}",
         fmt::format("{}:{}", name, error.source().begin.line), error.description());
  }
}

std::string PathText(std::span<const std::string> path) {
  std::string text;
  for (const std::string& key : path) text += (text.empty() ? "" : ".") + TomlKey(key);
  return text;
}

// The table at the path, or null.
const toml::table* TableAt(const toml::table& root, std::span<const std::string> path) {
  const toml::table* table = &root;
  for (const std::string& key : path) {
    const toml::node* node = table->get(key);
    if (node == nullptr || !node->is_table()) return nullptr;
    table = node->as_table();
  }
  return table;
}

// The lines of a text, by which toml++ says where things are.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : text_(text) {
    starts_.push_back(0);
    for (size_t k = 0; k < text.size(); ++k) {
      if (text[k] == '\n') starts_.push_back(k + 1);
    }
  }

  size_t num_lines() const { return starts_.size(); }
  // From 1 on; one line more than there are begins at the end.
  size_t Begin(size_t line) const {
    return line > starts_.size() ? text_.size() : starts_[line - 1];
  }
  std::string_view Line(size_t line) const {
    return text_.substr(Begin(line), Begin(line + 1) - Begin(line));
  }

  // toml++ counts characters, and bytes that continue one are none.
  size_t Offset(const Position& position) const {
    size_t at = Begin(position.line);
    for (uint32_t column = 1; column < position.column && at < text_.size(); ++column) {
      ++at;
      while (at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xC0) == 0x80) ++at;
    }
    return at;
  }

 private:
  std::string_view text_;
  std::vector<size_t> starts_;
};

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}
bool IsComment(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t");
  return begin != std::string_view::npos && line[begin] == '#';
}

// The lines on which sections begin: those of the table and of all tables in it.
void AddHeaders(const toml::node& node, const TextLines& lines, std::vector<size_t>* headers) {
  if (const toml::table* table = node.as_table()) {
    if (table->is_inline()) return;
    const size_t line = table->source().begin.line;
    if (line > 0 && lines.Line(line).find_first_not_of(" \t") == lines.Line(line).find('[')) {
      headers->push_back(line);
    }
    for (const auto& [key, child] : *table) AddHeaders(child, lines, headers);
  } else if (const toml::array* array = node.as_array()) {
    for (const toml::node& item : *array) AddHeaders(item, lines, headers);
  }
}

std::vector<size_t> HeadersOf(const toml::node& node, const TextLines& lines) {
  std::vector<size_t> headers;
  AddHeaders(node, lines, &headers);
  std::sort(headers.begin(), headers.end());
  headers.erase(std::unique(headers.begin(), headers.end()), headers.end());
  return headers;
}

// The line after the section that begins on `header`. Comments right above the next header are
// about the next section.
size_t SectionEnd(size_t header, const std::vector<size_t>& all_headers, const TextLines& lines) {
  const auto next = std::upper_bound(all_headers.begin(), all_headers.end(), header);
  if (next == all_headers.end()) return lines.num_lines() + 1;
  size_t end = *next;
  while (end - 1 > header && IsComment(lines.Line(end - 1))) --end;
  return end;
}

// One change of one text.
class SpecEditor {
 public:
  SpecEditor(std::string_view text, const toml::table& root)
      : text_(text), root_(root), lines_(text_), headers_(HeadersOf(root, lines_)) {}

  std::string Edited(const SpecEdit& edit) const {
    const std::span<const std::string> path(edit.path);
    const auto parent_path = path.first(path.size() - 1);
    const toml::table* parent = TableAt(root_, parent_path);
    const toml::node* node = parent == nullptr ? nullptr : parent->get(path.back());
    if (node == nullptr) {
      if (!edit.value) return text_;
      const std::string line = TomlKey(path.back()) + " = " + *edit.value;
      return parent == nullptr ? WithSection(parent_path, line) : WithKey(*parent, line);
    }
    if (edit.value) {
      const size_t begin = lines_.Offset(node->source().begin);
      return Spliced(begin, lines_.Offset(node->source().end), *edit.value);
    }
    const bool is_section = node->is_table() && !node->as_table()->is_inline();
    if (is_section) return WithoutSections(*node);
    const auto key = parent->find(path.back());
    return WithoutKey(*parent, lines_.Offset(key->first.source().begin),
                      lines_.Offset(node->source().end));
  }

 private:
  std::string Spliced(size_t begin, size_t end, std::string_view with) const {
    std::string text = text_.substr(0, begin);
    text += with;
    text += text_.substr(end);
    return text;
  }

  // Before the line, as a line of its own.
  std::string WithLines(size_t line, std::string_view added) const {
    const size_t at = lines_.Begin(line);
    const bool is_cut = at > 0 && text_[at - 1] != '\n';
    return Spliced(at, at, fmt::format("{}{}\n", is_cut ? "\n" : "", added));
  }

  std::string WithKey(const toml::table& table, const std::string& line) const {
    if (table.is_inline()) {
      const size_t close = lines_.Offset(table.source().end) - 1;
      const size_t last = text_.find_last_not_of(" \t", close - 1);
      return Spliced(last + 1, close, fmt::format("{} {} ", table.empty() ? "" : ",", line));
    }
    size_t last = table.source().begin.line;
    for (const auto& [key, child] : table) {
      if (HeadersOf(child, lines_).empty()) {
        last = std::max<size_t>(last, child.source().end.line);
      }
    }
    return WithLines(last + 1, line);
  }

  // A new section comes after the last of its parent's, or at the end.
  std::string WithSection(std::span<const std::string> path, const std::string& line) const {
    size_t at = lines_.num_lines() + 1;
    const toml::table* parent =
        path.empty() ? nullptr : TableAt(root_, path.first(path.size() - 1));
    if (parent != nullptr && parent != &root_) {
      const std::vector<size_t> headers = HeadersOf(*parent, lines_);
      if (!headers.empty()) at = SectionEnd(headers.back(), headers_, lines_);
    }
    while (at > 1 && IsBlank(lines_.Line(at - 1))) --at;
    return WithLines(at, fmt::format("{}[{}]\n{}", at > 1 ? "\n" : "", PathText(path), line));
  }

  std::string WithoutSections(const toml::node& node) const {
    const std::vector<size_t> removed = HeadersOf(node, lines_);
    std::string text = text_;
    for (auto header = removed.rbegin(); header != removed.rend(); ++header) {
      const size_t begin = lines_.Begin(*header);
      text.erase(begin, lines_.Begin(SectionEnd(*header, headers_, lines_)) - begin);
    }
    return text;
  }

  std::string WithoutKey(const toml::table& table, size_t begin, size_t end) const {
    if (table.is_inline()) {
      // With the comma after it, or before it if it is the last.
      const size_t after = text_.find_first_not_of(" \t", end);
      if (after != std::string::npos && text_[after] == ',') {
        return Spliced(begin, text_.find_first_not_of(" \t", after + 1), "");
      }
      const size_t before = text_.find_last_not_of(" \t", begin - 1);
      return Spliced(text_[before] == ',' ? before : begin, end, "");
    }
    const size_t line_begin = begin == 0 ? 0 : text_.rfind('\n', begin - 1) + 1;
    const size_t line_end = std::min(text_.find('\n', end), text_.size() - 1) + 1;
    return Spliced(line_begin, std::min(line_end, text_.size()), "");
  }

  std::string text_;
  const toml::table& root_;
  TextLines lines_;
  std::vector<size_t> headers_;
};

// The same change to what the text says.
void ApplyTo(toml::table* root, const SpecEdit& edit, const std::string& name) {
  toml::table* table = root;
  for (size_t k = 0; k + 1 < edit.path.size(); ++k) {
    toml::node* node = table->get(edit.path[k]);
    if (node == nullptr) {
      if (!edit.value) return;
      table = table->insert(edit.path[k], toml::table()).first->second.as_table();
    } else if (node->is_table()) {
      table = node->as_table();
    } else {
      Fail(ErrorKind::kBadInput, "{}: {} is not a table", name, TomlKey(edit.path[k]));
    }
  }
  if (!edit.value) {
    table->erase(edit.path.back());
    return;
  }
  toml::table value = ParsedText("value = " + *edit.value, PathText(edit.path));
  if (value.size() != 1) {
    Fail(ErrorKind::kBadInput, "{}: {} must be one value of TOML", name, PathText(edit.path));
  }
  table->insert_or_assign(edit.path.back(), std::move(*value.get("value")));
}

// Attributes may be written on one line; what is deeper is a value.
constexpr size_t kSectionDepth = 2;

void AddSettings(const toml::table& table, const TextLines& lines, std::string_view text,
                 std::vector<std::string>* path,
                 std::vector<std::pair<size_t, SpecSetting>>* settings) {
  for (const auto& [key, node] : table) {
    path->emplace_back(key.str());
    const toml::table* inner = node.as_table();
    if (inner != nullptr && (!inner->is_inline() || path->size() <= kSectionDepth)) {
      AddSettings(*inner, lines, text, path, settings);
    } else if (!node.is_array_of_tables() || node.source().begin.line == key.source().begin.line) {
      const size_t begin = lines.Offset(node.source().begin);
      const size_t end = lines.Offset(node.source().end);
      settings->push_back({begin, {*path, std::string(text.substr(begin, end - begin))}});
    }
    path->pop_back();
  }
}

}  // namespace

std::string EditSpec(std::string_view text, const std::string& name,
                     std::span<const SpecEdit> edits) {
  std::string edited(text);
  toml::table wanted = ParsedText(text, name);
  for (const SpecEdit& edit : edits) {
    RESIDUA_CHECK(!edit.path.empty());
    ApplyTo(&wanted, edit, name);
    edited = SpecEditor(edited, ParsedText(edited, name)).Edited(edit);
    bool is_as_wanted = false;
    try {
      is_as_wanted = ParsedText(edited, name) == wanted;
    } catch (const Error&) {
      is_as_wanted = false;
    }
    if (!is_as_wanted) {
      Fail(ErrorKind::kBadInput,
           "{}: {} cannot be changed without rewriting the spec; change it in the text", name,
           PathText(edit.path));
    }
  }
  return edited;
}

std::vector<SpecSetting> SettingsOf(std::string_view text, const std::string& name) {
  const toml::table root = ParsedText(text, name);
  std::vector<std::pair<size_t, SpecSetting>> placed;
  std::vector<std::string> path;
  AddSettings(root, TextLines(text), text, &path, &placed);
  std::stable_sort(placed.begin(), placed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<SpecSetting> settings;
  settings.reserve(placed.size());
  for (auto& [at, setting] : placed) settings.push_back(std::move(setting));
  return settings;
}

std::vector<std::string> MatrixFilesOf(std::string_view text, const std::string& name) {
  const toml::table root = ParsedText(text, name);
  std::vector<std::string> files;
  const toml::table* attributes = root["attributes"].as_table();
  if (attributes == nullptr) return files;
  for (const auto& [key, attribute] : *attributes) {
    if (!attribute.is_table()) continue;
    for (const char* which : {"matrix", "strategy"}) {
      const auto file = (*attribute.as_table())["custom"][which].value<std::string>();
      if (file) files.push_back(*file);
    }
  }
  return files;
}

}  // namespace residua
