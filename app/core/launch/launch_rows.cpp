// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/launch_rows.h"

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

namespace {

using State = CheckRow::State;
using OnNode = LaunchFacts::OnNode;

/// Journals, logs and prepared text, as a rule. A run with less begins all the same.
constexpr int64_t kForTheRun = 256 << 20;

/// How many checkpoints lie there at most: one is written before an older one goes. Without
/// those of checkpoint.keep_every where nobody knows how many steps there will be.
int64_t mostCheckpoints(const RunSpec& spec) {
    const int64_t every = spec.checkpoint.keepEvery;
    return spec.checkpoint.keepLast +
           (spec.checkpoint.keepBest ? spec.checkpoint.keepBestCount : 0) + 1 +
           (every > 0 ? spec.train.steps / every : 0);
}

/// "checkpoints at most 12.0 GB, and one more for every 1000 steps"
std::string checkpointWords(const RunSpec& spec, int64_t bytes) {
    const int64_t every = spec.checkpoint.keepEvery;
    return "checkpoints at most " + bytesWords(bytes) +
           (every > 0 && spec.train.steps == 0
                ? ", and one more for every " + std::to_string(every) + " steps"
                : std::string());
}

/// What a launch and its run add to one file system of a node.
struct Room {
    int64_t freeBytes = -1;
    int64_t sent = 0; ///< known
    int64_t forTheRun = 0;
    int64_t checkpoints = 0; ///< at most
    std::string folder;

    bool isTooLittleForSent() const { return freeBytes >= 0 && sent > freeBytes; }
    bool isTooLittle() const {
        return freeBytes >= 0 && sent + forTheRun + checkpoints > freeBytes;
    }
};

/// The rooms of a node by device. `checkpoints`: bytes of those that come to it.
std::map<int64_t, Room> roomsOf(const OnNode& node, int64_t checkpoints) {
    std::map<int64_t, Room> rooms;
    const auto roomAt = [&rooms](const FolderOnNode& folder) -> Room& {
        Room& room = rooms[folder.device];
        room.freeBytes = folder.freeBytes;
        if (room.folder.empty())
            room.folder = folder.folder;
        return room;
    };
    roomAt(node.home).sent += node.bytesToSend;
    roomAt(node.state).forTheRun = kForTheRun;
    if (checkpoints > 0)
        roomAt(node.saving()).checkpoints += checkpoints;
    return rooms;
}

void warn(CheckRow& row, State state, const std::string& cause, const std::string& fix) {
    row.state = std::max(row.state, state);
    const auto add = [](std::string& text, const std::string& more) {
        if (text.find(more) == std::string::npos)
            text += (text.empty() ? "" : "; ") + more;
    };
    add(row.cause, cause);
    add(row.fix, fix);
}

bool isShared(const LaunchFacts& facts) {
    return std::ranges::all_of(facts.nodes,
                               [](const OnNode& node) { return node.saving().hasMark; });
}

/// Whether agents copy the newest two to a second node: not if all nodes have them anyway.
bool hasCopies(const RunSpec& spec, const LaunchFacts& facts) {
    return spec.checkpoint.copies == "auto" && facts.nodes.size() > 1 && !isShared(facts);
}

/// Judges file systems and not folders, as trainer, run and checkpoints may share one. Only what is
/// sent can make it bad: with too little room for the rest a run begins all the same.
CheckRow roomRow(const RunSpec& spec, const LaunchFacts& facts) {
    constexpr int64_t kCopies = 2;
    const int64_t one = checkpointBound(spec);
    CheckRow row = goodRow("launch-room", "Room on the disks", {});
    std::string tight;
    std::string enough;
    for (size_t i = 0; i < facts.nodes.size(); ++i) {
        const OnNode& node = facts.nodes[i];
        const int64_t checkpoints = i == 0                             ? mostCheckpoints(spec)
                                    : i == 1 && hasCopies(spec, facts) ? kCopies
                                                                       : 0;
        for (const auto& [device, room] : roomsOf(node, checkpoints * one)) {
            const std::string words =
                node.node.name + ": " + bytesWords(room.freeBytes) + " free at " + room.folder +
                ", " + (room.sent > 0 ? bytesWords(room.sent) : "nothing") + " to be sent" +
                (room.checkpoints > 0 ? ", " + checkpointWords(spec, room.checkpoints) : "");
            if (!room.isTooLittle()) {
                enough += (enough.empty() ? "" : "; ") + words;
                continue;
            }
            tight += (tight.empty() ? "" : "; ") + words;
            if (room.isTooLittleForSent())
                warn(row, State::kBad, "what is sent does not fit there",
                     makeRoomOn(node.node.name));
            else
                warn(row, State::kWarning,
                     "the disk may fill up while it trains" +
                         (room.forTheRun > 0 ? ", as journals, logs and prepared text take some " +
                                                   bytesWords(room.forTheRun)
                                             : std::string()) +
                         "; the run then waits for room with its next checkpoint",
                     makeRoomOn(node.node.name) +
                         ", keep fewer (checkpoint.keep_last), or name another folder "
                         "(checkpoint.directory)");
        }
    }
    row.evidence = tight.empty() ? enough : tight;
    return row;
}

/// Whether rank 0 can write there comes first: who finds the checkpoints again matters only then.
CheckRow checkpointsRow(const RunSpec& spec, const LaunchFacts& facts) {
    const OnNode& first = facts.nodes.front();
    CheckRow row = goodRow("launch-checkpoints", "Checkpoints", {});
    const std::string folder = spec.checkpoint.directory.empty()
                                   ? "the run's folder on " + first.node.name
                                   : spec.checkpoint.directory + " on " + first.node.name;
    if (const std::string& problem = first.saving().problem; !problem.empty()) {
        row.evidence = folder + ": " + problem;
        warn(row, State::kBad, "rank 0 cannot write checkpoints there",
             "let " + first.report.user +
                 " write there, or name another folder (checkpoint.directory)");
        return row;
    }
    if (facts.nodes.size() == 1) {
        row.evidence = "in " + folder;
        return row;
    }
    if (isShared(facts)) {
        row.evidence = "in " +
                       (spec.checkpoint.directory.empty() ? folder : spec.checkpoint.directory) +
                       ", which all nodes have in common: whichever goes on finds them";
        return row;
    }
    row.evidence = "in " + folder + ", which the other nodes do not have";
    if (spec.checkpoint.copies == "auto") {
        row.evidence += "; a copy of the newest two goes to a second node";
        return row;
    }
    if (spec.checkpoint.copies == "computer") {
        row.evidence +=
            "; a copy of the newest two comes to this computer while it follows the run";
        return row;
    }
    warn(row, State::kWarning, "if " + first.node.name + " is lost, so is all that was trained",
         "set checkpoint.copies = \"auto\", or name a folder that all nodes share");
    return row;
}

std::string dataWords(const DataFingerprint& data) {
    return counted(data.files, "file") + ", " + bytesWords(data.bytes);
}

CheckRow dataRow(const RunSpec& spec, const LaunchFacts& facts) {
    CheckRow row = goodRow("launch-data", "Data", {});
    if (spec.data.stage) {
        row.evidence = "sent from this computer, so the same on all nodes";
        return row;
    }
    std::vector<std::pair<DataFingerprint, std::vector<std::string>>> kinds;
    for (const OnNode& node : facts.nodes) {
        const DataFingerprint data = node.data.value_or(DataFingerprint());
        auto kind = std::ranges::find(kinds, data, &decltype(kinds)::value_type::first);
        if (kind == kinds.end())
            kind = kinds.insert(kind, {data, {}});
        kind->second.push_back(node.node.name);
    }
    for (const auto& [data, nodes] : kinds)
        row.evidence += (row.evidence.empty() ? "" : "; ") +
                        (kinds.size() == 1 ? std::string() : someOf(nodes) + ": ") +
                        dataWords(data);
    if (kinds.size() == 1) {
        const bool isWhole = kinds.front().first.isWhole;
        const std::string what = isWhole ? "names, sizes" : "names and sizes of so many";
        if (facts.nodes.size() > 1)
            row.evidence += ", the same on all nodes by " + what + " and samples of the contents";
        else if (!isWhole)
            row.evidence += ", and more";
        return row;
    }
    const bool areAlike = std::ranges::all_of(kinds, [&](const auto& kind) {
        return kind.first.files == kinds.front().first.files &&
               kind.first.bytes == kinds.front().first.bytes;
    });
    warn(row, State::kWarning,
         areAlike ? "their contents differ: ranks draw from one order of samples, and each would "
                    "read others"
                  : "they differ: ranks draw from one order of samples, and each would read others",
         "copy the same data to all of them (rsync -a --checksum), or set data.stage = true");
    return row;
}

std::vector<PlacedNode> placedIn(const LaunchFacts& facts) {
    std::vector<PlacedNode> nodes;
    for (const OnNode& each : facts.nodes)
        nodes.push_back(placeNode(each.node, each.report, each.ranks, each.partition));
    return nodes;
}

bool isMissing(const std::string& runtime, const std::function<bool(const Runtime&)>& isHere) {
    const auto named = std::ranges::find(gpuRuntimes(), runtime, &Runtime::name);
    return named != gpuRuntimes().end() && !isHere(*named);
}

CheckRow runtimeRow(const RunSpec& spec, const Result<PlacedRanks>& ranks,
                    const std::function<bool(const Runtime&)>& isHere) {
    if (!ranks)
        return {kLaunchRuntimeRow,
                State::kBad,
                "Ranks",
                ranks.error().message,
                "the launch is refused",
                "change a setting that the message names, or the nodes or ranks"};
    CheckRow row = goodRow(kLaunchRuntimeRow, "What computes", {});
    const Target& target = ranks->target;
    if (target.device == "cuda") {
        row.evidence = "all ranks train on GPUs, by the runtime " + target.runtime;
        if (isMissing(target.runtime, isHere))
            warn(row, State::kBad, "this computer lacks it: the launch is refused",
                 runtimeFix(target.runtime));
        return row;
    }
    row.evidence = spec.launch.device == "cpu"
                       ? "all ranks train on CPUs, as launch.device = \"cpu\" says"
                       : "all ranks train on CPUs";
    if (const IdleGpus& idle = target.idle; !idle.which.empty()) {
        row.evidence = idleFact(idle);
        warn(row, State::kWarning, idle.why, idle.fix);
    }
    return row;
}

/// The row of who uses the GPUs' memory, as the check of each node says; nullopt: nobody does.
/// `isForRun`: the run is to train on them.
std::optional<CheckRow> gpuMemoryRow(const LaunchFacts& facts, bool isForRun) {
    CheckRow row = goodRow("launch-gpu-memory", "GPU memory in use", {});
    for (const OnNode& each : facts.nodes) {
        const auto there = usedGpuMemoryRow(each.report, each.node);
        if (!there)
            continue;
        row.evidence +=
            (row.evidence.empty() ? "" : "; ") + each.node.name + ": " + there->evidence;
        if (isForRun && there->state != State::kGood)
            warn(row, there->state, there->cause, there->fix);
    }
    return row.evidence.empty() ? std::nullopt : std::optional(row);
}

/// The row of what a node would refuse the launch for; nullopt: nothing.
std::optional<CheckRow> problemsRow(const LaunchFacts& facts) {
    CheckRow row = goodRow("launch-refused", "What the run needs there", {});
    for (const OnNode& each : facts.nodes)
        for (const LaunchProblem& problem : each.problems) {
            row.evidence +=
                (row.evidence.empty() ? "" : "; ") + each.node.name + ": " + problem.what;
            warn(row, State::kBad, "the launch is refused",
                 problem.fix.empty()
                     ? "put there what is missing, or change the setting that names it"
                     : problem.fix);
        }
    return row.evidence.empty() ? std::nullopt : std::optional(row);
}

/// The row of runs whose ranks live there already; nullopt: none do.
std::optional<CheckRow> othersRow(const LaunchFacts& facts) {
    std::map<std::string, std::vector<std::string>> nodesOf;
    for (const OnNode& each : facts.nodes)
        for (const RunReport& run : each.report.runs)
            if (run.ranks > 0)
                nodesOf[run.runId].push_back(each.node.name);
    if (nodesOf.empty())
        return std::nullopt;
    std::string others;
    for (const auto& [run, nodes] : nodesOf)
        others += (others.empty() ? "" : "; ") + run + " on " + someOf(nodes);
    CheckRow row = goodRow("launch-others", "Others there", others);
    warn(row, State::kWarning,
         "what trains there may share processors, GPUs and memory with this run",
         "wait for its end, pause it if it is yours, or choose other nodes or GPUs");
    return row;
}

/// The row of nodes that are one machine; nullopt: none are. A cluster's jobs train elsewhere.
std::optional<CheckRow> machinesRow(const LaunchFacts& facts) {
    std::vector<NodeCheck> nodes;
    for (const OnNode& each : facts.nodes)
        if (!each.node.isSlurm) {
            nodes.emplace_back().node = each.node.name;
            nodes.back().report = each.report;
        }
    std::string words;
    for (const auto& names : namesOfMachines(nodes))
        words += (words.empty() ? "" : "; ") + someOf(names) + " are the same machine";
    if (words.empty())
        return std::nullopt;
    CheckRow row = goodRow("launch-machines", "Machines", words);
    warn(row, State::kWarning, "ranks there share its processors, memory and GPUs",
         "choose one of these nodes, with more ranks");
    return row;
}

CheckRow nowhereToMeet(const Error& error) {
    return {"launch-address",
            State::kBad,
            "Where ranks meet",
            error.message,
            "no rank would reach the others: the launch is refused",
            "correct or remove the variable or launch.interface that names it; if none does, give "
            "that node a network by which the others reach it"};
}

/// The row of where ranks would meet; nullopt: on one node there is nothing to tell.
std::optional<CheckRow> addressRow(const RunSpec& spec, const LaunchFacts& facts) {
    const OnNode& first = facts.nodes.front();
    if (first.node.isSlurm) // the agents find that in the job, on other machines than this one
        return std::nullopt;
    const std::vector<PlacedNode> placed = placedIn(facts);
    if (placed.size() == 1) {
        const auto alone = checkAlone(placed.front(), spec);
        return alone ? std::nullopt : std::optional(nowhereToMeet(alone.error()));
    }
    if (const auto candidates = rendezvousCandidates(placed, spec); !candidates)
        return nowhereToMeet(candidates.error());
    std::string open;
    for (const InterfaceReport& each : meetingAddresses(placed.front(), spec))
        if (isPublic(each.address))
            open += (open.empty() ? "" : ", ") + each.address + " (" + each.name + ')';
    CheckRow row =
        goodRow("launch-address", "Where ranks meet", "at a private address of " + first.node.name);
    if (open.empty())
        return row;
    row.evidence = "perhaps at " + open + " of " + first.node.name + ", which is public";
    warn(row, State::kWarning,
         "anybody who reaches it can connect: PyTorch's rendezvous, Gloo and NCCL know no password",
         publicAddressFix(facts.lastNetwork, first.node.name, first.report.interfaces));
    return row;
}

} // namespace

std::vector<CheckRow> launchRows(const RunSpec& spec, const LaunchFacts& facts,
                                 const std::function<bool(const Runtime&)>& isHere) {
    if (facts.nodes.empty())
        return {};
    const std::vector<PlacedNode> placed = placedIn(facts);
    const auto ranks = placeRanks(spec, placed, Beginning::of(spec), isHere);
    const auto target = ranks ? Result<Target>(ranks->target) : chooseTarget(spec, placed, isHere);
    std::vector<CheckRow> rows = {roomRow(spec, facts), checkpointsRow(spec, facts),
                                  dataRow(spec, facts)};
    // What a cluster lacks for the job is told by the row of problems.
    const PlacedNode& first = placed.front();
    if (placed.size() > 1 || !first.node.isSlurm || first.partition)
        rows.insert(rows.begin(), runtimeRow(spec, ranks, isHere));
    if (const auto problems = problemsRow(facts))
        rows.insert(rows.begin(), *problems);
    if (const auto others = othersRow(facts))
        rows.push_back(*others);
    if (const auto memory =
            gpuMemoryRow(facts, target ? target->device == "cuda" : spec.launch.device != "cpu"))
        rows.push_back(*memory);
    if (const auto machines = machinesRow(facts))
        rows.push_back(*machines);
    if (const auto address = addressRow(spec, facts))
        rows.push_back(*address);
    return rows;
}

} // namespace rm
