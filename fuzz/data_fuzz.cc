#include "fuzz/only_errors.h"
#include "fuzz/scratch_folder.h"
#include "residua/data/data_source.h"
#include "residua/files/spec.h"

namespace residua {
namespace {

const Domain& FixedDomain() {
  static const Domain domain = ParseSpec(R"(
    [attributes.age]
    integers = [0, 9]
    outside = "clamp"
    null = true
    [attributes.income]
    cuts = [10, 20.5]
    outside = "null"
    null = true
    [attributes.sex]
    values = ["f", "m"]
    outside = "drop"
  )",
                                         "domain.toml")
                                   .domain;
  return domain;
}

// For a CSV file that can be read, the survey agrees with reading, and every row is in a cell or
// counted as dropped.
void ReadAndSurvey(const std::filesystem::path& path) {
  const DataSource source{path.string(), "", ""};
  const ReadResult result = ReadEncodedTable(source, FixedDomain());
  const ReadReport survey = SurveyTable(source, FixedDomain(), {});
  RESIDUA_CHECK(survey.num_rows_read == result.report.num_rows_read);
  RESIDUA_CHECK(survey.num_rows_dropped == result.report.num_rows_dropped);
  RESIDUA_CHECK(result.table.num_rows() + result.report.num_rows_dropped ==
                result.report.num_rows_read);
}

}  // namespace
}  // namespace residua

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const residua::ScratchFolder folder;
  const auto path = folder.Write("data.csv", residua::TextOfInput(data, size));
  residua::ExpectOnlyErrors([&] { residua::ReadAndSurvey(path); });
  return 0;
}
