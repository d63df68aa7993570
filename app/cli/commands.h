// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/wire/messages.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rm::cli {

class Session;

/// Each function is one subcommand; the options are what CLI11 read. The value is the exit code.

struct RunOptions {
    std::string spec;                   ///< path of a .toml, or the name of a recipe
    std::string like;                   ///< instead: the run whose spec, and nodes unless given
    std::vector<std::string> nodes;     ///< NAME[:RANKS]
    std::vector<std::string> overrides; ///< section.key=value
    bool wait = false;
    bool anyway = false; ///< also where memory seems to be too little
};
int runRun(Session& session, const RunOptions& options);
int runAttach(Session& session, const std::string& run);
int runResume(Session& session, const std::string& run, bool wait);

struct RestoreOptions {
    std::string run;
    std::string checkpoint; ///< a step, or the name of a folder
    bool asNew = false;
    std::vector<std::string> overrides; ///< as RunOptions', of the new run
    bool yes = false;                   ///< do not ask whether to retire what came after
    bool wait = false;
    bool anyway = false; ///< as RunOptions'
};
int runRestore(Session& session, const RestoreOptions& options);

int runControl(Session& session, const std::string& run, CommandKind kind,
               std::vector<std::pair<std::string, std::string>> args = {});

int runRuns(Session& session);
int runShow(Session& session, const std::string& run);
/// With `verify` every byte of them is read on their node; the exit code says whether all are
/// whole.
int runCheckpoints(Session& session, const std::string& run, bool verify);
int runRemoveCheckpoint(Session& session, const std::string& run, const std::string& checkpoint);
int runExport(Session& session, const std::string& run, const std::string& output);

int runRename(Session& session, const std::string& run, const std::string& name);
int runDelete(Session& session, const std::string& run); ///< to the trash
int runTrash(Session& session);
int runTrashRestore(Session& session, const std::string& run);
int runTrashEmpty(Session& session, bool yes);

struct CleanOptions {
    std::string run;
    bool preview = false; ///< only say what would go
    bool yes = false;     ///< do not ask
};
/// Deletes the folders of a run on its nodes.
int runClean(Session& session, const CleanOptions& options);

struct LogOptions {
    std::string run;
    int rank = -1;        ///< -1: all
    std::string contains; ///< empty: all
    std::string output;   ///< empty: standard output
};
int runLogs(Session& session, const LogOptions& options);

struct NodeOptions {
    std::string name;
    std::string ssh; ///< [USER@]HOST[:PORT] or an ssh_config name
    std::string key;
    std::string fingerprint;
    bool check = true;
};
int runNodesAdd(Session& session, const NodeOptions& options);
/// Of what is not given the node keeps what it has.
int runNodesEdit(Session& session, const NodeOptions& options);
int runNodesList(Session& session);
int runNodesCheck(Session& session, const std::vector<std::string>& names);
int runNodesRemove(Session& session, const std::string& name);

} // namespace rm::cli
