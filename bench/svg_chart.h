#pragma once

#include <string>
#include <vector>

namespace residua::bench {

enum class Marker { kDiamond, kSquare, kCircle, kTriangle };

struct ChartPoint {
  double x = 0;
  double y = 0;
};

struct ChartSeries {
  std::string name;
  Marker marker = Marker::kCircle;
  std::string colour;
  std::vector<ChartPoint> points;
};

// Later series are drawn over earlier ones.
struct ChartPanel {
  std::string title;
  std::string x_label;
  std::vector<ChartSeries> series;
};

enum class ChartKind {
  kScatter,  // all panels on the same axes
  kLines,    // points joined in order; each panel on axes of its own
};

// Plots side by side on logarithmic axes, with one legend: the first panel's series, the last of
// them first.
struct Chart {
  ChartKind kind = ChartKind::kScatter;
  std::string title;  // for those who hear the figure; not drawn
  std::string y_label;
  std::vector<ChartPanel> panels;
};

// A complete SVG file. Error{kBadInput} unless every coordinate is positive and finite, and there
// is at least one.
std::string SvgOf(const Chart& chart);

}  // namespace residua::bench
