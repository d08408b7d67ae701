#include "residua/reconstruct/table_batches.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/base/threads.h"
#include "residua/reconstruct/completion.h"
#include "residua/reconstruct/table_reconstruction.h"

namespace residua {
namespace {

// Smaller tables that several tables share are kept up to this many cells, 16 MiB: what does not
// fit into the caches is made again just as quickly.
constexpr int64_t kMaxFaceCells = int64_t{1} << 21;

// Small tables of identity attributes only, made from the tables one attribute smaller, each of
// which is made once, whatever the number of tables it is part of.
class SharedFaces {
 public:
  // Gives up, and serves no table, if the smaller ones have more than `max_cells` cells.
  SharedFaces(const ResidualIndex& index, std::span<const AttributeSet> tables, int64_t max_cells)
      : index_(index), tables_(tables), begin_(static_cast<size_t>(index.size()), -1) {
    int64_t num_faces = 0;
    for (const AttributeSet& table : tables) {
      faces_of_table_.push_back(num_faces);
      num_faces += static_cast<int64_t>(table.size());
    }
    face_ids_.resize(static_cast<size_t>(num_faces));
    std::vector<std::atomic<bool>> is_asked(begin_.size());
    const auto ask = [&](int64_t id) { return !is_asked[static_cast<size_t>(id)].exchange(true); };
    ParallelForStretches(size_t{0}, tables.size(), [&](size_t begin, size_t end) {
      std::vector<int64_t> last;
      for (size_t t = begin; t < end; ++t) {
        if (!IsSuitable(tables[t])) continue;
        last.resize(tables[t].size(), -1);
        FindFaces(tables[t], last);
        std::ranges::copy(last, FaceIds(t).begin());
        for (const int64_t id : last) {
          if (id >= 0 && !is_asked[static_cast<size_t>(id)].load(std::memory_order_relaxed)) {
            ask(id);
          }
        }
      }
    });
    std::vector<int64_t> asked;
    for (int64_t id = 0; id < index.size(); ++id) {
      if (is_asked[static_cast<size_t>(id)]) asked.push_back(id);
    }
    std::vector<int64_t> ids;
    int64_t num_cells = 0;
    for (size_t k = 0; k < asked.size(); ++k) {
      const AttributeSet set = SetOf(asked[k]);
      num_cells = CheckedAdd(num_cells, index.NumCells(set));
      if (num_cells > max_cells) return;
      ids.assign(set.size(), -1);
      FindFaces(set, ids);
      for (const int64_t id : ids) {
        if (id >= 0 && ask(id)) asked.push_back(id);
      }
    }
    MakeFaces(asked, num_cells);
  }

  // Tables [first, last) of the list, as far as they are small, each into `counts_of(t)`; those
  // that cannot be made from faces are left to `otherwise(t)`.
  template <typename CountsOf, typename Otherwise>
  void Make(size_t first, size_t last, ReconstructionWorkspace& workspace,
            const CountsOf& counts_of, const Otherwise& otherwise) const {
    int64_t next = index_.FindNear(-1, tables_[first]);
    for (size_t t = first; t < last; ++t) {
      const int64_t id = next;
      next = t + 1 < last ? index_.FindNear(id, tables_[t + 1]) : -1;
      workspace.buffers().next = id < 0 || next < 0 ? nullptr : SameShape(id, next);
      const std::span<double> counts = counts_of(t);
      if (static_cast<int64_t>(counts.size()) >= kLargeTableCells) continue;
      if (id < 0 || !IsSuitable(tables_[t]) ||
          !Make(id, tables_[t], FaceIds(t), workspace, counts, false)) {
        workspace.buffers().next = nullptr;
        otherwise(t);
      }
    }
  }

 private:
  // The values of entry `next`, if there are as many as of `id`.
  const int64_t* SameShape(int64_t id, int64_t next) const {
    const auto* now = std::get_if<std::span<const int64_t>>(&index_.entry(id).values);
    const auto* then = std::get_if<std::span<const int64_t>>(&index_.entry(next).values);
    const bool is_same = now != nullptr && then != nullptr && now->size() == then->size();
    return is_same ? then->data() : nullptr;
  }

  std::span<const int64_t> FaceIds(size_t t) const {
    return {face_ids_.data() + faces_of_table_[t], tables_[t].size()};
  }
  std::span<int64_t> FaceIds(size_t t) {
    return {face_ids_.data() + faces_of_table_[t], tables_[t].size()};
  }
  AttributeSet SetOf(int64_t id) const {
    return AttributeSet(index_.set(id).begin(), index_.set(id).end());
  }

  // `ids` hold those of another table, often the one before, or -1.
  void FindFaces(const AttributeSet& table, std::span<int64_t> ids) const {
    int face[64];
    for (size_t k = 0; k < table.size(); ++k) {
      size_t size = 0;
      for (size_t j = 0; j < table.size(); ++j) {
        if (j != k) face[size++] = table[j];
      }
      ids[k] = index_.FindNear(ids[k], std::span<const int>(face, size));
    }
  }

  void MakeFaces(const std::vector<int64_t>& ids, int64_t num_cells) {
    values_.Resize(num_cells);
    std::vector<std::vector<int64_t>> by_order;
    std::vector<int64_t> begin(begin_.size(), -1);
    int64_t end = 0;
    for (const int64_t id : ids) {
      const size_t order = index_.set(id).size();
      if (by_order.size() <= order) by_order.resize(order + 1);
      by_order[order].push_back(id);
      begin[static_cast<size_t>(id)] = end;
      end += index_.NumCells(index_.set(id));
    }
    PerThread<ReconstructionWorkspace> workspaces;
    for (const auto& members : by_order) {
      ParallelFor(size_t{0}, members.size(), [&](size_t m) {
        const int64_t id = members[m];
        const AttributeSet set = SetOf(id);
        std::vector<int64_t> faces(set.size(), -1);
        FindFaces(set, faces);
        const int64_t at = begin[static_cast<size_t>(id)];
        if (Make(id, set, faces, workspaces.local(),
                 {values_.data() + at, static_cast<size_t>(index_.NumCells(set))}, true)) {
          begin_[static_cast<size_t>(id)] = at;
        }
      });
    }
  }

  // False, and nothing done, if a face is not covered.
  bool Make(int64_t id, const AttributeSet& table, std::span<const int64_t> face_ids,
            ReconstructionWorkspace& workspace, std::span<double> counts, bool is_scaled) const {
    ReconstructionWorkspace::Buffers& buffers = workspace.buffers();
    buffers.faces.clear();
    for (const int64_t face : face_ids) {
      if (face < 0 || begin_[static_cast<size_t>(face)] < 0) return false;
      buffers.faces.push_back(values_.data() + begin_[static_cast<size_t>(face)]);
    }
    buffers.sizes.clear();
    for (const int i : table) buffers.sizes.push_back(index_.basis(i).size);
    const CompletionShape shape{buffers.sizes, (size_t{1} << table.size()) - 1};
    const double divisor = is_scaled ? 1 : static_cast<double>(counts.size());
    CompleteEntry(shape, index_.entry(id), buffers.faces, divisor, buffers, false, counts.data());
    return true;
  }

  bool IsSuitable(const AttributeSet& table) const {
    int64_t num_cells = 1;
    for (const int i : table) {
      const ResidualBasis& basis = index_.basis(i);
      if (!basis.is_identity() || basis.size >= kLargeTableCells) return false;
      num_cells *= basis.size;
      if (num_cells >= kLargeTableCells) return false;
    }
    return true;
  }

  const ResidualIndex& index_;
  std::span<const AttributeSet> tables_;
  std::vector<int64_t> begin_;           // of each set's cells in `values_`; -1: not there
  std::vector<int64_t> face_ids_;        // the sets one smaller than each table, table by table
  std::vector<int64_t> faces_of_table_;  // where they begin
  ScratchBuffer values_;
};

}  // namespace

void ReconstructTables(const ResidualIndex& index, std::span<const AttributeSet> tables,
                       const ReconstructOptions& options,
                       const std::function<void(size_t, std::span<const double>)>& visit) {
  if (options.batch_bytes < 0 || options.num_threads < 0) {
    Fail(ErrorKind::kBadInput, "batches of {} bytes by {} threads; neither may be negative",
         options.batch_bytes, options.num_threads);
  }
  Threads threads(options.num_threads);
  PerThread<ReconstructionWorkspace> workspaces;
  const int64_t batch_cells = options.batch_bytes / static_cast<int64_t>(sizeof(double));
  ScratchBuffer buffer;
  std::vector<int64_t> begin;
  std::vector<int64_t> num_cells(tables.size());
  std::optional<SharedFaces> faces;
  threads.Run([&] {
    ParallelFor(size_t{0}, tables.size(),
                [&](size_t t) { num_cells[t] = index.NumCells(tables[t]); });
    faces.emplace(index, tables, kMaxFaceCells);
  });
  for (size_t first = 0; first < tables.size();) {
    begin.assign(1, 0);
    size_t last = first;
    do {
      begin.push_back(CheckedAdd(begin.back(), num_cells[last++]));
    } while (last < tables.size() && num_cells[last] <= batch_cells - begin.back());
    double* counts = buffer.Resize(begin.back());
    const auto counts_of = [&](size_t t) {
      return std::span(counts + begin[t], static_cast<size_t>(begin[t + 1] - begin[t]));
    };
    threads.Run([&] {
      ParallelForStretches(first, last, [&](size_t begin_table, size_t end_table) {
        ReconstructionWorkspace& workspace = workspaces.local();
        faces->Make(
            begin_table, end_table, workspace, [&](size_t t) { return counts_of(t - first); },
            [&](size_t t) { ReconstructInto(index, tables[t], workspace, counts_of(t - first)); });
      });
      for (size_t t = 0; t < last - first; ++t) {
        if (counts_of(t).size() < kLargeTableCells) continue;
        ReconstructInto(index, tables[first + t], workspaces.local(), counts_of(t),
                        TableThreads::kAll);
      }
    });
    for (size_t t = 0; t < last - first; ++t) visit(first + t, counts_of(t));
    first = last;
  }
}

}  // namespace residua
