// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string>

namespace rm {

/// Whether it is a bridge at which containers and virtual machines of one node meet, or its end:
/// docker0, virbr0, veth12, ... Its address usually exists on other nodes as well.
inline bool isVirtualInterface(const std::string& name) {
    constexpr std::array kBeginnings = {"docker", "br-",  "virbr", "veth",    "lxc",
                                        "lxd",    "cni",  "cali",  "flannel", "cilium",
                                        "podman", "kube", "vmnet", "vboxnet"};
    return std::ranges::any_of(kBeginnings,
                               [&name](const char* begin) { return name.starts_with(begin); });
}

} // namespace rm
