#pragma once

#include <Eigen/Core>
#include <random>

#include "residua/model/domain.h"
#include "residua/model/workload.h"

namespace residua::oracle {

// What RandomDomain may draw.
struct RandomDomainLimits {
  int64_t least_cells = 1;
  int64_t most_cells = 30;
  int64_t most_size = 6;  // of an attribute
  bool custom = true;     // queries too that do not tell all cells apart
  bool trees = false;     // hierarchies are RandomTree, every other one with weights of its levels
};

// One to four attributes of every kind, not all of them identities.
Domain RandomDomain(const RandomDomainLimits& limits, std::mt19937* random);

// About six in ten of all tables, the one of all attributes among them, with weights from 1 to
// e^`spread`.
Workload RandomWorkload(const Domain& domain, double spread, std::mt19937* random);

// The queries of every table of the workload, each times the root of its table's weight and of its
// importance: a row for each answer, a column for each cell of the domain.
Eigen::MatrixXd WeightedQueries(const Domain& domain, const Workload& workload);

}  // namespace residua::oracle
