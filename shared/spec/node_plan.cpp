// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/node_plan.h"

#include "shared/io/json.h"
#include "shared/return_if_error.h"
#include "shared/spec/toml_fields.h"

#include <algorithm>
#include <utility>

namespace rm {

namespace {

constexpr int64_t kMaxRanks = 1 << 20;
constexpr size_t kMostStartedBy = 255;

std::vector<TomlField> fieldsOf(NodePlan& plan) {
    return {
        {"run_id", &plan.runId},
        {"run_name", &plan.runName},
        {"attempt", &plan.attempt},
        {"node_index", &plan.nodeIndex},
        {"node_count", &plan.nodeCount},
        {"first_rank", &plan.firstRank},
        {"local_ranks", &plan.localRanks},
        {"world_size", &plan.worldSize},
        {"master_addr", &plan.masterAddr},
        {"master_port", &plan.masterPort},
        {"interface", &plan.interface},
        {"address", &plan.address},
        {"device", &plan.device},
        {"bundle", &plan.bundle},
        {"runtime", &plan.runtime},
        {"start_from", &plan.startFrom},
        {"start_from_is_exact", &plan.startFromIsExact},
        {"environment", &plan.environment},
        {"store_nonce", &plan.storeNonce},
        {"planned_nodes", &plan.plannedNodes},
        {"members", &plan.members},
        {"node_names", &plan.nodeNames},
        {"started_by", &plan.startedBy},
        {"agent_port", &plan.agentPort},
        {"agent_key", &plan.agentKey},
        {"restarts_in_a_row", &plan.restartsInARow},
        {"reached_step", &plan.reachedStep},
    };
}

bool isWord(std::string_view text) {
    return std::ranges::all_of(text, [](unsigned char c) { return c > 0x20 && c != 0x7f; });
}

bool isNonce(std::string_view text) {
    constexpr size_t kMaxNonce = 64;
    return text.size() <= kMaxNonce && std::ranges::all_of(text, [](char c) {
               return (c >= 'a' && c <= 'f') || (c >= '0' && c <= '9');
           });
}

bool isPath(std::string_view path) {
    return path.empty() || (path.front() == '/' && path.find('\n') == path.npos);
}

// Checks the counts first, so that the sums below cannot overflow.
bool hasSaneCounts(const NodePlan& plan) {
    const auto within = [](int64_t value, int64_t low, int64_t high) {
        return value >= low && value <= high;
    };
    return within(plan.attempt, 1, INT32_MAX) && within(plan.worldSize, 1, kMaxRanks) &&
           within(plan.nodeCount, 1, plan.worldSize) &&
           (plan.plannedNodes == 0 || within(plan.plannedNodes, plan.nodeCount, kMaxRanks)) &&
           within(plan.nodeIndex, 0, plan.nodes() - 1) &&
           within(plan.localRanks, 1, plan.worldSize) &&
           within(plan.firstRank, 0, plan.worldSize - plan.localRanks);
}

std::vector<std::string> mistakesOf(const NodePlan& plan) {
    std::vector<std::string> mistakes;
    const auto demand = [&](bool kept, const char* rule) {
        if (!kept)
            mistakes.emplace_back(rule);
    };
    demand(isValidRunId(plan.runId), "run_id must be 1 to 64 of a-z, 0-9 and -");
    demand(hasSaneCounts(plan), "attempt, nodes and ranks do not fit together");
    demand(plan.masterPort >= 0 && plan.masterPort <= 65535, "master_port must be 0 to 65535");
    demand(!plan.masterAddr.empty() && isWord(plan.masterAddr), "master_addr must be an address");
    // The store listens there, and knows no password.
    demand(plan.masterAddr != "0.0.0.0" && plan.masterAddr != "::",
           "master_addr must be one address, not all of the node's");
    demand(isWord(plan.interface), "interface must be a name");
    demand(isWord(plan.address), "address must be an address");
    demand(plan.device == "cpu" || plan.device == "cuda", "device must be \"cpu\" or \"cuda\"");
    demand(isWord(plan.runtime), "runtime must be a name");
    demand(isPath(plan.bundle), "bundle must be an absolute path");
    demand(isPath(plan.startFrom), "start_from must be an absolute path");
    demand(std::ranges::all_of(plan.environment, isEnvironmentEntry),
           "environment must hold NAME=value of one line");
    demand(plan.members.empty() || plan.members.front() == 0, "members must begin with node 0");
    demand(std::ranges::all_of(plan.members,
                               [&](int64_t node) { return node >= 0 && node < plan.nodes(); }),
           "members must be nodes of the run");
    demand(std::ranges::all_of(plan.nodeNames, isPlainText), "node_names must be plain text");
    demand(plan.startedBy.size() <= kMostStartedBy && isPlainText(plan.startedBy),
           "started_by must be plain text of 255 bytes at most");
    demand(plan.agentPort >= 0 && plan.agentPort <= 65535, "agent_port must be 0 to 65535");
    demand(plan.agentPort == 0 || !plan.agentKey.empty(), "agent_port needs an agent_key");
    demand(plan.agentKey.empty() || isSha256(plan.agentKey), "agent_key must be 64 of 0-9 and a-f");
    demand(plan.restartsInARow >= 0 && plan.reachedStep >= 0,
           "restarts_in_a_row and reached_step must not be negative");
    demand(isNonce(plan.storeNonce), "store_nonce must be up to 64 of 0-9 and a-f");
    return mistakes;
}

} // namespace

std::string nameOfNode(const NodePlan& plan, int64_t index) {
    return std::cmp_less(index, plan.nodeNames.size()) ? plan.nodeNames[static_cast<size_t>(index)]
                                                       : "node " + std::to_string(index);
}

Result<NodePlan> parseNodePlan(std::string_view toml, std::string_view source) {
    NodePlan plan;
    RM_RETURN_IF_ERROR(readTomlFields(toml, source, fieldsOf(plan)));
    auto mistakes = mistakesOf(plan);
    for (std::string& mistake : mistakes)
        mistake = "read " + std::string(source) + ": " + mistake;
    RM_RETURN_IF_ERROR(failWithAll(mistakes));
    return plan;
}

std::string toToml(const NodePlan& plan) {
    NodePlan copy = plan;
    return writeTomlFields(fieldsOf(copy));
}

bool isValidRunId(std::string_view id) {
    constexpr size_t kMaxId = 64;
    return !id.empty() && id.size() <= kMaxId && id.front() != '-' &&
           std::ranges::all_of(id, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
           });
}

} // namespace rm
