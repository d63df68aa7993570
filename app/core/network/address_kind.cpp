// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/network/address_kind.h"

#include <QHostAddress>
#include <QPair>

#include <algorithm>
#include <vector>

namespace rm {

bool isLinkLocalAddress(const std::string& address) {
    return address.starts_with("169.254.") || address.starts_with("fe80:");
}

bool isPublic(const std::string& text) {
    static const auto kOthers = [] {
        std::vector<QPair<QHostAddress, int>> subnets;
        for (const char* subnet :
             {"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
              "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "192.168.0.0/16",
              "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3", "2001:db8::/32"})
            subnets.push_back(QHostAddress::parseSubnet(subnet));
        return subnets;
    }();
    const QHostAddress address(QString::fromStdString(text));
    if (address.isNull())
        return false;
    // Of IPv6 only 2000::/3 has been given out.
    if (address.protocol() == QAbstractSocket::IPv6Protocol &&
        !address.isInSubnet(QHostAddress("2000::"), 3))
        return false;
    return std::ranges::none_of(
        kOthers, [&address](const auto& subnet) { return address.isInSubnet(subnet); });
}

bool isLoopback(const InterfaceReport& interface) {
    return interface.name == "lo" || interface.address.starts_with("127.") ||
           interface.address == "::1";
}

bool isForOthers(const InterfaceReport& interface) {
    return interface.up && !isLoopback(interface) && !isLinkLocalAddress(interface.address);
}

} // namespace rm
