// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/net/free_port.h"

#include "trainer/agent/net/socket_address.h"
#include "trainer/agent/posix/fd.h"

namespace rm {

namespace {

int64_t boundPort(SocketAddress address, int64_t port) {
    const Descriptor fd(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    address.setPort(static_cast<int>(port));
    if (!fd || ::bind(fd.get(), address.get(), address.size) != 0 || ::listen(fd.get(), 1) != 0 ||
        ::getsockname(fd.get(), address.get(), &address.size) != 0)
        return 0;
    return address.port();
}

} // namespace

int64_t freePortOn(const std::string& address, int64_t wanted) {
    const bool isSix = address.find(':') != std::string::npos;
    const auto parsed = parseSocketAddress((isSix ? "[" + address + "]" : address) + ":1");
    if (!parsed || (wanted > 0 && boundPort(*parsed, wanted) > 0))
        return wanted;
    const int64_t other = boundPort(*parsed, 0);
    return other > 0 ? other : wanted;
}

} // namespace rm
