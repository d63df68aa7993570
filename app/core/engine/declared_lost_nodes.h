// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/local_engine.h"
#include "app/core/store/attempts.h"

#include <QFuture>
#include <QObject>
#include <QTimer>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace rm {

/// Ends what lives of runs on nodes that were declared lost, as soon as these can be reached. They
/// are tried again, after a minute at most; a node that refuses the login once it was opened or
/// edited. Part of the engine, and in its thread.
class DeclaredLostNodes : public QObject {
    Q_OBJECT
public:
    explicit DeclaredLostNodes(LocalEngine& engine);

    /// Looks for nodes that were declared lost before. For a process that writes the database.
    void begin();
    /// A node was declared lost: it is tried before long, but after a command that means it.
    void look();
    /// The node can perhaps be reached again.
    void forgetUnreached(const std::string& node) { m_unreached.erase(node); }
    bool isEnding(const DeclaredLostNode& declaredLost) const;
    /// Kills what lives on such nodes of a run that has ended as far as is known.
    QFuture<Result<CommandState>> kill(const QString& run);
    /// The same beside a kill of the run's ranks elsewhere: what became of each node, in words. A
    /// node that does not answer in some seconds is named, and tried again as ever.
    QFuture<std::string> killBeside(const QString& run);

private:
    struct Unreached {
        int times = 0;
        int64_t notBeforeNs = 0;
    };

    void endAll();
    void onEnded(const std::string& node, const std::vector<Result<bool>>& ended);
    using OnEnded = std::function<void(const Result<bool>&)>;
    QFuture<std::vector<Result<bool>>>
    end(const std::vector<std::pair<DeclaredLostNode, Node>>& nodes, const OnEnded& onEnded = {});
    QFuture<Result<bool>> ended(const DeclaredLostNode& declaredLost);

    LocalEngine& m_engine;
    std::vector<DeclaredLostNode> m_ending;
    std::map<std::string, Unreached> m_unreached; ///< nodes where that was tried
    QTimer m_timer;
};

} // namespace rm
