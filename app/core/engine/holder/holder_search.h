// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/holder/messages.h"
#include "app/core/store/store_writer.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <functional>
#include <memory>
#include <variant>

class QLocalSocket;

namespace rm {

class FaceChannel;

/// A process that holds the database and speaks our release.
struct FoundHolder {
    std::unique_ptr<FaceChannel> channel; ///< greeted by both sides
    int64_t pid = 0;
};

/// Takes the lock of a database, or finds the process that has it, whichever comes first: a holder
/// may end, or not listen yet.
class HolderSearch : public QObject {
    Q_OBJECT
public:
    /// kUnavailable names the process that has the database and does not answer, or is of another
    /// release.
    using Outcome = std::variant<std::unique_ptr<StoreWriter>, FoundHolder, Error>;

    /// Begins with the next turn of the event loop. `done` is called once, at most ~10 s later.
    HolderSearch(QString database, face::Hello self, std::function<void(Outcome)> done,
                 QObject* parent);
    ~HolderSearch() override;

private:
    void look();
    void connectTo(const QString& socket);
    void onConnected(QLocalSocket* socket);
    void onGreeting(const face::Message& message);
    void hangUp();
    void finish(Outcome outcome);

    QString m_database;
    face::Hello m_self;
    std::function<void(Outcome)> m_done;
    QTimer m_timer;
    QElapsedTimer m_since;
    QLocalSocket* m_socket = nullptr; ///< being connected
    std::unique_ptr<FaceChannel> m_channel;
};

} // namespace rm
