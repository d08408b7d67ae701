#include "residua/model/domain.h"

#include <algorithm>
#include <unordered_set>

#include "residua/base/checked.h"
#include "residua/base/error.h"

namespace residua {

Domain::Domain(std::vector<Attribute> attributes) : attributes_(std::move(attributes)) {
  if (attributes_.empty()) {
    Fail(ErrorKind::kBadInput, "the domain has no attributes; give at least one");
  }
  std::unordered_set<std::string_view> names;
  for (const Attribute& attribute : attributes_) {
    if (attribute.name.empty()) Fail(ErrorKind::kBadInput, "an attribute has an empty name");
    if (!names.insert(attribute.name).second) {
      Fail(ErrorKind::kBadInput, "attribute '{}' is listed twice", attribute.name);
    }
    if (attribute.size < 2) {
      Fail(ErrorKind::kBadInput,
           "attribute '{}' has size {}; it needs at least 2 cells (leave out an attribute with one "
           "value)",
           attribute.name, attribute.size);
    }
    if (attribute.size > kMaxAttributeSize) {
      Fail(ErrorKind::kTooLarge, "attribute '{}' has {} cells; at most {} are supported",
           attribute.name, attribute.size, kMaxAttributeSize);
    }
    CheckEncoding(attribute.encoding, attribute.size, SpecKey(attribute));
    if (MeanOf(attribute) != nullptr && attribute.queries != QueryKind::kIdentity) {
      Fail(ErrorKind::kBadInput, "{}.queries: numbers are counted for their mean alone",
           SpecKey(attribute));
    }
  }
}

std::optional<int> Domain::Find(std::string_view name) const {
  for (int i = 0; i < size(); ++i) {
    if ((*this)[i].name == name) return i;
  }
  return std::nullopt;
}

AttributeSet Domain::MakeSet(std::vector<int> indices) const {
  std::sort(indices.begin(), indices.end());
  for (size_t k = 0; k < indices.size(); ++k) {
    if (indices[k] < 0 || indices[k] >= size()) {
      Fail(ErrorKind::kBadInput,
           "attribute index {} is not in the domain; indices run from 0 to {}", indices[k],
           size() - 1);
    }
    if (k > 0 && indices[k] == indices[k - 1]) {
      Fail(ErrorKind::kBadInput, "attribute '{}' is twice in one marginal; name it once",
           (*this)[indices[k]].name);
    }
  }
  return indices;
}

std::string SetName(const Domain& domain, const AttributeSet& set) {
  constexpr std::string_view kTotalName = "total";
  if (set.empty()) return std::string(kTotalName);
  std::string name;
  for (const int i : set) {
    if (!name.empty()) name += " x ";
    name += domain[i].name;
  }
  if (name == kTotalName) name = fmt::format("\"{}\"", name);
  return name;
}

int MeanAttribute(const Domain& domain, const AttributeSet& set) {
  int found = -1;
  for (const int i : set) {
    if (MeanOf(domain[i]) == nullptr) continue;
    if (found >= 0) {
      Fail(ErrorKind::kBadInput,
           "the table {} has two attributes whose mean is asked, '{}' and '{}'; a table can have "
           "one",
           SetName(domain, set), domain[found].name, domain[i].name);
    }
    found = i;
  }
  return found;
}

bool HasMeans(const Domain& domain) {
  const std::vector<Attribute>& attributes = domain.attributes();
  return std::any_of(attributes.begin(), attributes.end(),
                     [](const Attribute& attribute) { return MeanOf(attribute) != nullptr; });
}

int64_t RowSteps(const Domain& domain, const AttributeSet& set) {
  const int i = MeanAttribute(domain, set);
  return i < 0 ? 1 : MeanOf(domain[i])->num_steps();
}

void CheckDomainIsPublic(const Domain& domain) {
  constexpr int kMaxListed = 8;
  std::string names;
  int num_marked = 0;
  for (const Attribute& attribute : domain.attributes()) {
    if (!attribute.read_from_data || ++num_marked > kMaxListed) continue;
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", attribute.name);
  }
  if (num_marked == 0) return;
  if (num_marked > kMaxListed) names += fmt::format(" and {} more", num_marked - kMaxListed);
  Fail(ErrorKind::kRefused,
       "the cells of {} were read from the data and may reveal it; in the spec, replace them by "
       "what is publicly known, remove the line check = \"read from the data\", and plan again",
       names);
}

Integer NumCells(const Domain& domain, const AttributeSet& set) {
  Integer cells = 1;
  for (const int i : set) cells *= ToInteger(domain[i].size);
  return cells;
}

int64_t NumCellsInMemory(const Domain& domain, const AttributeSet& set) {
  int64_t cells = 1;
  for (const int i : set) {
    if (__builtin_mul_overflow(cells, domain[i].size, &cells)) {
      Fail(ErrorKind::kTooLarge,
           "the table {} has {} cells, too many to hold; ask for fewer attributes",
           SetName(domain, set), NumCells(domain, set).get_str());
    }
  }
  return cells;
}

}  // namespace residua
