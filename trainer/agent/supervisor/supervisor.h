// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/peers/crew.h"
#include "trainer/agent/run_dir/run_dir.h"
#include "trainer/agent/slurm/part_files.h"
#include "trainer/agent/supervisor/attempt.h"
#include "trainer/agent/supervisor/command_queue.h"
#include "trainer/agent/supervisor/command_server.h"
#include "trainer/agent/supervisor/sampler.h"

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>

#include <csignal>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// Runs the ranks of a run on this node, one attempt after another, as the run's leader says
/// (peers/leader.h). Its Asio loop drives Attempt, Crew and CommandQueue. The working directory is
/// the run directory.
///
/// SIGTERM and SIGINT end the ranks with a grace, SIGQUIT at once. Once the run is over it stays
/// while the newest checkpoint gets a copy on another node: each of these signals ends that. SIGURG
/// ends nothing else: agents without it ignore it.
///
/// A run whose folder was removed meanwhile is ended: its ranks are killed.
///
/// In a job of Slurm (inJob()), SIGTERM and SIGUSR1 mean that the job is about to end: the ranks
/// write a checkpoint and end, and the attempt is left open for the job's next start. Processes
/// that attach elsewhere are served by PartFiles.
class Supervisor : private CommandTarget, private CrewTarget {
public:
    Supervisor(std::string runDir, NodePlan plan, RunSpec spec);
    ~Supervisor() override;

    /// Call before launch(). `planned`: on node 0, for an attempt that follows an earlier one.
    void inJob(std::optional<AttemptPlanned> planned);
    /// Starts every rank, or none.
    Result<void> launch();
    /// In place of launch(): takes over ranks whose supervisor is gone, the ended ones as
    /// well.
    Result<void> adopt(const AgentState& state);
    /// Returns when all ranks have ended, no attempt will follow, and everything is written, or the
    /// disk has had no room for it for ten minutes.
    void run();
    /// After run(): the job's next start goes on with the run.
    bool resumesInJob() const { return m_resumesInJob; }
    /// SIGUSR1 told that the job's time is over, so that nobody but its script starts it again.
    bool isTimeOver() const { return m_isTimeOver; }

private:
    Result<bool> post(const Command& command) override;
    bool isPosted(const std::string& id) override;
    void killAll() override;

    void endAttempt(const EndOrder& order) override;
    void startAttempt(const StartOrder& order) override;
    void awaitAttempt() override;
    void leave(const OverOrder& order) override;
    void pauseRanks(const std::string& commandId) override;
    bool hasDone(const std::string& commandId) override;
    void journal(const Record& record) override;
    void failAttempt(const StartOrder& order, const Error& why) override;

    std::unique_ptr<Attempt> makeAttempt(const NodePlan& plan);
    Result<void> open();
    std::vector<CommandState> onCommand(const Command& command);
    void lookForFolder(Moment now);
    PeerStatus status();
    void obeyEndings();
    void leaveBelated();
    void beginNext(const StartOrder& order);
    bool mustWaitForRoom();
    Result<void> begin(const NodePlan& plan);
    Result<void> writeRest();
    void onSignal(int signal);
    void serveFiles();
    void sendStates(const std::vector<CommandState>& states);
    void watchSignals();
    void armTimer();
    void pump();
    void finish();

    std::string m_runDir;
    RunSpec m_spec;
    asio::io_context m_io{1};
    asio::steady_timer m_timer{m_io};
    asio::signal_set m_signals{m_io, SIGTERM, SIGINT, SIGQUIT};
    std::unique_ptr<Gpus> m_gpus; ///< when the run uses them
    Sampler m_sampler;
    StackReader m_stacks{m_io};
    AppliedCommands m_applied;
    CommandQueue m_queue;
    CommandServer m_server;
    std::unique_ptr<Attempt> m_attempt;
    /// Earlier ones whose last records the disk had no room for, the first one first.
    std::deque<std::unique_ptr<Attempt>> m_unwritten;
    std::unique_ptr<Crew> m_crew;
    std::optional<StartOrder> m_next; ///< what is to be started once the stack is unwound
    std::optional<Error> m_whyNot;    ///< why it cannot be started
    int64_t m_roomByNs = 0; ///< until when a full disk is waited for to begin it; 0: it is not
    std::optional<OverOrder> m_over; ///< which came while ranks still lived
    uint64_t m_appliedBefore = 0;    ///< see AgentState
    bool m_isOver = false;
    bool m_isFolderGone = false;      ///< so that nothing can be written any more
    std::optional<PartFiles> m_files; ///< in a job
    std::optional<AttemptPlanned> m_planned;
    bool m_isPreempted = false; ///< the job was signalled
    bool m_isTimeOver = false;
    bool m_resumesInJob = false;
    int64_t m_nextFilesNs = 0;
    int64_t m_nextSampleNs = 0;
    int64_t m_flushDeadlineNs = 0; ///< once it is over: until when answers may take
};

} // namespace rm
