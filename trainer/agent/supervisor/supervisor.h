// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/board/board.h"
#include "shared/journal/journal.h"
#include "trainer/agent/run_dir/run_dir.h"
#include "trainer/agent/supervisor/command_queue.h"
#include "trainer/agent/supervisor/command_server.h"
#include "trainer/agent/supervisor/hang_watch.h"
#include "trainer/agent/supervisor/rank_group.h"
#include "trainer/agent/supervisor/rank_process.h"
#include "trainer/agent/supervisor/sampler.h"

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// Runs the ranks of one attempt on this node and writes the node's journal. Its Asio loop drives
/// RankGroup, Sampler and CommandQueue. The working directory is the run directory.
///
/// SIGTERM and SIGINT end the ranks with a grace, SIGQUIT at once.
class Supervisor : private RankControl, private CommandTarget {
public:
    Supervisor(std::string runDir, NodePlan plan, RunSpec spec);
    ~Supervisor() override;

    /// Starts every rank, or none.
    Result<void> launch();
    /// Instead: takes over the ranks of an attempt whose supervisor is gone, the ended ones as
    /// well.
    Result<void> adopt(const AgentState& state);
    /// Returns when all ranks have ended and everything is written.
    void run();

private:
    void terminate(int localRank) override;
    void kill(int localRank) override;
    Result<bool> post(const Command& command) override;
    bool isPosted(const std::string& id) override;
    void killAll() override;

    Result<void> openReports();
    Result<Board> boardOfRankZero();
    Result<void> spawnRanks();
    void abandonRanks();
    void recordStart();
    void watchRank(int localRank);
    void onRankReadable(int localRank);
    void watchSignals();
    void armTimer();
    void pump();
    void sample(Moment now);
    std::optional<Board::Status> statusOf(int localRank);
    bool isMemoryShort();
    void flush();
    void saveState();
    void finish();

    std::string m_runDir;
    NodePlan m_plan;
    RunSpec m_spec;
    asio::io_context m_io{1};
    asio::steady_timer m_timer{m_io};
    asio::signal_set m_signals{m_io, SIGTERM, SIGINT, SIGQUIT};
    std::optional<JournalWriter> m_journal;
    bool m_isJournalStuck = false;
    std::unique_ptr<Gpus> m_gpus; ///< when the run uses them
    Sampler m_sampler;
    HangWatch m_hangs;
    AppliedCommands m_applied;
    CommandQueue m_queue;
    CommandServer m_server;
    RankGroup m_group;
    std::vector<RankProcess> m_processes; ///< by local rank
    std::vector<uint64_t> m_logStarts;    ///< where this attempt's lines begin
    std::vector<std::optional<Board>> m_boards;
    std::vector<std::unique_ptr<asio::posix::stream_descriptor>> m_watches;
    AgentState m_state;
    int64_t m_nextSampleNs = 0;
    int64_t m_flushDeadlineNs = 0; ///< of an ended group: how long answers may take
    int64_t m_outOfMemoryKills = -1;
};

} // namespace rm
