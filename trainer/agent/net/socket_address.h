// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <sys/socket.h>

#include <string>
#include <vector>

namespace rm {

/// An IPv4 or IPv6 address with a port, as the kernel takes it.
struct SocketAddress {
    sockaddr_storage storage = {};
    socklen_t size = 0;

    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
    sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
    int family() const { return storage.ss_family; }
    int port() const;
    void setPort(int port);
    std::string host() const; ///< without zone and port
    bool isLinkLocal() const; ///< such an IPv6 address means nothing without its interface
    bool hasSameHost(const SocketAddress& other) const;
};

/// "10.0.0.1:29500", "[fd00::1]:29500", "fd00::1:29500", "fe80::1%eth0:29500". No names.
Result<SocketAddress> parseSocketAddress(const std::string& text);

struct InterfaceAddress {
    std::string interface;
    SocketAddress address; ///< port 0
    SocketAddress mask;    ///< of its network

    /// Whether `other` is in that network, so that no router is needed.
    bool hasInNetwork(const SocketAddress& other) const;
};
/// Every IPv4 and IPv6 address of an interface that is up.
std::vector<InterfaceAddress> interfaceAddresses();

/// Sockets that this process may open besides the few files that it has; `most` at most.
size_t roomForSockets(size_t most);

} // namespace rm
