// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/text.h"
#include "app/core/node/node_check.h"
#include "app/core/remote/back_off.h"
#include "app/core/remote/local_session.h"
#include "app/core/remote/ssh_session.h"

#include <csignal>

namespace rm {

namespace {

using Cause = ConnectFailure::Cause;

constexpr std::chrono::milliseconds kLongestPause{5000};

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

tl::expected<std::unique_ptr<HostSession>, ConnectFailure>
openSessionPatiently(const Node& node, const Credentials& credentials, std::stop_token stop,
                     const OnConnectPause& onPause, ConnectPatience patience) {
    using Clock = std::chrono::steady_clock;
    const auto began = Clock::now();
    BackOff backOff(kLongestPause);
    for (;;) {
        auto session = openSession(node, credentials, stop);
        if (session || !session.error().mayPass() || stop.stop_requested())
            return session;
        const auto pause = backOff.next();
        const auto longest =
            session.error().cause == Cause::kRefused ? patience.refused : patience.busy;
        const auto left =
            longest - std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
        if (pause > left)
            return session;
        if (onPause)
            onPause({session.error().error, pause, left});
        waitUnlessStopped(stop, pause);
    }
}

std::string causeTitle(ConnectFailure::Cause cause) {
    switch (cause) {
    case Cause::kName:
        return say("ssh.title-name");
    case Cause::kJumpHost:
        return say("ssh.title-jump-host");
    case Cause::kRoute:
        return say("ssh.title-route");
    case Cause::kRefused:
        return say("ssh.title-refused");
    case Cause::kNoAnswer:
        return say("ssh.title-no-answer");
    case Cause::kTurnedAway:
        return say("ssh.title-turned-away");
    case Cause::kAlgorithms:
        return say("ssh.title-algorithms");
    case Cause::kHostKey:
        return say("ssh.title-host-key");
    case Cause::kLogin:
        return say("ssh.title-login");
    case Cause::kOther:
        break;
    }
    return say("ssh.title-other");
}

} // namespace rm
