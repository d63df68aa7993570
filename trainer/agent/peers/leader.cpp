// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/peers/leader.h"

#include "shared/exit_code.h"
#include "shared/journal/event_codes.h"
#include "shared/journal/first_cause.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace rm {

namespace {

constexpr int64_t kMostBackOffNs = 60 * Leader::kSecondNs;
constexpr int kMostRegroups = 6; ///< then each costs as little as any other

/// Whether the next attempt would end in the same way.
bool isForGood(int32_t exitCode) {
    switch (static_cast<ExitCode>(exitCode)) {
    case ExitCode::kUsage:
    case ExitCode::kNotFound:
    case ExitCode::kDenied:
    case ExitCode::kCorrupt:
    case ExitCode::kTooNew:
    case ExitCode::kExhausted:
    case ExitCode::kNonFinite:
    case ExitCode::kSpiked:
        return true;
    default:
        return false;
    }
}

/// The pause before the k-th restart in a row: none, then 1, 2, 4, ... 60 s.
int64_t backOffNs(int64_t inARow) {
    if (inARow <= 1)
        return 0;
    const int64_t doublings = std::min<int64_t>(inARow - 2, 6);
    return std::min(kMostBackOffNs, Leader::kSecondNs << doublings);
}

} // namespace

OnHang onHangOf(const std::string& name) {
    return name == "wait" ? OnHang::kWait : name == "stop" ? OnHang::kStop : OnHang::kRestart;
}

Leader::Leader(Config config)
    : m_config(std::move(config))
    , m_attempt(m_config.attempt)
    , m_members(m_config.members)
    , m_reached(m_config.reached)
    , m_inARow(m_config.inARow) {
    for (int32_t node = 0; node < m_config.nodes; ++node)
        m_nodes[node];
    m_nodes[0].isLinked = true;
}

void Leader::onStatus(const PeerStatus& status, int64_t nowNs) {
    const auto found = m_nodes.find(status.node);
    if (found == m_nodes.end())
        return;
    Node& node = found->second;
    if (!node.isLinked) {
        node.isLinked = node.wasLinked = true;
        node.sinceNs = nowNs;
    }
    node.status = status;
    if (status.node != 0 || status.attempt != m_attempt)
        return;
    if (status.step != m_step || status.isBusy)
        m_stepNs = nowNs;
    m_step = std::max(m_step, status.step);
}

void Leader::onLinkLost(int32_t node, const std::string& why, int64_t nowNs) {
    const auto found = m_nodes.find(node);
    if (node == 0 || found == m_nodes.end() || !found->second.isLinked)
        return;
    found->second.isLinked = false;
    found->second.whyLost = why;
    found->second.sinceNs = nowNs;
}

std::vector<Leader::Action> Leader::tick(int64_t nowNs) {
    m_tickedNs = nowNs;
    if (m_sinceNs == 0)
        m_sinceNs = m_stepNs = nowNs;
    if (m_state == State::kTraining)
        train(nowNs);
    if (m_state == State::kEnding)
        end(nowNs);
    if (m_state == State::kWaiting)
        wait(nowNs);
    return std::exchange(m_actions, {});
}

std::optional<int64_t> Leader::nextDeadline() const {
    // Elsewhere seconds do not matter, and statuses come each second.
    const int64_t dueNs = m_state == State::kEnding && !m_isKilled ? m_sinceNs + kGraceNs
                          : m_state == State::kWaiting             ? m_notBeforeNs
                                                                   : 0;
    return dueNs > m_tickedNs ? std::optional(dueNs) : std::nullopt;
}

std::string Leader::nameOf(int32_t node) const {
    const auto index = static_cast<size_t>(node);
    return index < m_config.names.size() ? m_config.names[index] : "node " + std::to_string(node);
}

std::string Leader::namesOf(const std::vector<int32_t>& nodes) const {
    std::string names;
    for (const int32_t node : nodes)
        names += (names.empty() ? "" : ", ") + nameOf(node);
    return names;
}

bool Leader::hasEnded(int32_t node) const {
    const auto& status = m_nodes.at(node).status;
    return status && status->attempt == m_attempt && status->hasEnded;
}

bool Leader::hasFailed(int32_t node) const {
    const auto& status = m_nodes.at(node).status;
    return isGone(node) ||
           (status && status->attempt == m_attempt &&
            (status->isFailing || (status->hasEnded && status->end.outcome == Outcome::kFailed)));
}

/// Whether its part of the run was removed. Its agent ends, and none of that run comes back.
bool Leader::isGone(int32_t node) const {
    const auto& status = m_nodes.at(node).status;
    return status && !status->whyGone.empty();
}

/// Whether attempts may begin without the nodes that are gone.
bool Leader::areEnoughLeft() const {
    const auto gone =
        std::ranges::count_if(m_nodes, [this](const auto& entry) { return isGone(entry.first); });
    return gone == 0 ||
           (m_config.minNodes > 0 && m_config.nodes - gone >= m_config.minNodes && !isGone(0));
}

/// The words of all nodes that are gone; empty: none is.
std::string Leader::whyGone() const {
    std::string why;
    for (const auto& entry : m_nodes)
        if (isGone(entry.first))
            why += (why.empty() ? "" : "; ") + entry.second.status->whyGone;
    return why;
}

/// Whether a person, or the node's scheduler, ended the ranks there.
bool Leader::endedOnRequest(int32_t node) const {
    if (!hasEnded(node))
        return false;
    const Outcome outcome = m_nodes.at(node).status->end.outcome;
    return outcome == Outcome::kStopped || outcome == Outcome::kPreempted;
}

/// Whether the node could begin an attempt.
bool Leader::isReady(int32_t index) const {
    const Node& node = m_nodes.at(index);
    return node.isLinked && node.status && node.status->hasEnded && !isGone(index);
}

bool Leader::isAway(int32_t index, int64_t forNs, int64_t nowNs) const {
    const Node& node = m_nodes.at(index);
    return !node.isLinked && nowNs - std::max(node.sinceNs, m_sinceNs) >= forNs;
}

/// The nodes that may still come.
std::vector<int32_t> Leader::missing() const {
    std::vector<int32_t> found;
    for (const auto& entry : m_nodes)
        if (!isReady(entry.first) && !isGone(entry.first))
            found.push_back(entry.first);
    return found;
}

void Leader::train(int64_t nowNs) {
    const bool isOver = std::ranges::all_of(m_members, [&](int32_t node) {
        return hasEnded(node) || (node != 0 && hasEnded(0) && isAway(node, kAwayNs, nowNs));
    });
    if (isOver)
        return settle(nowNs);
    if (m_requested)
        return beginEnding(false, "ended, as the run was asked to", nowNs);
    if (std::ranges::any_of(m_members, [&](int32_t node) { return hasFailed(node); }))
        return beginEnding(false, "ended, as a rank elsewhere failed", nowNs);
    // Where one finished or paused, the others do, at the same step.
    if (std::ranges::any_of(m_members, [&](int32_t node) { return endedOnRequest(node); }))
        return beginEnding(false, "ended, as the ranks of another node were asked to", nowNs);
    watchHang(nowNs);
    if (m_state == State::kTraining)
        watchLinks(nowNs);
    if (m_state == State::kTraining)
        regroup(nowNs);
}

void Leader::watchHang(int64_t nowNs) {
    if (m_config.onHang == OnHang::kWait)
        return;
    const PeerStatus::Hang* worst = nullptr;
    for (const int32_t node : m_members) {
        const auto& status = m_nodes.at(node).status;
        if (!status || status->attempt != m_attempt || !status->hang.isNoticed)
            continue;
        const PeerStatus::Hang& hang = status->hang;
        const auto key = [](const PeerStatus::Hang& h) {
            return std::tuple(h.isSure, h.culprit >= 0, h.times);
        };
        if ((hang.isSure || hang.times >= kHangTimes) && (!worst || key(*worst) < key(hang)))
            worst = &hang;
    }
    if (!worst)
        return;
    m_endsForGood = m_config.onHang == OnHang::kStop;
    beginEnding(true, "it hung: " + worst->why, nowNs);
}

/// Steps prove that all members live, whether their agents can be heard or not.
void Leader::watchLinks(int64_t nowNs) {
    if (m_config.onHang == OnHang::kWait)
        return;
    for (const int32_t node : m_members) {
        const auto& status = m_nodes.at(node).status;
        const bool isBehind = !status || status->attempt < m_attempt;
        if (m_nodes.at(node).isLinked && isBehind && nowNs - m_sinceNs >= kStartNs)
            return beginEnding(true, nameOf(node) + " did not begin the attempt", nowNs);
        if (m_nodes.at(node).wasLinked && isAway(node, kCutNs, nowNs) &&
            nowNs - m_stepNs >= std::max(kCutNs, patienceNs()))
            return beginEnding(true,
                               nameOf(node) + " cannot be reached from " + nameOf(0) + " (" +
                                   m_nodes.at(node).whyLost +
                                   "), and no step was finished meanwhile",
                               nowNs);
    }
}

/// How long a step may take, as node 0 knows it.
int64_t Leader::patienceNs() const {
    const auto& own = m_nodes.at(0).status;
    return own && own->attempt == m_attempt ? own->patienceNs : 0;
}

/// Whether it is here for long enough for a pause: twice as long after each, as links may flap.
bool Leader::isSteady(int32_t node, int64_t nowNs) const {
    return isReady(node) && nowNs - m_nodes.at(node).sinceNs >= kSteadyNs << m_regroups;
}

void Leader::regroup(int64_t nowNs) {
    std::vector<int32_t> leftOut; ///< that may take part again
    for (const auto& entry : m_nodes)
        if (std::ranges::find(m_members, entry.first) == m_members.end() && !isGone(entry.first))
            leftOut.push_back(entry.first);
    const bool areAllHere =
        std::ranges::all_of(leftOut, [&](int32_t node) { return isSteady(node, nowNs); });
    if (m_isRegrouping || m_hasPersonRequest || leftOut.empty() || !areAllHere || m_step == 0)
        return;
    m_isRegrouping = true;
    m_regroups = std::min(m_regroups + 1, kMostRegroups);
    note(Severity::kInfo, "nodes-are-back",
         whyGone().empty()
             ? "all nodes of the run can be reached again; it pauses to go on with all"
             : namesOf(leftOut) + " can be reached again; the run pauses to go on with all nodes "
                                  "that are left");
    m_actions.emplace_back(Regroup{m_attempt});
}

/// Ends ranks whose node did not hear that their attempt is over.
void Leader::endLeftBehind(int64_t nowNs) {
    if (nowNs - m_endSentNs < kSecondNs)
        return;
    for (const auto& entry : m_nodes) {
        const Node& node = entry.second;
        if (!node.isLinked || !node.status || node.status->hasEnded)
            continue;
        m_endSentNs = nowNs;
        m_actions.emplace_back(End{node.status->attempt, true, "its attempt is over"});
    }
}

void Leader::beginEnding(bool kill, const std::string& why, int64_t nowNs) {
    m_state = State::kEnding;
    m_sinceNs = kill ? nowNs - kGraceNs : nowNs;
    m_isKilled = kill;
    m_endSentNs = nowNs;
    m_actions.emplace_back(End{m_attempt, kill, why});
}

void Leader::end(int64_t nowNs) {
    const bool areGone = std::ranges::all_of(m_members, [&](int32_t node) {
        return hasEnded(node) || (node != 0 && isAway(node, kAwayNs, nowNs));
    });
    if (areGone)
        return settle(nowNs);
    if (!m_isKilled && nowNs - m_sinceNs >= kGraceNs) {
        m_isKilled = true;
        m_endSentNs = nowNs;
        m_actions.emplace_back(End{m_attempt, true, "did not end when asked"});
    }
    if (m_isKilled)
        endLeftBehind(nowNs);
    // Node 0 must have ended, else it can begin nothing.
    if (hasEnded(0) && nowNs - m_sinceNs >= kGraceNs + kStuckNs)
        settle(nowNs);
}

/// The node whose end of the attempt is that of all; nullopt: none has told any.
std::optional<int32_t> Leader::cause() const {
    std::optional<int32_t> found;
    const auto key = [this](int32_t node) {
        const AttemptEnded& end = m_nodes.at(node).status->end;
        return std::pair(distanceFromCause(end), end.wallNs);
    };
    for (const int32_t node : m_members)
        if (hasEnded(node) && (!found || key(node) < key(*found)))
            found = node;
    return found;
}

void Leader::settle(int64_t nowNs) {
    const std::optional<int32_t> by = cause();
    const AttemptEnded* end = by ? &m_nodes.at(*by).status->end : nullptr;
    if (m_step > m_reached) {
        m_inARow = 0;
        m_reached = m_step;
    }
    if (m_isRegrouping && end && end->outcome == Outcome::kPaused)
        return beginWaiting(nowNs, nowNs);
    const bool isObeyed = std::ranges::any_of(
        m_members, [&](int32_t n) { return hasEnded(n) && m_nodes.at(n).status->hasObeyed; });
    const bool hasFailed = end && end->outcome == Outcome::kFailed;
    if (hasFailed && m_hasObeyed)
        return endAsRequested(*end);
    if (!hasFailed || (isObeyed && !m_isRegrouping))
        return over({}, {});
    restartAfter(*by, nowNs);
}

void Leader::restartAfter(int32_t failed, int64_t nowNs) {
    const AttemptEnded& end = m_nodes.at(failed).status->end;
    if (m_config.maxRestarts == 0 || m_endsForGood || isForGood(end.exitCode))
        return endAfter(failed);
    if (m_requested)
        return endAsRequested(end);
    if (!areEnoughLeft())
        return endAfter(failed);
    if (++m_inARow > m_config.maxRestarts)
        return over({}, "restarted " + std::to_string(m_config.maxRestarts) +
                            " times without a new step (launch.max_restarts)");
    const int64_t backOff = backOffNs(m_inARow);
    note(Severity::kWarning, kRestartsEvent,
         "attempt " + std::to_string(m_attempt) + " failed: " + end.message + "; the run goes on" +
             (backOff > 0 ? " in " + std::to_string(backOff / kSecondNs) + " s" : ""));
    beginWaiting(nowNs + backOff, nowNs);
}

/// Ends the run after an attempt that failed on that node first. The journal of a node that is gone
/// is gone as well, so that the others tell how it had failed there.
void Leader::endAfter(int32_t failed) {
    const std::string why = whyGone();
    if (!isGone(failed))
        return over({}, why);
    const PeerStatus& status = *m_nodes.at(failed).status;
    const std::string& first = status.end.message;
    over(Outcome::kFailed, first == status.whyGone ? why : first + "; " + why);
}

/// Nobody else tells that it had failed.
void Leader::endAsRequested(const AttemptEnded& failed) {
    if (*m_requested != Outcome::kFailed) // else that is what the end says
        note(Severity::kWarning, "ended-after-failure",
             "attempt " + std::to_string(m_attempt) + " failed: " + failed.message +
                 "; the run is " + outcomeName(*m_requested) + ", as it was asked to be");
    over(m_requested, m_howRequested);
}

void Leader::beginWaiting(int64_t notBeforeNs, int64_t nowNs) {
    m_state = State::kWaiting;
    m_sinceNs = nowNs;
    m_notBeforeNs = notBeforeNs;
    m_isRegrouping = false;
    m_hasReportedWait = false;
    m_actions.emplace_back(Wait{m_attempt});
}

/// A node whose old ranks still live is not ready, so these are ended first. Fewer nodes begin only
/// after a moment in which the others may come back, and never without node 0, which leads.
void Leader::wait(int64_t nowNs) {
    if (m_requested)
        return over(m_requested, m_howRequested);
    if (!areEnoughLeft())
        return over({}, whyGone());
    endLeftBehind(nowNs);
    if (nowNs < m_notBeforeNs)
        return;
    const std::vector<int32_t> away = missing();
    std::vector<int32_t> here;
    for (const auto& entry : m_nodes)
        if (isReady(entry.first))
            here.push_back(entry.first);
    if (away.empty()) {
        if (std::ranges::any_of(m_members, [this](int32_t node) { return isGone(node); }))
            note(Severity::kWarning, "goes-on-with-fewer", whyGone() + "; the run goes on without");
        return start(here, nowNs);
    }
    const bool isFirstHere = !here.empty() && here.front() == 0;
    const bool areEnough = m_config.minNodes > 0 &&
                           static_cast<int64_t>(here.size()) >= m_config.minNodes && isFirstHere;
    const int64_t waitedNs = nowNs - std::max(m_sinceNs, m_notBeforeNs);
    if (areEnough && waitedNs >= kComeBackNs) {
        note(Severity::kWarning, "goes-on-with-fewer",
             namesOf(away) + " cannot be reached; the run goes on without");
        return start(here, nowNs);
    }
    if (waitedNs >= kPatienceNs)
        return over({}, namesOf(away) + " could not be reached for " +
                            std::to_string(kPatienceNs / kSecondNs / 60) +
                            " minutes; resume it on others, or set launch.min_nodes");
    if (!m_hasReportedWait && waitedNs >= kComeBackNs) {
        m_hasReportedWait = true;
        note(Severity::kWarning, "waits-for-nodes",
             "the run waits for " + namesOf(away) + ", which cannot be reached");
    }
}

void Leader::start(const std::vector<int32_t>& nodes, int64_t nowNs) {
    Start order{++m_attempt, {}, m_inARow, m_reached};
    int32_t firstRank = 0;
    for (const int32_t node : nodes) {
        const int32_t ranks = m_nodes.at(node).status->ranks;
        order.nodes.push_back({node, firstRank, ranks});
        firstRank += ranks;
    }
    m_state = State::kTraining;
    m_members = nodes;
    m_sinceNs = m_stepNs = nowNs;
    m_step = 0;
    m_isKilled = false;
    m_hasPersonRequest = false;
    m_actions.emplace_back(std::move(order));
}

void Leader::over(std::optional<Outcome> outcome, const std::string& why) {
    m_state = State::kOver;
    m_actions.emplace_back(Over{outcome, why});
}

void Leader::note(Severity severity, const char* code, std::string message) {
    m_actions.emplace_back(Note{severity, code, std::move(message)});
}

} // namespace rm
