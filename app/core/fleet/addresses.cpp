// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/addresses.h"

#include <QHostAddress>
#include <QPair>

#include <algorithm>
#include <array>

namespace rm {

namespace {

bool holds(const std::string& disk, const std::string& path) {
    return disk == "/" || path == disk || path.starts_with(disk + '/');
}

} // namespace

bool isPublic(const std::string& text) {
    static constexpr std::array kOthers = {
        "0.0.0.0/8",       "10.0.0.0/8",     "100.64.0.0/10", "127.0.0.0/8",   "169.254.0.0/16",
        "172.16.0.0/12",   "192.0.0.0/24",   "192.0.2.0/24",  "198.18.0.0/15", "192.168.0.0/16",
        "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",   "2001:db8::/32"};
    const QHostAddress address(QString::fromStdString(text));
    if (address.isNull())
        return false;
    // Of IPv6 only 2000::/3 has been given out.
    if (address.protocol() == QAbstractSocket::IPv6Protocol &&
        !address.isInSubnet(QHostAddress("2000::"), 3))
        return false;
    return std::ranges::none_of(kOthers, [&address](const char* subnet) {
        return address.isInSubnet(QHostAddress::parseSubnet(subnet));
    });
}

bool isReachable(const InterfaceReport& interface) {
    const std::string& address = interface.address;
    return interface.up && interface.name != "lo" && !address.starts_with("127.") &&
           address != "::1" && !address.starts_with("169.254.") && !address.starts_with("fe80:");
}

const DiskReport* diskOf(const NodeReport& report, const std::string& folder) {
    const DiskReport* best = nullptr;
    for (const DiskReport& disk : report.disks)
        if (holds(disk.path, folder) && (best == nullptr || disk.path.size() > best->path.size()))
            best = &disk;
    return best;
}

} // namespace rm
