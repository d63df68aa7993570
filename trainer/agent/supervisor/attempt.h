// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/board/board.h"
#include "shared/journal/journal.h"
#include "trainer/agent/peers/peer_message.h"
#include "trainer/agent/run_dir/run_dir.h"
#include "trainer/agent/supervisor/hang_watch.h"
#include "trainer/agent/supervisor/log_watch.h"
#include "trainer/agent/supervisor/rank_group.h"
#include "trainer/agent/supervisor/rank_process.h"
#include "trainer/agent/supervisor/sampler.h"
#include "trainer/agent/supervisor/stack_reader.h"

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// The ranks of one attempt on this node, with all that is kept of them: processes, boards, the
/// node's journal, agent.json. The working directory is the run directory.
class Attempt : private RankControl {
public:
    /// `rankEnded` is called on the loop when a rank has ended.
    Attempt(asio::io_context& io, std::string runDir, NodePlan plan, const RunSpec& spec,
            Sampler& sampler, StackReader& stacks, std::function<void()> rankEnded);
    ~Attempt() override;

    /// Opens the journal; before all the rest. Where that fails, failToStart() may still follow.
    /// `appliedBefore`: see AgentState.
    Result<void> begin(uint64_t appliedBefore);
    /// Starts every rank, or none. `rankEnded` may be called from now on.
    Result<void> launch();
    /// In place of launch(), or after it failed: the attempt ends before it begins.
    void failToStart(const Error& why);
    /// In place of launch(): takes over ranks whose supervisor is gone, the ended ones as
    /// well.
    void adopt(const AgentState& state);

    const NodePlan& plan() const { return m_plan; }
    bool hasEnded() const { return m_end.has_value(); }
    bool hasFailed() const { return m_end && m_end->outcome == Outcome::kFailed; }
    /// Whether its ranks ended for a scheduler. `wasNotified`: it told this node; then a failure
    /// counts too, as they may have ended with others elsewhere, or were killed before they had
    /// heard.
    bool isPreempted(bool wasNotified) const {
        return m_end && (m_end->outcome == Outcome::kPreempted ||
                         (wasNotified && m_end->outcome == Outcome::kFailed));
    }
    PeerStatus status();

    void stop(Moment now) { m_group.stop(now); } ///< asked to: time to write a checkpoint
    void kill(Moment now) { m_group.kill(now); }
    /// A scheduler is about to take this node: the ranks write a checkpoint and end by themselves.
    void preempt();
    void end(const EndOrder& order, Moment now);
    /// Ends ranks at once of a run that is over elsewhere, for `why`.
    void endForOthers(const std::string& why, Moment now);

    /// Does what is due, and writes what is new.
    void tick(Moment now);
    std::optional<int64_t> nextDeadline() const { return m_group.nextDeadline(); }
    /// Once a second while ranks run.
    void sample(Moment now);

    /// Board of rank 0, which is on this node: see CommandTarget.
    Result<bool> post(const Command& command);
    bool isPosted(const std::string& id);
    std::optional<Command> posted();

    void journal(const Record& record);
    /// After all ranks have ended: another attempt is to follow.
    void markAwaited();
    /// After all ranks have ended, the last call: none follows. `requested`: what a person asked
    /// for since, and `why` says how; else `why` is to be said beside how the ranks ended.
    void close(std::optional<Outcome> requested, const std::string& why);
    /// In place of close(): another attempt is about to begin.
    void retire();
    /// Whether the disk had room for everything so far.
    bool isWritten() const { return m_journal && !m_isJournalStuck && m_isStateSaved; }
    /// After these two: writes what the disk had no room for. Then no file is open any more.
    Result<void> writeRest();

private:
    void terminate(int localRank) override;
    void kill(int localRank) override;

    Result<Board> boardOfRankZero();
    Result<void> spawnRanks();
    void abandonRanks();
    void recordStart();
    void watchLogs(const std::vector<uint64_t>& begins);
    void watchRank(int localRank);
    void onRankReadable(int localRank);
    void lookAgain(int localRank);
    void watchHangs(const std::vector<SeenRank>& ranks, Moment now);
    PeerStatus::Hang hang() const;
    std::optional<Board::Status> statusOf(int localRank);
    bool isMemoryShort();
    void flush();
    void saveState();
    void writeEnd(bool resumes);

    asio::io_context& m_io;
    std::string m_runDir;
    NodePlan m_plan;
    RunSpec m_spec;
    Sampler& m_sampler;
    std::function<void()> m_rankEnded;
    std::optional<JournalWriter> m_journal; ///< until this attempt is over and all is written
    std::vector<Record> m_early;            ///< while the journal cannot be opened
    bool m_isJournalStuck = false;
    bool m_isStateSaved = true;
    bool m_isOver = false; ///< closed or retired
    HangWatch m_hangs;
    StackReader& m_stacks;
    std::shared_ptr<int> m_alive = std::make_shared<int>(); ///< for callbacks that come late
    RankGroup m_group;
    std::vector<RankProcess> m_processes; ///< by local rank
    std::vector<uint64_t> m_logStarts;    ///< where this attempt's lines begin
    LogWatch m_logs;
    std::vector<std::optional<Board>> m_boards;
    std::vector<std::unique_ptr<asio::posix::stream_descriptor>> m_watches;
    AgentState m_state;
    std::optional<AttemptEnded> m_end; ///< once all ranks have ended, or none could be started
    bool m_isAwaited = false;
    int64_t m_outOfMemoryKills = -1;
};

} // namespace rm
