#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "residua/model/attribute_set.h"
#include "residua/select/objective.h"

namespace residua::bench {

// The paper's study of cell fairness: all tables of up to three of Adult's attributes, privacy cost
// 1, the weighted sum of variances at three weightings, and the variance that a cell of each table
// then has.
struct FairnessPoint {
  Weighting weighting = Weighting::kEqual;
  AttributeSet attributes;
  double num_cells = 0;
  double variance = 0;
};
std::vector<FairnessPoint> StudyFairness();

// weighting, attributes (their sizes, joined by x), num_attributes, num_cells, variance: what
// bench/charts.py draws.
std::string FairnessCsv(const std::vector<FairnessPoint>& points);

// Least, median and largest variance by weighting and number of attributes, beside what the paper
// says about its plots.
std::string FairnessText(const std::vector<FairnessPoint>& points);
nlohmann::ordered_json FairnessJson(const std::vector<FairnessPoint>& points);

}  // namespace residua::bench
