// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

struct GpuReport {
    std::string name;
    int64_t memoryBytes = 0;
    std::string uuid;
    int64_t freeBytes = 0;     ///< at the probe; 0: unknown
    int computeCapability = 0; ///< 61 is NVIDIA's 6.1, "sm_61"; 0: unknown
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
    std::string fileSystem; ///< "ext4"
    int64_t totalBytes = 0;
    int64_t freeBytes = 0;
    bool operator==(const DiskReport&) const = default;
};

/// What becomes of a node's ranks when the user that they belong to logs out there.
enum class AtLogout {
    kUnknown,
    kGoOn,
    kEndWithSession,     ///< systemd-logind kills what a login leaves behind
    kEndWithUserManager, ///< they belong to the user's systemd, which ends with the last login
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
    std::string homeId;   ///< the same where nodes share that folder; empty: unknown
    std::string stateDir; ///< holds runs/
    int64_t wallNs = 0;   ///< the node's clock at the probe
    std::string user;     ///< who the ranks belong to
    AtLogout atLogout = AtLogout::kUnknown;
    bool operator==(const NodeReport&) const = default;
};

/// One JSON object (NODE_REPORT.md beside this), without a line break. Bytes that are not UTF-8
/// become U+FFFD: names come from files that anyone may have written.
std::string toJson(const NodeReport& report);

/// kCorrupt names the key that holds something else than it should. What is not there stays as it
/// is in a NodeReport, and what is not known is passed over: releases differ in what they tell.
Result<NodeReport> parseNodeReport(const std::string& json);

} // namespace rm
