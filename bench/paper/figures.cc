#include "bench/paper/figures.h"

#include <cctype>
#include <cstdlib>

#include "residua/base/error.h"

namespace residua::bench {

extern const char kFiguresTsv[];

namespace {

constexpr Quantity kQuantities[] = {Quantity::kSelectSeconds, Quantity::kReconstructSeconds,
                                    Quantity::kAnswerSeconds, Quantity::kRmse,
                                    Quantity::kMaxVariance};

std::vector<std::string> SplitAt(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Quantity QuantityOf(const std::string& key) {
  for (const Quantity quantity : kQuantities) {
    if (KeyOf(quantity) == key) return quantity;
  }
  Fail(ErrorKind::kBadInput, "figures.tsv: there is no quantity '{}'", key);
}

}  // namespace

bool IsTime(Quantity quantity) {
  return quantity != Quantity::kRmse && quantity != Quantity::kMaxVariance;
}

std::string_view KeyOf(Quantity quantity) {
  switch (quantity) {
    case Quantity::kSelectSeconds:
      return "select_seconds";
    case Quantity::kReconstructSeconds:
      return "reconstruct_seconds";
    case Quantity::kAnswerSeconds:
      return "answer_seconds";
    case Quantity::kRmse:
      return "rmse";
    case Quantity::kMaxVariance:
      return "max_variance";
  }
  return "";
}

std::vector<Figure> PaperFigures() {
  std::vector<Figure> figures;
  for (const std::string& line : SplitAt(kFiguresTsv, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> f = SplitAt(line, '\t');
    if (f.size() != 9) {
      Fail(ErrorKind::kBadInput, "figures.tsv: {} fields instead of 9 in '{}'", f.size(), line);
    }
    figures.push_back({f[0], f[1], f[2], f[3], f[4], QuantityOf(f[5]), f[6], f[7], f[8]});
  }
  return figures;
}

std::optional<double> NumberOf(std::string_view figure) {
  if (figure.empty() || std::isdigit(static_cast<unsigned char>(figure[0])) == 0) return {};
  return std::strtod(std::string(figure).c_str(), nullptr);
}

int DecimalsOf(std::string_view figure) {
  const std::string_view number = figure.substr(0, figure.find(' '));
  const size_t point = number.find('.');
  return point == std::string_view::npos ? 0 : static_cast<int>(number.size() - point - 1);
}

}  // namespace residua::bench
