// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/rendezvous.h"

#include "shared/return_if_error.h"

#include <algorithm>
#include <memory>
#include <optional>

namespace rm {

namespace {

using Dialled = std::vector<DialAnswer>;

bool isLinkLocal(const std::string& address) {
    return address.rfind("169.254.", 0) == 0 || address.rfind("fe80:", 0) == 0;
}

bool isLoopback(const InterfaceReport& interface) {
    return interface.name == "lo" || interface.address.rfind("127.", 0) == 0 ||
           interface.address == "::1";
}

bool reachedByAll(const AddressTrial& trial) {
    return std::all_of(trial.answers.begin(), trial.answers.end(),
                       [](const DialAnswer& a) { return a.reached; });
}

int64_t slowestAnswer(const AddressTrial& trial) {
    int64_t slowest = 0;
    for (const DialAnswer& answer : trial.answers)
        slowest = std::max(slowest, answer.microseconds);
    return slowest;
}

bool isBetter(const AddressTrial& a, const AddressTrial& b) {
    if (a.local.speedMbit != b.local.speedMbit)
        return a.local.speedMbit > b.local.speedMbit;
    return slowestAnswer(a) < slowestAnswer(b);
}

std::string whyNone(const std::vector<AddressTrial>& trials,
                    const std::vector<std::string>& nodes) {
    std::string text = "find an address where all ranks can meet: no address of the first node is "
                       "reached by every other node";
    for (const AddressTrial& trial : trials)
        for (size_t i = 0; i < trial.answers.size() && i < nodes.size(); ++i)
            if (!trial.answers[i].reached)
                text += "; " + nodes[i] + " cannot reach " + trial.local.address + " (" +
                        trial.local.name + "): " + trial.answers[i].error;
    return text;
}

Error noCandidate(const std::string& node, const std::string& interface) {
    const std::string which = interface.empty() ? "" : " of the name " + interface;
    return {ErrorCode::kInvalid, "find an address where all ranks can meet: " + node +
                                     " has no network interface" + which +
                                     " that is up and that other machines could reach"};
}

std::vector<AddressTrial> arrange(const std::vector<InterfaceReport>& candidates,
                                  const std::vector<Dialled>& byNode) {
    std::vector<AddressTrial> trials;
    for (size_t c = 0; c < candidates.size(); ++c) {
        AddressTrial trial{candidates[c], {}};
        for (const Dialled& answers : byNode)
            trial.answers.push_back(c < answers.size() ? answers[c] : DialAnswer{});
        trials.push_back(std::move(trial));
    }
    return trials;
}

/// The port listener lives and dies on the first node's worker thread.
using SharedListener = std::shared_ptr<std::optional<PortListener>>;

Result<int64_t> openPort(HostWorker& worker, int64_t port, const SharedListener& listener,
                         const std::stop_token& unwanted) {
    const auto open = [port, listener,
                       closing = worker.closing()](HostSession& session, const std::string& agent,
                                                   std::stop_token stop) -> Result<int64_t> {
        RM_ASSIGN_OR_RETURN(auto opened, PortListener::open(session, agent, port, stop, closing));
        listener->emplace(std::move(opened));
        return (*listener)->port();
    };
    return worker.post<int64_t>(open, unwanted).get();
}

/// Next to a port that a person chose, as a firewall may let a range through; else any.
Result<int64_t> openAgentPort(HostWorker& worker, int64_t masterPort, const RunSpec& spec,
                              const SharedListener& listener, const std::stop_token& unwanted) {
    const int64_t next = spec.launch.masterPort > 0 ? masterPort + 1 : 0;
    if (next > 0 && next < 65536)
        if (auto opened = openPort(worker, next, listener, unwanted))
            return opened;
    return openPort(worker, 0, listener, unwanted);
}

void closePort(HostWorker& worker, SharedListener&& listener) {
    // A failure is ignored: if the port stays taken, the trainer's bind fails with an error that
    // names it. The task owns the last reference, so that even if it is dropped the listener is
    // destroyed on the worker's thread.
    (void)worker
        .post<bool>([listener = std::move(listener)](HostSession&, const std::string&,
                                                     std::stop_token) -> Result<bool> {
            const bool closed = (*listener)->close().has_value();
            listener->reset();
            return closed;
        })
        .get();
}

Result<std::vector<Dialled>> dialFromOthers(const std::vector<HostWorker*>& workers,
                                            const std::vector<std::string>& addresses, int64_t port,
                                            const std::stop_token& unwanted) {
    const auto dial = [addresses, port](HostSession& session, const std::string& agent,
                                        std::stop_token stop) {
        return dialFromNode(session, agent, addresses, port, stop);
    };
    std::vector<std::future<Result<Dialled>>> answers;
    for (size_t i = 1; i < workers.size(); ++i)
        answers.push_back(workers[i]->post<Dialled>(dial, unwanted));
    std::vector<Dialled> out;
    std::optional<Error> error;
    for (auto& answer : answers) {
        Result<Dialled> dialled = answer.get();
        if (dialled)
            out.push_back(std::move(*dialled));
        else
            error = dialled.error();
    }
    if (error)
        return tl::unexpected<Error>(*error);
    return out;
}

} // namespace

std::vector<InterfaceReport> rendezvousCandidates(const NodeReport& report,
                                                  const std::string& interface) {
    std::vector<InterfaceReport> out;
    for (const InterfaceReport& candidate : report.interfaces) {
        const bool wanted = interface.empty() || candidate.name == interface;
        if (wanted && candidate.up && !isLoopback(candidate) && !isLinkLocal(candidate.address))
            out.push_back(candidate);
    }
    return out;
}

Result<Rendezvous> chooseRendezvous(const std::vector<AddressTrial>& trials, int64_t port,
                                    const std::vector<std::string>& otherNodes) {
    const AddressTrial* best = nullptr;
    for (const AddressTrial& trial : trials)
        if (reachedByAll(trial) && (!best || isBetter(trial, *best)))
            best = &trial;
    if (!best)
        return fail(ErrorCode::kUnavailable, whyNone(trials, otherNodes));
    Rendezvous rendezvous{best->local.address, port, {best->local.name}};
    for (const DialAnswer& answer : best->answers)
        rendezvous.interfaces.push_back(answer.interface);
    return rendezvous;
}

Result<Rendezvous> findRendezvous(const std::vector<HostWorker*>& workers,
                                  const std::vector<PlacedNode>& nodes, const RunSpec& spec,
                                  const std::stop_token& unwanted) {
    const auto candidates = rendezvousCandidates(nodes.front().report, spec.launch.interface);
    if (workers.size() > 1 && candidates.empty())
        return tl::unexpected<Error>(noCandidate(nodes.front().node.name, spec.launch.interface));
    auto listener = std::make_shared<std::optional<PortListener>>();
    RM_ASSIGN_OR_RETURN(const auto port,
                        openPort(*workers.front(), spec.launch.masterPort, listener, unwanted));
    // Opened while the other is, so that they differ.
    int64_t agentPort = 0;
    if (workers.size() > 1) {
        auto agents = std::make_shared<std::optional<PortListener>>();
        RM_ASSIGN_OR_RETURN(agentPort,
                            openAgentPort(*workers.front(), port, spec, agents, unwanted));
        closePort(*workers.front(), std::move(agents));
    }
    if (workers.size() == 1) {
        closePort(*workers.front(), std::move(listener));
        return Rendezvous{"127.0.0.1", port, {""}};
    }
    std::vector<std::string> addresses;
    for (const InterfaceReport& candidate : candidates)
        addresses.push_back(candidate.address);
    const auto dialled = dialFromOthers(workers, addresses, port, unwanted);
    closePort(*workers.front(), std::move(listener));
    if (!dialled)
        return tl::unexpected(dialled.error());
    std::vector<std::string> others;
    for (size_t i = 1; i < nodes.size(); ++i)
        others.push_back(nodes[i].node.name);
    RM_ASSIGN_OR_RETURN(auto found, chooseRendezvous(arrange(candidates, *dialled), port, others));
    found.agentPort = agentPort;
    return found;
}

} // namespace rm
