#pragma once

#include <mpfr.h>

namespace residua {

// An mpfr_t that frees itself.
class BigFloat {
 public:
  explicit BigFloat(mpfr_prec_t precision) { mpfr_init2(value_, precision); }
  ~BigFloat() { mpfr_clear(value_); }
  BigFloat(const BigFloat&) = delete;
  BigFloat& operator=(const BigFloat&) = delete;

  mpfr_ptr operator()() { return value_; }
  mpfr_srcptr operator()() const { return value_; }

 private:
  mpfr_t value_;
};

}  // namespace residua
