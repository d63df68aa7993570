// SPDX-License-Identifier: Apache-2.0
#include "shared/io/control_group.h"
#include "shared/return_if_error.h"
#include "shared/spec/node_plan.h"
#include "trainer/train/measure/all_reduce.h"
#include "trainer/train/measure/subcommands.h"
#include "trainer/train/session/options.h"
#include "trainer/train/session/subcommand_io.h"

#include <CLI/CLI.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

namespace rm {
namespace {

/// Forks this process into the ranks of the node, itself the first. Returns each one's local rank.
/// To be called before torch has any thread and before a driver is touched.
Result<int> becomeRanks(int64_t count) {
    for (int local = 1; local < count; ++local) {
        const pid_t child = ::fork();
        if (child < 0)
            return failErrno("start rank " + std::to_string(local) + " of this node", errno);
        if (child == 0)
            return local;
    }
    return 0;
}

TorchrunEnvironment environmentOf(const NodePlan& plan, int localRank) {
    TorchrunEnvironment environment;
    environment.localRank = localRank;
    environment.rank = static_cast<int>(plan.firstRank) + localRank;
    environment.worldSize = static_cast<int>(plan.worldSize);
    environment.localWorldSize = static_cast<int>(plan.localRanks);
    environment.masterAddr = plan.masterAddr;
    environment.masterPort = static_cast<int>(plan.masterPort);
    environment.runId = plan.runId;
    environment.storeNonce = plan.storeNonce;
    environment.ownAddress = plan.address;
    return environment;
}

/// The node of every rank, by rank, as the ranks tell each other.
std::vector<int> nodesOfRanks(const World& world, int64_t ownNode) {
    std::string joined;
    for (const std::string& node : world.gather(std::to_string(ownNode)))
        joined += node + " ";
    std::istringstream numbers(world.broadcast(joined));
    return {std::istream_iterator<int>(numbers), {}};
}

Result<AllReduceReport> measure(const NodePlan& plan, int localRank, double seconds) {
    const auto cores = static_cast<int64_t>(givenCores());
    const auto threads = std::max<int64_t>(1, cores / std::max<int64_t>(1, plan.localRanks));
    RM_ASSIGN_OR_RETURN(const auto device,
                        useDevice(plan.device, localRank, static_cast<int>(threads)));
    RM_ASSIGN_OR_RETURN(const auto world, World::join(environmentOf(plan, localRank), device));
    const auto report = measureLinks(world, device, nodesOfRanks(world, plan.nodeIndex),
                                     std::chrono::duration<double>(seconds));
    world.barrier(); // no rank leaves while another still needs it
    return report;
}

Result<NodePlan> planFromInput() {
    RM_ASSIGN_OR_RETURN(auto plan, parseNodePlan(standardInput(), "standard input"));
    if (plan.worldSize < 2)
        return fail(ErrorCode::kInvalid, "measure sums: the plan has one rank; two at least are "
                                         "needed, as one sums nothing");
    return plan;
}

/// The group's sockets and threads need no orderly end.
[[noreturn]] void leaveAtOnce(int code) {
    std::fflush(nullptr);
    _exit(code);
}

} // namespace

Result<void> allReduceSubcommand(int argc, char** argv) {
    double seconds = 10;
    CLI::App app("Measures how long sums of gradients take between the ranks of a node plan, which "
                 "comes on standard input: for each pair of nodes and for all, from 4 bytes to "
                 "64 MiB. It is started on every node of the plan at once; the node of rank 0 "
                 "prints one JSON object.",
                 "ringmaster-trainer all-reduce");
    app.add_option("--seconds", seconds, "How long, at the most, as far as links allow")
        ->check(CLI::Range(0.1, 3600.0))
        ->capture_default_str();
    const auto continues = parseArguments(app, argc, argv);
    if (!continues || !*continues)
        return continues.map([](bool) {});
    RM_ASSIGN_OR_RETURN(const auto plan, planFromInput());
    RM_ASSIGN_OR_RETURN(const auto localRank, becomeRanks(plan.localRanks));
    endWithReader();
    const auto report = measure(plan, localRank, seconds);
    if (!report && localRank == 0)
        return tl::unexpected(report.error());
    if (!report) {
        std::fprintf(stderr, "error: %s\n", report.error().message.c_str());
        leaveAtOnce(1);
    }
    if (plan.firstRank + localRank == 0)
        std::printf("%s\n", toJson(*report).c_str());
    while (localRank == 0 && ::wait(nullptr) > 0) // the node's other ranks
        ;
    leaveAtOnce(0);
}

} // namespace rm
