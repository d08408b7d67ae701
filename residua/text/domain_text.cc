#include "residua/text/domain_text.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/base/shown_text.h"
#include "residua/text/choice_text.h"
#include "residua/text/pieces.h"

namespace residua {
namespace {

// More attributes than any table has; the bound keeps a typing error such as 10*1000000000 from
// using up the memory.
constexpr int64_t kMaxAttributes = 100'000;

Phrase DomainOption() { return {Phrase::Kind::kOption, {"domain"}}; }

// How much of a name is compared to find the one that was meant: the time grows with the square of
// the length.
constexpr size_t kMaxCompared = 64;

int EditDistance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = std::exchange(row[0], static_cast<int>(i));
    for (size_t j = 1; j <= b.size(); ++j) {
      const int substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

std::string InSmallLetters(std::string_view name) {
  std::string small(name);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

// The attribute that was most likely meant, if one is close: capital letters apart, it begins with
// `name`, or no more than a third of its letters differ.
std::optional<int> ClosestAttribute(const Domain& domain, std::string_view name) {
  const std::string meant = InSmallLetters(name.substr(0, kMaxCompared));
  std::optional<int> closest;
  int least = INT32_MAX;
  for (int i = 0; i < domain.size(); ++i) {
    const std::string known =
        InSmallLetters(std::string_view(domain[i].name).substr(0, kMaxCompared));
    const bool is_beginning = !meant.empty() && known.starts_with(meant);
    const int distance = is_beginning && known != meant ? 1 : EditDistance(meant, known);
    const auto length = static_cast<int>(std::max(meant.size(), known.size()));
    if (3 * distance <= length + 1 && distance < least) {
      least = distance;
      closest = i;
    }
  }
  return closest;
}

// The first names, as many as a line has room for.
std::string KnownAttributes(const Domain& domain) {
  constexpr int kMaxShown = 8;
  std::string known;
  for (int i = 0; i < std::min(domain.size(), kMaxShown); ++i) {
    known += fmt::format("{}{}", i > 0 ? ", " : "", ShownText(domain[i].name));
  }
  return domain.size() > kMaxShown ? known + ", ..." : known;
}

struct ListedName {
  std::string text;
  bool quoted = false;
};

// The names of a list with commas between them, some in double quotes.
std::vector<ListedName> ListedNames(std::string_view text) {
  std::vector<ListedName> names;
  for (;;) {
    text = Trim(text);
    ListedName name;
    name.quoted = text.starts_with('"');
    if (name.quoted) {
      size_t k = 1;
      for (; k < text.size(); ++k) {
        if (text[k] == '"' && !text.substr(k + 1).starts_with('"')) break;
        if (text[k] == '"') ++k;
        name.text += text[k];
      }
      if (k >= text.size()) {
        Fail(ErrorKind::kBadInput, "'{}' has a quote that is not closed", ShownText(text));
      }
      text = Trim(text.substr(k + 1));
      if (!text.empty() && text.front() != ',') {
        Fail(ErrorKind::kBadInput, "'{}' comes after a quoted name; write a comma between names",
             ShownText(text));
      }
    } else {
      name.text = Trim(text.substr(0, text.find(',')));
      text.remove_prefix(std::min(text.find(','), text.size()));
    }
    names.push_back(std::move(name));
    if (text.empty()) return names;
    text.remove_prefix(1);
  }
}

std::optional<int> IndexOf(const Domain& domain, const ListedName& name) {
  if (const auto index = domain.Find(name.text)) return index;
  const auto number = name.quoted ? std::nullopt : ParseInteger(name.text);
  if (!number || *number < 0 || *number >= domain.size()) return std::nullopt;
  return static_cast<int>(*number);
}

// Of `item`: those that need nothing but the size. A mean is said otherwise.
QueryKind QueriesOfSize(std::string_view text, std::string_view item) {
  for (const QueryKind kind : {QueryKind::kIdentity, QueryKind::kPrefix, QueryKind::kRange}) {
    if (text == ToString(kind)) return kind;
  }
  if (text == ToString(QueryKind::kHierarchy) || text == ToString(QueryKind::kCustom)) {
    Fail(ErrorKind::kBadInput,
         "{}: '{}' needs its groups or its matrix; describe the attribute in a spec file",
         DomainOption(), item);
  }
  Fail(ErrorKind::kBadInput,
       "{}: the queries of '{}' are not known; choose identity, prefix, range or mean",
       DomainOption(), item);
}

}  // namespace

Domain ParseDomain(std::string_view text) {
  if (Trim(text).empty()) {
    Fail(ErrorKind::kBadInput, "{} is empty; give sizes such as 100,50,7*3", DomainOption());
  }
  std::vector<Attribute> attributes;
  for (const std::string_view item : Split(text, ',')) {
    const auto [head, count_text] = Cut(item, '*');
    const auto [size_text, queries_text] = Cut(head, ':');
    const std::optional<int64_t> size = ParseInteger(size_text);
    const std::optional<int64_t> count = count_text ? ParseInteger(*count_text) : 1;
    if (!size || !count || *count < 1) {
      Fail(ErrorKind::kBadInput,
           "{}: '{}' is not SIZE[:QUERIES][*COUNT]; write it like 100, 7*3 or 100:identity*2",
           DomainOption(), item);
    }
    if (*count > kMaxAttributes - static_cast<int64_t>(attributes.size())) {
      Fail(ErrorKind::kTooLarge, "{}: '{}' makes more than {} attributes", DomainOption(), item,
           kMaxAttributes);
    }
    for (int64_t k = 0; k < *count; ++k) {
      Attribute attribute;
      attribute.name = std::to_string(attributes.size());
      attribute.size = *size;
      if (queries_text == kMeanQueries) {
        // The integers from 0, as many as the size says.
        attribute.encoding.cells = MeanEncoding{.high = *size - 1, .is_integers = true};
        attribute.size = 2;
      } else if (queries_text) {
        attribute.queries = QueriesOfSize(*queries_text, item);
      }
      attributes.push_back(std::move(attribute));
    }
  }
  return Domain(std::move(attributes));
}

int FindAttribute(const Domain& domain, std::string_view name) {
  if (const auto index = domain.Find(name)) return *index;
  if (domain[0].name == "0") {
    Fail(ErrorKind::kBadInput, "there is no attribute '{}'; attributes are numbered 0 to {}",
         ShownText(name), domain.size() - 1);
  }
  if (const auto closest = ClosestAttribute(domain, name)) {
    Fail(ErrorKind::kBadInput, "there is no attribute '{}'; did you mean '{}'?", ShownText(name),
         ShownText(domain[*closest].name));
  }
  Fail(ErrorKind::kBadInput, "there is no attribute '{}'; the attributes are {}", ShownText(name),
       KnownAttributes(domain));
}

AttributeSet ParseAttributeSet(std::string_view text, const Domain& domain) {
  const std::string_view whole = Trim(text);
  if (whole.empty() || (whole == "total" && !domain.Find("total"))) return {};
  const std::vector<ListedName> names = ListedNames(whole);
  if (const auto index = domain.Find(whole); index && names.size() > 1) {
    const bool is_list = std::ranges::all_of(
        names, [&](const ListedName& name) { return IndexOf(domain, name).has_value(); });
    if (!is_list) return {*index};
    Fail(ErrorKind::kBadInput,
         "'{}' is the name of one attribute and a list of several; put the one name in double "
         "quotes, or each name of the list",
         ShownText(whole));
  }
  std::vector<int> indices;
  for (const ListedName& name : names) {
    const auto index = IndexOf(domain, name);
    indices.push_back(index ? *index : FindAttribute(domain, name.text));
  }
  return domain.MakeSet(std::move(indices));
}

}  // namespace residua
