// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/node/node_check.h"

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
constexpr const char* kOnlyHostLetters =
    "may hold letters, digits and ._:%- only, and starts with no '-'";
constexpr const char* kOnlyJumpLetters =
    "must read [USER@]HOST[:PORT] with letters, digits and ._:- only, and no part starts with '-'; "
    "several are separated by commas, the one that is passed first before the others";

bool isMadeOf(std::string_view text, std::string_view letters) {
    return text.find_first_not_of(letters) == std::string_view::npos && text.substr(0, 1) != "-" &&
           text.size() <= 255;
}

bool isName(const std::string& text) {
    return !text.empty() && text.size() <= 64 && isMadeOf(text, kNameLetters);
}

tl::unexpected<Error> bad(const Node& node, const std::string& what, const std::string& value,
                          const std::string& allowed) {
    return fail(ErrorCode::kInvalid,
                "set up node " + node.name + ": " + what + " '" + value + "' " + allowed);
}

Result<void> checkJumpHost(const Node& node) {
    if (node.jumpHost.empty())
        return {};
    RM_ASSIGN_OR_RETURN(const auto jumps,
                        parseJumpHosts(node.jumpHost, "set up node " + node.name + ": jump host"));
    for (const SshAddress& jump : jumps)
        if (jump.host.empty() || !isMadeOf(jump.host, kJumpLetters) ||
            !isMadeOf(jump.user, kJumpLetters))
            return bad(node, "jump host", node.jumpHost, kOnlyJumpLetters);
    return {};
}

Result<void> checkWay(const Node& node) {
    if (!isMadeOf(node.user, kHostLetters))
        return bad(node, "user", node.user, kOnlyHostLetters);
    if (node.port < 0 || node.port > 65535)
        return bad(node, "port", std::to_string(node.port), "is not between 1 and 65535");
    if (node.identityFile.find_first_of("%\n\r") != std::string::npos)
        return bad(node, "key file", node.identityFile, "must not hold '%' or a line break");
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
            return bad(node, "GPU", gpu,
                       "is neither a number such as 0 nor a UUID such as GPU-1b2c3d4e-..., as "
                       "nvidia-smi -L lists them");
    if (hasTwice(node.gpus))
        return fail(ErrorCode::kInvalid, "set up node " + node.name + ": a GPU is chosen twice");
    return {};
}

Result<void> checkEnvironment(const Node& node) {
    const std::string attempt = "set up node " + node.name + ": ";
    for (const std::string& entry : node.environment)
        if (entry.starts_with("CUDA_VISIBLE_DEVICES"))
            return fail(ErrorCode::kInvalid,
                        attempt + "its environment must not set CUDA_VISIBLE_DEVICES, which the "
                                  "GPUs chosen for the node become (gpus): choose them there");
    const auto mistakes = environmentMistakes(node.environment, attempt + "its environment");
    return mistakes.empty() ? Result<void>() : fail(ErrorCode::kInvalid, mistakes.front());
}

Result<void> checkUse(const Node& node) {
    constexpr size_t kMostNotes = 4096;
    for (const std::string& group : node.groups)
        if (!isName(group))
            return bad(node, "group", group,
                       "must be 1 to 64 letters, digits, '.', '_' or '-', without spaces and with "
                       "no '-' at its start, such as test-group");
    if (hasTwice(node.groups))
        return fail(ErrorCode::kInvalid, "set up node " + node.name + ": a group is named twice");
    RM_RETURN_IF_ERROR(checkGpus(node));
    RM_RETURN_IF_ERROR(checkEnvironment(node));
    if (node.notes.size() > kMostNotes || !isPlainText(node.notes))
        return fail(ErrorCode::kInvalid, "set up node " + node.name +
                                             ": its notes must be plain text of at most 4096 "
                                             "bytes");
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
        return fail(ErrorCode::kInvalid, "set up node " + node.name + ": it has no host");
    if (!node.isLocal && !isMadeOf(node.sshHost, kHostLetters))
        return bad(node, "host", node.sshHost, kOnlyHostLetters);
    if (!isName(node.name) || node.name == "." || node.name == "..")
        return fail(ErrorCode::kInvalid, "set up node '" + node.name +
                                             "': a name is 1 to 64 letters, digits, '.', '_' or "
                                             "'-', starts with no '-' and is not '.' or '..'");
    for (const std::string& option : node.sbatch)
        if (const std::string mistake = sbatchMistake(option); !mistake.empty())
            return bad(node, "option for sbatch", option, mistake);
    if (!node.isSlurm && !node.sbatch.empty())
        return fail(ErrorCode::kInvalid,
                    "set up node " + node.name + ": options for sbatch are for a Slurm cluster");
    const bool isHere = node.isLocal && !node.isSlurm; // a cluster's login node has its own name
    if (isHere != (node.name == kLocalNodeName))
        return fail(ErrorCode::kInvalid, std::string("set up node ") + node.name + ": " +
                                             kLocalNodeName + " is the name of this computer");
    if (isHere && !areReachedAlike(node, localNode()))
        return fail(ErrorCode::kInvalid, "set up node " + node.name +
                                             ": this computer is reached without SSH: it has no "
                                             "host, user, port, key file or jump host");
    if (!node.isLocal)
        RM_RETURN_IF_ERROR(checkWay(node));
    return checkUse(node);
}

} // namespace rm
