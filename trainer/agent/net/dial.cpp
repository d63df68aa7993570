// SPDX-License-Identifier: Apache-2.0
#include "shared/io/clock.h"
#include "shared/io/descriptor.h"
#include "trainer/agent/net/reach.h"
#include "trainer/agent/net/socket_address.h"

#include <nlohmann/json.hpp>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

namespace rm {

namespace {

using nlohmann::json;

struct Dial {
    std::string target;
    Descriptor socket;
    int64_t startNs = 0;
    std::optional<int> error; ///< errno, 0: reached; none: still trying
    int64_t tookUs = 0;

    void end(int errnoValue) {
        error = errnoValue;
        tookUs = (monotonicNowNs() - startNs) / 1000;
    }
};

Dial startDial(const std::string& target, const SocketAddress& address) {
    Dial dial;
    dial.target = target;
    dial.startNs = monotonicNowNs();
    dial.socket =
        Descriptor(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const bool isUnderway =
        dial.socket &&
        (::connect(dial.socket.get(), address.get(), address.size) == 0 || errno == EINPROGRESS);
    if (!isUnderway)
        dial.end(errno);
    return dial;
}

void settle(Dial& dial) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(dial.socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    dial.end(error);
}

void awaitAll(std::vector<Dial>& dials, int64_t timeoutMs) {
    const int64_t endNs = monotonicNowNs() + timeoutMs * 1'000'000;
    while (true) {
        std::vector<pollfd> polls;
        std::vector<Dial*> open;
        for (Dial& dial : dials) {
            if (dial.error)
                continue;
            polls.push_back({dial.socket.get(), POLLOUT, 0});
            open.push_back(&dial);
        }
        const int64_t leftMs = (endNs - monotonicNowNs()) / 1'000'000;
        if (open.empty() || leftMs <= 0)
            break;
        ::poll(polls.data(), polls.size(), static_cast<int>(leftMs));
        for (size_t i = 0; i < polls.size(); ++i)
            if (polls[i].revents)
                settle(*open[i]);
    }
    for (Dial& dial : dials)
        if (!dial.error)
            dial.end(ETIMEDOUT);
}

std::string interfaceOf(const SocketAddress& local) {
    const std::vector<InterfaceAddress> all = interfaceAddresses();
    const auto found = std::find_if(all.begin(), all.end(), [&local](const auto& item) {
        return item.address.hasSameHost(local);
    });
    return found == all.end() ? "" : found->interface;
}

json describe(const Dial& dial) {
    const bool isReached = *dial.error == 0;
    json answer = {{"address", dial.target},
                   {"reached", isReached},
                   {"interface", ""},
                   {"local_address", ""},
                   {"microseconds", dial.tookUs},
                   {"error", isReached ? "" : std::strerror(*dial.error)}};
    SocketAddress local;
    local.size = sizeof local.storage;
    if (isReached && ::getsockname(dial.socket.get(), local.get(), &local.size) == 0) {
        answer["local_address"] = local.host();
        answer["interface"] = interfaceOf(local);
    }
    return answer;
}

} // namespace

Result<std::string> dialReport(const std::vector<std::string>& targets, int64_t timeoutMs) {
    std::vector<SocketAddress> addresses;
    for (const std::string& target : targets) {
        const Result<SocketAddress> address = parseSocketAddress(target);
        if (!address)
            return failAs("dial", address.error());
        addresses.push_back(*address);
    }
    std::vector<Dial> dials;
    for (size_t i = 0; i < targets.size(); ++i)
        dials.push_back(startDial(targets[i], addresses[i]));
    awaitAll(dials, timeoutMs);
    json list = json::array();
    for (const Dial& dial : dials)
        list.push_back(describe(dial));
    return list.dump() + "\n";
}

} // namespace rm
