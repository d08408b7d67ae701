#include "residua/data/query_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <unordered_set>

#include "residua/base/error.h"
#include "residua/base/shown_text.h"
#include "residua/data/value_encoder.h"
#include "residua/text/json_text.h"

namespace residua {
namespace {

using Names = std::unordered_set<std::string>;

Names WordsOf(const char* text) {
  std::istringstream stream(text);
  Names words;
  for (std::string word; stream >> word;) words.insert(word);
  return words;
}

const Names& HarmlessFunctions() {
  static const Names names = WordsOf(
      // Operators, also as DuckDB names them itself.
      "+ - * ** / // % ^ & | ~ << >> @ ! || && <@ @> <-> <=> ^@ ~~ !~~ ~~* !~~* ~~~ ->> !__postfix "
      "like_escape not_like_escape ilike_escape not_ilike_escape "
      // Numbers.
      "abs add acos acosh asin asinh atan atan2 atanh bin bit_count bit_length bit_position "
      "bitstring cbrt ceil ceiling cos cosh cot degrees divide equi_width_bins even exp factorial "
      "fdiv floor fmod from_base64 from_binary from_hex gamma gcd get_bit greatest "
      "greatest_common_divisor hex is_histogram_other_bin isfinite isinf isnan lcm least "
      "least_common_multiple lgamma ln log log10 log2 mod multiply nextafter pi pow power radians "
      "round round_even roundbankers set_bit sign signbit sin sinh sqrt subtract tan tanh to_base "
      "to_base64 to_binary to_hex trunc unbin unhex xor base64 "
      // Text.
      "ascii bar char_length character_length chr concat concat_ws contains damerau_levenshtein "
      "decode editdist3 encode ends_with format formatReadableDecimalSize formatReadableSize "
      "format_bytes hamming hash instr jaccard jaro_similarity jaro_winkler_similarity lcase left "
      "left_grapheme len length length_grapheme levenshtein lower lpad ltrim md5 md5_number "
      "mismatches nfc_normalize octet_length ord parse_dirname parse_dirpath parse_filename "
      "parse_formatted_bytes parse_path position prefix printf regexp_escape regexp_extract "
      "regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array "
      "repeat replace reverse right right_grapheme rpad rtrim sha1 sha256 split starts_with "
      "str_split str_split_regex string_split string_split_regex string_to_array strip_accents "
      "strlen strpos substr substring substring_grapheme suffix translate trim ucase unicode upper "
      "url_decode url_encode icu_sort_key create_sort_key uuid_extract_timestamp "
      "uuid_extract_version "
      // Dates and times.
      "age century current_date current_localtime current_localtimestamp date_diff date_part "
      "date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth dayofweek "
      "dayofyear decade epoch epoch_ms epoch_ns epoch_us era get_current_time "
      "get_current_timestamp hour isodow isoyear julian last_day make_date make_time "
      "make_timestamp make_timestamp_ms make_timestamp_ns make_timestamptz microsecond millennium "
      "millisecond minute month monthname nanosecond normalized_interval now quarter second "
      "strftime strptime time_bucket timetz_byte_comparable timezone timezone_hour "
      "timezone_minute to_centuries to_days to_decades to_hours to_microseconds to_millennia "
      "to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years "
      "today transaction_timestamp try_strptime week weekday weekofyear year yearweek "
      // Types, enumerations and what DuckDB puts in by itself.
      "alias constant_or_null enum_code enum_first enum_last enum_range enum_range_boundary typeof "
      "unpivot_list remap_struct "
      // Lists, structs, maps and unions.
      "aggregate apply array_aggr array_aggregate array_apply array_cat array_concat "
      "array_contains "
      "array_cosine_distance array_cosine_similarity array_cross_product array_distance "
      "array_distinct array_dot_product array_extract array_filter array_grade_up array_has "
      "array_has_all array_has_any array_indexof array_inner_product array_intersect array_length "
      "array_negative_dot_product array_negative_inner_product array_position array_reduce "
      "array_resize array_reverse_sort array_select array_slice array_sort array_transform "
      "array_unique array_value array_where array_zip cardinality element_at filter flatten "
      "generate_series grade_up list_aggr list_aggregate list_apply list_cat list_concat "
      "list_contains list_cosine_distance list_cosine_similarity list_distance list_distinct "
      "list_dot_product list_element list_extract list_filter list_grade_up list_has list_has_all "
      "list_has_any list_indexof list_inner_product list_intersect list_negative_dot_product "
      "list_negative_inner_product list_pack list_position list_reduce list_resize "
      "list_reverse_sort list_select list_slice list_sort list_transform list_unique list_value "
      "list_where list_zip map map_concat map_contains map_entries map_extract map_extract_value "
      "map_from_entries map_keys map_values range reduce row struct_concat struct_contains "
      "struct_extract struct_extract_at struct_has struct_indexof struct_insert struct_keys "
      "struct_pack struct_position struct_update struct_values union_extract union_tag union_value "
      // JSON.
      "array_to_json from_json from_json_strict json_array json_array_length json_contains "
      "json_exists json_extract json_extract_path json_extract_path_text json_extract_string "
      "json_keys json_merge_patch json_object json_pretty json_quote json_structure "
      "json_transform json_transform_strict json_type json_valid json_value row_to_json to_json "
      // Aggregates.
      "any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null "
      "arg_max_nulls_last arg_min arg_min_null arg_min_nulls_last argmax argmin array_agg avg "
      "bit_and bit_or bit_xor bitstring_agg bool_and bool_or corr count count_if count_star "
      "countif covar_pop covar_samp entropy favg first fsum group_concat histogram "
      "histogram_exact kahan_sum kurtosis kurtosis_pop last list listagg mad max max_by mean "
      "median min min_by mode product quantile quantile_cont quantile_disc regr_avgx regr_avgy "
      "regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy "
      "reservoir_quantile sem skewness stddev stddev_pop stddev_samp string_agg sum "
      "sum_no_overflow sumkahan var_pop var_samp variance");
  return names;
}

const Names& HarmlessTableFunctions() {
  static const Names names = WordsOf("seq_scan range generate_series unnest");
  return names;
}

// Operators of DuckDB's plan that take each row by itself.
bool IsRowByRow(const std::string& logical_operator) {
  static const Names names = WordsOf(
      "LOGICAL_GET LOGICAL_PROJECTION LOGICAL_FILTER LOGICAL_ORDER_BY LOGICAL_DUMMY_SCAN "
      "LOGICAL_EXPRESSION_GET LOGICAL_CHUNK_GET LOGICAL_EMPTY_RESULT LOGICAL_MATERIALIZED_CTE "
      "LOGICAL_CTE_REF LOGICAL_DELIM_GET");
  return names.contains(logical_operator);
}

// What other operators do; nothing for operators that no SELECT needs.
std::optional<RowOperation> OperationOf(const std::string& logical_operator) {
  static const std::map<std::string, RowOperation, std::less<>> operations = {
      {"LOGICAL_JOIN", RowOperation::kJoin},
      {"LOGICAL_COMPARISON_JOIN", RowOperation::kJoin},
      {"LOGICAL_ANY_JOIN", RowOperation::kJoin},
      {"LOGICAL_ASOF_JOIN", RowOperation::kJoin},
      {"LOGICAL_CROSS_PRODUCT", RowOperation::kJoin},
      {"LOGICAL_DELIM_JOIN", RowOperation::kJoin},
      {"LOGICAL_DEPENDENT_JOIN", RowOperation::kJoin},
      {"LOGICAL_POSITIONAL_JOIN", RowOperation::kJoin},
      {"LOGICAL_AGGREGATE_AND_GROUP_BY", RowOperation::kAggregate},
      {"LOGICAL_PIVOT", RowOperation::kAggregate},
      {"LOGICAL_DISTINCT", RowOperation::kDistinct},
      {"LOGICAL_WINDOW", RowOperation::kWindow},
      {"LOGICAL_UNNEST", RowOperation::kUnnest},
      {"LOGICAL_UNION", RowOperation::kSetOperation},
      {"LOGICAL_EXCEPT", RowOperation::kSetOperation},
      {"LOGICAL_INTERSECT", RowOperation::kSetOperation},
      {"LOGICAL_RECURSIVE_CTE", RowOperation::kRecursion},
      {"LOGICAL_SAMPLE", RowOperation::kSample},
      {"LOGICAL_LIMIT", RowOperation::kLimit},
      {"LOGICAL_TOP_N", RowOperation::kLimit},
  };
  const auto found = operations.find(logical_operator);
  return found == operations.end() ? std::nullopt : std::optional(found->second);
}

std::string TextAt(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// Walks through a whole plan. What it does not know is refused.
class PlanWalk {
 public:
  explicit PlanWalk(const std::string& name) : name_(name) {}

  void Visit(const Json& node) {
    if (node.is_object()) VisitObject(node);
    if (!node.is_structured()) return;
    for (const Json& child : node) Visit(child);
  }

  QueryShape shape() const { return {{operations_.begin(), operations_.end()}}; }

 private:
  void VisitObject(const Json& object) {
    const std::string type = TextAt(object, "type");
    const std::string expression = TextAt(object, "expression_class");
    const bool is_operator = type.starts_with("LOGICAL_");
    if (is_operator) AddOperator(type);
    if (object.contains("expression_class")) CheckExpression(expression);
    // `has_serialize` is written wherever a function is called.
    const bool is_call = object.contains("has_serialize") || type == "LOGICAL_GET" ||
                         expression == "BOUND_FUNCTION" || expression == "BOUND_AGGREGATE";
    if (!is_call) return;
    if (is_operator) {
      CheckTableFunction(TextAt(object, "name"));
    } else {
      CheckFunction(TextAt(object, "name"), object);
    }
  }

  void AddOperator(const std::string& type) {
    if (IsRowByRow(type)) return;
    const auto operation = OperationOf(type);
    if (!operation) FailUnknown("an operation", type);
    operations_.insert(*operation);
  }

  void CheckExpression(const std::string& expression) const {
    static const Names known = WordsOf(
        "BOUND_AGGREGATE BOUND_BETWEEN BOUND_CASE BOUND_CAST BOUND_COLUMN_REF BOUND_COMPARISON "
        "BOUND_CONJUNCTION BOUND_CONSTANT BOUND_FUNCTION BOUND_LAMBDA BOUND_LAMBDA_REF "
        "BOUND_OPERATOR BOUND_REF BOUND_UNNEST BOUND_WINDOW");
    if (!known.contains(expression)) FailUnknown("an expression", expression);
  }

  [[noreturn]] void FailUnknown(std::string_view what, const std::string& kind) const {
    Fail(ErrorKind::kRefused,
         "{}: the query holds {} of the kind {}, which is not allowed; make a table of its result "
         "in the database, and select from that",
         name_, what, ShownText(kind));
  }

  void CheckFunction(const std::string& function, const Json& call) const {
    if (IsHarmlessFunction(function)) return;
    // DuckDB's own: a subquery that gives several rows where one is needed.
    if (function == "error" && SaysAConstant(call)) return;
    Fail(ErrorKind::kRefused,
         "{}: the query calls {} (itself, or in a view or macro), which is not allowed; compute "
         "the column beforehand, in a table of the database",
         name_, ShownText(function));
  }

  static bool SaysAConstant(const Json& call) {
    const auto arguments = call.find("children");
    return arguments != call.end() && std::ranges::all_of(*arguments, [](const Json& argument) {
             return TextAt(argument, "expression_class") == "BOUND_CONSTANT";
           });
  }

  void CheckTableFunction(const std::string& function) {
    if (function == "unnest") operations_.insert(RowOperation::kUnnest);
    if (IsHarmlessTableFunction(function)) return;
    Fail(ErrorKind::kRefused,
         "{}: the query reads from {} (itself, or in a view or macro), which is not allowed; put "
         "the rows into a table of the database beforehand",
         name_, ShownText(function));
  }

  const std::string& name_;
  std::set<RowOperation> operations_;
};

}  // namespace

bool IsHarmlessFunction(std::string_view name) {
  // There is one for each language, for text that is compared by its rules.
  return name.starts_with("icu_collate_") || HarmlessFunctions().contains(std::string(name));
}

bool IsHarmlessTableFunction(std::string_view name) {
  return HarmlessTableFunctions().contains(std::string(name));
}

QueryShape CheckQuery(const std::string& name, DuckDbConnection& connection,
                      const std::string& select) {
  const std::optional<std::string> text = connection.FirstText(fmt::format(
      "SELECT CAST(json_serialize_plan({}, skip_null := true, skip_empty := true) AS VARCHAR)",
      SqlText(select)));
  const Json plan = ParsedOrDiscarded(text.value_or(""));
  const auto plans = plan.is_object() ? plan.find("plans") : plan.end();
  const bool is_plan = plans != plan.end() && plans->size() == 1 &&
                       TextAt(plans->front(), "type").starts_with("LOGICAL_");
  // DuckDB has no plan to show for a query that reads a CSV or JSON file.
  const std::string message = plan.is_object() ? TextAt(plan, "error_message") : "";
  if (message.find("ReaderSerialize not implemented") != std::string::npos) {
    Fail(ErrorKind::kRefused,
         "{}: the query reads a file by itself, which is not allowed; select from its tables, or "
         "from data if it is a file",
         name);
  }
  if (!is_plan) {
    Fail(ErrorKind::kRefused,
         "{}: cannot find out what the query does{}; make a table of its result in the database, "
         "and select from that",
         name, message.empty() ? "" : ": " + ShownText(message));
  }
  PlanWalk walk(name);
  walk.Visit(*plans);
  return walk.shape();
}

}  // namespace residua
