// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/text.h"
#include "app/core/fleet/check_rows.h"
#include "app/core/node/chosen_gpus.h"
#include "shared/amounts.h"
#include "shared/counted.h"

#include <algorithm>
#include <array>
#include <optional>

namespace rm {

namespace {

/// The GPUs that the node's settings choose, by their places in what the probe found.
struct UsedGpus {
    const NodeReport& report;
    const Node& node;
    std::vector<size_t> places = usedGpus(node, report);

    bool has(size_t place) const { return std::ranges::count(places, place) > 0; }
};

/// What to do about a GPU that must not train.
Value leaveOut(const Node& node) {
    const std::string command = "ringmaster nodes edit " + nameOrNode(node.name) + " --gpus";
    return {"leave-out", say("gpu.leave-out", {{"command", command}})};
}

Value indexOf(size_t place) {
    return {"index", std::to_string(place)};
}

/// Adds a finding that reads the same of several GPUs for the first of them alone.
void addOnce(CheckRow& row, const char* id, Values values) {
    if (row.evidence.find(finding(id, values).evidence) == std::string::npos)
        addFinding(row, id, values);
}

std::string processWords(const GpuProcess& process) {
    const Value memory{"memory",
                       process.bytes > 0 ? memoryWords(process.bytes) : say("gpu.some-memory")},
        name{"name", process.name.empty() ? say("gpu.a-process") : process.name},
        pid{"pid", std::to_string(process.pid)};
    return process.user.empty() ? say("gpu.process-in-container", {memory, name, pid})
                                : say("gpu.process", {memory, name, {"user", process.user}, pid});
}

/// Ranks are told of by the row of runs; a desktop's share is small.
bool isInTheWay(const GpuProcess& process) {
    constexpr int64_t kMuch = 512 * 1024 * 1024;
    return !process.name.starts_with("ringmaster-trai") && // as the kernel cuts names
           (process.bytes == 0 || process.bytes >= kMuch);
}

void addMemory(CheckRow& row, size_t place, const GpuReport& gpu, const Value& leaveOut) {
    constexpr int64_t kHidden = int64_t{1} << 30; // drivers and displays keep some for themselves
    const Value index = indexOf(place);
    const int64_t inUse = gpu.freeBytes > 0 ? gpu.memoryBytes - gpu.freeBytes : 0;
    if (inUse > kHidden)
        addFinding(row, "gpu-memory",
                   {index, {"used", memoryWords(inUse)}, {"total", memoryWords(gpu.memoryBytes)}});
    if (gpu.processes.empty() && inUse > kHidden)
        addOnce(row, "gpu-memory.unlisted", {leaveOut});
    for (const GpuProcess& process : gpu.processes) {
        const Value words{"process", processWords(process)};
        if (!isInTheWay(process))
            addFinding(row, "gpu-memory.process", {index, words});
        else if (process.user.empty())
            addFinding(row, "gpu-memory.in-another-container", {index, words, leaveOut});
        else
            addFinding(row, "gpu-memory.in-the-way",
                       {index, words, {"user", process.user}, leaveOut});
    }
}

/// nullopt: nobody uses any.
std::optional<CheckRow> memoryInUse(const UsedGpus& used) {
    CheckRow row;
    for (const size_t i : used.places)
        addMemory(row, i, used.report.gpus[i], leaveOut(used.node));
    return row.id.empty() ? std::nullopt : std::optional(std::move(row));
}

/// NVIDIA's "Xid Errors" (https://docs.nvidia.com/deploy/xid-errors/), as far as a person there can
/// do something about them.
struct XidFinding {
    int code;
    const char* id;
};

constexpr std::array<XidFinding, 14> kXids = {{
    {13, "gpu-errors.xid-13"},
    {31, "gpu-errors.xid-31"},
    {43, "gpu-errors.xid-43"},
    {45, "gpu-errors.xid-45"},
    {48, "gpu-errors.xid-48"},
    {63, "gpu-errors.xid-63"},
    {64, "gpu-errors.xid-64"},
    {74, "gpu-errors.xid-74"},
    {79, "gpu-errors.xid-79"},
    {92, "gpu-errors.xid-92"},
    {94, "gpu-errors.xid-94"},
    {95, "gpu-errors.xid-95"},
    {119, "gpu-errors.xid-119"},
    {120, "gpu-errors.xid-120"},
}};

/// nullopt: the driver does not list it.
std::optional<size_t> placeOf(const NodeReport& report, const std::string& pciId) {
    const auto found = std::ranges::find(report.gpus, pciId, &GpuReport::pciId);
    return found == report.gpus.end()
               ? std::nullopt
               : std::optional(static_cast<size_t>(found - report.gpus.begin()));
}

void addXid(CheckRow& row, const UsedGpus& used, const XidReport& xid) {
    const auto place = placeOf(used.report, xid.pciId);
    if (place && !used.has(*place))
        return;
    const Value gpu{"gpu", place ? say("gpu.by-index", {indexOf(*place)})
                                 : say("gpu.unlisted", {{"address", xid.pciId}})};
    const auto known = std::ranges::find(kXids, xid.code, &XidFinding::code);
    if (known != kXids.end())
        addFinding(row, known->id, {gpu});
    else
        addFinding(row, "gpu-errors.xid",
                   {gpu, {"code", std::to_string(xid.code)}, {"text", xid.text}});
}

void addErrors(CheckRow& row, size_t place, const GpuReport& gpu) {
    const Value index = indexOf(place);
    const auto errors = [](int64_t count) {
        return Value{"errors", counted(count, "memory error")};
    };
    if (gpu.eccUncorrected > 0)
        addFinding(row, "gpu-errors.uncorrected", {index, errors(gpu.eccUncorrected)});
    else if (gpu.eccCorrected > 0)
        addFinding(row, "gpu-errors.corrected", {index, errors(gpu.eccCorrected)});
    if (gpu.hasRepairFailed)
        addFinding(row, "gpu-errors.repair-failed", {index});
    else if (gpu.isRepairPending)
        addFinding(row, "gpu-errors.repair-pending", {index});
    else if (gpu.retired > 0)
        addFinding(row, "gpu-errors.retired",
                   {index, {"places", counted(gpu.retired, "faulty place")}});
}

CheckRow errorsRow(const UsedGpus& used) {
    CheckRow row;
    bool isReported = false;
    for (const size_t i : used.places) {
        isReported = isReported || used.report.gpus[i].eccUncorrected >= 0;
        addErrors(row, i, used.report.gpus[i]);
    }
    for (const XidReport& xid : used.report.xids)
        addXid(row, used, xid);
    const bool hasNone = row.id.empty();
    if (hasNone && used.report.isKernelLogRead)
        return finding(isReported ? "gpu-errors.none" : "gpu-errors.none-in-log");
    if (hasNone && isReported)
        addFinding(row, "gpu-errors.none-by-ecc");
    if (!used.report.isKernelLogRead)
        addFinding(row, "gpu-errors.log-closed");
    return row;
}

CheckRow clocksRow(const UsedGpus& used) {
    struct Reason {
        const char* word;
        const char* id;
    };
    static constexpr std::array<Reason, 8> kReasons = {
        {{"application-clocks", "gpu-clocks.set"},
         {"power-cap", "gpu-clocks.power-limit"},
         {"sync-boost", "gpu-clocks.group"},
         {"display-clocks", "gpu-clocks.display"},
         {"thermal", "gpu-clocks.heat"},
         {"hardware-thermal", "gpu-clocks.heat-by-hardware"},
         {"hardware-slowdown", "gpu-clocks.heat-or-power"},
         {"power-brake", "gpu-clocks.power-supply"}}};
    CheckRow row;
    for (const size_t i : used.places)
        for (const std::string& word : used.report.gpus[i].throttled) {
            const auto reason = std::ranges::find(kReasons, word, &Reason::word);
            if (reason != kReasons.end())
                addFinding(row, reason->id, {indexOf(i)});
            else
                addFinding(row, "gpu-clocks.other", {indexOf(i), {"reason", word}});
        }
    return row.id.empty() ? finding("gpu-clocks") : row;
}

Value linkOf(const GpuReport& gpu) {
    return {"link", say("gpu.link", {{"width", std::to_string(gpu.pcieWidth)},
                                     {"most-width", std::to_string(gpu.pcieWidthMost)},
                                     {"generation", std::to_string(gpu.pcieGeneration)},
                                     {"most-generation", std::to_string(gpu.pcieGenerationMost)}})};
}

/// The generation is lower while a GPU is idle, which is no fault.
CheckRow linkRow(const UsedGpus& used) {
    CheckRow row;
    const Value first = linkOf(used.report.gpus[used.places.front()]);
    bool areAlike = true;
    for (const size_t i : used.places) {
        const GpuReport& gpu = used.report.gpus[i];
        const Value link = linkOf(gpu);
        areAlike = areAlike && link.text == first.text;
        if (gpu.pcieWidth > 0)
            addFinding(row, gpu.pcieWidth < gpu.pcieWidthMost ? "gpu-link.narrow" : "gpu-link",
                       {indexOf(i), link});
    }
    if (row.id.empty())
        return finding("gpu-link.unknown");
    if (areAlike && used.places.size() > 1)
        row.evidence = say("gpu.links-alike", {first});
    return row;
}

/// "CUDA 13." of "cuda13", as the tests by its trainer have it.
std::string cudaOf(const std::string& runtime) {
    return "CUDA " + runtime.substr(std::string_view("cuda").size()) + '.';
}

/// What is known of a GPU with this driver and runtime, complete or not; null: nothing.
const SelfTest* selfTestOf(const NodeReport& report, const GpuReport& gpu,
                           const std::string& runtime) {
    const SelfTest* newest = nullptr;
    for (const SelfTest& test : report.selfTests)
        if (test.uuid == gpu.uuid && test.driver == report.driver &&
            test.runtime.find(cudaOf(runtime)) != std::string::npos &&
            (newest == nullptr || test.wallNs > newest->wallNs))
            newest = &test;
    return newest;
}

/// "GELU kernel: error 0.05, allowed 1e-05": the failed proofs.
std::string failedWords(const SelfTest& test) {
    std::vector<std::string> failed;
    for (const SelfTestProof& proof : test.proofs)
        if (!proof.held)
            failed.push_back(proof.name + ": " + proof.evidence);
    return joined(failed);
}

bool failsAsDevice(const SelfTest& test) {
    return std::ranges::any_of(test.proofs, [](const SelfTestProof& proof) {
        return !proof.held && proof.path == "device";
    });
}

/// What its GPUs showed when they were tested with the runtime that a launch would send.
CheckRow selfTestRow(const UsedGpus& used, const std::string& runtime) {
    const NodeReport& report = used.report;
    const Value again{"command", "ringmaster nodes self-test " + nameOrNode(used.node.name)};
    size_t untested = 0;
    size_t held = 0;
    bool isWrong = false;
    std::vector<std::string> results;
    for (const size_t i : used.places) {
        const SelfTest* test = selfTestOf(report, report.gpus[i], runtime);
        if (test == nullptr || !test->complete) {
            ++untested;
            continue;
        }
        const Value proofs{"proofs", failedWords(*test)};
        if (proofs.text.empty()) {
            ++held;
            continue;
        }
        isWrong = isWrong || failsAsDevice(*test);
        results.push_back(say(failsAsDevice(*test) ? "gpu.self-test-wrong" : "gpu.self-test-slower",
                              {indexOf(i), proofs}));
    }
    const bool hasFailed = !results.empty();
    results.push_back(say("gpu.self-tests-held", {{"held", std::to_string(held)},
                                                  {"all", std::to_string(used.places.size())},
                                                  {"driver", report.driver},
                                                  {"runtime", runtime}}));
    if (untested > 0)
        results.push_back(say("gpu.self-tests-due", {{"count", std::to_string(untested)}, again}));
    const Value all{"results", joined(results)};
    CheckRow row = isWrong     ? finding("gpu-self-test.wrong", {all, leaveOut(used.node), again})
                   : hasFailed ? finding("gpu-self-test.slower", {all, again})
                               : finding("gpu-self-test", {all});
    if (untested > 0 || hasFailed)
        row.action = CheckAction{CheckAction::Kind::kSelfTest, say("action.self-test"), {}};
    return row;
}

/// What the processor showed, where somebody had it tested.
std::optional<CheckRow> cpuSelfTestRow(const NodeReport& report) {
    const SelfTest* newest = nullptr;
    for (const SelfTest& test : report.selfTests)
        if (test.uuid.empty() && (newest == nullptr || test.wallNs > newest->wallNs))
            newest = &test;
    if (newest == nullptr || !newest->complete)
        return std::nullopt;
    const Value device{"device", newest->device}, proofs{"proofs", failedWords(*newest)};
    return proofs.text.empty()
               ? finding("cpu-self-test", {device,
                                           {"count", std::to_string(newest->proofs.size())},
                                           {"runtime", newest->runtime}})
               : finding("cpu-self-test.wrong", {device, proofs});
}

} // namespace

std::optional<CheckRow> usedGpuMemoryRow(const NodeReport& report, const Node& node) {
    return memoryInUse({report, node});
}

std::vector<CheckRow> gpuHealthRows(const NodeReport& report, const Node& node,
                                    const std::string& runtime) {
    const UsedGpus used{report, node};
    std::vector<CheckRow> rows;
    if (!used.places.empty())
        rows = {memoryInUse(used).value_or(finding("gpu-memory.none")), errorsRow(used),
                clocksRow(used), linkRow(used)};
    else if (!report.xids.empty())
        rows = {errorsRow(used)};
    if (!used.places.empty() && runtime != "cpu")
        rows.push_back(selfTestRow(used, runtime));
    else if (auto row = cpuSelfTestRow(report))
        rows.push_back(std::move(*row));
    return rows;
}

} // namespace rm
