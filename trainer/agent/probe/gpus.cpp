// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/probe/gpus.h"

#include "trainer/agent/probe/nvml_api.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>

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

private:
    void enumerate();
    GpuReport describe(nvml::Device device) const;
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
    return info;
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
