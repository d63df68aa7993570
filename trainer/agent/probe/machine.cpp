// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/probe/machine.h"

#include "trainer/agent/posix/process.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <charconv>
#include <set>
#include <sstream>

namespace rm {

namespace {

std::string unquoted(const std::string& text) {
    const size_t begin = text.find_first_not_of(" \t\"'");
    const size_t end = text.find_last_not_of(" \t\"'");
    return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// Value of the first line "NAME<separator>value".
std::string valueOf(const std::string& text, const std::string& name, char separator) {
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) {
        const size_t at = line.find(separator);
        if (at != std::string::npos && unquoted(line.substr(0, at)) == name)
            return unquoted(line.substr(at + 1));
    }
    return {};
}

std::string readOs(const SysRoot& root) {
    const std::string etc = root.text("/etc/os-release");
    return valueOf(etc.empty() ? root.text("/usr/lib/os-release") : etc, "PRETTY_NAME", '=');
}

int countCores(const std::string& cpuinfo) {
    std::istringstream lines(cpuinfo);
    std::string line;
    int cores = 0;
    while (std::getline(lines, line))
        cores += line.starts_with("processor") ? 1 : 0;
    return cores;
}

std::string readCpuModel(const SysRoot& root, const std::string& cpuinfo) {
    const std::string model = valueOf(cpuinfo, "model name", ':');
    // Arm's cpuinfo names no model; device trees and firmware may.
    return model.empty() ? root.line("/sys/firmware/devicetree/base/model") : model;
}

int64_t readMemory(const SysRoot& root) {
    const std::string value = valueOf(root.text("/proc/meminfo"), "MemTotal", ':');
    int64_t kib = 0;
    std::from_chars(value.data(), value.data() + value.size(), kib);
    return kib * 1024;
}

int prefixOf(const sockaddr* mask) {
    if (!mask)
        return 0;
    if (mask->sa_family == AF_INET)
        return static_cast<int>(
            std::bitset<32>(reinterpret_cast<const sockaddr_in*>(mask)->sin_addr.s_addr).count());
    size_t bits = 0;
    for (const uint8_t byte : reinterpret_cast<const sockaddr_in6*>(mask)->sin6_addr.s6_addr)
        bits += std::bitset<8>(byte).count();
    return static_cast<int>(bits);
}

std::string addressOf(const sockaddr* address) {
    char text[INET6_ADDRSTRLEN] = {};
    const void* bytes =
        address->sa_family == AF_INET
            ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr)
            : static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
    return ::inet_ntop(address->sa_family, bytes, text, sizeof text) ? text : "";
}

// Undoes the kernel's octal escapes in mount points (fstab(5)).
std::string unescaped(const std::string& text) {
    std::string plain;
    for (size_t i = 0; i < text.size(); ++i) {
        int code = 0;
        const char* begin = text.data() + i + 1;
        if (text[i] == '\\' && i + 3 < text.size() &&
            std::from_chars(begin, begin + 3, code, 8).ptr == begin + 3) {
            plain += static_cast<char>(code);
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

bool holdsFiles(const std::string& device, const std::string& fileSystem) {
    constexpr std::array kOthers = {
        "tmpfs",     "overlay",        "nfs",        "nfs4",  "cifs",     "lustre",
        "gpfs",      "beegfs",         "ceph",       "9p",    "virtiofs", "zfs",
        "glusterfs", "fuse.glusterfs", "fuse.sshfs", "wekafs"};
    if (fileSystem == "squashfs" || fileSystem == "iso9660")
        return false;
    return device.starts_with("/dev/") ||
           std::find(kOthers.begin(), kOthers.end(), fileSystem) != kOthers.end();
}

// Mounts that the system uses for itself.
bool isSystemFolder(const std::string& path) {
    constexpr std::array kSystem = {"/run", "/dev", "/sys", "/proc", "/boot"};
    return std::any_of(kSystem.begin(), kSystem.end(), [&path](const std::string& folder) {
        return path == folder || (path.starts_with(folder + "/") && path != "/dev/shm");
    });
}

} // namespace

Machine readMachine(const SysRoot& root) {
    const std::string cpuinfo = root.text("/proc/cpuinfo");
    Machine machine;
    machine.os = readOs(root);
    machine.cpuModel = readCpuModel(root, cpuinfo);
    machine.cores = countCores(cpuinfo);
    machine.memoryBytes = readMemory(root);
    return machine;
}

std::string machineName() {
    utsname name = {};
    const std::string boot = bootId();
    return boot.empty() || ::uname(&name) != 0 ? std::string() : boot + ' ' + name.nodename;
}

std::string userName(uint32_t uid) {
    const passwd* entry = ::getpwuid(uid);
    return entry ? entry->pw_name : std::to_string(uid);
}

std::vector<InterfaceReport> readInterfaces(const SysRoot& root) {
    std::vector<InterfaceReport> found;
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0)
        return found;
    for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
        const sockaddr* address = entry->ifa_addr;
        if (!address || (address->sa_family != AF_INET && address->sa_family != AF_INET6))
            continue;
        const bool isUp = (entry->ifa_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
        found.push_back({entry->ifa_name, addressOf(address), prefixOf(entry->ifa_netmask), isUp,
                         readSpeedMbit(root, entry->ifa_name)});
    }
    ::freeifaddrs(list);
    return found;
}

int64_t readSpeedMbit(const SysRoot& root, const std::string& name) {
    const std::string text = root.line("/sys/class/net/" + name + "/speed");
    int64_t speed = -1;
    std::from_chars(text.data(), text.data() + text.size(), speed);
    // Without a link drivers report -1, or the same as an unsigned number.
    return speed > 0 && speed < 4'294'967'295 ? speed : -1;
}

std::vector<Mount> readMounts(const SysRoot& root) {
    std::istringstream lines(root.text("/proc/self/mounts"));
    std::string line;
    std::set<std::string> devices, paths;
    std::vector<Mount> found;
    while (std::getline(lines, line)) {
        std::istringstream fields(line);
        std::string device, path, fileSystem;
        fields >> device >> path >> fileSystem;
        path = unescaped(path);
        if (!holdsFiles(device, fileSystem) || isSystemFolder(path))
            continue;
        // Bind mounts list a device twice, stacked mounts a path.
        const bool isAgain = (device.starts_with("/dev/") && !devices.insert(device).second) ||
                             !paths.insert(path).second;
        if (isAgain)
            continue;
        found.push_back({path, fileSystem});
    }
    return found;
}

} // namespace rm
