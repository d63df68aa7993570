// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/node/node_check.h"

#include "app/core/findings/text.h"
#include "app/core/node/ssh_address.h"
#include "shared/return_if_error.h"
#include "shared/spec/environment.h"
#include "shared/spec/toml_fields.h"

#include <algorithm>
#include <string_view>

namespace rm {

namespace {

constexpr std::string_view kNameLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
constexpr std::string_view kHostLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-:%";
/// A jump host becomes a word of a proxy command, in which '%' begins a placeholder.
constexpr std::string_view kJumpLetters = kHostLetters.substr(0, kHostLetters.size() - 1);

bool isMadeOf(std::string_view text, std::string_view letters) {
    return text.find_first_not_of(letters) == std::string_view::npos && text.substr(0, 1) != "-" &&
           text.size() <= 255;
}

bool isName(const std::string& text) {
    return !text.empty() && text.size() <= 64 && isMadeOf(text, kNameLetters);
}

tl::unexpected<Error> refuse(const std::string& node, std::string_view why, Values values = {}) {
    return failAs(say("gpu.node-set-up", {{"node", node}}),
                  {ErrorCode::kInvalid, say(why, values)});
}

tl::unexpected<Error> refuse(const Node& node, std::string_view why, Values values = {}) {
    return refuse(node.name, why, values);
}

Result<void> checkJumpHost(const Node& node) {
    if (node.jumpHost.empty())
        return {};
    RM_ASSIGN_OR_RETURN(
        const auto jumps,
        parseJumpHosts(node.jumpHost, say("gpu.node-set-up-jump-host", {{"node", node.name}})));
    for (const SshAddress& jump : jumps)
        if (jump.host.empty() || !isMadeOf(jump.host, kJumpLetters) ||
            !isMadeOf(jump.user, kJumpLetters))
            return refuse(node, "gpu.node-odd-jump-host", {{"hosts", node.jumpHost}});
    return {};
}

Result<void> checkWay(const Node& node) {
    if (!isMadeOf(node.user, kHostLetters))
        return refuse(node, "gpu.node-odd-user", {{"user", node.user}});
    if (node.port < 0 || node.port > 65535)
        return refuse(node, "gpu.node-odd-port", {{"port", std::to_string(node.port)}});
    if (node.identityFile.find_first_of("%\n\r") != std::string::npos)
        return refuse(node, "gpu.node-odd-key-file", {{"file", node.identityFile}});
    return checkJumpHost(node);
}

bool hasTwice(std::vector<std::string> list) {
    std::ranges::sort(list);
    return std::ranges::adjacent_find(list) != list.end();
}

bool isGpuIndex(const std::string& text) {
    constexpr size_t kMostDigits = 3;
    return !text.empty() && text.size() <= kMostDigits &&
           text.find_first_not_of("0123456789") == std::string::npos &&
           (text.size() == 1 || text.front() != '0');
}

bool isGpuUuid(const std::string& text) {
    return text.starts_with("GPU-") && text.size() > 4 && text.size() <= 64 &&
           text.find_first_not_of("0123456789abcdefABCDEF-", 4) == std::string::npos;
}

Result<void> checkGpus(const Node& node) {
    for (const std::string& gpu : node.gpus)
        if (!isGpuIndex(gpu) && !isGpuUuid(gpu))
            return refuse(node, "gpu.node-odd-gpu", {{"gpu", gpu}});
    if (hasTwice(node.gpus))
        return refuse(node, "gpu.node-gpu-twice");
    return {};
}

Result<void> checkEnvironment(const Node& node) {
    for (const std::string& entry : node.environment)
        if (entry.starts_with("CUDA_VISIBLE_DEVICES"))
            return refuse(node, "gpu.node-gpus-by-environment");
    const auto mistakes = environmentMistakes(
        node.environment, say("gpu.node-set-up-environment", {{"node", node.name}}));
    return mistakes.empty() ? Result<void>() : fail(ErrorCode::kInvalid, mistakes.front());
}

Result<void> checkUse(const Node& node) {
    constexpr size_t kMostNotes = 4096;
    constexpr double kMostPrice = 1e6;
    for (const std::string& group : node.groups)
        if (!isName(group))
            return refuse(node, "gpu.node-odd-group", {{"group", group}});
    if (hasTwice(node.groups))
        return refuse(node, "gpu.node-group-twice");
    RM_RETURN_IF_ERROR(checkGpus(node));
    RM_RETURN_IF_ERROR(checkEnvironment(node));
    if (node.notes.size() > kMostNotes || !isPlainText(node.notes))
        return refuse(node, "gpu.node-odd-notes");
    if (!(node.pricePerHour >= 0 && node.pricePerHour <= kMostPrice))
        return refuse(node, "gpu.node-odd-price");
    return {};
}

} // namespace

std::string partitionOf(const std::vector<std::string>& sbatch) {
    std::string value;
    for (const std::string& option : sbatch)
        for (const std::string_view start : {"--partition=", "--partition ", "-p"})
            if (option.starts_with(start)) {
                value = option.substr(start.size());
                break;
            }
    value.erase(0, value.find_first_not_of(' '));
    return value.substr(0, value.find(','));
}

Result<void> checkNode(const Node& node) {
    // First, as a name that nobody typed is the host's.
    if (!node.isLocal && node.sshHost.empty())
        return refuse(node, "gpu.node-no-host");
    if (!node.isLocal && !isMadeOf(node.sshHost, kHostLetters))
        return refuse(node, "gpu.node-odd-host", {{"host", node.sshHost}});
    if (!isName(node.name) || node.name == "." || node.name == "..")
        return refuse('\'' + node.name + '\'', "gpu.node-odd-name");
    for (const std::string& option : node.sbatch)
        if (const std::string mistake = sbatchMistake(option); !mistake.empty())
            return refuse(node, "gpu.node-odd-sbatch", {{"option", option}, {"mistake", mistake}});
    if (!node.isSlurm && !node.sbatch.empty())
        return refuse(node, "gpu.node-sbatch-without-slurm");
    const bool isHere = node.isLocal && !node.isSlurm; // a cluster's login node has its own name
    if (isHere != (node.name == kLocalNodeName))
        return refuse(node, "gpu.node-reserved-name", {{"name", kLocalNodeName}});
    if (isHere && !areReachedAlike(node, localNode()))
        return refuse(node, "gpu.node-reached-without-ssh");
    if (!node.isLocal)
        RM_RETURN_IF_ERROR(checkWay(node));
    return checkUse(node);
}

} // namespace rm
