#include "residua/basis/convolution/convolution_fit.h"

#include <algorithm>
#include <cmath>

#include "residua/base/error.h"
#include "residua/base/portable_math.h"
#include "residua/basis/convolution/convolution_matrix.h"
#include "residua/basis/convolution/real_product.h"

namespace residua {
namespace {

// Of ranges, r changes in steps of this part of an octave: the time for their variances grows with
// the number of steps, and what is lost is second-order in them.
constexpr double kStepsPerOctave = 16;
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

// Of FitConvolutionWithTotal: a, p_1 .. p_4, the logarithm of the share of the norm over that of the
// rest, alpha and beta.
struct TotalShape {
  double rows[5];
  double log_odds;
  double alpha;
  double beta;
};
struct TotalShapeOfSize {
  double log_first;
  TotalShape first[4];  // by trade-off
  double log_last;
  TotalShape last[4];
};
constexpr TotalShapeOfSize kPrefixWithTotal = {
    12,
    {{{0.50388, 0.05601, 0.18219, 0.72200, -0.37494}, -4.6586, 0, 0.7},
     {{0.50339, 0.04890, -0.54057, -0.02446, -0.11264}, 1.9262, 0.1, 0.1},
     {{0.50738, 0.04866, -0.49024, 0.03272, 0.00775}, 2.7782, 0.24, 0},
     {{0.50796, 0.04666, -0.46852, 0.09117, -0.01715}, 2.8451, 0.26, -0.15}},
    16,
    {{{0.50276, 0.03105, 0.27733, 1.23398, -0.91454}, -7.4886, 0, 0.7},
     {{0.50244, 0.03256, -0.52683, 0.08783, -0.15280}, 3.6441, 0.1, 0.1},
     {{0.50515, 0.03182, -0.49014, 0.14733, -0.07393}, 3.1455, 0.24, 0},
     {{0.50562, 0.03084, -0.47676, 0.17424, -0.07663}, 2.9028, 0.26, -0.15}}};
constexpr TotalShapeOfSize kRangeWithTotal = {
    10,
    {{{0.49661, -0.64682, 0.24395, 0.27810, 0.82805}, -3.9828, 0.05, 0.5},
     {{0.49135, -0.46052, -0.08935, 0.12925, 1.09744}, -1.5298, 0.1, 0.1},
     {{0.49064, -0.41308, -0.30882, 0.44659, 0.66319}, -0.0455, 0, -0.25},
     {{0.49081, -0.44400, -0.29078, 0.58680, 0.61580}, 0.0622, -0.2, -0.45}},
    13,
    {{{0.49949, -0.71217, 0.34150, 0.26628, 0.61379}, -5.9421, 0.05, 0.5},
     {{0.49481, -0.43706, -0.05474, -0.04507, 1.29614}, -1.7587, 0.1, 0.1},
     {{0.49435, -0.40432, -0.22538, 0.26888, 0.98756}, -0.5386, 0, -0.25},
     {{0.49459, -0.46088, -0.20679, 0.50221, 0.89693}, -0.4848, -0.2, -0.45}}};

double Between(double from, double to, double part) { return from + part * (to - from); }

TotalShape Between(const TotalShape& from, const TotalShape& to, double part) {
  TotalShape shape;
  for (int k = 0; k < 5; ++k) shape.rows[k] = Between(from.rows[k], to.rows[k], part);
  shape.log_odds = Between(from.log_odds, to.log_odds, part);
  shape.alpha = Between(from.alpha, to.alpha, part);
  shape.beta = Between(from.beta, to.beta, part);
  return shape;
}

TotalShape TotalShapeFor(const Attribute& attribute, double trade_off) {
  RESIDUA_CHECK(trade_off >= 0 && trade_off <= kMostConvolutionTradeOff);
  const TotalShapeOfSize& of_size =
      attribute.queries == QueryKind::kRange ? kRangeWithTotal : kPrefixWithTotal;
  const double log_size = PortableLog(static_cast<double>(attribute.size)) / PortableLog(2);
  const double part = (log_size - of_size.log_first) / (of_size.log_last - of_size.log_first);
  const int below = std::min(static_cast<int>(trade_off), 2);
  const auto at = [&](int level) {
    return Between(of_size.first[level], of_size.last[level], part);
  };
  return Between(at(below), at(below + 1), trade_off - below);
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

// A matrix with the kernel and the row weights alone.
ConvolutionMatrix FitRows(const Attribute& attribute, const double* numbers,
                          const ConvolutionScales& scales) {
  RESIDUA_CHECK(attribute.size >= 2);
  const int64_t num_rows = attribute.size - 1;
  ConvolutionMatrix matrix;
  matrix.kernel = RoundKernel(numbers[0], scales.kernel, num_rows);
  const auto log_weight = [&](double t) {
    return numbers[1] * PortableLog(t) + numbers[2] * PortableLog(1 - t) + numbers[3] * t +
           numbers[4] * t * t;
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
  return matrix;
}

// From above: no less than half are above it.
template <typename Value>
double MedianOf(std::vector<Value> values) {
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return static_cast<double>(*middle);
}

}  // namespace

ConvolutionMatrix FitConvolution(const Attribute& attribute, StrategyGoal goal,
                                 const ConvolutionScales& scales) {
  ConvolutionMatrix matrix = FitRows(attribute, ShapeFor(attribute, goal).numbers, scales);
  const std::vector<UInt128> columns = SquaredColumns(matrix);
  const double median = MedianOf(columns);
  for (size_t j = 0; j < columns.size(); ++j) {
    const double norm = std::sqrt(median / static_cast<double>(columns[j]));
    matrix.column_weights[j] = Weight(std::floor(scales.columns * norm));
  }
  return matrix;
}

ConvolutionMatrix FitConvolution(const Attribute& attribute, StrategyGoal goal) {
  return FitConvolution(attribute, goal, {});
}

ConvolutionMatrix FitConvolutionWithTotal(const Attribute& attribute, double trade_off,
                                          const ConvolutionScales& scales) {
  const TotalShape shape = TotalShapeFor(attribute, trade_off);
  ConvolutionMatrix matrix = FitRows(attribute, shape.rows, scales);
  const size_t num_rows = matrix.kernel.size();
  const double share = 1 / (1 + PortableExp(-shape.log_odds));
  // Of columns of norm 1: g, and its products with the columns over d.
  std::vector<double> total(num_rows);
  for (size_t j = 0; j < num_rows; ++j) {
    const double t = (static_cast<double>(j) + 0.5) / static_cast<double>(num_rows);
    total[j] = PortableExp(-shape.alpha * PortableLog(t) - shape.beta * PortableLog(1 - t));
  }
  const RealProduct product(std::vector<double>(matrix.kernel.begin(), matrix.kernel.end()));
  product.Apply(total.data(), nullptr);
  double squares = 0;
  for (size_t i = 0; i < num_rows; ++i) {
    const double entry = total[i] * static_cast<double>(matrix.row_weights[i]);
    squares += entry * entry;
  }
  std::vector<double> along(num_rows);
  for (size_t i = 0; i < num_rows; ++i) {
    total[i] *= std::sqrt(share / squares);
    const auto weight = static_cast<double>(matrix.row_weights[i]);
    along[i] = weight * weight * total[i];
  }
  product.ApplyTransposed(along.data(), nullptr);
  const std::vector<UInt128> columns = SquaredColumns(matrix);
  const auto weight_of = [&](size_t j, double with_total, double beside_total) {
    const auto square = static_cast<double>(columns[j]);
    return (with_total + std::sqrt(with_total * with_total + square * beside_total)) / square;
  };
  std::vector<double> weights(num_rows);
  for (size_t j = 0; j < num_rows; ++j)
    weights[j] = weight_of(j, std::max(along[j], 0.0), 1 - share);
  const double norm = scales.columns / MedianOf(weights);
  for (const double part : total) {
    matrix.total_weights.push_back(
        std::clamp<int64_t>(std::llround(norm * part), 0, kMostTotalWeight));
  }
  // The same again from the integers there are by now.
  const std::vector<UInt128> products = ProductsWithTotal(matrix);
  const double beside_total = std::max(0.0, norm * norm - SquaredTotal(matrix).get_d());
  for (size_t j = 0; j < num_rows; ++j) {
    matrix.column_weights[j] =
        Weight(std::floor(weight_of(j, static_cast<double>(products[j]), beside_total)));
  }
  return matrix;
}

}  // namespace residua
