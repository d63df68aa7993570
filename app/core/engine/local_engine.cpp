// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/local_engine.h"

#include "app/core/checkpoints/checkpoint_moves.h"
#include "app/core/engine/parts.h"
#include "app/core/findings/text.h"
#include "app/core/runs/parts_of_run.h"
#include "app/core/settings/paths.h"
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "shared/io/clock.h"
#include "shared/journal/event_codes.h"
#include "shared/return_if_error.h"

#include <QMetaObject>
#include <QPromise>

#include <functional>

namespace rm {

namespace {

constexpr int kProcedureThreads = 8;
/// How long the end of this program waits for nodes to end what a launch has started there.
constexpr int kLastWordsMs = 1500;
constexpr int64_t kDayNs = 24 * 3600 * int64_t{1'000'000'000};

std::unique_ptr<StoreReader> readerOf(const QString& database) {
    auto reader = StoreReader::open(database);
    return reader ? std::move(*reader) : nullptr;
}

/// Emits Engine::failed() of what could not be stored for any run. For any thread.
std::function<void(const Error&)> failureOfAll(LocalEngine& engine) {
    return [&engine](const Error& error) {
        QMetaObject::invokeMethod(&engine, [&engine, error] {
            Q_EMIT engine.failed({}, QString::fromStdString(error.message));
        });
    };
}

} // namespace

LocalEngine::Parts::Parts(LocalEngine& engine, const Paths& paths, Fleet& nodes,
                          std::unique_ptr<StoreWriter> storeWriter)
    : database(paths.database())
    , stateFolder(paths.state.toStdString())
    , fleet(&nodes)
    , writer(storeWriter
                 ? std::make_shared<WriterThread>(std::move(storeWriter), failureOfAll(engine))
                 : nullptr)
    , reader(readerOf(database))
    , launches(engine)
    , following(engine)
    , declaredLost(engine)
    , queue(engine) {
    pool.setMaxThreadCount(kProcedureThreads);
}

LocalEngine::LocalEngine(const Paths& paths, Fleet& fleet, std::unique_ptr<StoreWriter> writer,
                         QObject* parent)
    : Engine(parent)
    , m_parts(std::make_unique<Parts>(*this, paths, fleet, std::move(writer))) {
    connect(&fleet, &Fleet::nodeOpened, this, [this](const QString& node) {
        m_parts->declaredLost.forgetUnreached(node.toStdString());
        m_parts->following.retry(node.toStdString());
        m_parts->machines.retry(node.toStdString());
    });
    connect(&fleet, &Fleet::nodeEdited, this, [this](const QString& node) {
        m_parts->declaredLost.forgetUnreached(node.toStdString());
        m_parts->following.followAnew(node);
    });
    if (!m_parts->writer)
        return;
    m_parts->writer->post([](StoreWriter& store) { return store.requeueInterrupted(); });
    m_parts->writer->post([](StoreWriter& store) { return store.closeCommandsOfEndedRuns(); });
    m_parts->copier = std::make_unique<CheckpointCopier>(copyingMeans());
    m_parts->declaredLost.begin();
    forgetOldTrash();
}

LocalEngine::~LocalEngine() {
    m_parts->closing.request_stop();
    m_parts->closingToken->cancel();
    m_parts->copier.reset();
    m_parts->launches.cancelAll();
    // Followers first: they commit through the writer; procedures next, for the same reason.
    m_parts->following.hangUp();
    m_parts->machines.end();
    // A launch ends the ranks that it has started, where the nodes answer. The next engine finds
    // those of the others.
    m_parts->pool.waitForDone(kLastWordsMs);
    m_parts->hosts->close();
    m_parts->pool.waitForDone();
}

/// How checkpoints are copied in the background: through this program. Nobody waits for such a
/// copy: its progress is dropped, and a failure becomes an event of the run.
CheckpointCopier::Means LocalEngine::copyingMeans() {
    CheckpointCopier::Means means;
    means.nowNs = &monotonicNowNs;
    means.due = [this](const QString& run) -> std::optional<DueCopy> {
        const auto found = summary(run);
        const auto spec = found ? parseRunSpec(m_parts->reader->specToml(run), run.toStdString())
                                : Result<RunSpec>(tl::unexpected(found.error()));
        if (!spec || m_parts->launches.contains(run))
            return std::nullopt;
        const auto checkpoints = m_parts->reader->checkpoints(run);
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
        return runOn(m_parts->pool, [run, due, context] { return makeDueCopy(context, run, due); });
    };
    means.failed = [this](const QString& run, const DueCopy& due, const Error& error) {
        IngestBatch batch;
        batch.run = run;
        batch.records.emplace_back(Event{
            -1, -1, wallNowNs(), Severity::kWarning, kNotCopiedEvent,
            say("engine.no-copy",
                {{"checkpoint", due.checkpoint}, {"node", due.node}, {"why", error.message}})});
        m_parts->writer->post(
            [batch = std::move(batch)](StoreWriter& writer) { return writer.ingest(batch); });
    };
    return means;
}

void LocalEngine::forgetOldTrash() {
    m_parts->writer->post([this](StoreWriter& writer) {
        return writer.purgeDeleted(wallNowNs() - kTrashDays * kDayNs).map([this](int runs) {
            if (runs > 0)
                QMetaObject::invokeMethod(this, [this] { Q_EMIT runsChanged(); });
        });
    });
}

QString LocalEngine::databasePath() const {
    return m_parts->database;
}

void LocalEngine::setCredentialSource(CredentialSource source) {
    m_parts->hosts = std::make_shared<HostPool>(std::move(source));
}

Result<std::vector<PlacedParty>>
LocalEngine::place(const std::vector<Placement>& placements) const {
    if (placements.empty())
        return fail(ErrorCode::kInvalid, say("engine.no-node-chosen"));
    std::vector<PlacedParty> parties;
    for (const Placement& placement : placements) {
        RM_ASSIGN_OR_RETURN(const auto node, find(placement.node));
        for (const PlacedParty& other : parties)
            if (other.node.name == node.name)
                return fail(ErrorCode::kInvalid,
                            say("engine.node-named-twice", {{"node", node.name}}));
        parties.push_back({node, placement.ranks});
    }
    return parties;
}

Result<Node> LocalEngine::find(const QString& node) const {
    const auto found = m_parts->fleet->find(node);
    if (found)
        return *found;
    const std::string attempt = say("run.find-node", {{"node", node.toStdString()}});
    if (const auto problem = m_parts->fleet->problem())
        return failAs(attempt, *problem);
    return failAs(attempt, {ErrorCode::kNotFound, say("run.node-not-listed")});
}

Result<std::vector<PlacedParty>> LocalEngine::placeOf(const RunSummary& run) const {
    return place(placementsOf(m_parts->reader->wholePlaces(run.id)));
}

Result<RunSummary> LocalEngine::summary(const QString& run) const {
    if (!m_parts->reader)
        return failAs(say("engine.open", {{"database", m_parts->database.toStdString()}}),
                      {ErrorCode::kUnavailable, say("engine.no-database")});
    const auto found = m_parts->reader->run(run);
    if (!found)
        return fail(ErrorCode::kNotFound, say("engine.no-run", {{"run", run.toStdString()}}));
    return *found;
}

Result<void> LocalEngine::canWrite(const std::string& attempt) const {
    if (m_parts->writer)
        return {};
    return failAs(attempt, {ErrorCode::kUnavailable, say("engine.database-is-open")});
}

ProcedureContext LocalEngine::procedureContext(std::shared_ptr<CancelToken> token) {
    ProcedureContext context{m_parts->writer,
                             m_parts->hosts,
                             m_parts->database,
                             std::move(token),
                             m_parts->fleet->nodes(),
                             {},
                             {},
                             {}};
    context.progress = [this](const QString& run, const Progress& progress) {
        QMetaObject::invokeMethod(this,
                                  [=, this] { m_parts->launches.setProgress(run, progress); });
    };
    context.changed = [this](const QString&) {
        QMetaObject::invokeMethod(this, [this] { Q_EMIT runsChanged(); });
    };
    context.tooLarge = [this](const QString& run, const QString& why) {
        QMetaObject::invokeMethod(this, [=, this] { Q_EMIT tooLarge(run, why); });
    };
    context.stateFolder = m_parts->stateFolder;
    return context;
}

ProcedureContext LocalEngine::closingContext() {
    return procedureContext(m_parts->closingToken);
}

void LocalEngine::attach(const QString& run) {
    follow(run, false);
}

void LocalEngine::followStarted(const QString& run) {
    follow(run, true);
}

void LocalEngine::follow(const QString& run, bool wasStarted) {
    if (const auto following = m_parts->following.follow(run, wasStarted); !following)
        Q_EMIT failed(run, QString::fromStdString(following.error().message));
}

void LocalEngine::attachAll() {
    if (!m_parts->reader)
        return;
    // What was concluded of a run is looked at again for a week, while its nodes are there.
    constexpr int64_t kLooksForNs = 7 * kDayNs;
    const auto isThere = [this](const RunNode& node) {
        return m_parts->fleet->find(QString::fromStdString(node.nodeName)).has_value();
    };
    for (const RunSummary& run : m_parts->reader->runs())
        if (isLive(run.state) || (run.isPresumed && wallNowNs() - run.updatedNs < kLooksForNs &&
                                  std::ranges::all_of(run.nodes, isThere)))
            attach(run.id);
}

LiveState LocalEngine::live(const QString& requested) const {
    const QString run = m_parts->launches.runOf(requested);
    const FollowedRun* followed = m_parts->following.find(run);
    return followed ? followed->live() : m_parts->launches.live(run);
}

QStringList LocalEngine::ownLaunches() const {
    return m_parts->launches.runs();
}

QFuture<Result<void>> LocalEngine::edit(const std::string& attempt,
                                        std::function<Result<void>(StoreWriter&)> edit) {
    if (auto can = canWrite(attempt); !can)
        return ready<Result<void>>(std::move(can));
    const auto promise = std::make_shared<QPromise<Result<void>>>();
    promise->start();
    m_parts->writer->post([this, promise, edit = std::move(edit)](StoreWriter& writer) {
        auto done = edit(writer);
        // In this order, and in the engine's thread: whoever has the answer knows of the change.
        QMetaObject::invokeMethod(this, [this, promise, done] {
            Q_EMIT runsChanged();
            promise->addResult(done);
            promise->finish();
        });
        return done;
    });
    return promise->future();
}

void LocalEngine::postEdit(const QString& run, std::function<Result<void>(StoreWriter&)> edit) {
    if (!m_parts->writer)
        return;
    m_parts->writer->post([this, run, edit = std::move(edit)](StoreWriter& writer) {
        const auto done = edit(writer);
        const QString problem = done ? QString() : QString::fromStdString(done.error().message);
        QMetaObject::invokeMethod(this, [this, run, problem] {
            if (!problem.isEmpty())
                Q_EMIT failed(run, problem);
            Q_EMIT runsChanged();
        });
        return done;
    });
}

void LocalEngine::noteCommand(const QString& run, const RequestedCommand& requested) {
    if (m_parts->writer)
        m_parts->writer->post([this, run, requested](StoreWriter& writer) {
            return writer.addCommand(run, requested).map([this](const RequestedCommand&) {
                QMetaObject::invokeMethod(this, [this] { Q_EMIT runsChanged(); });
            });
        });
}

void LocalEngine::noteCommandState(const QString& run, CommandKind kind, const CommandState& state,
                                   RequestedState as) {
    postEdit(run, [=](StoreWriter& writer) -> Result<void> {
        RM_RETURN_IF_ERROR(writer.setCommandState(run, state.id, as, state.step, state.message));
        if (as != RequestedState::kLapsed)
            return {};
        IngestBatch batch;
        batch.run = run;
        batch.records = {Event{
            -1, -1, wallNowNs(), Severity::kWarning, kCommandLapsedEvent,
            say("engine.no-effect", {{"command", commandKindName(kind)}, {"why", state.message}})}};
        return writer.ingest(batch);
    });
}

} // namespace rm
