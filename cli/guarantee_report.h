#pragma once

#include <string>

#include "residua/ledger/ledger.h"
#include "residua/privacy/budget.h"
#include "residua/text/json_text.h"

namespace residua::cli {

// "rho 0.5 (zCDP), mu 1 (Gaussian DP), epsilon 6.2 at delta 1e-09", each rounded up; without mu
// where the noise is too small for it.
std::string GuaranteeInWords(const Guarantee& guarantee);

// Adds rho, mu, epsilon and delta; mu is null where the noise is too small for it.
void AddGuarantee(const Guarantee& guarantee, Json* json);

// Adds what was spent and granted, in rho and in mu^2.
void AddBalance(const Ledger::Balance& balance, Json* json);

}  // namespace residua::cli
