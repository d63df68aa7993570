// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_context.h"

#include "app/cli/interruption.h"
#include "app/cli/json_view.h"
#include "app/cli/terminal.h"
#include "app/core/remote/credential_store.h"
#include "app/core/runs/same_name.h"
#include "app/core/settings/private_files.h"
#include "app/core/store/read_failures.h"
#include "app/core/store/store_reader.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"

#include <QEventLoop>
#include <QFile>
#include <QTimer>

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>

namespace rm::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto kCatchUp = 5s;
constexpr auto kSamplesDue = 1s; ///< after all nodes answered; not every step is logged
constexpr int64_t kLostForGoodNs = 1'000'000'000;

/// Whether Slurm was asked about the job: the first report comes before that. Then ranks live or
/// it is known why they do not yet; a job that is over ends the run in a moment.
bool isJobKnown(const RunState& state) {
    const auto lives = [](const RankState& rank) { return rank.pid > 0; };
    return state.supervised && (!state.waitsFor.empty() || std::ranges::any_of(state.ranks, lives));
}

/// Every node of the run has reported its state, or cannot be reached.
bool hasHeardFromAll(const Fleet& fleet, const LiveState& live) {
    return std::ranges::all_of(live.nodes, [&](const LiveState::NodeLink& link) {
        const auto node = fleet.find(QString::fromStdString(link.node));
        const bool isJob = node && node->isSlurm;
        return isGone(link) || (link.state && (!isJob || isJobKnown(*link.state)));
    });
}

/// "gpt-7f3a (paused at 60, 5 min ago), gpt-11bc (running, 2 h ago)"
std::string listed(const std::vector<RunSummary>& runs) {
    constexpr size_t kMost = 6;
    std::string text;
    for (size_t at = 0; at < std::min(kMost, runs.size()); ++at)
        text += (at == 0 ? "" : ", ") + runs[at].id.toStdString() + " (" + runStateName(runs[at]) +
                ", made " + formatAgo(runs[at].createdNs) + ")";
    if (runs.size() > kMost)
        text += " and " + std::to_string(runs.size() - kMost) + " more, see `ringmaster runs`";
    return text;
}

int64_t stepOfRankZero(const LiveState& live) {
    for (const LiveState::NodeLink& node : live.nodes)
        for (const RankState& rank : node.state ? node.state->ranks : std::vector<RankState>())
            if (rank.rank == 0)
                return rank.step;
    return 0;
}

} // namespace

CommandContext::CommandContext(bool json)
    : m_json(json)
    , m_paths(Paths::fromEnvironment()) {}

CommandContext::~CommandContext() = default;

Result<void> CommandContext::open(bool needsNodes) {
    if (const auto prepared = m_paths.prepare(); !prepared)
        return failAs("prepare Ringmaster's folders", prepared.error());
    m_fleet = std::make_unique<Fleet>(m_paths.config, m_paths.state);
    if (const auto loaded = m_fleet->load(); !loaded) {
        if (needsNodes)
            return loaded;
        std::cerr << "ringmaster: " << oneLine(loaded.error().message)
                  << "; until that is mended only this computer is known as a node" << std::endl;
    }
    m_engine = std::make_unique<SharedEngine>(m_paths, *m_fleet, face::Kind::kTerminal);
    // A failure that names no run concerns every command.
    QObject::connect(m_engine.get(), &Engine::failed, m_engine.get(),
                     [](const QString& run, const QString& why) {
                         if (run.isEmpty())
                             std::cerr << "ringmaster: " << oneLine(why.toStdString()) << std::endl;
                     });
    return await(m_engine->open());
}

bool CommandContext::canOnlyRead(const Error& error) const {
    const std::string database = m_paths.database().toStdString();
    const bool isFull = error.code == ErrorCode::kExhausted && isOnFullDisk(database);
    return (isFull || isOnReadOnlyDisk(database)) && QFile::exists(m_paths.database());
}

namespace {

/// "DIR is on a full disk"
std::string whyUnwritable(const Paths& paths, const Error& error) {
    return paths.data.toStdString() +
           (error.code == ErrorCode::kExhausted ? " is on a full disk" : " is read-only");
}

} // namespace

void CommandContext::onlyRead(const Error& error) {
    m_onlyReads = true;
    std::cerr << "ringmaster: " << whyUnwritable(m_paths, error)
              << ", so that no node is asked: what is stored is shown as it is" << std::endl;
}

void CommandContext::goUnrecorded(const Error& error) {
    m_isUnrecorded = true;
    m_engine->openUnrecorded();
    std::cerr << "ringmaster: " << whyUnwritable(m_paths, error)
              << ", so that nothing of this command is recorded here: it is sent all the same, and "
                 "how the run ended is read from its nodes once that can be written"
              << std::endl;
}

void CommandContext::finish() {
    const auto isDone = [this] { return !m_engine->isBusyForOthers(); };
    if (isDone())
        return;
    if (isatty(STDERR_FILENO))
        std::cerr << "Another terminal's launch goes on here until its ranks train; Ctrl+C ends it"
                  << std::endl;
    const Interruption interruption;
    awaitUntil([&] { return interruption.isRequested() || isDone(); });
}

Result<std::unique_ptr<StoreReader>> CommandContext::reader() const {
    return StoreReader::open(m_paths.database());
}

Result<RunSummary> CommandContext::resolve(const std::string& run) const {
    RM_ASSIGN_OR_RETURN(const auto opened, reader());
    const auto snapshot = opened->snapshot();
    const auto found = opened->resolve(QString::fromStdString(run));
    if (const auto failure = readFailure())
        return tl::unexpected(*failure);
    if (found && found->name.toStdString() == run && found->id.toStdString() != run)
        if (const auto same = calledSo(opened->runs(), found->name); same.size() > 1)
            std::cerr << "ringmaster: " << same.size() << " runs are called "
                      << oneLine(found->name.toStdString()) << "; the newest is meant, "
                      << listed({*found}) << std::endl;
    return found;
}

Result<RunSummary> CommandContext::resolveOne(const std::string& run, bool live) const {
    RM_ASSIGN_OR_RETURN(const auto opened, reader());
    const auto snapshot = opened->snapshot();
    const auto found = opened->resolve(QString::fromStdString(run));
    if (const auto failure = readFailure())
        return tl::unexpected(*failure);
    if (!found || found->name.toStdString() != run || found->id.toStdString() == run)
        return found;
    auto meant = calledSo(opened->runs(), found->name);
    const auto isOver = [](const RunSummary& each) { return hasEnded(each.state); };
    if (live && !std::ranges::all_of(meant, isOver))
        std::erase_if(meant, isOver);
    if (meant.size() == 1)
        return meant.front();
    return fail(ErrorCode::kInvalid,
                "find run \"" + run + "\": " + std::to_string(meant.size()) +
                    " runs are called so, give the id of one: " + listed(meant));
}

void CommandContext::catchUp() {
    if (const auto opened = reader())
        catchUpWith((*opened)->runs());
}

Result<RunSummary> CommandContext::caughtUp(const std::string& text) {
    const auto found = resolve(text);
    return found ? Result<RunSummary>(caughtUpWith(*found)) : found;
}

Result<RunSummary> CommandContext::caughtUpOne(const std::string& text, bool live) {
    const auto found = resolveOne(text, live);
    return found ? Result<RunSummary>(caughtUpWith(*found)) : found;
}

RunSummary CommandContext::caughtUpWith(RunSummary run) {
    catchUpWith({run});
    if (auto now = resolve(run.id.toStdString()))
        run = std::move(*now);
    noteLinks(run);
    return run;
}

void CommandContext::noteLinks(RunSummary& run) const {
    for (const LiveState::NodeLink& node : m_engine->live(run.id).nodes) {
        const auto known = std::ranges::find(run.lostNodes, node.node, &LostNode::nodeName);
        const std::string why = node.why.isEmpty() ? std::string()
                                : node.link == LiveState::Link::kMissing
                                    ? "has nothing of the run: " + node.why.toStdString()
                                    : "cannot be reached: " + node.why.toStdString();
        if (isGone(node) && known == run.lostNodes.end())
            run.lostNodes.push_back({node.node, unreachableSinceNs(node), why});
        else if (isGone(node) && !why.empty())
            known->why = why;
        // Packets that are dropped are found out later than anybody waits here.
        if (node.link == LiveState::Link::kConnecting && known == run.lostNodes.end())
            run.lostNodes.push_back({node.node, wallNowNs(), "has not answered yet"});
        if (node.link == LiveState::Link::kLive || node.link == LiveState::Link::kUnstored)
            std::erase_if(run.lostNodes,
                          [&](const LostNode& lost) { return lost.nodeName == node.node; });
    }
}

void CommandContext::catchUpWith(const std::vector<RunSummary>& runs) {
    if (m_onlyReads || m_isUnrecorded)
        return;
    std::vector<QString> live;
    for (const RunSummary& run : runs)
        if (isLive(run.state))
            live.push_back(run.id);
    for (const QString& run : live)
        m_engine->attach(run);
    const auto allHave = [&](const std::function<bool(const QString&)>& done) {
        return [&live, done] { return std::all_of(live.begin(), live.end(), done); };
    };
    awaitUntil(allHave([this](const QString& run) {
                   return hasHeardFromAll(*m_fleet, m_engine->live(run));
               }),
               kCatchUp);
    std::map<QString, int64_t> steps;
    for (const QString& run : live)
        steps[run] = stepOfRankZero(m_engine->live(run));
    const auto isStored = [&](const QString& run) {
        const auto stored = resolve(run.toStdString());
        return !stored || stored->step >= steps[run];
    };
    awaitUntil(allHave(isStored), kSamplesDue);
}

void CommandContext::grant(const Node& node, const Credentials& credentials) {
    m_fleet->credentials().grant(node, credentials);
}

bool awaitUntil(const std::function<bool()>& done,
                std::optional<std::chrono::milliseconds> deadline) {
    if (done())
        return true;
    QEventLoop loop;
    QTimer poll;
    bool reached = false;
    QObject::connect(&poll, &QTimer::timeout, &loop, [&] {
        reached = done();
        if (reached)
            loop.quit();
    });
    poll.start(50ms);
    if (deadline)
        QTimer::singleShot(*deadline, &loop, &QEventLoop::quit);
    loop.exec();
    return reached;
}

bool isGone(const LiveState::NodeLink& node) {
    if (node.link == LiveState::Link::kRefused)
        return true;
    // A link that was lost just now may return in a moment, or turn out to be the end of the run.
    return isRetried(node.link) && wallNowNs() - node.lostSinceNs > kLostForGoodNs;
}

Result<void> agree(const CommandContext& context, const std::string& attempt,
                   const std::string& what, bool yes) {
    if (yes)
        return {};
    if (context.json() || !::isatty(STDIN_FILENO))
        return fail(ErrorCode::kInvalid, attempt + ": " + what + "; --yes agrees to that");
    if (askYesNo(what + "\nGo on?"))
        return {};
    return fail(ErrorCode::kInvalid, attempt + ": not agreed to; nothing was changed");
}

std::string liveWordsOf(const CommandContext& context, const std::string& node) {
    const auto reader = context.reader();
    const QStringList live = reader ? liveRunsOn((*reader)->runs(), node) : QStringList();
    if (live.isEmpty())
        return {};
    const bool isOne = live.size() == 1;
    std::string words = live.join(", ").toStdString() + (isOne ? " is" : " are") +
                        " live there; pause, stop or kill " + (isOne ? "it" : "them") +
                        " first, or declare the machine lost: ";
    for (const QString& run : live)
        words += std::string(run == live.front() ? "" : "; ") + "ringmaster declare-lost " +
                 run.toStdString() + ' ' + node;
    return words;
}

int printError(bool json, const Error& error) {
    const auto failure = readFailure();
    return failure ? static_cast<int>(exitCodeFor(failure->code)) : printLast(json, error);
}

int printLast(bool json, const Error& error) {
    if (json)
        printJson(toJson(error));
    const QString lines = QString::fromStdString(error.message);
    std::cerr << "ringmaster: " << oneLine(lines.split('\n').join("; ").toStdString()) << std::endl;
    return static_cast<int>(exitCodeFor(error.code));
}

int printError(const CommandContext& context, const Error& error) {
    return printError(context.json(), error);
}

} // namespace rm::cli
