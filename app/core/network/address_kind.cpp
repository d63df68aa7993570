// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/network/address_kind.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace rm {

namespace {

/// The number between the first and the second dot; -1: none.
int secondByte(const std::string& address) {
    const size_t dot = address.find('.');
    if (dot == std::string::npos)
        return -1;
    int value = -1;
    std::from_chars(address.data() + dot + 1, address.data() + address.size(), value);
    return value;
}

} // namespace

bool isLinkLocalAddress(const std::string& address) {
    return address.starts_with("169.254.") || address.starts_with("fe80:");
}

bool isPrivateAddress(const std::string& address) {
    if (isSix(address))
        return address.starts_with("fc") || address.starts_with("fd");
    const int second = secondByte(address);
    return address.starts_with("10.") || address.starts_with("192.168.") ||
           (address.starts_with("172.") && second >= 16 && second < 32) ||
           (address.starts_with("100.") && second >= 64 && second < 128);
}

bool isLoopback(const InterfaceReport& interface) {
    return interface.name == "lo" || interface.address.starts_with("127.") ||
           interface.address == "::1";
}

bool isVirtualInterface(const std::string& name) {
    constexpr std::array kBeginnings = {"docker", "br-",  "virbr", "veth",    "lxc",
                                        "lxd",    "cni",  "cali",  "flannel", "cilium",
                                        "podman", "kube", "vmnet", "vboxnet"};
    return std::ranges::any_of(kBeginnings,
                               [&name](const char* begin) { return name.starts_with(begin); });
}

bool isForOthers(const InterfaceReport& interface) {
    return interface.up && !isLoopback(interface) && !isLinkLocalAddress(interface.address);
}

} // namespace rm
