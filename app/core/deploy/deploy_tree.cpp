// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/deploy/tree_sender.h"
#include "app/core/settings/paths.h"
#include "shared/return_if_error.h"

namespace rm {

namespace {

/// A single exchange if the node has the tree already, as in every launch but the first.
Result<TreeSender::Published> askForTree(HostSession& session, const std::string& agent,
                                         const Tree& tree, const std::stop_token& stop) {
    RM_ASSIGN_OR_RETURN(auto sender, TreeSender::open(session, agent, stop));
    return sender->publish(tree);
}

/// This computer needs no copy: the program already runs from its bundle.
bool isThereAlready(const HostSession& session, const LocalTree& tree) {
    return session.isLocal() && tree.isInPlace;
}

} // namespace

Result<std::string> deployTree(HostSession& session, const std::string& agent,
                               const LocalTree& tree, const TransferProgress& progress,
                               std::stop_token stop) {
    if (isThereAlready(session, tree))
        return installPrefix().toStdString();
    RM_ASSIGN_OR_RETURN(const auto hashed, hashTree(tree, stop));
    RM_ASSIGN_OR_RETURN(const auto asked, askForTree(session, agent, hashed.tree, stop));
    if (!asked.path.empty())
        return asked.path;
    RM_ASSIGN_OR_RETURN(auto sender, TreeSender::open(session, agent, stop));
    RM_RETURN_IF_ERROR(sender->sendMissing(hashed, asked.damage, progress));
    RM_ASSIGN_OR_RETURN(const auto published, sender->publish(hashed.tree));
    if (!published.path.empty())
        return published.path;
    const std::string why =
        published.damage.empty() ? "the node lost a file that it had confirmed" : published.damage;
    return fail(ErrorCode::kCorrupt, "send files to " + session.where() + ": " + why);
}

Result<int64_t> missingBytes(HostSession& session, const std::string& agent, const LocalTree& tree,
                             std::stop_token stop) {
    if (isThereAlready(session, tree))
        return 0;
    RM_ASSIGN_OR_RETURN(const auto hashed, hashTree(tree, stop));
    auto sender = TreeSender::open(session, agent, stop);
    return sender ? (*sender)->missingBytes(hashed) : tl::unexpected(sender.error());
}

} // namespace rm
