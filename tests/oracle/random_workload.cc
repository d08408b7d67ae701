#include "tests/oracle/random_workload.h"

#include <cmath>
#include <string>
#include <vector>

#include "residua/model/answer_weights.h"
#include "tests/basis/tree_examples.h"
#include "tests/oracle/dense_mechanism.h"

namespace residua::oracle {

Domain RandomDomain(const RandomDomainLimits& limits, std::mt19937* random) {
  const auto draw = [&](int64_t first, int64_t last) {
    return std::uniform_int_distribution<int64_t>(first, last)(*random);
  };
  for (;;) {
    std::vector<Attribute> attributes(static_cast<size_t>(draw(1, 4)));
    int64_t num_cells = 1;
    bool all_identity = true;
    for (Attribute& attribute : attributes) {
      attribute.name = std::to_string(&attribute - attributes.data());
      attribute.size = draw(2, limits.most_size);
      num_cells *= attribute.size;
      attribute.queries = static_cast<QueryKind>(draw(0, limits.custom ? 4 : 3));
      all_identity = all_identity && attribute.queries == QueryKind::kIdentity;
      if (attribute.queries == QueryKind::kHierarchy && limits.trees && attribute.size > 2) {
        const std::string name = attribute.name;
        attribute = RandomTree(attribute.size, *random);
        attribute.name = name;
        const size_t num_levels = draw(0, 1) == 1 ? AnswersOfLevels(attribute).size() : 0;
        for (size_t l = 0; l < num_levels; ++l) {
          attribute.level_weights.push_back(std::exp(0.01 * static_cast<double>(draw(-230, 230))));
        }
      } else if (attribute.queries == QueryKind::kHierarchy) {
        attribute.groups = {{"first", {0}}, {"last", {attribute.size - 2, attribute.size - 1}}};
      }
      if (attribute.queries == QueryKind::kCustom) {
        // The total, one that tells the first cell apart, and rows that may depend on others.
        attribute.custom.num_rows = draw(2, 5);
        for (int64_t k = 0; k < attribute.custom.num_rows * attribute.size; ++k) {
          const auto any = static_cast<double>(draw(-2, 3));
          attribute.custom.entries.push_back(k < attribute.size    ? 1
                                             : k == attribute.size ? 4
                                                                   : any);
        }
      }
    }
    if (num_cells >= limits.least_cells && num_cells <= limits.most_cells && !all_identity) {
      return Domain(attributes);
    }
  }
}

Workload RandomWorkload(const Domain& domain, double spread, std::mt19937* random) {
  Workload workload;
  std::uniform_real_distribution<double> uniform(0, 1);
  for (uint64_t mask = 0; mask < uint64_t{1} << domain.size(); ++mask) {
    if (uniform(*random) < 0.4 && mask + 1 < uint64_t{1} << domain.size()) continue;
    AttributeSet set;
    for (int i = 0; i < domain.size(); ++i) {
      if ((mask >> i & 1) != 0) set.push_back(i);
    }
    workload.marginals.push_back({set, std::exp(spread * uniform(*random))});
  }
  return workload;
}

Eigen::MatrixXd WeightedQueries(const Domain& domain, const Workload& workload) {
  std::vector<Eigen::MatrixXd> queries;
  for (const Attribute& attribute : domain.attributes()) {
    queries.push_back(DenseQueries(attribute));
    const std::vector<double> importance = WeighAnswers(attribute).importance;
    for (Eigen::Index q = 0; q < queries.back().rows(); ++q) {
      queries.back().row(q) *= std::sqrt(importance[static_cast<size_t>(q)]);
    }
  }
  Eigen::MatrixXd stacked;
  for (const WeightedMarginal& table : workload.marginals) {
    const Eigen::MatrixXd q = KroneckerOver(domain, table.attributes, queries);
    stacked.conservativeResize(stacked.rows() + q.rows(), q.cols());
    stacked.bottomRows(q.rows()) = std::sqrt(table.weight) * q;
  }
  return stacked;
}

}  // namespace residua::oracle
