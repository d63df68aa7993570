// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/net/socket_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>

namespace rm {

namespace {

const sockaddr_in* v4(const SocketAddress& address) {
    return reinterpret_cast<const sockaddr_in*>(&address.storage);
}

const sockaddr_in6* v6(const SocketAddress& address) {
    return reinterpret_cast<const sockaddr_in6*>(&address.storage);
}

std::span<const uint8_t> bytesOf(const SocketAddress& address) {
    if (address.family() == AF_INET6)
        return v6(address)->sin6_addr.s6_addr;
    return {reinterpret_cast<const uint8_t*>(&v4(address)->sin_addr), sizeof(in_addr)};
}

SocketAddress copyOf(const sockaddr* address) {
    SocketAddress copy;
    if (address) {
        copy.size = address->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
        std::memcpy(&copy.storage, address, copy.size);
    }
    return copy;
}

bool isPort(const std::string& text) {
    int port = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), port);
    return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && port > 0 &&
           port < 65536;
}

} // namespace

int SocketAddress::port() const {
    return ntohs(family() == AF_INET6 ? v6(*this)->sin6_port : v4(*this)->sin_port);
}

void SocketAddress::setPort(int port) {
    const in_port_t value = htons(static_cast<uint16_t>(port));
    if (family() == AF_INET6)
        reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port = value;
    else
        reinterpret_cast<sockaddr_in*>(&storage)->sin_port = value;
}

std::string SocketAddress::host() const {
    char text[INET6_ADDRSTRLEN] = {};
    const void* bytes = family() == AF_INET6 ? static_cast<const void*>(&v6(*this)->sin6_addr)
                                             : static_cast<const void*>(&v4(*this)->sin_addr);
    return ::inet_ntop(family(), bytes, text, sizeof text) ? text : "";
}

bool SocketAddress::isLinkLocal() const {
    return family() == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6(*this)->sin6_addr);
}

bool SocketAddress::hasSameHost(const SocketAddress& other) const {
    if (family() != other.family())
        return false;
    if (family() == AF_INET)
        return v4(*this)->sin_addr.s_addr == v4(other)->sin_addr.s_addr;
    return std::memcmp(&v6(*this)->sin6_addr, &v6(other)->sin6_addr, sizeof(in6_addr)) == 0;
}

Result<SocketAddress> parseSocketAddress(const std::string& text) {
    const auto bad = [&text] {
        return fail(ErrorCode::kInvalid,
                    "'" + text + "' is no ADDRESS:PORT (IPv6 may stand in brackets)");
    };
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos)
        return bad();
    std::string host = text.substr(0, colon);
    const std::string port = text.substr(colon + 1);
    if (host.size() > 1 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    addrinfo hints = {};
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (host.empty() || !isPort(port) ||
        ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0)
        return bad();
    SocketAddress address;
    std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
    address.size = found->ai_addrlen;
    ::freeaddrinfo(found);
    return address;
}

bool InterfaceAddress::hasInNetwork(const SocketAddress& other) const {
    if (other.family() != address.family() || mask.family() != address.family())
        return false;
    const auto own = bytesOf(address), theirs = bytesOf(other), bits = bytesOf(mask);
    for (size_t i = 0; i < own.size(); ++i)
        if ((own[i] ^ theirs[i]) & bits[i])
            return false;
    return true;
}

std::vector<InterfaceAddress> interfaceAddresses() {
    std::vector<InterfaceAddress> found;
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0)
        return found;
    for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
        if (!entry->ifa_addr || !(entry->ifa_flags & IFF_UP))
            continue;
        const int family = entry->ifa_addr->sa_family;
        if (family != AF_INET && family != AF_INET6)
            continue;
        found.push_back({entry->ifa_name, copyOf(entry->ifa_addr), copyOf(entry->ifa_netmask)});
    }
    ::freeifaddrs(list);
    return found;
}

size_t roomForSockets(size_t most) {
    constexpr size_t kOthers = 64;
    rlimit limit = {};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= 2 * kOthers)
        return kOthers;
    return std::min(most, static_cast<size_t>(limit.rlim_cur) - kOthers);
}

} // namespace rm
