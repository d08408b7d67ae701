#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "residua/model/domain.h"

namespace residua {

// The texts that mean a missing value in every column of the data. A column of numbers has none of
// them as text: its values are compared with those that are numbers.
class NullValues {
 public:
  NullValues() = default;
  explicit NullValues(const std::vector<std::string>& texts);

  // As it stands or, with a decimal point, as a number: -9.0 is a -9 that is listed.
  bool Contains(std::string_view text) const;
  bool Contains(int64_t value) const;
  bool Contains(double value) const;
  // The text of a number: 9.0 is a 9 that is listed.
  bool ContainsNumber(std::string_view text) const;

  // What values are compared with: texts as they stand, decimals as CanonicalDecimal writes them.
  const std::vector<std::string>& texts() const { return texts_; }
  const std::vector<std::string>& decimals() const { return decimals_; }
  const std::vector<int64_t>& integers() const { return integers_; }
  const std::vector<double>& numbers() const { return numbers_; }

 private:
  bool ContainsDecimal(std::string_view text) const;

  std::vector<std::string> texts_;
  std::vector<std::string> decimals_;  // by CanonicalDecimal
  std::vector<int64_t> integers_;
  std::vector<double> numbers_;
};

// Error{kBadInput} if an attribute lists one of the texts among its values: no row could have it.
void CheckNullValues(const std::vector<std::string>& texts, const Domain& domain);

}  // namespace residua
