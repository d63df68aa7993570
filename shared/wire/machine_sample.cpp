// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/machine_sample.h"

#include "shared/io/json_fields.h"

#include <string_view>
#include <utility>

namespace rm {

namespace {

constexpr const char* kSource = "what a machine says of itself";

bool isShort(std::string_view text) {
    return text.size() <= kMaxMachineText;
}

// Each key may be missing, but no figure is null.
constexpr FieldRule kText = fitting(isShort).optional();
constexpr FieldRule kWords{
    .mayBeMissing = true, .longest = kMaxMachineGpus, .fits = isShort}; ///< of a GPU
constexpr FieldRule kCount = atLeast(0).optional();
constexpr FieldRule kNumber = within(-1, 1 << 16).optional(); ///< of CPUs, a GPU, or a rank
constexpr FieldRule kFigure = atLeast(0);
constexpr FieldRule kGpus = upTo(kMaxMachineGpus).optional();

} // namespace

template <Either<MachineGpu> T, class Visit>
void fields(T& gpu, Visit&& visit) {
    visit("name", gpu.name, kText);
    visit("uuid", gpu.uuid, kText);
    visit("memory_bytes", gpu.memoryBytes, kCount);
    visit("power_limit_w", gpu.powerLimitW, kFigure);
    visit("slowdown_c", gpu.slowdownC, kFigure);
}

template <Either<MachineFacts> T, class Visit>
void fields(T& facts, Visit&& visit) {
    visit("machine", facts.machine, kText);
    visit("release", facts.release, kText);
    visit("cpu_model", facts.cpuModel, kText);
    visit("cpus", facts.cpus, kNumber);
    visit("memory_bytes", facts.memoryBytes, kCount);
    visit("driver", facts.driver, kText);
    visit("gpus", facts.gpus, kGpus);
}

template <Either<GpuFigures> T, class Visit>
void fields(T& gpu, Visit&& visit) {
    visit("utilization", gpu.utilization, kFigure);
    visit("memory_bytes", gpu.memoryBytes, kFigure);
    visit("temperature_c", gpu.temperatureC, kFigure);
    visit("power_w", gpu.powerW, kFigure);
    visit("sm_clock_mhz", gpu.smClockMhz, kFigure);
    visit("memory_clock_mhz", gpu.memoryClockMhz, kFigure);
    visit("pcie_rx_bytes_per_s", gpu.pcieRxBytesPerS, kFigure);
    visit("pcie_tx_bytes_per_s", gpu.pcieTxBytesPerS, kFigure);
    visit("throttled", gpu.throttled, kWords);
    visit("lost", gpu.isLost, kOptional);
}

template <Either<InterfaceFigures> T, class Visit>
void fields(T& interface, Visit&& visit) {
    visit("name", interface.name, kText);
    visit("rx_bytes_per_s", interface.rxBytesPerS, kFigure.optional());
    visit("tx_bytes_per_s", interface.txBytesPerS, kFigure.optional());
}

template <Either<ProcessGpu> T, class Visit>
void fields(T& part, Visit&& visit) {
    visit("gpu", part.gpu, kNumber);
    visit("bytes", part.bytes, kCount);
}

template <Either<ProcessFigures> T, class Visit>
void fields(T& process, Visit&& visit) {
    visit("pid", process.pid, kCount);
    visit("user", process.user, kText);
    visit("name", process.name, kText);
    visit("command", process.command, kText);
    visit("cpu", process.cpu, kFigure);
    visit("memory_bytes", process.memoryBytes, kCount);
    visit("gpus", process.gpus, kGpus);
    visit("run_id", process.runId, kText);
    visit("run_name", process.runName, kText);
    visit("rank", process.rank, kNumber);
}

template <Either<MachineSample> T, class Visit>
void fields(T& sample, Visit&& visit) {
    visit("wall_ns", sample.wallNs, kCount);
    visit("cpu", sample.cpu, kFigure);
    visit("busiest_cpu", sample.busiestCpu, kFigure);
    visit("memory_bytes", sample.memoryBytes, kCount);
    visit("disk_read_bytes_per_s", sample.diskReadBytesPerS, kFigure);
    visit("disk_write_bytes_per_s", sample.diskWriteBytesPerS, kFigure);
    visit("interfaces", sample.interfaces, upTo(kMaxMachineInterfaces).optional());
    visit("gpus", sample.gpus, kGpus);
    visit("processes", sample.processes, upTo(kMaxMachineProcesses));
}

std::string toJson(const MachineFacts& facts) {
    return dumpJson({{"facts", writeFields(facts)}});
}

std::string toJson(const MachineSample& sample) {
    return dumpJson({{"sample", writeFields(sample)}});
}

Result<MachineLine> parseMachineLine(const std::string& line) {
    const auto asLine = [](auto value) { return MachineLine(std::move(value)); };
    const std::string attempt = std::string("read ") + kSource;
    if (line.size() > kMaxMachineLine)
        return fail(ErrorCode::kCorrupt, attempt + ": a line of it is too long");
    RM_ASSIGN_OR_RETURN(const Json json, parseJson(line, kSource));
    if (json.is_object() && json.contains("facts"))
        return fromJson<MachineFacts>(json["facts"], kSource).map(asLine);
    if (json.is_object() && json.contains("sample"))
        return fromJson<MachineSample>(json["sample"], kSource).map(asLine);
    return fail(ErrorCode::kCorrupt, attempt + ": a line is neither facts nor a sample");
}

} // namespace rm
