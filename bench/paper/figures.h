#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::bench {

enum class Quantity { kSelectSeconds, kReconstructSeconds, kAnswerSeconds, kRmse, kMaxVariance };
bool IsTime(Quantity quantity);
std::string_view KeyOf(Quantity quantity);

// One figure of the paper's experiments: what is measured of which workload, and what the paper
// prints for its own system, for HDMM, and for one more column that the table names; as printed,
// "out of memory" included, or empty.
struct Figure {
  std::string table;
  std::string row;
  std::string domain;
  std::string marginals;
  std::string objective;
  Quantity quantity = Quantity::kRmse;
  std::string paper;
  std::string hdmm;
  std::string second;
};

// All of bench/paper/figures.tsv, in its order.
std::vector<Figure> PaperFigures();

// The number a figure starts with, "0.009 ± 0.001" included; nothing if it is text.
std::optional<double> NumberOf(std::string_view figure);

// Digits after the point of that number.
int DecimalsOf(std::string_view figure);

}  // namespace residua::bench
