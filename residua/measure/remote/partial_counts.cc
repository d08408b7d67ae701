#include "residua/measure/remote/partial_counts.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/measure/counted_cells.h"
#include "residua/measure/marginal_batches.h"
#include "residua/measure/slab_cut.h"

namespace residua {
namespace {

static_assert(std::endian::native == std::endian::little, "pieces are little-endian");

// 32 KiB: Spark passes rows on by the ten thousand, and that many pieces must fit its memory.
constexpr int64_t kCellsPerPiece = int64_t{1} << 12;

// The number of rows comes first, then the tallies, then the cells of every table.
int64_t NumHeaderCells(const CountingJob& job) { return CheckedAdd(job.num_tallies, 1); }

int64_t NumCellsOf(const CountingJob& job, std::span<const CountedTable> plan) {
  int64_t num_cells = NumHeaderCells(job);
  for (const CountedTable& counted : plan) num_cells = CheckedAdd(num_cells, counted.num_cells);
  return num_cells;
}

int64_t NumPieces(int64_t num_cells) { return (num_cells + kCellsPerPiece - 1) / kCellsPerPiece; }

// The job's tables, and what follows from them.
struct JobTables {
  explicit JobTables(const CountingJob& job)
      : plan(PlanWithin(job.domain, job.sets, job.options)),
        num_cells(NumCellsOf(job, plan)),
        num_pieces(NumPieces(num_cells)) {}

  int64_t CellsIn(int64_t piece) const {
    return std::min(kCellsPerPiece, num_cells - piece * kCellsPerPiece);
  }

  std::vector<CountedTable> plan;
  int64_t num_cells;
  int64_t num_pieces;
};

// What a piece is, in front of its sealed bytes and authenticated with them.
struct PieceLabel {
  enum class Kind : uint32_t { kOfPartition = 1, kOfSum = 2, kText = 3 };
  char magic[8] = {'r', 'e', 's', 'i', 'd', 'u', 'a', '1'};
  Kind kind = Kind::kText;
  uint32_t unused = 0;
  int64_t piece = 0;
  int64_t partition = -1;  // of a sum: none
};
static_assert(sizeof(PieceLabel) == 32 && std::has_unique_object_representations_v<PieceLabel>);

std::string_view BytesOfLabel(const PieceLabel& label) {
  return {reinterpret_cast<const char*>(&label), sizeof(label)};
}

std::string ContextOf(const CountingJob& job, const PieceLabel& label) {
  return std::string(BytesOfLabel(label)) + job.plan_digest;
}

std::string SealLabelled(const CountingJob& job, const PieceLabel& label, std::string_view plain) {
  return std::string(BytesOfLabel(label)) + Seal(job.key, ContextOf(job, label), plain);
}

struct OpenedPiece {
  PieceLabel label;
  std::string plain;
};

OpenedPiece UnsealLabelled(const CountingJob& job, PieceLabel::Kind kind, std::string_view piece) {
  const PieceLabel expected;
  OpenedPiece opened;
  if (piece.size() < sizeof(PieceLabel)) Fail(ErrorKind::kRefused, "a piece of the counts is cut");
  std::memcpy(&opened.label, piece.data(), sizeof(PieceLabel));
  if (std::memcmp(opened.label.magic, expected.magic, sizeof(expected.magic)) != 0 ||
      opened.label.kind != kind) {
    Fail(ErrorKind::kRefused,
         "a piece of the counts is of another kind; use one version of residua everywhere");
  }
  opened.plain = Unseal(job.key, ContextOf(job, opened.label), piece.substr(sizeof(PieceLabel)));
  return opened;
}

// A sealed piece of counts: the fingerprint, then the cells.
std::string PlainPiece(const Fingerprint& fingerprint, std::string_view cells) {
  std::string plain(fingerprint.begin(), fingerprint.end());
  plain += cells;
  return plain;
}

struct PieceCells {
  PieceLabel label;
  Fingerprint fingerprint;
  std::vector<uint64_t> cells;
};

PieceCells OpenCells(const CountingJob& job, PieceLabel::Kind kind, std::string_view piece) {
  const OpenedPiece opened = UnsealLabelled(job, kind, piece);
  PieceCells cells{opened.label, {}, {}};
  RESIDUA_CHECK(opened.plain.size() >= kFingerprintBytes);
  std::memcpy(cells.fingerprint.data(), opened.plain.data(), kFingerprintBytes);
  const std::string_view rest = std::string_view(opened.plain).substr(kFingerprintBytes);
  cells.cells.resize(rest.size() / sizeof(uint64_t));
  std::memcpy(cells.cells.data(), rest.data(), cells.cells.size() * sizeof(uint64_t));
  return cells;
}

template <typename Cell>
std::string_view BytesOfCells(std::span<const Cell> cells) {
  return {reinterpret_cast<const char*>(cells.data()), cells.size_bytes()};
}

void AddChecked(std::span<const uint64_t> more, std::span<uint64_t> sums) {
  RESIDUA_CHECK(more.size() == sums.size());
  for (size_t k = 0; k < sums.size(); ++k) {
    // Later sums are signed, and so is the number of rows.
    sums[k] = static_cast<uint64_t>(
        CheckedAdd(static_cast<int64_t>(sums[k]), static_cast<int64_t>(more[k])));
  }
}

}  // namespace

CountingJobSize SizeOf(const CountingJob& job) {
  const JobTables tables(job);
  const int64_t cell_bytes = CheckedMultiply(tables.num_cells, sizeof(uint64_t));
  constexpr int64_t kPieceOverhead = sizeof(PieceLabel) + kSealBytes + kFingerprintBytes;
  // The counters, rows on their way to them, and what Python, Arrow and DuckDB take by themselves.
  constexpr int64_t kOwnBytes = int64_t{300} << 20;
  return {tables.num_cells, tables.num_pieces, CheckedAdd(cell_bytes, kOwnBytes),
          CheckedAdd(cell_bytes, CheckedMultiply(tables.num_pieces, kPieceOverhead))};
}

void CheckCountsElsewhere(const CountingJob& job) {
  if (!MustHoldRows(job.domain, job.sets, job.options) &&
      SplitBySize(job.domain, job.sets, job.options).in_slabs.empty()) {
    return;
  }
  const CountingJobSize size = SizeOf(job);
  Fail(ErrorKind::kTooLarge,
       "the counters of all tables take {:.1f} GiB in every task, and {:.1f} may be used; allow "
       "more memory, or ask for fewer attributes together",
       std::ldexp(static_cast<double>(size.num_cells), 3 - 30),
       std::ldexp(static_cast<double>(job.options.memory_budget_bytes), -30));
}

PartialCounts::PartialCounts(const CountingJob& job, int64_t partition, CountedRows&& rows,
                             std::span<const int64_t> tallies)
    : job_(&job), partition_(partition) {
  RESIDUA_CHECK(partition >= 0 && std::ssize(tallies) == job.num_tallies);
  header_.push_back(static_cast<uint64_t>(rows.num_rows()));
  for (const int64_t tally : tallies) {
    RESIDUA_CHECK(tally >= 0);
    header_.push_back(static_cast<uint64_t>(tally));
  }
  num_pieces_ = NumPieces(NumCellsOf(job, CountedCells::Plan(rows)));
  counters_ = CountedCells::Take(std::move(rows));
  KeyedHash hash(job.key);
  hash.Add(partition);
  for (int64_t piece = 0; piece < num_pieces_; ++piece) hash.Add(Plain(piece));
  fingerprint_ = hash.Take();
}

std::string PartialCounts::Plain(int64_t piece) const {
  // Where the piece begins, counted from the first cell that is not before the current table.
  int64_t begin = piece * kCellsPerPiece;
  std::vector<uint64_t> cells;
  const auto append = [&](const auto& of_table) {
    const int64_t size = std::ssize(of_table);
    const int64_t wanted = kCellsPerPiece - std::ssize(cells);
    if (begin < size && wanted > 0) {
      const int64_t end = std::min(size, begin + wanted);
      cells.insert(cells.end(), of_table.begin() + begin, of_table.begin() + end);
    }
    begin = std::max<int64_t>(begin - size, 0);
  };
  append(header_);
  for (const Counters& counters : counters_) std::visit(append, counters);
  return std::string(BytesOfCells(std::span<const uint64_t>(cells)));
}

std::string PartialCounts::Piece(int64_t piece) const {
  RESIDUA_CHECK(piece >= 0 && piece < num_pieces_);
  PieceLabel label{.kind = PieceLabel::Kind::kOfPartition, .piece = piece, .partition = partition_};
  return SealLabelled(*job_, label, PlainPiece(fingerprint_, Plain(piece)));
}

PartialSums::PartialSums(const CountingJob& job) : job_(&job) {}

void PartialSums::Add(std::string_view piece) {
  const PieceCells more = OpenCells(*job_, PieceLabel::Kind::kOfPartition, piece);
  Sum& sum = sums_[more.label.piece];
  if (!sum.partitions.insert(more.label.partition).second) {
    Fail(ErrorKind::kRefused,
         "the counts of partition {} came twice; nothing was spent: run it again",
         more.label.partition);
  }
  if (sum.cells.empty()) sum.cells.resize(more.cells.size());
  AddChecked(more.cells, sum.cells);
  for (size_t k = 0; k < kFingerprintBytes; ++k) sum.fingerprint[k] ^= more.fingerprint[k];
}

std::vector<int64_t> PartialSums::Pieces() const {
  std::vector<int64_t> pieces;
  for (const auto& [piece, sum] : sums_) pieces.push_back(piece);
  return pieces;
}

std::string PartialSums::Piece(int64_t piece) const {
  const Sum& sum = sums_.at(piece);
  PieceLabel label{.kind = PieceLabel::Kind::kOfSum, .piece = piece};
  return SealLabelled(
      *job_, label,
      PlainPiece(sum.fingerprint, BytesOfCells(std::span<const uint64_t>(sum.cells))));
}

SummedCounts OpenSums(const CountingJob& job, std::span<const std::string> pieces) {
  CheckCountsElsewhere(job);
  const JobTables tables(job);
  const auto check = [](bool holds, std::string_view problem) {
    if (!holds) {
      Fail(ErrorKind::kRefused,
           "the counts of the partitions do not fit together: {}; nothing was "
           "spent: run it again",
           problem);
    }
  };
  std::vector<uint64_t> cells(static_cast<size_t>(tables.num_cells), 0);
  std::vector<char> is_there(static_cast<size_t>(tables.num_pieces), 0);
  std::optional<Fingerprint> fingerprint;
  for (const std::string& sealed : pieces) {
    const PieceCells piece = OpenCells(job, PieceLabel::Kind::kOfSum, sealed);
    const int64_t k = piece.label.piece;
    check(k >= 0 && k < tables.num_pieces && std::ssize(piece.cells) == tables.CellsIn(k),
          "they are of other tables");
    check(!std::exchange(is_there[static_cast<size_t>(k)], 1), "a piece came twice");
    check(!fingerprint || *fingerprint == piece.fingerprint,
          "a partition was counted again with other rows");
    fingerprint = piece.fingerprint;
    std::copy(piece.cells.begin(), piece.cells.end(), cells.begin() + k * kCellsPerPiece);
  }
  check(pieces.empty() || std::ssize(pieces) == tables.num_pieces, "a piece is missing");

  const auto num_rows = static_cast<int64_t>(cells.front());
  const auto first_cell = cells.begin() + NumHeaderCells(job);
  SummedCounts summed{CountedRows(job.domain, job.sets, job.options), {}};
  for (auto tally = cells.begin() + 1; tally != first_cell; ++tally) {
    summed.tallies.push_back(static_cast<int64_t>(*tally));
  }
  std::vector<std::vector<uint64_t>> counters;
  auto cell = first_cell;
  for (const CountedTable& counted : tables.plan) {
    counters.emplace_back(cell, cell + counted.num_cells);
    cell += counted.num_cells;
    int64_t num_counted = 0;
    for (const uint64_t count : counters.back()) {
      num_counted = CheckedAdd(num_counted, static_cast<int64_t>(count));
    }
    check(num_counted == CheckedMultiply(num_rows, RowSteps(job.domain, counted.attributes)),
          "their tables have different numbers of rows");
  }
  CountedCells::Put(std::move(counters), num_rows, &summed.rows);
  return summed;
}

std::string SealText(const CountingJob& job, std::string_view text) {
  return SealLabelled(job, PieceLabel{.kind = PieceLabel::Kind::kText}, text);
}

std::string UnsealText(const CountingJob& job, std::string_view sealed) {
  return UnsealLabelled(job, PieceLabel::Kind::kText, sealed).plain;
}

}  // namespace residua
