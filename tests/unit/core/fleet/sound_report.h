// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/wire/node_report.h"

namespace rm::test {

/// Of a node without a GPU on which a check finds nothing to complain of.
inline NodeReport soundReport() {
    NodeReport report;
    report.os = "Debian GNU/Linux 12 (bookworm)";
    report.kernel = "6.1";
    report.glibc = "2.36";
    report.cpuModel = "Some CPU";
    report.cores = 8;
    report.memoryBytes = 64LL << 30;
    report.interfaces = {{"lo", "127.0.0.1", 8, true, -1}, {"ens5", "10.0.0.2", 24, true, 10000}};
    report.disks = {{"/", "ext4", 100LL << 30, 50LL << 30}};
    report.home = "/home/me/.local/share/ringmaster";
    report.user = "me";
    report.atLogout = AtLogout::kGoOn;
    report.release = "0.1.0";
    report.libstdcxx = "3.4.30";
    report.memlockBytes = 8LL << 20;
    report.openFiles = 1024;
    report.openFilesMost = 1 << 20;
    report.shmBytes = 32LL << 30;
    report.shmFreeBytes = 32LL << 30;
    return report;
}

} // namespace rm::test
