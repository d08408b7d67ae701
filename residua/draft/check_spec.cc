#include "residua/draft/check_spec.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "residua/base/threads.h"
#include "residua/data/mass_drop.h"
#include "residua/data/push_down_check.h"
#include "residua/draft/release_cost.h"
#include "residua/measure/measure.h"
#include "residua/measure/remote/joint_cells.h"
#include "residua/select/select.h"

namespace residua {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<Error> Obstacles(const Plan& plan, const std::string& name, const DataSource& data,
                             const ReadReport& report) {
  std::vector<Error> obstacles;
  const auto try_to = [&](const auto& check) {
    try {
      AtPlace(name, check);
    } catch (const Error& error) {
      obstacles.push_back(error);
    }
  };
  for (const AttributeReport& attribute : report.attributes) {
    if (attribute.first_error) obstacles.push_back(*attribute.first_error);
  }
  if (const auto drop = FindMassDrop(report, plan.domain, data)) obstacles.push_back(*drop);
  try_to([&] { CheckDomainIsPublic(plan.domain); });
  if (obstacles.empty()) {
    try_to([&] { MeasurablePlan(VerifiedPlan(plan), report.num_rows_read, {}); });
  }
  if (obstacles.empty()) {
    try_to([&] {
      CheckMeasuringFits(plan);
      CheckTablesFit(plan);
    });
  }
  return obstacles;
}

std::optional<Error> PushDownFault(const Plan& plan, const DataSource& data) {
  try {
    CheckPushDown(data.database, plan.domain, plan.protection);
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

}  // namespace

int64_t NumRowsCounted(const ReadReport& report) {
  return report.num_rows_read - report.num_rows_dropped - report.num_rows_without_identifier -
         report.num_rows_over;
}

std::vector<RowsKept> RowsKeptByMaxRows(const ReadReport& report, int64_t max_rows) {
  if (report.identifiers_by_rows.empty()) return {};
  const int64_t most = report.identifiers_by_rows.rbegin()->first;
  // 1, 2, 5, 10, 20, ..., up to the first that keeps all, and the one asked for.
  std::set<int64_t> choices = {max_rows};
  for (int64_t ten = 1;; ten *= 10) {
    for (const int64_t choice : {ten, 2 * ten, 5 * ten}) {
      choices.insert(choice);
      if (choice >= most) break;
    }
    if (5 * ten >= most) break;
  }
  std::vector<RowsKept> kept;
  for (const int64_t choice : choices) {
    kept.push_back({choice, 0});
    for (const auto& [rows, identifiers] : report.identifiers_by_rows) {
      kept.back().num_rows += std::min(rows, choice) * identifiers;
    }
  }
  return kept;
}

SpecCheck CheckPlan(const Plan& plan, const std::string& name, const DataSource& data,
                    const RowProgress& on_rows, const std::stop_token& stop) {
  SpecCheck check;
  check.plan = plan;
  const auto start = Clock::now();
  check.report = SurveyTable(data, plan.domain, plan.protection, on_rows, stop);
  const std::chrono::duration<double> reading = Clock::now() - start;
  double num_identifiers = 0;
  for (const auto& [rows, identifiers] : check.report.identifiers_by_rows) {
    num_identifiers += static_cast<double>(identifiers);
  }
  const ReleaseSize size =
      SizeOfRelease(check.plan, static_cast<double>(check.report.num_rows_read), num_identifiers);
  check.memory_bytes = PredictMemoryBytes(size);
  check.seconds = reading.count() + PredictSeconds(size, Threads(0).count());
  check.obstacles = Obstacles(check.plan, name, data, check.report);
  check.push_down_fault = PushDownFault(check.plan, data);
  if (!check.push_down_fault) {
    check.num_joint_cells = NumJointCells(check.plan.domain);
    check.joint_bytes = check.num_joint_cells * static_cast<int64_t>(sizeof(uint64_t));
  }
  check.better_alone = FindBetterAlone(check.plan, PredictErrors(check.plan));
  return check;
}

SpecCheck CheckSpec(const Spec& spec, const std::string& name, const DataSource& data,
                    const RowProgress& on_rows, const std::stop_token& stop) {
  const auto start = Clock::now();
  const Plan plan = Select(RequestOf(spec));
  const std::chrono::duration<double> planning = Clock::now() - start;
  SpecCheck check = CheckPlan(plan, name, data, on_rows, stop);
  check.seconds += planning.count();  // a release plans as well
  return check;
}

}  // namespace residua
