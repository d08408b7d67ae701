#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "residua/release/published_errors.h"
#include "residua/select/mean_errors.h"
#include "residua/text/json_text.h"

namespace residua::cli {

// The errors of sums and means in the units of their numbers, one line per table. With the number of
// rows that are expected in all, those of means too, as if rows were spread evenly.
void PrintMeanErrors(const Plan& plan, std::span<const MeanErrors> errors,
                     std::optional<double> num_rows);

// {attribute, answers, count_std_dev, sum_std_dev, mean_std_dev_times_rows}, and with the number of
// rows {rows, mean_std_dev}.
Json MeanErrorsJson(const Plan& plan, const MeanErrors& errors, std::optional<double> num_rows);

// "answers: root mean square 1, largest 2"; where there are sums too, of the counts.
std::string ErrorsInWords(const PublishedSummary& errors);
// "sums of value - LOW, in units of HIGH - LOW: largest 2"; empty if there are none.
std::string SumErrorsInWords(const PublishedSummary& errors);

// The tables with two means that the rules of the workload leave out, in words; empty if there are
// none.
std::string LeftOutInWords(const Domain& domain, const Workload& workload);

}  // namespace residua::cli
