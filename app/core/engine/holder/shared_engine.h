// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/holder/messages.h"
#include "app/core/settings/paths.h"
#include "app/core/store/store_writer.h"

#include <memory>

namespace rm {

struct FoundHolder;

/// The engine of every terminal and window. One process of the user holds the database; there this
/// is a LocalEngine that also serves the others. The others send their requests to it over a local
/// socket (PROTOCOL.md). When the holder ends, the first process that gets the lock of the database
/// becomes the next holder, and requests that had not begun are sent again.
///
/// A launch that the holder had begun when it ended is kUnavailable; a command has its id and takes
/// effect once. One that names nobody is asked for by the user of this process.
class SharedEngine : public Engine {
    Q_OBJECT
public:
    /// `kind`: whether this process is a terminal or a window.
    SharedEngine(const Paths& paths, Fleet& fleet, face::Kind kind, QObject* parent = nullptr);
    ~SharedEngine() override;

    /// Becomes the holder or finds it. kUnavailable names the process that has the database and
    /// does not answer, or is of another release. The rest may be called before the answer.
    QFuture<Result<void>> open();
    /// In place of open(), after that failed as nothing can be written: commands are sent, and
    /// nothing is stored. Others do not join.
    void openUnrecorded();
    bool isHolder() const;

    /// Whether ranks are being started here for others, so that this process should not end yet.
    bool isBusyForOthers() const;
    /// Shows the window that another process has; false: none has one.
    QFuture<bool> showOtherWindow(const QByteArray& activationToken);

    QString databasePath() const override;
    void post(EngineRequest request, Done done) override;
    void attach(const QString& run) override;
    void attachAll() override;
    LiveState live(const QString& run) const override;
    QStringList ownLaunches() const override;

Q_SIGNALS:
    void idleForOthers(); ///< isBusyForOthers() no longer
    /// A second window was started: the one of this process is to be shown.
    void windowRequested(const QByteArray& activationToken);

private:
    void complete(EngineRequest& request) const;
    void begin(int64_t number);
    void settle(int64_t number, const EngineReply& reply);

    void seek();
    void hold(std::unique_ptr<StoreWriter> writer);
    void makeLocal(std::unique_ptr<StoreWriter> writer);
    void beServed(FoundHolder holder);
    void goOn();
    void giveUp(const Error& error);
    void onHolderGone();
    void lookForHolder();
    void onHolderSilent(int64_t silentNs);
    void passSignalsOn(const Engine& engine);
    void onMessage(const face::Message& message);

    struct Hearing;
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace rm
