#include "fuzz/only_errors.h"
#include "residua/files/spec.h"
#include "residua/text/question_text.h"

namespace residua {
namespace {

// An attribute of each kind of cells, with names and values that need quotes.
const Domain& FixedDomain() {
  static const Domain domain = ParseSpec(R"(
    [attributes.age]
    integers = [-3, 99]
    [attributes."net income"]
    cuts = [-1.5, 0, 10000, 25000.25]
    null = true
    [attributes.region]
    values = ["N1", "New York", "a|b", "c..d", "q\"t", "null", "=", ""]
    [attributes.code]
    size = 1099511627776
    [attributes.sex]
    values = ["f", "m"]
    null = true
  )",
                                         "domain.toml")
                                   .domain;
  return domain;
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

// The cells of the query one by one, as a question.
std::string TextOf(const ProductQuery& query) {
  std::string text;
  for (const AttributeWeights& factor : query.factors()) {
    const Attribute& attribute = FixedDomain()[factor.attribute];
    text += (text.empty() ? "" : " ") + Quoted(attribute.name) + '=';
    bool first = true;
    for (const CellRange& range : std::get<std::vector<CellRange>>(factor.weights)) {
      if (range.last - range.first > 1000) return "";  // too long to write down
      for (int64_t cell = range.first; cell <= range.last; ++cell) {
        const bool missing = attribute.encoding.null_cell && cell == attribute.size - 1;
        text += first ? "" : "|";
        text += missing ? "null" : Quoted(CellLabel(attribute, cell));
        first = false;
      }
    }
  }
  return text;
}

bool SameFactors(const ProductQuery& a, const ProductQuery& b) {
  if (a.attributes() != b.attributes()) return false;
  for (size_t k = 0; k < a.factors().size(); ++k) {
    if (a.factors()[k].weights != b.factors()[k].weights) return false;
  }
  return true;
}

void AskTwice(std::string_view text) {
  const ProductQuery query = ParseQuestion(text, FixedDomain());
  const std::string again = TextOf(query);
  if (again.empty()) return;
  RESIDUA_CHECK(SameFactors(ParseQuestion(again, FixedDomain()), query));
}

}  // namespace
}  // namespace residua

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  residua::ExpectOnlyErrors([&] { residua::AskTwice(residua::TextOfInput(data, size)); });
  return 0;
}
