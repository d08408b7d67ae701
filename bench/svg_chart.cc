#include "bench/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "residua/base/error.h"

namespace residua::bench {
namespace {

// In pixels of the drawing.
constexpr double kPanelWidth = 310;
constexpr double kPanelHeight = 330;
constexpr double kGap = 24;
constexpr double kGapWithLabels = 64;
constexpr double kLeft = 74;
constexpr double kRight = 18;
constexpr double kTop = 76;
constexpr double kBottom = 62;
constexpr double kMarkerSize = 3.6;
// A legend entry beside its letters, and about what a letter takes.
constexpr double kLegendGap = 44;
constexpr double kLetterWidth = 7;

// One axis, from 10^first to 10^last, drawn over `length` pixels.
struct LogAxis {
  double first = 0;
  double last = 0;
  double length = 0;

  double At(double value) const { return (std::log10(value) - first) / (last - first) * length; }
};

LogAxis AxisFor(std::span<const ChartPanel> panels, double ChartPoint::*coordinate, double length) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const ChartPanel& panel : panels) {
    for (const ChartSeries& series : panel.series) {
      for (const ChartPoint& point : series.points) {
        const double value = point.*coordinate;
        if (!(value > 0) || !std::isfinite(value)) {
          Fail(ErrorKind::kBadInput, "a logarithmic axis has no place for {}", value);
        }
        least = std::min(least, value);
        most = std::max(most, value);
      }
    }
  }
  if (most == 0) Fail(ErrorKind::kBadInput, "the chart has no points");
  // Markers stay off the frame, and there is something to draw if all points are alike.
  const double margin = std::max(0.04 * std::log10(most / least), 0.01);
  return {std::log10(least) - margin, std::log10(most) + margin, length};
}

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string MarkerAt(const ChartSeries& series, double x, double y) {
  const double r = kMarkerSize;
  std::string shape;
  switch (series.marker) {
    case Marker::kCircle:
      shape = fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}"/>)", x, y, r);
      break;
    case Marker::kSquare:
      shape = fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>)", x - r,
                          y - r, 2 * r, 2 * r);
      break;
    case Marker::kDiamond:
      shape = fmt::format(
          R"(<path d="M{:.1f} {:.1f}l{d:.1f} {d:.1f}l-{d:.1f} {d:.1f}l-{d:.1f} -{d:.1f}z"/>)", x,
          y - 1.6 * r, fmt::arg("d", 1.6 * r));
      break;
    case Marker::kTriangle:
      shape = fmt::format(R"(<path d="M{:.1f} {:.1f}l{:.1f} {:.1f}h-{:.1f}z"/>)", x, y - 1.1 * r,
                          1.1 * r, 2 * r, 2.2 * r);
      break;
  }
  return shape + "\n";
}

std::string GroupOf(const ChartSeries& series) {
  return fmt::format("<g fill=\"{0}\" fill-opacity=\"0.6\" stroke=\"{0}\" stroke-width=\"0.7\">\n",
                     series.colour);
}

// digit * 10^k, its exponent raised where it has one.
std::string TickText(int k, int digit) {
  if (k == 0 || k == 1) return std::to_string(digit * (k == 0 ? 1 : 10));
  return fmt::format(R"({}10<tspan dy="-5" font-size="9">{}</tspan>)",
                     digit == 1 ? "" : fmt::format("{}\u00b7", digit), k);
}

// Whether the tick has a line and a label: every power of ten, and 2 and 5 times one on an axis of
// few.
bool IsLabelled(const LogAxis& axis, int digit) {
  if (digit == 1) return true;
  return axis.last - axis.first < 1.5 && (digit == 2 || digit == 5);
}

// Calls visit(decade, digit) for every value digit * 10^decade on the axis.
template <typename Visit>
void ForEachTick(const LogAxis& axis, const Visit& visit) {
  for (int k = static_cast<int>(std::floor(axis.first)); k <= axis.last; ++k) {
    for (int digit = 1; digit < 10; ++digit) {
      const double at = k + std::log10(digit);
      if (axis.first <= at && at <= axis.last) visit(k, digit);
    }
  }
}

std::string Ticks(const LogAxis& x, const LogAxis& y, bool with_y_labels) {
  std::string svg;
  ForEachTick(x, [&](int k, int digit) {
    const double at = x.At(digit * std::pow(10, k));
    svg += fmt::format("<path d=\"M{:.1f} {}v{}\"/>", at, kPanelHeight, digit == 1 ? 5 : 3);
    if (!IsLabelled(x, digit)) return;
    svg += fmt::format(
        "<path d=\"M{0:.1f} 0V{1}\" stroke=\"#dddddd\"/>"
        "<text x=\"{0:.1f}\" y=\"{2}\" text-anchor=\"middle\" stroke=\"none\">{3}</text>\n",
        at, kPanelHeight, kPanelHeight + 20, TickText(k, digit));
  });
  ForEachTick(y, [&](int k, int digit) {
    const double at = kPanelHeight - y.At(digit * std::pow(10, k));
    svg += fmt::format("<path d=\"M0 {:.1f}h-{}\"/>", at, digit == 1 ? 5 : 3);
    if (!IsLabelled(y, digit)) return;
    svg += fmt::format("<path d=\"M0 {:.1f}H{}\" stroke=\"#dddddd\"/>\n", at, kPanelWidth);
    if (!with_y_labels) return;
    svg +=
        fmt::format("<text x=\"-9\" y=\"{:.1f}\" text-anchor=\"end\" stroke=\"none\">{}</text>\n",
                    at + 4, TickText(k, digit));
  });
  return svg;
}

std::string LegendOf(const Chart& chart, double width) {
  const std::vector<ChartSeries>& series = chart.panels.front().series;
  const auto width_of = [](const ChartSeries& entry) {
    return kLegendGap + kLetterWidth * static_cast<double>(entry.name.size());
  };
  double x = width + kLegendGap / 2;
  for (const ChartSeries& entry : series) x -= width_of(entry);
  x /= 2;
  std::string svg;
  for (auto entry = series.rbegin(); entry != series.rend(); ++entry) {
    svg += GroupOf(*entry) + MarkerAt(*entry, x, 22) + "</g>\n";
    svg += fmt::format("<text x=\"{:.1f}\" y=\"26.5\">{}</text>\n", x + 12, Escaped(entry->name));
    x += width_of(*entry);
  }
  return svg;
}

double GapOf(const Chart& chart) {
  return chart.kind == ChartKind::kScatter ? kGap : kGapWithLabels;
}

std::string LineThrough(const ChartSeries& series, const LogAxis& x, const LogAxis& y) {
  std::string points;
  for (const ChartPoint& point : series.points) {
    points += fmt::format("{:.1f},{:.1f} ", x.At(point.x), kPanelHeight - y.At(point.y));
  }
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke-width=\"1.6\"/>\n", points);
}

std::string PanelOf(const Chart& chart, size_t which) {
  const ChartPanel& panel = chart.panels[which];
  const bool is_scatter = chart.kind == ChartKind::kScatter;
  const std::span<const ChartPanel> all(chart.panels);
  const std::span<const ChartPanel> with_these_axes = is_scatter ? all : all.subspan(which, 1);
  const LogAxis x = AxisFor(with_these_axes, &ChartPoint::x, kPanelWidth);
  const LogAxis y = AxisFor(with_these_axes, &ChartPoint::y, kPanelHeight);
  std::string svg =
      fmt::format("<g transform=\"translate({:.1f} {})\">\n",
                  kLeft + static_cast<double>(which) * (kPanelWidth + GapOf(chart)), kTop);
  svg += "<g stroke=\"#444444\" stroke-width=\"1\" fill=\"#222222\">\n";
  svg += Ticks(x, y, which == 0 || !is_scatter);
  svg += fmt::format("\n<rect width=\"{}\" height=\"{}\" fill=\"none\"/>\n</g>\n", kPanelWidth,
                     kPanelHeight);
  svg += fmt::format(
      "<text x=\"{}\" y=\"-12\" text-anchor=\"middle\" font-size=\"14\" "
      "font-weight=\"bold\">{}</text>\n",
      kPanelWidth / 2, Escaped(panel.title));
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", kPanelWidth / 2,
                     kPanelHeight + 44, Escaped(panel.x_label));
  if (which == 0) {
    svg += fmt::format(
        "<text transform=\"translate(-50 {}) rotate(-90)\" "
        "text-anchor=\"middle\">{}</text>\n",
        kPanelHeight / 2, Escaped(chart.y_label));
  }
  for (const ChartSeries& series : panel.series) {
    svg += GroupOf(series);
    if (!is_scatter) svg += LineThrough(series, x, y);
    for (const ChartPoint& point : series.points) {
      svg += MarkerAt(series, x.At(point.x), kPanelHeight - y.At(point.y));
    }
    svg += "</g>\n";
  }
  return svg + "</g>\n";
}

}  // namespace

std::string SvgOf(const Chart& chart) {
  const auto num_panels = static_cast<double>(chart.panels.size());
  const double width = kLeft + num_panels * kPanelWidth + (num_panels - 1) * GapOf(chart) + kRight;
  const double height = kTop + kPanelHeight + kBottom;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" "
      "font-size=\"13\" fill=\"#222222\" role=\"img\">\n<title>{2}</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      width, height, Escaped(chart.title));
  svg += LegendOf(chart, width);
  for (size_t k = 0; k < chart.panels.size(); ++k) svg += PanelOf(chart, k);
  return svg + "</svg>\n";
}

}  // namespace residua::bench
