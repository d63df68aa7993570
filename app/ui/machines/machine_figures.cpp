// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/machines/machine_figures.h"

#include "shared/metrics/median.h"

#include <QCoreApplication>

#include <algorithm>
#include <functional>
#include <string_view>

namespace rm {

namespace {

using OfSample = std::function<std::optional<double>(const MachineSample&)>;
using OfGpu = std::optional<double> GpuFigures::*;

/// The texts of this file.
struct MachineFigureTexts {
    Q_DECLARE_TR_FUNCTIONS(MachineFigures)
};

std::string_view idOf(const MachineFigure& figure) {
    return figure.id;
}

OfGpu memberOf(std::string_view id) {
    if (id == "utilization")
        return &GpuFigures::utilization;
    if (id == "memory")
        return &GpuFigures::memoryBytes;
    if (id == "temperature")
        return &GpuFigures::temperatureC;
    if (id == "power")
        return &GpuFigures::powerW;
    if (id == "clock")
        return &GpuFigures::smClockMhz;
    return nullptr;
}

/// A point a sample; a pause of the link breaks the line.
Curve curveOf(const ShownMachine& machine, const QString& name, const QString& brief,
              MetricFormat format, int64_t nowNs, const OfSample& value) {
    constexpr double kPauseS = 15;
    Curve curve{.name = name, .brief = brief};
    curve.format = format;
    for (const MachinePoint& point : machine.points) {
        const auto y = value(point.sample);
        if (!y)
            continue;
        const double x = static_cast<double>(point.atNs - nowNs) / 1e9;
        if (!curve.x.isEmpty() && x - curve.x.back() > kPauseS)
            curve.breaks << curve.x.size();
        curve.x << x;
        curve.y << *y;
        curve.steps << x;
    }
    return curve;
}

std::optional<double> medianOfOthers(const MachineSample& sample, size_t gpu, OfGpu member) {
    std::vector<double> values;
    for (size_t i = 0; i < sample.gpus.size(); ++i)
        if (i != gpu && sample.gpus[i].*member)
            values.push_back(*(sample.gpus[i].*member));
    return values.empty() ? std::nullopt : std::optional(medianOf(std::move(values)));
}

std::vector<Curve> gpuCurves(const MachineFigure& figure, const ShownMachine& machine, int gpu,
                             int64_t nowNs, OfGpu member) {
    const auto at = static_cast<size_t>(gpu);
    std::vector<Curve> curves{
        curveOf(machine, figure.name, MachineFigureTexts::tr("GPU %1").arg(gpu), figure.format,
                nowNs, [at, member](const MachineSample& sample) -> std::optional<double> {
                    return at < sample.gpus.size() ? sample.gpus[at].*member : std::nullopt;
                })};
    Curve others = curveOf(
        machine, figure.name, MachineFigureTexts::tr("median of the others"), figure.format, nowNs,
        [at, member](const MachineSample& sample) { return medianOfOthers(sample, at, member); });
    others.colour = 1;
    others.dash = Qt::DashLine;
    if (!others.x.isEmpty())
        curves.push_back(std::move(others));
    return curves;
}

/// Two directions as two curves.
std::vector<Curve> bothWays(const MachineFigure& figure, const ShownMachine& machine, int64_t nowNs,
                            const OfSample& in, const QString& inName, const OfSample& out,
                            const QString& outName) {
    std::vector<Curve> curves{curveOf(machine, figure.name, inName, figure.format, nowNs, in),
                              curveOf(machine, figure.name, outName, figure.format, nowNs, out)};
    curves[1].colour = 1;
    curves[1].dash = Qt::DashLine;
    return curves;
}

std::vector<Curve> trafficCurves(const MachineFigure& figure, const ShownMachine& machine,
                                 int64_t nowNs) {
    const auto sum = [](double InterfaceFigures::*member) -> OfSample {
        return [member](const MachineSample& sample) {
            double total = 0;
            for (const InterfaceFigures& each : sample.interfaces)
                total += each.*member;
            return std::optional(total);
        };
    };
    return bothWays(figure, machine, nowNs, sum(&InterfaceFigures::rxBytesPerS),
                    MachineFigureTexts::tr("received"), sum(&InterfaceFigures::txBytesPerS),
                    MachineFigureTexts::tr("sent"));
}

std::vector<Curve> diskCurves(const MachineFigure& figure, const ShownMachine& machine,
                              int64_t nowNs) {
    return bothWays(
        figure, machine, nowNs,
        [](const MachineSample& sample) { return sample.diskReadBytesPerS; },
        MachineFigureTexts::tr("read"),
        [](const MachineSample& sample) { return sample.diskWriteBytesPerS; },
        MachineFigureTexts::tr("written"));
}

std::vector<Curve> pcieCurves(const MachineFigure& figure, const ShownMachine& machine, int gpu,
                              int64_t nowNs) {
    const auto of = [gpu](OfGpu member) -> OfSample {
        return [at = static_cast<size_t>(gpu), member](const MachineSample& sample) {
            return at < sample.gpus.size() ? sample.gpus[at].*member : std::nullopt;
        };
    };
    return bothWays(figure, machine, nowNs, of(&GpuFigures::pcieRxBytesPerS),
                    MachineFigureTexts::tr("received"), of(&GpuFigures::pcieTxBytesPerS),
                    MachineFigureTexts::tr("sent"));
}

/// The share of all cores that is busy, and that of the busiest core.
std::vector<Curve> cpuCurves(const MachineFigure& figure, const ShownMachine& machine,
                             int64_t nowNs) {
    const double cpus = machine.facts ? std::max(machine.facts->cpus, 1) : 1;
    return bothWays(
        figure, machine, nowNs,
        [cpus](const MachineSample& sample) {
            return sample.cpu ? std::optional(*sample.cpu / cpus) : std::nullopt;
        },
        MachineFigureTexts::tr("all cores"),
        [](const MachineSample& sample) { return sample.busiestCpu; },
        MachineFigureTexts::tr("busiest core"));
}

} // namespace

std::vector<MachineFigure> figuresFor(bool ofGpu) {
    using Texts = MachineFigureTexts;
    std::vector<MachineFigure> all;
    if (ofGpu)
        all = {{"utilization", Texts::tr("GPU utilization"), MetricFormat::kPercent, true},
               {"power", Texts::tr("Power (W)"), MetricFormat::kNumber, true},
               {"memory", Texts::tr("GPU memory"), MetricFormat::kBytes, true},
               {"temperature", Texts::tr("Temperature (°C)"), MetricFormat::kNumber, true, false},
               {"clock", Texts::tr("SM clock (MHz)"), MetricFormat::kNumber, true},
               {"pcie", Texts::tr("PCIe per second"), MetricFormat::kBytes, true}};
    const std::vector<MachineFigure> common = {
        {"cpu", Texts::tr("CPU"), MetricFormat::kPercent},
        {"network", Texts::tr("Network per second"), MetricFormat::kBytes},
        {"ram", Texts::tr("Memory"), MetricFormat::kBytes},
        {"disk", Texts::tr("Disk per second"), MetricFormat::kBytes}};
    all.insert(all.end(), common.begin(), common.end());
    return all;
}

std::vector<Curve> curvesOf(const MachineFigure& figure, const ShownMachine& machine, int gpu,
                            int64_t nowNs) {
    const std::string_view id = idOf(figure);
    if (figure.isOfGpu && gpu < 0)
        return {};
    if (const OfGpu member = figure.isOfGpu ? memberOf(id) : nullptr)
        return gpuCurves(figure, machine, gpu, nowNs, member);
    if (id == "pcie")
        return pcieCurves(figure, machine, gpu, nowNs);
    if (id == "network")
        return trafficCurves(figure, machine, nowNs);
    if (id == "disk")
        return diskCurves(figure, machine, nowNs);
    if (id == "cpu")
        return cpuCurves(figure, machine, nowNs);
    return {curveOf(machine, figure.name, MachineFigureTexts::tr("used"), figure.format, nowNs,
                    [](const MachineSample& sample) {
                        return std::optional(static_cast<double>(sample.memoryBytes));
                    })};
}

} // namespace rm
