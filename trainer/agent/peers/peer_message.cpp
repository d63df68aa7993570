// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/peers/peer_message.h"

#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <limits>

namespace rm {

namespace {

constexpr size_t kMaxWords = 2048;
constexpr int32_t kMost = 1 << 20; ///< nodes, ranks

std::string shortened(const std::string& text) {
    return text.substr(0, kMaxWords);
}

Json toJson(const PeerStatus& m) {
    return {{"type", "status"},
            {"node", m.node},
            {"ranks", m.ranks},
            {"attempt", m.attempt},
            {"failing", m.isFailing},
            {"obeyed", m.hasObeyed},
            {"patience_ns", m.patienceNs},
            {"ended", m.hasEnded},
            {"outcome", static_cast<int>(m.end.outcome)},
            {"first_failed_rank", m.end.firstFailedRank},
            {"exit_code", m.end.exitCode},
            {"wall_ns", m.end.wallNs},
            {"message", shortened(m.end.message)},
            {"step", m.step},
            {"busy", m.isBusy},
            {"hangs", m.hang.isNoticed},
            {"hang_is_sure", m.hang.isSure},
            {"culprit", m.hang.culprit},
            {"hang_times", m.hang.times},
            {"hang_why", shortened(m.hang.why)},
            {"gone", shortened(m.whyGone)}};
}

Json toJson(const StartOrder& m) {
    return {{"type", "start"},
            {"attempt", m.attempt},
            {"members", m.members},
            {"first_rank", m.firstRank},
            {"world_size", m.worldSize},
            {"master_port", m.masterPort},
            {"start_from", m.startFrom},
            {"exact", m.startFromIsExact},
            {"nonce", m.storeNonce},
            {"restarts_in_a_row", m.restartsInARow},
            {"reached_step", m.reachedStep}};
}

Json toJson(const EndOrder& m) {
    return {{"type", "end"}, {"attempt", m.attempt}, {"kill", m.kill}, {"why", shortened(m.why)}};
}

Json toJson(const WaitOrder& m) {
    return {{"type", "wait"}, {"attempt", m.attempt}};
}

Json toJson(const OverOrder& m) {
    return {{"type", "over"},
            {"outcome", m.outcome ? static_cast<int>(*m.outcome) : -1},
            {"why", shortened(m.why)}};
}

Json toJson(const LeaderAlive&) {
    return {{"type", "alive"}};
}

Json toJson(const FetchOrder& m) {
    return {{"type", "copy"}, {"path", m.path}, {"attempt", m.attempt}, {"step", m.step}};
}

Json toJson(const FetchRequest& m) {
    return {{"type", "fetch"}, {"path", m.path}};
}

Json toJson(const FetchAnswer& m) {
    return {{"type", "copied"}, {"path", m.path}, {"problem", shortened(m.problem)}};
}

/// Reads the members of one object; the first that is missing or out of range is remembered.
class Members {
public:
    explicit Members(const Json& object)
        : m_object(object) {}

    template <class T>
    void read(const char* key, T& value, int64_t least, int64_t most) {
        const auto found = intAt(m_object, key);
        if (found && *found >= least && *found <= most)
            value = static_cast<T>(*found);
        else
            refuse(key);
    }
    void read(const char* key, bool& value) { take(key, boolAt(m_object, key), value); }
    void read(const char* key, std::string& value) { take(key, textAt(m_object, key), value); }

    void read(const char* key, std::vector<int32_t>& nodes) {
        const Json* list = arrayAt(m_object, key);
        if (!list || list->empty())
            return refuse(key);
        for (const Json& each : *list) {
            const int64_t node = each.is_number_integer() ? each.get<int64_t>() : -1;
            if (node < 0 || node > kMost)
                return refuse(key);
            nodes.push_back(static_cast<int32_t>(node));
        }
    }

    template <class T>
    Result<PeerMessage> result(T message) const {
        if (m_wrong.empty())
            return message;
        return fail(ErrorCode::kCorrupt, "read a message of another agent: \"" + m_wrong +
                                             "\" is missing or makes no sense");
    }

private:
    template <class T>
    void take(const char* key, const std::optional<T>& found, T& value) {
        if (found)
            value = *found;
        else
            refuse(key);
    }
    void refuse(const char* key) {
        if (m_wrong.empty())
            m_wrong = key;
    }

    const Json& m_object;
    std::string m_wrong;
};

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

Result<PeerMessage> statusOf(const Json& object) {
    PeerStatus m;
    Members members(object);
    members.read("node", m.node, 0, kMost);
    members.read("ranks", m.ranks, 1, kMost);
    members.read("attempt", m.attempt, 0, std::numeric_limits<int32_t>::max() - 1);
    members.read("failing", m.isFailing);
    members.read("obeyed", m.hasObeyed);
    members.read("patience_ns", m.patienceNs, 0, kLargest);
    members.read("ended", m.hasEnded);
    members.read("outcome", m.end.outcome, 0, static_cast<int>(Outcome::kFailed));
    members.read("first_failed_rank", m.end.firstFailedRank, -1, kMost);
    members.read("exit_code", m.end.exitCode, 0, 1 << 16);
    members.read("wall_ns", m.end.wallNs, 0, kLargest);
    members.read("message", m.end.message);
    members.read("step", m.step, 0, kLargest);
    members.read("busy", m.isBusy);
    members.read("hangs", m.hang.isNoticed);
    members.read("hang_is_sure", m.hang.isSure);
    members.read("culprit", m.hang.culprit, -1, kMost);
    members.read("hang_times", m.hang.times, 0, kLargest);
    members.read("hang_why", m.hang.why);
    m.whyGone = textAt(object, "gone").value_or("");
    m.end.attempt = m.attempt;
    return members.result(std::move(m));
}

Result<PeerMessage> startOf(const Json& object) {
    StartOrder m;
    Members members(object);
    members.read("attempt", m.attempt, 1, std::numeric_limits<int32_t>::max());
    members.read("members", m.members);
    members.read("first_rank", m.firstRank, 0, kMost);
    members.read("world_size", m.worldSize, 1, kMost);
    members.read("master_port", m.masterPort, 0, 65535);
    members.read("start_from", m.startFrom);
    members.read("exact", m.startFromIsExact);
    members.read("nonce", m.storeNonce);
    members.read("restarts_in_a_row", m.restartsInARow, 0, kLargest);
    members.read("reached_step", m.reachedStep, 0, kLargest);
    return members.result(std::move(m));
}

Result<PeerMessage> endOf(const Json& object) {
    EndOrder m;
    Members members(object);
    members.read("attempt", m.attempt, 1, std::numeric_limits<int32_t>::max());
    members.read("kill", m.kill);
    members.read("why", m.why);
    return members.result(std::move(m));
}

Result<PeerMessage> waitOf(const Json& object) {
    WaitOrder m;
    Members members(object);
    members.read("attempt", m.attempt, 1, std::numeric_limits<int32_t>::max());
    return members.result(m);
}

Result<PeerMessage> overOf(const Json& object) {
    OverOrder m;
    Members members(object);
    int outcome = -1;
    members.read("outcome", outcome, -1, static_cast<int>(Outcome::kFailed));
    members.read("why", m.why);
    if (outcome >= 0)
        m.outcome = static_cast<Outcome>(outcome);
    return members.result(std::move(m));
}

Result<PeerMessage> copyOf(const Json& object) {
    FetchOrder m;
    Members members(object);
    members.read("path", m.path);
    members.read("attempt", m.attempt, 1, std::numeric_limits<int32_t>::max());
    members.read("step", m.step, 0, kLargest);
    return members.result(std::move(m));
}

Result<PeerMessage> fetchOf(const Json& object) {
    FetchRequest m;
    Members members(object);
    members.read("path", m.path);
    return members.result(std::move(m));
}

Result<PeerMessage> copiedOf(const Json& object) {
    FetchAnswer m;
    Members members(object);
    members.read("path", m.path);
    members.read("problem", m.problem);
    return members.result(std::move(m));
}

} // namespace

std::string encodePeerMessage(const PeerMessage& message) {
    return dumpJson(std::visit([](const auto& m) { return toJson(m); }, message));
}

Result<PeerMessage> parsePeerMessage(std::string_view text) {
    if (text.size() > kMaxPeerMessage)
        return fail(ErrorCode::kCorrupt, "read a message of another agent: it has " +
                                             std::to_string(text.size()) + " bytes");
    RM_ASSIGN_OR_RETURN(const Json object, parseJson(text, "a message of another agent"));
    const std::string type = textAt(object, "type").value_or("");
    if (type == "status")
        return statusOf(object);
    if (type == "start")
        return startOf(object);
    if (type == "end")
        return endOf(object);
    if (type == "wait")
        return waitOf(object);
    if (type == "over")
        return overOf(object);
    if (type == "alive")
        return LeaderAlive{};
    if (type == "copy")
        return copyOf(object);
    if (type == "fetch")
        return fetchOf(object);
    if (type == "copied")
        return copiedOf(object);
    return fail(ErrorCode::kTooNew, "read a message of another agent: type \"" +
                                        type.substr(0, 32) + "\" is not known");
}

} // namespace rm
