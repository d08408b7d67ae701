#include "residua/release/stream_tables.h"

#include <algorithm>

#include "residua/base/error.h"
#include "residua/reconstruct/closest_sets.h"

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

int64_t NumBytes(const NoisyResidual& residual) {
  return std::visit(
      [](const auto& values) {
        return static_cast<int64_t>(values.size() * sizeof(values.front()));
      },
      residual.values);
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
    file_.ForEach([&](NoisyResidual&& residual) {
      if (needed.shared.Find(residual.attributes)) {
        shared_.push_back(std::move(residual));
      } else if (whole && needed.own.Find(residual.attributes)) {
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
      return;
    }
    own_bytes = 0;
    const auto flush = [&] {
      Make(TablesOf(own), own);
      own.clear();
      own_bytes = 0;
    };
    file_.ForEach([&](NoisyResidual&& residual) {
      if (!needed.own.Find(residual.attributes)) return;
      own_bytes += NumBytes(residual);
      own.push_back(std::move(residual));
      if (own_bytes > options_.memory_budget_bytes / 2) flush();
    });
    flush();
  }

 private:
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
  MultisetTable needed;
  for (const AttributeSet& table : tables) {
    CheckMeasured(file.plan(), table);
    ForEachSubset(table, [&](size_t, std::span<const int> subset) { needed.Insert(subset); });
  }
  std::vector<NoisyResidual> residuals;
  file.ForEach([&](NoisyResidual&& residual) {
    if (needed.Find(residual.attributes)) residuals.push_back(std::move(residual));
  });
  return residuals;
}

}  // namespace residua
