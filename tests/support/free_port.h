// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <random>

namespace rm::test {

/// A port of loopback that is free right now and that nothing else takes before it is used: above
/// the ports of Slurm's steps (slurm_environment.cpp), below those that the kernel gives to who
/// connects. 0: none was found.
inline int freePort() {
    constexpr int kFirst = 30000, kLast = 32767, kTries = 100;
    std::random_device random;
    std::uniform_int_distribution<int> ports(kFirst, kLast);
    for (int tries = 0; tries < kTries; ++tries) {
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<uint16_t>(ports(random)));
        const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
        close(fd);
        if (bound)
            return ntohs(address.sin_port);
    }
    return 0;
}

} // namespace rm::test
