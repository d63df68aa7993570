// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/probe/probe.h"

#include "shared/io/clock.h"
#include "shared/io/free_memory.h"
#include "shared/wire/messages.h"
#include "trainer/agent/probe/machine.h"
#include "trainer/agent/run_dir/release.h"

#include <gnu/libc-version.h>
#include <nlohmann/json.hpp>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include <array>
#include <filesystem>

namespace rm {

namespace {

using nlohmann::json;

json gpusOf(const Gpus& gpus) {
    json list = json::array();
    for (const GpuInfo& gpu : gpus.list())
        list.push_back({{"name", gpu.name},
                        {"memory_bytes", gpu.memoryBytes},
                        {"free_bytes", gpu.freeBytes},
                        {"uuid", gpu.uuid}});
    return list;
}

json interfacesOf(const SysRoot& root) {
    json list = json::array();
    for (const NetInterface& interface : readInterfaces(root))
        list.push_back({{"name", interface.name},
                        {"address", interface.address},
                        {"prefix", interface.prefix},
                        {"up", interface.up},
                        {"speed_mbit", interface.speedMbit}});
    return list;
}

json disksOf(const SysRoot& root) {
    json list = json::array();
    for (const Mount& mount : readMounts(root)) {
        struct statvfs info = {};
        if (::statvfs(mount.path.c_str(), &info) != 0 || info.f_blocks == 0)
            continue;
        const auto unit = static_cast<int64_t>(info.f_frsize);
        list.push_back({{"path", mount.path},
                        {"file_system", mount.fileSystem},
                        {"total_bytes", static_cast<int64_t>(info.f_blocks) * unit},
                        {"free_bytes", static_cast<int64_t>(info.f_bavail) * unit}});
    }
    return list;
}

std::string kernelRelease() {
    utsname name = {};
    return ::uname(&name) == 0 ? name.release : "";
}

bool hasSlurm(const SysRoot& root) {
    constexpr std::array kSigns = {"/usr/bin/srun", "/usr/local/bin/srun", "/opt/slurm/bin/srun",
                                   "/etc/slurm/slurm.conf"};
    std::error_code error;
    for (const char* sign : kSigns)
        if (std::filesystem::exists(root.path(sign), error))
            return true;
    return false;
}

} // namespace

std::string probeNode(const Folders& folders, const SysRoot& root, const Gpus& gpus) {
    const Machine machine = readMachine(root);
    const json report = {{"os", machine.os},
                         {"kernel", kernelRelease()},
                         {"glibc", ::gnu_get_libc_version()},
                         {"cpu_model", machine.cpuModel},
                         {"cores", machine.cores},
                         {"memory_bytes", machine.memoryBytes},
                         {"memory_free_bytes", freeHostBytes(root.prefix)},
                         {"driver", gpus.driver()},
                         {"gpus", gpusOf(gpus)},
                         {"interfaces", interfacesOf(root)},
                         {"disks", disksOf(root)},
                         {"home", folders.home},
                         {"state_dir", folders.stateDir},
                         {"wall_ns", wallNowNs()},
                         {"kills_user_processes", machine.killsUserProcesses},
                         {"slurm", hasSlurm(root)},
                         {"agent", kRelease},
                         {"wire", kWireVersion}};
    // Names come from files that anyone may have written: never fail over bad UTF-8.
    return report.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

} // namespace rm
