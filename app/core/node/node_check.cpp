// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/node/node_check.h"

#include <string_view>

namespace rm {

namespace {

constexpr std::string_view kNameLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
constexpr std::string_view kHostLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-:%";

bool isMadeOf(std::string_view text, std::string_view letters) {
    return text.find_first_not_of(letters) == std::string_view::npos && text.substr(0, 1) != "-" &&
           text.size() <= 255;
}

tl::unexpected<Error> bad(const Node& node, const std::string& what, const std::string& value,
                          const std::string& allowed) {
    return fail(ErrorCode::kInvalid,
                "check node " + node.name + ": " + what + " '" + value + "' " + allowed);
}

} // namespace

Node localNode() {
    Node node;
    node.name = kLocalNodeName;
    node.isLocal = true;
    return node;
}

Result<void> checkNode(const Node& node) {
    // First, as a name that nobody typed is the host's.
    if (!node.isLocal && node.sshHost.empty())
        return fail(ErrorCode::kInvalid, "check node " + node.name + ": it has no host");
    if (!node.isLocal && !isMadeOf(node.sshHost, kHostLetters))
        return bad(node, "host", node.sshHost,
                   "may hold letters, digits and ._:%- only, and starts with no '-'");
    if (node.name.empty() || node.name.size() > 64 || !isMadeOf(node.name, kNameLetters))
        return fail(ErrorCode::kInvalid, "check node '" + node.name +
                                             "': a name is 1 to 64 letters, digits, '.', '_' or "
                                             "'-' and starts with no '-'");
    if (node.isLocal)
        return {};
    if (!isMadeOf(node.user, kHostLetters))
        return bad(node, "user", node.user,
                   "may hold letters, digits and ._:%- only, and starts with no '-'");
    if (node.port < 0 || node.port > 65535)
        return bad(node, "port", std::to_string(node.port), "is not between 1 and 65535");
    if (node.identityFile.find_first_of("%\n\r") != std::string::npos)
        return bad(node, "key file", node.identityFile, "must not hold '%' or a line break");
    return {};
}

} // namespace rm
