// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/probe/probe.h"

#include "shared/io/clock.h"
#include "shared/io/free_memory.h"
#include "trainer/agent/probe/home_id.h"
#include "trainer/agent/probe/logout.h"
#include "trainer/agent/probe/machine.h"

#include <gnu/libc-version.h>
#include <pwd.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace rm {

namespace {

std::vector<DiskReport> disksOf(const SysRoot& root) {
    std::vector<DiskReport> disks;
    for (const Mount& mount : readMounts(root)) {
        struct statvfs info = {};
        if (::statvfs(mount.path.c_str(), &info) != 0 || info.f_blocks == 0)
            continue;
        const auto unit = static_cast<int64_t>(info.f_frsize);
        disks.push_back({mount.path, mount.fileSystem, static_cast<int64_t>(info.f_blocks) * unit,
                         static_cast<int64_t>(info.f_bavail) * unit});
    }
    return disks;
}

std::string kernelRelease() {
    utsname name = {};
    return ::uname(&name) == 0 ? name.release : "";
}

std::string userName() {
    const passwd* entry = ::getpwuid(::getuid());
    return entry ? entry->pw_name : std::to_string(::getuid());
}

} // namespace

NodeReport probeNode(const Folders& folders, const SysRoot& root, const Gpus& gpus) {
    const Machine machine = readMachine(root);
    NodeReport report;
    report.os = machine.os;
    report.kernel = kernelRelease();
    report.glibc = ::gnu_get_libc_version();
    report.cpuModel = machine.cpuModel;
    report.cores = machine.cores;
    report.memoryBytes = machine.memoryBytes;
    report.freeMemoryBytes = freeHostBytes(root.prefix);
    report.driver = gpus.driver();
    report.gpus = gpus.list();
    report.interfaces = readInterfaces(root);
    report.disks = disksOf(root);
    report.home = folders.home;
    report.homeId = homeId(folders.home);
    report.stateDir = folders.stateDir;
    report.wallNs = wallNowNs();
    report.user = userName();
    report.atLogout = readAtLogout(root, report.user);
    return report;
}

} // namespace rm
