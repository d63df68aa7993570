// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/holder/face_channel.h"

#include <QLocalSocket>
#include <QPointer>

namespace rm {

FaceChannel::FaceChannel(QLocalSocket* socket, QObject* parent)
    : QObject(parent)
    , m_socket(socket) {
    socket->setParent(this);
    connect(socket, &QLocalSocket::readyRead, this, &FaceChannel::read);
    connect(socket, &QLocalSocket::bytesWritten, this, &FaceChannel::written);
    connect(socket, &QLocalSocket::disconnected, this, [this] {
        if (m_socket->isOpen())
            read();
        end();
    });
}

bool FaceChannel::send(const face::Message& message) {
    const QByteArray payload = encodeFaceMessage(message);
    if (payload.size() > static_cast<qsizetype>(kMaxRecord))
        return false;
    std::vector<std::byte> frame;
    appendFrame(frame,
                std::as_bytes(std::span(payload.constData(), static_cast<size_t>(payload.size()))));
    if (m_ended)
        return true;
    m_socket->write(reinterpret_cast<const char*>(frame.data()), static_cast<qint64>(frame.size()));
    // Written at once, as the process may exit right afterwards.
    m_socket->flush();
    return true;
}

int64_t FaceChannel::backlog() const {
    return m_socket->bytesToWrite();
}

void FaceChannel::close() {
    m_ended = true;
    m_socket->disconnectFromServer();
}

void FaceChannel::read() {
    if (m_ended || m_socket->bytesAvailable() == 0)
        return; // reading a closed socket prints a warning
    const QByteArray bytes = m_socket->readAll();
    m_scanner.feed(std::as_bytes(std::span(bytes.constData(), static_cast<size_t>(bytes.size()))));
    const QPointer<FaceChannel> self(this);
    while (self && !m_ended) {
        const auto payload = m_scanner.next();
        if (payload && !*payload)
            return;
        auto message = payload ? decodeFaceMessage(**payload)
                               : Result<face::Message>(tl::unexpected(payload.error()));
        if (!message)
            return end();
        Q_EMIT received(*message);
    }
}

void FaceChannel::end() {
    if (m_ended)
        return;
    m_ended = true;
    m_socket->abort();
    Q_EMIT ended();
}

} // namespace rm
