// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/holder/messages.h"
#include "shared/io/frame.h"

#include <QObject>

class QLocalSocket;

namespace rm {

/// Messages over one local socket, in frames as in shared/io/frame.h. Used in one thread alone.
class FaceChannel : public QObject {
    Q_OBJECT
public:
    /// Takes the socket over.
    explicit FaceChannel(QLocalSocket* socket, QObject* parent = nullptr);

    /// False: the message does not fit into a frame and was not sent. After the end it is dropped.
    bool send(const face::Message& message);
    /// Bytes that the other side has not taken yet.
    int64_t backlog() const;
    /// Closes the connection without emitting ended(). What was sent before is still delivered.
    void close();

Q_SIGNALS:
    void received(const rm::face::Message& message);
    void written(); ///< backlog() is less
    /// The other side is gone or sent something invalid. Emitted once, as the last signal.
    void ended();

private:
    void read();
    void end();

    QLocalSocket* m_socket;
    FrameScanner m_scanner;
    bool m_ended = false;
};

} // namespace rm
