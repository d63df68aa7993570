// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/holder/messages.h"

#include <QObject>
#include <QString>

#include <memory>
#include <vector>

class QLocalServer;
class QLocalSocket;

namespace rm {

class FaceChannel;

/// Serves the engine of this process to the other terminals and windows of the user. Everything
/// happens in the thread of the engine, and nothing blocks it.
class FaceServer : public QObject {
    Q_OBJECT
public:
    FaceServer(Engine& engine, Fleet& fleet, const face::Hello& self, QObject* parent = nullptr);
    ~FaceServer() override;

    /// Listens at this path, for this user alone. Replaces a socket that a dead process left there,
    /// so only the holder of the database may call it.
    Result<void> listen(const QString& path);

    /// Whether ranks are being started for others: that would fail if this process ended now. Any
    /// other request can be taken over by the next holder.
    bool isBusy() const;

Q_SIGNALS:
    void idle(); ///< isBusy() no longer
    /// A second window was started: the one of this process is to be shown.
    void windowRequested(const QByteArray& activationToken);

private:
    struct Face;

    void admit(QLocalSocket* socket);
    void onMessage(Face& face, const face::Message& message);
    void greet(Face& face, const face::Hello& hello);
    void ask(Face& face, const face::Ask& ask);
    void showWindow(Face& face, const face::Ask& ask);
    void finish(FaceChannel* channel, const face::Ask& requested, const EngineReply& reply);
    void follow(Face& face, const QString& run);
    void drop(FaceChannel* channel);
    Face* find(const FaceChannel* channel) const;
    void broadcast(const face::Message& message);
    void flush(Face& face);
    void wireEngine();
    template <class Change>
    void changed(Change change);

    Engine& m_engine;
    Fleet& m_fleet;
    face::Hello m_self;
    QLocalServer* m_server;
    std::vector<std::unique_ptr<Face>> m_faces;
};

} // namespace rm
