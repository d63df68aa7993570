// SPDX-License-Identifier: Apache-2.0
// The one file that includes gloo's headers. Debian's are older than the gloo inside libtorch_cpu.
// They are only used to name types for ProcessGroupGloo's constructor; nothing here may call gloo
// through them.
#include "trainer/train/dist/gloo.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace rm {
namespace {

/// Simultaneous collectives: while one waits for its peer, others can use the network.
constexpr int kThreads = 4;

std::string textOf(const sockaddr* address, socklen_t size) {
    char text[NI_MAXHOST] = {};
    return getnameinfo(address, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0
               ? text
               : std::string();
}

/// The interface that has the address; empty: none does.
std::string interfaceOf(const std::string& address) {
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0)
        return {};
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, &freeifaddrs);
    for (const ifaddrs* each = list; each; each = each->ifa_next) {
        const int family = each->ifa_addr ? each->ifa_addr->sa_family : AF_UNSPEC;
        if ((family == AF_INET || family == AF_INET6) &&
            textOf(each->ifa_addr,
                   family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6)) == address)
            return each->ifa_name;
    }
    return {};
}

/// The interfaces in GLOO_SOCKET_IFNAME, separated by commas as PyTorch takes them.
std::vector<std::string> namedInterfaces() {
    const char* names = std::getenv("GLOO_SOCKET_IFNAME");
    std::istringstream list(names ? names : "");
    std::vector<std::string> all;
    for (std::string name; std::getline(list, name, ',');)
        all.push_back(name);
    return all;
}

} // namespace

std::string addressTowards(const std::string& host) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_DGRAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(host.c_str(), "9", &hints, &found) != 0)
        return {};
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, &freeaddrinfo);
    const int fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return {};
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    auto* address = reinterpret_cast<sockaddr*>(&own);
    std::string text;
    // Connecting a datagram socket sends nothing; it only asks the routing table.
    if (connect(fd, found->ai_addr, found->ai_addrlen) == 0 && getsockname(fd, address, &size) == 0)
        text = textOf(address, size);
    close(fd);
    return text;
}

c10::intrusive_ptr<c10d::Backend> makeGloo(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                           int worldSize, const std::string& address,
                                           std::chrono::milliseconds timeout) {
    using c10d::ProcessGroupGloo;
    auto options = ProcessGroupGloo::Options::create(timeout);
    const std::string own = interfaceOf(address);
    const auto names = namedInterfaces();
    std::string places;
    const auto listen = [&](const std::string& place, auto device) {
        places += (places.empty() ? "" : " and ") + place;
        options->devices.push_back(std::move(device));
    };
    const auto listenAtAddress = [&] {
        listen(address + (own.empty() ? "" : " (" + own + ')'),
               ProcessGroupGloo::createDeviceForHostname(address));
    };
    for (const std::string& name : names)
        if (name == own) // Gloo would take the interface's first address
            listenAtAddress();
        else
            listen(name, ProcessGroupGloo::createDeviceForInterface(name));
    if (names.empty() && !address.empty())
        listenAtAddress();
    else if (names.empty())
        listen("an address of its own choice", ProcessGroupGloo::createDefaultDevice());
    options->threads = kThreads;
    try {
        return c10::make_intrusive<ProcessGroupGloo>(store, rank, worldSize, options);
    } catch (const c10::Error&) { // the store's: why another rank did not come
        throw;
    } catch (const std::exception& error) {
        // Only this text tells of a missing route; others may come from a rank that ended.
        if (std::string_view(error.what()).find("Network is unreachable") == std::string_view::npos)
            throw;
        throw NoWayToRank("Gloo, which listens at " + places + " here: " + error.what());
    }
}

} // namespace rm
