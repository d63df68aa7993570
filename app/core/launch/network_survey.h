// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/agent/agent_client.h"
#include "app/core/launch/host_worker.h"
#include "app/core/launch/launcher.h"
#include "app/core/network/network_matrix.h"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace rm {

/// The ports that the agents of some nodes hold open for each other. They are freed, and that is
/// waited for, by the destructor at the latest. Must not be used on a worker's thread.
class OpenListeners {
public:
    explicit OpenListeners(std::vector<HostWorker*> workers);
    OpenListeners(const OpenListeners&) = delete;
    OpenListeners& operator=(const OpenListeners&) = delete;
    ~OpenListeners();

    /// Gives each worker one order, all at once; the answers in their order. Call it once.
    std::vector<Result<OpenPorts>> open(const std::vector<ListenOrder>& orders,
                                        const std::stop_token& unwanted);
    /// Frees them. Says per worker what was wrong with its listener, which then tells nothing of
    /// the network: "it had ended with exit code 9"; empty: it was there until now.
    std::vector<std::string> close();

private:
    /// Lives and dies on its node's worker thread.
    using Shared = std::shared_ptr<std::optional<PortListener>>;

    std::vector<HostWorker*> m_workers;
    std::vector<Shared> m_listeners;
};

/// Which nodes dial which, and how.
struct SurveyOrder {
    std::function<bool(int from, int to)> isDialed; ///< empty: everybody
    bool byEachInterface = false; ///< also from each interface alone, not only as ranks do
    int64_t settleMs = -1;        ///< DialOrder::settleMs
};

/// The dials of one node, and what each of them is for.
struct NodeDials {
    DialOrder order;
    std::vector<NetworkTrial> trials; ///< parallel to the targets, without answers
    /// Trials for which there was no room, as an order takes kMostDials: those of whole nodes.
    /// Dials by an interface alone, which judge nothing, are left out before, and not listed.
    std::vector<NetworkTrial> leftOut;
};

/// The dials of node `from` in a matrix whose ports are open.
NodeDials dialsOf(const NetworkMatrix& matrix, int from, const SurveyOrder& order);

/// Lets the nodes of a matrix, whose ports are open, dial each other, all at once, and adds what
/// they found as trials; a trial for which a node had no room is kUntried. `workers` is
/// parallel to its nodes; one without a worker, or with a problem, takes no part. A node that could
/// not be asked gets a problem. Blocks for some 8 s at most beyond the answers of the nodes.
void survey(NetworkMatrix& matrix, const std::vector<HostWorker*>& workers,
            const SurveyOrder& order, const std::stop_token& unwanted);

/// The problem of a node whose listener was not there to the end, as OpenListeners::close() tells
/// it: nothing that others met there was the network's doing.
std::string brokenListener(const std::string& cause);

/// Measures between these nodes what can be measured, and tells each stage, on this thread. With
/// one node or none that answers the matrix has no trials. kUnavailable: `unwanted`; then nothing
/// of it listens any more.
Result<NetworkMatrix> measureNetwork(HostPool& hosts, const std::vector<Node>& nodes,
                                     const ProgressSink& progress, const std::stop_token& unwanted);
} // namespace rm
