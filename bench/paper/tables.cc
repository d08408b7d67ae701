#include "bench/paper/tables.h"

namespace residua::bench {
namespace {

const char kFaster[] =
    "Interchangeable attributes have equal noise at an optimum, so their base mechanisms have only "
    "a handful of unknowns (docs/math.md, Orbits).";
const char kOneSweep[] =
    "One sweep per attribute makes a table from all its residuals (docs/reconstruction.md). The "
    "residuals are synthetic, as many as a plan measures.";
const char kOptimal[] =
    "The paper's mechanism is optimal for marginals, and so is ours: the bound is attained. Some "
    "of the paper's figures are truncated, not rounded.";
const char kOptimalMax[] =
    "The paper's mechanism is optimal for marginals, and so is ours: within 1e-7 of the bound. "
    "HDMM cannot optimise this objective.";
const char kOblique[] =
    "Lower than the paper's, because of an oblique residual basis instead of an orthogonal one "
    "(docs/oblique_basis.md). The bound is proven, but not always attainable "
    "(docs/lower_bound.md).";
const char kKron[] =
    "Lower than the paper's: oblique residual bases include HDMM's product strategies, which are "
    "optimal here. The bound is the least loss itself; rounding to integers costs the last "
    "0.003 %.";
const char kTrueCost[] =
    "Higher than the paper's, and true: its code charges for noise of covariance Sub Sub^T and "
    "states variances for the identity, so that its privacy cost is understated (2.66 times for "
    "50 prefix sums; docs/oblique_basis.md). It also leaves out tables of more than 5000 cells, "
    "as the rows marked small do: there every one of its figures is below the bound, and so "
    "impossible at the cost it states.";

}  // namespace

const std::vector<PaperTable>& PaperTables() {
  static const std::vector<PaperTable> tables = {
      {"select-d", "tab:timeselect, fig:figtab2",
       "Time to select: d attributes of 10 values, all marginals of up to 3", "", "", kFaster},
      {"select-d-rmse", "tab:time-d-rmse",
       "Time to select for the RMSE, and RMSE, d attributes of 10", "SVD bound", "", kOptimal},
      {"select-d-maxvar", "tab:time-d-mavar",
       "Time to select for the largest variance, and its value, d attributes of 10", "", "",
       kOptimalMax},
      {"select-n-rmse", "tab:time-n-rmse",
       "Time to select for the RMSE, and RMSE, 5 attributes of n values", "SVD bound", "",
       kOptimal},
      {"select-n-maxvar", "tab:time-n-maxvar",
       "Time to select for the largest variance, and its value, 5 attributes of n", "", "",
       kOptimalMax},
      {"reconstruct-d", "tab:time-reconstruct-phase, fig:figtab3",
       "Time to reconstruct all tables of up to 3 of d attributes of 10 values", "HDMM+PGM", "",
       kOneSweep},
      {"reconstruct-d-n3", "tab:time-reconstruct-phase-n3",
       "Time to reconstruct all tables of up to 3 of d attributes of 3 values", "HDMM+PGM", "",
       kOneSweep},
      {"reconstruct-n", "tab:time-reconstruct",
       "Time to reconstruct all tables of up to 3 of 5 attributes of n values", "HDMM+PGM", "",
       "One sweep per attribute makes a table from all its residuals (docs/reconstruction.md). For "
       "n = 512 all ten tables share one array of residuals, so that it fits into memory."},
      {"rmse", "tab:accrmse", "RMSE of marginals", "SVD bound", "", kOptimal},
      {"maxvar", "tab:accmax", "Largest variance of marginals", "", "", kOptimalMax},
      {"rmse-cps", "tab:cps-rmse", "RMSE of marginals, CPS", "SVD bound", "", kOptimal},
      {"rmse-adult", "tab:adult-rmse", "RMSE of marginals, Adult", "SVD bound", "", kOptimal},
      {"rmse-loans", "tab:loans-rmse", "RMSE of marginals, Loans", "SVD bound", "", kOptimal},
      {"maxvar-cps", "tab:cps-maxvar", "Largest variance of marginals, CPS", "with ECOS", "",
       kOptimalMax},
      {"maxvar-adult", "tab:adult-maxvar", "Largest variance of marginals, Adult", "with ECOS", "",
       kOptimalMax},
      {"maxvar-loans", "tab:loans-maxvar", "Largest variance of marginals, Loans", "with ECOS", "",
       kOptimalMax},
      {"select-range", "tab:seleRange, fig:figtab6",
       "Time to select: all ranges of up to 3 of d attributes of 10 values", "", "",
       "As for marginals, interchangeable attributes share their unknowns. Of an attribute's 55 "
       "ranges only the vertices of a hull can have the largest variance (docs/oblique_basis.md). "
       "The paper's plans for the largest variance understate their privacy cost."},
      {"reconstruct-range", "tab:time-reconstruct-phase-range, fig:tab7",
       "Time to reconstruct: all ranges of up to 3 of d attributes of 10 values", "HDMM+PGM", "",
       "The first table is for the cells of all tables; every range is a sum of cells. The second "
       "adds all 55^k ranges of every table, made for a few hundred tables at a time. The paper "
       "does not say which of the two it times."},
      {"prefix-rmse", "tab:rmseprefix_Rp+", "RMSE of prefix sums on numerical attributes", "", "",
       kOblique},
      {"prefix-maxvar", "tab:maxvarprefix",
       "Largest variance of prefix sums on numerical attributes", "", "", kTrueCost},
      {"kron-range", "tab:single-kron-range", "RMSE of all d-dimensional ranges, d attributes of n",
       "", "", kKron},
      {"kron-prefix", "tab:single-kron-prefix",
       "RMSE of all d-dimensional prefix sums, d attributes of n", "", "", kKron},
      {"crossover-5", "tab:sharing", "RMSE of k-way prefix sums, 5 attributes of 10", "HDMM OPT+",
       "HDMM OPTx", kOblique},
      {"crossover-10", "tab:sharing-10-10", "RMSE of k-way prefix sums, 10 attributes of 10",
       "HDMM OPT+", "HDMM OPTx", kOblique},
      {"crossover-20", "tab:crossover", "RMSE of k-way prefix sums, 20 attributes of 20",
       "HDMM OPT+", "HDMM OPTx", kOblique},
  };
  return tables;
}

}  // namespace residua::bench
