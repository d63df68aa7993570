// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/probe/probe.h"

#include "shared/io/clock.h"
#include "shared/io/control_group.h"
#include "shared/io/free_memory.h"
#include "trainer/agent/probe/folder.h"
#include "trainer/agent/probe/home_id.h"
#include "trainer/agent/probe/kernel_log.h"
#include "trainer/agent/probe/libstdcxx.h"
#include "trainer/agent/probe/limits.h"
#include "trainer/agent/probe/logout.h"
#include "trainer/agent/probe/machine.h"
#include "trainer/agent/probe/self_tests.h"
#include "trainer/agent/run_dir/living_runs.h"
#include "trainer/agent/run_dir/release.h"

#include <gnu/libc-version.h>
#include <sys/stat.h>
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

/// A process of another container is not seen here.
void nameProcess(const SysRoot& root, GpuProcess& process) {
    const std::string folder = "/proc/" + std::to_string(process.pid);
    struct stat info = {};
    if (::stat(root.path(folder).c_str(), &info) != 0)
        return;
    process.user = userName(info.st_uid);
    process.name = root.line(folder + "/comm");
}

} // namespace

NodeReport probeNode(const Folders& folders, const SysRoot& root, const Gpus& gpus) {
    const Machine machine = readMachine(root);
    NodeReport report;
    report.os = machine.os;
    report.kernel = kernelRelease();
    report.glibc = ::gnu_get_libc_version();
    report.cpuModel = machine.cpuModel;
    report.cores = root.prefix.empty() ? std::min(machine.cores, givenCores())
                                       : coresWithinQuota(machine.cores, root.prefix);
    report.memoryBytes = machine.memoryBytes;
    report.freeMemoryBytes = freeHostBytes(root.prefix);
    report.driver = gpus.driver();
    report.gpus = gpus.list();
    for (GpuReport& gpu : report.gpus)
        for (GpuProcess& process : gpu.processes)
            nameProcess(root, process);
    const auto kernelLog = readKernelLog(root);
    report.isKernelLogRead = kernelLog.has_value();
    report.xids = xidsIn(kernelLog.value_or(std::string()));
    report.interfaces = readInterfaces(root);
    report.disks = disksOf(root);
    report.home = folders.home;
    const FolderRoom room = roomAt(folders.home);
    report.homeFreeBytes = room.freeBytes;
    report.homeTotalBytes = room.totalBytes;
    report.homeId = homeId(folders.home);
    report.stateDir = folders.stateDir;
    report.stateId = stateId(folders.stateDir);
    report.homeProblem = whyNotWritable(folders.home);
    report.stateProblem = whyNotWritable(folders.stateDir);
    report.machine = machineName();
    report.runs = livingRuns(folders);
    report.release = kRelease;
    report.libstdcxx = newestGlibcxx(root);
    readLimits(root, report);
    report.wallNs = wallNowNs();
    report.user = userName(::getuid());
    report.atLogout = readAtLogout(root, report.user);
    report.selfTests = readSelfTests(folders.home);
    return report;
}

} // namespace rm
