// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/node_report.h"

#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <array>
#include <concepts>
#include <utility>

namespace rm {

namespace {

template <class Type, class Struct>
concept Like = std::same_as<std::remove_const_t<Type>, Struct>;

// Every key, once: visit(key, member).

template <Like<GpuProcess> Report, class Visit>
void eachField(Report& process, Visit&& visit) {
    visit("pid", process.pid);
    visit("user", process.user);
    visit("name", process.name);
    visit("bytes", process.bytes);
}

template <Like<XidReport> Report, class Visit>
void eachField(Report& xid, Visit&& visit) {
    visit("pci_id", xid.pciId);
    visit("code", xid.code);
    visit("text", xid.text);
}

template <Like<RunReport> Report, class Visit>
void eachField(Report& run, Visit&& visit) {
    visit("run_id", run.runId);
    visit("run_name", run.runName);
    visit("attempt", run.attempt);
    visit("ranks", run.ranks);
    visit("supervised", run.isSupervised);
    visit("step", run.step);
    visit("since_ns", run.sinceNs);
    visit("started_by", run.startedBy);
}

template <Like<AgentReport> Report, class Visit>
void eachField(Report& agent, Visit&& visit) {
    visit("id", agent.id);
    visit("release", agent.release);
    visit("bytes", agent.bytes);
    visit("kept_for", agent.keptFor);
}

template <Like<GpuReport> Report, class Visit>
void eachField(Report& gpu, Visit&& visit) {
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

template <Like<InterfaceReport> Report, class Visit>
void eachField(Report& interface, Visit&& visit) {
    visit("name", interface.name);
    visit("address", interface.address);
    visit("prefix", interface.prefix);
    visit("up", interface.up);
    visit("speed_mbit", interface.speedMbit);
}

template <Like<DiskReport> Report, class Visit>
void eachField(Report& disk, Visit&& visit) {
    visit("path", disk.path);
    visit("file_system", disk.fileSystem);
    visit("total_bytes", disk.totalBytes);
    visit("free_bytes", disk.freeBytes);
}

template <Like<SelfTestProof> Report, class Visit>
void eachField(Report& proof, Visit&& visit) {
    visit("name", proof.name);
    visit("path", proof.path);
    visit("held", proof.held);
    visit("evidence", proof.evidence);
    visit("ms", proof.ms);
}

template <Like<SelfTest> Report, class Visit>
void eachField(Report& test, Visit&& visit) {
    visit("device", test.device);
    visit("uuid", test.uuid);
    visit("driver", test.driver);
    visit("runtime", test.runtime);
    visit("complete", test.complete);
    visit("wall_ns", test.wallNs);
    visit("proofs", test.proofs);
}

template <Like<NodeReport> Report, class Visit>
void eachField(Report& report, Visit&& visit) {
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

constexpr std::array<std::pair<AtLogout, const char*>, 4> kAtLogoutWords = {
    {{AtLogout::kUnknown, "unknown"},
     {AtLogout::kGoOn, "go-on"},
     {AtLogout::kEndWithSession, "end-with-session"},
     {AtLogout::kEndWithUserManager, "end-with-user-manager"}}};

template <class T>
Json jsonOf(const T& value) {
    return value;
}

Json jsonOf(AtLogout value) {
    for (const auto& [each, word] : kAtLogoutWords)
        if (each == value)
            return word;
    return nullptr;
}

Json jsonOf(const std::vector<std::string>& texts) {
    return texts;
}

template <class Report>
Json jsonOf(const std::vector<Report>& reports);

template <class Report>
Json objectOf(const Report& report) {
    Json object = Json::object();
    eachField(report,
              [&object](const char* key, const auto& value) { object[key] = jsonOf(value); });
    return object;
}

template <class Report>
Json jsonOf(const std::vector<Report>& reports) {
    Json list = Json::array();
    for (const Report& report : reports)
        list.push_back(objectOf(report));
    return list;
}

// False: `json` is of another type.

bool read(const Json& json, std::string& out) {
    if (json.is_string())
        out = json.get<std::string>();
    return json.is_string();
}

bool read(const Json& json, bool& out) {
    if (json.is_boolean())
        out = json.get<bool>();
    return json.is_boolean();
}

template <std::integral Integer>
bool read(const Json& json, Integer& out) {
    if (!json.is_number_integer())
        return false;
    const bool isLarge = json.is_number_unsigned() && !std::in_range<Integer>(json.get<uint64_t>());
    if (isLarge || !std::in_range<Integer>(json.get<int64_t>()))
        return false;
    out = static_cast<Integer>(json.get<int64_t>());
    return true;
}

/// A word of a later release says no more than none.
bool read(const Json& json, AtLogout& out) {
    for (const auto& [value, word] : kAtLogoutWords)
        if (json == word)
            out = value;
    return json.is_string();
}

/// The key that holds something else than it should; empty: none does.
template <class Report>
std::string faultIn(const Json& object, Report& out);

template <class Report>
std::string faultAt(const Json& json, std::vector<Report>& out, const std::string& key) {
    if (!json.is_array())
        return key;
    for (const Json& each : json) {
        if (!each.is_object())
            return key;
        if (const std::string fault = faultIn(each, out.emplace_back()); !fault.empty())
            return key + '.' + fault;
    }
    return {};
}

std::string faultAt(const Json& json, std::vector<std::string>& out, const std::string& key) {
    if (!json.is_array())
        return key;
    for (const Json& each : json)
        if (!read(each, out.emplace_back()))
            return key;
    return {};
}

template <class T>
std::string faultAt(const Json& json, T& out, const std::string& key) {
    return read(json, out) ? "" : key;
}

template <class Report>
std::string faultIn(const Json& object, Report& out) {
    std::string fault;
    eachField(out, [&](const char* key, auto& value) {
        if (const auto found = object.find(key); found != object.end() && fault.empty())
            fault = faultAt(*found, value, key);
    });
    return fault;
}

template <class Report>
Result<Report> parseReport(const std::string& json, const std::string& source) {
    RM_ASSIGN_OR_RETURN(const auto object, parseJson(json, source));
    if (!object.is_object())
        return fail(ErrorCode::kCorrupt, "read " + source + ": it is no JSON object");
    Report report;
    if (const std::string fault = faultIn(object, report); !fault.empty())
        return fail(ErrorCode::kCorrupt,
                    "read " + source + ": " + fault + " holds something of another type or size");
    return report;
}

} // namespace

std::string toJson(const NodeReport& report) {
    return dumpJson(objectOf(report));
}

Result<NodeReport> parseNodeReport(const std::string& json) {
    return parseReport<NodeReport>(json, "what a node reports of itself");
}

std::string toJson(const SelfTest& test) {
    return dumpJson(objectOf(test));
}

Result<SelfTest> parseSelfTest(const std::string& json, const std::string& source) {
    return parseReport<SelfTest>(json, source);
}

} // namespace rm
