// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// A machine that can train. "This computer" is always one (isLocal).
struct Node {
    std::string name; ///< unique, shown; [A-Za-z0-9._-], "this-computer" for the local one
    bool isLocal = false;
    std::string sshHost;      ///< ssh_config alias or address; the rest only overrides
    std::string user;         ///< empty: ssh_config or the login name
    int port = 0;             ///< 0: ssh_config or 22
    std::string identityFile; ///< empty: agent and ssh_config

    bool operator==(const Node&) const = default;
};

inline constexpr const char* kLocalNodeName = "this-computer";
/// The node that needs no SSH.
Node localNode();

struct GpuReport {
    std::string name;
    int64_t memoryBytes = 0;
    std::string uuid;
    int64_t freeBytes = 0; ///< at the probe; 0: unknown
    bool operator==(const GpuReport&) const = default;
};

struct InterfaceReport {
    std::string name;    ///< "ens5"
    std::string address; ///< IPv4 or IPv6 without zone
    int prefix = 0;
    bool up = true;
    int64_t speedMbit = -1; ///< -1: unknown
    bool operator==(const InterfaceReport&) const = default;
};

struct DiskReport {
    std::string path;
    std::string fileSystem;
    int64_t totalBytes = 0;
    int64_t freeBytes = 0;
    bool operator==(const DiskReport&) const = default;
};

/// What `ringmaster-agent probe` found.
struct NodeReport {
    std::string os; ///< "Debian GNU/Linux 12 (bookworm)"
    std::string kernel;
    std::string glibc; ///< "2.36"
    std::string cpuModel;
    int cores = 0;
    int64_t memoryBytes = 0;
    int64_t freeMemoryBytes = 0; ///< at the probe, for processes; 0: unknown
    std::string driver;          ///< NVIDIA driver version, empty: none
    std::vector<GpuReport> gpus;
    std::vector<InterfaceReport> interfaces;
    std::vector<DiskReport> disks;
    std::string home;     ///< the node's ringmaster home
    std::string stateDir; ///< holds runs/
    int64_t wallNs = 0;   ///< the node's clock at the probe
    bool operator==(const NodeReport&) const = default;
};

} // namespace rm
