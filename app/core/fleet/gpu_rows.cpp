// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/check_rows.h"

#include <algorithm>
#include <array>

namespace rm {

namespace {

/// What several GPUs have, told one after another.
struct Finding {
    CheckRow row;

    void tell(const std::string& evidence) { add(row.evidence, evidence); }
    void warn(const std::string& cause, const std::string& fix) {
        row.state = CheckRow::State::kWarning;
        add(row.cause, cause);
        add(row.fix, fix);
    }
    /// What is true of several GPUs is said once.
    static void add(std::string& text, const std::string& more) {
        if (text.find(more) == std::string::npos)
            text += (text.empty() ? "" : "; ") + more;
    }
};

std::string gpuName(size_t index) {
    return "GPU " + std::to_string(index);
}

std::string inMiB(int64_t bytes) {
    return std::to_string(bytes / (1024 * 1024)) + " MiB";
}

std::string processWords(const GpuProcess& process) {
    const std::string name = process.name.empty() ? "a process" : process.name;
    const std::string user = process.user.empty() ? "of another container" : "of " + process.user;
    return (process.bytes > 0 ? inMiB(process.bytes) + " by " : "some by ") + name + ' ' + user +
           " (pid " + std::to_string(process.pid) + ')';
}

/// Ranks are told of by the row of runs; a desktop's share is small.
bool isInTheWay(const GpuProcess& process) {
    constexpr int64_t kMuch = 512 * 1024 * 1024;
    return !process.name.starts_with("ringmaster-trai") && // as the kernel cuts names
           (process.bytes == 0 || process.bytes >= kMuch);
}

CheckRow memoryRow(const NodeReport& report) {
    Finding found{goodRow("gpu-memory", "GPU memory in use", {})};
    for (size_t i = 0; i < report.gpus.size(); ++i)
        for (const GpuProcess& process : report.gpus[i].processes) {
            found.tell(gpuName(i) + ": " + processWords(process));
            if (isInTheWay(process))
                found.warn("a run there has less memory and shares the GPU's time",
                           (process.user.empty() ? "see on the machine itself what it is"
                                                 : "ask " + process.user + " when it ends") +
                               ", or leave that GPU out: launch.environment = "
                               "[\"CUDA_VISIBLE_DEVICES=...\"]");
        }
    if (found.row.evidence.empty())
        found.row.evidence = "by no process";
    return found.row;
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

std::string gpuAt(const NodeReport& report, const std::string& pciId) {
    const auto found = std::ranges::find(report.gpus, pciId, &GpuReport::pciId);
    return found == report.gpus.end() ? "a GPU at " + pciId + " that the driver does not list"
                                      : gpuName(static_cast<size_t>(found - report.gpus.begin()));
}

void tellXid(const NodeReport& report, const XidReport& xid, Finding& found) {
    const auto known = std::ranges::find(kXids, xid.code, &XidWords::code);
    const bool isKnown = known != kXids.end();
    found.tell(gpuAt(report, xid.pciId) + ": Xid " + std::to_string(xid.code) + ", " +
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

CheckRow errorsRow(const NodeReport& report) {
    Finding found{goodRow("gpu-errors", "GPU errors", {})};
    bool isTold = false;
    for (size_t i = 0; i < report.gpus.size(); ++i) {
        isTold = isTold || report.gpus[i].eccUncorrected >= 0;
        tellErrors(i, report.gpus[i], found);
    }
    for (const XidReport& xid : report.xids)
        tellXid(report, xid, found);
    if (found.row.evidence.empty())
        found.row.evidence =
            isTold ? "none by ECC and the driver's log" : "none by the driver's log";
    return found.row;
}

CheckRow clocksRow(const NodeReport& report) {
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
    for (size_t i = 0; i < report.gpus.size(); ++i)
        for (const std::string& word : report.gpus[i].throttled) {
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
CheckRow linkRow(const NodeReport& report) {
    Finding found{goodRow("gpu-link", "GPU links", {})};
    bool areAlike = true;
    for (size_t i = 0; i < report.gpus.size(); ++i) {
        const GpuReport& gpu = report.gpus[i];
        areAlike = areAlike && linkWords(gpu) == linkWords(report.gpus.front());
        if (gpu.pcieWidth > 0)
            found.tell(gpuName(i) + ": " + linkWords(gpu));
        if (gpu.pcieWidth > 0 && gpu.pcieWidth < gpu.pcieWidthMost)
            found.warn("data and sums reach it more slowly than they could",
                       "push the card home, or move it to a slot with all lanes; some boards share "
                       "lanes between slots, which is no fault");
    }
    if (found.row.evidence.empty())
        found.row.evidence = "not told by the driver";
    else if (areAlike && report.gpus.size() > 1)
        found.row.evidence = "all: " + linkWords(report.gpus.front());
    return found.row;
}

/// What is known of a GPU with this driver, complete or not; null: nothing.
const SelfTest* selfTestOf(const NodeReport& report, const GpuReport& gpu) {
    const SelfTest* newest = nullptr;
    for (const SelfTest& test : report.selfTests)
        if (test.uuid == gpu.uuid && test.driver == report.driver &&
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

/// What its GPUs showed when they were tested; nullopt: there is none.
std::optional<CheckRow> selfTestRow(const NodeReport& report) {
    if (report.gpus.empty())
        return std::nullopt;
    size_t untested = 0;
    size_t held = 0;
    std::string failed;
    auto state = CheckRow::State::kGood;
    for (size_t i = 0; i < report.gpus.size(); ++i) {
        const SelfTest* test = selfTestOf(report, report.gpus[i]);
        if (test == nullptr || !test->complete) {
            ++untested;
            continue;
        }
        const std::string words = failedWords(*test);
        held += words.empty() ? 1 : 0;
        if (words.empty())
            continue;
        const bool isWhole = failsAsDevice(*test);
        state = isWhole || state == CheckRow::State::kBad ? CheckRow::State::kBad
                                                          : CheckRow::State::kWarning;
        failed += (failed.empty() ? "GPU " : "; GPU ") + std::to_string(i) + " failed in " + words +
                  (isWhole ? " (nothing is trained on it)"
                           : " (training does without that, by the plain way)");
    }
    const std::string all = std::to_string(held) + " of " + std::to_string(report.gpus.size()) +
                            " hold all proofs with driver " + report.driver;
    std::string words = failed.empty() ? all : failed + "; " + all;
    if (untested > 0)
        words += "; " + std::to_string(untested) +
                 " not tested with it yet: the first training does it, in about 10 s, or "
                 "ringmaster nodes self-test";
    return CheckRow{"gpu-self-test", state, "GPU self-test", words, {}, {}};
}

} // namespace

std::vector<CheckRow> gpuHealthRows(const NodeReport& report) {
    if (report.gpus.empty())
        return report.xids.empty() ? std::vector<CheckRow>()
                                   : std::vector<CheckRow>{errorsRow(report)};
    std::vector<CheckRow> rows = {memoryRow(report), errorsRow(report), clocksRow(report),
                                  linkRow(report)};
    if (auto tested = selfTestRow(report))
        rows.push_back(std::move(*tested));
    return rows;
}

} // namespace rm
