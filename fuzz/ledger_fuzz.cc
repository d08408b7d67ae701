#include "fuzz/only_errors.h"
#include "fuzz/scratch_folder.h"
#include "residua/ledger/ledger.h"
#include "residua/privacy/protection.h"

namespace residua {
namespace {

// Whatever the file contains, what is reserved was affordable, and is counted.
void OpenAndSpend(const std::filesystem::path& path) {
  Ledger ledger = Ledger::Open(path);
  const Ledger::Balance before = ledger.CurrentBalance();
  const Ledger::Spend spend{
      Rational(1, 100),      1e-9,  "sha256:0", path.parent_path() / "m.parquet",
      NeighboursInWords({}), false, false,      "m.parquet.a1B2c3"};
  const int64_t id = ledger.Reserve(spend);
  const Ledger::Balance after = ledger.CurrentBalance();
  RESIDUA_CHECK(after.granted == before.granted);
  RESIDUA_CHECK(after.spent == before.spent + spend.pcost);
  RESIDUA_CHECK(after.spent <= after.granted);
  ledger.Confirm(id, spend.temporary);
  RESIDUA_CHECK(ledger.FindPlan(spend.plan_digest).has_value());
}

}  // namespace
}  // namespace residua

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const residua::ScratchFolder folder;
  std::filesystem::remove(folder.Path("ledger-journal"));
  const auto path = folder.Write("ledger", residua::TextOfInput(data, size));
  residua::ExpectOnlyErrors([&] { residua::OpenAndSpend(path); });
  return 0;
}
