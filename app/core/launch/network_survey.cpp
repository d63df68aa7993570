// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/network_survey.h"

#include "app/core/findings/text.h"
#include "app/core/network/address_kind.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <set>

namespace rm {

namespace {

std::vector<std::string> interfacesOf(const NetworkNode& node) {
    std::set<std::string> names;
    for (const InterfaceReport& item : node.addresses)
        names.insert(item.name);
    return {names.begin(), names.end()};
}

/// The port that was asked for, and more, opened as ranks and agents open theirs.
std::vector<int64_t> portsOf(const OpenPorts& open) {
    std::vector<int64_t> ports = {open.port};
    if (open.next)
        ports.push_back(open.next);
    ports.insert(ports.end(), open.samples.begin(), open.samples.end());
    return ports;
}

/// A port that has to answer: the others tell nothing of large packets or an interface.
int64_t countedPort(const NetworkMatrix& matrix, const NetworkNode& there) {
    const std::vector<int64_t> ports = portsOf(there.ports);
    const auto counted = std::ranges::find_if_not(
        ports, [&](int64_t port) { return isOptional(matrix, there, port); });
    return counted == ports.end() ? there.ports.port : *counted;
}

/// Dials to a node: as ranks would dial it, and by each interface alone.
struct DialsThere {
    std::vector<NetworkTrial> asRanks;
    std::vector<NetworkTrial> byEach;
};

DialsThere dialsThere(const NetworkMatrix& matrix, int from, int to) {
    const NetworkNode& there = matrix.nodes[static_cast<size_t>(to)];
    DialsThere dials;
    for (const InterfaceReport& at : there.addresses) {
        for (const int64_t port : portsOf(there.ports))
            dials.asRanks.push_back({from, to, {}, at.address, port, {}});
        for (const std::string& by : interfacesOf(matrix.nodes[static_cast<size_t>(from)]))
            dials.byEach.push_back({from, to, by, at.address, countedPort(matrix, there), {}});
    }
    return dials;
}

/// Adds the trials and their dials. False: there is no room for all of them.
bool addAll(NodeDials& dials, const NetworkMatrix& matrix, std::vector<NetworkTrial> trials) {
    if (dials.trials.size() + trials.size() > kMostDials)
        return false;
    for (NetworkTrial& trial : trials) {
        const NetworkNode& there = matrix.nodes[static_cast<size_t>(trial.to)];
        const bool isLarge = trial.by.empty() && trial.port == countedPort(matrix, there);
        dials.order.targets.push_back(
            {trial.address, trial.port, trial.by, there.ports.token, trial.to, isLarge});
        dials.trials.push_back(std::move(trial));
    }
    return true;
}

/// Drops all trials of a node that cannot be judged.
void leaveOut(NetworkMatrix& matrix, int node, std::string problem) {
    matrix.nodes[static_cast<size_t>(node)].problem = std::move(problem);
    std::erase_if(matrix.trials, [node](const NetworkTrial& trial) {
        return trial.from == node || trial.to == node;
    });
}

/// Probes all nodes. Once some have answered, `progress` names those that have not.
std::vector<Result<NodeReport>> probeAll(const std::vector<HostWorker*>& workers,
                                         const ProgressSink& progress,
                                         const std::stop_token& unwanted) {
    constexpr std::chrono::milliseconds kLook{200};
    progress({QString::fromStdString(say("launch.log-in"))});
    std::vector<std::future<Result<NodeReport>>> answers;
    for (HostWorker* worker : workers)
        answers.push_back(worker->ask<NodeReport>(&probeNode, unwanted));
    std::vector<std::string> reported;
    for (const auto& answer : answers)
        while (answer.wait_for(kLook) != std::future_status::ready) {
            std::vector<std::string> silent;
            for (size_t i = 0; i < answers.size(); ++i)
                if (answers[i].wait_for(std::chrono::seconds(0)) != std::future_status::ready)
                    silent.push_back(workers[i]->node().name);
            if (!silent.empty() && silent.size() < answers.size() && silent != reported)
                progress({QString::fromStdString(
                    say("launch.log-in-waiting", {{"nodes", someOf(silent)}}))});
            reported = std::move(silent);
        }
    std::vector<Result<NodeReport>> reports;
    for (auto& answer : answers)
        reports.push_back(answer.get());
    return reports;
}

} // namespace

OpenListeners::OpenListeners(std::vector<HostWorker*> workers)
    : m_workers(std::move(workers)) {
    for (size_t i = 0; i < m_workers.size(); ++i)
        m_listeners.push_back(std::make_shared<std::optional<PortListener>>());
}

OpenListeners::~OpenListeners() {
    // A failure is ignored: if a port stays taken, the trainer's bind fails with an error that
    // names it.
    (void)close();
}

std::vector<std::string> OpenListeners::close() {
    // The task owns the last reference, so that even if it is dropped the listener is destroyed on
    // the worker's thread.
    std::vector<std::future<Result<std::string>>> closed;
    for (size_t i = 0; i < m_listeners.size(); ++i)
        closed.push_back(m_workers[i]->post<std::string>(
            [listener = std::move(m_listeners[i])](HostSession&, const std::string&,
                                                   std::stop_token) -> Result<std::string> {
                if (!*listener)
                    return std::string();
                const auto ended = (*listener)->close();
                listener->reset();
                return ended ? std::string() : ended.error().message;
            }));
    m_listeners.clear();
    std::vector<std::string> problems;
    for (auto& one : closed) {
        const Result<std::string> problem = one.get();
        problems.push_back(problem ? *problem : problem.error().message);
    }
    return problems;
}

std::vector<Result<OpenPorts>> OpenListeners::open(const std::vector<ListenOrder>& orders,
                                                   const std::stop_token& unwanted) {
    std::vector<std::future<Result<OpenPorts>>> answers;
    for (size_t i = 0; i < m_workers.size(); ++i)
        answers.push_back(m_workers[i]->post<OpenPorts>(
            [order = orders[i], listener = m_listeners[i],
             closing = m_workers[i]->closing()](HostSession& session, const std::string& agent,
                                                std::stop_token stop) -> Result<OpenPorts> {
                RM_ASSIGN_OR_RETURN(auto opened,
                                    PortListener::open(session, agent, order, stop, closing));
                listener->emplace(std::move(opened));
                return (*listener)->ports();
            },
            unwanted));
    std::vector<Result<OpenPorts>> opened;
    for (auto& answer : answers)
        opened.push_back(answer.get());
    return opened;
}

NodeDials dialsOf(const NetworkMatrix& matrix, int from, const SurveyOrder& order) {
    NodeDials dials;
    dials.order.settleMs = order.settleMs;
    std::vector<std::vector<NetworkTrial>> byEach;
    for (int to = 0; to < static_cast<int>(matrix.nodes.size()); ++to) {
        const bool isThere = matrix.nodes[static_cast<size_t>(to)].problem.empty();
        if (to == from || !isThere || (order.isDialed && !order.isDialed(from, to)))
            continue;
        DialsThere there = dialsThere(matrix, from, to);
        if (!addAll(dials, matrix, there.asRanks)) {
            for (NetworkTrial& trial : there.asRanks)
                trial.answer.error =
                    say("launch.most-dials", {{"most", std::to_string(kMostDials)}});
            std::ranges::move(there.asRanks, std::back_inserter(dials.leftOut));
        }
        byEach.push_back(std::move(there.byEach));
    }
    // Behind all others, which are begun in this order, too.
    for (size_t i = 0; order.byEachInterface && i < byEach.size(); ++i)
        addAll(dials, matrix, std::move(byEach[i]));
    return dials;
}

/// Posts all orders before it waits for one, so that the nodes dial at once: the ports stay open
/// for half a minute only.
void survey(NetworkMatrix& matrix, const std::vector<HostWorker*>& workers,
            const SurveyOrder& order, const std::stop_token& unwanted) {
    using Answers = std::vector<DialAnswer>;
    std::vector<NodeDials> dials(matrix.nodes.size());
    std::vector<std::future<Result<Answers>>> pending(matrix.nodes.size());
    for (size_t from = 0; from < matrix.nodes.size(); ++from) {
        if (!matrix.nodes[from].problem.empty())
            continue;
        dials[from] = dialsOf(matrix, static_cast<int>(from), order);
        pending[from] = workers[from]->post<Answers>(
            [dial = dials[from].order](HostSession& session, const std::string& agent,
                                       std::stop_token stop) {
                return dialFromNode(session, agent, dial, stop);
            },
            unwanted);
    }
    for (size_t from = 0; from < pending.size(); ++from) {
        if (!pending[from].valid())
            continue;
        Result<Answers> answers = pending[from].get();
        if (!answers) {
            matrix.nodes[from].problem = answers.error().message;
            continue;
        }
        for (size_t i = 0; i < answers->size(); ++i) {
            dials[from].trials[i].answer = std::move((*answers)[i]);
            matrix.trials.push_back(std::move(dials[from].trials[i]));
        }
        std::ranges::move(dials[from].leftOut, std::back_inserter(matrix.trials));
    }
}

std::string brokenListener(const std::string& cause) {
    return say("launch.broken-listener", {{"cause", cause}});
}

Result<NetworkMatrix> measureNetwork(HostPool& hosts, const std::vector<Node>& nodes,
                                     const ProgressSink& progress,
                                     const std::stop_token& unwanted) {
    std::vector<std::shared_ptr<HostWorker>> kept;
    std::vector<HostWorker*> workers;
    NetworkMatrix matrix;
    matrix.optionalPort = kMeasuredPort;
    for (const Node& node : nodes) {
        kept.push_back(hosts.worker(node));
        workers.push_back(kept.back().get());
        matrix.nodes.push_back({node.name, {}, {}, {}});
    }
    const auto reports = probeAll(workers, progress, unwanted);
    const auto cancelled = failCancelled(say("launch.measure-network"));
    if (unwanted.stop_requested())
        return cancelled;
    // A node that did not answer is not waited for again.
    std::vector<HostWorker*> answering;
    for (size_t i = 0; i < nodes.size(); ++i)
        if (reports[i])
            answering.push_back(workers[i]);
    progress({QString::fromStdString(say("launch.open-ports"))});
    // Only now, as they stay open for half a minute and a login may take longer.
    OpenListeners listeners(answering);
    const auto opened = listeners.open(
        std::vector(answering.size(), ListenOrder{kMeasuredPort, false, 2, true}), unwanted);
    for (size_t i = 0, next = 0; i < nodes.size(); ++i) {
        NetworkNode& node = matrix.nodes[i];
        if (!reports[i]) {
            node.problem = reports[i].error().message;
            continue;
        }
        const Result<OpenPorts>& ports = opened[next++];
        if (!ports) {
            node.problem = ports.error().message;
            continue;
        }
        std::ranges::copy_if(reports[i]->interfaces, std::back_inserter(node.addresses),
                             isForOthers);
        node.ports = *ports;
    }
    progress({QString::fromStdString(say("launch.dial"))});
    survey(matrix, workers, {{}, true, -1}, unwanted);
    const auto problems = listeners.close();
    for (size_t i = 0, next = 0; i < nodes.size(); ++i) {
        if (!reports[i])
            continue;
        const std::string& problem = problems[next++];
        if (!problem.empty() && matrix.nodes[i].problem.empty())
            leaveOut(matrix, static_cast<int>(i), brokenListener(problem));
    }
    if (unwanted.stop_requested())
        return cancelled;
    matrix.measuredNs = wallNowNs(); // a login may have taken half a minute
    return matrix;
}

} // namespace rm
