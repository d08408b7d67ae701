#include "residua/files/output/file_kind.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>

#include "residua/base/error.h"

namespace residua {
namespace {

// How files of one kind, of every version, can be told from all others: by how they begin after
// blanks, and by a text in their first part.
struct KindMark {
  FileKind kind;
  std::string_view in_words;
  std::string_view beginning;
  std::string_view text;
};

constexpr std::array kKindMarks = {
    KindMark{FileKind::kPlan, "a plan", "{", "\"residua-plan\""},
    KindMark{FileKind::kPage, "a page", "<!doctype html>",
             R"(<meta name="generator" content="residua">)"},
    KindMark{FileKind::kSummary, "a summary", "# ",
             "The noise is discrete Gaussian, drawn exactly"},
    KindMark{FileKind::kBasisCache, "a file of bases", "{", "\"residua-basis-cache "},
};

// The marks of plans, pages and bases are at their beginning, that of a summary near its end.
constexpr size_t kMostRead = size_t{1} << 20;

std::string FirstPart(const std::filesystem::path& path) {
  std::string text(kMostRead, '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  return text;
}

bool HasMark(std::string_view text, const KindMark& mark) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text.starts_with(mark.beginning) && text.find(mark.text) != std::string_view::npos;
}

}  // namespace

void CheckReplaceable(const std::filesystem::path& path, FileKind kind) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (kind == FileKind::kAnything || !std::filesystem::exists(status) || IsPipeOrDevice(path)) {
    return;
  }
  if (kind == FileKind::kNew) {
    Fail(ErrorKind::kRefused, "{}: exists already and is not overwritten; {}", path.string(),
         Phrase{Phrase::Kind::kOtherOutput});
  }
  if (!std::filesystem::is_regular_file(status)) return;  // a folder: no file can take its place
  if (std::filesystem::file_size(path, error) == 0) return;
  for (const KindMark& mark : kKindMarks) {
    if (mark.kind != kind || HasMark(FirstPart(path), mark)) continue;
    Fail(ErrorKind::kRefused, "{}: exists and is not {} of residua, so it is not overwritten; {}",
         path.string(), mark.in_words, Phrase{Phrase::Kind::kOtherOutput});
  }
}

bool IsPipeOrDevice(const std::filesystem::path& path) {
  std::error_code none;
  const auto status = std::filesystem::status(path, none);
  return std::filesystem::is_fifo(status) || std::filesystem::is_character_file(status);
}

}  // namespace residua
