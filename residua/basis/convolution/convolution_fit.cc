#include "residua/basis/convolution/convolution_fit.h"

#include <algorithm>
#include <cmath>
#include <span>

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
// How far below the smaller one of two sizes the line through both is followed, in parts of their
// distance: attributes of few cells have other bases, and far below numbers would mean nothing.
constexpr double kLeastPart = -1;
// As many cells have a kernel of scale kLeastKernel, and four times as many one of twice that. The
// farthest numbers are the smallest, in proportion to the inverse root of their distance: with one
// scale for all, their rounding would cost 0.15 % for 65,536 cells.
constexpr int64_t kCellsOfLeastKernel = 4096;
constexpr double kLeastKernel = 4096;

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

// Of FitConvolutionWithTotal.
struct TotalShape {
  double power;     // a
  double rows[4];   // p_1 .. p_4
  double log_odds;  // logarithm of the total's share of the norm over that of the rest
  double alpha;
  double beta;
  double reach;  // e
};
// By trade-off, at 2^`log_first` and 2^`log_last` cells; linear in the logarithm between and
// beyond, but for few cells. Trade-offs up to `last_apart` use the total little, those after it much:
// nothing in between is good.
struct TotalShapes {
  double log_first;
  std::span<const TotalShape> first;
  double log_last;
  std::span<const TotalShape> last;
  int last_apart;
};
// The total counts 1/n and 0.001; 0.004, 0.015, 0.06, 0.25, 1 and 10 times what the mean counts.
constexpr TotalShape kPrefixWithTotal12[] = {
    {0.50285, {0.06083, 0.19017, 0.89801, -0.28630}, -4.63761, 0.05989, 0.64574, -0.15038},
    {0.50220, {0.05540, 0.11228, 0.94350, -0.30759}, -3.91804, 0.10387, 0.55948, -0.15547},
    {0.50171, {0.05047, -0.57461, -0.03641, -0.18117}, 2.75362, -0.04662, 0.09318, -0.01398},
    {0.50200, {0.05282, -0.56711, -0.02487, -0.15459}, 2.76112, 0.01615, 0.09085, -0.01973},
    {0.50308, {0.05457, -0.54467, 0.02447, -0.08739}, 2.76813, 0.11218, 0.06515, -0.03251},
    {0.50459, {0.05693, -0.51018, 0.09752, 0.00155}, 2.77462, 0.20722, -0.00229, -0.05101},
    {0.50555, {0.05913, -0.48308, 0.13667, 0.05699}, 2.77892, 0.25977, -0.09297, -0.06279},
    {0.50570, {0.06001, -0.46188, 0.14378, 0.09273}, 2.78278, 0.27141, -0.23048, -0.07069},
};
constexpr TotalShape kPrefixWithTotal16[] = {
    {0.50218, {0.04000, 0.24036, 1.29193, -0.88362}, -7.48699, -0.04204, 0.80858, -0.15404},
    {0.50165, {0.03357, 0.14089, 1.25851, -0.63523}, -4.78730, 0.07525, 0.64046, -0.16959},
    {0.49974, {0.04343, -0.54757, 0.07962, -0.26284}, 3.12073, -0.04846, 0.09697, -0.01134},
    {0.50007, {0.04471, -0.54255, 0.09129, -0.23608}, 3.12823, 0.01412, 0.09434, -0.01701},
    {0.50115, {0.04390, -0.52774, 0.14037, -0.16887}, 3.13522, 0.11013, 0.06795, -0.03076},
    {0.50276, {0.04341, -0.50409, 0.21352, -0.07960}, 3.14166, 0.20454, 0.00087, -0.05061},
    {0.50402, {0.04092, -0.48682, 0.25365, -0.02372}, 3.14587, 0.25427, -0.08818, -0.06547},
    {0.50390, {0.04068, -0.47425, 0.25961, 0.01215}, 3.14967, 0.26994, -0.22977, -0.07094},
};
// Next to nothing, 0.001, 0.004 and 0.015; 0.06, 0.25, 1 and 10 times it.
constexpr TotalShape kRangeWithTotal12[] = {
    {0.50075, {-0.68365, 0.26897, -1.24883, 0.90738}, -4.71879, -0.09430, 0.88318, 0.94775},
    {0.49966, {-0.66138, 0.20289, -1.11498, 0.95532}, -3.85582, -0.10857, 0.74893, 0.94037},
    {0.49865, {-0.61866, 0.07174, -1.10656, 0.98984}, -2.90710, -0.09790, 0.58389, 0.93901},
    {0.49655, {-0.52081, -0.18924, -1.09407, 1.06884}, -1.49086, -0.02842, 0.28893, 0.72416},
    {0.49592, {-0.51744, -0.52750, -0.32728, 0.11974}, 1.06293, -0.01688, 0.03420, 0.55247},
    {0.49724, {-0.55043, -0.50788, -0.28905, 0.16627}, 1.09105, -0.16030, -0.08128, 0.57752},
    {0.49823, {-0.59647, -0.48825, -0.25144, 0.20711}, 1.11234, -0.34659, -0.21104, 0.62042},
    {0.49810, {-0.57404, -0.47472, -0.23040, 0.21832}, 1.11833, -0.47548, -0.37081, 0.59644},
};
constexpr TotalShape kRangeWithTotal13[] = {
    {0.50092, {-0.71486, 0.30822, -1.07940, 0.90739}, -5.46345, -0.09578, 0.92617, 0.78083},
    {0.50007, {-0.67608, 0.19826, -1.18242, 0.89046}, -4.02286, -0.13557, 0.77729, 1.00920},
    {0.49901, {-0.62712, 0.09821, -1.14502, 1.02602}, -3.11047, -0.11134, 0.61029, 0.95375},
    {0.49738, {-0.55246, -0.13767, -1.02128, 1.04314}, -1.81602, -0.05806, 0.32595, 0.76666},
    {0.49659, {-0.51552, -0.51921, -0.32367, 0.12446}, 1.06259, -0.01857, 0.03337, 0.55193},
    {0.49733, {-0.54906, -0.50341, -0.28838, 0.16700}, 1.09129, -0.16051, -0.08116, 0.57843},
    {0.49845, {-0.59383, -0.48539, -0.25153, 0.20704}, 1.11239, -0.34447, -0.21263, 0.62069},
    {0.49826, {-0.57361, -0.47428, -0.23071, 0.21819}, 1.11839, -0.47554, -0.37098, 0.59697},
};

const TotalShapes& TotalShapesOf(const Attribute& attribute) {
  static const TotalShapes prefix = {12, kPrefixWithTotal12, 16, kPrefixWithTotal16, 1};
  static const TotalShapes range = {12, kRangeWithTotal12, 13, kRangeWithTotal13, 3};
  return attribute.queries == QueryKind::kRange ? range : prefix;
}

double Between(double from, double to, double part) { return from + part * (to - from); }

TotalShape Between(const TotalShape& from, const TotalShape& to, double part) {
  TotalShape shape;
  shape.power = Between(from.power, to.power, part);
  for (int k = 0; k < 4; ++k) shape.rows[k] = Between(from.rows[k], to.rows[k], part);
  shape.log_odds = Between(from.log_odds, to.log_odds, part);
  shape.alpha = Between(from.alpha, to.alpha, part);
  shape.beta = Between(from.beta, to.beta, part);
  shape.reach = Between(from.reach, to.reach, part);
  return shape;
}

TotalShape TotalShapeFor(const Attribute& attribute, double trade_off) {
  const TotalShapes& shapes = TotalShapesOf(attribute);
  RESIDUA_CHECK(trade_off >= 0 && trade_off <= MostConvolutionTradeOff(attribute));
  const double log_size = PortableLog(static_cast<double>(attribute.size)) / PortableLog(2);
  const double part =
      std::max((log_size - shapes.log_first) / (shapes.log_last - shapes.log_first), kLeastPart);
  const auto at = [&](int level) {
    const auto place = static_cast<size_t>(level);
    return Between(shapes.first[place], shapes.last[place], part);
  };
  const auto below = static_cast<int>(trade_off);
  const double beyond = trade_off - below;
  if (beyond == 0) return at(below);
  return Between(at(below), at(below + 1),
                 below == shapes.last_apart ? std::round(beyond) : beyond);
}

int64_t Weight(double value) {
  return std::clamp<int64_t>(std::llround(value), 1, kMostConvolutionWeight);
}

// The coefficients of (1 - x)^-`power` over (1 - k / num_cells)^`reach`. The sums of the first k
// are rounded, not the numbers themselves: errors that add up would be seen in long sums.
std::vector<int64_t> RoundKernel(double power, double reach, double scale, int64_t num_cells) {
  std::vector<int64_t> kernel;
  double term = scale;
  double sum = 0;
  int64_t so_far = 0;
  for (int64_t k = 0; k + 1 < num_cells; ++k) {
    const auto at = static_cast<double>(k);
    if (k > 0) term *= (at - 1 + power) / at;
    const double left = 1 - at / static_cast<double>(num_cells);
    sum += reach == 0 ? term : term * PortablePow(left, -reach);
    const int64_t rounded = std::llround(sum);
    kernel.push_back(rounded - so_far);
    so_far = rounded;
  }
  return kernel;
}

// A matrix with the kernel and the row weights alone.
ConvolutionMatrix FitRows(const Attribute& attribute, double power, double reach,
                          const double* numbers, const ConvolutionScales& scales) {
  RESIDUA_CHECK(attribute.size >= 2);
  const int64_t num_rows = attribute.size - 1;
  ConvolutionMatrix matrix;
  matrix.kernel = RoundKernel(power, reach, scales.kernel, attribute.size);
  const auto log_weight = [&](double t) {
    return numbers[0] * PortableLog(t) + numbers[1] * PortableLog(1 - t) + numbers[2] * t +
           numbers[3] * t * t;
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
  const Shape shape = ShapeFor(attribute, goal);
  ConvolutionMatrix matrix = FitRows(attribute, shape.numbers[0], 0, shape.numbers + 1, scales);
  const std::vector<UInt128> columns = SquaredColumns(matrix);
  const double median = MedianOf(columns);
  for (size_t j = 0; j < columns.size(); ++j) {
    const double norm = std::sqrt(median / static_cast<double>(columns[j]));
    matrix.column_weights[j] = Weight(std::floor(scales.columns * norm));
  }
  return matrix;
}

ConvolutionMatrix FitConvolution(const Attribute& attribute, StrategyGoal goal) {
  return FitConvolution(attribute, goal, ScalesFor(attribute));
}

double MostConvolutionTradeOff(const Attribute& attribute) {
  return static_cast<double>(TotalShapesOf(attribute).first.size() - 1);
}

ConvolutionScales ScalesFor(const Attribute& attribute) {
  ConvolutionScales scales;
  scales.kernel = kLeastKernel;
  for (int64_t cells = kCellsOfLeastKernel; cells < attribute.size; cells *= 4) scales.kernel *= 2;
  return scales;
}

ConvolutionMatrix FitConvolutionWithTotal(const Attribute& attribute, double trade_off) {
  return FitConvolutionWithTotal(attribute, trade_off, ScalesFor(attribute));
}

ConvolutionMatrix FitConvolutionWithTotal(const Attribute& attribute, double trade_off,
                                          const ConvolutionScales& scales) {
  const TotalShape shape = TotalShapeFor(attribute, trade_off);
  ConvolutionMatrix matrix = FitRows(attribute, shape.power, shape.reach, shape.rows, scales);
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
