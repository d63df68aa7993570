// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/slurm_report.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace rm {

namespace {

using Words = std::vector<std::string_view>;

constexpr int64_t kMostOfSlurm = 1 << 24; ///< nodes, processors, megabytes of any cluster

Words split(std::string_view text, char separator) {
    Words words;
    for (;;) {
        const size_t at = text.find(separator);
        words.push_back(text.substr(0, at));
        if (at == text.npos)
            return words;
        text.remove_prefix(at + 1);
    }
}

/// The number at the begin of a word, as Slurm writes "4+" for "4 and more"; 0: there is none.
int64_t numberAt(std::string_view word) {
    int64_t number = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), number);
    return parsed.ec == std::errc() && number > 0 ? std::min(number, kMostOfSlurm) : 0;
}

/// Adds what "gpu:a100:4(S:0-1),nvme:1" says of GPUs.
void addGpus(std::string_view resources, SlurmPartition& partition) {
    for (std::string_view resource : split(resources, ',')) {
        resource = resource.substr(0, resource.find('('));
        const Words words = split(resource, ':');
        if (words.front() != "gpu" || words.size() < 2 || words.size() > 3)
            continue;
        const int gpus = static_cast<int>(numberAt(words.back()));
        const std::string_view kind = words.size() == 3 ? words[1] : std::string_view();
        if (gpus > 0 && partition.gpusPerNode == 0)
            partition.gpu = kind;
        else if (gpus > 0 && partition.gpu != kind)
            partition.gpu.clear(); // a job may get either
        partition.gpusPerNode = std::max(partition.gpusPerNode, gpus);
    }
}

bool isPlain(std::string_view text) {
    return std::ranges::all_of(text, [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
}

void addLine(const Words& words, std::vector<SlurmPartition>& partitions) {
    std::string_view name = words[0];
    const bool isDefault = name.ends_with('*');
    name.remove_suffix(isDefault ? 1 : 0);
    if (name.empty())
        return;
    auto found = std::ranges::find(partitions, name, &SlurmPartition::name);
    if (found == partitions.end()) {
        SlurmPartition added;
        added.name = name;
        found = partitions.insert(partitions.end(), std::move(added));
    }
    const int nodes = static_cast<int>(numberAt(words[3]));
    found->isDefault = isDefault;
    found->isUp = words[1] == "up";
    found->timeLimit = words[2];
    found->nodes = static_cast<int>(std::min<int64_t>(kMostOfSlurm, int64_t{found->nodes} + nodes));
    if (words[4].starts_with("idle") && !words[4].ends_with('*')) // that one does not answer
        found->idleNodes =
            static_cast<int>(std::min<int64_t>(kMostOfSlurm, int64_t{found->idleNodes} + nodes));
    found->cpusPerNode = std::max(found->cpusPerNode, static_cast<int>(numberAt(words[5])));
    found->memoryMb = std::max(found->memoryMb, numberAt(words[6]));
    addGpus(words[7], *found);
}

} // namespace

Result<SlurmReport> parseSlurmReport(const std::string& text) {
    const Words lines = split(text, '\n');
    SlurmReport report;
    constexpr std::string_view kName = "slurm";
    const size_t space = lines.front().find(' ');
    if (!lines.front().starts_with(kName) || space == std::string_view::npos ||
        !isPlain(lines.front()))
        return fail(ErrorCode::kCorrupt, "read the answer of sinfo: it names no version of Slurm");
    report.version = lines.front().substr(space + 1);
    for (size_t i = 1; i < lines.size(); ++i)
        if (const Words words = split(lines[i], '|'); words.size() == 8 && isPlain(lines[i]))
            addLine(words, report.partitions);
    return report;
}

const SlurmPartition* partitionCalled(const SlurmReport& report, const std::string& name) {
    const auto found = std::ranges::find_if(report.partitions, [&](const SlurmPartition& each) {
        return name.empty() ? each.isDefault : each.name == name;
    });
    return found == report.partitions.end() ? nullptr : &*found;
}

Result<SlurmJob> parseSlurmJob(const std::string& line) {
    const Words words = split(std::string_view(line).substr(0, line.find('\n')), '|');
    if (words.size() != 6 || !isPlain(line.substr(0, line.find('\n'))) || words[0].empty() ||
        words[1].empty())
        return fail(ErrorCode::kCorrupt, "read the answer of squeue: it describes no job");
    const auto text = [&words](size_t i) { return std::string(words[i]); };
    return SlurmJob{text(0), text(1), text(2), text(3), text(4), text(5)};
}

SlurmPhase phaseOf(const std::string& state) {
    constexpr std::array kWaits = {"PENDING",      "REQUEUED",     "REQUEUE_FED",
                                   "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"};
    constexpr std::array kRuns = {"RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED",
                                  "STOPPED", "SIGNALING",   "STAGE_OUT",  "RESIZING"};
    if (std::ranges::find(kWaits, state) != kWaits.end())
        return SlurmPhase::kWaiting;
    return std::ranges::find(kRuns, state) != kRuns.end() ? SlurmPhase::kRunning
                                                          : SlurmPhase::kOver;
}

} // namespace rm
