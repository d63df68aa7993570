// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/run_summary.h"
#include "app/core/store/stored_checkpoint.h"

#include <QFuture>
#include <QObject>
#include <QTimer>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rm {

/// A checkpoint that is to lie on another node as well.
struct DueCopy {
    std::string checkpoint;  ///< name of its folder
    std::string path;        ///< where it was saved
    std::string node;        ///< that gets it
    bool isOfAgents = false; ///< left to the run's agents; looked at again soon
    bool operator==(const DueCopy&) const = default;
};

/// The newest of the living line, unless it lies on a second node already. `rule` is the spec's
/// checkpoint.copies; with "auto" and a single node nothing is due.
std::optional<DueCopy> dueCopy(const std::vector<StoredCheckpoint>& newestFirst,
                               const std::vector<RunNode>& nodes, const std::string& rule);

/// Whether the agents of a run that trains, or has ended without a failure, may still be making the
/// copy that is due by themselves: they have made the last one, or could have begun, less than five
/// minutes ago, and a second more for each 10 MB. Times are of the nodes' clocks and of `wallNs`.
bool isLeftToAgents(const std::vector<StoredCheckpoint>& newestFirst, int64_t wallNs);

/// Decides when checkpoints are copied in the background: one at a time, always the newest, and
/// resting between two for several times as long as one took, so that the link and the nodes are
/// busy with it for a fifth of the time at most. A copy that fails is tried again after a minute,
/// then after ever longer pauses. `Means` says how they are copied. One thread.
class CheckpointCopier : public QObject {
    Q_OBJECT
public:
    struct Means {
        std::function<std::optional<DueCopy>(const QString& run)> due;
        /// False: there is nothing to copy, as the nodes share the folder.
        std::function<QFuture<Result<bool>>(const QString& run, const DueCopy&)> copy;
        /// Told of the first failure of each checkpoint.
        std::function<void(const QString& run, const DueCopy&, const Error&)> failed;
        std::function<int64_t()> nowNs; ///< monotonic
    };

    explicit CheckpointCopier(Means means, QObject* parent = nullptr);

    /// The run may have a new checkpoint. Cheap; it is looked at a moment later.
    void touch(const QString& run);
    /// Begins what is due now. Called by a timer.
    void look();

private:
    struct Failure {
        int times = 0;
        int64_t retryNs = 0;
    };

    void begin(const QString& run, const DueCopy& due);
    void onDone(const QString& run, const DueCopy& due, const Result<bool>& done);
    void lookIn(int64_t ns);

    Means m_means;
    QTimer m_timer;
    std::set<QString> m_touched;
    std::map<std::string, Failure> m_failures; ///< by path
    std::map<QString, DueCopy> m_shared;       ///< by run, the last that needs no copy
    QString m_last;                            ///< run of the last copy
    bool m_isCopying = false;
    int64_t m_beganNs = 0;
    int64_t m_restUntilNs = 0;
};

} // namespace rm
