#include "fuzz/only_errors.h"
#include "fuzz/scratch_folder.h"
#include "residua/files/measurement_file.h"

// Any bytes as a measurement file. The Parquet reader itself is DuckDB's, and not instrumented.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const residua::ScratchFolder folder;
  const auto path = folder.Write("m.parquet", residua::TextOfInput(data, size));
  residua::ExpectOnlyErrors([&] { residua::VerifyMeasurements(residua::MeasurementFile(path)); });
  return 0;
}
