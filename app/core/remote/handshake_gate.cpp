// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/handshake_gate.h"

#include "app/core/findings/text.h"

#include <condition_variable>
#include <map>
#include <mutex>

namespace rm {

namespace {

struct Gate {
    std::mutex mutex;
    std::condition_variable_any left;
    std::map<std::string, int> inside; ///< logins in progress, by server
};

Gate& gate() {
    static Gate one;
    return one;
}

void leave(const std::string& server) {
    const std::lock_guard lock(gate().mutex);
    const auto found = gate().inside.find(server);
    if (--found->second == 0)
        gate().inside.erase(found);
    gate().left.notify_all();
}

} // namespace

Result<std::shared_ptr<void>> HandshakeGate::enter(const std::string& server,
                                                   const std::string& attempt,
                                                   const Patience& patience) {
    std::unique_lock lock(gate().mutex);
    const bool isFree = gate().left.wait_until(lock, patience.stop, patience.deadline,
                                               [&] { return gate().inside[server] < kAtOnce; });
    if (!isFree && patience.stop.stop_requested())
        return failCancelled(attempt);
    if (!isFree)
        return failAs(attempt, {ErrorCode::kUnavailable, say("ssh.other-logins")});
    ++gate().inside[server];
    return std::shared_ptr<void>(nullptr, [server](void*) { leave(server); });
}

} // namespace rm
