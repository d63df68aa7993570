// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/run_summary.h"
#include "tests/integration/run_facts.h"
#include "tests/integration/testbed.h"
#include "tests/torture/oracle_steps.h"

#include <functional>
#include <memory>
#include <random>

namespace rm::torture {

/// Two nodes with a rank each, an app on a laptop, and what the ranks told of their steps past the
/// product. One thread.
class Scene {
public:
    static constexpr int kRanks = 2;
    static constexpr int64_t kSteps = 400;
    static constexpr int64_t kCheckpointEvery = 50;

    /// `environment`: see Testbed::create().
    static Result<std::unique_ptr<Scene>> create(const QStringList& environment = {});

    Testbed& bed() { return *m_bed; }
    const Cli& cli() const { return *m_cli; }
    /// Another computer, whose fleet has the nodes, as the laptop.
    void use(const Cli& cli) { m_cli = &cli; }

    /// Launches a run in an app that follows it to its end; its id, or "" with a warning.
    QString launch(int64_t steps = kSteps, const QStringList& options = {});
    /// The app that follows the newest run.
    QProcess& app() { return *m_app; }
    /// Attaches a new one to a run, in place of that which was.
    void attach(const QString& run) { m_app = cli().start({"attach", run}); }
    /// The same, with a new attempt.
    void resume(const QString& run) { m_app = cli().start({"resume", run, "--wait"}); }
    void dropApp() { m_app.reset(); }
    /// What a failed test is to log of them; the nodes are clean again then.
    QByteArray reportAndClean() { return m_bed->reportAndClean(m_app.get()); }

    RunSummary summary(const QString& run) const;
    /// Up to which all ranks' steps are stored; 0: a rank has told of none.
    int64_t stepOfAll(const QString& run) const;
    bool hasEvent(const QString& run, const std::string& code, int rank) const;
    /// What such events say, one a line.
    QByteArray wordsOf(const QString& run, const std::string& code) const;
    /// The last step that rank 0 told, 0 before there is one.
    int64_t oracleStep(const QString& run) const;
    /// All that the ranks told so far.
    std::map<int, OracleSteps> recorded(const QString& run) const {
        return readOracle(m_oracle.path(), run);
    }
    bool waitForOracleStep(const QString& run, int64_t step, int limitMs = 60000) const;

    /// To all of ours on a node that are called so.
    void signal(int node, const QString& program, int signal) const;
    /// The node's part of the run's folder.
    QString part(int node, const QString& run) const;

    // "" or what is wrong.
    /// The run that was struck comes to its end by itself, in the same attempt or a next one.
    QByteArray awaitFinish(const QString& run);
    /// What is stored of it is what was told, its checkpoints are whole, and its losses those of a
    /// run to which nothing was done.
    QByteArray flawOf(const QString& run, const QString& checkpoints = {});
    /// The same of a run of another length that was ended before its last step.
    QByteArray flawOfPart(const QString& run, const QString& checkpoints = {});
    /// What `node`'s rank did in that attempt more than a moment before `wallNs` is stored, on
    /// whichever line.
    QByteArray flawInSpool(const QString& run, int node, int attempt, int64_t wallNs) const;

private:
    Scene() = default;

    const std::map<int, OracleSteps>& undisturbed();
    QByteArray say(const char* what, const CliResult& result) const;

    QTemporaryDir m_oracle;
    std::unique_ptr<Testbed> m_bed;
    const Cli* m_cli = nullptr;
    std::unique_ptr<QProcess> m_app;
    std::map<int, OracleSteps> m_undisturbed;
    int m_runs = 0;
};

} // namespace rm::torture
