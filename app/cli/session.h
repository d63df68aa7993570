// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/await.h"
#include "app/core/holder/shared_engine.h"
#include "app/core/settings/paths.h"
#include "app/core/store/store.h"
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
class Session {
public:
    explicit Session(bool json);
    ~Session();

    /// Opens fleet and engine: this process holds the database then, or the one that does serves
    /// it.
    Result<void> open();
    /// Stays for as long as ranks are being started here that other terminals asked for.
    void finish();

    bool json() const { return m_json; }
    Fleet& fleet() { return *m_fleet; }
    Engine& engine() { return *m_engine; }
    const Paths& paths() const { return m_paths; }
    /// A new read-only connection each.
    Result<std::unique_ptr<StoreReader>> reader() const;
    /// The run that a person means.
    Result<RunSummary> resolve(const std::string& run) const;

    /// Follows every run that has not ended until its nodes have said how it goes, at most a few
    /// seconds: what is listed then is not yesterday's news.
    void catchUp();
    /// resolve() after the same for that run alone.
    Result<RunSummary> caughtUp(const std::string& text);

    /// Brings lostNodes up to what this process itself knows of the links.
    void noteLinks(RunSummary& run) const;

    /// Grants for this process, by node.
    void grant(const std::string& node, const Credentials& credentials);

private:
    void catchUpWith(const std::vector<RunSummary>& runs);

    bool m_json;
    Paths m_paths;
    std::unique_ptr<Fleet> m_fleet;
    std::unique_ptr<SharedEngine> m_engine;
};

/// Runs the event loop until `done()` (asked each 50 ms) or, if there is one, the deadline.
bool awaitUntil(const std::function<bool()>& done,
                std::optional<std::chrono::milliseconds> deadline = {});

/// Nothing is to be expected of this node soon: it is lost for longer than a moment, or refuses
/// the login.
bool isGone(const LiveState::NodeLink& node);

/// Prints an error as one line on stderr, with --json also as {"error": ...} on stdout: its exit
/// code.
int printError(bool json, const Error& error);
int printError(const Session& session, const Error& error);

} // namespace rm::cli
