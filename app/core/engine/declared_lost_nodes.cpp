// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/declared_lost_nodes.h"

#include "app/core/engine/parts.h"
#include "app/core/findings/text.h"
#include "app/core/follow/read_rest.h"
#include "app/core/store/attempts.h"
#include "shared/io/clock.h"

#include <QPromise>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

namespace rm {

namespace {

/// How long nodes that were declared lost are left alone at first, so that a command for such a
/// node comes before that.
constexpr auto kFirstTry = std::chrono::seconds(5); ///< also while a run is launched
constexpr auto kPause = std::chrono::seconds(15);
constexpr int kMostPauseDoublings = 2; ///< of that: to a minute
/// How long a kill of ranks elsewhere waits for such nodes: as long as it takes to find out that a
/// node cannot be reached.
constexpr auto kBeside = std::chrono::seconds(15);

/// What became of a node; nullopt: it has not answered yet.
std::string wordsOf(const std::string& node, const std::optional<Result<bool>>& lived) {
    if (!lived)
        return say("engine.not-heard-on", {{"node", node}});
    if (!*lived)
        return say("engine.not-killed-on", {{"node", node}, {"why", lived->error().message}});
    return say(**lived ? "engine.killed-on" : "engine.nothing-lived-on", {{"node", node}});
}

/// The nodes of a killBeside(), until it is answered.
struct Beside {
    std::vector<std::string> nodes;
    std::vector<std::optional<Result<bool>>> lived; ///< nullopt: not known yet
    QPromise<std::string> answer;
    bool isAnswered = false;

    /// If all is known, or it `isLate`.
    void settle(bool isLate) {
        const auto isKnown = [](const auto& each) { return each.has_value(); };
        if (isAnswered || (!isLate && !std::ranges::all_of(lived, isKnown)))
            return;
        isAnswered = true;
        std::vector<std::string> words;
        for (size_t i = 0; i < nodes.size(); ++i)
            words.push_back(wordsOf(nodes[i], lived[i]));
        answer.addResult(joined(words));
        answer.finish();
    }
};

} // namespace

DeclaredLostNodes::DeclaredLostNodes(LocalEngine& engine)
    : m_engine(engine) {
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &DeclaredLostNodes::endAll);
}

void DeclaredLostNodes::begin() {
    m_timer.start(kFirstTry);
}

void DeclaredLostNodes::look() {
    m_timer.start(kPause);
}

bool DeclaredLostNodes::isEnding(const DeclaredLostNode& declaredLost) const {
    return std::ranges::count(m_ending, declaredLost) > 0;
}

/// Ends them one after another. The answer has one result for each. See endDeclaredLost().
QFuture<std::vector<Result<bool>>>
DeclaredLostNodes::end(const std::vector<std::pair<DeclaredLostNode, Node>>& nodes,
                       const OnEnded& onEnded) {
    for (const auto& [declaredLost, node] : nodes)
        m_ending.push_back(declaredLost);
    const auto ended =
        runOn(m_engine.parts().pool, [nodes, onEnded, context = m_engine.closingContext()] {
            std::vector<Result<bool>> all;
            for (const auto& [declaredLost, node] : nodes)
                all.push_back(
                    endDeclaredLost(context, node, declaredLost, context.token->stop(), onEnded));
            return all;
        });
    return passOn(ended, this, [this, nodes](const std::vector<Result<bool>>&) {
        for (const auto& [declaredLost, node] : nodes) // another one may have begun
            m_ending.erase(std::ranges::find(m_ending, declaredLost));
    });
}

void DeclaredLostNodes::endAll() {
    const LocalEngine::Parts& parts = m_engine.parts();
    const auto all = parts.writer && parts.reader ? parts.reader->declaredLost()
                                                  : std::vector<DeclaredLostNode>();
    std::map<std::string, std::vector<std::pair<DeclaredLostNode, Node>>> byNode;
    bool isAnyLaunching = false;
    for (const DeclaredLostNode& declaredLost : all) {
        const auto node = parts.fleet->find(QString::fromStdString(declaredLost.node));
        const bool isLaunching = parts.launches.contains(declaredLost.run);
        isAnyLaunching = isAnyLaunching || isLaunching;
        if (node && !isLaunching && !isEnding(declaredLost) &&
            m_unreached[declaredLost.node].notBeforeNs <= monotonicNowNs())
            byNode[declaredLost.node].emplace_back(declaredLost, *node);
    }
    for (const auto& [node, runs] : byNode)
        whenAnswered(end(runs), this, [this, name = node](const std::vector<Result<bool>>& ended) {
            onEnded(name, ended);
        });
    if (!all.empty())
        m_timer.start(isAnyLaunching ? kFirstTry : kPause);
}

void DeclaredLostNodes::onEnded(const std::string& node, const std::vector<Result<bool>>& ended) {
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

QFuture<Result<CommandState>> DeclaredLostNodes::kill(const QString& run) {
    const std::string attempt = CommandRequest{run, CommandKind::kKill}.attempt();
    std::vector<std::pair<DeclaredLostNode, Node>> nodes;
    for (const DeclaredLostNode& declaredLost : m_engine.parts().reader->declaredLost(run)) {
        const auto node = m_engine.find(QString::fromStdString(declaredLost.node));
        if (!node)
            return ready<Result<CommandState>>(failAs(attempt, node.error()));
        nodes.emplace_back(declaredLost, *node);
    }
    return end(nodes).then([attempt, nodes](const std::vector<Result<bool>>& ended) {
        std::vector<std::string> words;
        for (size_t i = 0; i < ended.size(); ++i) {
            if (!ended[i])
                return Result<CommandState>(failAs(attempt, ended[i].error()));
            words.push_back(wordsOf(nodes[i].first.node, ended[i]));
        }
        return Result<CommandState>(CommandState{{}, CommandProgress::kApplied, -1, joined(words)});
    });
}

/// Begins to end what lives there. The answer comes before what the node has of the run is read.
QFuture<Result<bool>> DeclaredLostNodes::ended(const DeclaredLostNode& declaredLost) {
    const auto node = m_engine.find(QString::fromStdString(declaredLost.node));
    if (!node)
        return ready<Result<bool>>(tl::unexpected(node.error()));
    const auto answer = std::make_shared<QPromise<Result<bool>>>();
    answer->start();
    static_cast<void>(end({{declaredLost, *node}}, [answer](const Result<bool>& lived) {
        answer->addResult(lived);
        answer->finish();
    }));
    return answer->future();
}

QFuture<std::string> DeclaredLostNodes::killBeside(const QString& run) {
    const auto beside = std::make_shared<Beside>();
    beside->answer.start();
    for (const DeclaredLostNode& declaredLost : m_engine.parts().reader->declaredLost(run)) {
        const size_t at = beside->nodes.size();
        beside->nodes.push_back(declaredLost.node);
        beside->lived.emplace_back();
        whenAnswered(ended(declaredLost), this, [beside, at](const Result<bool>& lived) {
            beside->lived[at] = lived;
            beside->settle(false);
        });
    }
    QTimer::singleShot(kBeside, this, [beside] { beside->settle(true); });
    return beside->answer.future();
}

} // namespace rm
