// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/support/demo_nodes.h"

#include "app/core/fleet/check_rows.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"

#include <map>

namespace rm::test {

namespace {

constexpr int64_t kGiB = 1LL << 30;
constexpr int kKinds = 8; ///< of nodes, taken in turn
const std::string kOldRun = "gpt-tiny-20251101-101500";

std::string addressOf(int number) {
    return "10.0.0." + std::to_string(number);
}

NodeReport plainReport(int number) {
    NodeReport report;
    report.os = "Ubuntu 24.04.1 LTS";
    report.kernel = "6.8.0-49-generic";
    report.glibc = "2.39";
    report.libstdcxx = "3.4.33";
    report.cpuModel = "AMD EPYC 9354 32-Core Processor";
    report.cores = 64;
    report.memoryBytes = 512 * kGiB;
    report.interfaces = {{"lo", "127.0.0.1", 8, true, -1},
                         {"ens5", addressOf(number), 24, true, 100'000},
                         {"docker0", "172.17.0.1", 16, true, 10'000}};
    report.disks = {{"/", "ext4", 1800 * kGiB, 900 * kGiB}};
    report.home = "/home/trainer/.local/share/ringmaster";
    report.user = "trainer";
    report.atLogout = AtLogout::kGoOn;
    report.release = "0.1.0";
    report.isKernelLogRead = true;
    report.memlockBytes = 8 << 20;
    report.openFiles = 1024;
    report.openFilesMost = 1 << 20;
    report.shmBytes = report.shmFreeBytes = 256 * kGiB;
    return report;
}

GpuReport gpu(const std::string& name, int64_t memory, int capability, int slot) {
    const std::string id = "0000:" + std::to_string(18 + slot) + ":00";
    GpuReport report{name, memory, "GPU-" + id, memory - kGiB / 2, capability, id};
    report.eccCorrected = report.eccUncorrected = report.retired = 0;
    report.pcieWidth = report.pcieWidthMost = 16;
    report.pcieGeneration = report.pcieGenerationMost = 5;
    return report;
}

void addGpus(NodeReport& report, int count, const std::string& driver, const std::string& name,
             int64_t memory, int capability) {
    report.driver = driver;
    for (int slot = 0; slot < count; ++slot)
        report.gpus.push_back(gpu(name, memory, capability, slot));
}

NodeReport reportOf(int number) {
    NodeReport report = plainReport(number);
    switch (number % kKinds) {
    case 2:
        addGpus(report, 1, "535.183.01", "Quadro P4000", 8 * kGiB, 61);
        break;
    case 4:
        report.disks.front().freeBytes = kGiB / 3;
        addGpus(report, 4, "550.127.05", "Tesla V100-SXM2-32GB", 32 * kGiB, 70);
        report.gpus[1].throttled = {"thermal"};
        report.gpus[1].processes = {{4242, "you", "python3", 20 * kGiB}};
        break;
    case 5:
        addGpus(report, 8, "580.65.06", "NVIDIA H200", 140 * kGiB, 90);
        report.gpus[3].eccUncorrected = 2;
        report.gpus[3].isRepairPending = true;
        report.xids = {{report.gpus[3].pciId, 94, "Contained ECC error."}};
        break;
    case 6:
        report.runs = {{kOldRun, "gpt-tiny", 1, 2, false}};
        break;
    default:
        addGpus(report, 8, "580.65.06", "NVIDIA H200", 140 * kGiB, 90);
    }
    return report;
}

NodeCheck unreachable(int number) {
    ConnectFailure failure;
    failure.cause = ConnectFailure::Cause::kNoAnswer;
    failure.error = {ErrorCode::kUnavailable, "connect to ssh trainer@" + addressOf(number) +
                                                  ":22: nobody answered within 10 s"};
    NodeCheck check{
        demoNodeName(number), false, {refusedRow(failure, demoNodeName(number))}, {}, failure};
    return check;
}

NodeCheck checkOf(int number) {
    constexpr int64_t kRoundTripUs = 800;
    if (number % kKinds == 0)
        return unreachable(number);
    NodeCheck check{demoNodeName(number), true, {}, reportOf(number), {}, kRoundTripUs};
    check.rows = rowsOf(*check.report, {number % kKinds == 3 ? 95'000'000'000 : 0,
                                        1'000'000,
                                        {{kOldRun, KnownRun::kEnded}},
                                        NeededVersions{"2.34", "3.4.30"},
                                        {},
                                        [](const Runtime&) { return true; }});
    check.rows.insert(check.rows.begin(),
                      connectionRow("ssh trainer@" + addressOf(number), false, kRoundTripUs));
    for (const CheckRow& row : check.rows)
        check.ready = check.ready && row.state != CheckRow::State::kBad;
    return check;
}

} // namespace

std::string demoNodeName(int number) {
    const std::string digits = std::to_string(number);
    return "gpu-" + std::string(digits.size() < 2 ? "0" : "") + digits;
}

Result<void> addDemoNodes(Fleet& fleet, int count) {
    std::map<QString, int> numbers;
    for (int number = 1; number <= count; ++number) {
        numbers[QString::fromStdString(demoNodeName(number))] = number;
        RM_RETURN_IF_ERROR(
            fleet.add({demoNodeName(number), false, addressOf(number), "trainer", 0, {}}));
    }
    fleet.setChecker([numbers](const QString& name, const Credentials&) {
        NodeCheck check = checkOf(numbers.at(name));
        check.checkedNs = wallNowNs();
        return QtFuture::makeReadyFuture(std::move(check));
    });
    return {};
}

void checkAll(Fleet& fleet) {
    for (const Node& node : fleet.nodes())
        if (!node.isLocal)
            fleet.check(QString::fromStdString(node.name));
}

} // namespace rm::test
