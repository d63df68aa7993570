// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/probe/gpus.h"

#include "trainer/agent/probe/nvml_api.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace rm {

namespace {

struct Library {
    void* handle = nullptr;

    explicit Library(const char* name)
        : handle(::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {}
    ~Library() {
        if (handle)
            ::dlclose(handle);
    }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    template <class Function>
    Function find(const char* name) const {
        return handle ? reinterpret_cast<Function>(::dlsym(handle, name)) : nullptr;
    }
};

class NvmlGpus : public Gpus {
public:
    explicit NvmlGpus(const char* library)
        : m_library(library)
        , m_memory(m_library.find<nvml::DeviceMemory>("nvmlDeviceGetMemoryInfo"))
        , m_utilization(m_library.find<nvml::DeviceUtilization>("nvmlDeviceGetUtilizationRates"))
        , m_power(m_library.find<nvml::DevicePower>("nvmlDeviceGetPowerUsage"))
        , m_temperature(m_library.find<nvml::DeviceTemperature>("nvmlDeviceGetTemperature")) {
        const auto init = m_library.find<nvml::Init>("nvmlInit_v2");
        m_isUp = init && init() == 0;
        if (m_isUp)
            enumerate();
    }

    ~NvmlGpus() override {
        const auto shutdown = m_library.find<nvml::Shutdown>("nvmlShutdown");
        if (m_isUp && shutdown)
            shutdown();
    }

    std::string driver() const override { return m_driver; }
    const std::vector<GpuReport>& list() const override { return m_list; }
    GpuReading read(size_t index) const override;
    GpuDetails details(size_t index) const override;
    GpuLimits limits(size_t index) const override;
    std::vector<GpuProcess> processes(size_t index) const override {
        return processesOn(m_devices.at(index));
    }
    PcieRates pcie(size_t index) const override;

private:
    void enumerate();
    GpuReport describe(nvml::Device device) const;
    void describeLink(nvml::Device device, GpuReport& info) const;
    void describeHealth(nvml::Device device, GpuReport& info) const;
    void describeRepairs(nvml::Device device, GpuReport& info) const;
    std::vector<GpuProcess> processesOn(nvml::Device device) const;
    std::vector<std::string> throttledBy(nvml::Device device) const;
    int number(const char* function, nvml::Device device) const;
    std::optional<double> number(const char* function, nvml::Device device, int of,
                                 double unit = 1) const;
    std::string text(const char* function, nvml::Device device) const;

    Library m_library;
    nvml::DeviceMemory m_memory;
    nvml::DeviceUtilization m_utilization;
    nvml::DevicePower m_power;
    nvml::DeviceTemperature m_temperature;
    bool m_isUp = false;
    std::string m_driver;
    std::vector<nvml::Device> m_devices;
    std::vector<GpuReport> m_list;
};

void NvmlGpus::enumerate() {
    const auto version = m_library.find<nvml::DriverVersion>("nvmlSystemGetDriverVersion");
    const auto count = m_library.find<nvml::DeviceCount>("nvmlDeviceGetCount_v2");
    const auto byIndex = m_library.find<nvml::DeviceByIndex>("nvmlDeviceGetHandleByIndex_v2");
    char text[nvml::kTextSize] = {};
    if (version && version(text, sizeof text) == 0)
        m_driver = text;
    unsigned int devices = 0;
    if (!count || !byIndex || count(&devices) != 0)
        return;
    for (unsigned int i = 0; i < devices; ++i) {
        nvml::Device device = nullptr;
        if (byIndex(i, &device) != 0)
            continue;
        m_devices.push_back(device);
        m_list.push_back(describe(device));
    }
}

GpuReport NvmlGpus::describe(nvml::Device device) const {
    GpuReport info{text("nvmlDeviceGetName", device), 0, text("nvmlDeviceGetUUID", device)};
    nvml::Memory memory = {};
    if (m_memory && m_memory(device, &memory) == 0) {
        info.memoryBytes = static_cast<int64_t>(memory.total);
        info.freeBytes = static_cast<int64_t>(memory.free);
    }
    const auto capability =
        m_library.find<nvml::DeviceComputeCapability>("nvmlDeviceGetCudaComputeCapability");
    int major = 0;
    int minor = 0;
    if (capability && capability(device, &major, &minor) == 0)
        info.computeCapability = 10 * major + minor;
    info.processes = processesOn(device);
    describeLink(device, info);
    describeHealth(device, info);
    describeRepairs(device, info);
    return info;
}

void NvmlGpus::describeLink(nvml::Device device, GpuReport& info) const {
    const auto pci = m_library.find<nvml::DevicePci>("nvmlDeviceGetPciInfo_v3");
    nvml::PciInfo place = {};
    if (pci && pci(device, &place) == 0) {
        char text[40];
        std::snprintf(text, sizeof text, "%04x:%02x:%02x", place.domain, place.bus, place.device);
        info.pciId = text;
    }
    info.pcieWidth = number("nvmlDeviceGetCurrPcieLinkWidth", device);
    info.pcieWidthMost = number("nvmlDeviceGetMaxPcieLinkWidth", device);
    info.pcieGeneration = number("nvmlDeviceGetCurrPcieLinkGeneration", device);
    info.pcieGenerationMost = number("nvmlDeviceGetMaxPcieLinkGeneration", device);
}

void NvmlGpus::describeHealth(nvml::Device device, GpuReport& info) const {
    const auto ecc = m_library.find<nvml::DeviceEccErrors>("nvmlDeviceGetTotalEccErrors");
    unsigned long long count = 0;
    if (ecc && ecc(device, nvml::kCorrected, nvml::kVolatile, &count) == 0)
        info.eccCorrected = static_cast<int64_t>(count);
    if (ecc && ecc(device, nvml::kUncorrected, nvml::kVolatile, &count) == 0)
        info.eccUncorrected = static_cast<int64_t>(count);
    info.throttled = throttledBy(device);
}

std::vector<std::string> NvmlGpus::throttledBy(nvml::Device device) const {
    const auto throttle =
        m_library.find<nvml::DeviceThrottle>("nvmlDeviceGetCurrentClocksThrottleReasons");
    unsigned long long reasons = 0;
    std::vector<std::string> words;
    if (throttle && throttle(device, &reasons) == 0)
        for (const nvml::ThrottleReason& each : nvml::kThrottleReasons)
            if ((reasons & each.bit) != 0)
                words.emplace_back(each.word);
    return words;
}

/// Since Ampere rows of memory are remapped; before, pages were retired.
void NvmlGpus::describeRepairs(nvml::Device device, GpuReport& info) const {
    const auto rows = m_library.find<nvml::DeviceRemappedRows>("nvmlDeviceGetRemappedRows");
    unsigned int corrected = 0;
    unsigned int uncorrected = 0;
    unsigned int pending = 0;
    unsigned int failed = 0;
    if (rows && rows(device, &corrected, &uncorrected, &pending, &failed) == 0) {
        info.retired = int64_t{corrected} + uncorrected;
        info.isRepairPending = pending != 0;
        info.hasRepairFailed = failed != 0;
        return;
    }
    const auto pages = m_library.find<nvml::DeviceRetiredPages>("nvmlDeviceGetRetiredPages");
    for (const int cause : {nvml::kRetiredForSingleBits, nvml::kRetiredForDoubleBit}) {
        unsigned int count = 0; // asks for it
        const nvml::Return result = pages ? pages(device, cause, &count, nullptr) : -1;
        if (result == 0 || result == nvml::kInsufficientSize)
            info.retired = std::max<int64_t>(info.retired, 0) + count;
    }
    const auto waits = m_library.find<nvml::DeviceNumber>("nvmlDeviceGetRetiredPagesPendingStatus");
    info.isRepairPending = waits && waits(device, &pending) == 0 && pending != 0;
}

std::vector<GpuProcess> NvmlGpus::processesOn(nvml::Device device) const {
    constexpr unsigned int kMost = 512;
    std::vector<GpuProcess> found;
    for (const char* kind :
         {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v3"}) {
        const auto get = m_library.find<nvml::DeviceProcesses>(kind);
        std::vector<nvml::ProcessInfo> list(kMost);
        unsigned int count = kMost;
        if (!get || get(device, &count, list.data()) != 0)
            continue;
        for (unsigned int i = 0; i < std::min(count, kMost); ++i)
            if (std::ranges::find(found, int64_t{list[i].pid}, &GpuProcess::pid) == found.end())
                found.push_back({list[i].pid,
                                 {},
                                 {},
                                 list[i].usedGpuMemory == nvml::kNotAvailable
                                     ? 0
                                     : static_cast<int64_t>(list[i].usedGpuMemory)});
    }
    return found;
}

int NvmlGpus::number(const char* function, nvml::Device device) const {
    const auto get = m_library.find<nvml::DeviceNumber>(function);
    unsigned int value = 0;
    return get && get(device, &value) == 0 ? static_cast<int>(value) : 0;
}

/// What the driver says of `of`, times `unit`.
std::optional<double> NvmlGpus::number(const char* function, nvml::Device device, int of,
                                       double unit) const {
    const auto get = m_library.find<nvml::DeviceNumberOf>(function);
    unsigned int value = 0;
    if (!get || get(device, of, &value) != 0)
        return std::nullopt;
    return value * unit;
}

std::string NvmlGpus::text(const char* function, nvml::Device device) const {
    const auto get = m_library.find<nvml::DeviceText>(function);
    char buffer[nvml::kTextSize] = {};
    return get && get(device, buffer, sizeof buffer) == 0 ? buffer : "";
}

GpuReading NvmlGpus::read(size_t index) const {
    const nvml::Device device = m_devices.at(index);
    GpuReading reading;
    nvml::Utilization utilization = {};
    if (m_utilization && m_utilization(device, &utilization) == 0)
        reading.utilization = static_cast<float>(utilization.gpu) / 100.0f;
    nvml::Memory memory = {};
    const nvml::Return result = m_memory ? m_memory(device, &memory) : -1;
    reading.isLost = result == nvml::kGpuIsLost;
    if (result == 0)
        reading.memoryBytes = static_cast<float>(memory.used);
    unsigned int value = 0;
    if (m_power && m_power(device, &value) == 0)
        reading.powerW = static_cast<float>(value) / 1000.0f;
    if (m_temperature && m_temperature(device, nvml::kTemperatureGpu, &value) == 0)
        reading.temperatureC = static_cast<float>(value);
    return reading;
}

GpuDetails NvmlGpus::details(size_t index) const {
    const nvml::Device device = m_devices.at(index);
    return {number("nvmlDeviceGetClockInfo", device, nvml::kClockSm),
            number("nvmlDeviceGetClockInfo", device, nvml::kClockMemory), throttledBy(device)};
}

GpuLimits NvmlGpus::limits(size_t index) const {
    const nvml::Device device = m_devices.at(index);
    GpuLimits limits;
    if (const int milliwatts = number("nvmlDeviceGetEnforcedPowerLimit", device))
        limits.powerW = milliwatts / 1000.0;
    limits.slowdownC =
        number("nvmlDeviceGetTemperatureThreshold", device, nvml::kThresholdSlowdown);
    return limits;
}

PcieRates NvmlGpus::pcie(size_t index) const {
    constexpr double kKilobyte = 1000; // NVML says KB and no more; 2 % are lost if it means 1024
    const nvml::Device device = m_devices.at(index);
    return {number("nvmlDeviceGetPcieThroughput", device, nvml::kPcieRx, kKilobyte),
            number("nvmlDeviceGetPcieThroughput", device, nvml::kPcieTx, kKilobyte)};
}

} // namespace

std::unique_ptr<Gpus> openNvmlGpus(const char* library) {
    return std::make_unique<NvmlGpus>(library);
}

std::optional<size_t> deviceOfRank(const Gpus& gpus, const std::string& visibleDevices,
                                   int localRank) {
    std::vector<std::string> names;
    for (size_t begin = 0; begin < visibleDevices.size();) {
        const size_t comma = std::min(visibleDevices.find(',', begin), visibleDevices.size());
        names.push_back(visibleDevices.substr(begin, comma - begin));
        begin = comma + 1;
    }
    size_t index = static_cast<size_t>(localRank);
    if (!names.empty()) {
        if (index >= names.size())
            return std::nullopt;
        const std::string& name = names[index];
        const auto isNamed = [&name](const GpuReport& gpu) { return gpu.uuid.starts_with(name); };
        const auto parsed = std::from_chars(name.data(), name.data() + name.size(), index);
        if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size())
            index =
                static_cast<size_t>(std::find_if(gpus.list().begin(), gpus.list().end(), isNamed) -
                                    gpus.list().begin());
    }
    return index < gpus.list().size() ? std::optional(index) : std::nullopt;
}

} // namespace rm
