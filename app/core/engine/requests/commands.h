// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/requested_command.h"
#include "app/core/store/run_summary.h"
#include "shared/result.h"
#include "shared/wire/messages.h"

#include <QFuture>
#include <QString>

#include <string>
#include <utility>
#include <vector>

namespace rm {

class LocalEngine;

/// Whether the run is already in the state that the command leads to, as a paused run at a pause.
bool isAlready(CommandKind kind, RunStateKind state);

/// An id for a command that has none.
std::string newCommandId();

/// Sends a command to the ranks. The answer is kApplied or kRefused; it waits while rank 0's node
/// cannot be reached, that of kKill for the nodes that can be: it names the others. kExhausted: a
/// node's disk is too full for what writes a checkpoint (whyNotNow()), and nothing was sent.
/// kStop and kKill of a run whose ranks have not started cancel its launch: a new run is then
/// stopped, a resumed run stays as it was. If isAlready(), the answer is kApplied at step -1.
///
/// A command with the same `id` takes effect once; empty: an id is generated. It is stored before
/// it is sent (a kill: meanwhile); where it cannot be, as on a full disk here, it is sent all the
/// same and its answer says so. One without an answer is sent by the next engine that follows the
/// run, too, for up to kCommandKeptNs.
struct CommandRequest {
    using Answer = Result<CommandState>;

    QString run;
    CommandKind kind = CommandKind::kHold;
    std::vector<std::pair<std::string, std::string>> args = {};
    std::string id = {};
    Requester by = {};

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const CommandRequest&) const = default;
};

/// Takes back a command that no node has accepted; its asker gets kUnavailable. The answer says
/// what is left to know of it, such as that a node may have got it. kInvalid: it is on its way or
/// was accepted.
struct WithdrawRequest {
    using Answer = Result<QString>;

    QString run;
    std::string command; ///< its id

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const WithdrawRequest&) const = default;
};

/// Declares a node of a live run lost that nothing is heard of: its part counts as failed, the
/// ranks elsewhere, which cannot go on without it, are killed, and the run ends. kInvalid: the run
/// has ended, has no such node, or the node answers. It is stored as a command, unless it is
/// refused.
struct DeclareLostRequest {
    using Answer = Result<void>;

    QString run;
    QString node;
    Requester by = {};

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const DeclareLostRequest&) const = default;
};

} // namespace rm
