#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "python/binding/arrays.h"
#include "python/binding/bindings.h"
#include "python/binding/job.h"
#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/basis/basis_inverse.h"
#include "residua/basis/convolution/convolution_matrix.h"
#include "residua/basis/tree_matrix.h"
#include "residua/files/file.h"
#include "residua/files/plan_file.h"
#include "residua/files/table_names.h"
#include "residua/measure/measure.h"
#include "residua/reconstruct/query_answer.h"
#include "residua/reconstruct/table_answers.h"
#include "residua/release/combine.h"
#include "residua/release/published_errors.h"
#include "residua/select/lower_bound.h"
#include "residua/select/mean_errors.h"
#include "residua/select/plan_errors.h"
#include "residua/select/select_after.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"

namespace residua::python {
namespace {

namespace nb = nanobind;

// For each table in the order of ListedBefore, its place in the order that a ConvexLoss sees.
std::vector<size_t> ListedOrder(const SelectRequest& request) {
  const WorkloadOrbits workload = WithoutSymmetry(request.domain, request.workload);
  std::vector<AttributeSet> sets;
  for (int64_t j = 0; j < workload.orbits.size(); ++j) {
    ForEachMember(workload.classes, workload.orbits[j],
                  [&](const AttributeSet& set) { sets.push_back(set); });
  }
  std::vector<size_t> order(sets.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return ListedBefore(sets[a], sets[b]); });
  return order;
}

// Calls Python with the mean variances of the tables, as plans list them; it gives the value and
// the gradient. It refers to `function`, which outlives it: solvers copy losses without the GIL.
ConvexLoss LossOf(const nb::object& function, std::vector<size_t> order) {
  return [&function, order = std::move(order)](std::span<const double> variances,
                                               std::span<double> gradient) {
    const nb::gil_scoped_acquire acquire;
    std::vector<double> listed(order.size());
    for (size_t j = 0; j < order.size(); ++j) listed[j] = variances[order[j]];
    const auto [value, slopes] =
        nb::cast<std::pair<double, std::vector<double>>>(function(ToNumpy(std::move(listed))));
    if (slopes.size() != order.size()) {
      Fail(ErrorKind::kBadInput, "loss: its gradient has {} entries; there are {} tables",
           slopes.size(), order.size());
    }
    for (size_t j = 0; j < order.size(); ++j) gradient[order[j]] = slopes[j];
    return value;
  };
}

PlanFile MakePlan(const Spec& spec, const std::string& basis, double tolerance,
                  const nb::object& loss,
                  const std::vector<std::shared_ptr<const Release>>& after) {
  if (!(tolerance > 0) || !(tolerance < 1)) {
    Fail(ErrorKind::kBadInput, "tolerance is {}; it must lie between 0 and 1, such as 1e-6",
         tolerance);
  }
  CheckWorkload(spec.domain, spec.workload);
  if (!spec.target) {
    Fail(ErrorKind::kBadInput,
         "no budget is set; give epsilon and delta, rho, mu or pcost, or max_std_dev");
  }
  SelectRequest request = RequestOf(spec);
  request.solver.tolerance = tolerance;
  request.basis = ParseBasisKind(basis);
  return RunJob([&](const Job& job) {
    request.solver.stop = job.stop.get_token();
    if (!after.empty()) {
      std::vector<MeasuredPlan> earlier;
      for (const auto& release : after) earlier.push_back(MeasuredPlanOf(*release));
      return PlanFile{SelectAfter(request, earlier).plan, spec.data};
    }
    return PlanFile{loss.is_none() ? Select(request)
                                   : SelectForLoss(request, LossOf(loss, ListedOrder(request))),
                    spec.data};
  });
}

nb::dict DescribeAttribute(const Attribute& attribute) {
  nb::dict description;
  description["name"] = attribute.name;
  description["size"] = attribute.size;
  description["queries"] = std::string(QueriesText(attribute));
  description["null"] = attribute.encoding.null_cell;
  const auto& cells = attribute.encoding.cells;
  if (const auto* integers = std::get_if<IntegerEncoding>(&cells)) {
    description["integers"] = std::pair(integers->first, integers->last);
  } else if (const auto* cuts = std::get_if<CutEncoding>(&cells)) {
    description["cuts"] = cuts->cuts;
  } else if (const auto* values = std::get_if<ValueEncoding>(&cells)) {
    description["values"] = values->values;
  } else if (const auto* dates = std::get_if<DateEncoding>(&cells)) {
    description["dates"] = std::pair(DayText(dates->first_day), DayText(dates->last_day));
    description["every"] = std::string(TextOf(kDateSteps, dates->every));
  } else if (const auto* part = std::get_if<PartEncoding>(&cells)) {
    description["part"] = std::string(TextOf(kDateParts, part->part));
  } else if (const MeanEncoding* mean = MeanOf(attribute)) {
    const auto value = [&](int64_t number) { return DecimalValue(number, mean->decimals); };
    description["mean"] = std::pair(value(mean->low), value(mean->high));
    if (mean->is_integers) {
      description["integers"] = std::pair(mean->low, mean->high);
    } else {
      description["numbers"] = std::pair(value(mean->low), value(mean->high));
      description["step"] = value(mean->step);
    }
  }
  if (!attribute.column.empty()) description["column"] = attribute.column;
  return description;
}

nb::dict DescribeBudget(const Plan& plan) {
  const Guarantee guarantee = GuaranteeOf(plan);
  nb::dict privacy;
  privacy["pcost"] = ToString(plan.pcost);
  privacy["mu2"] = plan.mu2 ? nb::cast(ToString(*plan.mu2)) : nb::none();
  privacy["budget_pcost"] = ToString(plan.budget.pcost);
  privacy["rho"] = guarantee.rho;
  privacy["mu"] = guarantee.mu;
  privacy["epsilon"] = guarantee.epsilon;
  privacy["delta"] = guarantee.delta;
  privacy["neighbours"] = NeighboursInWords(plan.protection);
  return privacy;
}

// loss / (least loss of any mechanism) - 1, or None where no bound is known.
std::optional<double> AboveLowerBound(const Plan& plan) {
  const std::optional<PlanCertificate> certificate = CertifyPlan(plan);
  if (!certificate) return {};
  return certificate->above_lower_bound;
}

nb::dict DescribeSummary(const Plan& plan) {
  const PlanSummary summary = Summarize(plan, PublishedErrors(plan));
  const PublishedSummary published = SummarizePublished(plan);
  nb::dict description;
  description["objective"] = ToString(plan.objective);
  description["weights"] = std::string(ToString(plan.objective.weighting));
  description["loss"] = plan.loss;
  description["relative_gap"] = plan.relative_gap;
  description["converged"] = plan.converged;
  description["rmse"] = published.rms_std_dev;
  description["max_variance"] = summary.max_variance;
  description["num_tables"] = summary.num_marginals;
  description["num_mechanisms"] = summary.num_mechanisms;
  description["num_cells"] = published.num_answers;
  return description;
}

// Beyond this many, nobody reads a list of tables, and it may not fit anywhere.
constexpr double kMaxListed = 10'000'000;

void CheckCanBeListed(double number, const char* what) {
  if (number > kMaxListed) {
    Fail(ErrorKind::kTooLarge, "the plan has {:.3g} {}, too many to list one by one", number, what);
  }
}

// The tables, and of each how many counts it has, and their mean and largest variance; of a table
// with sums and means also the variance of the sums, and the most that the variance of a mean of n
// rows can be, times n^2. These two are not-a-number for other tables.
nb::tuple ListErrors(const Plan& plan) {
  const std::vector<TableErrors> errors = CountErrors(plan);
  CheckCanBeListed(Summarize(plan, errors).num_marginals, "tables");
  std::vector<AttributeSet> sets;
  std::vector<double> cells;
  std::vector<double> mean_variance;
  std::vector<double> max_variance;
  for (const ListedTable& table : ListTables(plan, errors)) {
    sets.push_back(table.attributes);
    cells.push_back(table.errors->num_answers);
    mean_variance.push_back(table.errors->mean_variance);
    max_variance.push_back(table.errors->max_variance);
  }
  std::vector<double> sum_variance(sets.size(), std::numeric_limits<double>::quiet_NaN());
  std::vector<double> most_variance = sum_variance;
  const std::vector<MeanErrors> means = PredictMeanErrors(plan, sets);
  auto mean = means.begin();
  for (size_t k = 0; k < sets.size(); ++k) {
    if (MeanAttribute(plan.domain, sets[k]) < 0) continue;
    sum_variance[k] = mean->sum_variance;
    most_variance[k] = mean++->most_variance;
  }
  return nb::make_tuple(sets, ToNumpy(std::move(cells)), ToNumpy(std::move(mean_variance)),
                        ToNumpy(std::move(max_variance)), ToNumpy(std::move(sum_variance)),
                        ToNumpy(std::move(most_variance)));
}

// Each level of each hierarchy: the attribute, the level, how many places it has, an example, and
// its answers in all tables with the attribute with their mean and largest variance.
std::vector<nb::tuple> ListLevels(const Plan& plan) {
  std::vector<nb::tuple> levels;
  for (const HierarchyLevel& of : ByLevel(plan, CountErrors(plan))) {
    levels.push_back(nb::make_tuple(plan.domain[of.attribute].name, of.level, of.num_places,
                                    of.example, of.num_answers, of.mean_variance, of.max_variance));
  }
  return levels;
}

// The attribute sets that are measured, and the variance of each.
nb::tuple ListMechanisms(const Plan& plan) {
  CheckCanBeListed(Summarize(plan, PredictErrors(plan)).num_mechanisms, "base mechanisms");
  const std::vector<AttributeSet> sets = MeasuredSets(plan);
  std::vector<double> variances;
  variances.reserve(sets.size());
  for (const AttributeSet& set : sets) variances.push_back(NoiseVariance(plan, set).get_d());
  return nb::make_tuple(sets, ToNumpy(std::move(variances)));
}

const ResidualBasis& BasisOf(const Plan& plan, int attribute) {
  return plan.bases[static_cast<size_t>(plan.classes.class_of[static_cast<size_t>(attribute)])];
}

std::vector<int64_t> EntriesOf(const ResidualBasis& basis) {
  if (const auto* matrix = std::get_if<IntegerMatrix>(&basis.matrix)) return matrix->entries;
  if (const auto* tree = std::get_if<TreeMatrix>(&basis.matrix)) return Expanded(*tree).entries;
  if (const auto* convolution = std::get_if<ConvolutionMatrix>(&basis.matrix)) {
    return Expanded(*convolution).entries;
  }
  const auto n = static_cast<size_t>(basis.size);
  std::vector<int64_t> entries(n * n, -1);
  for (size_t k = 0; k < n; ++k) entries[k * (n + 1)] = basis.size - 1;
  return entries;
}

Eigen::MatrixXd QueriesOf(const Attribute& attribute) {
  const QueryMatrix queries(attribute);
  Eigen::MatrixXd dense(queries.num_answers(), queries.num_cells());
  for (int64_t k = 0; k < queries.num_answers(); ++k) dense.row(k) = queries.Row(k).transpose();
  return dense;
}

// Covariances of the attribute's answers: what a base mechanism that holds the attribute adds at
// variance 1, and what one that does not.
std::pair<Eigen::MatrixXd, Eigen::MatrixXd> CovariancesOf(const ResidualBasis& basis,
                                                          const Eigen::MatrixXd& queries) {
  if (basis.is_identity()) {
    const double share = 1 / static_cast<double>(basis.size);
    const Eigen::VectorXd sums = queries.rowwise().sum();
    const Eigen::MatrixXd products = sums * sums.transpose();
    return {queries * queries.transpose() - share * products, share * share * products};
  }
  Eigen::MatrixXd spread(queries.rows(), NumResidualRows(basis));
  if (basis.inverse->structured == nullptr) {
    spread = queries * basis.inverse->residual;
  } else {
    for (Eigen::Index q = 0; q < queries.rows(); ++q) {
      spread.row(q) = basis.inverse->RowWeights(queries.row(q).transpose()).transpose();
    }
  }
  const Eigen::VectorXd constant = queries * basis.inverse->constant;
  return {spread * spread.transpose(), constant * constant.transpose()};
}

nb::dict DescribeBasis(const Plan& plan, int attribute) {
  if (plan.domain[attribute].size > kMaxBasisCells) {
    Fail(ErrorKind::kTooLarge, "'{}' has {} cells; its matrices are shown up to {}",
         plan.domain[attribute].name, plan.domain[attribute].size, kMaxBasisCells);
  }
  const ResidualBasis& basis = BasisOf(plan, attribute);
  std::vector<int64_t> entries = EntriesOf(basis);
  const auto num_columns = static_cast<size_t>(basis.size);
  const size_t num_rows = entries.size() / num_columns;
  const Eigen::MatrixXd queries = QueriesOf(plan.domain[attribute]);
  const auto [residual, constant] = CovariancesOf(basis, queries);
  nb::dict description;
  description["matrix"] = ToNumpy(std::move(entries), {num_rows, num_columns});
  description["queries"] = ToNumpy(queries);
  description["residual_covariance"] = ToNumpy(residual);
  description["constant_covariance"] = ToNumpy(constant);
  description["privacy_cost"] = basis.privacy_cost;
  description["squared_sensitivity"] = basis.squared_sensitivity.get_str();
  description["variance_factor"] = basis.variance_factor.get_str();
  return description;
}

// Of every answer of the table, before anything is measured.
NumpyArray<double> PredictVariances(const Plan& plan, const AttributeSet& table) {
  std::vector<AxisAnswers> axes;
  std::vector<size_t> shape;
  std::vector<int64_t> sizes;
  for (const int i : table) {
    axes.push_back(MakeAxisAnswers(plan.domain[i], BasisOf(plan, i)));
    sizes.push_back(axes.back().size());
    shape.push_back(static_cast<size_t>(sizes.back()));
  }
  std::vector<double> of_subset(size_t{1} << table.size());
  for (size_t mask = 0; mask < of_subset.size(); ++mask) {
    AttributeSet subset;
    for (size_t k = 0; k < table.size(); ++k) {
      if ((mask >> k & 1) != 0) subset.push_back(table[k]);
    }
    of_subset[mask] = NoiseVariance(plan, subset).get_d();
  }
  std::vector<double> variances(static_cast<size_t>(CheckedProduct(sizes)));
  std::vector<double> residual(table.size());
  std::vector<double> constant(table.size());
  std::vector<double> scratch;
  for (size_t cell = 0; cell < variances.size(); ++cell) {
    size_t rest = cell;
    for (size_t k = table.size(); k-- > 0; rest /= shape[k]) {
      const auto& of_axis = axes[k].variances;
      const QueryVariance& factor = of_axis[of_axis.size() == 1 ? 0 : rest % shape[k]];
      residual[k] = factor.residual;
      constant[k] = factor.constant;
    }
    scratch = of_subset;
    variances[cell] = FoldVariances(residual, constant, scratch);
  }
  return ToNumpy(std::move(variances), shape);
}

// Of the answers along each attribute.
std::vector<std::vector<std::string>> LabelsOf(const Plan& plan, const std::string& answers) {
  std::vector<std::vector<std::string>> labels;
  for (AxisAnswers& axis : AxesOf(plan, ParseAnswerKind(answers))) {
    labels.push_back(std::move(axis.labels));
  }
  return labels;
}

// Of each attribute with a hierarchy: the column for its levels, and the level of each answer.
nb::dict LevelsOf(const Domain& domain) {
  const TableNames names = NamesOf(domain);
  nb::dict levels;
  for (int i = 0; i < domain.size(); ++i) {
    if (domain[i].queries != QueryKind::kHierarchy) continue;
    levels[nb::int_(i)] = nb::make_tuple(names.level_columns[static_cast<size_t>(i)],
                                         ToNumpy(AnswerLevels(domain[i])));
  }
  return levels;
}

}  // namespace

void BindPlans(nb::module_& module) {
  module.def("make_plan", &MakePlan, nb::arg("spec"), nb::arg("basis"), nb::arg("tolerance"),
             nb::arg("loss").none(), nb::arg("after"));
  module.def("read_plan", &ReadPlan, nb::arg("path"));
  module.def(
      "plan_from_json", [](const std::string& text) { return PlanFromJson(text, "the plan"); },
      nb::arg("text"));
  nb::class_<PlanFile>(module, "PlanFile")
      .def(
          "write",
          [](const PlanFile& file, const std::filesystem::path& from,
             const std::filesystem::path& path) {
            WritePlan(path, {file.plan, Rebase(file.data, from, FolderOf(path))});
          },
          nb::arg("folder"), nb::arg("path"))
      .def("attributes",
           [](const PlanFile& file) {
             nb::list attributes;
             for (const Attribute& attribute : file.plan.domain.attributes()) {
               attributes.append(DescribeAttribute(attribute));
             }
             return attributes;
           })
      .def("columns", [](const PlanFile& file) { return NamesOf(file.plan.domain).columns; })
      .def("levels", [](const PlanFile& file) { return LevelsOf(file.plan.domain); })
      .def(
          "table_names",
          [](const PlanFile& file, const std::vector<AttributeSet>& tables) {
            const TableNames names = NamesOf(file.plan.domain);
            std::vector<std::string> texts;
            texts.reserve(tables.size());
            for (const AttributeSet& table : tables) texts.push_back(names.TableName(table));
            return texts;
          },
          nb::arg("tables"))
      .def("to_json", &PlanToJson)
      .def("identifier", [](const PlanFile& file) { return file.plan.protection.identifier; })
      .def("privacy", [](const PlanFile& file) { return DescribeBudget(file.plan); })
      .def("summary", [](const PlanFile& file) { return DescribeSummary(file.plan); })
      .def(
          "above_lower_bound", [](const PlanFile& file) { return AboveLowerBound(file.plan); },
          nb::call_guard<nb::gil_scoped_release>())
      .def("errors", [](const PlanFile& file) { return ListErrors(file.plan); })
      .def("level_errors", [](const PlanFile& file) { return ListLevels(file.plan); })
      .def("parts",
           [](const PlanFile& file) {
             std::vector<PlanFile> parts;
             for (const MeasuredPlan& part : file.plan.parts) parts.push_back({*part.plan, {}});
             return parts;
           })
      .def("mechanisms", [](const PlanFile& file) { return ListMechanisms(file.plan); })
      .def(
          "noise_variance",
          [](const PlanFile& file, const AttributeSet& set) {
            return ToString(NoiseVariance(file.plan, file.plan.domain.MakeSet(set)));
          },
          nb::arg("attributes"))
      .def(
          "find_set",
          [](const PlanFile& file, const std::vector<std::string>& names) {
            std::vector<int> indices;
            for (const std::string& name : names) {
              indices.push_back(FindAttribute(file.plan.domain, name));
            }
            return file.plan.domain.MakeSet(std::move(indices));
          },
          nb::arg("names"))
      .def(
          "labels",
          [](const PlanFile& file, const std::string& answers) {
            return LabelsOf(file.plan, answers);
          },
          nb::arg("answers"))
      .def(
          "basis",
          [](const PlanFile& file, int attribute) { return DescribeBasis(file.plan, attribute); },
          nb::arg("attribute"))
      .def(
          "variances",
          [](const PlanFile& file, const AttributeSet& table) {
            return PredictVariances(file.plan, table);
          },
          nb::arg("table"))
      .def("verify", [](const PlanFile& file) {
        RunJob([&](const Job&) {
          VerifyPlan(file.plan);
          return 0;
        });
      });
}

}  // namespace residua::python
