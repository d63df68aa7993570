// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/posix/child.h"
#include "trainer/agent/slurm/part_files.h"

#include <asio/io_context.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// A part whose ranks a job of Slurm has, seen from a machine that need not reach theirs: by the
/// files of PartFiles, and where these are old by what Slurm says of the job. The working directory
/// is the run directory. Of one event loop.
class JobPart {
public:
    JobPart(asio::io_context& io, std::string runId);

    /// While the job waits, and until its ranks are heard of, it is supervised, and says what it
    /// waits for.
    RunState look();
    /// A command to the supervisor. While the job waits, a stop, pause or kill ends it instead,
    /// which takeAnswers() tells; others have to wait (kUnavailable).
    Result<void> forward(const Command& command);
    std::vector<CommandState> takeAnswers();

private:
    bool isFresh(int64_t nowNs) const;
    void ask(int64_t nowNs);
    void onAnswer(const std::string& text);
    void cancel();

    std::string m_runId;
    PartFiles m_files{"."};
    ChildReader m_asker;     ///< of Slurm
    ChildReader m_canceller; ///< of the job
    std::optional<RunState> m_last;
    int64_t m_changedNs = 0; ///< when m_last was seen to be new; 0: it may be of long ago
    int64_t m_askedNs = 0;
    bool m_isWaiting = false, m_isOver = false;
    std::string m_words;
    std::vector<Command> m_endings; ///< that the end of a waiting job obeys
    int64_t m_killedNs = 0;         ///< when a kill was forwarded; 0: none was
    std::vector<CommandState> m_answers;
};

} // namespace rm
