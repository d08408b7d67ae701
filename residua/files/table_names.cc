#include "residua/files/table_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>

#include "residua/base/error.h"
#include "residua/data/duckdb_connection.h"
#include "residua/files/digest.h"

namespace residua {
namespace {

// File systems take 255 bytes; the ending and a temporary name's letters need a few.
constexpr size_t kMaxNameBytes = 200;

constexpr std::string_view kTotal = "total";
constexpr std::string_view kBetweenParts = "_x_";

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 128; });
}

// In small letters, and composed: what a file system or a database may take for the same.
std::vector<std::string> Folded(const std::vector<std::string>& texts) {
  std::vector<std::string> folded = texts;
  for (std::string& text : folded) {
    for (char& c : text) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
  }
  std::string rows;
  for (size_t k = 0; k < texts.size(); ++k) {
    if (!IsAscii(texts[k])) {
      rows += fmt::format("{}({}, {})", rows.empty() ? "" : ", ", k, SqlText(folded[k]));
    }
  }
  if (rows.empty()) return folded;
  DuckDbConnection connection = DuckDbConnection::InMemory("names", "");
  connection.Stream(
      fmt::format("SELECT k::BIGINT, lower(nfc_normalize(t)) FROM (VALUES {}) AS _(k, t)", rows),
      [&](const DuckDbChunk& chunk) {
        for (int64_t row = 0; row < chunk.num_rows(); ++row) {
          folded[static_cast<size_t>(chunk.Values<int64_t>(0)[row])] =
              TextOf(chunk.Values<duckdb_string_t>(1)[row]);
        }
      });
  return folded;
}

// The columns of the names. Each is different from those in `taken`, to which it is added.
std::vector<std::string> ColumnsOf(const std::vector<std::string>& names,
                                   std::set<std::string>* taken) {
  const std::vector<std::string> folded = Folded(names);
  // Names that need no change are kept, whatever comes before them.
  std::vector<bool> is_kept;
  for (const std::string& name : folded) is_kept.push_back(taken->insert(name).second);
  std::vector<std::string> columns = names;
  for (size_t k = 0; k < names.size(); ++k) {
    if (is_kept[k]) continue;
    std::string end = "_";
    while (!taken->insert(folded[k] + end).second) end += "_";
    columns[k] += end;
  }
  return columns;
}

// Columns with `suffix`, for the attributes that have them; empty for the others.
template <typename Has>
std::vector<std::string> CompanionNames(const Domain& domain, const char* suffix, const Has& has,
                                        std::set<std::string>* taken) {
  std::vector<std::string> names;
  for (const Attribute& attribute : domain.attributes()) {
    if (has(attribute)) names.push_back(attribute.name + suffix);
  }
  const std::vector<std::string> columns = ColumnsOf(names, taken);
  std::vector<std::string> of_attributes;
  auto next = columns.begin();
  for (const Attribute& attribute : domain.attributes()) {
    of_attributes.push_back(has(attribute) ? *next++ : "");
  }
  return of_attributes;
}

// With characters that cause trouble in file systems or shells as %XX.
std::string PlainPart(std::string_view attribute) {
  std::string part;
  for (const char c : attribute) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte > 0x7f || std::isalnum(byte) != 0 || c == '_' || c == '-' ||
                          (c == '.' && !part.empty());
    if (is_plain) {
      part += c;
    } else {
      part += fmt::format("%{:02X}", byte);
    }
  }
  return part;
}

// Every "_x" that a table's name could be cut at becomes "%5Fx".
std::string WithoutCuts(const std::string& part) {
  std::string text;
  for (size_t k = 0; k < part.size(); ++k) {
    const std::string_view rest = std::string_view(part).substr(k);
    const bool is_cut = rest.size() >= 2 && rest[0] == '_' && (rest[1] == 'x' || rest[1] == 'X') &&
                        (rest.size() == 2 || rest[2] == '_');
    text += is_cut ? "%5F" : std::string(1, part[k]);
  }
  return text;
}

// Two tables' names can be the same only where one's next part, p, begins with the other's, q, and
// goes on as the text between parts does: p begins with q_x_, or is q_x. Parts of the first kind
// lose every such place. As "%5F" comes from nothing else, they stay different from all others.
std::vector<std::string> PartsOf(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const std::string& name : names) parts.push_back(PlainPart(name));
  // "~" is in no plain part, so that a number after it cannot meet another attribute's name.
  std::map<std::string, int> num_seen = {{std::string(kTotal), 1}};
  std::vector<std::string> folded = Folded(parts);
  for (size_t k = 0; k < parts.size(); ++k) {
    const int number = ++num_seen[folded[k]];
    if (number > 1) parts[k] += fmt::format("~{}", number);
  }
  folded = Folded(parts);
  const std::set<std::string> all(folded.begin(), folded.end());
  for (size_t k = 0; k < parts.size(); ++k) {
    const std::string& part = folded[k];
    for (size_t cut = part.find("_x"); cut != std::string::npos; cut = part.find("_x", cut + 1)) {
      const bool is_whole = cut + 2 == part.size() || part[cut + 2] == '_';
      if (is_whole && all.contains(part.substr(0, cut))) {
        parts[k] = WithoutCuts(parts[k]);
        break;
      }
    }
  }
  return parts;
}

}  // namespace

std::string TableNames::TableName(const AttributeSet& table) const {
  if (table.empty()) return std::string(kTotal);
  std::string name;
  for (const int i : table) {
    if (!name.empty()) name += kBetweenParts;
    name += parts[static_cast<size_t>(i)];
  }
  if (name.size() <= kMaxNameBytes) return name;
  const std::string digest = Sha256(name).substr(std::string_view("sha256:").size(), 32);
  size_t size = kMaxNameBytes - 1 - digest.size();
  while ((static_cast<unsigned char>(name[size]) & 0xc0) == 0x80) --size;  // whole characters
  return fmt::format("{}~{}", name.substr(0, size), digest);
}

TableNames NamesOf(const Domain& domain) {
  std::vector<std::string> names;
  for (const Attribute& attribute : domain.attributes()) names.push_back(attribute.name);
  std::set<std::string> taken(std::begin(kNumberColumns), std::end(kNumberColumns));
  taken.insert(kTableColumn);
  const auto& attributes = domain.attributes();
  if (std::any_of(attributes.begin(), attributes.end(),
                  [](const Attribute& attribute) { return MeanOf(attribute) != nullptr; })) {
    taken.insert(std::begin(kMeanNumberColumns), std::end(kMeanNumberColumns));
    taken.insert(kMeanNoteColumn);
  }
  std::vector<std::string> columns = ColumnsOf(names, &taken);
  const auto is_hierarchy = [](const Attribute& a) { return a.queries == QueryKind::kHierarchy; };
  TableNames of_tables;
  of_tables.columns = std::move(columns);
  of_tables.level_columns = CompanionNames(domain, "_level", is_hierarchy, &taken);
  of_tables.lower_columns = CompanionNames(domain, "_lower", HasBounds, &taken);
  of_tables.upper_columns = CompanionNames(domain, "_upper", HasBounds, &taken);
  of_tables.parts = PartsOf(names);
  return of_tables;
}

bool HasBounds(const Attribute& attribute) {
  if (attribute.queries != QueryKind::kPrefix && attribute.queries != QueryKind::kRange) {
    return false;
  }
  const auto& cells = attribute.encoding.cells;
  return std::holds_alternative<IntegerEncoding>(cells) ||
         std::holds_alternative<CutEncoding>(cells) || std::holds_alternative<DateEncoding>(cells);
}

}  // namespace residua
