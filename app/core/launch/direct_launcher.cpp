// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/direct_launcher.h"

#include "app/core/agent/agent_client.h"
#include "app/core/deploy/transfer_chain.h"
#include "app/core/findings/text.h"
#include "app/core/fleet/check_rows.h"
#include "app/core/launch/launch_rows.h"
#include "app/core/launch/memory_estimate.h"
#include "app/core/launch/rendezvous.h"
#include "app/core/launch/staged_tree.h"
#include "app/core/launch/transfer_rate.h"
#include "app/core/network/address_kind.h"
#include "app/core/network/network_words.h"
#include "shared/return_if_error.h"
#include "shared/spec/model_family.h"

#include <QUuid>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>

namespace rm {
namespace {

/// The least free memory of the devices; 0: the probe did not find out.
int64_t leastFreeOf(const NodeReport& report, const std::string& device) {
    if (device == "cpu" || report.gpus.empty())
        return report.freeMemoryBytes;
    return std::ranges::min_element(report.gpus, {}, &GpuReport::freeBytes)->freeBytes;
}

/// The nodes in two rounds: first one of each home, then the others. This computer, if it needs no
/// copy, brings none into its home.
std::vector<std::vector<size_t>> roundsByHome(const std::vector<PlacedNode>& nodes,
                                              bool isInPlace) {
    std::vector<std::vector<size_t>> rounds(2);
    std::set<std::string> served;
    for (size_t i = 0; i < nodes.size(); ++i) {
        const std::string& home = nodes[i].report.homeId;
        const bool needsNone = isInPlace && nodes[i].node.isLocal;
        const bool isFirst = home.empty() || needsNone || served.insert(home).second;
        rounds[isFirst ? 0 : 1].push_back(i);
    }
    return rounds;
}

/// The addresses by which nodes may reach each other to pass on what they are sent.
std::vector<TransferChain::Party> partiesOf(const std::vector<PlacedNode>& nodes,
                                            const std::vector<size_t>& chosen,
                                            const std::string& interface) {
    std::vector<TransferChain::Party> parties;
    for (const size_t node : chosen) {
        TransferChain::Party& party = parties.emplace_back();
        party.name = nodes[node].node.name;
        for (const InterfaceReport& each : nodes[node].report.interfaces)
            if (isForOthers(each) && !isVirtualInterface(each.name) &&
                (interface.empty() || each.name == interface))
                party.addresses.push_back(each.address);
    }
    return parties;
}

/// The first error of tasks that need each other: once one fails the others wait in vain, and what
/// they say when they are ended does not tell why.
class FirstError {
public:
    explicit FirstError(const std::stop_token& unwanted)
        : m_onUnwanted(unwanted, [this] { m_others.request_stop(); }) {}

    void note(const Error& error) {
        {
            const std::lock_guard lock(m_mutex);
            if (!m_error)
                m_error = error;
        }
        m_others.request_stop();
    }
    std::stop_token endsOthers() const { return m_others.get_token(); }
    /// The error. Call it after one was noted and all tasks have ended.
    Error get() const { return *m_error; }

private:
    std::mutex m_mutex;
    std::optional<Error> m_error;
    std::stop_source m_others;
    std::stop_callback<std::function<void()>> m_onUnwanted;
};

Progress progressAt(const std::string& stage) {
    return {QString::fromStdString(stage)};
}

/// Tells, beside the stage, which nodes serve another launch or trial first.
class BusyNodes {
public:
    BusyNodes(std::string stage, ProgressSink progress)
        : m_stage(std::move(stage))
        , m_progress(std::move(progress)) {}

    /// `behind` empty: the node's task has begun.
    void note(const std::string& node, const std::string& behind) {
        const std::lock_guard lock(m_mutex);
        if (behind.empty())
            m_busy.erase(node);
        else
            m_busy[node] = behind;
        std::string words;
        for (const auto& [name, task] : m_busy)
            append(words, say("launch.busy", {{"node", name}, {"task", task}}), ", ");
        m_progress(progressAt(
            words.empty() ? m_stage
                          : say("launch.stage-with", {{"stage", m_stage}, {"what", words}})));
    }

private:
    std::string m_stage;
    ProgressSink m_progress;
    std::mutex m_mutex;
    std::map<std::string, std::string> m_busy;
};

} // namespace

DirectLauncher::DirectLauncher(Request request, HostPool& hosts, ProgressSink progress,
                               std::stop_token stop)
    : m_request(std::move(request))
    , m_progress(std::move(progress))
    , m_stop(std::move(stop)) {
    for (const PlacedParty& party : m_request.nodes)
        m_workers.push_back(hosts.worker(party.node));
}

Result<void> DirectLauncher::checkStop() const {
    if (m_stop.stop_requested())
        return failCancelled(say("launch.run", {{"run", m_request.attempt.runId}}));
    return {};
}

void DirectLauncher::report(const std::string& stage) {
    m_stage = stage;
    m_progress(progressAt(stage));
}

/// A teller of pauses: the stage then names the node that takes no connection at the moment.
OnConnectPause DirectLauncher::pauseReporter() const {
    return [stage = m_stage, progress = m_progress](const ConnectPause& pause) {
        const auto seconds = std::chrono::round<std::chrono::seconds>(pause.left).count();
        progress(progressAt(say(
            "launch.stage-paused",
            {{"stage", stage}, {"why", pause.why.message}, {"seconds", std::to_string(seconds)}})));
    };
}

std::string DirectLauncher::purpose() const {
    if (!m_request.purpose.empty() || m_request.attempt.runId.empty())
        return m_request.purpose;
    return say("launch.the-launch", {{"run", m_request.attempt.runId}});
}

template <class T>
Result<std::vector<T>>
DirectLauncher::onNodes(const std::vector<size_t>& nodes, const std::stop_token& unwanted,
                        const std::function<Task<T>(size_t)>& taskOf, const OnTaskError& onError) {
    std::vector<std::future<Result<T>>> answers;
    const auto busy = std::make_shared<BusyNodes>(m_stage, m_progress);
    for (const size_t node : nodes)
        answers.push_back(m_workers[node]->post<T>(
            taskOf(node), unwanted, pauseReporter(), onError,
            {purpose(), [busy, name = nodeName(node)](
                            const std::string& behind) { busy->note(name, behind); }},
            m_request.patience));
    std::vector<T> out;
    std::optional<Error> error;
    for (auto& answer : answers) {
        Result<T> result = answer.get();
        if (result)
            out.push_back(std::move(*result));
        else if (!error)
            error = result.error();
    }
    if (error)
        return tl::unexpected<Error>(std::move(*error));
    return out;
}

template <class T>
Result<std::vector<T>> DirectLauncher::onEveryNode(const std::stop_token& unwanted,
                                                   const std::function<Task<T>(size_t)>& taskOf,
                                                   const OnTaskError& onError) {
    std::vector<size_t> all(m_workers.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return onNodes(all, unwanted, taskOf, onError);
}

// SlurmLauncher has tasks with these answers, too.
template Result<std::vector<bool>>
DirectLauncher::onEveryNode(const std::stop_token&, const std::function<Task<bool>(size_t)>&,
                            const OnTaskError&);
template Result<std::vector<std::string>>
DirectLauncher::onEveryNode(const std::stop_token&, const std::function<Task<std::string>(size_t)>&,
                            const OnTaskError&);
template Result<std::vector<NodeMemory>>
DirectLauncher::onEveryNode(const std::stop_token&, const std::function<Task<NodeMemory>(size_t)>&,
                            const OnTaskError&);

namespace {

HostWorker::Task<FolderOnNode> folderTask(const FolderQuestion& question) {
    return [question](HostSession& session, const std::string& agent,
                      std::stop_token stop) -> Result<FolderOnNode> {
        AgentQuestions questions;
        Result<FolderOnNode> answer;
        questions.folder(question, answer);
        RM_RETURN_IF_ERROR(questions.ask(session, agent, std::move(stop)));
        return answer;
    };
}

} // namespace

Result<Preflight> DirectLauncher::preflight(const PreflightParts& parts) {
    const std::string& folder = m_request.spec.checkpoint.directory; // also of what goes on
    const FolderQuestion mark{folder.empty() ? kStateFolder : folder,
                              QUuid::createUuid().toString(QUuid::Id128).toStdString()};
    const bool isShown = parts.folders && parts.sharing && m_workers.size() > 1;
    const auto mayLie = std::make_shared<std::atomic<bool>>(false);
    const auto taskOf = [&](size_t node) -> Task<NodePreflight> {
        return [placed = m_request.nodes[node].node, parts, mayLie,
                spec = specToLookFor(neededSpec(), node == 0),
                marked = PreflightMark{mark.mark, node == 0, isShown, folder},
                attempt = say("launch.look-at", {{"node", nodeName(node)}})](
                   HostSession& session, const std::string& agent, std::stop_token stop) {
            *mayLie = *mayLie || marked.isFirst;
            auto there = preflightOnNode(session, agent, placed, spec, parts, marked, stop);
            return there || !parts.folders ? there : failAs(attempt, there.error());
        };
    };
    auto nodes = onEveryNode<NodePreflight>(m_stop, taskOf);
    Preflight found;
    if (nodes)
        found.nodes = std::move(*nodes);
    for (size_t i = 0; i < found.nodes.size(); ++i)
        found.nodes[i].ranks = m_request.nodes[i].ranks;
    if (isShown && nodes)
        findMark(found, mark);
    if (isShown && *mayLie)
        removeMark(mark);
    if (!nodes)
        return tl::unexpected(nodes.error());
    RM_RETURN_IF_ERROR(checkStop());
    found.lastNetwork = measuredBetween(m_request.lastNetwork, [this](const std::string& name) {
        return std::ranges::any_of(
            m_request.nodes, [&name](const PlacedParty& party) { return party.node.name == name; });
    });
    return found;
}

/// A node that does not answer is taken for one without the folder: nothing is promised then.
void DirectLauncher::findMark(Preflight& preflight, const FolderQuestion& question) {
    std::vector<std::future<Result<FolderOnNode>>> answers;
    for (size_t i = 1; i < m_workers.size(); ++i)
        answers.push_back(m_workers[i]->ask<FolderOnNode>(folderTask(question), m_stop));
    for (size_t i = 1; i < m_workers.size(); ++i) {
        NodePreflight& there = preflight.nodes[i];
        const auto answer = answers[i - 1].get();
        if (answer && question.path != kStateFolder)
            there.checkpoints = *answer;
        else if (answer)
            there.state = *answer;
    }
}

/// Takes it whatever failed or was cancelled meanwhile, but then nobody waits for it. Where the
/// first node cannot be reached any more, a byte stays.
void DirectLauncher::removeMark(FolderQuestion question) {
    question.order = MarkOrder::kTake;
    auto taken = m_workers.front()->ask<FolderOnNode>(folderTask(question));
    if (!m_stop.stop_requested())
        (void)taken.get();
}

Result<std::vector<Placement>> DirectLauncher::check() {
    RM_RETURN_IF_ERROR(checkAndPlace());
    std::vector<Placement> parts;
    for (size_t i = 0; i < m_ranks.size(); ++i)
        parts.push_back({QString::fromStdString(nodeName(i)), m_ranks[i]});
    return parts;
}

Result<void> DirectLauncher::checkAndPlace() {
    report(say("launch.check-nodes"));
    RM_ASSIGN_OR_RETURN(m_preflight, preflight(partsOfCheck()));
    m_preflight.beginning = Beginning::of(m_request.attempt, m_request.readsData);
    RM_RETURN_IF_ERROR(refuseProblems());
    m_nodes = placedNodes(m_preflight);
    RM_ASSIGN_OR_RETURN(auto ranks, placeRanks(m_request.spec, m_nodes, *m_preflight.beginning));
    m_target = std::move(ranks.target);
    m_ranks = std::move(ranks.byPart);
    for (const CheckRow& row : warnings())
        if (row.state == CheckRow::State::kBad)
            return fail(ErrorCode::kInvalid, say("launch.refused", {{"why", sentenceOf(row)}}));
    return {};
}

/// Only what warnings() tells is looked for. Whether nodes share the folder of checkpoints matters
/// only where no copies are made, and a launch does not wait for a slow share.
PreflightParts DirectLauncher::partsOfCheck() const {
    PreflightParts parts;
    const bool isWanted = m_request.readsData && m_request.wantsWarnings;
    parts.folders = isWanted;
    parts.sharing = isWanted && m_request.spec.checkpoint.copies == "off";
    parts.data = isWanted;
    // Of several nodes it is compared, of one alone only kept.
    parts.dataLimit = std::chrono::seconds(isOnSeveral() ? 5 : 1);
    return parts;
}

AttemptIdentity DirectLauncher::identity() const {
    constexpr size_t kDigits = 16;
    if (!m_stagedData.empty() && !m_stagedData.front().empty())
        return {m_trainer,
                say("launch.staged-as", {{"digest", std::filesystem::path(m_stagedData.front())
                                                        .filename()
                                                        .string()
                                                        .substr(0, kDigits)}})};
    const auto& data = m_preflight.nodes.front().data;
    return {m_trainer, data && data->isWhole ? say("launch.data-of-digest",
                                                   {{"data", dataWords(*data)},
                                                    {"digest", data->digest.substr(0, kDigits)}})
                                             : std::string()};
}

std::vector<CheckRow> DirectLauncher::warnings() const {
    if (!partsOfCheck().folders)
        return {};
    Preflight found = m_preflight;
    for (NodePreflight& there : found.nodes) {
        if (!isOnSeveral())
            there.dataProblem.clear();
        std::erase_if(there.report.runs, [this](const RunReport& run) {
            return run.runId == m_request.attempt.runId; // on a node that was declared lost
        });
    }
    std::vector<CheckRow> rows = launchRows(m_request.spec, found);
    std::erase_if(rows, [](const CheckRow& row) { return row.state == CheckRow::State::kGood; });
    return rows;
}

Result<void> DirectLauncher::refuseProblems() const {
    std::string all;
    for (const NodePreflight& there : m_preflight.nodes)
        for (const LaunchProblem& problem : there.problems)
            append(all,
                   say("launch.refused-on",
                       {{"node", there.node.name}, {"why", problemWords(problem)}}),
                   "\n");
    return all.empty() ? Result<void>() : fail(ErrorCode::kNotFound, all);
}

namespace {

/// The error, with advice where the node has no room for what is sent to it.
Error withRoomAdvice(Error error, const std::string& node) {
    if (error.code == ErrorCode::kExhausted)
        append(error.message, makeRoomOn(node));
    return error;
}

} // namespace

Result<std::vector<std::string>> DirectLauncher::sendTree(const LocalTree& tree,
                                                          const std::string& stage) {
    m_stage = stage;
    std::vector<std::string> names;
    for (size_t i = 0; i < m_workers.size(); ++i)
        names.push_back(nodeName(i));
    const auto rate =
        std::make_shared<TransferRate>(QString::fromStdString(stage), std::move(names), m_progress);
    std::vector<std::string> paths(m_workers.size());
    // Nodes of a later round find in their home what one of an earlier round was sent.
    for (const std::vector<size_t>& nodes : roundsByHome(m_nodes, tree.isInPlace)) {
        std::vector<size_t> remote;
        std::ranges::copy_if(nodes, std::back_inserter(remote),
                             [this](size_t node) { return !m_nodes[node].node.isLocal; });
        const auto chain = std::make_shared<TransferChain>(
            partiesOf(m_nodes, remote, m_request.spec.launch.interface));
        const auto taskOf = [&](size_t node) -> Task<std::string> {
            // A task that is refused gives up its place.
            const auto at = std::ranges::find(remote, node);
            const auto place =
                remote.size() > 1 && at != remote.end()
                    ? std::make_shared<ChainPlace>(chain, static_cast<size_t>(at - remote.begin()))
                    : nullptr;
            return [&tree, rate, node, place, name = nodeName(node)](
                       HostSession& session, const std::string& agent, std::stop_token stop) {
                const auto report = [rate, node](const Transferred& transferred) {
                    rate->update(node, transferred);
                };
                return deployTree(session, agent, tree, report, stop, place.get())
                    .map_error([&](const Error& error) { return withRoomAdvice(error, name); });
            };
        };
        RM_ASSIGN_OR_RETURN(auto sent, onNodes<std::string>(nodes, m_stop, taskOf));
        for (size_t i = 0; i < nodes.size(); ++i)
            paths[nodes[i]] = std::move(sent[i]);
    }
    return paths;
}

/// A run that resumes from a checkpoint reads weights and tokenizer from it, and knows its folder.
RunSpec DirectLauncher::neededSpec() const {
    RunSpec spec = specToLookFor(m_request.spec, true);
    if (!m_request.attempt.startFrom.empty())
        spec.data.tokenizerFile = spec.model.startFrom = spec.checkpoint.directory = {};
    if (!m_request.readsData) {
        spec.data.train = spec.data.validation = {};
        spec.checkpoint.directory = {};
        spec.data.stage &= !(spec.data.tokenizerFile.empty() && spec.model.startFrom.empty());
    }
    return spec;
}

Result<void> DirectLauncher::deploy() {
    if (const auto continues = checkStop(); !continues || m_isDeployed)
        return continues;
    RM_ASSIGN_OR_RETURN(const auto bundle, trainerBundle(m_target.runtime));
    m_trainer = trainerIdentity(bundle);
    RM_ASSIGN_OR_RETURN(auto bundles, sendTree(bundle, say("launch.send-trainer")));
    m_bundles = std::move(bundles);
    m_stagedData.assign(m_workers.size(), {});
    m_isDeployed = !neededSpec().data.stage;
    if (m_isDeployed)
        return {};
    RM_ASSIGN_OR_RETURN(const auto data, stagedTree(neededSpec()));
    RM_ASSIGN_OR_RETURN(auto staged, sendTree(data, say("launch.send-data")));
    m_stagedData = std::move(staged);
    m_isDeployed = true;
    return {};
}

bool DirectLauncher::mayBeTooLarge() const {
    const auto bound = static_cast<double>(memoryBound(m_request.spec));
    for (size_t i = 0; i < m_nodes.size(); ++i) {
        const int64_t free = leastFreeOf(m_nodes[i].report, m_target.device);
        const double needed = m_target.device == "cpu" ? bound * m_ranks[i] : bound;
        if (free > 0 && needed > static_cast<double>(free))
            return true;
    }
    return false;
}

std::string DirectLauncher::whatIsTooLarge() {
    // A failure to send what estimates is left to the launch itself, which meets and reports it.
    if (!mayBeTooLarge() || !deploy())
        return {};
    report(say("launch.estimate-memory"));
    const auto plans = makePlans(m_request.spec, m_nodes, m_ranks, m_target.device, {}, m_bundles,
                                 m_request.attempt);
    const auto estimates = onEveryNode<NodeMemory>(m_stop, [&](size_t node) -> Task<NodeMemory> {
        return [spec = specOn(node), &plan = plans[node]](
                   HostSession& session, const std::string& agent, std::stop_token stop) {
            // A failed estimate never prevents a launch.
            return estimateOnNode(session, agent, spec, plan, stop).value_or(NodeMemory());
        };
    });
    for (size_t i = 0; estimates && i < estimates->size(); ++i)
        if (!(*estimates)[i].fits)
            return tooLargeText(m_request.attempt.runName, nodeName(i), plans[i], (*estimates)[i]);
    return {};
}

std::string DirectLauncher::specOn(size_t node) const {
    return toToml(specForNode(m_request.spec, m_request.attempt.runId, m_stagedData[node]));
}

Result<std::vector<NodePlan>> DirectLauncher::planAtMeeting() {
    RM_RETURN_IF_ERROR(checkStop());
    report(say("launch.find-where-ranks-meet"));
    std::vector<HostWorker*> workers;
    for (const auto& worker : m_workers)
        workers.push_back(worker.get());
    RM_ASSIGN_OR_RETURN(m_rendezvous, findRendezvous(workers, m_nodes, m_request.spec, m_stop));
    return makePlans(m_request.spec, m_nodes, m_ranks, m_target.device, m_rendezvous, m_bundles,
                     m_request.attempt);
}

Result<void> DirectLauncher::start() {
    RM_ASSIGN_OR_RETURN(const auto plans, planAtMeeting());
    report(say("launch.start-ranks"));
    return startAll(plans);
}

Result<std::vector<std::string>>
DirectLauncher::runTrainer(const std::function<TrainerCall(const NodePlan&)>& callOf,
                           std::chrono::milliseconds timeout) {
    RM_ASSIGN_OR_RETURN(const auto plans, planAtMeeting());
    std::vector<std::string> names;
    for (size_t i = 0; i < m_workers.size(); ++i)
        names.push_back(nodeName(i));
    report(say("launch.run-trial", {{"trial", purpose()}, {"nodes", someOf(names)}}));
    FirstError first(m_stop);
    const auto taskOf = [&](size_t node) -> Task<std::string> {
        return [&plan = plans[node], call = callOf(plans[node]), timeout, name = nodeName(node)](
                   HostSession& session, const std::string& agent, std::stop_token stop) {
            auto outcome = runTrainerOf(plan, session, agent, call, timeout, stop);
            return outcome ? outcome : failAs(name, outcome.error());
        };
    };
    auto outcome = onEveryNode<std::string>(first.endsOthers(), taskOf,
                                            [&first](const Error& error) { first.note(error); });
    return outcome ? outcome : tl::unexpected<Error>(first.get());
}

std::string DirectLauncher::meeting() const {
    if (m_nodes.size() < 2)
        return {};
    std::vector<std::string> names, interfaces;
    for (size_t i = 0; i < m_nodes.size(); ++i) {
        names.push_back(nodeName(i));
        interfaces.push_back(m_rendezvous.addresses[i].name);
    }
    const std::string elsewhere = m_target.device == "cuda" ? m_rendezvous.ncclElsewhere : "";
    const std::string& host = m_rendezvous.masterAddr;
    std::string words = say("launch.meeting", {{"host", isSix(host) ? '[' + host + ']' : host},
                                               {"port", std::to_string(m_rendezvous.masterPort)},
                                               {"interfaces", byInterface(interfaces, names)}});
    if (!elsewhere.empty())
        append(words, elsewhere);
    return words;
}

Result<void> DirectLauncher::startAll(const std::vector<NodePlan>& plans) {
    // A start that is interrupted half-way could still spawn ranks after abandon(), so that the
    // launch's cancellation does not do it, but only the end of this program.
    m_mayHaveLeftRanks = true;
    const auto started = onEveryNode<bool>(m_stop, [this, &plans](size_t node) -> Task<bool> {
        return [spec = specOn(node), &plan = plans[node], closing = m_workers[node]->closing()](
                   HostSession& session, const std::string& agent, std::stop_token) {
            return startOnNode(session, agent, spec, plan, closing).map([] { return true; });
        };
    });
    if (started)
        return {};
    abandon();
    return tl::unexpected(started.error());
}

void DirectLauncher::abandon() {
    // Errors are not reported: the launch has failed already, and its error names the node.
    const auto ended = onEveryNode<bool>({}, [this](size_t) -> Task<bool> {
        return [id = m_request.attempt.runId](HostSession& session, const std::string& agent,
                                              std::stop_token stop) {
            return stopOnNode(session, agent, id, stop);
        };
    });
    m_mayHaveLeftRanks = !ended;
}

} // namespace rm
