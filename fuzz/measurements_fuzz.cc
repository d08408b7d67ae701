#include "fuzz/only_errors.h"
#include "fuzz/scratch_folder.h"
#include "residua/files/measurement_file.h"
#include "tests/fixtures/resealed.h"

// Any bytes as a measurement file, and the same with digests that fit them, so that what is behind
// the digests is tried too. Files of format 1 are read by DuckDB, which is not instrumented.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const residua::ScratchFolder folder;
  const auto path = folder.Write("m.parquet", residua::TextOfInput(data, size));
  const auto verify = [&] { residua::VerifyMeasurements(residua::MeasurementFile(path)); };
  residua::ExpectOnlyErrors(verify);
  residua::ExpectOnlyErrors([&] {
    folder.Write("m.parquet", residua::Resealed(path));
    verify();
  });
  return 0;
}
