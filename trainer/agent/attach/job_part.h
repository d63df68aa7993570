// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/clock.h"
#include "trainer/agent/posix/child.h"
#include "trainer/agent/slurm/part_files.h"

#include <asio/io_context.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// A part whose ranks a job of Slurm has, seen from a machine that need not reach theirs: by the
/// files of PartFiles, and where these are old by what Slurm says of the job. The working directory
/// is the run directory. Belongs to one event loop.
class JobPart {
public:
    JobPart(asio::io_context& io, std::string runId,
            std::function<int64_t()> now = &monotonicNowNs);

    /// While the job waits, and until its ranks are heard of, it is supervised, and says what it
    /// waits for.
    RunState look();
    /// A command to the supervisor. Before that is heard of for the first time, a stop, pause or
    /// kill cancels the job instead, as there is nothing to be saved, and a kill does also when it
    /// is silent; takeAnswers() tells of the end. Others have to wait (kUnavailable).
    Result<void> forward(const Command& command);
    std::vector<CommandState> takeAnswers();

private:
    bool isFresh(int64_t nowNs) const;
    bool endsByCancel(CommandKind kind, int64_t nowNs) const;
    Error silence(CommandKind kind) const;
    void ask(int64_t nowNs);
    void onAnswer(const std::string& text);
    void cancel();

    std::string m_runId;
    std::function<int64_t()> m_now;
    int64_t m_begunNs; ///< when this began to look
    PartFiles m_files{"."};
    ChildReader m_reader;    ///< asks Slurm
    ChildReader m_canceller; ///< cancels the job
    std::optional<RunState> m_last;
    int64_t m_changedNs = 0; ///< when m_last was seen to be new; 0: it may be old
    int64_t m_requestedNs = 0;
    bool m_isWaiting = false, m_isOver = false;
    bool m_wasHeard = false; ///< the supervisor, since the job began
    std::string m_words;
    std::vector<Command> m_endings; ///< commands that the end of the job obeys
    int64_t m_killedNs = 0;         ///< when a kill was forwarded; 0: none was
    std::vector<CommandState> m_answers;
};

} // namespace rm
