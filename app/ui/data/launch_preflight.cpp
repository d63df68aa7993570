// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/launch_preflight.h"

#include "app/core/answer.h"
#include "app/core/launch/node_preflight.h"
#include "app/core/launch/plan.h"
#include "app/core/store/store_reader.h"
#include "app/ui/data/run_time.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/look/format.h"
#include "shared/return_if_error.h"
#include "shared/spec/model_family.h"

#include <algorithm>
#include <numeric>

namespace rm {

namespace {
constexpr int kSoonMs = 300;
constexpr qint64 kStaleMs = 10'000;
} // namespace

LaunchPreflight::LaunchPreflight(const AppContext& context, QObject* parent)
    : QObject(parent)
    , m_context(context) {
    m_soon.setSingleShot(true);
    m_soon.setInterval(kSoonMs);
    connect(&m_soon, &QTimer::timeout, this, &LaunchPreflight::ask);
    // After a successful check the node may answer what it could not before.
    connect(&m_context.fleet, &Fleet::nodeOpened, this, [this](const QString& node) {
        m_inquiries.erase(node);
        m_soon.start();
    });
}

RunSpec LaunchPreflight::specFor(const QString& node) const {
    return specToLookFor(m_spec, !m_nodes.empty() && m_nodes.front().node == node);
}

LaunchPreflight::Question LaunchPreflight::question(const QString& node) const {
    const RunSpec spec = specFor(node);
    return {spec.data.train,
            spec.data.validation,
            spec.data.tokenizerFile,
            spec.model.startFrom,
            spec.data.stage,
            spec.launch.device,
            spec.launch.runtime,
            spec.launch.sbatch,
            spec.checkpoint.directory,
            spec.checkpoint.onExisting,
            spec.name};
}

void LaunchPreflight::set(const RunSpec& spec, const std::vector<Placement>& nodes) {
    if (spec == m_spec && nodes == m_nodes)
        return;
    m_spec = spec;
    m_nodes = nodes;
    m_soon.start();
}

void LaunchPreflight::setActive(bool active) {
    m_active = active;
    if (!active)
        return;
    std::erase_if(m_inquiries, [](const auto& inquiry) {
        return inquiry.second.answer && inquiry.second.since.hasExpired(kStaleMs);
    });
    m_soon.start();
}

void LaunchPreflight::askAgain() {
    std::erase_if(m_inquiries, [](const auto& inquiry) { return !inquiry.second.isPending; });
    ask();
}

void LaunchPreflight::ask() {
    if (!m_active)
        return;
    for (const Placement& placement : m_nodes)
        askNode(placement.node);
    askTogether();
    askHowLong();
    Q_EMIT changed();
}

void LaunchPreflight::askNode(const QString& node) {
    Inquiry& inquiry = m_inquiries[node];
    const bool isKnown = inquiry.answer && inquiry.question == question(node);
    if (inquiry.isPending || isKnown || m_spec.data.train.empty())
        return;
    inquiry = {question(node), true, {}, {}};
    m_together.answer.reset(); // it is of what the nodes said before
    const auto onAnswer = [this, node](const Result<NodePreflight>& answer) {
        Inquiry& answered = m_inquiries[node];
        answered.isPending = false;
        answered.answer = answer;
        answered.since.start();
        if (answered.question != question(node))
            m_soon.start();
        askTogether();
        Q_EMIT changed();
    };
    whenAnswered(m_context.engine.ask(NodePreflightRequest{specFor(node), node}), this, onAnswer);
}

LaunchPreflight::TogetherQuestion LaunchPreflight::togetherQuestion() const {
    const auto ranks = this->ranks();
    TogetherQuestion question{m_spec.checkpoint,
                              m_spec.launch.interface,
                              m_spec.launch.ranks,
                              ranks ? std::string() : ranks.error().message,
                              checkpointBound(m_spec),
                              {},
                              m_nodes};
    for (const Placement& placement : m_nodes)
        question.byNode.push_back(this->question(placement.node));
    return question;
}

bool LaunchPreflight::canAskTogether() const {
    const bool isSound = check(m_spec).has_value();
    return isSound && !m_nodes.empty() &&
           std::ranges::all_of(m_nodes, [this](const Placement& placement) {
               const auto answer = of(placement.node);
               return answer && *answer && (*answer)->problems.empty();
           });
}

void LaunchPreflight::askTogether() {
    if (!m_active || m_together.isPending || !canAskTogether())
        return;
    const TogetherQuestion question = togetherQuestion();
    if (m_together.answer && m_together.question == question)
        return;
    m_together = {question, true, {}};
    const auto onAnswer = [this](const Result<std::vector<CheckRow>>& answer) {
        m_together.isPending = false;
        m_together.answer = answer;
        askTogether(); // the launch may be another one by now
        Q_EMIT changed();
    };
    whenAnswered(m_context.engine.ask(CheckLaunchRequest{m_spec, m_nodes}), this, onAnswer);
}

std::optional<Result<std::vector<CheckRow>>> LaunchPreflight::together() const {
    const bool isIt =
        canAskTogether() && m_together.answer && m_together.question == togetherQuestion();
    return isIt ? m_together.answer : std::nullopt;
}

void LaunchPreflight::askHowLong() {
    const auto likely = m_context.store.ask([spec = m_spec, nodes = m_nodes](StoreReader& reader) {
        return secondsLike(reader, spec, nodes);
    });
    const auto onAnswer = [this, generation = ++m_generation](std::optional<double> seconds) {
        if (generation != m_generation || seconds == m_seconds)
            return;
        m_seconds = seconds;
        Q_EMIT changed();
    };
    whenAnswered(likely, this, onAnswer);
}

std::optional<Result<NodePreflight>> LaunchPreflight::of(const QString& node) const {
    const auto inquiry = m_inquiries.find(node);
    if (inquiry == m_inquiries.end() || inquiry->second.question != question(node))
        return std::nullopt;
    return inquiry->second.answer;
}

bool LaunchPreflight::isAsking() const {
    return std::ranges::any_of(m_nodes, [this](const Placement& placement) {
        const auto inquiry = m_inquiries.find(placement.node);
        return inquiry != m_inquiries.end() && inquiry->second.isPending;
    });
}

QString LaunchPreflight::age() const {
    qint64 oldest = -1;
    for (const Placement& placement : m_nodes)
        if (const auto inquiry = m_inquiries.find(placement.node);
            inquiry != m_inquiries.end() && inquiry->second.answer)
            oldest = std::max(oldest, inquiry->second.since.elapsed());
    return oldest < 0 ? QString()
                      : tr("%1 ago").arg(formatDuration(static_cast<double>(oldest) / 1000));
}

Result<LaunchPreflight::Ranks> LaunchPreflight::ranks() const {
    RM_RETURN_IF_ERROR(check(m_spec));
    std::vector<PlacedNode> nodes;
    for (const Placement& placement : m_nodes) {
        const auto answer = of(placement.node);
        const auto node = m_context.fleet.find(placement.node);
        if (!answer || !*answer || !node)
            return fail(ErrorCode::kUnavailable,
                        placement.node.toStdString() + " has not answered");
        nodes.push_back(placeNode(*node, (*answer)->report, placement.ranks, (*answer)->partition));
    }
    RM_ASSIGN_OR_RETURN(auto ranks, placeRanks(m_spec, nodes, Beginning::of(m_spec)));
    std::vector<int>& byPart = ranks.byPart;
    // A cluster is asked for by the number of ranks on all nodes of the job.
    if (!nodes.empty() && nodes.front().node.isSlurm)
        byPart = {std::accumulate(byPart.begin(), byPart.end(), 0)};
    return Ranks{std::move(byPart), ranks.target.device};
}

} // namespace rm
