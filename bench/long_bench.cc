// Plans of prefix sums and ranges of many cells, what their bases take to apply, and the loss
// beside the dense basis: long_bench

#include <fmt/format.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bench/stopwatch.h"
#include "residua/basis/basis_inverse.h"
#include "residua/basis/convolution/convolution_fit.h"
#include "residua/basis/convolution/convolution_matrix.h"
#include "residua/basis/structured_inverse.h"
#include "residua/select/lower_bound.h"
#include "residua/select/select.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"

namespace residua {
namespace {

SelectRequest Request(int64_t size, const std::string& kind, const std::string& objective,
                      Weighting weighting) {
  SelectRequest request{ParseDomain(fmt::format("{}:{}", size, kind)),
                        {{{MarginalRule::Kind::kUpTo, 1}}, {}},
                        ParseObjective(objective),
                        BudgetFromPcost(1)};
  request.objective.weighting = weighting;
  return request;
}

// Milliseconds of one fibre.
double TimeOfMeasuring(const ConvolutionMatrix& matrix) {
  const auto size = static_cast<int64_t>(matrix.kernel.size()) + 1;
  const ExactProduct product = KernelProduct(matrix);
  const std::vector<uint64_t> counts(static_cast<size_t>(size), 1234);
  std::vector<uint64_t> rows(static_cast<size_t>(size - 1));
  return 1000 * bench::TimesOf([&] {
                  ApplyConvolution(matrix, product, {1, size, 1}, counts.data(), rows.data());
                }).processor;
}

double TimeOfReconstructing(const StructuredInverse& inverse) {
  const std::vector<double> rows(static_cast<size_t>(inverse.num_rows()), 1e6);
  std::vector<double> cells(static_cast<size_t>(inverse.num_cells()));
  const double total = 1e9;
  return 1000 *
         bench::TimesOf([&] { inverse.Apply(1, 1, rows.data(), &total, cells.data()); }).processor;
}

std::string NameOf(Weighting weighting) {
  if (weighting == Weighting::kEqual) return "equal";
  return weighting == Weighting::kCells ? "cells" : "sqrt-cells";
}

void PrintPlans() {
  fmt::print(
      "| cells | objective | weights | plan, s | bound, s | above any mechanism | measure, ms | "
      "reconstruct, ms | peak, MB |\n|---|---|---|---|---|---|---|---|---|\n");
  struct Row {
    int64_t size;
    std::string kind;
    std::string objective;
    Weighting weighting = Weighting::kCells;
  };
  const std::vector<Row> rows = {
      {4'097, "prefix", "sum-variance"},
      {16'384, "prefix", "sum-variance"},
      {65'536, "prefix", "sum-variance"},
      {262'144, "prefix", "sum-variance"},
      {4'097, "prefix", "sum-variance", Weighting::kEqual},
      {65'536, "prefix", "sum-variance", Weighting::kEqual},
      {262'144, "prefix", "sum-variance", Weighting::kEqual},
      {65'536, "prefix", "sum-variance", Weighting::kSqrtCells},
      {262'144, "prefix", "sum-variance", Weighting::kSqrtCells},
      {16'384, "prefix", "max-variance"},
      {65'536, "prefix", "max-variance"},
      {4'097, "range", "sum-variance"},
      {8'192, "range", "sum-variance"},
      {4'097, "range", "sum-variance", Weighting::kEqual},
      {8'192, "range", "sum-variance", Weighting::kEqual},
      {8'192, "range", "sum-variance", Weighting::kSqrtCells},
      {4'097, "range", "max-variance"},
  };
  for (const Row& row : rows) {
    Plan plan;
    const bench::Times planned = bench::TimesOf(
        [&] { plan = Select(Request(row.size, row.kind, row.objective, row.weighting)); });
    std::optional<PlanCertificate> certificate;
    const bench::Times bounded = bench::TimesOf([&] { certificate = CertifyPlan(plan); });
    const ResidualBasis& basis = plan.bases.front();
    fmt::print("| {}:{} | {} | {} | {:.2f} | {:.2f} | {} | {:.1f} | {:.1f} | {:.0f} |\n", row.size,
               row.kind, row.objective, NameOf(row.weighting), planned.processor, bounded.processor,
               certificate ? fmt::format("{:.2f} %", 100 * certificate->above_lower_bound) : "-",
               TimeOfMeasuring(std::get<ConvolutionMatrix>(basis.matrix)),
               TimeOfReconstructing(*basis.inverse->structured), bench::MegabytesAtPeak());
  }
}

// Together with other attributes, and with one another; of the total too.
void PrintTables() {
  fmt::print(
      "\n| attributes | tables | weights | plan, s | bound, s | above any mechanism |\n"
      "|---|---|---|---|---|---|\n");
  struct Row {
    std::string domain;
    int order;
  };
  const std::vector<Row> rows = {{"65536:prefix,7,2", 2},       {"65536:prefix,7,2", 3},
                                 {"8192:range,5", 2},           {"5000:prefix,50:prefix,3", 2},
                                 {"4097:prefix*2", 2},          {"5000:range*2", 2},
                                 {"16384:prefix,4097:range", 2}};
  for (const Row& row : rows) {
    for (const Weighting weighting :
         {Weighting::kEqual, Weighting::kCells, Weighting::kSqrtCells}) {
      SelectRequest request{ParseDomain(row.domain),
                            {{{MarginalRule::Kind::kUpTo, row.order}}, {}},
                            ParseObjective("sum-variance"),
                            BudgetFromPcost(1)};
      request.objective.weighting = weighting;
      Plan plan;
      const bench::Times planned = bench::TimesOf([&] { plan = Select(request); });
      std::optional<PlanCertificate> certificate;
      const bench::Times bounded = bench::TimesOf([&] { certificate = CertifyPlan(plan); });
      fmt::print("| {} | <={} | {} | {:.2f} | {:.2f} | {} |\n", row.domain, row.order,
                 NameOf(weighting), planned.processor, bounded.processor,
                 certificate ? fmt::format("{:.2f} %", 100 * certificate->above_lower_bound) : "-");
    }
  }
}

// Each trade-off that FitConvolutionWithTotal has numbers for, where the total counts what they
// were found for.
void PrintTradeOffs() {
  struct Row {
    int64_t size;
    std::string kind;
    std::vector<double> totals;
  };
  const std::vector<Row> rows = {
      {4'096, "prefix", {1.0 / 4'096, 0.001, 0.004, 0.015, 0.06, 0.25, 1, 10}},
      {65'536, "prefix", {1.0 / 65'536, 0.001, 0.004, 0.015, 0.06, 0.25, 1, 10}},
      {4'096, "range", {1e-7, 0.001, 0.004, 0.015, 0.06, 0.25, 1, 10}},
      {8'192, "range", {1e-7, 0.001, 0.004, 0.015, 0.06, 0.25, 1, 10}},
  };
  fmt::print(
      "\n| cells | trade-off | the total counts | above any mechanism |\n|---|---|---|---|\n");
  for (const Row& row : rows) {
    for (size_t level = 0; level < row.totals.size(); ++level) {
      SelectRequest request = Request(row.size, row.kind, "sum-variance", Weighting::kEqual);
      request.workload = {{}, {{{}, row.totals[level]}, {{0}, 1}}};
      request.matrices = {FitConvolutionWithTotal(request.domain[0], static_cast<double>(level))};
      const auto certificate = CertifyPlan(Select(request));
      fmt::print("| {}:{} | {} | {:.2g} | {:.2f} % |\n", row.size, row.kind, level,
                 row.totals[level], 100 * certificate->above_lower_bound);
    }
  }
}

// Where a dense basis would be chosen.
void PrintLosses() {
  fmt::print(
      "\n| cells | plan, s | dense plan, s | loss above the dense plan's |\n|---|---|---|---|\n");
  for (const std::string kind : {"prefix", "range"}) {
    for (const int64_t size : {256, 1024, 4096}) {
      SelectRequest request = Request(size, kind, "sum-variance", Weighting::kCells);
      Plan dense;
      Plan plan;
      const bench::Times of_dense = bench::TimesOf([&] { dense = Select(request); });
      const bench::Times of_plan = bench::TimesOf([&] {
        request.matrices = {FitConvolutionWithTotal(request.domain[0], 0)};
        plan = Select(request);
      });
      fmt::print("| {}:{} | {:.2f} | {:.2f} | {:.2f} % |\n", size, kind, of_plan.processor,
                 of_dense.processor, 100 * (plan.loss / dense.loss - 1));
    }
  }
}

}  // namespace
}  // namespace residua

int main() {
  residua::PrintPlans();
  residua::PrintTables();
  residua::PrintTradeOffs();
  residua::PrintLosses();
}
