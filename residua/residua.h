#pragma once

// The front door: one include for most programs. The steps, and the calls that make them:
//
//   1. Choose the noise, from public knowledge alone.
//        Domain, Workload, BudgetFromRho, ...  what is wanted, by hand;
//        ReadSpec, RequestOf                   or from a spec file (TOML);
//        Select                                chooses: a Plan, with its exact privacy cost;
//        SelectAfter                           given earlier measurements of the same data;
//        CheckSpec                             tries a spec on its data, and spends nothing;
//        PredictErrors                         the error of every table, before data is read;
//        VerifyPlan, WritePlan, ReadPlan       recompute the cost; keep the plan.
//   2. Measure once.
//        MeasureToFile                         rows to a measurement file, the spend recorded in a
//                                              ledger before noise is drawn;
//        MeasureToMemory                       the same, into memory;
//        Measure                               the arithmetic alone: an EncodedTable to noisy
//                                              values. Whoever calls it keeps the account.
//   3. Ask, as often as you like: nothing more is spent.
//        Release::Load                         a measurement file in memory;
//        Release::Tables, Release::Answer      tables and questions, with exact variances;
//        PublishTables                         table files with error bars;
//        AnswerQuestions, CompareQuestions     questions, from no more of a file than they need;
//        Combine, CombineFiles                 one measurement from several of the same data;
//        VerifyFile                            the cost of a plan or measurement, recomputed.
//
// MakeRelease does all three for a spec file, in one folder, and resumes what was interrupted.
//
// Steps 1 and 3 and `Measure` are in residua::core; everything with files, data or a ledger is in
// residua::residua. Errors are thrown as `Error`, and nothing else is thrown on purpose. Plans,
// measurements and releases do not change once they are made, so that threads may share them; a
// Ledger, a writer and a MeasurementFile belong to one thread at a time.
//
// tests/package/outside.cc is an example, which the README shows.

#include "residua/base/error.h"
#include "residua/base/version.h"
#include "residua/data/data_source.h"
#include "residua/draft/check_spec.h"
#include "residua/files/measurement_file.h"
#include "residua/files/plan_file.h"
#include "residua/files/spec.h"
#include "residua/files/verify_file.h"
#include "residua/ledger/ledger.h"
#include "residua/measure/measure.h"
#include "residua/model/domain.h"
#include "residua/model/workload.h"
#include "residua/privacy/budget.h"
#include "residua/privacy/suspicion.h"
#include "residua/reconstruct/estimate.h"
#include "residua/reconstruct/query_answer.h"
#include "residua/release/answer_questions.h"
#include "residua/release/combine.h"
#include "residua/release/data_places.h"
#include "residua/release/measure_to_file.h"
#include "residua/release/page.h"
#include "residua/release/publish_tables.h"
#include "residua/release/release.h"
#include "residua/release/release_folder.h"
#include "residua/release/warnings.h"
#include "residua/select/plan.h"
#include "residua/select/plan_errors.h"
#include "residua/select/select.h"
#include "residua/select/select_after.h"
#include "residua/text/domain_text.h"
#include "residua/text/question_text.h"
#include "residua/text/workload_text.h"
