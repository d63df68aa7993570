// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/records.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// A time on both clocks; passed in, so that tests control it.
struct Moment {
    int64_t monotonicNs = 0;
    int64_t wallNs = 0;
    static Moment now();
};

/// How a process ended.
struct ChildStatus {
    int exitCode = 0;         ///< when signal is 0
    int signal = 0;           ///< 0: exited by itself
    bool outOfMemory = false; ///< the kernel's out-of-memory killer ran meanwhile
    bool isKnown = true;      ///< false: nobody saw how, and the rank left no last word
};

/// How the group signals its ranks. Never fails, as a rank may be gone already.
class RankControl {
public:
    virtual ~RankControl() = default;
    virtual void terminate(int localRank) = 0; ///< SIGTERM
    virtual void kill(int localRank) = 0;      ///< SIGKILL, with whatever the rank started
};

/// The ranks of one attempt on this node as one state machine; they change state as a unit:
///
///   kRunning -> kEnded             all ended by themselves
///   kRunning -> kEnding -> kEnded  one failed, or someone asked; SIGTERM, a grace, SIGKILL
///
/// Passive: told of exits and of time, it acts through RankControl and yields records.
class RankGroup {
public:
    enum class State { kRunning, kEnding, kEnded };
    struct Config {
        int32_t attempt = 1;
        int32_t firstRank = 0;
        int32_t localRanks = 1;
        int64_t failureGraceNs = 5'000'000'000;
        int64_t stopGraceNs = 30'000'000'000; ///< time to write a checkpoint
    };

    RankGroup(const Config& config, RankControl& control);

    /// `tail`: the last lines of the rank's log. Returns what is recorded: for a rank that was
    /// killed here, SIGKILL if nothing else is known.
    ChildStatus onChildExit(int localRank, const ChildStatus& status, std::string tail, Moment now);
    /// The same for one whose RankExited an earlier agent has written.
    void onEarlierExit(int localRank, const ChildStatus& status, Moment now);
    void stop(Moment now); ///< asked to end: SIGTERM, grace, SIGKILL
    void kill(Moment now); ///< asked to end at once
    /// Ends it because the run cannot go on like this: a failure, with the reason `why`. With
    /// `kill` the reason is that of all nodes, else it is another node's.
    void end(bool kill, const std::string& why, Moment now);
    void tick(Moment now);

    /// CLOCK_MONOTONIC, when tick() has something to do.
    std::optional<int64_t> nextDeadline() const { return m_deadlineNs; }
    State state() const { return m_state; }
    /// Whether a rank has failed, and the others are being ended.
    bool isFailing() const {
        return m_state == State::kEnding && m_requested == Requested::kNothing;
    }
    /// Whether it was asked to end, or a rank ended as asked by others: paused, stopped, preempted.
    bool hasObeyed() const;
    bool hasExited(int localRank) const { return m_ranks[localRank].exit.has_value(); }
    /// Only valid once the group has ended.
    const AttemptEnded& verdict() const { return m_verdict; }

    /// New RankExited and AttemptEnded records since the last call, in order.
    std::vector<Record> takeRecords();

private:
    struct Rank {
        std::optional<ChildStatus> exit;
        bool terminated = false; ///< by us
        bool killed = false;     ///< by us
        int order = 0;           ///< among the exits
    };

    void noteExit(int localRank, const ChildStatus& status);
    void settle(const ChildStatus& latest, Moment now);
    void beginEnding(Moment now, int64_t graceNs);
    void killLiving();
    void finish(Moment now);
    bool isFailure(const ChildStatus& status) const;
    int suspicion(const Rank& rank) const;
    int firstFailed() const;
    bool isEndedFor(int failed) const;
    Outcome outcome() const;
    std::string explain(int localRank) const;
    std::string endMessage(int failed) const;

    Config m_config;
    RankControl& m_control;
    State m_state = State::kRunning;
    std::vector<Rank> m_ranks;
    std::vector<Record> m_records;
    std::optional<int64_t> m_deadlineNs;
    enum class Requested { kNothing, kStop, kKill };
    Requested m_requested = Requested::kNothing; ///< from outside
    std::string m_whyEnded;                      ///< by end(); empty: it was not called
    bool m_isEndedForOthers = false;
    bool m_wasFailing = false; ///< by a rank of its own, when end() came
    int m_exits = 0;
    AttemptEnded m_verdict;
};

/// "killed by SIGKILL", "exited: peer lost", "exited with status 77", "finished".
std::string describe(const ChildStatus& status);

/// The value in the records: the exit code, or 128 + signal as in a shell.
int recordedCode(const ChildStatus& status);

} // namespace rm
