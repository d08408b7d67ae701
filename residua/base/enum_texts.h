#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "residua/base/error.h"

namespace residua {

// The text of each value of an enumeration, so that what is written is what is read.
template <typename Enum, size_t size>
using EnumTexts = std::array<std::pair<Enum, std::string_view>, size>;

template <typename Enum, size_t size>
std::string_view TextOf(const EnumTexts<Enum, size>& texts, Enum value) {
  for (const auto& [known, text] : texts) {
    if (known == value) return text;
  }
  RESIDUA_CHECK(false);
}

template <typename Enum, size_t size>
std::optional<Enum> ValueOf(const EnumTexts<Enum, size>& texts, std::string_view text) {
  for (const auto& [value, known] : texts) {
    if (known == text) return value;
  }
  return std::nullopt;
}

// "cells, sqrt-cells or equal": all choices, in words.
template <typename Enum, size_t size>
std::string Choices(const EnumTexts<Enum, size>& texts) {
  std::string choices;
  for (size_t k = 0; k < size; ++k) {
    if (k > 0) choices += k + 1 == size ? " or " : ", ";
    choices += texts[k].second;
  }
  return choices;
}

}  // namespace residua
