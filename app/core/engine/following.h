// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/local_engine.h"

#include <QObject>
#include <QString>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rm {

class FollowedRun;

/// The runs that this process is attached to. Part of the engine, and in its thread.
class Following : public QObject {
    Q_OBJECT
public:
    explicit Following(LocalEngine& engine);
    ~Following() override;

    /// Follows the run, and sends what it was asked for and has no answer yet. Idempotent; does
    /// nothing while the run's ranks are being started. kInvalid: it is on no node.
    /// `wasStarted`: its ranks were started here just now.
    Result<void> follow(const QString& run, bool wasStarted = false);
    /// Null: it is not followed.
    FollowedRun* find(const QString& run) const;
    /// Lets the run go: it is about to be somewhere else, or nowhere. Whether it was followed: who
    /// watches it waits for more of it, which follow() or LocalEngine::attemptEnded() brings.
    bool forget(const QString& run);

    /// The node can perhaps be reached now.
    void retry(const std::string& node);
    /// The node's settings were changed, and links of its runs still use the old ones.
    void followAnew(const QString& node);
    /// Lets all runs go, without waiting for nodes. What these have sent is stored first.
    void hangUp();

private:
    void wire(const QString& run, FollowedRun& followed);
    void onEnded(const QString& run, const QString& problem, bool lost);

    LocalEngine& m_engine;
    std::map<QString, std::unique_ptr<FollowedRun>> m_followed;
    std::vector<std::unique_ptr<FollowedRun>> m_over; ///< gone at the next turn of the event loop
};

} // namespace rm
