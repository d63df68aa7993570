// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/check_rows.h"
#include "app/core/node/chosen_gpus.h"
#include "shared/amounts.h"

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
std::string leaveOut(const Node& node) {
    return "leave that GPU out with Edit, or with ringmaster nodes edit " + nameOrNode(node.name) +
           " --gpus with the numbers of the others";
}

/// What several GPUs have, told one after another.
struct Finding {
    CheckRow row;

    void tell(const std::string& evidence) { add(row.evidence, evidence); }
    void warn(const std::string& cause, const std::string& fix) {
        row.state = CheckRow::State::kWarning;
        add(row.cause, cause);
        add(row.fix, fix);
    }
    /// Adds a text once, though it is true of several GPUs.
    static void add(std::string& text, const std::string& more) {
        if (text.find(more) == std::string::npos)
            text += (text.empty() ? "" : "; ") + more;
    }
};

std::string gpuName(size_t index) {
    return "GPU " + std::to_string(index);
}

std::string processWords(const GpuProcess& process) {
    const std::string name = process.name.empty() ? "a process" : process.name;
    const std::string user = process.user.empty() ? "of another container" : "of " + process.user;
    return (process.bytes > 0 ? memoryWords(process.bytes) + " by " : "some by ") + name + ' ' +
           user + " (pid " + std::to_string(process.pid) + ')';
}

/// Ranks are told of by the row of runs; a desktop's share is small.
bool isInTheWay(const GpuProcess& process) {
    constexpr int64_t kMuch = 512 * 1024 * 1024;
    return !process.name.starts_with("ringmaster-trai") && // as the kernel cuts names
           (process.bytes == 0 || process.bytes >= kMuch);
}

void tellMemory(size_t index, const GpuReport& gpu, const std::string& leaveOut, Finding& found) {
    constexpr int64_t kHidden = int64_t{1} << 30; // drivers and displays keep some for themselves
    constexpr const char* kCause = "a run there has less memory and shares the GPU's time";
    const std::string name = gpuName(index);
    const int64_t inUse = gpu.freeBytes > 0 ? gpu.memoryBytes - gpu.freeBytes : 0;
    if (inUse > kHidden)
        found.tell(name + ": " + memoryWords(inUse) + " of " + memoryWords(gpu.memoryBytes));
    if (gpu.processes.empty() && inUse > kHidden) {
        found.tell("by a process that the driver does not list");
        found.warn(kCause,
                   "see on the machine itself what it is (sudo nvidia-smi), or " + leaveOut);
    }
    for (const GpuProcess& process : gpu.processes) {
        found.tell(name + ": " + processWords(process));
        if (isInTheWay(process))
            found.warn(kCause, (process.user.empty() ? "see on the machine itself what it is"
                                                     : "ask " + process.user + " when it ends") +
                                   ", or " + leaveOut);
    }
}

/// Without evidence: nobody uses any.
CheckRow memoryInUse(const UsedGpus& used) {
    Finding found{goodRow("gpu-memory", "GPU memory in use", {})};
    for (const size_t i : used.places)
        tellMemory(i, used.report.gpus[i], leaveOut(used.node), found);
    return found.row;
}

CheckRow memoryRow(const UsedGpus& used) {
    CheckRow row = memoryInUse(used);
    if (row.evidence.empty())
        row.evidence = "by no process";
    return row;
}

/// NVIDIA's "Xid Errors" (https://docs.nvidia.com/deploy/xid-errors/), as far as a person there can
/// do something about them.
struct XidWords {
    int code;
    const char* what;
    const char* fix; ///< nullptr: the fault was in a program
};

constexpr const char* kReset =
    "end what runs on that GPU and reset it (sudo nvidia-smi --gpu-reset), or restart the node";
constexpr std::array<XidWords, 14> kXids = {{
    {13, "a program's kernel failed", nullptr},
    {31, "a program used memory that was not its own", nullptr},
    {43, "a program was stopped after a fault", nullptr},
    {45, "a program was cut off", nullptr},
    {48, "a double-bit memory error", kReset},
    {63, "faulty memory was taken out of use", kReset},
    {64, "faulty memory could not be taken out of use", "have the card replaced"},
    {74, "an NVLink failed", "see nvidia-smi nvlink --errorcounters; have link or card looked at"},
    {79, "the GPU fell off the bus",
     "switch the machine off and on; if it comes again, look at power, cooling and seat of the "
     "card"},
    {92, "many single-bit memory errors", "watch it; if it comes again, have the card replaced"},
    {94, "a memory error that was contained", kReset},
    {95, "a memory error that was not contained", kReset},
    {119, "the GPU's own processor did not answer", kReset},
    {120, "the GPU's own processor failed", kReset},
}};

/// nullopt: the driver does not list it.
std::optional<size_t> placeOf(const NodeReport& report, const std::string& pciId) {
    const auto found = std::ranges::find(report.gpus, pciId, &GpuReport::pciId);
    return found == report.gpus.end()
               ? std::nullopt
               : std::optional(static_cast<size_t>(found - report.gpus.begin()));
}

void tellXid(const UsedGpus& used, const XidReport& xid, Finding& found) {
    const auto place = placeOf(used.report, xid.pciId);
    if (place && !used.has(*place))
        return;
    const auto known = std::ranges::find(kXids, xid.code, &XidWords::code);
    const bool isKnown = known != kXids.end();
    const std::string name =
        place ? gpuName(*place) : "a GPU at " + xid.pciId + " that the driver does not list";
    found.tell(name + ": Xid " + std::to_string(xid.code) + ", " +
               (isKnown ? std::string(known->what) : xid.text));
    if (isKnown && known->fix == nullptr)
        return;
    found.warn("a run on it may fail or hang",
               isKnown ? known->fix
                       : "look it up in NVIDIA's list of Xid errors; if it comes again after a "
                         "restart, have the card looked at");
}

void tellErrors(size_t index, const GpuReport& gpu, Finding& found) {
    const std::string name = gpuName(index) + ": ";
    const auto memory = [&](const std::string& evidence, const std::string& fix) {
        found.tell(name + evidence);
        found.warn("what it computes may be wrong, or a run on it may fail", fix);
    };
    if (gpu.eccUncorrected > 0)
        memory(std::to_string(gpu.eccUncorrected) + " memory errors that ECC could not correct",
               kReset);
    else if (gpu.eccCorrected > 0)
        found.tell(name + std::to_string(gpu.eccCorrected) + " memory errors that ECC corrected");
    if (gpu.hasRepairFailed)
        memory("faulty memory could not be taken out of use", "have the card replaced");
    else if (gpu.isRepairPending)
        memory("faulty memory is taken out of use at the next reset", kReset);
    else if (gpu.retired > 0)
        found.tell(name + std::to_string(gpu.retired) + " faulty places of memory out of use");
}

CheckRow errorsRow(const UsedGpus& used) {
    Finding found{goodRow("gpu-errors", "GPU errors", {})};
    bool isTold = false;
    for (const size_t i : used.places) {
        isTold = isTold || used.report.gpus[i].eccUncorrected >= 0;
        tellErrors(i, used.report.gpus[i], found);
    }
    for (const XidReport& xid : used.report.xids)
        tellXid(used, xid, found);
    if (!used.report.isKernelLogRead)
        found.tell((found.row.evidence.empty() && isTold ? "none by ECC; " : "") +
                   std::string("the driver's log is closed to this user: sudo dmesg | grep Xid "
                               "there shows what it has"));
    else if (found.row.evidence.empty())
        found.row.evidence =
            isTold ? "none by ECC and the driver's log" : "none by the driver's log";
    return found.row;
}

CheckRow clocksRow(const UsedGpus& used) {
    struct Reason {
        const char* word;
        const char* what;
        const char* fix; ///< nullptr: usual
    };
    static constexpr const char* kCool =
        "look at fans, dust and the air around the machine, or lower the limit of power";
    static constexpr std::array<Reason, 8> kReasons = {
        {{"application-clocks", "set clocks", nullptr},
         {"power-cap", "its limit of power", nullptr},
         {"sync-boost", "its group of GPUs", nullptr},
         {"display-clocks", "its display", nullptr},
         {"thermal", "its temperature", kCool},
         {"hardware-thermal", "its temperature, by the hardware", kCool},
         {"hardware-slowdown", "the hardware: heat or power", kCool},
         {"power-brake", "the machine's power supply",
          "look at the power supply: it asks the GPU to slow down"}}};
    Finding found{goodRow("gpu-clocks", "GPU clocks", {})};
    for (const size_t i : used.places)
        for (const std::string& word : used.report.gpus[i].throttled) {
            const auto reason = std::ranges::find(kReasons, word, &Reason::word);
            const bool isKnown = reason != kReasons.end();
            found.tell(gpuName(i) + " is held down by " + (isKnown ? reason->what : word));
            if (isKnown && reason->fix != nullptr)
                found.warn("steps on it take longer, and all ranks wait for the slowest",
                           reason->fix);
        }
    if (found.row.evidence.empty())
        found.row.evidence = "not held down";
    return found.row;
}

std::string linkWords(const GpuReport& gpu) {
    return "PCIe x" + std::to_string(gpu.pcieWidth) + " of x" + std::to_string(gpu.pcieWidthMost) +
           ", generation " + std::to_string(gpu.pcieGeneration) + " of " +
           std::to_string(gpu.pcieGenerationMost);
}

/// The generation is lower while a GPU is idle, which is no fault.
CheckRow linkRow(const UsedGpus& used) {
    Finding found{goodRow("gpu-link", "GPU links", {})};
    const GpuReport& first = used.report.gpus[used.places.front()];
    bool areAlike = true;
    for (const size_t i : used.places) {
        const GpuReport& gpu = used.report.gpus[i];
        areAlike = areAlike && linkWords(gpu) == linkWords(first);
        if (gpu.pcieWidth > 0)
            found.tell(gpuName(i) + ": " + linkWords(gpu));
        if (gpu.pcieWidth > 0 && gpu.pcieWidth < gpu.pcieWidthMost)
            found.warn("data and sums reach it more slowly than they could",
                       "push the card home, or move it to a slot with all lanes; some boards share "
                       "lanes between slots, which is no fault");
    }
    if (found.row.evidence.empty())
        found.row.evidence = "not told by the driver";
    else if (areAlike && used.places.size() > 1)
        found.row.evidence = "all: " + linkWords(first);
    return found.row;
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
    std::string words;
    for (const SelfTestProof& proof : test.proofs)
        if (!proof.held)
            words += (words.empty() ? "" : "; ") + proof.name + ": " + proof.evidence;
    return words;
}

bool failsAsDevice(const SelfTest& test) {
    return std::ranges::any_of(test.proofs, [](const SelfTestProof& proof) {
        return !proof.held && proof.path == "device";
    });
}

/// What its GPUs showed when they were tested with the runtime that a launch would send.
CheckRow selfTestRow(const UsedGpus& used, const std::string& runtime) {
    const NodeReport& report = used.report;
    size_t untested = 0;
    size_t held = 0;
    std::string failed;
    const std::string again = "ringmaster nodes self-test " + nameOrNode(used.node.name);
    CheckRow row = goodRow("gpu-self-test", "GPU self-test", {});
    for (const size_t i : used.places) {
        const SelfTest* test = selfTestOf(report, report.gpus[i], runtime);
        if (test == nullptr || !test->complete) {
            ++untested;
            continue;
        }
        const std::string words = failedWords(*test);
        held += words.empty() ? 1 : 0;
        if (words.empty())
            continue;
        const bool isWhole = failsAsDevice(*test);
        if (isWhole) {
            row.state = CheckRow::State::kBad;
            row.cause = "what such a GPU computes is wrong, and training on it would be";
            row.fix = leaveOut(used.node) + ", or reset it and let it be tested again: " + again;
        } else if (row.state == CheckRow::State::kGood) {
            row.state = CheckRow::State::kWarning;
            row.cause = "steps there take longer by the plain way";
            row.fix = "update the driver, then let it be tested again: " + again;
        }
        failed += (failed.empty() ? "GPU " : "; GPU ") + std::to_string(i) + " failed in " + words +
                  (isWhole ? " (nothing is trained on it)"
                           : " (training does without that, by the plain way)");
    }
    if (untested > 0 || row.state != CheckRow::State::kGood)
        row.action = CheckAction{CheckAction::Kind::kSelfTest, "Self-test", {}};
    const std::string all = std::to_string(held) + " of " + std::to_string(used.places.size()) +
                            " hold all proofs with driver " + report.driver + " and " + runtime;
    row.evidence = failed.empty() ? all : failed + "; " + all;
    if (untested > 0)
        row.evidence +=
            "; " + std::to_string(untested) +
            " not tested with both yet: the first training does it, in about 10 s, or " + again;
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
    const std::string failed = failedWords(*newest);
    CheckRow row =
        goodRow("cpu-self-test", "CPU self-test",
                newest->device + ": all proofs held (" + std::to_string(newest->proofs.size()) +
                    "), with " + newest->runtime);
    if (!failed.empty()) {
        row.state = CheckRow::State::kBad;
        row.evidence = newest->device + " failed in " + failed;
        row.cause = "what such a processor or its memory computes is wrong";
        row.fix = "test its memory, and train elsewhere until this holds";
    }
    return row;
}

} // namespace

std::optional<CheckRow> usedGpuMemoryRow(const NodeReport& report, const Node& node) {
    CheckRow row = memoryInUse({report, node});
    return row.evidence.empty() ? std::nullopt : std::optional(std::move(row));
}

std::vector<CheckRow> gpuHealthRows(const NodeReport& report, const Node& node,
                                    const std::string& runtime) {
    const UsedGpus used{report, node};
    std::vector<CheckRow> rows;
    if (!used.places.empty())
        rows = {memoryRow(used), errorsRow(used), clocksRow(used), linkRow(used)};
    else if (!report.xids.empty())
        rows = {errorsRow(used)};
    if (!used.places.empty() && runtime != "cpu")
        rows.push_back(selfTestRow(used, runtime));
    else if (auto row = cpuSelfTestRow(report))
        rows.push_back(std::move(*row));
    return rows;
}

} // namespace rm
