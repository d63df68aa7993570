// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/run/engine.h"

#include "app/core/run/followed_run.h"
#include "app/core/run/procedures.h"
#include "app/core/settings/paths.h"

#include <QThreadPool>
#include <QUuid>
#include <QtConcurrent>

#include <map>

namespace rm {

namespace {

constexpr int kProcedureThreads = 8;

/// A future that is there already.
template <class T>
QFuture<Result<T>> readyFuture(Result<T> result) {
    return QtFuture::makeReadyFuture(std::move(result));
}

bool hasEnded(RunStateKind state) {
    return state != RunStateKind::kPreparing && state != RunStateKind::kRunning;
}

} // namespace

struct Engine::Impl {
    QString database;
    Fleet* fleet = nullptr;
    std::shared_ptr<WriterThread> writer; ///< null: another instance writes
    CredentialSource credentials = [](const Node&) { return Credentials{}; };
    std::shared_ptr<HostPool> hosts;
    std::unique_ptr<StoreReader> reader; ///< the engine thread's, for single rows
    std::map<QString, std::unique_ptr<FollowedRun>> followed;
    QThreadPool pool;

    Credentials credentialsFor(const Node& node) const { return credentials(node); }
};

Engine::Engine(const Paths& paths, Fleet& fleet, std::unique_ptr<StoreWriter> writer,
               QObject* parent)
    : QObject(parent)
    , m_impl(std::make_unique<Impl>()) {
    m_impl->database = paths.database();
    m_impl->fleet = &fleet;
    if (writer)
        m_impl->writer = std::make_shared<WriterThread>(std::move(writer));
    m_impl->pool.setMaxThreadCount(kProcedureThreads);
    if (auto reader = StoreReader::open(m_impl->database))
        m_impl->reader = std::move(*reader);
    setCredentialSource(m_impl->credentials);
}

Engine::~Engine() {
    // Followers first: they commit through the writer; procedures next, for the same reason.
    m_impl->followed.clear();
    m_impl->pool.waitForDone();
}

QString Engine::databasePath() const {
    return m_impl->database;
}

void Engine::setCredentialSource(CredentialSource source) {
    m_impl->credentials = std::move(source);
    m_impl->hosts = std::make_shared<HostPool>(m_impl->credentials);
}

Result<std::vector<PlacedParty>> Engine::place(const std::vector<Placement>& placements) const {
    if (placements.empty())
        return fail(ErrorCode::kInvalid, "launch: no node was chosen");
    std::vector<PlacedParty> parties;
    for (const Placement& placement : placements) {
        const auto node = m_impl->fleet->find(placement.node);
        if (!node)
            return fail(ErrorCode::kNotFound, "find node " + placement.node.toStdString() +
                                                  ": it is not in the list; add it first");
        for (const PlacedParty& other : parties)
            if (other.node.name == node->name)
                return fail(ErrorCode::kInvalid, "launch: node " + node->name + " is named twice");
        parties.push_back({*node, placement.ranks});
    }
    return parties;
}

Result<std::vector<PlacedParty>> Engine::placeOf(const RunSummary& run) const {
    std::vector<Placement> placements;
    for (const RunNode& node : run.nodes)
        placements.push_back({QString::fromStdString(node.nodeName), node.ranks});
    return place(placements);
}

Result<RunSummary> Engine::summary(const QString& run) const {
    if (!m_impl->reader)
        return fail(ErrorCode::kUnavailable,
                    "open " + m_impl->database.toStdString() + ": no database there");
    const auto found = m_impl->reader->run(run);
    if (!found)
        return fail(ErrorCode::kNotFound, "find run " + run.toStdString() + ": there is none");
    return *found;
}

QFuture<Result<QString>>
Engine::startProcedure(std::function<Result<QString>(const ProcedureContext&)> procedure) {
    if (!m_impl->writer)
        return readyFuture<QString>(fail(ErrorCode::kUnavailable,
                                         "start ranks: another Ringmaster has this database open; "
                                         "start the run there, or close it first"));
    ProcedureContext context{m_impl->writer, m_impl->hosts, m_impl->database, {}, {}};
    context.progress = [this](const QString& run, const Progress& progress) {
        QMetaObject::invokeMethod(this, [=, this] { Q_EMIT progressed(run, progress); });
    };
    context.changed = [this](const QString&) {
        QMetaObject::invokeMethod(this, [this] { Q_EMIT runsChanged(); });
    };
    return QtConcurrent::run(&m_impl->pool, [procedure = std::move(procedure),
                                             context] { return procedure(context); })
        .then(this, [this](Result<QString> started) {
            if (started)
                attach(*started);
            return started;
        });
}

QFuture<Result<QString>> Engine::launch(const CheckedSpec& spec,
                                        const std::vector<Placement>& nodes) {
    auto parties = place(nodes);
    if (!parties)
        return readyFuture<QString>(tl::unexpected<Error>(parties.error()));
    return startProcedure([spec, parties = *parties](const ProcedureContext& context) {
        return launchRun(context, spec, parties, {});
    });
}

QFuture<Result<QString>> Engine::resume(const QString& run, std::optional<int64_t> step) {
    const auto found = summary(run);
    if (!found)
        return readyFuture<QString>(tl::unexpected<Error>(found.error()));
    if (!hasEnded(found->state))
        return readyFuture<QString>(
            fail(ErrorCode::kInvalid, "resume " + run.toStdString() + ": it is " +
                                          runStateName(found->state) + "; pause or stop it first"));
    auto parties = placeOf(*found);
    if (!parties)
        return readyFuture<QString>(tl::unexpected<Error>(parties.error()));
    m_impl->followed.erase(run);
    return startProcedure(
        [found = *found, parties = *parties, step](const ProcedureContext& context) {
            return resumeRun(context, found, parties, step);
        });
}

QFuture<Result<QString>> Engine::branch(const QString& run, int64_t step,
                                        std::optional<CheckedSpec> spec) {
    const auto found = summary(run);
    if (!found)
        return readyFuture<QString>(tl::unexpected<Error>(found.error()));
    auto parties = placeOf(*found);
    if (!parties)
        return readyFuture<QString>(tl::unexpected<Error>(parties.error()));
    return startProcedure([=,
                           parties = *parties](const ProcedureContext& context) -> Result<QString> {
        const auto reader = StoreReader::open(context.database);
        if (!reader)
            return tl::unexpected<Error>(reader.error());
        const auto checkpoint = findCheckpoint(**reader, run, step);
        if (!checkpoint)
            return tl::unexpected<Error>(checkpoint.error());
        auto checked = spec
                           ? Result<CheckedSpec>(*spec)
                           : parseRunSpec((*reader)->specToml(run), run.toStdString())
                                 .and_then([](RunSpec parsed) { return check(std::move(parsed)); });
        if (!checked)
            return tl::unexpected<Error>(checked.error());
        return launchRun(context, *checked, parties, {run, step, checkpoint->saved.path});
    });
}

QFuture<Result<CommandState>>
Engine::command(const QString& run, CommandKind kind,
                std::vector<std::pair<std::string, std::string>> args) {
    const auto found = summary(run);
    if (!found)
        return readyFuture<CommandState>(tl::unexpected<Error>(found.error()));
    if (hasEnded(found->state))
        return readyFuture<CommandState>(
            fail(ErrorCode::kInvalid, std::string(commandKindName(kind)) + " " + run.toStdString() +
                                          ": it is " + runStateName(found->state) +
                                          ", no rank is there to do it"));
    attach(run);
    const auto followed = m_impl->followed.find(run);
    if (followed == m_impl->followed.end())
        return readyFuture<CommandState>(
            fail(ErrorCode::kUnavailable, "reach the nodes of " + run.toStdString()));
    const std::string id = QUuid::createUuid().toString(QUuid::WithoutBraces).toStdString();
    return followed->second->send({id, kind, std::move(args)});
}

void Engine::attach(const QString& run) {
    if (m_impl->followed.contains(run))
        return;
    const auto found = summary(run);
    if (!found) {
        Q_EMIT failed(run, QString::fromStdString(found.error().message));
        return;
    }
    const auto parties = placeOf(*found);
    if (!parties) {
        Q_EMIT failed(run, QString::fromStdString(parties.error().message));
        return;
    }
    std::vector<Node> nodes;
    for (const PlacedParty& party : *parties)
        nodes.push_back(party.node);
    auto followed = std::make_unique<FollowedRun>(*found, std::move(nodes), m_impl->writer,
                                                  m_impl->credentials, m_impl->database);
    wireFollowed(run, *followed);
    followed->start();
    m_impl->followed.emplace(run, std::move(followed));
    Q_EMIT liveChanged(run);
}

void Engine::wireFollowed(const QString& run, FollowedRun& followed) {
    connect(&followed, &FollowedRun::committed, this, [this, run] {
        Q_EMIT samplesAppended(run);
        Q_EMIT runsChanged();
    });
    connect(&followed, &FollowedRun::liveChanged, this, [this, run] { Q_EMIT liveChanged(run); });
    connect(&followed, &FollowedRun::ended, this, [this, run](const QString& problem) {
        // The sender is inside this call: it goes when the event loop is back.
        if (const auto node = m_impl->followed.extract(run))
            node.mapped().release()->deleteLater();
        endInterruptedLaunch(run);
        Q_EMIT liveChanged(run);
        Q_EMIT runsChanged();
        if (!problem.isEmpty())
            Q_EMIT failed(run, problem);
        Q_EMIT attemptEnded(run);
    });
}

void Engine::endInterruptedLaunch(const QString& run) {
    // Its ranks have ended, or never began, and still it is "preparing": the Ringmaster that
    // launched it was killed in between.
    const auto found = summary(run);
    if (!found || found->state != RunStateKind::kPreparing)
        return;
    (void)postEdit(run, [run](StoreWriter& writer) {
        return writer.setState(run, RunStateKind::kFailed,
                               QStringLiteral("the launch was interrupted before a rank started"));
    });
}

void Engine::attachAll() {
    if (!m_impl->reader)
        return;
    for (const RunSummary& run : m_impl->reader->runs())
        if (!hasEnded(run.state))
            attach(run.id);
}

LiveState Engine::live(const QString& run) const {
    const auto found = m_impl->followed.find(run);
    return found == m_impl->followed.end() ? LiveState{} : found->second->live();
}

Result<void> Engine::postEdit(const QString& run, std::function<Result<void>(StoreWriter&)> edit) {
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

Result<void> Engine::setNotes(const QString& run, const QString& notes) {
    return postEdit(run, [=](StoreWriter& writer) { return writer.setNotes(run, notes); });
}

Result<void> Engine::setTags(const QString& run, const QStringList& tags) {
    return postEdit(run, [=](StoreWriter& writer) { return writer.setTags(run, tags); });
}

Result<void> Engine::setDeleted(const QString& run, bool deleted) {
    return postEdit(run, [=](StoreWriter& writer) { return writer.setDeleted(run, deleted); });
}

} // namespace rm
