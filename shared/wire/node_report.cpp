// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/node_report.h"

#include "shared/io/json_fields.h"
#include "shared/wire/network_fields.h"

#include <array>

namespace rm {

/// nullptr: there is no such value.
const char* jsonWord(AtLogout value) {
    constexpr std::array kWords = {"unknown", "go-on", "end-with-session", "end-with-user-manager"};
    const auto at = static_cast<size_t>(value);
    return at < kWords.size() ? kWords[at] : nullptr;
}

// Every key, once; an earlier release may not know it.

template <Either<GpuProcess> Report, class Visit>
void fields(Report& process, Visit&& every) {
    const auto visit = optionally(every);
    visit("pid", process.pid);
    visit("user", process.user);
    visit("name", process.name);
    visit("bytes", process.bytes);
}

template <Either<XidReport> Report, class Visit>
void fields(Report& xid, Visit&& every) {
    const auto visit = optionally(every);
    visit("pci_id", xid.pciId);
    visit("code", xid.code);
    visit("text", xid.text);
}

template <Either<RunReport> Report, class Visit>
void fields(Report& run, Visit&& every) {
    const auto visit = optionally(every);
    visit("run_id", run.runId);
    visit("run_name", run.runName);
    visit("attempt", run.attempt);
    visit("ranks", run.ranks);
    visit("supervised", run.isSupervised);
    visit("step", run.step);
    visit("since_ns", run.sinceNs);
    visit("started_by", run.startedBy);
}

template <Either<AgentReport> Report, class Visit>
void fields(Report& agent, Visit&& every) {
    const auto visit = optionally(every);
    visit("id", agent.id);
    visit("release", agent.release);
    visit("bytes", agent.bytes);
    visit("kept_for", agent.keptFor);
}

template <Either<GpuReport> Report, class Visit>
void fields(Report& gpu, Visit&& every) {
    const auto visit = optionally(every);
    visit("name", gpu.name);
    visit("memory_bytes", gpu.memoryBytes);
    visit("uuid", gpu.uuid);
    visit("free_bytes", gpu.freeBytes);
    visit("compute_capability", gpu.computeCapability);
    visit("pci_id", gpu.pciId);
    visit("processes", gpu.processes);
    visit("ecc_corrected", gpu.eccCorrected);
    visit("ecc_uncorrected", gpu.eccUncorrected);
    visit("throttled", gpu.throttled);
    visit("pcie_width", gpu.pcieWidth);
    visit("pcie_width_most", gpu.pcieWidthMost);
    visit("pcie_generation", gpu.pcieGeneration);
    visit("pcie_generation_most", gpu.pcieGenerationMost);
    visit("retired", gpu.retired);
    visit("repair_pending", gpu.isRepairPending);
    visit("repair_failed", gpu.hasRepairFailed);
}

template <Either<DiskReport> Report, class Visit>
void fields(Report& disk, Visit&& every) {
    const auto visit = optionally(every);
    visit("path", disk.path);
    visit("file_system", disk.fileSystem);
    visit("total_bytes", disk.totalBytes);
    visit("free_bytes", disk.freeBytes);
}

template <Either<SelfTestProof> Report, class Visit>
void fields(Report& proof, Visit&& every) {
    const auto visit = optionally(every);
    visit("name", proof.name);
    visit("path", proof.path);
    visit("held", proof.held);
    visit("evidence", proof.evidence);
    visit("ms", proof.ms);
}

template <Either<SelfTest> Report, class Visit>
void fields(Report& test, Visit&& every) {
    const auto visit = optionally(every);
    visit("device", test.device);
    visit("uuid", test.uuid);
    visit("driver", test.driver);
    visit("runtime", test.runtime);
    visit("complete", test.complete);
    visit("wall_ns", test.wallNs);
    visit("proofs", test.proofs);
}

template <Either<NodeReport> Report, class Visit>
void fields(Report& report, Visit&& every) {
    const auto visit = optionally(every);
    visit("os", report.os);
    visit("kernel", report.kernel);
    visit("glibc", report.glibc);
    visit("cpu_model", report.cpuModel);
    visit("cores", report.cores);
    visit("memory_bytes", report.memoryBytes);
    visit("memory_free_bytes", report.freeMemoryBytes);
    visit("driver", report.driver);
    visit("gpus", report.gpus);
    visit("interfaces", report.interfaces);
    visit("disks", report.disks);
    visit("home", report.home);
    visit("home_id", report.homeId);
    visit("state_dir", report.stateDir);
    visit("wall_ns", report.wallNs);
    visit("user", report.user);
    visit("at_logout", report.atLogout);
    visit("release", report.release);
    visit("libstdcxx", report.libstdcxx);
    visit("state_id", report.stateId);
    visit("memlock_bytes", report.memlockBytes);
    visit("open_files", report.openFiles);
    visit("open_files_most", report.openFilesMost);
    visit("shm_bytes", report.shmBytes);
    visit("shm_free_bytes", report.shmFreeBytes);
    visit("rdma_devices", report.rdmaDevices);
    visit("xids", report.xids);
    visit("kernel_log_read", report.isKernelLogRead);
    visit("home_free_bytes", report.homeFreeBytes);
    visit("home_total_bytes", report.homeTotalBytes);
    visit("runs", report.runs);
    visit("self_tests", report.selfTests);
    visit("other_agents", report.otherAgents);
    visit("home_problem", report.homeProblem);
    visit("state_problem", report.stateProblem);
    visit("machine", report.machine);
}

std::string toJson(const NodeReport& report) {
    return dumpJson(writeFields(report));
}

Result<NodeReport> parseNodeReport(const std::string& json) {
    return parseFields<NodeReport>(json, "what a node reports of itself");
}

std::string toJson(const SelfTest& test) {
    return dumpJson(writeFields(test));
}

Result<SelfTest> parseSelfTest(const std::string& json, const std::string& source) {
    return parseFields<SelfTest>(json, source);
}

} // namespace rm
