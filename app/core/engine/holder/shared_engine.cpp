// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/holder/shared_engine.h"

#include "app/core/engine/holder/face_channel.h"
#include "app/core/engine/holder/face_server.h"
#include "app/core/engine/holder/holder_place.h"
#include "app/core/engine/holder/holder_search.h"
#include "app/core/engine/local_engine.h"
#include "app/core/findings/text.h"
#include "app/core/launch/plan.h"
#include "app/core/remote/credential_store.h"
#include "app/core/settings/user_name.h"
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "shared/io/clock.h"

#include <QCoreApplication>
#include <QDir>
#include <QTimer>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

namespace rm {

namespace {

using namespace std::chrono_literals;

constexpr auto kLookForHolder = 2s;
constexpr int64_t kAskHolderNs = 4'000'000'000;
constexpr int kMostUnanswered = 4; ///< questions to a holder, then it counts as silent

std::string absolute(const std::string& path) {
    if (path.empty() || path.front() == '~')
        return path;
    return QDir::current().absoluteFilePath(QString::fromStdString(path)).toStdString();
}

/// Makes paths on this computer absolute: the holder may have another working directory.
void makeAbsolute(RunSpec& spec) {
    if (!spec.data.stage)
        return;
    for (auto* paths : {&spec.data.train, &spec.data.validation})
        for (std::string& path : *paths)
            path = absolute(path);
    for (std::string* path : {&spec.data.tokenizerFile, &spec.model.startFrom})
        *path = absolute(*path);
}

/// The state of a run whose state the holder has not told yet.
LiveState unheard() {
    LiveState live;
    live.nodes.push_back({{}, LiveState::Link::kConnecting, {}, 0, {}});
    return live;
}

} // namespace

struct SharedEngine::Impl {
    /// kClosed (from the start, or after giving up) -> kSeeking -> kHolder, for good, or kServed;
    /// kServed -> kSeeking when the holder ends.
    enum class Role { kClosed, kSeeking, kHolder, kServed };

    struct Pending {
        EngineRequest request;
        Done done;
        bool begun = false; ///< as far as is known
    };

    Impl(const Paths& where, Fleet& nodes)
        : paths(where)
        , fleet(nodes) {}

    Requester requester(const Requester& by) const {
        const bool isWindow = self.kind == face::Kind::kWindow;
        return by.who.empty() ? Requester{userName(), isWindow ? RequestedFrom::kWindow
                                                               : RequestedFrom::kTerminal}
                              : by;
    }

    Paths paths;
    Fleet& fleet;
    face::Hello self;
    Role role = Role::kClosed;
    std::vector<std::shared_ptr<QPromise<Result<void>>>> openings;

    std::map<int64_t, Pending> pending;
    int64_t lastNumber = 0;
    std::set<QString> followed; ///< attach() was called, and they have not ended
    bool followsAll = false;

    // kHolder
    std::unique_ptr<LocalEngine> local;
    std::unique_ptr<FaceServer> server; ///< ends first

    HolderSearch* search = nullptr; ///< kSeeking

    // kServed
    std::unique_ptr<FaceChannel> channel;
    int64_t holderPid = 0;
    QTimer lookout;        ///< while it serves us
    int64_t heardNs = 0;   ///< CLOCK_MONOTONIC, of its last message
    int unanswered = 0;    ///< questions since then
    bool isSilent = false; ///< it was suspended, or hangs: so that the runs are shown as lost
    std::map<QString, LiveState> live; ///< as far as was heard
};

namespace {

/// Runs in the trash are known, too.
KnownRuns knownRuns(const QString& database) {
    KnownRuns known;
    const auto reader = StoreReader::open(database);
    if (!reader)
        return known;
    for (const auto& runs : {(*reader)->runs(), (*reader)->trash()})
        for (const RunSummary& run : runs)
            known[run.id.toStdString()] = isLive(run.state) ? KnownRun::kLive : KnownRun::kEnded;
    return known;
}

} // namespace

SharedEngine::SharedEngine(const Paths& paths, Fleet& fleet, face::Kind kind, QObject* parent)
    : Engine(parent)
    , m_impl(std::make_unique<Impl>(paths, fleet)) {
    m_impl->self.release = RINGMASTER_RELEASE;
    m_impl->self.pid = QCoreApplication::applicationPid();
    m_impl->self.kind = kind;
    fleet.setKnownRuns([path = databasePath()] { return knownRuns(path); });
    connect(&fleet, &Fleet::nodesChanged, this, [this] {
        if (m_impl->role == Impl::Role::kServed)
            m_impl->channel->send(face::NodesChanged{});
    });
}

SharedEngine::~SharedEngine() {
    m_impl->fleet.setChecker({});
    m_impl->fleet.setKnownRuns({});
}

QFuture<Result<void>> SharedEngine::open() {
    const auto promise = std::make_shared<QPromise<Result<void>>>();
    promise->start();
    m_impl->openings.push_back(promise);
    seek();
    return promise->future();
}

bool SharedEngine::isHolder() const {
    return m_impl->role == Impl::Role::kHolder;
}

bool SharedEngine::isBusyForOthers() const {
    return m_impl->server && m_impl->server->isBusy();
}

QFuture<bool> SharedEngine::showOtherWindow(const QByteArray& activationToken) {
    return ask(WindowRequest{activationToken});
}

QString SharedEngine::databasePath() const {
    return m_impl->paths.database();
}

// Requests

void SharedEngine::post(EngineRequest request, Done done) {
    complete(request);
    const int64_t number = ++m_impl->lastNumber;
    m_impl->pending[number] = {std::move(request), std::move(done)};
    begin(number);
}

/// Fills in what this process alone knows, and what makes a repeated request the same one.
void SharedEngine::complete(EngineRequest& request) const {
    const auto fill = [this](auto& requested) {
        if constexpr (requires { requested.by; })
            requested.by = m_impl->requester(requested.by);
        if constexpr (requires { makeAbsolute(requested.spec); })
            makeAbsolute(requested.spec);
        if constexpr (requires { makeAbsolute(*requested.spec); })
            if (requested.spec)
                makeAbsolute(*requested.spec);
    };
    std::visit(fill, request);
    if (auto* launch = std::get_if<LaunchRequest>(&request); launch && launch->run.isEmpty())
        launch->run = QString::fromStdString(newRunId(launch->spec.name));
    if (auto* command = std::get_if<CommandRequest>(&request); command && command->id.empty())
        command->id = newCommandId();
}

void SharedEngine::begin(int64_t number) {
    const EngineRequest& request = m_impl->pending.at(number).request;
    switch (m_impl->role) {
    case Impl::Role::kClosed:
        return seek();
    case Impl::Role::kSeeking:
        return;
    case Impl::Role::kHolder:
        return m_impl->local->post(
            request, [this, number](const EngineReply& reply) { settle(number, reply); });
    case Impl::Role::kServed:
        if (!m_impl->channel->send(face::Ask{number, request}))
            settle(number, failureOf(request, ErrorCode::kInvalid, say("engine.request-too-long")));
    }
}

void SharedEngine::settle(int64_t number, const EngineReply& reply) {
    const auto settled = m_impl->pending.extract(number);
    if (settled.empty())
        return;
    const EngineRequest& request = settled.mapped().request;
    const bool fits = reply.index() == failureOf(request, {}).index();
    settled.mapped().done(
        fits ? reply : failureOf(request, ErrorCode::kInternal, say("engine.other-answer")));
}

// Following

void SharedEngine::attach(const QString& run) {
    m_impl->followed.insert(run);
    if (m_impl->local)
        return m_impl->local->attach(run);
    m_impl->live.try_emplace(run, unheard());
    if (m_impl->role == Impl::Role::kServed)
        m_impl->channel->send(face::Follow{run});
}

void SharedEngine::attachAll() {
    m_impl->followsAll = true;
    if (m_impl->local)
        return m_impl->local->attachAll();
    const auto reader = StoreReader::open(databasePath());
    if (!reader)
        return;
    for (const RunSummary& run : (*reader)->runs())
        if (isLive(run.state))
            attach(run.id);
}

LiveState SharedEngine::live(const QString& run) const {
    if (m_impl->local)
        return m_impl->local->live(run);
    const auto known = m_impl->live.find(run);
    return known == m_impl->live.end() ? LiveState() : known->second;
}

/// Leaves out launches that the engine here begins for others: it goes on until they are done.
QStringList SharedEngine::ownLaunches() const {
    QStringList runs;
    for (const auto& [number, pending] : m_impl->pending)
        if (const auto run = runStartedBy(pending.request); run && !live(*run).pending)
            runs << *run;
    return runs;
}

// Becoming the holder, or finding it

void SharedEngine::seek() {
    if (m_impl->role != Impl::Role::kClosed)
        return;
    m_impl->role = Impl::Role::kSeeking;
    m_impl->fleet.setChecker([this](const QString& node, const Credentials& credentials) {
        return ask(CheckRequest{node, credentials});
    });
    m_impl->search = new HolderSearch(
        databasePath(), m_impl->self,
        [this](HolderSearch::Outcome outcome) {
            std::exchange(m_impl->search, nullptr)->deleteLater();
            if (auto* writer = std::get_if<std::unique_ptr<StoreWriter>>(&outcome))
                hold(std::move(*writer));
            else if (auto* holder = std::get_if<FoundHolder>(&outcome))
                beServed(std::move(*holder));
            else
                giveUp(std::get<Error>(outcome));
        },
        this);
}

void SharedEngine::openUnrecorded() {
    makeLocal(nullptr);
    m_impl->role = Impl::Role::kHolder;
    goOn();
}

void SharedEngine::makeLocal(std::unique_ptr<StoreWriter> writer) {
    m_impl->live.clear();
    m_impl->fleet.setChecker({});
    m_impl->local = std::make_unique<LocalEngine>(m_impl->paths, m_impl->fleet, std::move(writer));
    m_impl->local->setCredentialSource(
        [&fleet = m_impl->fleet](const Node& node) { return fleet.credentials().lookUp(node); });
    passSignalsOn(*m_impl->local);
}

void SharedEngine::hold(std::unique_ptr<StoreWriter> writer) {
    const auto socket = socketFor(databasePath());
    const auto announced =
        socket.and_then([&](const QString& path) { return writer->announce(path.toStdString()); });
    makeLocal(std::move(writer));
    m_impl->server = std::make_unique<FaceServer>(*m_impl->local, m_impl->fleet, m_impl->self);
    connect(m_impl->server.get(), &FaceServer::idle, this, &SharedEngine::idleForOthers);
    connect(m_impl->server.get(), &FaceServer::windowRequested, this,
            &SharedEngine::windowRequested);
    m_impl->role = Impl::Role::kHolder;
    const auto listening =
        announced ? m_impl->server->listen(*socket) : tl::unexpected(announced.error());
    goOn();
    if (!listening)
        Q_EMIT failed({}, QString::fromStdString(
                              say("engine.cannot-join", {{"why", listening.error().message}})));
}

void SharedEngine::beServed(FoundHolder holder) {
    m_impl->role = Impl::Role::kServed;
    m_impl->holderPid = holder.pid;
    m_impl->channel = std::move(holder.channel);
    m_impl->heardNs = monotonicNowNs();
    m_impl->unanswered = 0;
    m_impl->isSilent = false;
    m_impl->lookout.callOnTimeout(this, &SharedEngine::lookForHolder, Qt::UniqueConnection);
    m_impl->lookout.start(kLookForHolder);
    connect(m_impl->channel.get(), &FaceChannel::received, this, &SharedEngine::onMessage);
    // Queued, as a send() may be what detects that the holder is gone.
    connect(m_impl->channel.get(), &FaceChannel::ended, this, &SharedEngine::onHolderGone,
            Qt::QueuedConnection);
    goOn();
}

/// Sends the current holder all that is wanted and has not begun.
void SharedEngine::goOn() {
    if (m_impl->followsAll)
        attachAll();
    for (const QString& run : std::set(m_impl->followed))
        attach(run);
    std::vector<int64_t> waiting;
    for (const auto& [number, request] : m_impl->pending)
        waiting.push_back(number);
    for (const int64_t number : waiting)
        if (m_impl->pending.contains(number))
            begin(number);
    for (const auto& opening : std::exchange(m_impl->openings, {})) {
        opening->addResult(Result<void>());
        opening->finish();
    }
}

void SharedEngine::giveUp(const Error& error) {
    m_impl->role = Impl::Role::kClosed;
    for (const auto& opening : std::exchange(m_impl->openings, {})) {
        opening->addResult(Result<void>(tl::unexpected(error)));
        opening->finish();
    }
    for (auto& [number, requested] : std::exchange(m_impl->pending, {}))
        requested.done(failureOf(requested.request, error));
    m_impl->live.clear();
    for (const QString& run : std::exchange(m_impl->followed, {}))
        Q_EMIT failed(run, QString::fromStdString(error.message));
}

/// Repeats requests that take effect only once. A start that the old holder had begun fails: the
/// next holder finds the run as it was left.
void SharedEngine::onHolderGone() {
    m_impl->lookout.stop();
    m_impl->channel.release()->deleteLater();
    m_impl->role = Impl::Role::kClosed;
    m_impl->live.clear();
    for (const QString& run : m_impl->followed)
        m_impl->live[run] = unheard();
    std::vector<int64_t> lost;
    for (auto& [number, requested] : m_impl->pending)
        if (std::exchange(requested.begun, false) && runStartedBy(requested.request))
            lost.push_back(number);
    for (const int64_t number : lost) {
        const EngineRequest& request = m_impl->pending.at(number).request;
        settle(number, failureOf(request, ErrorCode::kUnavailable,
                                 say("engine.starter-ended",
                                     {{"pid", std::to_string(m_impl->holderPid)},
                                      {"run", runStartedBy(request)->toStdString()}})));
    }
    seek();
}

// Messages of the holder

void SharedEngine::passSignalsOn(const Engine& engine) {
    connect(&engine, &Engine::runsChanged, this, &Engine::runsChanged);
    connect(&engine, &Engine::samplesAppended, this, &Engine::samplesAppended);
    connect(&engine, &Engine::liveChanged, this, &Engine::liveChanged);
    connect(&engine, &Engine::progressed, this, &Engine::progressed);
    connect(&engine, &Engine::attemptEnded, this, &Engine::attemptEnded);
    connect(&engine, &Engine::tooLarge, this, &Engine::tooLarge);
    connect(&engine, &Engine::loginRefused, this, &Engine::loginRefused);
    connect(&engine, &Engine::failed, this, &Engine::failed);
}

/// Handles each kind of message of the holder.
struct SharedEngine::Hearing {
    SharedEngine& engine;
    Impl& impl;

    void operator()(const face::Accepted& m) {
        if (const auto requested = impl.pending.find(m.number); requested != impl.pending.end())
            requested->second.begun = true;
    }
    void operator()(const face::Answer& m) { engine.settle(m.number, m.reply); }
    void operator()(const face::RunsChanged&) { Q_EMIT engine.runsChanged(); }
    void operator()(const face::SamplesAppended& m) { Q_EMIT engine.samplesAppended(m.run); }
    void operator()(const face::Live& m) {
        impl.live[m.run] = m.state;
        Q_EMIT engine.liveChanged(m.run);
    }
    void operator()(const face::Progressed& m) {
        if (const auto live = impl.live.find(m.run);
            live != impl.live.end() && live->second.launching)
            live->second.launching = m.progress;
        Q_EMIT engine.progressed(m.run, m.progress);
    }
    void operator()(const face::AttemptEnded& m) {
        impl.followed.erase(m.run);
        Q_EMIT engine.attemptEnded(m.run);
    }
    void operator()(const face::TooLarge& m) { Q_EMIT engine.tooLarge(m.run, m.why); }
    void operator()(const face::LoginRefused& m) {
        if (const auto node = impl.fleet.find(m.node))
            impl.fleet.credentials().forget(*node);
        Q_EMIT engine.loginRefused(m.node);
    }
    void operator()(const face::Failed& m) { Q_EMIT engine.failed(m.run, m.message); }
    void operator()(const face::ShowWindow& m) { Q_EMIT engine.windowRequested(m.activationToken); }
    void operator()(const face::NodesChanged&) { (void)impl.fleet.load(); }
    void operator()(const face::Hello&) {}
    void operator()(const face::Ask&) {}
    void operator()(const face::Follow&) {}
};

/// A holder without news says nothing, so that it is asked: Follow is answered however often it is
/// sent. What is left unanswered counts, and not the time, in which this process may have been
/// suspended itself.
void SharedEngine::lookForHolder() {
    const int64_t silentNs = monotonicNowNs() - m_impl->heardNs;
    // One that it follows: it would say of another once more that it cannot.
    const auto run = std::ranges::find_if(m_impl->followed, [this](const QString& each) {
        const auto known = m_impl->live.find(each);
        return known != m_impl->live.end() && !known->second.nodes.empty() &&
               !known->second.nodes.front().node.empty();
    });
    if (silentNs < kAskHolderNs || run == m_impl->followed.end())
        return;
    if (m_impl->unanswered < kMostUnanswered) {
        ++m_impl->unanswered;
        m_impl->channel->send(face::Follow{*run});
    } else if (!std::exchange(m_impl->isSilent, true)) {
        onHolderSilent(silentNs); // once it goes on, it finds what was sent before
    }
}

/// Nothing is heard of the runs while it stands still: their nodes are shown so, with the reason.
void SharedEngine::onHolderSilent(int64_t silentNs) {
    const QString why = QString::fromStdString(
        say("engine.holder-is-silent", {{"pid", std::to_string(m_impl->holderPid)}}));
    for (const QString& run : m_impl->followed) {
        for (LiveState::NodeLink& node : m_impl->live[run].nodes) {
            node.link = LiveState::Link::kLost;
            node.why = why;
            node.lostSinceNs = wallNowNs() - silentNs;
        }
        Q_EMIT liveChanged(run);
    }
}

void SharedEngine::onMessage(const face::Message& message) {
    m_impl->heardNs = monotonicNowNs();
    m_impl->unanswered = 0;
    if (std::exchange(m_impl->isSilent, false))
        for (const QString& run : m_impl->followed)
            m_impl->channel->send(face::Follow{run});
    std::visit(Hearing{*this, *m_impl}, message);
}

} // namespace rm
