// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/holder/holder_search.h"

#include "app/core/engine/holder/face_channel.h"
#include "app/core/engine/holder/holder_place.h"
#include "app/core/findings/text.h"
#include "app/core/store/store_writer.h"

#include <QFile>
#include <QLocalSocket>

#include <chrono>

namespace rm {

namespace {

using namespace std::chrono_literals;

/// A process that is starting or ending may have the database for this long without serving it.
constexpr qint64 kPatienceMs = 10'000;
constexpr auto kLookAgain = 50ms;

Error otherRelease(const QString& database, const face::Hello& other, const face::Hello& self) {
    return failAs(say("engine.open", {{"database", database.toStdString()}}),
                  {ErrorCode::kUnavailable,
                   say("engine.other-release", {{"other", other.release},
                                                {"pid", std::to_string(other.pid)},
                                                {"own", self.release}})})
        .value();
}

Error noAnswer(const Error& refusal) {
    return {refusal.code, say("engine.does-not-answer", {{"refusal", refusal.message}})};
}

/// Why a database that is not there is not made anew: a living process has it, so that it was moved
/// or its folder is not mounted now.
std::optional<Error> whyNoNewList(const QString& database) {
    constexpr int kAtOnceMs = 200;
    if (QFile::exists(database))
        return std::nullopt;
    const auto place = socketFor(database);
    QLocalSocket socket;
    if (place)
        socket.connectToServer(*place);
    if (!place || !socket.waitForConnected(kAtOnceMs))
        return std::nullopt;
    return failAs(say("engine.open", {{"database", database.toStdString()}}),
                  {ErrorCode::kUnavailable, say("engine.list-is-away")})
        .value();
}

} // namespace

HolderSearch::HolderSearch(QString database, face::Hello self, std::function<void(Outcome)> done,
                           QObject* parent)
    : QObject(parent)
    , m_database(std::move(database))
    , m_self(std::move(self))
    , m_done(std::move(done)) {
    connect(&m_timer, &QTimer::timeout, this, &HolderSearch::look);
    m_timer.start(kLookAgain);
    m_since.start();
    QMetaObject::invokeMethod(this, &HolderSearch::look, Qt::QueuedConnection);
}

HolderSearch::~HolderSearch() = default;

void HolderSearch::look() {
    const bool isLate = m_since.hasExpired(kPatienceMs);
    if (!m_timer.isActive() || ((m_socket || m_channel) && !isLate))
        return;
    hangUp();
    if (const auto refusal = whyNoNewList(m_database))
        return finish(*refusal);
    auto writer = StoreWriter::open(m_database);
    if (writer)
        return finish(std::move(*writer));
    if (writer.error().code != ErrorCode::kUnavailable)
        return finish(writer.error());
    if (isLate)
        return finish(StoreWriter::isHeld(m_database) ? noAnswer(writer.error()) : writer.error());
    if (const std::string socket = StoreWriter::announced(m_database); !socket.empty())
        connectTo(QString::fromStdString(socket));
}

void HolderSearch::hangUp() {
    if (m_socket)
        m_socket->deleteLater();
    m_socket = nullptr;
    m_channel.reset();
}

void HolderSearch::connectTo(const QString& place) {
    auto* socket = new QLocalSocket(this);
    m_socket = socket;
    connect(socket, &QLocalSocket::connected, this, [this, socket] { onConnected(socket); });
    connect(socket, &QLocalSocket::errorOccurred, this, [this, socket] {
        if (m_socket == socket)
            hangUp();
    });
    socket->connectToServer(place);
}

void HolderSearch::onConnected(QLocalSocket* socket) {
    if (m_socket != socket)
        return;
    m_socket = nullptr;
    disconnect(socket, nullptr, this, nullptr);
    m_channel = std::make_unique<FaceChannel>(socket);
    connect(m_channel.get(), &FaceChannel::received, this, &HolderSearch::onGreeting);
    connect(m_channel.get(), &FaceChannel::ended, this, [this] {
        if (m_channel)
            m_channel.release()->deleteLater();
    });
    m_channel->send(m_self);
}

void HolderSearch::onGreeting(const face::Message& message) {
    const auto* hello = std::get_if<face::Hello>(&message);
    if (!hello || hello->magic != m_self.magic)
        return;
    if (hello->release != m_self.release) {
        m_channel.release()->deleteLater();
        return finish(otherRelease(m_database, *hello, m_self));
    }
    disconnect(m_channel.get(), nullptr, this, nullptr);
    finish(FoundHolder{std::move(m_channel), hello->pid});
}

void HolderSearch::finish(Outcome outcome) {
    m_timer.stop();
    const auto done = std::move(m_done);
    done(std::move(outcome));
}

} // namespace rm
