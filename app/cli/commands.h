// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command_line.h"

namespace rm::cli {

// Each declares the commands of a file, which has their options and what they do.

void addLaunching(CommandLine& line);   ///< run_commands.cpp
void addQueue(CommandLine& line);       ///< queue_commands.cpp
void addForecast(CommandLine& line);    ///< trial_commands.cpp
void addControls(CommandLine& line);    ///< control_commands.cpp
void addTracing(CommandLine& line);     ///< trace_commands.cpp
void addRevert(CommandLine& line);      ///< revert_command.cpp
void addWatch(CommandLine& line);       ///< watch/watch_command.cpp
void addRequested(CommandLine& line);   ///< requested_commands.cpp
void addRuns(CommandLine& line);        ///< runs_command.cpp
void addLists(CommandLine& line);       ///< list_commands.cpp
void addLogs(CommandLine& line);        ///< log_commands.cpp
void addComparing(CommandLine& line);   ///< compare_commands.cpp
void addSql(CommandLine& line);         ///< sql_command.cpp
void addSamples(CommandLine& line);     ///< sample_commands.cpp
void addCheckpoints(CommandLine& line); ///< checkpoint_commands.cpp
void addKeeping(CommandLine& line);     ///< keeping_commands.cpp
void addNodes(CommandLine& line);       ///< node_commands.cpp
void addMachines(CommandLine& line);    ///< machine_commands.cpp
void addManual(CommandLine& line);      ///< manual_commands.cpp

// The same for subcommands of `nodes`.

void addNetwork(CommandLine& line, CLI::App& nodes);     ///< network_commands.cpp
void addTrials(CommandLine& line, CLI::App& nodes);      ///< trial_commands.cpp
void addNodeRemoval(CommandLine& line, CLI::App& nodes); ///< keeping_commands.cpp

} // namespace rm::cli
