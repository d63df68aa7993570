// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/holder/face_server.h"

#include "app/core/engine/holder/face_channel.h"
#include "app/core/findings/text.h"

#include <QFile>
#include <QLocalServer>
#include <QLocalSocket>
#include <QPointer>
#include <QTimer>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

namespace rm {

namespace {

using namespace std::chrono_literals;

constexpr auto kGreetingDeadline = 10s;
/// A suspended terminal reads nothing. News that only say "this has changed" are merged until it
/// reads again; if the other messages exceed this limit, it is disconnected.
constexpr int64_t kMaxBacklog = 4 << 20;

} // namespace

/// One process that this one serves.
struct FaceServer::Face {
    FaceChannel* channel = nullptr; ///< of the server
    bool greeted = false;
    face::Kind kind = face::Kind::kTerminal;
    std::map<int64_t, QString> starts;   ///< runs that are being started for it, by number
    std::map<int64_t, NodeTrial> trials; ///< likewise

    // Changes that are still to be told, once it has taken what was sent before.
    bool runs = false;
    std::set<QString> samples;
    std::set<QString> live;
    std::map<QString, Progress> progress;
};

FaceServer::FaceServer(Engine& engine, Fleet& fleet, const face::Hello& self, QObject* parent)
    : QObject(parent)
    , m_engine(engine)
    , m_fleet(fleet)
    , m_self(self)
    , m_server(new QLocalServer(this)) {
    m_server->setSocketOptions(QLocalServer::UserAccessOption);
    connect(m_server, &QLocalServer::newConnection, this, [this] {
        while (QLocalSocket* socket = m_server->nextPendingConnection())
            admit(socket);
    });
    wireEngine();
}

FaceServer::~FaceServer() = default;

Result<void> FaceServer::listen(const QString& path) {
    QLocalServer::removeServer(path);
    if (!m_server->listen(path))
        return failAs(say("engine.listen-on", {{"socket", path.toStdString()}}),
                      {ErrorCode::kUnavailable, m_server->errorString().toStdString()});
    QFile::setPermissions(path, QFile::ReadOwner | QFile::WriteOwner);
    return {};
}

bool FaceServer::isBusy() const {
    return std::any_of(m_faces.begin(), m_faces.end(),
                       [](const auto& face) { return !face->starts.empty(); });
}

void FaceServer::admit(QLocalSocket* socket) {
    auto* channel = new FaceChannel(socket, this);
    Face& face = *m_faces.emplace_back(std::make_unique<Face>());
    face.channel = channel;
    connect(channel, &FaceChannel::received, this,
            [this, &face](const face::Message& message) { onMessage(face, message); });
    connect(channel, &FaceChannel::written, this, [this, &face] { flush(face); });
    // Queued, as a send() may be what detects that the other side is gone.
    connect(
        channel, &FaceChannel::ended, this, [this, channel] { drop(channel); },
        Qt::QueuedConnection);
    QTimer::singleShot(kGreetingDeadline, channel, [this, channel] {
        if (const Face* late = find(channel); late && !late->greeted)
            drop(channel);
    });
    channel->send(m_self);
}

void FaceServer::onMessage(Face& face, const face::Message& message) {
    if (const auto* hello = std::get_if<face::Hello>(&message))
        return greet(face, *hello);
    if (!face.greeted)
        return drop(face.channel);
    if (const auto* requested = std::get_if<face::Ask>(&message))
        ask(face, *requested);
    else if (const auto* followed = std::get_if<face::Follow>(&message))
        follow(face, followed->run);
    else if (std::holds_alternative<face::NodesChanged>(message))
        (void)m_fleet.load();
    else
        drop(face.channel);
}

/// Another release learns from our own Hello why it is not served.
void FaceServer::greet(Face& face, const face::Hello& hello) {
    if (hello.magic != m_self.magic || hello.release != m_self.release)
        return drop(face.channel);
    face.greeted = true;
    face.kind = hello.kind;
}

void FaceServer::ask(Face& face, const face::Ask& ask) {
    FaceChannel* channel = face.channel;
    channel->send(face::Accepted{ask.number});
    if (std::holds_alternative<WindowRequest>(ask.request))
        return showWindow(face, ask);
    if (const auto run = runStartedBy(ask.request))
        face.starts[ask.number] = *run;
    if (std::holds_alternative<StartQueuedRequest>(ask.request))
        face.starts[ask.number] = {}; // of runs that are nobody's launch: they are not cancelled
    if (const auto* requested = std::get_if<TrialRequest>(&ask.request))
        face.trials[ask.number] = requested->trial;
    // The request may name a node that was added a moment ago by a process that is gone already.
    (void)m_fleet.load();
    m_engine.post(ask.request, [own = QPointer(this), channel = QPointer(channel),
                                ask](const EngineReply& reply) {
        if (own)
            own->finish(channel, ask, reply);
    });
}

void FaceServer::showWindow(Face& face, const face::Ask& ask) {
    const QByteArray token = std::get<WindowRequest>(ask.request).activationToken;
    bool isShown = m_self.kind == face::Kind::kWindow;
    if (isShown)
        Q_EMIT windowRequested(token);
    for (const auto& other : m_faces) {
        if (isShown)
            break;
        if (other.get() == &face || other->kind != face::Kind::kWindow || !other->greeted)
            continue;
        other->channel->send(face::ShowWindow{token});
        isShown = true;
    }
    face.channel->send(face::Answer{ask.number, isShown});
}

FaceServer::Face* FaceServer::find(const FaceChannel* channel) const {
    const auto found = std::find_if(m_faces.begin(), m_faces.end(),
                                    [&](const auto& face) { return face->channel == channel; });
    return found == m_faces.end() ? nullptr : found->get();
}

void FaceServer::finish(FaceChannel* channel, const face::Ask& requested,
                        const EngineReply& reply) {
    Face* face = find(channel);
    if (!face)
        return;
    flush(*face);
    if (!channel->send(face::Answer{requested.number, reply}))
        channel->send(
            face::Answer{requested.number, failureOf(requested.request, ErrorCode::kExhausted,
                                                     say("engine.answer-too-long"))});
    face->trials.erase(requested.number);
    if (face->starts.erase(requested.number) > 0 && !isBusy())
        Q_EMIT idle();
}

void FaceServer::follow(Face& face, const QString& run) {
    m_engine.attach(run);
    face.live.insert(run);
    flush(face);
}

/// A launch or trial ends with the terminal that asked for it.
void FaceServer::drop(FaceChannel* channel) {
    const auto gone = std::find_if(m_faces.begin(), m_faces.end(),
                                   [&](const auto& face) { return face->channel == channel; });
    if (gone == m_faces.end())
        return;
    const auto starts = std::move((*gone)->starts);
    const auto trials = std::move((*gone)->trials);
    m_faces.erase(gone);
    disconnect(channel, nullptr, this, nullptr);
    channel->close();
    channel->deleteLater();
    for (const auto& [number, run] : starts)
        if (m_engine.live(run).launching)
            m_engine.ask(CommandRequest{run, CommandKind::kKill});
    for (const auto& [number, trial] : trials)
        m_engine.ask(StopTrialRequest{trial});
    if (!starts.empty() && !isBusy())
        Q_EMIT idle();
    // A final NodesChanged is lost if we wrote to the socket after its end.
    (void)m_fleet.load();
}

/// Sends `message` to everybody, after the changes that are still pending.
void FaceServer::broadcast(const face::Message& message) {
    std::vector<FaceChannel*> overfull;
    for (const auto& face : m_faces) {
        if (!face->greeted)
            continue;
        flush(*face);
        face->channel->send(message);
        if (face->channel->backlog() > kMaxBacklog)
            overfull.push_back(face->channel);
    }
    for (FaceChannel* channel : overfull)
        drop(channel);
}

/// Sends what has changed, unless the other side has not yet taken what was sent before.
void FaceServer::flush(Face& face) {
    if (!face.greeted || face.channel->backlog() > 0)
        return;
    for (const QString& run : std::exchange(face.live, {}))
        face.channel->send(face::Live{run, m_engine.live(run)});
    for (const auto& [run, progress] : std::exchange(face.progress, {}))
        face.channel->send(face::Progressed{run, progress});
    for (const QString& run : std::exchange(face.samples, {}))
        face.channel->send(face::SamplesAppended{run});
    if (std::exchange(face.runs, false))
        face.channel->send(face::RunsChanged{});
}

template <class Change>
void FaceServer::changed(Change change) {
    for (const auto& face : m_faces) {
        change(*face);
        flush(*face);
    }
}

void FaceServer::wireEngine() {
    connect(&m_engine, &Engine::runsChanged, this,
            [this] { changed([](Face& face) { face.runs = true; }); });
    connect(&m_engine, &Engine::samplesAppended, this,
            [this](const QString& run) { changed([&](Face& face) { face.samples.insert(run); }); });
    connect(&m_engine, &Engine::liveChanged, this,
            [this](const QString& run) { changed([&](Face& face) { face.live.insert(run); }); });
    connect(&m_engine, &Engine::progressed, this,
            [this](const QString& run, const Progress& progress) {
                changed([&](Face& face) { face.progress[run] = progress; });
            });
    connect(&m_engine, &Engine::attemptEnded, this,
            [this](const QString& run) { broadcast(face::AttemptEnded{run}); });
    connect(&m_engine, &Engine::tooLarge, this, [this](const QString& run, const QString& why) {
        broadcast(face::TooLarge{run, why});
    });
    connect(&m_engine, &Engine::loginRefused, this,
            [this](const QString& node) { broadcast(face::LoginRefused{node}); });
    connect(&m_engine, &Engine::failed, this, [this](const QString& run, const QString& why) {
        broadcast(face::Failed{run, why});
    });
    connect(&m_fleet, &Fleet::nodesChanged, this, [this] { broadcast(face::NodesChanged{}); });
}

} // namespace rm
