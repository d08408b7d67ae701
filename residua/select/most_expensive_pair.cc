#include "residua/select/most_expensive_pair.h"

#include <algorithm>
#include <cmath>

#include "residua/base/error.h"

namespace residua {
namespace {

// Kinds of pairs of cells that are looked at one by one: how many attributes of each class differ.
constexpr int64_t kMaxPairKinds = int64_t{1} << 20;

// What one set may cost for pairs to be priced in doubles. Below, sums of products of it could
// round to zero; above, to an infinity. Budgets lie between 1e-100 and 1e100.
constexpr double kLeastCost = 1e-200;
constexpr double kLargestCost = 1e200;

// A pair costs as much as any other that differs in as many attributes of each class, k_c of m_c:
// with w_A the cost of adding or removing a row, and r_i = -1 / (n_i - 1) the inner product of two
// different columns of H = n I - 1 1^T over their squared length, it costs
//   2 sum over A of w_A (1 - prod over i in A that differ of r_i) = 2 (T(0) - T(k)),
//   T(k) = sum over orbits a of w_a prod over classes c of K_c[k_c, a_c],
// K_c[k, a] the coefficient of x^a in (1 + r x)^k (1 + x)^(m - k): one transform along each class's
// axis of the tensor of the w_a.
class PairKinds {
 public:
  explicit PairKinds(const MechanismOrbits& mechanisms) : mechanisms_(mechanisms) {
    for (const auto& members : mechanisms.classes.members) {
      const auto size = static_cast<int64_t>(members.size()) + 1;
      if (num_kinds_ > kMaxPairKinds / size) {
        num_kinds_ = -1;
        return;
      }
      num_kinds_ *= size;
      sizes_.push_back(size);
    }
    if (!HaveIdentityQueries(mechanisms)) num_kinds_ = -1;
  }

  bool are_priced() const { return num_kinds_ > 0; }

  MostExpensivePair FindMostExpensive(std::span<const double> noise_variance) const {
    std::vector<std::vector<double>> kernels;
    for (size_t c = 0; c < sizes_.size(); ++c) kernels.push_back(Kernel(c));
    std::vector<double> tensor(static_cast<size_t>(num_kinds_), 0.0);
    for (int64_t k = 0; k < mechanisms_.orbits.size(); ++k) {
      if (mechanisms_.orbits[k].empty()) continue;  // the total: all pairs agree
      const double cost = CostOfOne(k) / noise_variance[static_cast<size_t>(k)];
      if (!(cost >= kLeastCost) || !(cost <= kLargestCost)) FailOutOfRange();
      tensor[static_cast<size_t>(PlaceOf(CountsOf(k)))] = cost;
    }
    Transform(kernels, tensor);
    // Not min_element: a cost that is no number must not pass for the least.
    size_t least = 0;
    for (size_t place = 0; place < tensor.size(); ++place) {
      if (!(tensor[place] >= tensor[least])) least = place;
    }
    MostExpensivePair pair;
    pair.cost = 2 * (tensor[0] - tensor[least]);
    if (!std::isfinite(pair.cost) || !(pair.cost >= 0)) FailOutOfRange();
    const std::vector<int64_t> differing = KindAt(static_cast<int64_t>(least));
    for (int64_t k = 0; k < mechanisms_.orbits.size(); ++k) {
      pair.cost_of_orbit.push_back(
          2 * CostOfOne(k) *
          (SumOver(kernels, CountsOf(k), {}) - SumOver(kernels, CountsOf(k), differing)));
    }
    return pair;
  }

 private:
  [[noreturn]] static void FailOutOfRange() {
    Fail(ErrorKind::kTooLarge,
         "a noise variance is too small or too large to price replaced rows with; choose a budget "
         "nearer to 1, and plan again");
  }

  // How many attributes of each class the orbit's sets have.
  std::vector<int64_t> CountsOf(int64_t orbit) const {
    std::vector<int64_t> counts(sizes_.size(), 0);
    for (const int c : mechanisms_.orbits[orbit]) ++counts[static_cast<size_t>(c)];
    return counts;
  }

  int64_t PlaceOf(const std::vector<int64_t>& counts) const {
    int64_t place = 0;
    for (size_t c = 0; c < sizes_.size(); ++c) place = place * sizes_[c] + counts[c];
    return place;
  }

  std::vector<int64_t> KindAt(int64_t place) const {
    std::vector<int64_t> counts(sizes_.size());
    for (size_t c = sizes_.size(); c-- > 0;) {
      counts[c] = place % sizes_[c];
      place /= sizes_[c];
    }
    return counts;
  }

  // Of one set of the orbit, at noise variance 1, for a row added or removed.
  double CostOfOne(int64_t orbit) const {
    double cost = 1;
    for (const int c : mechanisms_.orbits[orbit]) {
      const ResidualBasis& basis = mechanisms_.basis_of_class[static_cast<size_t>(c)];
      cost *= basis.squared_sensitivity.get_d() / basis.variance_factor.get_d();
    }
    return cost;
  }

  // Row k: the coefficients, each polynomial by multiplying with its factors one after another.
  std::vector<double> Kernel(size_t c) const {
    const int64_t size = sizes_[c];
    const double r = -1 / static_cast<double>(mechanisms_.basis_of_class[c].size - 1);
    std::vector<double> kernel(static_cast<size_t>(size * size), 0.0);
    for (int64_t k = 0; k < size; ++k) {
      double* row = kernel.data() + k * size;
      row[0] = 1;
      for (int64_t factor = 0; factor + 1 < size; ++factor) {
        for (int64_t a = size - 1; a > 0; --a) row[a] += (factor < k ? r : 1) * row[a - 1];
      }
    }
    return kernel;
  }

  // sum over the sets of an orbit of the product of their r_i; with nothing differing, their
  // number.
  double SumOver(const std::vector<std::vector<double>>& kernels,
                 const std::vector<int64_t>& counts, const std::vector<int64_t>& differing) const {
    double sum = 1;
    for (size_t c = 0; c < sizes_.size(); ++c) {
      const int64_t k = differing.empty() ? 0 : differing[c];
      sum *= kernels[c][static_cast<size_t>(k * sizes_[c] + counts[c])];
    }
    return sum;
  }

  void Transform(const std::vector<std::vector<double>>& kernels,
                 std::vector<double>& tensor) const {
    int64_t inner = num_kinds_;
    std::vector<double> fibre;
    for (size_t c = 0; c < sizes_.size(); ++c) {
      const int64_t size = sizes_[c];
      inner /= size;
      fibre.resize(static_cast<size_t>(size));
      for (int64_t start = 0; start < num_kinds_; start += size * inner) {
        for (int64_t column = 0; column < inner; ++column) {
          double* values = tensor.data() + start + column;
          for (int64_t k = 0; k < size; ++k) fibre[static_cast<size_t>(k)] = values[k * inner];
          const double* entry = kernels[c].data();
          for (int64_t k = 0; k < size; ++k) {
            double sum = 0;
            for (int64_t a = 0; a < size; ++a) sum += *entry++ * fibre[static_cast<size_t>(a)];
            values[k * inner] = sum;
          }
        }
      }
    }
  }

  const MechanismOrbits& mechanisms_;
  std::vector<int64_t> sizes_;  // one more than the members of each class
  int64_t num_kinds_ = 1;       // -1: not priced by pairs
};

}  // namespace

bool HaveIdentityQueries(const MechanismOrbits& mechanisms) {
  for (int64_t k = 0; k < mechanisms.orbits.size(); ++k) {
    for (const int c : mechanisms.orbits[k]) {
      if (!mechanisms.basis_of_class[static_cast<size_t>(c)].is_identity()) return false;
    }
  }
  return true;
}

std::optional<MostExpensivePair> FindMostExpensivePair(const MechanismOrbits& mechanisms,
                                                       std::span<const double> noise_variance) {
  const PairKinds kinds(mechanisms);
  if (!kinds.are_priced()) return std::nullopt;
  return kinds.FindMostExpensive(noise_variance);
}

}  // namespace residua
