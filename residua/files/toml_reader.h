#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <toml++/toml.h>

#include "residua/base/error.h"
#include "residua/base/toml_text.h"

namespace residua {

// Reads nodes of one TOML file; every complaint carries the file's name, the line and the key.
class TomlReader {
 protected:
  explicit TomlReader(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }

  // The format reads "PROBLEM; REMEDY", and follows the key.
  template <typename... Args>
  [[noreturn]] void FailAt(const toml::node& node, std::string_view key,
                           fmt::format_string<Args...> format, Args&&... args) const {
    throw Named(ErrorOf(ErrorKind::kBadInput, format, std::forward<Args>(args)...), node, key);
  }

  // The error, with the file's name and line in front of its place and the key before its problem.
  Error Named(const Error& error, const toml::node& node, std::string_view key) const {
    return error.About(key).At(LineOf(node));
  }

  // Runs `work`; an error that does not name this file gets its name, line and key in front.
  template <typename Work>
  auto At(const toml::node& node, std::string_view key, const Work& work) const {
    return AtPlace(fmt::format("{}: {}", LineOf(node), key), name_, work);
  }

  void CheckKeys(const toml::table& table, std::string_view path,
                 std::initializer_list<std::string_view> known) const {
    for (const auto& [key, node] : table) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      std::string list;
      for (const std::string_view k : known) {
        list += fmt::format("{}{}", list.empty() ? "" : ", ", k);
      }
      FailAt(node, Join(path, key.str()), "is not a known key; known are {}", list);
    }
  }

  // attributes.age, or attributes."net income": as TOML writes it.
  static std::string Join(std::string_view path, std::string_view key) {
    return path.empty() ? TomlKey(key) : fmt::format("{}.{}", path, TomlKey(key));
  }

  const toml::table* Table(const toml::table& parent, std::string_view key) const {
    const toml::node* node = parent.get(key);
    if (node == nullptr) return nullptr;
    if (!node->is_table()) FailAt(*node, key, "must be a table; write [{}]", key);
    return node->as_table();
  }

  // "2013-01-31".
  static std::string DayOf(const toml::date& date) {
    return fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day);
  }

  std::string String(const toml::node& node, std::string_view key) const {
    const auto value = node.value_exact<std::string>();
    if (!value) FailAt(node, key, "must be a string in quotes");
    return *value;
  }

  bool Truth(const toml::node& node, std::string_view key) const {
    const auto value = node.value_exact<bool>();
    if (!value) FailAt(node, key, "must be true or false");
    return *value;
  }

  int64_t Whole(const toml::node& node, std::string_view key) const {
    const auto value = node.value_exact<int64_t>();
    if (!value) FailAt(node, key, "must be a whole number");
    return *value;
  }

  // A number as text, exactly as a person would write it.
  std::string Number(const toml::node& node, std::string_view key) const {
    if (const auto whole = node.value_exact<int64_t>()) return fmt::format("{}", *whole);
    if (const auto real = node.value_exact<double>()) return fmt::format("{}", *real);
    if (const auto text = node.value_exact<std::string>()) return *text;
    FailAt(node, key, "must be a number, or a string such as \"1/3\"");
  }

  const toml::array& Array(const toml::node& node, std::string_view key) const {
    if (!node.is_array()) FailAt(node, key, "must be a list in [brackets]");
    return *node.as_array();
  }

  // toml++ sorts keys; ours have the file's order.
  static std::vector<std::pair<std::string, const toml::node*>> InFileOrder(
      const toml::table& table) {
    std::vector<std::pair<std::string, const toml::node*>> ordered;
    for (const auto& [key, node] : table) ordered.emplace_back(key.str(), &node);
    std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
      const auto& x = a.second->source().begin;
      const auto& y = b.second->source().begin;
      return std::tie(x.line, x.column) < std::tie(y.line, y.column);
    });
    return ordered;
  }

 private:
  std::string LineOf(const toml::node& node) const {
    return fmt::format("{}:{}", name_, node.source().begin.line);
  }

  std::string name_;
};

}  // namespace residua
