// SPDX-License-Identifier: Apache-2.0
// The one file that includes gloo's headers. Debian's are older than the gloo inside libtorch_cpu.
// They are only used to name types for ProcessGroupGloo's constructor; nothing here may call gloo
// through them.
#include "trainer/train/dist/gloo.h"

#include <netdb.h>
#include <sys/socket.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <sstream>

namespace rm {
namespace {

/// Simultaneous collectives: while one waits for its peer, others can use the network.
constexpr int kThreads = 4;

/// The address from which this machine would talk to `host`; empty when it cannot.
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
    char text[NI_MAXHOST] = {};
    // Connecting a datagram socket sends nothing; it only asks the routing table.
    if (connect(fd, found->ai_addr, found->ai_addrlen) == 0 && getsockname(fd, address, &size) == 0)
        getnameinfo(address, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
    close(fd);
    return text;
}

} // namespace

c10::intrusive_ptr<c10d::Backend> makeGloo(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                           int worldSize, const std::string& masterAddr,
                                           std::chrono::milliseconds timeout) {
    using c10d::ProcessGroupGloo;
    auto options = ProcessGroupGloo::Options::create(timeout);
    const char* interfaces = std::getenv("GLOO_SOCKET_IFNAME");
    const std::string own = addressTowards(masterAddr);
    if (interfaces && *interfaces) { // several, as PyTorch's init_process_group() takes them
        std::istringstream list(interfaces);
        for (std::string name; std::getline(list, name, ',');)
            options->devices.push_back(ProcessGroupGloo::createDeviceForInterface(name));
    } else if (!own.empty()) {
        options->devices.push_back(ProcessGroupGloo::createDeviceForHostname(own));
    } else {
        options->devices.push_back(ProcessGroupGloo::createDefaultDevice());
    }
    options->threads = kThreads;
    return c10::make_intrusive<ProcessGroupGloo>(store, rank, worldSize, options);
}

} // namespace rm
