// What the reader's page asks of residua's core. The numbers of a table are left in memory as
// doubles, and the answer says where.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/basis/basis_inverse.h"
#include "residua/files/file.h"
#include "residua/files/plan_file.h"
#include "residua/files/spec.h"
#include "residua/reconstruct/estimate.h"
#include "residua/reconstruct/mean_estimate.h"
#include "residua/reconstruct/table_answers.h"
#include "residua/reconstruct/table_reconstruction.h"
#include "residua/release/question_answer.h"
#include "residua/text/choice_text.h"
#include "residua/text/question_text.h"
#include "web/core/door.h"
#include "web/core/page_release.h"

namespace residua {
namespace {

// A table of more answers is not shown: a browser holds some hundred bytes for each.
constexpr int64_t kMaxShownAnswers = 1'000'000;

std::unique_ptr<PageRelease> release;
std::optional<std::vector<AxisAnswers>> axes_of_kind[3];  // by AnswerKind
// Of a table, column by column: estimates, standard deviations, lower and upper ends; of a table
// with a mean these of the counts, the sums and the means.
std::vector<double> table_values;

PageRelease& Loaded() {
  if (release == nullptr) Fail(ErrorKind::kBadInput, "no release was loaded");
  return *release;
}

// Integers of `width` bytes, plane by plane, the least significant first: as page.cc writes them.
template <typename Value, typename Unsigned>
std::vector<Value> ReadPlanes(const uint8_t* bytes, size_t count, int width) {
  std::vector<Unsigned> values(count, 0);
  for (int plane = 0; plane < width; ++plane) {
    const uint8_t* const begin = bytes + static_cast<size_t>(plane) * count;
    for (size_t k = 0; k < count; ++k) {
      values[k] |= static_cast<Unsigned>(begin[k]) << (8 * plane);
    }
  }
  // The sign is in the lowest bit, so that small negative numbers have few bytes too.
  std::vector<Value> numbers(count);
  for (size_t k = 0; k < count; ++k) {
    const Unsigned half = values[k] >> 1;
    numbers[k] = static_cast<Value>((values[k] & 1) != 0 ? ~half : half);
  }
  return numbers;
}

// What a page brings is shorter than it says.
[[noreturn]] void FailIncomplete() {
  Fail(ErrorKind::kBadInput, "the values of this page are incomplete; ask for it again");
}

// The inverses of the bases as the program that wrote the page computed them, so that answers are
// the same to the last digit: another processor may round a product of matrices otherwise.
size_t ReadInverses(const uint8_t* bytes, size_t num_bytes, Plan* plan) {
  size_t at = 0;
  const auto read = [&](double* values, size_t count) {
    if ((num_bytes - at) / sizeof(double) < count) FailIncomplete();
    std::memcpy(values, bytes + at, count * sizeof(double));
    at += count * sizeof(double);
  };
  for (ResidualBasis& basis : plan->bases) {
    if (!std::holds_alternative<IntegerMatrix>(basis.matrix)) continue;
    Eigen::VectorXd constant(basis.inverse->constant.size());
    Eigen::MatrixXd residual(basis.inverse->residual.rows(), basis.inverse->residual.cols());
    read(constant.data(), static_cast<size_t>(constant.size()));
    read(residual.data(), static_cast<size_t>(residual.size()));
    basis.inverse = std::make_shared<BasisInverse>(std::move(constant), std::move(residual));
  }
  return at;
}

Json Load(const Json& request, const uint8_t* bytes, size_t num_bytes) {
  PlanFile file = PlanFromJson(request.at("plan").get<std::string>(), "the plan of this page");
  size_t at = 0;
  if (request.at("inverses").get<bool>()) {
    at = ReadInverses(bytes, num_bytes, &file.plan);
  }
  const Plan& plan = file.plan;
  const std::vector<ResidualBasis> bases = BasisOfAttributes(plan);
  std::vector<NoisyResidual> residuals;
  std::vector<Rational> variances;
  for (const Json& text : request.at("variances")) {
    variances.push_back(ParseRational(text.get<std::string>(), "a variance of this page"));
  }
  for (const Json& set : request.at("sets")) {
    NoisyResidual residual;
    residual.attributes = plan.domain.MakeSet(set.at(0).get<std::vector<int>>());
    residual.noise_variance = variances.at(set.at(1).get<size_t>());
    residual.scale_bits = set.at(2).get<int>();
    const int width = set.at(3).get<int>();
    size_t count = 1;
    for (const int i : residual.attributes) {
      count *= static_cast<size_t>(NumResidualRows(bases[static_cast<size_t>(i)]));
    }
    if (width < 1 || width > 16 || num_bytes - at < count * static_cast<size_t>(width)) {
      FailIncomplete();
    }
    if (width <= 8) {
      residual.values = ReadPlanes<int64_t, uint64_t>(bytes + at, count, width);
    } else {
      residual.values = ReadPlanes<Int128, UInt128>(bytes + at, count, width);
    }
    at += count * static_cast<size_t>(width);
    residuals.push_back(std::move(residual));
  }
  release = std::make_unique<PageRelease>(std::move(file), std::move(residuals),
                                          request.at("seal").get<std::string>());
  release->index();  // what does not fit together is refused now
  return Json::object();
}

// The attributes, with the labels of their cells, and the sets that can be asked for.
Json Describe() {
  PageRelease& page = Loaded();
  Json attributes = Json::array();
  const Domain& domain = page.plan().domain;
  for (int i = 0; i < domain.size(); ++i) {
    const Attribute& attribute = domain[i];
    Json cells = Json::array();
    for (int64_t cell = 0; cell < attribute.size; ++cell) {
      cells.push_back(CellLabel(attribute, cell));
    }
    Json groups = Json::array();
    for (const CellGroup& group : attribute.groups) {
      groups.push_back({{"name", group.name}, {"cells", group.cells}});
    }
    attributes.push_back({{"name", attribute.name},
                          {"kind", QueriesText(attribute)},
                          {"cells", std::move(cells)},
                          {"groups", std::move(groups)},
                          {"nullCell", attribute.encoding.null_cell},
                          {"tellsCellsApart", page.index().basis(i).tells_cells_apart()}});
  }
  return {{"attributes", std::move(attributes)}, {"leftOut", page.LeftOut()}};
}

AnswerKind KindFrom(const Json& text) {
  if (text == "cells") return AnswerKind::kCells;
  if (text == "prefixes") return AnswerKind::kPrefixes;
  return AnswerKind::kPlanned;
}

// Appends a column to the table's values.
void AppendColumn(std::span<const double> values) {
  table_values.insert(table_values.end(), values.begin(), values.end());
}

// Appends estimates, their standard deviations, of which one may stand for all, and the ends of their
// intervals, as the files of tables have them.
void AppendEstimates(std::span<const double> estimates, std::span<const double> std_devs,
                     double quantile, double widening) {
  const size_t count = estimates.size();
  const size_t at = table_values.size();
  table_values.resize(at + 4 * count);
  for (size_t k = 0; k < count; ++k) {
    const double std_dev = std_devs[std_devs.size() == 1 ? 0 : k];
    const double reach = quantile * std_dev + widening;
    table_values[at + k] = estimates[k];
    table_values[at + count + k] = std_dev;
    table_values[at + 2 * count + k] = estimates[k] - reach;
    table_values[at + 3 * count + k] = estimates[k] + reach;
  }
}

// The counts, sums and means of a table with the MeanAxis at place `axis`. Returns their number.
size_t AppendMeans(const MeanEncoding& mean, const ResidualIndex& index, const AttributeSet& table,
                   std::span<const AxisAnswers* const> axes, size_t axis, double quantile) {
  const MeanColumns columns =
      MakeMeanColumns(mean, AnswerTable(Reconstruct(index, table), axes),
                      AnswerVariances(index, table, axes), axes, axis, quantile);
  AppendEstimates(columns.counts, columns.count_std_devs, quantile, 0);
  AppendEstimates(columns.sums, columns.sum_std_devs, quantile, 0);
  AppendColumn(columns.means);
  AppendColumn(columns.mean_std_devs);
  AppendColumn(columns.mean_lower);
  AppendColumn(columns.mean_upper);
  return columns.counts.size();
}

size_t AppendCounts(const ResidualIndex& index, const AttributeSet& table,
                    std::span<const AxisAnswers* const> axes, double quantile) {
  const std::vector<double> counts = Reconstruct(index, table);
  std::vector<double> std_devs = AnswerVariances(index, table, axes);
  const double half_step = TableHalfStep(index, table, axes, std_devs);
  const std::vector<double> estimates = std_devs.size() == 1 ? counts : AnswerTable(counts, axes);
  const double widening =
      half_step > 0 ? IntervalWidening(
                          quantile, *std::min_element(std_devs.begin(), std_devs.end()), half_step)
                    : 0;
  for (double& value : std_devs) value = std::sqrt(value);
  AppendEstimates(estimates, std_devs, quantile, widening);
  return estimates.size();
}

// Every answer of a table, as `residua tables` has them: "answers" says for each attribute what is
// asked of it. An attribute whose mean is asked has no labels.
Json Table(const Json& request) {
  PageRelease& page = Loaded();
  const auto attributes = request.at("table").get<std::vector<int>>();
  const AttributeSet table = page.plan().domain.MakeSet(attributes);
  if (table != attributes) Fail(ErrorKind::kBadInput, "the attributes of a table must increase");
  std::vector<const AxisAnswers*> axes;
  Json labels = Json::array();
  int64_t num_answers = 1;
  std::optional<size_t> mean_axis;
  for (size_t k = 0; k < table.size(); ++k) {
    const AnswerKind kind = KindFrom(request.at("answers").at(k));
    auto& all_axes = axes_of_kind[static_cast<int>(kind)];
    if (!all_axes) all_axes = AxesOf(page.plan(), kind);
    axes.push_back(&(*all_axes)[static_cast<size_t>(table[k])]);
    if (MeanOf(page.plan().domain[table[k]]) != nullptr) {
      mean_axis = k;
      labels.push_back(Json::array());
      continue;
    }
    labels.push_back(axes.back()->labels);
    num_answers = CheckedMultiply(num_answers, std::ssize(axes.back()->labels));
  }
  if (num_answers > kMaxShownAnswers) return {{"tooLarge", num_answers}};
  if (Json missing = page.MissingOf({&table, 1}); !missing.is_null()) return missing;
  const ResidualIndex& index = page.index();
  const double quantile = TwoSidedQuantile(request.at("confidence").get<double>());
  table_values.clear();
  const size_t count = mean_axis ? AppendMeans(*MeanOf(page.plan().domain[table[*mean_axis]]),
                                               index, table, axes, *mean_axis, quantile)
                                 : AppendCounts(index, table, axes, quantile);
  return {{"labels", std::move(labels)},
          {"count", count},
          {"at", reinterpret_cast<uintptr_t>(table_values.data())}};
}

// Of a mean of too few rows, nulls.
Json AnswerJson(const QuestionAnswer& answer) {
  if (!answer.interval) {
    return {
        {"estimate", nullptr}, {"std_dev", nullptr}, {"ci_lower", nullptr}, {"ci_upper", nullptr}};
  }
  return {{"estimate", answer.estimate.value},
          {"std_dev", std::sqrt(answer.estimate.variance)},
          {"ci_lower", answer.interval->lower},
          {"ci_upper", answer.interval->upper}};
}

Json EstimateJson(const Estimate& estimate, double confidence) {
  return AnswerJson({estimate, ConfidenceInterval(estimate, confidence)});
}

// What is asked for: the count of rows, or the sum or the mean of an attribute.
Json QuantityOf(const AnyQuestion& question) {
  const ProductQuery& query = *QueriesOf(question).front();
  for (const AttributeWeights& factor : query.factors()) {
    if (!std::holds_alternative<std::vector<double>>(factor.weights)) continue;
    return {{"of", factor.attribute},
            {"is", std::holds_alternative<MeanQuestion>(question) ? "mean" : "sum"}};
  }
  return {{"of", nullptr}, {"is", "count"}};
}

std::vector<AttributeSet> TablesOf(std::span<const AnyQuestion> questions) {
  std::vector<AttributeSet> tables;
  for (const AnyQuestion& question : questions) {
    for (const ProductQuery* query : QueriesOf(question)) tables.push_back(query->attributes());
  }
  return tables;
}

// One question, as `residua query --json` answers it.
Json Ask(const Json& request) {
  PageRelease& page = Loaded();
  const std::vector<AnyQuestion> asked = {
      ParseAnyQuestion(request.at("question").get<std::string>(), page.plan().domain)};
  if (Json missing = page.MissingOf(TablesOf(asked)); !missing.is_null()) return missing;
  Json json =
      AnswerJson(AnswerAny(page.index(), asked.front(), request.at("confidence").get<double>()));
  json["quantity"] = QuantityOf(asked.front());
  return json;
}

// Two questions, as `residua query --covariance --json` answers them.
Json Compare(const Json& request) {
  PageRelease& page = Loaded();
  const Domain& domain = page.plan().domain;
  const double confidence = request.at("confidence").get<double>();
  const std::vector<AnyQuestion> asked = {
      ParseAnyQuestion(request.at("first").get<std::string>(), domain),
      ParseAnyQuestion(request.at("second").get<std::string>(), domain)};
  if (Json missing = page.MissingOf(TablesOf(asked)); !missing.is_null()) return missing;
  const Comparison both = CompareAny(page.index(), asked[0], asked[1], confidence);
  Json json = {{"covariance", both.covariance},
               {"correlation", both.correlation},
               {"first", EstimateJson(both.first, confidence)},
               {"second", EstimateJson(both.second, confidence)},
               {"difference", EstimateJson(both.difference, confidence)},
               {"sum", EstimateJson(both.sum, confidence)},
               {"hasMean", both.has_mean},
               {"ratio", nullptr}};
  if (both.ratio) {
    json["ratio"] = {{"estimate", both.first.value / both.second.value},
                     {"ci_lower", both.ratio->lower},
                     {"ci_upper", both.ratio->upper}};
  }
  return json;
}

}  // namespace

// Marks an attribute whose cells were read from the data; what was measured has none.
bool ParseCheck(std::string_view) {
  Fail(ErrorKind::kRefused, "the plan's attributes were read from the data");
}

std::string ReadFile(const std::filesystem::path&) {
  Fail(ErrorKind::kIo, "a page reads no files");
}

Json Call(const Json& request, const uint8_t* bytes, size_t num_bytes) {
  const auto what = request.at("do").get<std::string>();
  if (what == "load") return Load(request, bytes, num_bytes);
  if (what == "describe") return Describe();
  const std::string_view text(reinterpret_cast<const char*>(bytes), num_bytes);
  if (what == "open") return Loaded().Open(request.at("size").get<int64_t>(), text);
  if (what == "take") return Loaded().Take(request.at("offset").get<int64_t>(), text);
  if (what == "close") {
    Loaded().Close();
    return Json::object();
  }
  if (what == "table") return Table(request);
  if (what == "ask") return Ask(request);
  if (what == "compare") return Compare(request);
  Fail(ErrorKind::kBadInput, "'{}' is not a call", what);
}

}  // namespace residua
