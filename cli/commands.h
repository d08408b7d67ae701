#pragma once

#include <CLI/CLI.hpp>

namespace residua::cli {

// Each adds its subcommand; the work runs when the command line names it.
void AddInitCommand(CLI::App* app);
void AddCheckCommand(CLI::App* app);
void AddPlanCommand(CLI::App* app);
void AddExploreCommand(CLI::App* app);
void AddMeasureCommand(CLI::App* app);
void AddReleaseCommand(CLI::App* app);
void AddTablesCommand(CLI::App* app);
void AddQueryCommand(CLI::App* app);
void AddCombineCommand(CLI::App* app);
void AddPageCommand(CLI::App* app);
void AddVerifyCommand(CLI::App* app);
void AddLedgerCommand(CLI::App* app);
void AddHelpCommand(CLI::App* app);
void AddCompletionCommand(CLI::App* app);

}  // namespace residua::cli
