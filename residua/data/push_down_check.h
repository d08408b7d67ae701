#pragma once

#include <string>

#include "residua/model/domain.h"
#include "residua/privacy/protection.h"

namespace residua {

// Error{kBadInput} or Error{kTooLarge} if rows of the `database` cannot be counted so. By public
// facts alone: the kind of database, the domain and what is protected. With an identifier they
// cannot: which rows of a person count is drawn at random, from bits that a database does not have.
// The types of its columns, which the database tells when it is asked, may forbid it as well.
void CheckPushDown(const std::string& database, const Domain& domain, const Protection& protection);

}  // namespace residua
