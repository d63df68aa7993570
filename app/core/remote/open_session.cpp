// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/node_check.h"
#include "app/core/remote/local_session.h"
#include "app/core/remote/ssh_session.h"

#include <csignal>

namespace rm {

namespace {

// A host that hangs up while bytes are on their way to it is an error of the write, not the end of
// the program. Sockets and pipes alike need this, and it holds for the whole process.
void surviveBrokenPipes() {
    static const bool done = [] { return std::signal(SIGPIPE, SIG_IGN) != SIG_ERR; }();
    static_cast<void>(done);
}

} // namespace

tl::expected<std::unique_ptr<HostSession>, ConnectFailure>
openSession(const Node& node, const Credentials& credentials, std::stop_token stop) {
    surviveBrokenPipes();
    if (node.isLocal)
        return std::make_unique<LocalSession>();
    if (auto good = checkNode(node); !good)
        return tl::unexpected(ConnectFailure{good.error(), ConnectFailure::Need::kNothing, {}});
    return SshSession::open(node, credentials, std::move(stop));
}

} // namespace rm
