// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/run/run_page.h"
#include "tests/gui/flow/gap_meter.h"
#include "tests/gui/flow/hand.h"
#include "tests/gui/flow/program.h"
#include "tests/support/sshd.h"

#include <QSet>
#include <QTemporaryDir>

namespace rm::test {

inline constexpr int kSoonMs = 20'000;  ///< an answer over the link on a busy machine
inline constexpr int kStartMs = 60'000; ///< deploy, or a trainer's start, there
inline const QString kNodeName = "node-a";

/// A node behind sshd, the app with folders of its own and a person at its window; and what came
/// to be seen there, ten milliseconds apart. GUI thread.
class Flow : public QObject {
    Q_OBJECT
public:
    /// Sets HOME and the XDG variables of this process, starts the app and a server that also takes
    /// the key at path("key").
    static Result<std::unique_ptr<Flow>> prepare(SshServer::Options options = {});
    ~Flow() override;

    Result<void> openProgram();
    void closeProgram(); ///< the window first, as a person does
    Result<void> changeHostKey();

    const Hand& hand() const { return *m_hand; }
    MainWindow& window() const { return m_program->window(); }
    RunPage& page() const { return window().runPage(); }
    Fleet& fleet() const { return m_program->fleet(); }
    const SshServer& server() const { return *m_server; }
    SshServer& server() { return *m_server; }
    GapMeter& gaps() { return m_gaps; }
    QString path(const QString& name) const { return m_home.filePath(name); }

    QString state() const;     ///< of the run page
    qint64 newestStep() const; ///< of its loss chart; 0: no point
    bool hasStates(const QString& pattern) const { return has(m_states, pattern); }
    bool hasAmounts(const QString& pattern) const { return has(m_amounts, pattern); }
    QString seen() const; ///< all of it, for a failure's message
    void forgetSeen();

    /// On the New run page: the recipe's text with a model of a few thousand weights, whose steps
    /// take as long as paceOf() says; with another width it is another.
    Result<void> editSpec(const QString& name, int steps, const QString& width = "32");
    /// Clicks Launch and waits until the run's page says Running.
    Result<void> launch();
    /// From the Runs page by Return.
    Result<void> openRun(const QString& name);

    /// Ranks of the run on the page, as the agent tells of them.
    QSet<qint64> livePids() const;
    /// "" when node and this computer have so many ranks, those that their agents tell of, and
    /// nothing else where there are none. Else what is wrong.
    QString strays(int ranks, int ranksHere) const;

private:
    Flow();
    Result<void> startServer(SshServer::Options options);
    void look();
    QString straysAt(const QString& home, int ranks) const;
    static bool has(const QStringList& seen, const QString& pattern);

    QTemporaryDir m_home;
    std::unique_ptr<SshServer> m_server;
    std::unique_ptr<Program> m_program;
    std::unique_ptr<Hand> m_hand;
    GapMeter m_gaps;
    QStringList m_states;  ///< of the run page
    QStringList m_amounts; ///< of a launch's progress
};

} // namespace rm::test
