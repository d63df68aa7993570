// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/net/own_address.h"

#include "shared/io/descriptor.h"
#include "shared/wire/virtual_interface.h"

#include <algorithm>

namespace rm {

namespace {

bool isLoopback(const std::string& address) {
    return address.starts_with("127.") || address == "::1";
}

/// Doubts that others reach it. 0: they do, as far as can be told; -1: nobody does.
int doubtsOf(const InterfaceAddress& each) {
    const std::string host = each.address.host();
    if (isLoopback(host) || each.address.isLinkLocal())
        return -1;
    return (isVirtualInterface(each.interface) ? 1 : 0) + (host.starts_with("169.254.") ? 2 : 0);
}

/// The least doubtful address; of those alike the first. Empty: none.
std::string hostOf(const std::vector<InterfaceAddress>& interfaces, const std::string& wanted) {
    const InterfaceAddress* best = nullptr;
    for (const InterfaceAddress& each : interfaces) {
        const bool isWanted = wanted.empty() || each.interface == wanted;
        if (isWanted && doubtsOf(each) >= 0 && (!best || doubtsOf(each) < doubtsOf(*best)))
            best = &each;
    }
    return best ? best->address.host() : std::string();
}

} // namespace

std::string ownAddress(const OwnAddressHints& hints) {
    if (!hints.interface.empty())
        if (std::string host = hostOf(hints.interfaces, hints.interface); !host.empty())
            return host;
    const auto named = std::ranges::find_if_not(hints.ofName, isLoopback);
    if (named != hints.ofName.end())
        return *named;
    // The whole cluster is on one machine.
    if (!hints.ofName.empty() && isLoopback(hints.launcher))
        return hints.ofName.front();
    if (!hints.towardsLauncher.empty() && !isLoopback(hints.towardsLauncher))
        return hints.towardsLauncher;
    const std::string any = hostOf(hints.interfaces, {});
    return any.empty() ? "127.0.0.1" : any;
}

std::optional<SocketAddress> sourceTowards(const std::string& address) {
    const bool isSix = address.find(':') != std::string::npos;
    const auto target = parseSocketAddress((isSix ? "[" + address + "]" : address) + ":9");
    if (!target)
        return std::nullopt;
    const Descriptor fd(::socket(target->family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
    SocketAddress own;
    own.size = sizeof own.storage;
    // For a datagram socket this chooses a route and sends nothing.
    if (!fd || ::connect(fd.get(), target->get(), target->size) != 0 ||
        ::getsockname(fd.get(), own.get(), &own.size) != 0)
        return std::nullopt;
    return own;
}

} // namespace rm
