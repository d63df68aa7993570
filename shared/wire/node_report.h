// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// A process that has memory of a GPU.
struct GpuProcess {
    int64_t pid = 0;
    std::string user;  ///< empty: unknown, as in another container
    std::string name;  ///< likewise
    int64_t bytes = 0; ///< 0: unknown
    bool operator==(const GpuProcess&) const = default;
};

struct GpuReport {
    std::string name;
    int64_t memoryBytes = 0;
    std::string uuid;
    int64_t freeBytes = 0;                  ///< at the probe; 0: unknown
    int computeCapability = 0;              ///< 61 is NVIDIA's 6.1, "sm_61"; 0: unknown
    std::string pciId = {};                 ///< "0000:3b:00"; empty: unknown
    std::vector<GpuProcess> processes = {}; ///< at the probe
    int64_t eccCorrected = -1;              ///< errors since the driver was loaded; -1: not told
    int64_t eccUncorrected = -1;            ///< likewise
    std::vector<std::string> throttled =
        {};            ///< why its clock is held down: words of NODE_REPORT.md
    int pcieWidth = 0; ///< lanes in use; 0: unknown, as the next three
    int pcieWidthMost = 0;
    int pcieGeneration = 0; ///< lower while the GPU is idle
    int pcieGenerationMost = 0;
    int64_t retired = -1;         ///< rows of memory remapped, or pages retired; -1: not told
    bool isRepairPending = false; ///< some are, once the GPU is reset
    bool hasRepairFailed = false; ///< some could not be
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

/// The last error that the driver logged about a GPU since the machine started ("XID").
struct XidReport {
    std::string pciId; ///< as in GpuReport; the GPU may be gone
    int code = 0;      ///< 79: "GPU has fallen off the bus"
    std::string text;  ///< what the driver said of it
    bool operator==(const XidReport&) const = default;
};

/// A run that has living processes on the node.
struct RunReport {
    std::string runId;
    std::string runName;
    int attempt = 0;
    int ranks = 0;              ///< those that live
    bool isSupervised = false;  ///< by an agent that lives
    int64_t step = -1;          ///< the furthest of its ranks; 0: none trains yet; -1: not told
    int64_t sinceNs = 0;        ///< when the attempt began, by the node's clock; 0: not told
    std::string startedBy = {}; ///< as NodePlan's; empty: not told
    bool operator==(const RunReport&) const = default;
};

/// An agent that another Ringmaster sent to the node: of another release, or another build.
struct AgentReport {
    std::string id;      ///< SHA-256, the name of its folder
    std::string release; ///< "0.1.0"; empty: not known
    int64_t bytes = 0;
    std::string keptFor; ///< why it has to stay: "run gpt-1 lives by it"; empty: nothing needs it
    bool operator==(const AgentReport&) const = default;
};

/// A proof that a device was put to, and what is switched off there if it failed.
struct SelfTestProof {
    std::string name;     ///< "layer norm kernel"
    std::string path;     ///< what depends on it: see shared/wire/NODE_REPORT.md
    bool held = false;    ///< false as well while it runs, so that one that kills its process fails
    std::string evidence; ///< the figures, in words
    int64_t ms = 0;       ///< how long it took
    bool operator==(const SelfTestProof&) const = default;
};

/// How a device stood its self-test with one driver and one runtime: a file of the node's home.
struct SelfTest {
    std::string device;    ///< "NVIDIA H200"
    std::string uuid;      ///< empty: it has none
    std::string driver;    ///< "580.65.06"
    std::string runtime;   ///< what was tested: torch, CUDA and this release
    bool complete = false; ///< false: it was interrupted, and goes on where it ended
    int64_t wallNs = 0;    ///< by the node's clock
    std::vector<SelfTestProof> proofs;
    bool operator==(const SelfTest&) const = default;
};

/// What becomes of a node's ranks when the user that they belong to logs out there.
enum class AtLogout {
    kUnknown,
    kGoOn,
    kEndWithSession,     ///< systemd-logind kills what a login leaves behind
    kEndWithUserManager, ///< they belong to the user's systemd, which ends with the last login
};

/// The facts that `ringmaster-agent probe` found.
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
    std::string homeId;   ///< equal where nodes share that folder; empty: unknown
    std::string stateDir; ///< holds runs/
    int64_t wallNs = 0;   ///< the node's clock at the probe
    std::string user;     ///< the one that the ranks belong to
    AtLogout atLogout = AtLogout::kUnknown;
    std::string release = {}; ///< of the agent
    std::string libstdcxx =
        {}; ///< newest GLIBCXX that its libstdc++ offers, "3.4.30"; empty: none found
    std::string stateId = {};  ///< as homeId, for stateDir
    int64_t memlockBytes = 0;  ///< that a process may lock in memory; -1: any; 0: unknown
    int64_t openFiles = 0;     ///< that a process may have; -1: any; 0: unknown
    int64_t openFilesMost = 0; ///< up to which the user may raise openFiles; likewise
    int64_t shmBytes = 0;      ///< of /dev/shm; 0: there is none
    int64_t shmFreeBytes = 0;
    std::vector<std::string> rdmaDevices = {}; ///< "mlx5_0"
    std::vector<XidReport> xids = {};          ///< one a GPU
    bool isKernelLogRead = false; ///< `xids` are from there; false: this user may not read it
    int64_t homeFreeBytes = -1;   ///< where `home` is or will be; -1: not told
    int64_t homeTotalBytes = -1;
    std::vector<RunReport> runs = {};          ///< by id
    std::vector<SelfTest> selfTests = {};      ///< of its devices, as far as they were tested
    std::vector<AgentReport> otherAgents = {}; ///< beside the one that reports
    std::string homeProblem =
        {}; ///< why `user` can write no file there; empty: it can, or not told
    std::string stateProblem = {}; ///< likewise, for stateDir
    /// Equal where nodes are one running system under several names; empty: unknown.
    std::string machine = {};
    bool operator==(const NodeReport&) const = default;
};

/// One JSON object (NODE_REPORT.md beside this), without a line break. Bytes that are not UTF-8
/// become U+FFFD: names come from files that anyone may have written.
std::string toJson(const NodeReport& report);

/// kCorrupt names the key whose value has another type or size. A missing key leaves its member as
/// it is in a NodeReport, and an unknown key is passed over: releases differ in what they tell.
Result<NodeReport> parseNodeReport(const std::string& json);

/// A SelfTest as its file has it.
std::string toJson(const SelfTest& test);

/// As parseNodeReport(); `source` names the file.
Result<SelfTest> parseSelfTest(const std::string& json, const std::string& source);

} // namespace rm
