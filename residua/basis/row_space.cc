#include "residua/basis/row_space.h"

#include <algorithm>
#include <span>

#include "residua/base/error.h"
#include "residua/base/int128.h"
#include "residua/base/rational.h"

namespace residua {
namespace {

constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

uint64_t Times(uint64_t a, uint64_t b) {
  const UInt128 product = static_cast<UInt128>(a) * b;
  const uint64_t sum =
      static_cast<uint64_t>(product & kPrime) + static_cast<uint64_t>(product >> 61);
  return sum >= kPrime ? sum - kPrime : sum;
}

uint64_t Minus(uint64_t a, uint64_t b) { return a >= b ? a - b : a + kPrime - b; }

// a^(p-2) = 1/a.
uint64_t Inverse(uint64_t a) {
  uint64_t power = a;
  uint64_t result = 1;
  for (uint64_t e = kPrime - 2; e > 0; e >>= 1) {
    if ((e & 1) != 0) result = Times(result, power);
    power = Times(power, power);
  }
  return result;
}

// The row as integers without a common factor.
std::vector<Integer> IntegerRow(std::span<const double> row) {
  std::vector<Rational> exact;
  Integer denominator = 1;
  for (const double entry : row) {
    exact.push_back(RationalFromDecimal(entry, "matrix entry"));
    denominator = lcm(denominator, exact.back().get_den());
  }
  Integer divisor = 0;
  for (Rational& entry : exact) {
    entry *= denominator;
    divisor = gcd(divisor, entry.get_num());
  }
  std::vector<Integer> integers;
  integers.reserve(exact.size());
  for (const Rational& entry : exact) {
    integers.push_back(divisor == 0 ? Integer(0) : Integer(entry.get_num() / divisor));
  }
  return integers;
}

// Rows reduced against each other, each with a leading 1 at its own place.
class Echelon {
 public:
  // Whether the row was independent of those before it.
  bool Add(std::vector<uint64_t> row) {
    Reduce(&row);
    const auto lead = std::find_if(row.begin(), row.end(), [](uint64_t x) { return x != 0; });
    if (lead == row.end()) return false;
    const uint64_t inverse = Inverse(*lead);
    lead_.push_back(static_cast<size_t>(lead - row.begin()));
    for (uint64_t& entry : row) entry = Times(entry, inverse);
    rows_.push_back(std::move(row));
    return true;
  }

  bool Spans(std::vector<uint64_t> row) const {
    Reduce(&row);
    return std::all_of(row.begin(), row.end(), [](uint64_t x) { return x == 0; });
  }

  size_t rank() const { return rows_.size(); }

 private:
  void Reduce(std::vector<uint64_t>* row) const {
    for (size_t k = 0; k < rows_.size(); ++k) {
      const uint64_t factor = (*row)[lead_[k]];
      if (factor == 0) continue;
      for (size_t j = 0; j < row->size(); ++j) {
        (*row)[j] = Minus((*row)[j], Times(factor, rows_[k][j]));
      }
    }
  }

  std::vector<std::vector<uint64_t>> rows_;
  std::vector<size_t> lead_;
};

std::vector<uint64_t> Residues(const std::vector<Integer>& row) {
  std::vector<uint64_t> residues;
  residues.reserve(row.size());
  for (const Integer& entry : row) residues.push_back(mpz_fdiv_ui(entry.get_mpz_t(), kPrime));
  return residues;
}

std::span<const double> RowOf(int64_t num_columns, const CellMatrix& matrix, int64_t row) {
  return std::span(matrix.entries)
      .subspan(static_cast<size_t>(row * num_columns), static_cast<size_t>(num_columns));
}

Echelon EchelonOf(int64_t num_columns, const CellMatrix& matrix) {
  Echelon echelon;
  for (int64_t row = 0; row < matrix.num_rows; ++row) {
    if (static_cast<int64_t>(echelon.rank()) == num_columns) break;
    echelon.Add(Residues(IntegerRow(RowOf(num_columns, matrix, row))));
  }
  return echelon;
}

}  // namespace

IntegerMatrix RowSpaceBasis(int64_t num_columns, const CellMatrix& matrix) {
  Echelon echelon;
  std::vector<Integer> rows;
  for (int64_t row = 0; row < matrix.num_rows; ++row) {
    const std::vector<Integer> integers = IntegerRow(RowOf(num_columns, matrix, row));
    if (echelon.Add(Residues(integers))) rows.insert(rows.end(), integers.begin(), integers.end());
    if (static_cast<int64_t>(echelon.rank()) == num_columns) break;
  }
  const auto rank = static_cast<int64_t>(echelon.rank());
  IntegerMatrix basis{rank, num_columns, std::vector<int64_t>(rows.size(), 0)};
  if (rank == num_columns) {
    for (int64_t k = 0; k < num_columns; ++k) {
      basis.entries[static_cast<size_t>(k * num_columns + k)] = 1;
    }
    return basis;
  }
  for (size_t k = 0; k < rows.size(); ++k) {
    // Twenty bits leave room for the scale of the basis in the 128 bits of a measurement.
    if (mpz_sizeinbase(rows[k].get_mpz_t(), 2) > 20) {
      Fail(ErrorKind::kTooLarge,
           "a row of a custom matrix needs integers above 2^20; write its entries with fewer "
           "digits");
    }
    basis.entries[k] = rows[k].get_si();
  }
  return basis;
}

bool SpansOnes(int64_t num_columns, const CellMatrix& matrix) {
  return EchelonOf(num_columns, matrix)
      .Spans(std::vector<uint64_t>(static_cast<size_t>(num_columns), 1));
}

bool SpansRows(int64_t num_columns, const CellMatrix& matrix, const CellMatrix& other) {
  const Echelon echelon = EchelonOf(num_columns, matrix);
  for (int64_t row = 0; row < other.num_rows; ++row) {
    if (!echelon.Spans(Residues(IntegerRow(RowOf(num_columns, other, row))))) return false;
  }
  return true;
}

}  // namespace residua
