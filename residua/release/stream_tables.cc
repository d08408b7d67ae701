#include "residua/release/stream_tables.h"

#include <algorithm>
#include <limits>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/measure/measure.h"
#include "residua/reconstruct/closest_sets.h"
#include "residua/reconstruct/table_slabs.h"

namespace residua {
namespace {

void CheckMeasured(const Plan& plan, const AttributeSet& table) {
  if (plan.mechanisms.Find(OrbitOf(plan.classes, table))) return;
  std::string closest;
  for (const AttributeSet& set : ClosestMeasured(plan, table, 3)) {
    closest += fmt::format("{}{}", closest.empty() ? "" : ", ", SetName(plan.domain, set));
  }
  Fail(ErrorKind::kBadInput, "{} was not measured; the measured sets that come closest are {}",
       SetName(plan.domain, table), closest);
}

// Which measured sets the tables need: those that are a proper part of some table, and those that
// only the table of the same attributes needs.
struct NeededSets {
  MultisetTable shared;
  MultisetTable own;
};

NeededSets FindNeeded(const Plan& plan, const std::vector<AttributeSet>& tables) {
  NeededSets needed;
  for (const AttributeSet& table : tables) {
    CheckMeasured(plan, table);
    ForEachSubset(table, [&](size_t, std::span<const int> subset) {
      if (subset.size() < table.size()) needed.shared.Insert(subset);
    });
  }
  for (const AttributeSet& table : tables) {
    if (!needed.shared.Find(table)) needed.own.Insert(table);
  }
  return needed;
}

std::vector<AttributeSet> ListOf(const MultisetTable& sets) {
  std::vector<AttributeSet> list;
  for (int64_t k = 0; k < sets.size(); ++k) list.emplace_back(sets[k].begin(), sets[k].end());
  return list;
}

int64_t NumBytes(const NoisyResidual& residual) {
  return std::visit(
      [](const auto& values) {
        return static_cast<int64_t>(values.size() * sizeof(values.front()));
      },
      residual.values);
}

// For its variance; its values stay in the file.
ResidualView ViewElsewhere(const Plan& plan, const AttributeSet& set) {
  return {set, ResidualValues(), IntegerNoiseVariance(plan, set), ScaleBits(plan, set),
          /*is_elsewhere=*/true};
}

class TableStream {
 public:
  using Visit =
      std::function<void(const ResidualIndex&, const AttributeSet&, std::span<const double>)>;

  TableStream(const MeasurementFile& file, const StreamOptions& options, const Visit& visit)
      : file_(file), options_(options), visit_(visit), bases_(BasisOfAttributes(file.plan())) {}

  void Run(const std::vector<AttributeSet>& tables) {
    const NeededSets needed = FindNeeded(file_.plan(), tables);
    // The first reading keeps all it can; if a table's own values do not all fit, a second brings
    // them.
    bool whole = true;
    int64_t own_bytes = 0;
    std::vector<NoisyResidual> own;
    std::vector<AttributeSet> sets = ListOf(needed.shared);
    std::vector<AttributeSet> own_sets, in_slabs;
    for (AttributeSet& set : ListOf(needed.own)) {
      (IsMadeInSlabs(set) ? in_slabs : own_sets).push_back(std::move(set));
    }
    sets.insert(sets.end(), own_sets.begin(), own_sets.end());
    file_.ForEachOf(std::move(sets), [&](NoisyResidual&& residual) {
      if (needed.shared.Find(residual.attributes)) {
        shared_.push_back(std::move(residual));
      } else if (whole) {
        own_bytes += NumBytes(residual);
        whole = own_bytes <= options_.memory_budget_bytes;
        if (whole) own.push_back(std::move(residual));
      }
    });
    if (!whole) own = {};

    std::vector<AttributeSet> from_shared;
    for (const AttributeSet& table : tables) {
      if (needed.shared.Find(table)) from_shared.push_back(table);
    }
    Make(from_shared, {});
    if (whole) {
      Make(TablesOf(own), own);
    } else {
      MakeInBatches(own_sets);
    }
    own = {};
    std::sort(in_slabs.begin(), in_slabs.end(), ListedBefore);
    for (const AttributeSet& table : in_slabs) MakeInSlabs(table);
  }

 private:
  // Reads the tables' own values again, as many at a time as fit.
  void MakeInBatches(const std::vector<AttributeSet>& tables) const {
    std::vector<NoisyResidual> own;
    int64_t own_bytes = 0;
    const auto flush = [&] {
      Make(TablesOf(own), own);
      own.clear();
      own_bytes = 0;
    };
    file_.ForEachOf(tables, [&](NoisyResidual&& residual) {
      own_bytes += NumBytes(residual);
      own.push_back(std::move(residual));
      if (own_bytes > options_.memory_budget_bytes / 2) flush();
    });
    flush();
  }

  bool IsMadeInSlabs(const AttributeSet& table) const {
    if (!options_.visit_slab || !file_.HasPieces(table)) return false;
    if (MeanAttribute(file_.plan().domain, table) >= 0) return false;
    std::vector<int64_t> sizes;
    int64_t num_cells = 1;
    for (const int i : table) {
      const ResidualBasis& basis = bases_[static_cast<size_t>(i)];
      if (!basis.is_identity()) return false;
      sizes.push_back(basis.size);
      num_cells = CheckedMultiply(num_cells, basis.size);
    }
    if (num_cells <= options_.max_whole_cells) return false;
    const auto num_bytes = TableSlabs::BytesFor(sizes);
    return num_bytes && *num_bytes <= options_.memory_budget_bytes;
  }

  void MakeInSlabs(const AttributeSet& table) const {
    std::vector<ResidualView> views;
    for (const NoisyResidual& residual : shared_) {
      if (IsSubset(residual.attributes, table)) views.push_back(ViewOf(residual));
    }
    const Plan& plan = file_.plan();
    views.push_back(ViewElsewhere(plan, table));
    const ResidualIndex index(plan.domain, bases_, views);
    TableSlabs slabs(index, table, file_.IsWide(table), options_.reconstruct.num_threads);
    file_.ForEachPiece(table, [&](ResidualValues piece) { slabs.Sum(piece); });
    file_.ForEachPiece(table, [&](ResidualValues piece) {
      slabs.Add(piece, [&](int64_t first, std::span<const double> counts) {
        options_.visit_slab({index, table, counts, first});
      });
    });
  }

  static std::vector<AttributeSet> TablesOf(const std::vector<NoisyResidual>& residuals) {
    std::vector<AttributeSet> tables;
    tables.reserve(residuals.size());
    for (const NoisyResidual& residual : residuals) tables.push_back(residual.attributes);
    return tables;
  }

  void Make(const std::vector<AttributeSet>& tables, const std::vector<NoisyResidual>& own) const {
    if (tables.empty()) return;
    std::vector<ResidualView> views;
    for (const NoisyResidual& residual : shared_) views.push_back(ViewOf(residual));
    for (const NoisyResidual& residual : own) views.push_back(ViewOf(residual));
    const ResidualIndex index(file_.plan().domain, bases_, views);
    ReconstructTables(
        index, tables, options_.reconstruct,
        [&](size_t k, std::span<const double> counts) { visit_(index, tables[k], counts); });
  }

  const MeasurementFile& file_;
  const StreamOptions& options_;
  const Visit& visit_;
  std::vector<ResidualBasis> bases_;
  std::vector<NoisyResidual> shared_;
};

}  // namespace

void StreamTables(const MeasurementFile& file, const std::vector<AttributeSet>& tables,
                  const StreamOptions& options,
                  const std::function<void(const ResidualIndex&, const AttributeSet&,
                                           std::span<const double>)>& visit) {
  TableStream(file, options, visit).Run(tables);
}

std::vector<NoisyResidual> ReadSubsets(const MeasurementFile& file,
                                       const std::vector<AttributeSet>& tables) {
  return ReadSmallSubsets(file, tables, std::numeric_limits<int64_t>::max()).residuals;
}

SubsetResiduals ReadSmallSubsets(const MeasurementFile& file,
                                 const std::vector<AttributeSet>& tables, int64_t max_values) {
  const Plan& plan = file.plan();
  MultisetTable needed;
  for (const AttributeSet& table : tables) {
    CheckMeasured(plan, table);
    ForEachSubset(table, [&](size_t, std::span<const int> subset) { needed.Insert(subset); });
  }
  const std::vector<ResidualBasis> bases = BasisOfAttributes(plan);
  SubsetResiduals result;
  std::vector<AttributeSet> small;
  for (AttributeSet& set : ListOf(needed)) {
    int64_t num_values = 1;
    for (const int i : set) {
      num_values = CheckedMultiply(num_values, NumResidualRows(bases[static_cast<size_t>(i)]));
    }
    const bool is_large = num_values > max_values && file.HasPieces(set);
    (is_large ? result.elsewhere : small).push_back(std::move(set));
  }
  file.ForEachOf(std::move(small), [&](NoisyResidual&& residual) {
    result.residuals.push_back(std::move(residual));
  });
  return result;
}

ResidualIndex IndexResiduals(const Plan& plan, const SubsetResiduals& residuals) {
  std::vector<ResidualView> views;
  for (const NoisyResidual& residual : residuals.residuals) views.push_back(ViewOf(residual));
  for (const AttributeSet& set : residuals.elsewhere) views.push_back(ViewElsewhere(plan, set));
  return ResidualIndex(plan.domain, BasisOfAttributes(plan), views);
}

}  // namespace residua
