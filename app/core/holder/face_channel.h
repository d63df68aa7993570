// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/holder/messages.h"
#include "shared/io/frame.h"

#include <QObject>

class QLocalSocket;

namespace rm {

/// Messages over one local socket, in frames as in shared/io/frame.h. Of the thread that made it.
class FaceChannel : public QObject {
    Q_OBJECT
public:
    /// Takes the socket over.
    explicit FaceChannel(QLocalSocket* socket, QObject* parent = nullptr);

    /// False: it does not fit into a frame, and nothing was sent. After the end it goes nowhere.
    bool send(const face::Message& message);
    /// Bytes that the other side has not taken yet.
    int64_t backlog() const;
    /// Ends it, without ended(). What was sent before is still delivered.
    void close();

Q_SIGNALS:
    void received(const rm::face::Message& message);
    void written(); ///< backlog() is less
    /// The other side is gone, or said what is no message. Once, and nothing after it.
    void ended();

private:
    void read();
    void end();

    QLocalSocket* m_socket;
    FrameScanner m_scanner;
    bool m_ended = false;
};

} // namespace rm
