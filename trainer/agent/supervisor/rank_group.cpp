// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/rank_group.h"

#include "shared/exit_code.h"
#include "shared/io/clock.h"
#include "shared/journal/event_codes.h"
#include "trainer/agent/posix/process.h"

#include <algorithm>
#include <csignal>
#include <utility>

namespace rm {

namespace {

bool exitedWith(const ChildStatus& status, ExitCode code) {
    return status.isKnown && !status.signal && status.exitCode == static_cast<int>(code);
}

} // namespace

Moment Moment::now() {
    return {monotonicNowNs(), wallNowNs()};
}

std::string describe(const ChildStatus& status) {
    if (!status.isKnown)
        return "gone without a last word, while no agent watched it (killed, or the node "
               "restarted?)";
    if (status.signal && status.outOfMemory)
        return "killed by " + signalName(status.signal) + " (this node ran out of memory)";
    if (status.signal)
        return "killed by " + signalName(status.signal);
    if (status.exitCode == 0)
        return "finished";
    const std::string name = exitCodeName(status.exitCode);
    return name == "unknown" ? "exited with status " + std::to_string(status.exitCode)
                             : "exited: " + name;
}

int recordedCode(const ChildStatus& status) {
    if (!status.isKnown)
        return static_cast<int>(ExitCode::kFailed);
    return status.signal ? 128 + status.signal : status.exitCode;
}

RankGroup::RankGroup(const Config& config, RankControl& control)
    : m_config(config)
    , m_control(control)
    , m_ranks(static_cast<size_t>(config.localRanks)) {}

ChildStatus RankGroup::onChildExit(int localRank, const ChildStatus& status, std::string tail,
                                   Moment now) {
    if (m_ranks[localRank].exit)
        return *m_ranks[localRank].exit;
    noteExit(localRank, status);
    const ChildStatus noted = *m_ranks[localRank].exit;
    m_records.push_back(RankExited{m_config.attempt, m_config.firstRank + localRank,
                                   recordedCode(noted), noted.signal, now.wallNs,
                                   explain(localRank), std::move(tail)});
    settle(noted, now);
    return noted;
}

void RankGroup::onEarlierExit(int localRank, const ChildStatus& status, Moment now) {
    if (m_ranks[localRank].exit)
        return;
    noteExit(localRank, status);
    settle(status, now);
}

void RankGroup::noteExit(int localRank, const ChildStatus& status) {
    Rank& rank = m_ranks[localRank];
    // Nobody says how a process ended that is no child of ours; but it was we who killed it.
    rank.exit = !status.isKnown && rank.killed ? ChildStatus{0, SIGKILL} : status;
    rank.order = m_exits++;
}

void RankGroup::settle(const ChildStatus& latest, Moment now) {
    if (m_exits == m_config.localRanks)
        finish(now);
    else if (m_state == State::kRunning && isFailure(latest))
        beginEnding(now, m_config.failureGraceNs);
}

void RankGroup::stop(Moment now) {
    m_requested = std::max(m_requested, Requested::kStop);
    if (m_state == State::kRunning)
        beginEnding(now, m_config.stopGraceNs);
}

void RankGroup::kill(Moment now) {
    m_requested = Requested::kKill;
    if (m_state == State::kEnded)
        return;
    m_state = State::kEnding;
    m_deadlineNs = now.monotonicNs;
    tick(now);
}

void RankGroup::end(bool kill, const std::string& why, Moment now) {
    if (m_state == State::kEnded)
        return;
    if (m_whyEnded.empty()) {
        m_whyEnded = why;
        m_isEndedForOthers = !kill;
        m_wasFailing = isFailing();
    }
    if (m_state == State::kRunning)
        beginEnding(now, m_config.failureGraceNs);
    if (kill)
        m_deadlineNs = now.monotonicNs;
    tick(now);
}

bool RankGroup::hasObeyed() const {
    return m_requested != Requested::kNothing || std::ranges::any_of(m_ranks, [](const Rank& rank) {
               return rank.exit && !rank.terminated &&
                      (exitedWith(*rank.exit, ExitCode::kPaused) ||
                       exitedWith(*rank.exit, ExitCode::kStopped) ||
                       exitedWith(*rank.exit, ExitCode::kPreempted));
           });
}

void RankGroup::tick(Moment now) {
    if (!m_deadlineNs || now.monotonicNs < *m_deadlineNs)
        return;
    m_deadlineNs.reset();
    killLiving();
}

std::vector<Record> RankGroup::takeRecords() {
    return std::exchange(m_records, {});
}

void RankGroup::beginEnding(Moment now, int64_t graceNs) {
    m_state = State::kEnding;
    m_deadlineNs = now.monotonicNs + graceNs;
    for (int i = 0; i < m_config.localRanks; ++i) {
        if (m_ranks[i].exit)
            continue;
        m_ranks[i].terminated = true;
        m_control.terminate(i);
    }
}

void RankGroup::killLiving() {
    for (int i = 0; i < m_config.localRanks; ++i) {
        if (m_ranks[i].exit)
            continue;
        m_ranks[i].killed = true;
        m_control.kill(i);
    }
}

void RankGroup::finish(Moment now) {
    m_state = State::kEnded;
    m_deadlineNs.reset();
    const Outcome result = outcome();
    const int failed = result == Outcome::kFailed ? firstFailed() : -1;
    m_verdict.attempt = m_config.attempt;
    m_verdict.outcome = result;
    m_verdict.firstFailedRank = failed < 0 ? -1 : m_config.firstRank + failed;
    m_verdict.exitCode = failed < 0 ? 0 : recordedCode(*m_ranks[failed].exit);
    if (isEndedFor(failed)) {
        m_verdict.firstFailedRank = -1;
        m_verdict.exitCode =
            static_cast<int32_t>(m_isEndedForOthers ? ExitCode::kPeerLost : ExitCode::kUnavailable);
    }
    m_verdict.wallNs = now.wallNs;
    m_verdict.message = endMessage(failed);
    m_records.push_back(m_verdict);
}

bool RankGroup::isFailure(const ChildStatus& status) const {
    return status.signal || !status.isKnown ||
           !(exitedWith(status, ExitCode::kOk) || exitedWith(status, ExitCode::kPaused) ||
             exitedWith(status, ExitCode::kStopped) || exitedWith(status, ExitCode::kPreempted));
}

// How unlikely an exit is to be the cause of the others: 0 is a cause, 3 ended by our own signal.
int RankGroup::suspicion(const Rank& rank) const {
    const ChildStatus& status = *rank.exit;
    if (exitedWith(status, ExitCode::kPeerLost))
        return 2;
    if (!rank.terminated && !rank.killed)
        return 0;
    return status.signal == SIGTERM || status.signal == SIGKILL ? 3 : 1;
}

/// Whether the group was ended for end()'s reason, and not by a rank of its own: where one had lost
/// its peer before, it may be another one's error that we had interrupted.
bool RankGroup::isEndedFor(int failed) const {
    return !m_whyEnded.empty() && m_requested == Requested::kNothing &&
           (failed < 0 || suspicion(m_ranks[failed]) > (m_wasFailing ? 1 : 0));
}

int RankGroup::firstFailed() const {
    int found = -1;
    const auto key = [this](int i) { return std::pair(suspicion(m_ranks[i]), m_ranks[i].order); };
    for (int i = 0; i < m_config.localRanks; ++i)
        if (isFailure(*m_ranks[i].exit) && (found < 0 || key(i) < key(found)))
            found = i;
    return found;
}

Outcome RankGroup::outcome() const {
    if (m_requested != Requested::kNothing)
        return Outcome::kStopped;
    const auto any = [this](ExitCode code) {
        return std::any_of(m_ranks.begin(), m_ranks.end(),
                           [code](const Rank& rank) { return exitedWith(*rank.exit, code); });
    };
    // Ranks that pause are gone from one node before another, whose agent may be told to end what
    // it has while the last of its ranks exits.
    if (std::ranges::all_of(
            m_ranks, [](const Rank& rank) { return exitedWith(*rank.exit, ExitCode::kPaused); }))
        return Outcome::kPaused;
    if (firstFailed() >= 0 || !m_whyEnded.empty())
        return Outcome::kFailed;
    if (any(ExitCode::kPaused))
        return Outcome::kPaused;
    if (any(ExitCode::kStopped))
        return Outcome::kStopped;
    return any(ExitCode::kPreempted) ? Outcome::kPreempted : Outcome::kFinished;
}

std::string RankGroup::explain(int localRank) const {
    const Rank& rank = m_ranks[localRank];
    const std::string what = describe(*rank.exit);
    if (rank.killed && rank.exit->signal == SIGKILL && !m_whyEnded.empty())
        return what + " by the agent: " + m_whyEnded;
    if (rank.killed && rank.exit->signal == SIGKILL)
        return what + " by the agent, " +
               (rank.terminated ? "as it did not end when asked" : "as commanded");
    // One that had a command ended by it, though it was asked to end while it did.
    const bool hadCommand = exitedWith(*rank.exit, ExitCode::kPaused) ||
                            exitedWith(*rank.exit, ExitCode::kStopped) ||
                            exitedWith(*rank.exit, ExitCode::kOk);
    if (rank.terminated && !hadCommand)
        return what + (m_requested != Requested::kNothing ? ", asked to stop"
                                                          : ", ended because another rank failed");
    return what;
}

std::string RankGroup::endMessage(int failed) const {
    switch (outcome()) {
    case Outcome::kStopped:
        return m_requested == Requested::kKill ? kKilledMessage : "stopped on request";
    case Outcome::kPaused:
        return "paused on request";
    case Outcome::kPreempted:
        return "asked to end by SIGTERM or SIGUSR1";
    case Outcome::kFinished:
        return "all ranks of this node finished";
    case Outcome::kFailed:
        break;
    }
    if (isEndedFor(failed))
        return m_whyEnded;
    return "rank " + std::to_string(m_config.firstRank + failed) + ": " + explain(failed);
}

} // namespace rm
