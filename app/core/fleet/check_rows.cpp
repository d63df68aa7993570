// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/check_rows.h"

#include "app/core/deploy/runtime.h"

#include <QLocale>
#include <QString>

#include <algorithm>
#include <cstdlib>

namespace rm {

namespace {

using Verdict = CheckRow::Verdict;

constexpr int64_t kGiB = 1024 * 1024 * 1024;

std::string inGiB(int64_t bytes) {
    return QLocale::c().toString(static_cast<double>(bytes) / kGiB, 'f', 1).toStdString() + " GiB";
}

std::string inSeconds(int64_t ns) {
    return QLocale::c().toString(static_cast<double>(std::abs(ns)) / 1e9, 'f', 1).toStdString() +
           " s";
}

CheckRow systemRow(const NodeReport& report) {
    return {Verdict::kGood, "Operating system",
            report.os + ", kernel " + report.kernel + ", glibc " + report.glibc};
}

CheckRow machineRow(const NodeReport& report) {
    constexpr int64_t kLittle = 2 * kGiB;
    const std::string cores =
        std::to_string(report.cores) + (report.cores == 1 ? " core" : " cores");
    const bool little = report.memoryBytes < kLittle;
    return {little ? Verdict::kWarning : Verdict::kGood, "CPU and memory",
            report.cpuModel + ", " + cores + ", " + inGiB(report.memoryBytes) +
                (little ? ": little for training" : "")};
}

/// "2 x NVIDIA H200, 139.8 GiB" for each model.
std::string gpuWords(const std::vector<GpuReport>& gpus) {
    std::string words;
    for (size_t at = 0; at < gpus.size();) {
        const auto differs = [&](const GpuReport& gpu) { return gpu.name != gpus[at].name; };
        const auto begin = gpus.begin() + static_cast<std::ptrdiff_t>(at);
        const auto count = std::find_if(begin, gpus.end(), differs) - begin;
        words += (words.empty() ? "" : "; ") + std::to_string(count) + " x " + gpus[at].name +
                 ", " + inGiB(gpus[at].memoryBytes);
        at += static_cast<size_t>(count);
    }
    return words;
}

CheckRow gpuRow(const NodeReport& report) {
    if (report.gpus.empty() && report.driver.empty())
        return {Verdict::kGood, "GPUs and driver", "no NVIDIA GPU: it trains on its CPU"};
    if (report.gpus.empty())
        return {Verdict::kWarning, "GPUs and driver",
                "driver " + report.driver + " but no GPU: it trains on its CPU"};
    const std::string words = gpuWords(report.gpus) + "; driver " + report.driver;
    std::string missing;
    for (const Runtime& runtime : gpuRuntimes()) {
        if (!obstacleTo(runtime, report).empty())
            continue;
        if (isInstalled(runtime))
            return {Verdict::kGood, "GPUs and driver",
                    words + "; runtime " + runtime.name +
                        (missing.empty()
                             ? ""
                             : ", while the newer " + missing +
                                   " would run, too (packaging/run --" + missing + ')')};
        if (missing.empty())
            missing = runtime.name;
    }
    if (missing.empty())
        return {Verdict::kWarning, "GPUs and driver",
                words + ": it trains on its CPU, as " + whyNoRuntime(report)};
    return {Verdict::kWarning, "GPUs and driver",
            words + ": to train on them, set up the runtime " + missing +
                " on this computer with packaging/run --" + missing};
}

bool holds(const std::string& disk, const std::string& path) {
    return disk == "/" || path == disk || path.starts_with(disk + '/');
}

/// The disk that a folder is on: the one with the longest mount point.
const DiskReport* diskOf(const NodeReport& report, const std::string& folder) {
    const DiskReport* best = nullptr;
    for (const DiskReport& disk : report.disks) {
        if (holds(disk.path, folder) && (best == nullptr || disk.path.size() > best->path.size()))
            best = &disk;
    }
    return best;
}

CheckRow diskRow(const NodeReport& report) {
    constexpr int64_t kNeeded = kGiB;
    constexpr int64_t kComfortable = 5 * kGiB;
    const DiskReport* disk = diskOf(report, report.home);
    if (disk == nullptr)
        return {Verdict::kWarning, "Disk", "the disk of " + report.home + " was not found"};
    const std::string words = inGiB(disk->freeBytes) + " free of " + inGiB(disk->totalBytes) +
                              " for " + report.home + " (" + disk->fileSystem + ')';
    if (disk->freeBytes < kNeeded)
        return {Verdict::kBad, "Disk", words + ": too little for the trainer and checkpoints"};
    if (disk->freeBytes < kComfortable)
        return {Verdict::kWarning, "Disk", words + ": little for checkpoints"};
    return {Verdict::kGood, "Disk", words};
}

CheckRow clockRow(int64_t aheadNs, int64_t uncertainNs) {
    constexpr int64_t kTolerated = 2'000'000'000;
    if (std::abs(aheadNs) <= uncertainNs + kTolerated)
        return {Verdict::kGood, "Clock",
                "within " + inSeconds(std::abs(aheadNs) + uncertainNs) + " of this computer's"};
    return {Verdict::kWarning, "Clock",
            inSeconds(aheadNs) + (aheadNs > 0 ? " ahead of" : " behind") +
                " this computer's: times of its events are shifted; set it with NTP"};
}

std::string interfaceWords(const InterfaceReport& interface) {
    std::string words =
        interface.name + ' ' + interface.address + '/' + std::to_string(interface.prefix);
    if (interface.speedMbit > 0)
        words += ", " + std::to_string(interface.speedMbit) + " Mbit/s";
    return words;
}

CheckRow networkRow(const NodeReport& report) {
    std::string words;
    for (const InterfaceReport& interface : report.interfaces) {
        if (interface.up && interface.name != "lo" && !interface.address.starts_with("fe80:"))
            words += (words.empty() ? "" : "; ") + interfaceWords(interface);
    }
    if (words.empty())
        return {Verdict::kWarning, "Network", "only loopback: it can train alone, not with others"};
    return {Verdict::kGood, "Network", words};
}

CheckRow logoutRow(const NodeReport& report) {
    const std::string& user = report.user;
    switch (report.atLogout) {
    case AtLogout::kEndWithSession:
        return {Verdict::kWarning, "Logout",
                "a run ends there when " + user +
                    " logs out, as when the connection is closed: systemd-logind kills what is "
                    "left behind; as root add \"KillExcludeUsers=root " +
                    user +
                    "\" to [Login] in /etc/systemd/logind.conf, then run systemctl restart "
                    "systemd-logind"};
    case AtLogout::kEndWithUserManager:
        return {Verdict::kWarning, "Logout",
                "a run ends there with the last login of " + user +
                    ", as it belongs to the user's own systemd; run loginctl enable-linger " +
                    user};
    case AtLogout::kUnknown:
        return {Verdict::kGood, "Logout", "what happens to a run at a logout was not found out"};
    case AtLogout::kGoOn:
        break;
    }
    return {Verdict::kGood, "Logout", "a run goes on when " + user + " logs out"};
}

} // namespace

std::vector<CheckRow> rowsOf(const NodeReport& report, int64_t aheadNs, int64_t uncertainNs) {
    return {systemRow(report), machineRow(report), gpuRow(report),
            diskRow(report),   logoutRow(report),  clockRow(aheadNs, uncertainNs),
            networkRow(report)};
}

namespace {

/// "2 of 3 nodes idle, 64 processors and 4 GPUs (a100) on each, time limit 1-00:00:00".
std::string partitionWords(const SlurmPartition& partition) {
    const auto counted = [](int count, const char* what) {
        return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
    };
    std::string words = std::to_string(partition.idleNodes) + " of " +
                        counted(partition.nodes, "node") + " idle, " +
                        counted(partition.cpusPerNode, "processor");
    if (partition.gpusPerNode > 0)
        words += " and " + counted(partition.gpusPerNode, "GPU") +
                 (partition.gpu.empty() ? "" : " (" + partition.gpu + ")");
    return words + " on each, time limit " + partition.timeLimit;
}

} // namespace

std::vector<CheckRow> rowsOfSlurm(const SlurmReport& report, const std::string& wanted) {
    const SlurmPartition* chosen = partitionCalled(report, wanted);
    std::vector<CheckRow> rows;
    if (chosen && chosen->isUp)
        rows.push_back(
            {Verdict::kGood, "Slurm", report.version + ", jobs go to partition " + chosen->name});
    else if (chosen)
        rows.push_back({Verdict::kBad, "Slurm",
                        report.version + "; its partition " + chosen->name +
                            " takes no jobs at the moment; choose another one, or ask who runs "
                            "the cluster"});
    else
        rows.push_back({Verdict::kBad, "Slurm",
                        report.version + (wanted.empty() ? "; it has no default partition; name one"
                                                         : "; it has no partition " + wanted +
                                                               "; choose one of those below")});
    for (const SlurmPartition& partition : report.partitions)
        rows.push_back({Verdict::kGood, "Partition " + partition.name, partitionWords(partition)});
    return rows;
}

} // namespace rm
