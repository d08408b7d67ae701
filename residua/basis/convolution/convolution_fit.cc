#include "residua/basis/convolution/convolution_fit.h"

#include <algorithm>
#include <cmath>

#include "residua/base/error.h"
#include "residua/base/portable_math.h"
#include "residua/basis/convolution/convolution_matrix.h"

namespace residua {
namespace {

// Of ranges, r changes in steps of this part of an octave: the time for their variances grows with
// the number of steps, and what is lost is second-order in them.
constexpr double kStepsPerOctave = 8;
// This many rows at each end have the weight of the next: where log t grows beyond all bounds,
// weights would need many more bits.
constexpr double kMargin = 6;

// a, p_1 .. p_4.
struct Shape {
  double numbers[5];
};
// At 2^`log_first` and 2^`log_last` cells; linear in the logarithm between and beyond.
struct ShapeOfSize {
  double log_first;
  Shape first;
  double log_last;
  Shape last;
};
constexpr ShapeOfSize kPrefixMean = {10,
                                     {{0.50703, 0.04878, 0.35297, 1.08378, -0.88555}},
                                     14,
                                     {{0.50388, 0.03163, 0.32511, 1.31362, -1.07489}}};
constexpr ShapeOfSize kPrefixMax = {10,
                                    {{0.51097, 0.11991, 0.25966, 0.56238, -0.49420}},
                                    13,
                                    {{0.50776, 0.09426, 0.28120, 0.68955, -0.54145}}};
constexpr ShapeOfSize kRangeMean = {10,
                                    {{0.50302, -0.83082, 0.39599, 0.17751, 0.49782}},
                                    13,
                                    {{0.50171, -0.86835, 0.37839, 0.41381, 0.33585}}};
constexpr ShapeOfSize kRangeMax = {9,
                                   {{0.5099, -0.7219, 0.3108, 0.1999, 0.9150}},
                                   13,
                                   {{0.5070, -0.7219, 0.3108, 0.1999, 0.9150}}};

Shape ShapeFor(const Attribute& attribute, StrategyGoal goal) {
  const bool max = goal == StrategyGoal::kMax;
  const ShapeOfSize& of_size = attribute.queries == QueryKind::kRange
                                   ? (max ? kRangeMax : kRangeMean)
                                   : (max ? kPrefixMax : kPrefixMean);
  const double log_size = PortableLog(static_cast<double>(attribute.size)) / PortableLog(2);
  const double part = (log_size - of_size.log_first) / (of_size.log_last - of_size.log_first);
  Shape shape;
  for (int k = 0; k < 5; ++k) {
    shape.numbers[k] =
        of_size.first.numbers[k] + part * (of_size.last.numbers[k] - of_size.first.numbers[k]);
  }
  return shape;
}

int64_t Weight(double value) {
  return std::clamp<int64_t>(std::llround(value), 1, kMostConvolutionWeight);
}

// The sums of the first k are rounded, not the numbers themselves: errors that add up would be seen
// in long sums.
std::vector<int64_t> RoundKernel(double a, double scale, int64_t count) {
  std::vector<int64_t> kernel;
  double term = scale;
  double sum = 0;
  int64_t so_far = 0;
  for (int64_t k = 0; k < count; ++k) {
    const auto at = static_cast<double>(k);
    if (k > 0) term *= (at - 1 + a) / at;
    sum += term;
    const int64_t rounded = std::llround(sum);
    kernel.push_back(rounded - so_far);
    so_far = rounded;
  }
  return kernel;
}

}  // namespace

ConvolutionMatrix FitConvolution(const Attribute& attribute, StrategyGoal goal,
                                 const ConvolutionScales& scales) {
  RESIDUA_CHECK(attribute.size >= 2);
  const int64_t num_rows = attribute.size - 1;
  const Shape shape = ShapeFor(attribute, goal);
  const auto& [a, p1, p2, p3, p4] = shape.numbers;
  ConvolutionMatrix matrix;
  matrix.kernel = RoundKernel(a, scales.kernel, num_rows);
  const auto log_weight = [&, p1 = p1, p2 = p2, p3 = p3, p4 = p4](double t) {
    return p1 * PortableLog(t) + p2 * PortableLog(1 - t) + p3 * t + p4 * t * t;
  };
  const double middle = log_weight(0.5);
  const double step = PortableLog(2) / kStepsPerOctave;
  for (int64_t i = 0; i < num_rows; ++i) {
    const double margin = std::min(kMargin / static_cast<double>(num_rows), 0.25);
    const double place = (static_cast<double>(i) + 0.5) / static_cast<double>(num_rows);
    const double t = std::clamp(place, margin, 1 - margin);
    double log = log_weight(t) - middle;
    if (attribute.queries == QueryKind::kRange) log = step * std::round(log / step);
    matrix.row_weights.push_back(Weight(scales.rows * PortableExp(log)));
  }
  matrix.column_weights.assign(static_cast<size_t>(num_rows), 1);
  const std::vector<UInt128> columns = SquaredColumns(matrix);
  std::vector<UInt128> sorted = columns;
  std::nth_element(sorted.begin(), sorted.begin() + num_rows / 2, sorted.end());
  const auto median = static_cast<double>(sorted[static_cast<size_t>(num_rows / 2)]);
  for (size_t j = 0; j < columns.size(); ++j) {
    const double norm = std::sqrt(median / static_cast<double>(columns[j]));
    matrix.column_weights[j] = Weight(std::floor(scales.columns * norm));
  }
  return matrix;
}

ConvolutionMatrix FitConvolution(const Attribute& attribute, StrategyGoal goal) {
  return FitConvolution(attribute, goal, {});
}

}  // namespace residua
