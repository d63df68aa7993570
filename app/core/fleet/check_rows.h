// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/deploy/deploy.h"
#include "app/core/deploy/needed_versions.h"
#include "app/core/deploy/runtime.h"
#include "app/core/fleet/fleet.h"
#include "app/core/network/network_matrix.h"
#include "shared/wire/slurm_report.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// What a node's report is judged against.
struct CheckContext {
    int64_t aheadNs = 0;     ///< of the node's clock before ours
    int64_t uncertainNs = 0; ///< of that
    KnownRuns runs = {};
    std::optional<NeededVersions> needed = {}; ///< nullopt: of the trainer that is installed here
    Node node = {}; ///< by its settings: its name, and the GPUs that are used
    std::function<bool(const Runtime&)> isHere = isInstalled;
    /// Asked of a node with a public address; empty: the network was not measured.
    std::function<std::optional<NetworkMatrix>()> lastNetwork = {};
    std::optional<int64_t> toSend = {}; ///< what the node lacks of the trainer; nullopt: not known
};

/// Whether so little is free that it matters how much of the trainer is there already.
bool isTight(const NodeReport& report);

/// The newest runtime whose trainer a launch there would send, "cpu" or a Runtime's name.
std::string runtimeFor(const NodeReport& report, const CheckContext& context);

/// Judges what a probe found, a row for each subject; of GPUs those alone that the node's settings
/// choose.
std::vector<CheckRow> rowsOf(const NodeReport& report, const CheckContext& context = {});

/// "2 x NVIDIA H200, 139.8 GiB, sm_90" for each model.
std::string gpuWords(const std::vector<GpuReport>& gpus);

/// What to do about a runtime that this installation lacks.
std::string runtimeFix(const std::string& runtime);

/// What lets GPUs train that no runtime serves as they are: "install a driver of 525 or later
/// there", or which of them to choose; empty: nothing does. `places`: of the `used` ones, as
/// nvidia-smi numbers them; empty: as they stand there.
std::string fixOfGpus(const Node& node, const NodeReport& used, const std::vector<size_t>& places);

/// What stands for a node in a command to paste: "NODE" where its name is not known.
std::string nameOrNode(const std::string& node);

/// What to do about a full disk of a node; empty `node`: its name is not known.
std::string makeRoomOn(const std::string& node);

struct HomeRoom {
    int64_t freeBytes = 0, totalBytes = 0;
    std::string path;       ///< of the disk, or the home itself where that is not known
    std::string fileSystem; ///< empty: likewise
};
/// The room for the node's home, which holds trainers and data. nullopt: it was not told.
std::optional<HomeRoom> roomOfHome(const NodeReport& report);

/// Whether it is ready, with GPUs that no run would compute on.
bool isReadyOnItsCpu(const NodeCheck& check);

/// The row of how a node was reached, by the fastest of some round trips; -1: none came back.
CheckRow connectionRow(const std::string& where, bool isLocal, int64_t roundTripUs);

/// The row of a connection that was not made; with a button where a person can let it in.
CheckRow refusedRow(const ConnectFailure& failure, const std::string& node);

/// A check that found that out alone.
NodeCheck unansweredCheck(const std::string& node, const ConnectFailure& failure);

/// The row of the agents that others have sent there, with a button that removes what nothing
/// needs; nullopt: there are none.
std::optional<CheckRow> otherAgentsRow(const NodeReport& report, const std::string& node);

/// The row of a node whose agent failed; what to do follows from the kind of the error.
CheckRow agentFaultRow(const Error& error, AgentFault fault);

/// The further rows of a node with GPUs, besides rowsOf(): who uses their memory, errors, clocks,
/// links, self-test. They number GPUs as nvidia-smi does. `runtime`: the one that a launch would
/// send; with "cpu" it is the CPU's self-test that counts.
std::vector<CheckRow> gpuHealthRows(const NodeReport& report, const Node& node,
                                    const std::string& runtime);

/// The first of these; nullopt: nobody uses any.
std::optional<CheckRow> usedGpuMemoryRow(const NodeReport& report, const Node& node);

/// "gpt-1 (2 ranks, trains, at step 120, began 3 h ago, started by anna@lab)": what its node says
/// of a run that is not known here, when its clock was `nowNs`.
std::string otherRunWords(const RunReport& run, int64_t nowNs);

/// What a Slurm cluster offers: its version, and a row for each partition. `wanted`: the partition
/// that the cluster's jobs ask for; empty: its default one. Bad where there is none such, or it is
/// closed.
std::vector<CheckRow> rowsOfSlurm(const SlurmReport& report, const std::string& wanted);

} // namespace rm
