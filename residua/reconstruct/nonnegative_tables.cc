#include "residua/reconstruct/nonnegative_tables.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/base/threads.h"
#include "residua/basis/convolution/convolution_matrix.h"
#include "residua/basis/tree_matrix.h"
#include "residua/reconstruct/axis_sweeps.h"
#include "residua/reconstruct/joint_covariance.h"
#include "residua/reconstruct/table_batches.h"
#include "residua/reconstruct/table_reconstruction.h"

namespace residua {
namespace {

// The gap is computed every this many steps, because it costs about half a step.
constexpr int kStepsBetweenChecks = 10;

// Where not all are identity attributes: steps of the power method for the step length, and how far
// below the norm it may stay.
constexpr int kPowerSteps = 40;
constexpr double kPowerMargin = 1.05;

// Vectors of all cells that the iteration holds, not counting the margins.
constexpr int64_t kNumVectors = 5;

// Those that are not part of another, each once, in the order they were given in.
std::vector<AttributeSet> MaximalOf(std::span<const AttributeSet> tables) {
  MultisetTable parts;
  AttributeSet part;
  for (const AttributeSet& table : tables) {
    const size_t all = (size_t{1} << table.size()) - 1;
    for (size_t mask = 0; mask < all; ++mask) {
      part.clear();
      for (size_t k = 0; k < table.size(); ++k) {
        if ((mask >> k & 1) != 0) part.push_back(table[k]);
      }
      parts.Insert(part);
    }
  }
  std::vector<AttributeSet> maximal;
  MultisetTable seen;
  for (const AttributeSet& table : tables) {
    if (parts.Find(table) || seen.Find(table)) continue;
    seen.Insert(table);
    maximal.push_back(table);
  }
  return maximal;
}

// The kron of the attributes' `proportions`, times `total`.
std::vector<double> ProductTable(const std::vector<std::vector<double>>& proportions,
                                 const AttributeSet& table, double total) {
  std::vector<double> counts = {total};
  for (const int i : table) {
    const std::vector<double>& shares = proportions[static_cast<size_t>(i)];
    std::vector<double> next;
    next.reserve(counts.size() * shares.size());
    for (const double count : counts) {
      for (const double share : shares) next.push_back(count * share);
    }
    counts = std::move(next);
  }
  return counts;
}

// ||R_A counts||^2 in the noise's own units, counts those of a table on A.
double SquaredResidual(const ResidualIndex& index, const AttributeSet& table,
                       std::vector<double> counts) {
  int64_t outer = 1;
  for (size_t k = 0; k < table.size(); ++k) {
    const ResidualBasis& basis = index.basis(table[k]);
    AxisView view{outer, basis.size, static_cast<int64_t>(counts.size()) / outer / basis.size};
    if (basis.is_identity()) {
      std::vector<double> sums(static_cast<size_t>(view.outer * view.inner));
      SumAlongAxis(view, counts.data(), sums.data());
      AddAlongAxis(view, sums.data(), -1 / static_cast<double>(view.size), counts.data());
      outer *= view.size;
      continue;
    }
    const auto* tree = std::get_if<TreeMatrix>(&basis.matrix);
    const auto* convolution = std::get_if<ConvolutionMatrix>(&basis.matrix);
    if (tree != nullptr || convolution != nullptr) {
      const int64_t num_rows = NumResidualRows(basis);
      std::vector<double> next(static_cast<size_t>(view.outer * num_rows * view.inner));
      if (tree != nullptr) {
        ApplyTree(*tree, view, counts.data(), next.data());
      } else {
        ApplyConvolution(*convolution, view, counts.data(), next.data());
      }
      counts = std::move(next);
      outer *= num_rows;
      continue;
    }
    const auto& matrix = std::get<IntegerMatrix>(basis.matrix);
    std::vector<double> next(static_cast<size_t>(view.outer * matrix.num_rows * view.inner), 0.0);
    for (int64_t o = 0; o < view.outer; ++o) {
      for (int64_t row = 0; row < matrix.num_rows; ++row) {
        for (int64_t v = 0; v < view.size; ++v) {
          const auto entry = matrix.entries[static_cast<size_t>(row * matrix.num_columns + v)];
          AddScaled(counts.data() + (o * view.size + v) * view.inner, static_cast<double>(entry),
                    view.inner, next.data() + (o * matrix.num_rows + row) * view.inner);
        }
      }
    }
    counts = std::move(next);
    outer *= matrix.num_rows;
  }
  double squared = 0;
  for (const double count : counts) squared += count * count;
  return squared / index.Find(table)->variance;
}

// The dual method. In the dual variables u >= 0, one per cell,
//   minimise  1/2 u^T K u + u^T p,   gradient x(u) = p + K u,
// and x(u) has all the required properties except its sign; at the optimum it has that too.
class DualAscent {
 public:
  DualAscent(const ResidualIndex& index, std::span<const AttributeSet> tables, double total)
      : index_(index), tables_(tables), total_(total), covariance_(index, tables) {
    const auto num_cells = static_cast<size_t>(covariance_.num_cells());
    for (std::vector<double>* vector : {&p_, &u_, &u_before_, &ku_, &ku_before_}) {
      vector->assign(num_cells, 0.0);
    }
    ParallelFor(size_t{0}, tables.size(), [&](size_t t) {
      ReconstructionWorkspace workspace;
      ReconstructInto(index, tables[t], workspace, Cells(p_, t));
    });
    FindProportions();
    FindStepLengths();
  }

  struct Progress {
    double mixed_in = 0;
    double objective = 0;
    double gap = 0;
  };

  // The progress of the counts that Finish would give. These are the affine combination
  //   q = (1 - mixed_in) x(u) + mixed_in r,
  // r the product tables, and f is quadratic: f = 1/2 (q - p)^T K^+ (q - p) with x(u) - p = K u.
  Progress Check() const {
    struct Sums {
      double mixed_in = 0, uku = 0, up = 0, ur = 0;
    };
    std::vector<Sums> sums_of(tables_.size());
    ParallelFor(size_t{0}, tables_.size(), [&](size_t t) {
      const std::vector<double> product = ProductTable(proportions_, tables_[t], total_);
      Sums& sums = sums_of[t];
      for (size_t c = 0; c < product.size(); ++c) {
        const size_t at = Begin(t) + c;
        const double x = p_[at] + ku_[at];
        if (x < 0) sums.mixed_in = std::max(sums.mixed_in, x / (x - product[c]));
        sums.uku += u_[at] * ku_[at];
        sums.up += u_[at] * p_[at];
        sums.ur += u_[at] * product[c];
      }
    });
    Sums all;
    for (const Sums& sums : sums_of) {
      all.mixed_in = std::max(all.mixed_in, sums.mixed_in);
      all.uku += sums.uku;
      all.up += sums.up;
      all.ur += sums.ur;
    }
    const double mixed_in = all.mixed_in;
    const double kept = 1 - mixed_in;
    const double objective =
        0.5 * (kept * kept * all.uku + 2 * kept * mixed_in * (all.ur - all.up) +
               mixed_in * mixed_in * product_distance_);
    return {mixed_in, objective, objective + 0.5 * all.uku + all.up};
  }

  void Step() {
    std::vector<double> moved_uphill(tables_.size());
    ParallelFor(size_t{0}, tables_.size(), [&](size_t t) {
      const double length = step_lengths_[t];
      double uphill = 0;
      for (size_t at = Begin(t); at < Begin(t + 1); ++at) {
        const double ahead = u_[at] + momentum_ * (u_[at] - u_before_[at]);
        const double x = p_[at] + ku_[at] + momentum_ * (ku_[at] - ku_before_[at]);
        const double next = std::max(0.0, ahead - length * x);
        uphill += x * (next - u_[at]);
        u_before_[at] = next;
      }
      moved_uphill[t] = uphill;
    });
    covariance_.Apply(u_before_, ku_before_);
    std::swap(u_, u_before_);
    std::swap(ku_, ku_before_);
    double uphill = 0;
    for (const double part : moved_uphill) uphill += part;
    if (uphill <= 0) {
      const double next = (1 + std::sqrt(1 + 4 * pace_ * pace_)) / 2;
      momentum_ = (pace_ - 1) / next;
      pace_ = next;
    } else {
      momentum_ = 0;
      pace_ = 1;
    }
  }

  // q, in place of p.
  std::vector<double> Finish(double mixed_in) && {
    ParallelFor(size_t{0}, tables_.size(), [&](size_t t) {
      const std::vector<double> product = ProductTable(proportions_, tables_[t], total_);
      for (size_t c = 0; c < product.size(); ++c) {
        const size_t at = Begin(t) + c;
        const double x = p_[at] + ku_[at];
        // Values are below 0 here by rounding alone.
        p_[at] = std::max(0.0, mixed_in == 0 ? x : x + mixed_in * (product[c] - x));
      }
    });
    return std::move(p_);
  }

 private:
  size_t Begin(size_t t) const { return static_cast<size_t>(covariance_.begin(t)); }
  std::span<double> Cells(std::vector<double>& vector, size_t t) const {
    return {vector.data() + Begin(t), Begin(t + 1) - Begin(t)};
  }

  // For each attribute, half its one-way table without the negative counts, and half uniform: no
  // proportion is below 1 / 2n.
  void FindProportions() {
    proportions_.resize(static_cast<size_t>(index_.domain().size()));
    for (const AttributeSet& table : tables_) {
      for (const int i : table) {
        std::vector<double>& shares = proportions_[static_cast<size_t>(i)];
        if (!shares.empty()) continue;
        shares = Reconstruct(index_, {i});
        double sum = 0;
        for (double& share : shares) sum += share = std::max(0.0, share);
        for (double& share : shares) {
          share = 0.5 * share / sum + 0.5 / static_cast<double>(shares.size());
        }
      }
    }
    // f of the product tables: set by set, each once.
    MultisetTable sets;
    for (const AttributeSet& table : tables_) {
      ForEachSubset(table, [&](size_t, std::span<const int> part) {
        if (!part.empty()) sets.Insert(part);
      });
    }
    std::vector<double> distance(static_cast<size_t>(sets.size()));
    ParallelFor(int64_t{0}, sets.size(), [&](int64_t id) {
      const AttributeSet set(sets[id].begin(), sets[id].end());
      std::vector<double> difference = ProductTable(proportions_, set, total_);
      std::vector<double> counts(difference.size());
      ReconstructionWorkspace workspace;
      ReconstructInto(index_, set, workspace, counts);
      for (size_t c = 0; c < counts.size(); ++c) difference[c] -= counts[c];
      distance[static_cast<size_t>(id)] = SquaredResidual(index_, set, std::move(difference));
    });
    for (const double part_of_it : distance) product_distance_ += part_of_it;
  }

  // 1 / d_T, with K <= diag(d_T): proven for identity attributes, else by the power method.
  void FindStepLengths() {
    const std::vector<double> scales = covariance_.Scales();
    double norm = 1;
    const bool is_identity =
        std::all_of(tables_.begin(), tables_.end(), [&](const AttributeSet& table) {
          return std::all_of(table.begin(), table.end(),
                             [&](int i) { return index_.basis(i).is_identity(); });
        });
    if (!is_identity) {
      // Any vector that is not orthogonal to the leading one: these look like noise.
      uint64_t state = 1;
      for (double& value : u_) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        value = static_cast<double>(static_cast<int64_t>(state)) * 0x1p-63;
      }
      for (int step = 0; step < kPowerSteps; ++step) {
        covariance_.Apply(u_, ku_);
        double uku = 0, udu = 0, next = 0;
        for (size_t t = 0; t < tables_.size(); ++t) {
          for (size_t at = Begin(t); at < Begin(t + 1); ++at) {
            uku += u_[at] * ku_[at];
            udu += u_[at] * scales[t] * u_[at];
            u_[at] = ku_[at] / scales[t];
            next += u_[at] * ku_[at];
          }
        }
        norm = uku / udu;
        for (double& value : u_) value /= std::sqrt(next);
      }
      norm *= kPowerMargin;
      std::fill(u_.begin(), u_.end(), 0.0);
      std::fill(ku_.begin(), ku_.end(), 0.0);
    }
    for (const double scale : scales) step_lengths_.push_back(1 / (scale * norm));
  }

  const ResidualIndex& index_;
  std::span<const AttributeSet> tables_;
  double total_;
  JointCovariance covariance_;
  std::vector<std::vector<double>> proportions_;  // of each attribute, for the product tables
  double product_distance_ = 0;                   // twice f of them
  std::vector<double> step_lengths_;
  std::vector<double> p_, u_, u_before_, ku_, ku_before_;
  double momentum_ = 0;
  double pace_ = 1;
};

// A gap is negative by rounding alone.
double DeviationOf(double gap) { return std::sqrt(std::max(0.0, 2 * gap)); }

void CheckOptions(const NonnegativeOptions& options) {
  if (!(options.max_deviation > 0) || options.max_iterations < 0 ||
      options.memory_budget_bytes < 0 || options.num_threads < 0) {
    Fail(ErrorKind::kBadInput,
         "a deviation of {}, {} iterations, {} bytes, {} threads; the deviation must be positive "
         "and none negative",
         options.max_deviation, options.max_iterations, options.memory_budget_bytes,
         options.num_threads);
  }
}

}  // namespace

NonnegativeTables ReconstructNonnegative(const ResidualIndex& index,
                                         std::span<const AttributeSet> tables,
                                         const NonnegativeOptions& options) {
  CheckOptions(options);
  NonnegativeTables result;
  result.tables = MaximalOf(tables);
  result.begin = {0};
  std::vector<const ResidualIndex::Entry*> entries;
  for (const AttributeSet& table : result.tables) {
    index.FindSubsets(table, &entries);
    result.begin.push_back(CheckedAdd(result.begin.back(), index.NumCells(table)));
  }
  const int64_t num_bytes = CheckedAdd(
      CheckedMultiply(result.begin.back(), kNumVectors * static_cast<int64_t>(sizeof(double))),
      JointCovariance::NumBytes(index, result.tables));
  if (num_bytes > options.memory_budget_bytes) {
    Fail(ErrorKind::kTooLarge,
         "non-negative tables that agree are made all at once: {} tables of {} cells take {} MB, "
         "and {} MB may be used; ask for fewer or smaller tables",
         result.tables.size(), result.begin.back(), num_bytes >> 20,
         options.memory_budget_bytes >> 20);
  }
  if (result.tables.empty()) return result;
  result.total = std::max(0.0, Reconstruct(index, {}).front());
  if (result.total == 0 || result.tables.front().empty()) {
    result.counts.assign(static_cast<size_t>(result.begin.back()), result.total);
    return result;
  }
  Threads threads(options.num_threads);
  threads.Run([&] {
    DualAscent ascent(index, result.tables, result.total);
    DualAscent::Progress progress = ascent.Check();
    while (result.iterations < options.max_iterations &&
           !(DeviationOf(progress.gap) <= options.max_deviation)) {
      ascent.Step();
      ++result.iterations;
      if (result.iterations % kStepsBetweenChecks == 0 ||
          result.iterations == options.max_iterations) {
        progress = ascent.Check();
      }
    }
    result.mixed_in = progress.mixed_in;
    result.objective = progress.objective;
    result.max_deviation = DeviationOf(progress.gap);
    result.counts = std::move(ascent).Finish(progress.mixed_in);
  });
  return result;
}

std::vector<double> CountsOf(const NonnegativeTables& tables, const Domain& domain,
                             const AttributeSet& table) {
  const auto from =
      std::find_if(tables.tables.begin(), tables.tables.end(),
                   [&](const AttributeSet& larger) { return IsSubset(table, larger); });
  if (from == tables.tables.end()) {
    Fail(ErrorKind::kBadInput, "{} is part of none of the non-negative tables",
         SetName(domain, table));
  }
  if (table.empty()) return {tables.total};
  const auto t = static_cast<size_t>(from - tables.tables.begin());
  std::vector<double> counts(tables.counts.begin() + tables.begin[t],
                             tables.counts.begin() + tables.begin[t + 1]);
  int64_t inner = 1;
  for (size_t k = from->size(); k-- > 0;) {
    const int64_t size = domain[(*from)[k]].size;
    if (std::binary_search(table.begin(), table.end(), (*from)[k])) {
      inner *= size;
      continue;
    }
    const int64_t outer = static_cast<int64_t>(counts.size()) / size / inner;
    std::vector<double> sums(static_cast<size_t>(outer * inner));
    SumAlongAxis({outer, size, inner}, counts.data(), sums.data());
    counts = std::move(sums);
  }
  return counts;
}

}  // namespace residua
