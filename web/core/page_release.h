#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "residua/files/measurement_rows.h"
#include "residua/files/plan_file.h"
#include "residua/measure/measurements.h"
#include "residua/reconstruct/residual_index.h"
#include "residua/text/json_text.h"

namespace residua {

// What a page knows of a release: the plan, the noisy values that fit into the page, and, once a
// reader has given it, the measurement file that the page was made from. Of that file only what is
// asked for is read and held.
class PageRelease {
 public:
  // `seal` is that of the measurement file.
  PageRelease(PlanFile file, std::vector<NoisyResidual> residuals, std::string seal);
  PageRelease(const PageRelease&) = delete;
  PageRelease& operator=(const PageRelease&) = delete;

  const Plan& plan() const { return file_.plan; }

  // Of all sets that are in the page or, when there is one, in the file. It holds what was read.
  const ResidualIndex& index();

  // The sets that were measured and are not in the page.
  std::vector<AttributeSet> LeftOut() const;

  // Opens a file of `size` bytes, of which the first four and as many of the last as are known are
  // given. Returns {"needs": number} if more of its end must be known; {"problem": name} if it is
  // not the file that the page was made from, and {} when it is open. A file that was opened
  // before stays open unless this one takes its place.
  Json Open(int64_t size, std::string_view first_and_last);
  void Close();

  // What must be done before these tables can be answered: nothing if the result is null;
  // {"needs": [[offset, size], ...]} if stretches of the file must be read; {"leftOut": table} if
  // there is no file, {"tooLarge": number} for more values than are held at once.
  Json MissingOf(std::span<const AttributeSet> tables);

  // Takes one of the stretches. {"problem": name} if it is not what was measured, which closes the
  // file.
  Json Take(int64_t offset, std::string_view bytes);

 private:
  bool CopyKnown(int64_t offset, std::span<char> bytes) const;

  PlanFile file_;
  std::vector<NoisyResidual> in_page_;
  std::string seal_;
  std::optional<MeasurementRows> rows_;
  std::map<size_t, NoisyResidual> read_;  // by their number in the file
  std::optional<ResidualIndex> index_;    // made when it is asked for
  // What is known of the file now.
  int64_t known_from_ = 0;
  std::string_view known_;
};

}  // namespace residua
