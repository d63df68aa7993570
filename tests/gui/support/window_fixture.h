// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/local_engine.h"
#include "app/core/fleet/fleet.h"
#include "app/core/settings/paths.h"
#include "app/core/store/store_writer.h"
#include "app/ui/main_window.h"

#include <QTemporaryDir>

#include <functional>
#include <memory>

namespace rm::test {

/// A window over a folder of its own, with or without the demo database. Nothing but this
/// computer's own agent is asked anything.
class WindowFixture {
public:
    enum class Content { kEmpty, kDemo };
    /// kRead: the engine has no writer, as that of a second instance.
    enum class Access { kRead, kWrite };
    explicit WindowFixture(Content content, Access access = Access::kRead);
    /// With runs of its own.
    using Fill = std::function<Result<void>(StoreWriter&)>;
    explicit WindowFixture(const Fill& fill);
    ~WindowFixture();

    bool isGood() const { return m_problem.isEmpty(); }
    QString problem() const { return m_problem; }
    MainWindow& window() { return *m_window; }
    Fleet& fleet() { return *m_fleet; }
    Engine& engine() { return *m_engine; }
    /// Shows the list of runs, large enough for all of the demo.
    void openRuns();
    /// The ids in the list of runs, from the top.
    QStringList listedRuns() const;
    const Paths& paths() const { return m_paths; }

private:
    using Write = std::function<Result<void>(const QString& database)>;
    WindowFixture(const Write& write, Access access);
    void openEngine(Access access);

    QTemporaryDir m_folder;
    Paths m_paths;
    QString m_problem;
    std::unique_ptr<Fleet> m_fleet;
    std::unique_ptr<LocalEngine> m_engine;
    std::unique_ptr<MainWindow> m_window;
};

} // namespace rm::test
