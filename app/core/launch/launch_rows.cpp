// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/launch_rows.h"

#include "app/core/findings/text.h"
#include "app/core/fleet/check_rows.h"
#include "app/core/fleet/node_comparison.h"
#include "app/core/launch/plan.h"
#include "app/core/launch/rendezvous.h"
#include "app/core/network/address_kind.h"
#include "app/core/network/network_words.h"
#include "shared/amounts.h"
#include "shared/counted.h"
#include "shared/spec/model_family.h"

#include <algorithm>
#include <map>

namespace rm {

std::string dataWords(const DataFingerprint& data) {
    return say("launch.data",
               {{"files", counted(data.files, "file")}, {"bytes", bytesWords(data.bytes)}});
}

namespace {

/// Journals, logs and prepared text, as a rule. A run with less begins all the same.
constexpr int64_t kForTheRun = 256 << 20;

/// What the attempt goes on from, or that it begins.
Beginning beginningOf(const RunSpec& spec, const Preflight& preflight) {
    return preflight.beginning.value_or(Beginning::of(spec));
}

/// How many checkpoints are added there at most: one is written before an older one goes. Without
/// those of checkpoint.keep_every where nobody knows how many steps there will be. What goes on has
/// most of them already.
int64_t mostCheckpoints(const RunSpec& spec, bool resumes) {
    const int64_t every = spec.checkpoint.keepEvery;
    if (resumes)
        return 1;
    return spec.checkpoint.keepLast +
           (spec.checkpoint.keepBest ? spec.checkpoint.keepBestCount : 0) + 1 +
           (every > 0 ? spec.train.steps / every : 0);
}

/// What a launch and its run add to one file system of a node.
struct Room {
    int64_t freeBytes = -1;
    int64_t sent = 0;
    int64_t forTheRun = 0;
    int64_t checkpoints = 0; ///< at most
    std::string folder;

    bool isTooLittleForSent() const { return freeBytes >= 0 && sent > freeBytes; }
    bool isTooLittle() const {
        return freeBytes >= 0 && sent + forTheRun + checkpoints > freeBytes;
    }
};

/// The rooms of a node by device. `checkpoints`: bytes of those that come to it.
std::map<int64_t, Room> roomsOf(const NodePreflight& node, int64_t checkpoints) {
    std::map<int64_t, Room> rooms;
    const auto roomAt = [&rooms](const FolderOnNode& folder) -> Room& {
        Room& room = rooms[folder.device];
        room.freeBytes = folder.freeBytes;
        if (room.folder.empty())
            room.folder = folder.folder;
        return room;
    };
    roomAt(node.home).sent += node.bytesToSend.value_or(0);
    roomAt(node.state).forTheRun = kForTheRun;
    if (checkpoints > 0)
        roomAt(node.saving()).checkpoints += checkpoints;
    return rooms;
}

bool isShared(const Preflight& preflight) {
    return std::ranges::all_of(preflight.nodes,
                               [](const NodePreflight& node) { return node.saving().hasMark; });
}

/// Whether agents copy the newest two to a second node: not if all nodes have them anyway.
bool hasCopies(const RunSpec& spec, const Preflight& preflight) {
    return spec.checkpoint.copies == "auto" && preflight.nodes.size() > 1 && !isShared(preflight);
}

/// "checkpoints at most 12.0 GB", or of an attempt that goes on "the next checkpoint 1.2 GB".
std::string checkpointWords(const RunSpec& spec, bool resumes, int64_t bytes) {
    const Value checkpoints{"checkpoints", bytesWords(bytes)};
    const int64_t every = spec.checkpoint.keepEvery;
    if (resumes)
        return say("launch.next-checkpoint", {checkpoints});
    if (every > 0 && spec.train.steps == 0)
        return say("launch.checkpoints-and-more", {checkpoints, {"every", std::to_string(every)}});
    return say("launch.checkpoints-at-most", {checkpoints});
}

/// "node-1: 1.2 TB free at /home/me, 329 MB to be sent, checkpoints at most 12.0 GB". A launch does
/// not count what it sends before it does.
std::string roomWords(const RunSpec& spec, bool resumes, const NodePreflight& node,
                      const Room& room) {
    std::vector<std::string> words = {say(
        "launch.room",
        {{"node", node.node.name}, {"free", bytesWords(room.freeBytes)}, {"folder", room.folder}})};
    if (node.bytesToSend)
        words.push_back(
            say("launch.to-be-sent",
                {{"sent", room.sent > 0 ? bytesWords(room.sent) : say("launch.nothing")}}));
    if (room.checkpoints > 0)
        words.push_back(checkpointWords(spec, resumes, room.checkpoints));
    return joined(words, ", ");
}

/// The finding of a file system with too little room. Only what is sent can make it bad: with too
/// little for the rest a run begins all the same.
void addTooLittle(CheckRow& row, const Room& room, const std::string& words,
                  const std::string& node) {
    const Value there{"room", words}, makeRoom{"make-room", makeRoomOn(node)};
    if (room.isTooLittleForSent())
        addFinding(row, "launch-room.too-little-to-send", {there, makeRoom});
    else if (room.forTheRun > 0)
        addFinding(row, "launch-room.too-little",
                   {there, makeRoom, {"bytes", bytesWords(room.forTheRun)}});
    else
        addFinding(row, "launch-room.too-little-for-checkpoints", {there, makeRoom});
}

/// Judges file systems and not folders, as trainer, run and checkpoints may share one.
CheckRow roomRow(const RunSpec& spec, const Preflight& preflight) {
    constexpr int64_t kCopies = 2;
    const int64_t one = checkpointBound(spec);
    const bool resumes = beginningOf(spec, preflight).resumes;
    CheckRow tooLittle;
    std::string enough;
    for (size_t i = 0; i < preflight.nodes.size(); ++i) {
        const NodePreflight& node = preflight.nodes[i];
        const int64_t checkpoints = i == 0 ? mostCheckpoints(spec, resumes)
                                    : i == 1 && hasCopies(spec, preflight) ? kCopies
                                                                           : 0;
        for (const auto& [device, room] : roomsOf(node, checkpoints * one)) {
            const std::string words = roomWords(spec, resumes, node, room);
            if (room.isTooLittle())
                addTooLittle(tooLittle, room, words, node.node.name);
            else
                append(enough, words);
        }
    }
    return tooLittle.id.empty() ? finding("launch-room", {{"rooms", enough}}) : tooLittle;
}

/// Whether rank 0 can write there comes first: who finds the checkpoints again matters only then.
CheckRow checkpointsRow(const RunSpec& spec, const Preflight& preflight) {
    const NodePreflight& first = preflight.nodes.front();
    const std::string& named = spec.checkpoint.directory;
    const Value node{"node", first.node.name};
    const Value folder{"folder", named.empty()
                                     ? say("launch.run-folder", {node})
                                     : say("launch.folder-on", {node, {"folder", named}})};
    if (const std::string& problem = first.saving().problem; !problem.empty())
        return finding("launch-checkpoints.unwritable",
                       {folder, {"problem", problem}, {"user", first.report.user}});
    if (preflight.nodes.size() == 1)
        return finding("launch-checkpoints", {folder});
    if (isShared(preflight))
        return finding("launch-checkpoints.shared",
                       {named.empty() ? folder : Value{"folder", named}});
    if (spec.checkpoint.copies == "auto")
        return finding("launch-checkpoints.copied", {folder});
    if (spec.checkpoint.copies == "computer")
        return finding("launch-checkpoints.copied-here", {folder});
    return finding("launch-checkpoints.on-one-node", {folder, node});
}

CheckRow dataRow(const RunSpec& spec, const Preflight& preflight) {
    if (spec.data.stage)
        return finding("launch-data.staged");
    const auto uncompared =
        std::ranges::find_if(preflight.nodes, [](const NodePreflight& node) { return !node.data; });
    if (uncompared != preflight.nodes.end())
        return uncompared->dataProblem.empty()
                   ? CheckRow()
                   : finding("launch-data.not-compared",
                             {{"node", uncompared->node.name}, {"why", uncompared->dataProblem}});
    std::vector<std::pair<DataFingerprint, std::vector<std::string>>> kinds;
    for (const NodePreflight& node : preflight.nodes) {
        const DataFingerprint& data = *node.data;
        auto kind = std::ranges::find(kinds, data, &decltype(kinds)::value_type::first);
        if (kind == kinds.end())
            kind = kinds.insert(kind, {data, {}});
        kind->second.push_back(node.node.name);
    }
    const DataFingerprint& first = kinds.front().first;
    if (kinds.size() == 1) {
        const Value data{"data", dataWords(first)};
        if (preflight.nodes.size() == 1)
            return finding(first.isWhole ? "launch-data" : "launch-data.more", {data});
        return finding(first.isWhole ? "launch-data.same" : "launch-data.same-by-some", {data});
    }
    std::string all;
    for (const auto& [data, nodes] : kinds)
        append(all, say("launch.of-node", {{"node", someOf(nodes)}, {"what", dataWords(data)}}));
    const bool areAlike = std::ranges::all_of(kinds, [&first](const auto& kind) {
        return kind.first.files == first.files && kind.first.bytes == first.bytes;
    });
    return finding(areAlike ? "launch-data.other-contents" : "launch-data.other-files",
                   {{"data", all}});
}

bool isMissing(const std::string& runtime, const std::function<bool(const Runtime&)>& isHere) {
    const auto named = std::ranges::find(gpuRuntimes(), runtime, &Runtime::name);
    return named != gpuRuntimes().end() && !isHere(*named);
}

CheckRow runtimeRow(const RunSpec& spec, const Result<PlacedRanks>& ranks,
                    const std::function<bool(const Runtime&)>& isHere) {
    if (!ranks)
        return finding("launch-runtime.refused", {{"error", ranks.error().message}});
    const Target& target = ranks->target;
    const Value runtime{"runtime", target.runtime};
    if (target.device == "cuda")
        return isMissing(target.runtime, isHere)
                   ? finding("launch-runtime.missing",
                             {runtime, {"fix", runtimeFix(target.runtime)}})
                   : finding("launch-runtime", {runtime});
    if (const IdleGpus& idle = target.idle; !idle.which.empty())
        return finding("launch-runtime.idle-gpus",
                       {{"gpus", idle.which}, {"why", idle.why}, {"fix", idle.fix}});
    return finding(spec.launch.device == "cpu" ? "launch-runtime.cpus-as-set"
                                               : "launch-runtime.cpus");
}

// Rows that are there only if something is found; without id: nothing is.

/// The row of who uses the GPUs' memory, as the check of each node says. `isForRun`: the run is to
/// train on them.
CheckRow gpuMemoryRow(const Preflight& preflight, bool isForRun) {
    CheckRow row;
    for (const NodePreflight& each : preflight.nodes) {
        const auto there = usedGpuMemoryRow(each.report, each.node);
        if (!there)
            continue;
        const Value node{"node", each.node.name}, evidence{"evidence", there->evidence};
        if (isForRun && there->state != CheckRow::State::kGood)
            addFinding(row, "launch-gpu-memory.in-the-way",
                       {node, evidence, {"cause", there->cause}, {"fix", there->fix}});
        else
            addFinding(row, "launch-gpu-memory", {node, evidence});
    }
    return row;
}

/// The row of what a node would refuse the launch for.
CheckRow problemsRow(const Preflight& preflight) {
    CheckRow row;
    for (const NodePreflight& each : preflight.nodes)
        for (const LaunchProblem& problem : each.problems) {
            const Value node{"node", each.node.name}, what{"problem", problem.what};
            if (problem.fix.empty())
                addFinding(row, "launch-refused.missing", {node, what});
            else
                addFinding(row, "launch-refused", {node, what, {"fix", problem.fix}});
        }
    return row;
}

/// The row of runs whose ranks live there already.
CheckRow othersRow(const Preflight& preflight) {
    std::map<std::string, std::vector<std::string>> nodesOf;
    for (const NodePreflight& each : preflight.nodes)
        for (const RunReport& run : each.report.runs)
            if (run.ranks > 0)
                nodesOf[run.runId].push_back(each.node.name);
    CheckRow row;
    for (const auto& [run, nodes] : nodesOf)
        addFinding(row, "launch-others", {{"run", run}, {"nodes", someOf(nodes)}});
    return row;
}

/// The row of nodes that are one machine. A cluster's jobs train elsewhere.
CheckRow machinesRow(const Preflight& preflight) {
    std::vector<NodeCheck> nodes;
    for (const NodePreflight& each : preflight.nodes)
        if (!each.node.isSlurm) {
            nodes.emplace_back().node = each.node.name;
            nodes.back().report = each.report;
        }
    CheckRow row;
    for (const auto& names : namesOfMachines(nodes))
        addFinding(row, "launch-machines", {{"nodes", someOf(names)}});
    return row;
}

CheckRow nowhereToMeet(const Error& error) {
    return finding("launch-address.nowhere", {{"error", error.message}});
}

/// The row of where ranks would meet; on one node there is nothing to tell.
CheckRow addressRow(const RunSpec& spec, const Preflight& preflight) {
    const NodePreflight& first = preflight.nodes.front();
    if (first.node.isSlurm) // the agents find that in the job, on other machines than this one
        return {};
    const std::vector<PlacedNode> placed = placedNodes(preflight);
    if (placed.size() == 1) {
        const auto alone = checkAlone(placed.front(), spec);
        return alone ? CheckRow() : nowhereToMeet(alone.error());
    }
    if (const auto candidates = rendezvousCandidates(placed, spec); !candidates)
        return nowhereToMeet(candidates.error());
    std::string open;
    for (const InterfaceReport& each : meetingAddresses(placed.front(), spec))
        if (isPublic(each.address))
            append(open,
                   say("network.place", {{"address", each.address}, {"interface", each.name}}),
                   ", ");
    const Value node{"node", first.node.name};
    if (open.empty())
        return finding("launch-address", {node});
    return finding("launch-address.public",
                   {node,
                    {"addresses", open},
                    {"fix", publicAddressFix(preflight.lastNetwork, first.node.name,
                                             first.report.interfaces)}});
}

} // namespace

std::vector<CheckRow> launchRows(const RunSpec& spec, const Preflight& preflight,
                                 const std::function<bool(const Runtime&)>& isHere) {
    if (preflight.nodes.empty())
        return {};
    const std::vector<PlacedNode> placed = placedNodes(preflight);
    const auto ranks = placeRanks(spec, placed, beginningOf(spec, preflight), isHere);
    const auto target = ranks ? Result<Target>(ranks->target) : chooseTarget(spec, placed, isHere);
    const bool isOnGpus = target ? target->device == "cuda" : spec.launch.device != "cpu";
    // What a cluster lacks for the job is told by the row of problems.
    const PlacedNode& first = placed.front();
    const bool isPlaced = placed.size() > 1 || !first.node.isSlurm || first.partition;
    std::vector<CheckRow> rows = {problemsRow(preflight),
                                  isPlaced ? runtimeRow(spec, ranks, isHere) : CheckRow(),
                                  roomRow(spec, preflight),
                                  checkpointsRow(spec, preflight),
                                  dataRow(spec, preflight),
                                  othersRow(preflight),
                                  gpuMemoryRow(preflight, isOnGpus),
                                  machinesRow(preflight),
                                  addressRow(spec, preflight)};
    std::erase_if(rows, [](const CheckRow& row) { return row.id.empty(); });
    return rows;
}

} // namespace rm
