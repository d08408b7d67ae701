#include "residua/select/bound/symmetric_blocks.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "residua/base/error.h"
#include "residua/base/portable_math.h"
#include "residua/basis/dense_products.h"
#include "residua/basis/symmetric_eigen.h"
#include "residua/model/closure.h"

namespace residua {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Pairs of a set at rest and one that holds it.
constexpr size_t kMaxPatterns = 1'000'000;
// Of the error of a symmetric eigenvalue, relative to the trace, times the matrix's order.
constexpr double kErrorFactor = 16;

// A Young diagram of `num_boxes` boxes, of which `second` and `third` are in those rows.
struct Diagram {
  int num_boxes = 0;
  int second = 0;
  int third = 0;

  int below() const { return second + third; }
  int first() const { return num_boxes - below(); }
};

// Diagrams with `below` boxes below the first row, of at most `num_rows` rows.
std::vector<Diagram> DiagramsBelow(int num_boxes, int below, int num_rows) {
  std::vector<Diagram> diagrams;
  for (int third = 0; third <= (num_rows == 3 ? below / 2 : 0); ++third) {
    if (num_boxes - below >= below - third) diagrams.push_back({num_boxes, below - third, third});
  }
  return diagrams;
}

// Standard tableaux, by the hook length formula: the multiplicity of the representation.
double NumTableaux(const Diagram& diagram) {
  const int l1 = diagram.first();
  const int l2 = diagram.second;
  const int l3 = diagram.third;
  double number = 1;
  for (int k = l1 + 1; k <= diagram.num_boxes; ++k) number *= k;
  for (int k = 2; k <= l2; ++k) number /= k;
  for (int k = 2; k <= l3; ++k) number /= k;
  return number * (l1 - l2 + 1.0) / (l1 + 1.0) * (l1 - l3 + 2.0) / (l1 + 2.0) * (l2 - l3 + 1.0) /
         (l2 + 1.0);
}

// A Gelfand-Tsetlin pattern below the diagram's rows: (a, b), then c. Its weight is
// (c, a + b - c, num_boxes - a - b): how often each index occurs.
struct GelfandPattern {
  int a = 0;
  int b = 0;
  int c = 0;
  bool operator<(const GelfandPattern& other) const {
    return std::tie(other.c, other.a, other.b) < std::tie(c, a, b);
  }
};

// Basis vectors by the number of indices that are not the first, from `below` to `most`.
std::vector<GelfandPattern> BasisOf(const Diagram& diagram, int num_rows, int most) {
  std::vector<GelfandPattern> basis;
  const int l1 = diagram.first();
  for (int a = num_rows == 3 ? diagram.second : l1; a <= l1; ++a) {
    for (int b = num_rows == 3 ? diagram.third : diagram.second; b <= diagram.second; ++b) {
      for (int c = std::max(b, diagram.num_boxes - most); c <= a; ++c) basis.push_back({a, b, c});
    }
  }
  std::sort(basis.begin(), basis.end());
  return basis;
}

// The number of basis vectors with `taken` indices that are not the first.
int NumStates(const Diagram& diagram, int num_rows, int taken) {
  if (taken < diagram.below() || taken > diagram.num_boxes) return 0;
  const int c = diagram.num_boxes - taken;
  if (num_rows == 2) return c >= diagram.second ? 1 : 0;
  const int num_a = diagram.first() - std::max(diagram.second, c) + 1;
  const int num_b = std::min(diagram.second, c) - diagram.third + 1;
  return std::max(num_a, 0) * std::max(num_b, 0);
}

struct Representation {
  double multiplicity = 1;
  int below = 0;
  std::vector<int> begin;  // of the basis vectors with below, below + 1, ... indices not the first
  MatrixXd matrix;         // of B / corner
};

// E_21 lowers c: the entry of exp(link E_21) from `from` to `to`.
double LinkEntry(const GelfandPattern& from, const GelfandPattern& to, double link) {
  if (from.a != to.a || from.b != to.b || to.c > from.c) return 0;
  double entry = 1;
  for (int k = 0; k < from.c - to.c; ++k) {
    const double product =
        static_cast<double>(from.a - from.c + 1 + k) * static_cast<double>(from.c - k - from.b);
    entry *= link * std::sqrt(product) / (k + 1);
  }
  return entry;
}

// E_32 lowers a or b: its entry from `from` to `to`.
double TwistEntry(const Diagram& diagram, const GelfandPattern& from, const GelfandPattern& to) {
  if (from.c != to.c) return 0;
  const double l1 = diagram.first();
  const double l2 = diagram.second;
  const double l3 = diagram.third;
  const double a = to.a;
  const double b = to.b;
  const double c = to.c;
  if (from.a == to.a + 1 && from.b == to.b) {
    return std::sqrt((l1 - a) * (a + 1 - l2) * (a + 2 - l3) * (a + 1 - c) /
                     ((a + 1 - b) * (a + 2 - b)));
  }
  if (from.a == to.a && from.b == to.b + 1) {
    return std::sqrt((l1 - b + 1) * (l2 - b) * (b + 1 - l3) * (c - b) / ((a - b + 1) * (a - b)));
  }
  return 0;
}

Representation Represent(const Diagram& diagram, int num_rows, int most,
                         const AttributeSplit& split) {
  const std::vector<GelfandPattern> basis = BasisOf(diagram, num_rows, most);
  const auto size = static_cast<Index>(basis.size());
  Representation representation;
  representation.multiplicity = NumTableaux(diagram);
  representation.below = diagram.below();
  MatrixXd linked(size, size);
  MatrixXd twist(size, size);
  VectorXd scale(size);
  for (Index r = 0; r < size; ++r) {
    const GelfandPattern& to = basis[static_cast<size_t>(r)];
    const int taken = diagram.num_boxes - to.c;
    while (static_cast<int>(representation.begin.size()) <= taken - diagram.below()) {
      representation.begin.push_back(static_cast<int>(r));
    }
    scale(r) = PortablePow(split.second, to.a + to.b - to.c) *
               PortablePow(split.third, diagram.num_boxes - to.a - to.b);
    for (Index s = 0; s < size; ++s) {
      const GelfandPattern& from = basis[static_cast<size_t>(s)];
      linked(r, s) = LinkEntry(from, to, split.link);
      twist(r, s) = num_rows == 3 ? TwistEntry(diagram, from, to) : 0;
    }
  }
  representation.begin.push_back(static_cast<int>(size));
  // exp(twist E_32) exp(link E_21): the first series ends, E_32 being nilpotent.
  MatrixXd term = linked;
  MatrixXd sum = linked;
  for (int k = 1; num_rows == 3 && k <= most && split.twist > 0; ++k) {
    term = (split.twist / k) * Product(twist, term);
    sum += term;
  }
  representation.matrix = scale.asDiagonal() * sum;
  return representation;
}

// A block in the making: which rows and columns it has.
struct BlockRows {
  std::vector<int> states;      // one for each active class, row by row
  std::vector<size_t> pattern;  // of each row
};

}  // namespace

int SymmetricBlocks::NumFree(const Rest& rest, size_t active) const {
  const int c = active_[active];
  const auto orbit = (*closure_)[rest.orbit];
  return static_cast<int>(classes_->members[static_cast<size_t>(c)].size()) -
         static_cast<int>(std::count(orbit.begin(), orbit.end(), c));
}

// Calls visit(diagrams, pattern) for every choice of a diagram for each active class, `pattern` the
// set of fewest active attributes that its block holds.
template <typename Visit>
void SymmetricBlocks::ForEachBlock(const Rest& rest, const Visit& visit) const {
  const size_t width = active_.size();
  std::vector<std::vector<Diagram>> choices(width);
  std::vector<Diagram> chosen(width);
  for (size_t k = 0; k < rest.patterns.size(); ++k) {
    bool any = true;
    for (size_t i = 0; i < width && any; ++i) {
      choices[i] = DiagramsBelow(NumFree(rest, i), rest.counts[k * width + i],
                                 num_active_[static_cast<size_t>(active_[i])]);
      any = !choices[i].empty();
    }
    if (!any) continue;
    std::vector<size_t> choice(width, 0);
    for (;;) {
      for (size_t i = 0; i < width; ++i) chosen[i] = choices[i][choice[i]];
      visit(chosen, k);
      size_t i = 0;
      while (i < width && choice[i] + 1 == choices[i].size()) choice[i++] = 0;
      if (i == width) break;
      ++choice[i];
    }
  }
}

SymmetricBlocks::SymmetricBlocks(const AttributeClasses& classes, const MultisetTable& closure,
                                 std::vector<int> num_active, double most_work)
    : classes_(&classes),
      closure_(&closure),
      num_active_(std::move(num_active)),
      most_work_(most_work) {
  std::vector<int> place(num_active_.size(), -1);
  for (int c = 0; c < classes.size(); ++c) {
    if (num_active_[static_cast<size_t>(c)] == 1) continue;
    place[static_cast<size_t>(c)] = static_cast<int>(active_.size());
    active_.push_back(c);
  }
  const size_t width = active_.size();
  // The block with nobody at rest and all diagrams of one row: never the smallest by far.
  double first_block = 0;
  for (int64_t orbit = 0; orbit < closure.size() && width > 0; ++orbit) {
    double states = 1;
    for (const ClassRun& run : ClassRuns(closure[orbit])) {
      const int m = num_active_[static_cast<size_t>(run.attribute_class)];
      states *= m == 1 ? 0 : m == 2 ? 1 : run.count + 1;
    }
    first_block += states;
  }
  work_ = first_block * first_block * first_block;
  if (too_much()) return;
  work_ = 0;
  most_taken_.assign(width, 0);
  rests_.resize(static_cast<size_t>(closure.size()));
  size_t num_patterns = 0;
  for (int64_t orbit = 0; orbit < closure.size(); ++orbit) {
    std::vector<ClassRun> runs;  // of active classes
    std::vector<int> others;
    for (const ClassRun& run : ClassRuns(closure[orbit])) {
      const int at = place[static_cast<size_t>(run.attribute_class)];
      if (at < 0) {
        others.insert(others.end(), static_cast<size_t>(run.count), run.attribute_class);
        continue;
      }
      runs.push_back(run);
      int& most = most_taken_[static_cast<size_t>(at)];
      most = std::max(most, run.count);
    }
    ForEachSubOrbit(runs, [&](std::span<const int> sub, std::span<const int> taken) {
      if (++num_patterns > kMaxPatterns) return;
      std::vector<int> at_rest(sub.begin(), sub.end());
      at_rest.insert(at_rest.end(), others.begin(), others.end());
      std::sort(at_rest.begin(), at_rest.end());
      const auto index = closure.Find(at_rest);
      RESIDUA_CHECK(index.has_value());
      Rest& rest = rests_[static_cast<size_t>(*index)];
      rest.patterns.push_back(orbit);
      const size_t offset = rest.counts.size();
      rest.counts.resize(offset + width, 0);
      for (size_t k = 0; k < runs.size(); ++k) {
        rest.counts[offset +
                    static_cast<size_t>(place[static_cast<size_t>(runs[k].attribute_class)])] =
            runs[k].count - taken[k];
      }
    });
    if (num_patterns > kMaxPatterns) {
      work_ = std::numeric_limits<double>::infinity();
      return;
    }
  }
  for (size_t h = 0; h < rests_.size(); ++h) {
    Rest& rest = rests_[h];
    rest.orbit = static_cast<int64_t>(h);
    rest.num_sets = OrbitSize(classes, closure[rest.orbit]).get_d();
    if (rest.patterns.size() <= 1) continue;
    ForEachBlock(rest, [&](const std::vector<Diagram>& diagrams, size_t) {
      double size = 0;
      for (size_t k = 0; k < rest.patterns.size(); ++k) {
        double states = 1;
        for (size_t i = 0; i < width && states > 0; ++i) {
          states *= NumStates(diagrams[i], num_active_[static_cast<size_t>(active_[i])],
                              rest.counts[k * width + i]);
        }
        size += states;
      }
      work_ += size * size * size;
    });
    if (too_much()) return;
  }
}

double SymmetricBlocks::Evaluate(const std::vector<AttributeSplit>& split_of_class,
                                 std::span<const double> demand,
                                 std::vector<double>* gradient) const {
  RESIDUA_CHECK(!too_much());
  const size_t width = active_.size();
  if (gradient != nullptr) gradient->assign(demand.size(), 0.0);
  double all_absent = 1;
  for (size_t c = 0; c < split_of_class.size(); ++c) {
    all_absent *=
        PortablePow(split_of_class[c].corner, static_cast<double>(classes_->members[c].size()));
  }
  std::map<std::tuple<size_t, int, int, int>, Representation> known;
  const auto represent = [&](size_t i, const Diagram& diagram) -> const Representation* {
    const auto key = std::make_tuple(i, diagram.num_boxes, diagram.second, diagram.third);
    auto place = known.find(key);
    if (place == known.end()) {
      const auto c = static_cast<size_t>(active_[i]);
      place = known
                  .emplace(key, Represent(diagram, num_active_[c],
                                          std::min(most_taken_[i], diagram.num_boxes),
                                          split_of_class[c]))
                  .first;
    }
    return &place->second;
  };

  double sum = 0;
  for (const Rest& rest : rests_) {
    double factor = rest.num_sets * all_absent;
    for (const int c : (*closure_)[rest.orbit]) {
      const AttributeSplit& split = split_of_class[static_cast<size_t>(c)];
      factor *= split.rest / split.corner;
    }
    if (!(factor > 0)) continue;
    if (rest.patterns.size() == 1) {
      const auto k = static_cast<size_t>(rest.orbit);
      const double root = std::sqrt(demand[k]);
      sum += factor * root;
      if (gradient != nullptr && root > 0) (*gradient)[k] += factor / (2 * root);
      continue;
    }
    ForEachBlock(rest, [&](const std::vector<Diagram>& diagrams, size_t least) {
      std::vector<const Representation*> of(width);
      double multiplicity = factor;
      for (size_t i = 0; i < width; ++i) {
        of[i] = represent(i, diagrams[i]);
        multiplicity *= of[i]->multiplicity;
      }
      BlockRows rows;
      std::vector<int> state(width);
      for (size_t k = 0; k < rest.patterns.size(); ++k) {
        std::vector<int> first(width);
        std::vector<int> last(width);
        bool fits = true;
        for (size_t i = 0; i < width && fits; ++i) {
          const int level = rest.counts[k * width + i] - of[i]->below;
          fits = level >= 0 && level + 1 < static_cast<int>(of[i]->begin.size());
          if (!fits) break;
          first[i] = of[i]->begin[static_cast<size_t>(level)];
          last[i] = of[i]->begin[static_cast<size_t>(level) + 1];
          fits = first[i] < last[i];
        }
        if (!fits) continue;
        state = first;
        for (;;) {
          rows.states.insert(rows.states.end(), state.begin(), state.end());
          rows.pattern.push_back(k);
          size_t i = 0;
          while (i < width && state[i] + 1 == last[i]) {
            state[i] = first[i];
            ++i;
          }
          if (i == width) break;
          ++state[i];
        }
      }
      RESIDUA_CHECK(!rows.pattern.empty() && least < rest.patterns.size());
      const auto size = static_cast<Index>(rows.pattern.size());
      MatrixXd block(size, size);
      for (Index r = 0; r < size; ++r) {
        const size_t k = rows.pattern[static_cast<size_t>(r)];
        const double root = std::sqrt(demand[static_cast<size_t>(rest.patterns[k])]);
        const int* to = &rows.states[static_cast<size_t>(r) * width];
        for (Index s = 0; s < size; ++s) {
          const int* from = &rows.states[static_cast<size_t>(s) * width];
          double entry = root;
          for (size_t i = 0; i < width && entry > 0; ++i) entry *= of[i]->matrix(to[i], from[i]);
          block(r, s) = entry;
        }
      }
      const MatrixXd gram = ProductTransposed(block, block);
      SymmetricEigen eigen;
      if (gradient == nullptr) {
        eigen.values = EigenvaluesOf(gram);
      } else {
        eigen = EigenOf(gram);
      }
      const double error = kErrorFactor * static_cast<double>(size) *
                           std::numeric_limits<double>::epsilon() * gram.trace();
      const VectorXd roots = (eigen.values.array() - error).max(0).sqrt();
      sum += multiplicity * roots.sum();
      if (gradient == nullptr) return;
      const VectorXd shares = Product(eigen.vectors.cwiseAbs2(), roots);
      for (Index r = 0; r < size; ++r) {
        const auto k = static_cast<size_t>(rest.patterns[rows.pattern[static_cast<size_t>(r)]]);
        if (demand[k] > 0) (*gradient)[k] += multiplicity * shares(r) / (2 * demand[k]);
      }
    });
  }
  return sum;
}

}  // namespace residua
