// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/run/local_engine.h"

#include "app/core/answer.h"
#include "app/core/fleet/node_comparison.h"
#include "app/core/launch/link_test.h"
#include "app/core/launch/network_survey.h"
#include "app/core/launch/plan.h"
#include "app/core/network/network_file.h"
#include "app/core/remote/credential_store.h"
#include "app/core/run/asked_words.h"
#include "app/core/run/checkpoint_copier.h"
#include "app/core/run/checkpoint_moves.h"
#include "app/core/run/clean_node.h"
#include "app/core/run/earlier_run.h"
#include "app/core/run/followed_run.h"
#include "app/core/run/live_spec.h"
#include "app/core/run/procedures.h"
#include "app/core/run/run_folders.h"
#include "app/core/settings/paths.h"
#include "app/core/settings/user_name.h"
#include "shared/io/clock.h"
#include "shared/journal/event_codes.h"
#include "shared/return_if_error.h"

#include <QThreadPool>
#include <QTimer>
#include <QUuid>

#include <atomic>
#include <map>
#include <set>

namespace rm {

namespace {

constexpr int kProcedureThreads = 8;
/// How long the end of this program waits for nodes to end what a launch has started there.
constexpr int kLastWordsMs = 1500;
/// Until nodes that were declared lost are tried: long enough that a command which means such a
/// node comes first.
constexpr auto kFirstGivenUp = std::chrono::seconds(5); ///< also while a run is launched
constexpr auto kGivenUpPause = std::chrono::seconds(15);
constexpr int kMostPauseDoublings = 2; ///< of that: to a minute
constexpr auto kCatchUpLook = std::chrono::milliseconds(50);
constexpr int64_t kDayNs = 24 * 3600 * int64_t{1'000'000'000};

/// Of a command that was asked for again, after it had its answer.
Result<CommandState> answerOf(const AskedCommand& asked, const QString& run) {
    if (asked.state == AskedState::kApplied)
        return CommandState{asked.id, CommandProgress::kApplied, asked.step, asked.answer};
    if (asked.state == AskedState::kRefused)
        return CommandState{asked.id, CommandProgress::kRefused, asked.step, asked.answer};
    return fail(ErrorCode::kUnavailable,
                asked.kind + " " + run.toStdString() + ": " + asked.answer);
}

/// A future that is there already.
template <class T>
QFuture<Result<T>> readyFuture(Result<T> result) {
    return QtFuture::makeReadyFuture(std::move(result));
}

} // namespace

bool isAlready(CommandKind kind, RunStateKind state) {
    if (kind == CommandKind::kPause)
        return state == RunStateKind::kPaused;
    const bool ends = kind == CommandKind::kStop || kind == CommandKind::kKill;
    return ends && state == RunStateKind::kStopped;
}

std::vector<Placement> placementsOf(const std::vector<RunNode>& nodes) {
    std::vector<Placement> placements;
    for (const RunNode& part : nodes) {
        const QString node = QString::fromStdString(part.nodeName);
        if (!placements.empty() && placements.back().node == node)
            placements.back().ranks += part.ranks;
        else
            placements.push_back({node, part.ranks});
    }
    return placements;
}

struct LocalEngine::Impl {
    QString database;
    std::string stateFolder;
    struct Measurement {
        std::stop_source stop;
        std::atomic<bool> isOver = false;
    };
    std::shared_ptr<Measurement> measurement; ///< of the network, the last one
    std::string linkTests;                    ///< the file that keeps them
    struct Trial {
        NodeTrial what;
        std::shared_ptr<Measurement> course;
    };
    std::vector<Trial> trials; ///< with some that are over
    std::set<QString> leaving; ///< nodes that Ringmaster is being removed from
    Fleet* fleet = nullptr;
    std::shared_ptr<WriterThread> writer; ///< null: another instance writes
    std::shared_ptr<HostPool> hosts =
        std::make_shared<HostPool>([](const Node&) { return Credentials{}; });
    std::unique_ptr<StoreReader> reader; ///< the engine thread's, for single rows
    std::map<QString, std::unique_ptr<FollowedRun>> followed;
    std::vector<std::unique_ptr<FollowedRun>> over; ///< gone at the next turn of the event loop
    struct Launch {
        std::shared_ptr<LaunchPermit> permit;
        Progress progress;
    };
    std::map<QString, Launch> launches; ///< of runs whose ranks are being started here
    /// Of launches that go on with an earlier run: that run by the id that they were asked for
    /// under, which their asker knows alone until it has the answer.
    std::map<QString, QString> goesOnAs;
    std::stop_source closing;
    /// Cancelled when this program closes.
    std::shared_ptr<LaunchPermit> closingPermit = std::make_shared<LaunchPermit>();
    QThreadPool pool;
    std::unique_ptr<CheckpointCopier> copier; ///< null: another instance writes
    std::vector<GivenUpNode> ending;          ///< where what was given up is being ended
    struct Unreached {
        int times = 0;
        int64_t notBeforeNs = 0;
    };
    std::map<std::string, Unreached> unreached; ///< nodes where that was tried
    QTimer givenUpTimer;

    QString runOf(const QString& asked) const {
        const auto earlier = goesOnAs.find(asked);
        return earlier == goesOnAs.end() ? asked : earlier->second;
    }
    /// The run, and what its launch was asked for under.
    std::vector<QString> idsOf(const QString& run) const {
        std::vector<QString> ids{run};
        for (const auto& [asked, earlier] : goesOnAs)
            if (earlier == run)
                ids.push_back(asked);
        return ids;
    }
};

LocalEngine::LocalEngine(const Paths& paths, Fleet& fleet, std::unique_ptr<StoreWriter> writer,
                         QObject* parent)
    : Engine(parent)
    , m_impl(std::make_unique<Impl>()) {
    m_impl->database = paths.database();
    m_impl->stateFolder = paths.state.toStdString();
    m_impl->linkTests = (paths.state + '/' + kLinkTestsFile).toStdString();
    m_impl->fleet = &fleet;
    if (writer)
        m_impl->writer = std::make_shared<WriterThread>(std::move(writer));
    m_impl->pool.setMaxThreadCount(kProcedureThreads);
    if (auto reader = StoreReader::open(m_impl->database))
        m_impl->reader = std::move(*reader);
    connect(&fleet, &Fleet::nodeOpened, this, [this](const QString& node) {
        m_impl->unreached.erase(node.toStdString());
        for (const auto& [run, followed] : m_impl->followed)
            followed->retry(node.toStdString());
    });
    connect(&fleet, &Fleet::nodeEdited, this, &LocalEngine::followAnew);
    if (!m_impl->writer)
        return;
    m_impl->writer->post([](StoreWriter& store) { return store.closeCommandsOfEndedRuns(); });
    m_impl->copier = std::make_unique<CheckpointCopier>(copyingMeans());
    m_impl->givenUpTimer.setSingleShot(true);
    connect(&m_impl->givenUpTimer, &QTimer::timeout, this, &LocalEngine::endGivenUpNodes);
    m_impl->givenUpTimer.start(kFirstGivenUp);
    forgetOldTrash();
}

LocalEngine::~LocalEngine() {
    m_impl->closing.request_stop();
    m_impl->closingPermit->cancel();
    m_impl->copier.reset();
    for (const auto& [run, launch] : m_impl->launches)
        launch.permit->cancel();
    for (const auto& [run, followed] : m_impl->followed)
        followed->hangUp();
    // Followers first: they commit through the writer; procedures next, for the same reason.
    m_impl->followed.clear();
    m_impl->over.clear();
    // A launch ends the ranks that it has started, where the nodes answer. The next engine finds
    // those of the others.
    m_impl->pool.waitForDone(kLastWordsMs);
    m_impl->hosts->close();
    m_impl->pool.waitForDone();
}

/// How checkpoints are copied in the background: through this program.
CheckpointCopier::Means LocalEngine::copyingMeans() {
    CheckpointCopier::Means means;
    means.nowNs = &monotonicNowNs;
    means.due = [this](const QString& run) -> std::optional<DueCopy> {
        const auto found = summary(run);
        const auto spec = found ? parseRunSpec(m_impl->reader->specToml(run), run.toStdString())
                                : Result<RunSpec>(tl::unexpected(found.error()));
        if (!spec || m_impl->launches.contains(run))
            return std::nullopt;
        const auto checkpoints = m_impl->reader->checkpoints(run);
        auto due = dueCopy(checkpoints, found->nodes, spec->checkpoint.copies);
        if (due)
            due->isOfAgents = found->state != RunStateKind::kFailed && !wasKilled(*found) &&
                              due->node != kLocalNodeName &&
                              isLeftToAgents(checkpoints, wallNowNs());
        return due;
    };
    means.copy = [this](const QString& run, const DueCopy& due) {
        auto context = closingContext();
        context.progress = [](const QString&, const Progress&) {};
        return runOn(m_impl->pool, [run, due, context] { return makeDueCopy(context, run, due); });
    };
    means.failed = [this](const QString& run, const DueCopy& due, const Error& error) {
        IngestBatch batch;
        batch.run = run;
        batch.records.emplace_back(
            Event{-1, -1, wallNowNs(), Severity::kWarning, kNotCopiedEvent,
                  due.checkpoint + " has no copy on " + due.node + ": " + error.message});
        m_impl->writer->post(
            [batch = std::move(batch)](StoreWriter& writer) { return writer.ingest(batch); });
    };
    return means;
}

void LocalEngine::forgetOldTrash() {
    m_impl->writer->post([this](StoreWriter& writer) {
        return writer.purgeDeleted(wallNowNs() - kTrashDays * kDayNs).map([this](int runs) {
            if (runs > 0)
                QMetaObject::invokeMethod(this, [this] { Q_EMIT runsChanged(); });
        });
    });
}

QString LocalEngine::databasePath() const {
    return m_impl->database;
}

void LocalEngine::setCredentialSource(CredentialSource source) {
    m_impl->hosts = std::make_shared<HostPool>(std::move(source));
}

Result<std::vector<PlacedParty>>
LocalEngine::place(const std::vector<Placement>& placements) const {
    if (placements.empty())
        return fail(ErrorCode::kInvalid, "launch: no node was chosen");
    std::vector<PlacedParty> parties;
    for (const Placement& placement : placements) {
        RM_ASSIGN_OR_RETURN(const auto node, find(placement.node));
        for (const PlacedParty& other : parties)
            if (other.node.name == node.name)
                return fail(ErrorCode::kInvalid, "launch: node " + node.name + " is named twice");
        parties.push_back({node, placement.ranks});
    }
    return parties;
}

Result<Node> LocalEngine::find(const QString& node) const {
    const auto found = m_impl->fleet->find(node);
    if (found)
        return *found;
    const std::string attempt = "find node " + node.toStdString();
    if (const auto problem = m_impl->fleet->problem())
        return failAs(attempt, *problem);
    return fail(ErrorCode::kNotFound, attempt + ": it is not in the list; add it first");
}

Result<std::vector<PlacedParty>> LocalEngine::placeOf(const RunSummary& run) const {
    return place(placementsOf(m_impl->reader->wholePlaces(run.id)));
}

Result<RunSummary> LocalEngine::summary(const QString& run) const {
    if (!m_impl->reader)
        return fail(ErrorCode::kUnavailable,
                    "open " + m_impl->database.toStdString() + ": no database there");
    const auto found = m_impl->reader->run(run);
    if (!found)
        return fail(ErrorCode::kNotFound, "find run " + run.toStdString() + ": there is none");
    return *found;
}

ProcedureContext LocalEngine::procedureContext(std::shared_ptr<LaunchPermit> permit) {
    ProcedureContext context{m_impl->writer,
                             m_impl->hosts,
                             m_impl->database,
                             std::move(permit),
                             m_impl->fleet->nodes(),
                             {},
                             {},
                             {}};
    context.progress = [this](const QString& run, const Progress& progress) {
        QMetaObject::invokeMethod(this, [=, this] { onProgress(run, progress); });
    };
    context.changed = [this](const QString&) {
        QMetaObject::invokeMethod(this, [this] { Q_EMIT runsChanged(); });
    };
    context.tooLarge = [this](const QString& run, const QString& why) {
        QMetaObject::invokeMethod(this, [=, this] { Q_EMIT tooLarge(run, why); });
    };
    return context;
}

/// For what is cancelled by the end of this program alone.
ProcedureContext LocalEngine::closingContext() {
    return procedureContext(m_impl->closingPermit);
}

QFuture<Result<QString>>
LocalEngine::startProcedure(const QString& run,
                            std::function<Result<QString>(const ProcedureContext&)> procedure,
                            std::function<void(const Result<QString>&)> then) {
    if (m_impl->launches.contains(run))
        return readyFuture<QString>(fail(ErrorCode::kInvalid, "start " + run.toStdString() +
                                                                  ": it is being started already"));
    if (!m_impl->writer)
        return readyFuture<QString>(fail(ErrorCode::kUnavailable,
                                         "start ranks: another Ringmaster has this database open; "
                                         "start the run there, or close it first"));
    const auto permit = std::make_shared<LaunchPermit>();
    m_impl->launches[run] = {permit, {tr("Starting")}};
    Q_EMIT liveChanged(run);
    const auto context = procedureContext(permit);
    const auto started = runOn(
        m_impl->pool, [procedure = std::move(procedure), context] { return procedure(context); });
    return passOn(started, this, [this, run, then](const Result<QString>& answer) {
        onProcedureEnded(run, answer);
        if (then)
            then(answer);
    });
}

void LocalEngine::onProgress(const QString& run, const Progress& progress) {
    if (const auto launch = m_impl->launches.find(run); launch != m_impl->launches.end())
        launch->second.progress = progress;
    for (const QString& id : m_impl->idsOf(run))
        Q_EMIT progressed(id, progress);
}

void LocalEngine::onProcedureEnded(const QString& run, const Result<QString>& started) {
    m_impl->launches.erase(run);
    if (started)
        attach(run);
    Q_EMIT liveChanged(run);
}

QFuture<Result<QString>> LocalEngine::launch(const CheckedSpec& spec,
                                             const std::vector<Placement>& nodes,
                                             const QString& wanted, IfTooLarge ifTooLarge) {
    auto parties = place(nodes);
    if (!parties)
        return readyFuture<QString>(tl::unexpected<Error>(parties.error()));
    const QString id = wanted.isEmpty() ? QString::fromStdString(newRunId(spec->name)) : wanted;
    if (spec->checkpoint.onExisting == "resume")
        return launchOrResume(id, spec, nodes, *parties, ifTooLarge);
    return startProcedure(
        id, [id, spec, parties = *parties, ifTooLarge](const ProcedureContext& context) {
            return launchRun(context, id, spec, parties, {}, ifTooLarge);
        });
}

/// Follows what such a launch may go on from to its end, which can be cancelled as the launch
/// itself.
QFuture<Result<void>> LocalEngine::catchUp(const QString& asked,
                                           const std::vector<RunSummary>& runs,
                                           std::shared_ptr<LaunchPermit> permit) {
    if (runs.empty())
        return readyFuture<void>({});
    for (const RunSummary& run : runs)
        if (auto following = follow(run.id); !following)
            return readyFuture<void>(std::move(following));
    onProgress(asked, {tr("Catch up with the earlier run")});
    const auto promise = std::make_shared<QPromise<Result<void>>>();
    promise->start();
    auto* look = new QTimer(this);
    connect(look, &QTimer::timeout, this, [=, this, since = monotonicNowNs()] {
        const auto known = permit->isCancelled() ? std::optional<Result<void>>(Result<void>())
                                                 : caughtUpWith(runs, monotonicNowNs() - since);
        if (!known)
            return;
        look->stop();
        look->deleteLater();
        promise->addResult(*known);
        promise->finish();
    });
    look->start(kCatchUpLook);
    return promise->future();
}

/// nullopt: not yet with all of them.
std::optional<Result<void>> LocalEngine::caughtUpWith(const std::vector<RunSummary>& runs,
                                                      int64_t waitedNs) const {
    bool isAll = true;
    for (const RunSummary& run : runs) {
        const auto stored = m_impl->reader->run(run.id);
        const auto known = stored ? caughtUp(*stored, live(run.id), wallNowNs(), waitedNs)
                                  : std::optional<Result<void>>(Result<void>());
        if (known && !*known)
            return known;
        isAll = isAll && known;
    }
    return isAll ? std::optional<Result<void>>(Result<void>()) : std::nullopt;
}

/// Looks for an earlier run, which can be cancelled as the launch itself, then goes on with it.
QFuture<Result<QString>> LocalEngine::launchOrResume(const QString& id, const CheckedSpec& spec,
                                                     const std::vector<Placement>& nodes,
                                                     const std::vector<PlacedParty>& parties,
                                                     IfTooLarge ifTooLarge) {
    const auto permit = std::make_shared<LaunchPermit>();
    m_impl->launches[id] = {permit, {tr("Starting")}};
    Q_EMIT liveChanged(id);
    const auto promise = std::make_shared<QPromise<Result<QString>>>();
    promise->start();
    const auto give = [promise](const Result<QString>& answer) {
        promise->addResult(answer);
        promise->finish();
    };
    const auto onLooked = [=, this](const Result<std::optional<EarlierRun>>& earlier) {
        m_impl->launches.erase(id);
        Q_EMIT liveChanged(id);
        if (permit->isCancelled())
            return give(
                fail(ErrorCode::kUnavailable, "launch " + id.toStdString() + ": cancelled"));
        if (!earlier)
            return give(failAs("launch " + id.toStdString(), earlier.error()));
        const std::string words = *earlier
                                      ? (*earlier)->words
                                      : "there was nothing to go on from: it begins from scratch";
        const auto started = goOn(id, spec, nodes, parties, *earlier, ifTooLarge);
        // Not of a run that is refused at once: what is asked of this launch must not reach it.
        if (*earlier && (*earlier)->isSame() && !started.isFinished()) {
            m_impl->goesOnAs[id] = (*earlier)->run;
            Q_EMIT liveChanged(id);
        }
        whenAnswered(started, this, [=, this](const Result<QString>& answer) {
            if (m_impl->goesOnAs.erase(id) > 0)
                Q_EMIT liveChanged(id);
            if (answer)
                noteEarlier(*answer, words);
            give(answer);
        });
    };
    const auto open = m_impl->reader && m_impl->writer ? openEarlierRuns(*m_impl->reader, *spec)
                                                       : std::vector<RunSummary>();
    const auto onAlive = [=, this](const Error& error) {
        for (const RunSummary& run : open)
            if (const auto words = goesOnByItself(*m_impl->reader, *spec, nodes, run);
                words && !permit->isCancelled()) {
                m_impl->launches.erase(id);
                Q_EMIT liveChanged(id);
                noteEarlier(run.id, *words);
                return give(run.id);
            }
        onLooked(tl::unexpected<Error>(error));
    };
    whenAnswered(catchUp(id, open, permit), this, [=, this](const Result<void>& known) {
        if (!known)
            return onAlive(known.error());
        const auto looked =
            runOn(m_impl->pool, [id, spec, parties, context = procedureContext(permit)] {
                return findEarlierRun(context, id, *spec, parties);
            });
        whenAnswered(looked, this, onLooked);
    });
    return promise->future();
}

QFuture<Result<QString>> LocalEngine::goOn(const QString& id, const CheckedSpec& spec,
                                           const std::vector<Placement>& nodes,
                                           const std::vector<PlacedParty>& parties,
                                           const std::optional<EarlierRun>& earlier,
                                           IfTooLarge ifTooLarge) {
    if (earlier && earlier->isSame())
        return resume(earlier->run, {}, nodes, {});
    if (earlier && !earlier->run.isEmpty())
        return branch(earlier->run, {}, spec, id, ifTooLarge, nodes);
    // Its newest checkpoint may be damaged: then the ranks take the one before it.
    const Origin origin =
        earlier ? Origin{{}, earlier->step, earlier->checkpoint, false} : Origin();
    return startProcedure(id, [=](const ProcedureContext& context) {
        return launchRun(context, id, spec, parties, origin, ifTooLarge);
    });
}

void LocalEngine::noteEarlier(const QString& run, const std::string& words) {
    IngestBatch batch;
    batch.run = run;
    batch.records = {Event{-1, -1, wallNowNs(), Severity::kInfo, kEarlierRunEvent,
                           "launched with checkpoint.on_existing = \"resume\": " + words}};
    if (const auto now = m_impl->reader->run(run)) // the attempt of which no node has told yet
        batch.attempts = {now->attempt};
    m_impl->writer->post(
        [batch = std::move(batch)](StoreWriter& writer) { return writer.ingest(batch); });
}

QFuture<Result<NodeOutlook>> LocalEngine::outlook(const RunSpec& spec, const QString& name) {
    const auto node = find(name);
    if (!node)
        return readyFuture<NodeOutlook>(tl::unexpected<Error>(node.error()));
    Launcher::Request request{spec, {{*node, 0}}, {}};
    request.patience = kAskedPatience;
    return runOn(m_impl->pool,
                 [request, hosts = m_impl->hosts, stop = m_impl->closing.get_token()] {
                     const auto launcher = makeLauncher(
                         request, *hosts, [](const Progress&) {}, stop);
                     return launcher->outlook().map(
                         [](const std::vector<NodeOutlook>& outlooks) { return outlooks.front(); });
                 });
}

QFuture<Result<std::vector<CheckRow>>>
LocalEngine::checkLaunch(const RunSpec& spec, const std::vector<Placement>& nodes) {
    auto parties = place(nodes);
    if (!parties)
        return readyFuture<std::vector<CheckRow>>(tl::unexpected<Error>(parties.error()));
    Launcher::Request request{spec, std::move(*parties), {}};
    request.patience = kAskedPatience;
    return runOn(m_impl->pool, [request, hosts = m_impl->hosts, folder = m_impl->stateFolder,
                                stop = m_impl->closing.get_token()] {
        const auto launcher = makeLauncher(
            request, *hosts, [](const Progress&) {}, stop);
        return launcher->rows(keptNetwork(folder).value_or(NetworkMatrix()));
    });
}

QFuture<Result<QString>> LocalEngine::batchScript(const CheckedSpec& spec,
                                                  const std::vector<Placement>& nodes) {
    auto parties = place(nodes);
    if (!parties)
        return readyFuture<QString>(tl::unexpected<Error>(parties.error()));
    Launcher::Request request{*spec, std::move(*parties), {}};
    request.attempt.runId = kRunIdInScript;
    request.purpose = "a look at the script of a job";
    request.patience = kAskedPatience;
    return runOn(
        m_impl->pool,
        [request, hosts = m_impl->hosts, stop = m_impl->closing.get_token()]() -> Result<QString> {
            const auto launcher = makeLauncher(
                request, *hosts, [](const Progress&) {}, stop);
            RM_ASSIGN_OR_RETURN(const auto parts, launcher->check());
            const std::string script = launcher->batchScript();
            if (script.empty())
                return fail(ErrorCode::kInvalid,
                            "show the script of the job: " + parts.front().node.toStdString() +
                                " starts ranks without one; only a Slurm cluster gets a script");
            return QString::fromStdString(script);
        });
}

/// A run of which another attempt may begin.
Result<RunSummary> LocalEngine::resumable(const QString& run, const std::string& verb) const {
    RM_ASSIGN_OR_RETURN(const auto found, summary(run));
    const std::string attempt = verb + run.toStdString();
    if (!hasEnded(found.state) && !found.lostNodes.empty())
        return fail(ErrorCode::kInvalid,
                    attempt + ": its end on " + found.lostNodes.front().nodeName +
                        " is not known, as that cannot be reached; wait for it, or give it up: "
                        "ringmaster declare-lost " +
                        run.toStdString() + ' ' + found.lostNodes.front().nodeName);
    if (!hasEnded(found.state))
        return fail(ErrorCode::kInvalid,
                    attempt + ": it is " + runStateName(found.state) + "; pause or stop it first");
    if (found.deletedNs > 0)
        return fail(ErrorCode::kNotFound, attempt +
                                              ": it is in the trash; bring it back first: "
                                              "ringmaster trash restore " +
                                              run.toStdString());
    return found;
}

namespace {

/// A command that is answered when it is stored.
AskedCommand askedNow(std::string kind, const Asker& by,
                      std::vector<std::pair<std::string, std::string>> args = {}) {
    return {.id = QUuid::createUuid().toString(QUuid::WithoutBraces).toStdString(),
            .kind = std::move(kind),
            .args = std::move(args),
            .by = by.who.empty() ? Asker{userName(), by.from} : by,
            .askedNs = wallNowNs(),
            .state = AskedState::kApplied};
}

/// In a thread of the pool, once it is done.
Result<void> noteDone(const ProcedureContext& context, const QString& run, AskedCommand asked) {
    asked.answeredNs = wallNowNs();
    const auto noted = context.writer->call([&](StoreWriter& writer) {
        return writer.addCommand(run, asked).map([](const AskedCommand&) {});
    });
    context.changed(run);
    return noted;
}

std::string verbFor(const QString& checkpoint) {
    return checkpoint.isEmpty() ? "resume " : "restore ";
}

} // namespace

QFuture<Result<QString>> LocalEngine::resume(const QString& run, const QString& checkpoint,
                                             const std::vector<Placement>& nodes, const Asker& by) {
    const auto found = resumable(run, verbFor(checkpoint));
    if (!found)
        return readyFuture<QString>(tl::unexpected<Error>(found.error()));
    auto parties = nodes.empty() ? placeOf(*found) : place(nodes);
    if (!parties)
        return readyFuture<QString>(tl::unexpected<Error>(parties.error()));
    for (const PlacedParty& party : *parties)
        if (std::ranges::count(m_impl->ending, GivenUpNode{run, party.node.name}) > 0)
            return readyFuture<QString>(
                fail(ErrorCode::kUnavailable,
                     verbFor(checkpoint) + run.toStdString() + ": " + party.node.name +
                         " was declared lost, and what lives of the run there is being ended; try "
                         "again in a moment"));
    m_impl->followed.erase(run);
    AskedCommand asked = askedNow(checkpoint.isEmpty() ? "resume" : "restore", by);
    if (!checkpoint.isEmpty())
        asked.args.emplace_back("checkpoint", checkpoint.toStdString());
    return startProcedure(
        run,
        [found = *found, parties = *parties, which = checkpoint.toStdString()](
            const ProcedureContext& context) { return resumeRun(context, found, parties, which); },
        [this, run, asked](const Result<QString>& answer) { noteResume(run, asked, answer); });
}

void LocalEngine::noteResume(const QString& run, AskedCommand asked,
                             const Result<QString>& started) {
    asked.state = started ? AskedState::kApplied : AskedState::kRefused;
    asked.answeredNs = wallNowNs();
    asked.answer = started ? std::string() : started.error().message;
    // From which step is the ranks' to say: a damaged checkpoint is passed over.
    if (started && m_impl->reader)
        asked.answer = "attempt " + std::to_string(m_impl->reader->newestAttempt(run));
    noteAsked(run, asked);
}

QFuture<Result<ResumeOutlook>> LocalEngine::resumeOutlook(const QString& run,
                                                          const QString& checkpoint,
                                                          const std::vector<Placement>& nodes) {
    const auto found = resumable(run, verbFor(checkpoint));
    const auto parties = found ? nodes.empty() ? placeOf(*found) : place(nodes)
                               : tl::unexpected<Error>(found.error());
    if (!parties)
        return readyFuture<ResumeOutlook>(tl::unexpected<Error>(parties.error()));
    return runOn(m_impl->pool, [found = *found, parties = *parties,
                                which = checkpoint.toStdString(), context = closingContext()] {
        return lookAtResume(context, found, parties, which);
    });
}

QFuture<Result<QString>> LocalEngine::copyCheckpoint(const QString& run, const QString& checkpoint,
                                                     const CopyOrder& order) {
    if (const auto found = summary(run); !found)
        return readyFuture<QString>(tl::unexpected<Error>(found.error()));
    if (!m_impl->writer)
        return readyFuture<QString>(
            fail(ErrorCode::kUnavailable, "copy a checkpoint of " + run.toStdString() +
                                              ": another Ringmaster has this database open"));
    return runOn(m_impl->pool,
                 [run, order, which = checkpoint.toStdString(), context = closingContext()] {
                     return rm::copyCheckpoint(context, run, which, order, 0);
                 });
}

QFuture<Result<QString>> LocalEngine::branch(const QString& run, const QString& which,
                                             std::optional<CheckedSpec> spec, const QString& wanted,
                                             IfTooLarge ifTooLarge,
                                             const std::vector<Placement>& nodes) {
    const auto found = summary(run);
    if (!found)
        return readyFuture<QString>(tl::unexpected<Error>(found.error()));
    auto parties = nodes.empty() ? placeOf(*found) : place(nodes);
    if (!parties)
        return readyFuture<QString>(tl::unexpected<Error>(parties.error()));
    const std::string name = spec ? (*spec)->name : found->name.toStdString();
    const QString id = wanted.isEmpty() ? QString::fromStdString(newRunId(name)) : wanted;
    return startProcedure(id, [=, parties = *parties](const ProcedureContext& context) {
        return branchRun(context, id, {run, which.toStdString(), spec}, parties, ifTooLarge);
    });
}

/// Runs what changes a checkpoint on a node and in the database.
QFuture<Result<void>>
LocalEngine::changeCheckpoint(const QString& run, const std::string& attempt,
                              std::function<Result<void>(ProcedureContext)> change,
                              std::optional<AskedCommand> asked) {
    if (const auto found = summary(run); !found)
        return readyFuture<void>(tl::unexpected<Error>(found.error()));
    if (!m_impl->writer)
        return readyFuture<void>(
            fail(ErrorCode::kUnavailable, attempt + " a checkpoint of " + run.toStdString() +
                                              ": another Ringmaster has this database open"));
    return runOn(m_impl->pool, [run, change = std::move(change), asked = std::move(asked),
                                context = closingContext()] {
        const Result<void> changed = change(context);
        return changed && asked ? noteDone(context, run, *asked) : changed;
    });
}

QFuture<Result<void>> LocalEngine::removeCheckpoint(const QString& run, const QString& checkpoint,
                                                    const Asker& by) {
    const std::string which = checkpoint.toStdString();
    return changeCheckpoint(
        run, "remove",
        [run, which](const auto& context) { return rm::removeCheckpoint(context, run, which); },
        askedNow(kRemoveCheckpoint, by, {{"checkpoint", which}}));
}

QFuture<Result<void>> LocalEngine::bringBackCheckpoint(const QString& run,
                                                       const QString& checkpoint, const Asker& by) {
    const std::string which = checkpoint.toStdString();
    return changeCheckpoint(
        run, "bring back",
        [run, which](const auto& context) { return rm::bringBackCheckpoint(context, run, which); },
        askedNow(kBringBackCheckpoint, by, {{"checkpoint", which}}));
}

QFuture<Result<void>> LocalEngine::setPinned(const QString& run, const QString& checkpoint,
                                             bool pinned) {
    return changeCheckpoint(run, pinned ? "pin" : "unpin",
                            [run, which = checkpoint.toStdString(), pinned](const auto& context) {
                                return pinCheckpoint(context, run, which, pinned);
                            });
}

QFuture<Result<TensorComparison>>
LocalEngine::compareCheckpoints(const QString& run, const QString& a, const QString& b) {
    return runOn(m_impl->pool,
                 [run, a = a.toStdString(), b = b.toStdString(), context = closingContext()] {
                     return rm::compareCheckpoints(context, run, a, b);
                 });
}

QFuture<Result<void>> LocalEngine::verifyCheckpoint(const QString& run, const QString& checkpoint) {
    if (const auto found = summary(run); !found)
        return readyFuture<void>(tl::unexpected<Error>(found.error()));
    return runOn(m_impl->pool, [run, which = checkpoint.toStdString(), context = closingContext()] {
        return rm::verifyCheckpoint(context, run, which);
    });
}

/// The nodes of a run that has ended, in all its attempts. Those of the last one must be known
/// here.
Result<PlacesToClean> LocalEngine::placesToClean(const QString& run) const {
    RM_ASSIGN_OR_RETURN(const auto found, summary(run));
    if (m_impl->launches.contains(run))
        return fail(ErrorCode::kInvalid,
                    "clean " + run.toStdString() + ": it is being started; stop it first");
    if (!hasEnded(found.state))
        return fail(ErrorCode::kInvalid, "clean " + run.toStdString() + ": it is " +
                                             runStateName(found.state) +
                                             "; stop or pause it first");
    PlacesToClean places;
    RM_ASSIGN_OR_RETURN(places.nodes, placeOf(found));
    places.needed = places.nodes.size();
    for (const RunNode& place : m_impl->reader->places(run)) {
        const bool isListed = std::ranges::any_of(places.nodes,
                                                  [&](const PlacedParty& party) {
                                                      return party.node.name == place.nodeName;
                                                  }) ||
                              std::ranges::count(places.forgotten, place.nodeName) > 0;
        const auto node = m_impl->fleet->find(QString::fromStdString(place.nodeName));
        if (!isListed && node)
            places.nodes.push_back({*node, place.ranks});
        else if (const auto problem = m_impl->fleet->problem(); !isListed && problem)
            return failAs("find node " + place.nodeName, *problem);
        else if (!isListed)
            places.forgotten.push_back(place.nodeName);
    }
    return places;
}

QFuture<Result<std::vector<RunFolder>>> LocalEngine::onNodes(const QString& run) {
    const auto places = placesToClean(run);
    if (!places)
        return readyFuture<std::vector<RunFolder>>(tl::unexpected<Error>(places.error()));
    return runOn(m_impl->pool, [run, places = *places,
                                context = procedureContext(std::make_shared<LaunchPermit>()),
                                stop = m_impl->closing.get_token()] {
        return readRunFolders(context, run, places, stop);
    });
}

QFuture<Result<void>> LocalEngine::removeFromNodes(const QString& run, const Asker& by) {
    const auto places = placesToClean(run);
    if (!places)
        return readyFuture<void>(tl::unexpected<Error>(places.error()));
    if (!m_impl->writer)
        return readyFuture<void>(
            fail(ErrorCode::kUnavailable,
                 "clean " + run.toStdString() + ": another Ringmaster has this database open"));
    m_impl->followed.erase(run);
    return runOn(m_impl->pool, [run, places = *places, asked = askedNow(kClean, by),
                                context = procedureContext(std::make_shared<LaunchPermit>()),
                                stop = m_impl->closing.get_token()] {
        return removeRunFolders(context, run, places, stop).and_then([&] {
            return noteDone(context, run, asked);
        });
    });
}

QFuture<Result<DeployedReport>> LocalEngine::cleanNode(const QString& name,
                                                       const NodeCleaning& cleaning) {
    const auto node = find(name);
    if (!node)
        return readyFuture<DeployedReport>(tl::unexpected<Error>(node.error()));
    if (m_impl->leaving.contains(name))
        return readyFuture<DeployedReport>(
            fail(ErrorCode::kUnavailable, "clean " + name.toStdString() +
                                              ": Ringmaster is being removed from it already, by "
                                              "another terminal or window"));
    const bool mayHitALaunch = cleaning.withRecent || cleaning.isUninstall;
    if (mayHitALaunch && !cleaning.isPreview && !m_impl->launches.empty())
        return readyFuture<DeployedReport>(
            fail(ErrorCode::kInvalid, "clean " + name.toStdString() +
                                          ": ranks are being started; wait until they train"));
    const bool leaves = cleaning.isUninstall && !cleaning.isPreview;
    if (leaves && cleaning.withRuns && !m_impl->writer)
        return readyFuture<DeployedReport>(
            fail(ErrorCode::kUnavailable,
                 "clean " + name.toStdString() + ": another Ringmaster has this database open"));
    if (leaves)
        m_impl->leaving.insert(name);
    std::vector<std::string> losers = runSharersOf(node->name, m_impl->fleet->lastChecks());
    losers.push_back(node->name);
    const auto cleaned =
        runOn(m_impl->pool, [node = *node, cleaning, losers, loses = leaves && cleaning.withRuns,
                             context = closingContext(), stop = m_impl->closing.get_token()] {
            const auto report = rm::cleanNode(*context.hosts, node, cleaning, stop);
            const auto noted =
                report && loses ? noteRunsRemoved(context, *report, losers) : Result<void>();
            if (report && !report->failure.empty())
                return Result<DeployedReport>(
                    fail(ErrorCode::kUnavailable, "clean " + node.name + ": " + report->failure));
            return noted ? report : tl::unexpected(noted.error());
        });
    return passOn(cleaned, this, [this, leaves, name](const Result<DeployedReport>&) {
        if (leaves)
            m_impl->leaving.erase(name);
    });
}

QFuture<Result<void>> LocalEngine::measureNetwork(const QStringList& names) {
    const auto refuse = [](const Error& why) {
        return readyFuture<void>(failAs("measure the network", why));
    };
    if (m_impl->measurement && !m_impl->measurement->isOver)
        return refuse({ErrorCode::kUnavailable, "it is being measured already"});
    std::vector<Node> nodes;
    for (const QString& name : names) {
        const auto node = find(name);
        if (!node)
            return refuse(node.error());
        nodes.push_back(*node);
    }
    if (names.isEmpty())
        nodes = measuredNodes(m_impl->fleet->nodes());
    if (nodes.size() < 2) // what was found before of several stays
        return refuse({ErrorCode::kInvalid,
                       "there is nothing to measure between fewer than two nodes; name two or "
                       "more, or add some"});
    m_impl->measurement = std::make_shared<Impl::Measurement>();
    const auto progress = [this](const Progress& now) {
        QMetaObject::invokeMethod(this, [this, now] { Q_EMIT progressed(kNetwork, now); });
    };
    return runOn(m_impl->pool, [nodes, progress, hosts = m_impl->hosts, own = m_impl->measurement,
                                folder = m_impl->stateFolder,
                                closing = m_impl->closing.get_token()] {
        const std::stop_callback end(closing, [&own] { own->stop.request_stop(); });
        const auto measured = rm::measureNetwork(*hosts, nodes, progress, own->stop.get_token());
        auto kept = measured ? keepNetwork(folder, *measured)
                             : Result<void>(tl::unexpected(measured.error()));
        own->isOver = true;
        return kept;
    });
}

QFuture<Result<void>> LocalEngine::stopNetwork() {
    if (m_impl->measurement)
        m_impl->measurement->stop.request_stop();
    return readyFuture<void>({});
}

QFuture<Result<void>> LocalEngine::endLeftovers(const QString& name, const QStringList& runs,
                                                OtherRuns others) {
    const auto node = find(name);
    if (!node)
        return readyFuture<void>(tl::unexpected<Error>(node.error()));
    std::vector<std::string> ids, guarded;
    for (const QString& run : runs) {
        const auto known = m_impl->reader ? m_impl->reader->run(run) : std::nullopt;
        if (known && !hasEnded(known->state))
            return readyFuture<void>(
                fail(ErrorCode::kInvalid,
                     "end leftovers on " + name.toStdString() + ": " + run.toStdString() +
                         " has not ended; stop or kill it as a run, if that is "
                         "meant"));
        ids.push_back(run.toStdString());
        if (!known && others == OtherRuns::kRefuse)
            guarded.push_back(run.toStdString());
    }
    return runOn(m_impl->pool,
                 [node = *node, ids, guarded, hosts = m_impl->hosts,
                  stop = m_impl->closing.get_token()]() -> Result<void> {
                     return rm::endLeftovers(*hosts, node, ids, guarded, stop);
                 });
}

QFuture<Result<QString>> LocalEngine::tryOut(const NodeTrial& trial) {
    auto parties = place(trial.nodes);
    if (!parties)
        return readyFuture<QString>(tl::unexpected<Error>(parties.error()));
    std::erase_if(m_impl->trials,
                  [](const Impl::Trial& each) { return bool(each.course->isOver); });
    const auto own = std::make_shared<Impl::Measurement>();
    m_impl->trials.push_back({trial, own});
    const auto progress = [this, id = trialId(trial)](const Progress& now) {
        QMetaObject::invokeMethod(this, [this, id, now] { Q_EMIT progressed(id, now); });
    };
    return runOn(m_impl->pool, [trial, own, progress, parties = *parties, hosts = m_impl->hosts,
                                kept = m_impl->linkTests, closing = m_impl->closing.get_token()] {
        const std::stop_callback end(closing, [&own] { own->stop.request_stop(); });
        const auto told = runTrial(trial, parties, *hosts, progress, own->stop.get_token());
        if (told && trial.kind == TrialKind::kAllReduce)
            keepLinkTest(kept, *told);
        own->isOver = true;
        return told.map(&QString::fromStdString);
    });
}

QFuture<Result<void>> LocalEngine::stopTrial(const NodeTrial& trial) {
    for (const Impl::Trial& each : m_impl->trials)
        if (each.what == trial)
            each.course->stop.request_stop();
    return readyFuture<void>({});
}

QFuture<Result<CommandState>>
LocalEngine::command(const QString& askedRun, CommandKind kind,
                     std::vector<std::pair<std::string, std::string>> args,
                     const std::string& wanted, const Asker& by) {
    const QString run = m_impl->runOf(askedRun);
    const std::string id =
        wanted.empty() ? QUuid::createUuid().toString(QUuid::WithoutBraces).toStdString() : wanted;
    AskedCommand asked = askedNow(commandKindName(kind), by, args);
    asked.id = id;
    asked.state = AskedState::kWaiting;
    if (const auto answer = commandToLaunch(run, kind)) {
        asked.state = *answer ? AskedState::kApplied : AskedState::kRefused;
        asked.answer = *answer ? (*answer)->message : answer->error().message;
        noteAsked(run, asked);
        return readyFuture<CommandState>(*answer);
    }
    if (const auto answer = answerWithoutRanks(run, kind)) {
        const bool livesOn = kind == CommandKind::kKill && m_impl->writer && m_impl->reader &&
                             !m_impl->reader->givenUp(run).empty();
        return livesOn ? killGivenUp(run) : readyFuture<CommandState>(*answer);
    }
    if (kind == CommandKind::kSet)
        if (const auto checked = checkSettings(*m_impl->reader, run, args); !checked)
            return readyFuture<CommandState>(failAs("set " + run.toStdString(), checked.error()));
    if (const auto following = follow(run); !following)
        return readyFuture<CommandState>(tl::unexpected<Error>(following.error()));
    const Command command{id, kind, std::move(args)};
    // A kill waits for nothing, such as a disk that does not answer.
    if (kind == CommandKind::kKill)
        noteAsked(run, asked);
    if (!m_impl->writer || kind == CommandKind::kKill)
        return sendToRanks(run, command, asked.askedNs);
    const auto promise = std::make_shared<QPromise<Result<CommandState>>>();
    promise->start();
    const auto onStored = [this, promise, run, command](const Result<AskedCommand>& stored) {
        const auto finish = [promise](const Result<CommandState>& answer) {
            promise->addResult(answer);
            promise->finish();
        };
        if (!stored)
            return finish(tl::unexpected<Error>(stored.error()));
        Q_EMIT runsChanged();
        if (!isOpen(stored->state))
            return finish(answerOf(*stored, run));
        whenAnswered(sendToRanks(run, command, stored->askedNs), this, finish);
    };
    m_impl->writer->post([this, run, asked, onStored](StoreWriter& writer) {
        const auto stored = writer.addCommand(run, asked);
        QMetaObject::invokeMethod(this, [onStored, stored] { onStored(stored); });
        return stored.map([](const AskedCommand&) {});
    });
    return promise->future();
}

void LocalEngine::noteAsked(const QString& run, const AskedCommand& asked) {
    if (m_impl->writer)
        m_impl->writer->post([this, run, asked](StoreWriter& writer) {
            return writer.addCommand(run, asked).map([this](const AskedCommand&) {
                QMetaObject::invokeMethod(this, [this] { Q_EMIT runsChanged(); });
            });
        });
}

/// nullopt: its ranks have to do it.
std::optional<Result<CommandState>> LocalEngine::answerWithoutRanks(const QString& run,
                                                                    CommandKind kind) {
    const auto found = summary(run);
    if (!found)
        return tl::unexpected<Error>(found.error());
    if (isAlready(kind, found->state))
        return CommandState{
            {}, CommandProgress::kApplied, -1, std::string("it is ") + runStateName(*found)};
    if (hasEnded(found->state))
        return fail(ErrorCode::kInvalid, std::string(commandKindName(kind)) + " " +
                                             run.toStdString() + ": it is " +
                                             runStateName(found->state) + ", so no rank can do it");
    return std::nullopt;
}

/// Of a command that is stored, as the run may have ended meanwhile.
QFuture<Result<CommandState>> LocalEngine::sendToRanks(const QString& run, const Command& command,
                                                       int64_t askedNs) {
    const auto ended = answerWithoutRanks(run, command.kind);
    const auto following = ended ? Result<void>() : follow(run);
    const auto followed = m_impl->followed.find(run);
    if (!ended && following && followed != m_impl->followed.end())
        return followed->second->send(command, askedNs);
    const Result<CommandState> answer =
        ended        ? *ended
        : !following ? Result<CommandState>(tl::unexpected<Error>(following.error()))
                     : fail(ErrorCode::kUnavailable, std::string(commandKindName(command.kind)) +
                                                         " " + run.toStdString() +
                                                         ": its ranks are being started");
    const bool isDone = answer && answer->progress == CommandProgress::kApplied;
    onCommandChanged(run, command.kind,
                     {command.id, CommandProgress::kRefused, -1,
                      answer ? answer->message : answer.error().message},
                     isDone ? AskedState::kApplied : AskedState::kRefused);
    return readyFuture<CommandState>(answer);
}

void LocalEngine::onCommandChanged(const QString& run, CommandKind kind, const CommandState& state,
                                   AskedState as) {
    if (!m_impl->writer)
        return;
    (void)postEdit(run, [=](StoreWriter& writer) -> Result<void> {
        RM_RETURN_IF_ERROR(writer.setCommandState(run, state.id, as, state.step, state.message));
        if (as != AskedState::kLapsed)
            return {};
        IngestBatch batch;
        batch.run = run;
        batch.records = {
            Event{-1, -1, wallNowNs(), Severity::kWarning, kCommandLapsedEvent,
                  std::string(commandKindName(kind)) + " has no effect: " + state.message}};
        return writer.ingest(batch);
    });
}

QFuture<Result<QString>> LocalEngine::withdraw(const QString& run, const std::string& command) {
    const std::string attempt = "withdraw command " + command + " of " + run.toStdString();
    const auto refuse = [&](ErrorCode code, const std::string& why) {
        return readyFuture<QString>(fail(code, attempt + ": " + why));
    };
    if (!m_impl->writer)
        return refuse(ErrorCode::kUnavailable, "another Ringmaster has this database open");
    if (const auto followed = m_impl->followed.find(run); followed != m_impl->followed.end()) {
        const auto withdrawn = followed->second->withdraw(command);
        return withdrawn ? readyFuture<QString>(*withdrawn)
                         : refuse(withdrawn.error().code, withdrawn.error().message);
    }
    const auto open =
        m_impl->reader ? m_impl->reader->openCommands(run) : std::vector<AskedCommand>();
    const auto found = std::ranges::find(open, command, &AskedCommand::id);
    if (found == open.end())
        return refuse(ErrorCode::kInvalid, "it has its answer already, or there is none such");
    if (found->state == AskedState::kAccepted)
        return refuse(ErrorCode::kInvalid, "a node has accepted it");
    // Who follows the run would send it; the writer is asked before anybody can begin to.
    const QString left =
        tr("if a node got it before its link broke, it takes effect there all the same");
    auto done = edit(attempt, [=](StoreWriter& writer) {
        return writer.setCommandState(run, command, AskedState::kWithdrawn, -1,
                                      "withdrawn; " + left.toStdString());
    });
    return done.then(
        [left](const Result<void>& stored) { return stored.map([&] { return left; }); });
}

QFuture<Result<void>> LocalEngine::declareLost(const QString& run, const QString& node,
                                               const Asker& by) {
    const std::string attempt =
        "declare " + node.toStdString() + " of " + run.toStdString() + " lost";
    const auto found = summary(run);
    if (!found)
        return readyFuture<void>(tl::unexpected<Error>(found.error()));
    if (hasEnded(found->state))
        return readyFuture<void>(fail(ErrorCode::kInvalid, attempt + ": the run is " +
                                                               runStateName(found->state) +
                                                               ", so nothing waits for it"));
    if (!m_impl->writer || m_impl->launches.contains(run))
        return readyFuture<void>(
            fail(ErrorCode::kUnavailable,
                 attempt + (m_impl->writer ? ": its ranks are being started"
                                           : ": another Ringmaster has this database open")));
    const auto following = follow(run);
    if (!following)
        return readyFuture<void>(failAs(attempt, following.error()));
    const AskedCommand asked = askedNow("declare-lost", by, {{"node", node.toStdString()}});
    return m_impl->followed.at(run)
        ->declareLost(node.toStdString(), asked.by)
        .then([this, run, attempt, asked](const Result<void>& declared) {
            if (!declared)
                return Result<void>(failAs(attempt, declared.error()));
            noteAsked(run, asked);
            m_impl->givenUpTimer.start(kGivenUpPause);
            return declared;
        });
}

/// The answer of the run's launch; nullopt: no launch is going on, so the command goes to the
/// ranks.
std::optional<Result<CommandState>> LocalEngine::commandToLaunch(const QString& run,
                                                                 CommandKind kind) {
    const auto launch = m_impl->launches.find(run);
    if (launch == m_impl->launches.end())
        return std::nullopt;
    if (kind != CommandKind::kStop && kind != CommandKind::kKill)
        return fail(ErrorCode::kInvalid, std::string(commandKindName(kind)) + " " +
                                             run.toStdString() +
                                             ": its ranks are being started; wait until they train "
                                             "or stop it");
    if (launch->second.permit->cancel()) {
        for (const QString& id : m_impl->idsOf(run))
            Q_EMIT liveChanged(id);
        return CommandState{{}, CommandProgress::kApplied, -1, "its launch is cancelled"};
    }
    // They train already, and the procedure's answer is on its way here.
    m_impl->launches.erase(launch);
    return std::nullopt;
}

void LocalEngine::attach(const QString& run) {
    if (const auto following = follow(run); !following)
        Q_EMIT failed(run, QString::fromStdString(following.error().message));
}

Result<void> LocalEngine::follow(const QString& run) {
    if (m_impl->followed.contains(run) || m_impl->launches.contains(run))
        return {};
    RM_ASSIGN_OR_RETURN(const auto found, summary(run));
    if (found.nodes.empty())
        return fail(ErrorCode::kInvalid, "follow " + run.toStdString() + ": it is on no node");
    const auto problem = m_impl->fleet->problem();
    std::vector<FollowedRun::Part> parts;
    for (const RunNode& part : found.nodes)
        parts.push_back({part.nodeName, m_impl->fleet->find(QString::fromStdString(part.nodeName)),
                         problem ? problem->message : "it was removed from the list of nodes"});
    auto followed = std::make_unique<FollowedRun>(found, std::move(parts), m_impl->writer,
                                                  m_impl->hosts, m_impl->database);
    wireFollowed(run, *followed);
    followed->start();
    const auto unanswered =
        m_impl->writer ? m_impl->reader->openCommands(run) : std::vector<AskedCommand>();
    FollowedRun& now = *m_impl->followed.emplace(run, std::move(followed)).first->second;
    for (const AskedCommand& asked : unanswered)
        now.restore(asked);
    Q_EMIT liveChanged(run);
    return {};
}

/// Follows the node's runs again, as their links still use its old settings.
void LocalEngine::followAnew(const QString& node) {
    m_impl->unreached.erase(node.toStdString());
    std::vector<QString> runs;
    for (const auto& [run, followed] : m_impl->followed)
        if (std::ranges::count(followed->live().nodes, node.toStdString(),
                               &LiveState::NodeLink::node) > 0)
            runs.push_back(run);
    for (const QString& run : runs) {
        auto commands = m_impl->followed.at(run)->takeInFlight();
        m_impl->followed.erase(run);
        attach(run);
        if (const auto now = m_impl->followed.find(run); now != m_impl->followed.end())
            now->second->goOnWith(std::move(commands));
    }
}

void LocalEngine::wireFollowed(const QString& run, FollowedRun& followed) {
    connect(&followed, &FollowedRun::committed, this, [this, run] {
        if (m_impl->copier)
            m_impl->copier->touch(run);
        Q_EMIT samplesAppended(run);
        Q_EMIT runsChanged();
    });
    connect(&followed, &FollowedRun::liveChanged, this, [this, run] { Q_EMIT liveChanged(run); });
    connect(&followed, &FollowedRun::loginRefused, this, [this](const QString& node) {
        // The check that asks the person must not start with the credentials that were just
        // refused.
        if (const auto known = m_impl->fleet->find(node))
            m_impl->fleet->credentials().forget(*known);
        Q_EMIT loginRefused(node);
    });
    connect(&followed, &FollowedRun::queued, this, [this, run](const QString& why) {
        if (m_impl->writer)
            (void)postEdit(run, [=](StoreWriter& writer) { return writer.setQueued(run, why); });
    });
    connect(&followed, &FollowedRun::commandChanged, this,
            [this, run](CommandKind kind, const CommandState& state, AskedState as) {
                onCommandChanged(run, kind, state, as);
            });
    connect(&followed, &FollowedRun::ended, this, [this, run](const QString& problem, bool lost) {
        onFollowingEnded(run, problem, lost);
    });
}

void LocalEngine::onFollowingEnded(const QString& run, const QString& problem, bool lost) {
    // The sender's signal is still being handled, so it is destroyed in the next turn of the event
    // loop.
    if (auto node = m_impl->followed.extract(run))
        m_impl->over.push_back(std::move(node.mapped()));
    QMetaObject::invokeMethod(
        this, [this] { m_impl->over.clear(); }, Qt::QueuedConnection);
    const auto announce = [this, run, problem] {
        Q_EMIT liveChanged(run);
        Q_EMIT runsChanged();
        if (!problem.isEmpty())
            Q_EMIT failed(run, problem);
        Q_EMIT attemptEnded(run);
    };
    const auto found = summary(run);
    const bool open = found && !hasEnded(found->state);
    const bool interrupted = open && found->state == RunStateKind::kPreparing;
    if (m_impl->writer && found && !open)
        m_impl->writer->post([run](StoreWriter& writer) {
            return writer.closeCommands(run, "the run ended before it took effect");
        });
    if (!m_impl->writer || !open || !(lost || (interrupted && problem.isEmpty())))
        return announce();
    // The journals have no end of the attempt: its ranks vanished, or were never started because
    // the Ringmaster that launched it was killed.
    const QString why = interrupted
                            ? QStringLiteral("the launch was interrupted before its ranks trained")
                            : problem;
    m_impl->writer->post([this, run, why, announce](StoreWriter& writer) {
        auto done = writer.setState(run, RunStateKind::kFailed, why).and_then([&] {
            return writer.closeCommands(run, "the run ended before it took effect");
        });
        QMetaObject::invokeMethod(this, announce);
        return done;
    });
}

/// Ends what lives of runs on nodes that were declared lost, one after another. The answer has one
/// result for each.
QFuture<std::vector<Result<bool>>>
LocalEngine::endOn(const std::vector<std::pair<GivenUpNode, Node>>& nodes) {
    for (const auto& [givenUp, node] : nodes)
        m_impl->ending.push_back(givenUp);
    const auto ended = runOn(m_impl->pool, [nodes, context = closingContext()] {
        std::vector<Result<bool>> all;
        for (const auto& [givenUp, node] : nodes)
            all.push_back(endGivenUp(context, node, givenUp, context.permit->stop()));
        return all;
    });
    return passOn(ended, this, [this, nodes](const std::vector<Result<bool>>&) {
        for (const auto& [givenUp, node] : nodes) // another one may have begun
            m_impl->ending.erase(std::ranges::find(m_impl->ending, givenUp));
    });
}

/// Those that can be reached by now; the others are tried again, after a minute at most, and one
/// that refuses the login once it was opened or edited.
void LocalEngine::endGivenUpNodes() {
    const auto all =
        m_impl->writer && m_impl->reader ? m_impl->reader->givenUp() : std::vector<GivenUpNode>();
    std::map<std::string, std::vector<std::pair<GivenUpNode, Node>>> byNode;
    bool isAnyLaunching = false;
    for (const GivenUpNode& givenUp : all) {
        const auto node = m_impl->fleet->find(QString::fromStdString(givenUp.node));
        const bool isLaunching = m_impl->launches.contains(givenUp.run);
        isAnyLaunching = isAnyLaunching || isLaunching;
        if (node && !isLaunching && std::ranges::count(m_impl->ending, givenUp) == 0 &&
            m_impl->unreached[givenUp.node].notBeforeNs <= monotonicNowNs())
            byNode[givenUp.node].emplace_back(givenUp, *node);
    }
    for (const auto& [node, runs] : byNode)
        whenAnswered(
            endOn(runs), this,
            [this, name = node](const std::vector<Result<bool>>& ended) { onEnded(name, ended); });
    if (!all.empty())
        m_impl->givenUpTimer.start(isAnyLaunching ? kFirstGivenUp : kGivenUpPause);
}

void LocalEngine::onEnded(const std::string& node, const std::vector<Result<bool>>& ended) {
    const auto failed = std::ranges::find_if(ended, [](const auto& one) { return !one; });
    if (failed == ended.end()) {
        m_impl->unreached.erase(node);
        return;
    }
    Impl::Unreached& unreached = m_impl->unreached[node];
    const int64_t pauseNs = std::chrono::nanoseconds(kGivenUpPause).count()
                            << std::min(unreached.times++, kMostPauseDoublings);
    unreached.notBeforeNs =
        failed->error().code == ErrorCode::kDenied ? INT64_MAX : monotonicNowNs() + pauseNs;
}

/// Of a run that has ended as far as is known.
QFuture<Result<CommandState>> LocalEngine::killGivenUp(const QString& run) {
    std::vector<std::pair<GivenUpNode, Node>> nodes;
    for (const GivenUpNode& givenUp : m_impl->reader->givenUp(run)) {
        const auto node = find(QString::fromStdString(givenUp.node));
        if (!node)
            return readyFuture<CommandState>(failAs("kill " + run.toStdString(), node.error()));
        nodes.emplace_back(givenUp, *node);
    }
    return endOn(nodes).then([run, nodes](const std::vector<Result<bool>>& ended) {
        std::string words;
        for (size_t i = 0; i < ended.size(); ++i) {
            if (!ended[i])
                return Result<CommandState>(failAs("kill " + run.toStdString(), ended[i].error()));
            words += (words.empty() ? "" : "; ") + nodes[i].first.node +
                     (*ended[i] ? ", which was declared lost: killed"
                                : ", which was declared lost: nothing of it lived there");
        }
        return Result<CommandState>(CommandState{{}, CommandProgress::kApplied, -1, words});
    });
}

void LocalEngine::attachAll() {
    if (!m_impl->reader)
        return;
    for (const RunSummary& run : m_impl->reader->runs())
        if (!hasEnded(run.state))
            attach(run.id);
}

LiveState LocalEngine::live(const QString& asked) const {
    const QString run = m_impl->runOf(asked);
    const auto found = m_impl->followed.find(run);
    if (found != m_impl->followed.end())
        return found->second->live();
    LiveState live;
    if (const auto launch = m_impl->launches.find(run); launch != m_impl->launches.end()) {
        live.launching = launch->second.progress;
        if (launch->second.permit->isCancelled())
            live.pending = CommandKind::kStop;
    }
    return live;
}

QStringList LocalEngine::ownLaunches() const {
    QStringList runs;
    for (const auto& [run, launch] : m_impl->launches)
        if (!launch.permit->isCancelled())
            runs << run;
    return runs;
}

Result<void> LocalEngine::postEdit(const QString& run,
                                   std::function<Result<void>(StoreWriter&)> edit) {
    if (!m_impl->writer)
        return fail(ErrorCode::kUnavailable,
                    "change " + run.toStdString() + ": another Ringmaster has this database open");
    m_impl->writer->post([this, run, edit = std::move(edit)](StoreWriter& writer) {
        const auto done = edit(writer);
        const QString problem = done ? QString() : QString::fromStdString(done.error().message);
        QMetaObject::invokeMethod(this, [this, run, problem] {
            if (!problem.isEmpty())
                Q_EMIT failed(run, problem);
            Q_EMIT runsChanged();
        });
        return done;
    });
    return {};
}

Result<void> LocalEngine::setNotes(const QString& run, const QString& notes) {
    return postEdit(run, [=](StoreWriter& writer) { return writer.setNotes(run, notes); });
}

Result<void> LocalEngine::setTags(const QString& run, const QStringList& tags) {
    return postEdit(run, [=](StoreWriter& writer) { return writer.setTags(run, tags); });
}

/// The answer comes when the database has it.
QFuture<Result<void>> LocalEngine::edit(const std::string& attempt,
                                        std::function<Result<void>(StoreWriter&)> edit) {
    if (!m_impl->writer)
        return readyFuture<void>(
            fail(ErrorCode::kUnavailable, attempt + ": another Ringmaster has this database open"));
    const auto promise = std::make_shared<QPromise<Result<void>>>();
    promise->start();
    m_impl->writer->post([this, promise, edit = std::move(edit)](StoreWriter& writer) {
        auto done = edit(writer);
        QMetaObject::invokeMethod(this, [this] { Q_EMIT runsChanged(); });
        promise->addResult(done);
        promise->finish();
        return done;
    });
    return promise->future();
}

QFuture<Result<void>> LocalEngine::rename(const QString& run, const QString& name) {
    return edit("rename " + run.toStdString(),
                [=](StoreWriter& writer) { return writer.setName(run, name); });
}

QFuture<Result<void>> LocalEngine::setDeleted(const QString& run, bool deleted) {
    const std::string attempt = (deleted ? "delete " : "bring back ") + run.toStdString();
    const auto found = summary(run);
    if (deleted && m_impl->launches.contains(run))
        return readyFuture<void>(
            fail(ErrorCode::kInvalid, attempt + ": it is being started; stop it first"));
    if (deleted && found && !hasEnded(found->state))
        return readyFuture<void>(
            fail(ErrorCode::kInvalid,
                 attempt + ": it is " + runStateName(found->state) + "; stop or pause it first"));
    return edit(attempt, [=](StoreWriter& writer) { return writer.setDeleted(run, deleted); });
}

QFuture<Result<void>> LocalEngine::emptyTrash(int64_t deletedBeforeNs) {
    return edit("empty the trash", [=](StoreWriter& writer) {
        return writer.purgeDeleted(deletedBeforeNs).map([](int) {});
    });
}

} // namespace rm
