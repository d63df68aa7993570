// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/peers/peer_message.h"

#include "shared/io/json_fields.h"

#include <algorithm>
#include <limits>

namespace rm {

namespace {

constexpr FieldRule kWords = cutAt(2048);
constexpr int32_t kMost = 1 << 20; ///< nodes, ranks
constexpr FieldRule kAttempt = within(1, std::numeric_limits<int32_t>::max());
constexpr FieldRule kCount = atLeast(0);

} // namespace

template <Either<PeerStatus> T, class Visit>
void fields(T& m, Visit&& visit) {
    visit("node", m.node, within(0, kMost));
    visit("ranks", m.ranks, within(1, kMost));
    visit("attempt", m.attempt, within(0, std::numeric_limits<int32_t>::max() - 1));
    visit("failing", m.isFailing);
    visit("obeyed", m.hasObeyed);
    visit("patience_ns", m.patienceNs, kCount);
    visit("ended", m.hasEnded);
    visit("outcome", m.end.outcome, within(0, static_cast<int>(Outcome::kFailed)));
    visit("first_failed_rank", m.end.firstFailedRank, within(-1, kMost));
    visit("exit_code", m.end.exitCode, within(0, 1 << 16));
    visit("wall_ns", m.end.wallNs, kCount);
    visit("message", m.end.message, kWords);
    visit("step", m.step, kCount);
    visit("busy", m.isBusy);
    visit("hangs", m.hang.isNoticed);
    visit("hang_is_sure", m.hang.isSure);
    visit("culprit", m.hang.culprit, within(-1, kMost));
    visit("hang_times", m.hang.times, kCount);
    visit("hang_why", m.hang.why, kWords);
    visit("gone", m.whyGone, kWords.optional());
}

template <Either<StartOrder> T, class Visit>
void fields(T& m, Visit&& visit) {
    visit("attempt", m.attempt, kAttempt);
    visit("members", m.members, within(0, kMost));
    visit("first_rank", m.firstRank, within(0, kMost));
    visit("world_size", m.worldSize, within(1, kMost));
    visit("master_port", m.masterPort, within(0, 65535));
    visit("start_from", m.startFrom);
    visit("exact", m.startFromIsExact);
    visit("nonce", m.storeNonce);
    visit("restarts_in_a_row", m.restartsInARow, kCount);
    visit("reached_step", m.reachedStep, kCount);
}

template <Either<EndOrder> T, class Visit>
void fields(T& m, Visit&& visit) {
    visit("attempt", m.attempt, kAttempt);
    visit("kill", m.kill);
    visit("why", m.why, kWords);
}

template <Either<WaitOrder> T, class Visit>
void fields(T& m, Visit&& visit) {
    visit("attempt", m.attempt, kAttempt);
}

template <Either<OverOrder> T, class Visit>
void fields(T& m, Visit&& visit) {
    int outcome = m.outcome ? static_cast<int>(*m.outcome) : -1;
    visit("outcome", outcome, within(-1, static_cast<int>(Outcome::kFailed)));
    if constexpr (!std::is_const_v<T>)
        m.outcome = outcome < 0 ? std::nullopt : std::optional(static_cast<Outcome>(outcome));
    visit("why", m.why, kWords);
}

template <Either<LeaderAlive> T, class Visit>
void fields(T&, Visit&&) {}

template <Either<FetchOrder> T, class Visit>
void fields(T& m, Visit&& visit) {
    visit("path", m.path);
    visit("attempt", m.attempt, kAttempt);
    visit("step", m.step, kCount);
}

template <Either<FetchRequest> T, class Visit>
void fields(T& m, Visit&& visit) {
    visit("path", m.path);
}

template <Either<FetchAnswer> T, class Visit>
void fields(T& m, Visit&& visit) {
    visit("path", m.path);
    visit("problem", m.problem, kWords);
}

std::string encodePeerMessage(const PeerMessage& message) {
    return dumpJson(std::visit([](const auto& m) { return writeMessage(m); }, message));
}

Result<PeerMessage> parsePeerMessage(std::string_view text) {
    const std::string source = "a message of another agent";
    if (text.size() > kMaxPeerMessage)
        return fail(ErrorCode::kCorrupt,
                    "read " + source + ": it has " + std::to_string(text.size()) + " bytes");
    RM_ASSIGN_OR_RETURN(const Json object, parseJson(text, source));
    auto message = messageFrom<PeerMessage>(object, source);
    if (!message)
        return message;
    if (auto* status = std::get_if<PeerStatus>(&*message))
        status->end.attempt = status->attempt;
    if (const auto* start = std::get_if<StartOrder>(&*message); start && start->members.empty())
        return fail(ErrorCode::kCorrupt, "read " + source + ": \"members\" names no node");
    return message;
}

} // namespace rm
