// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/given_up_nodes.h"

#include "app/core/engine/parts.h"
#include "app/core/findings/text.h"
#include "app/core/follow/read_rest.h"
#include "app/core/store/attempts.h"
#include "shared/io/clock.h"

#include <algorithm>
#include <chrono>

namespace rm {

namespace {

/// How long nodes that were declared lost are left alone at first, so that a command for such a
/// node comes before that.
constexpr auto kFirstTry = std::chrono::seconds(5); ///< also while a run is launched
constexpr auto kPause = std::chrono::seconds(15);
constexpr int kMostPauseDoublings = 2; ///< of that: to a minute

} // namespace

GivenUpNodes::GivenUpNodes(LocalEngine& engine)
    : m_engine(engine) {
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &GivenUpNodes::endAll);
}

void GivenUpNodes::begin() {
    m_timer.start(kFirstTry);
}

void GivenUpNodes::look() {
    m_timer.start(kPause);
}

bool GivenUpNodes::isEnding(const GivenUpNode& givenUp) const {
    return std::ranges::count(m_ending, givenUp) > 0;
}

/// Ends them one after another. The answer has one result for each.
QFuture<std::vector<Result<bool>>>
GivenUpNodes::end(const std::vector<std::pair<GivenUpNode, Node>>& nodes) {
    for (const auto& [givenUp, node] : nodes)
        m_ending.push_back(givenUp);
    const auto ended = runOn(m_engine.parts().pool, [nodes, context = m_engine.closingContext()] {
        std::vector<Result<bool>> all;
        for (const auto& [givenUp, node] : nodes)
            all.push_back(endGivenUp(context, node, givenUp, context.token->stop()));
        return all;
    });
    return passOn(ended, this, [this, nodes](const std::vector<Result<bool>>&) {
        for (const auto& [givenUp, node] : nodes) // another one may have begun
            m_ending.erase(std::ranges::find(m_ending, givenUp));
    });
}

void GivenUpNodes::endAll() {
    const LocalEngine::Parts& parts = m_engine.parts();
    const auto all =
        parts.writer && parts.reader ? parts.reader->givenUp() : std::vector<GivenUpNode>();
    std::map<std::string, std::vector<std::pair<GivenUpNode, Node>>> byNode;
    bool isAnyLaunching = false;
    for (const GivenUpNode& givenUp : all) {
        const auto node = parts.fleet->find(QString::fromStdString(givenUp.node));
        const bool isLaunching = parts.launches.contains(givenUp.run);
        isAnyLaunching = isAnyLaunching || isLaunching;
        if (node && !isLaunching && !isEnding(givenUp) &&
            m_unreached[givenUp.node].notBeforeNs <= monotonicNowNs())
            byNode[givenUp.node].emplace_back(givenUp, *node);
    }
    for (const auto& [node, runs] : byNode)
        whenAnswered(end(runs), this, [this, name = node](const std::vector<Result<bool>>& ended) {
            onEnded(name, ended);
        });
    if (!all.empty())
        m_timer.start(isAnyLaunching ? kFirstTry : kPause);
}

void GivenUpNodes::onEnded(const std::string& node, const std::vector<Result<bool>>& ended) {
    const auto failed = std::ranges::find_if(ended, [](const auto& one) { return !one; });
    if (failed == ended.end()) {
        m_unreached.erase(node);
        return;
    }
    Unreached& unreached = m_unreached[node];
    const int64_t pauseNs = std::chrono::nanoseconds(kPause).count()
                            << std::min(unreached.times++, kMostPauseDoublings);
    unreached.notBeforeNs =
        failed->error().code == ErrorCode::kDenied ? INT64_MAX : monotonicNowNs() + pauseNs;
}

QFuture<Result<CommandState>> GivenUpNodes::kill(const QString& run) {
    const std::string attempt = CommandRequest{run, CommandKind::kKill}.attempt();
    std::vector<std::pair<GivenUpNode, Node>> nodes;
    for (const GivenUpNode& givenUp : m_engine.parts().reader->givenUp(run)) {
        const auto node = m_engine.find(QString::fromStdString(givenUp.node));
        if (!node)
            return ready<Result<CommandState>>(failAs(attempt, node.error()));
        nodes.emplace_back(givenUp, *node);
    }
    return end(nodes).then([attempt, nodes](const std::vector<Result<bool>>& ended) {
        std::vector<std::string> words;
        for (size_t i = 0; i < ended.size(); ++i) {
            if (!ended[i])
                return Result<CommandState>(failAs(attempt, ended[i].error()));
            words.push_back(say(*ended[i] ? "engine.killed-on" : "engine.nothing-lived-on",
                                {{"node", nodes[i].first.node}}));
        }
        return Result<CommandState>(CommandState{{}, CommandProgress::kApplied, -1, joined(words)});
    });
}

} // namespace rm
