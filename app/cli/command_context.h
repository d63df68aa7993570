// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/await.h"
#include "app/core/engine/holder/shared_engine.h"
#include "app/core/settings/paths.h"
#include "app/core/store/store_reader.h"
#include "shared/exit_code.h"

#include <QCoreApplication>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rm::cli {

/// What every subcommand works with: the engine of this terminal and how it prints.
class CommandContext {
public:
    explicit CommandContext(bool json);
    ~CommandContext();

    /// Opens fleet and engine: this process then holds the database, or is served by the one that
    /// does. A nodes.toml that cannot be read is an error where the command `needsNodes`, else it
    /// is told on stderr.
    Result<void> open(bool needsNodes);
    /// Whether what is stored can be read though open() failed so: its disk is read-only or full.
    bool canOnlyRead(const Error& error) const;
    /// Goes on without the engine after that error, which stderr is told: what is stored is shown
    /// as it is.
    void onlyRead(const Error& error);
    /// Goes on with an engine that writes nothing, which stderr is told.
    void goUnrecorded(const Error& error);
    /// Keeps the process running while it starts ranks for other terminals.
    void finish();

    bool json() const { return m_json; }
    Fleet& fleet() { return *m_fleet; }
    Engine& engine() { return *m_engine; }
    const Paths& paths() const { return m_paths; }
    /// A new read-only connection each.
    Result<std::unique_ptr<StoreReader>> reader() const;
    /// The run that a person means: if several are called so, the newest, which is said on stderr.
    Result<RunSummary> resolve(const std::string& run) const;
    /// The same for what changes a run. kInvalid, with the candidates: several are called so; but
    /// of a `live` one only those count that have not ended, if there are any.
    Result<RunSummary> resolveOne(const std::string& run, bool live = false) const;

    /// Follows every run that has not ended until its nodes have reported, for a few seconds at
    /// most, so that what is listed is up to date.
    void catchUp();
    /// catchUp() for this run alone, then resolve().
    Result<RunSummary> caughtUp(const std::string& text);
    /// The same with resolveOne().
    Result<RunSummary> caughtUpOne(const std::string& text, bool live = false);

    /// Updates lostNodes from the links of this process.
    void noteLinks(RunSummary& run) const;

    /// Grants for this process, by the way to the node.
    void grant(const Node& node, const Credentials& credentials);

private:
    RunSummary caughtUpWith(RunSummary run);
    void catchUpWith(const std::vector<RunSummary>& runs);

    bool m_json;
    bool m_onlyReads = false;
    bool m_isUnrecorded = false;
    Paths m_paths;
    std::unique_ptr<Fleet> m_fleet;
    std::unique_ptr<SharedEngine> m_engine;
};

/// Runs the event loop until `done()` (asked each 50 ms) or, if there is one, the deadline.
bool awaitUntil(const std::function<bool()>& done,
                std::optional<std::chrono::milliseconds> deadline = {});

/// The node will not answer soon: its link has been lost for over a second, or it refuses the
/// login.
bool isGone(const LiveState::NodeLink& node);

/// Before what cannot be undone: a person is asked, a script has to say --yes. kInvalid: there is
/// no agreement, which the message says of `attempt`.
Result<void> agree(const CommandContext& context, const std::string& attempt,
                   const std::string& what, bool yes);

/// Which runs are live on the node by what is stored, and what to do about them; empty: none.
std::string liveWordsOf(const CommandContext& context, const std::string& node);

/// Prints an error as one line on stderr, with --json also as {"error": ...} on stdout. Returns its
/// exit code. Once something stored could not be read, that is the error, which is printed at the
/// end.
int printError(bool json, const Error& error);
int printError(const CommandContext& context, const Error& error);
/// Prints it in any case: the last word of a command.
int printLast(bool json, const Error& error);

} // namespace rm::cli
