// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/board/board.h"
#include "shared/journal/records.h"
#include "shared/spec/run_spec.h"

#include <QProcess>
#include <QTemporaryDir>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rm::test {

/// A spec that the real trainer finishes in about a second: a model of two small layers.
RunSpec tinySpec();

/// Likewise a ResNet-18 on views of 32 pixels; a fifth of the pictures validates.
RunSpec tinyImageSpec(const std::string& pictures);

/// How a program ended.
struct Ended {
    int exitCode = -1; ///< -1: it crashed, or did not end in time
    QString out, err;
};

/// Runs a subcommand of ringmaster-trainer: {"prepare", "--kind", ...}. `tmpDir`: its TMPDIR, if
/// any.
Ended runSubcommand(const QStringList& arguments, const QString& tmpDir = {});

/// Starts real trainers as torchrun would, on loopback, in a run directory of its own. Whatever
/// still runs when it dies is killed.
class TrainerRun {
public:
    TrainerRun();
    ~TrainerRun();

    std::string dir() const { return m_dir.path().toStdString(); }
    std::string checkpoint(int64_t step) const; ///< folder of that step; the earliest attempt's

    /// Starts `program` from now on, which takes ringmaster-trainer's command line.
    void useProgram(const QString& program) { m_program = program; }
    /// Of every rank's environment, from the next start() on, before what start() chooses.
    void setVariable(const QString& name, const QString& value) { m_variables[name] = value; }
    /// The id that the launcher gives the run.
    void useRunId(const QString& id) { m_runId = id; }
    /// One attempt. `extra` goes to every rank's command line.
    void start(const RunSpec& spec, int worldSize, const QStringList& extra = {});
    /// Exit codes by rank; kTimedOut for those that do not end. A signal is minus its number.
    std::vector<int> finish(int timeoutMs = 180000);
    static constexpr int kTimedOut = -1000;
    /// start() and finish().
    std::vector<int> run(const RunSpec& spec, int worldSize, const QStringList& extra = {});

    QProcess& rank(int rank) { return *m_ranks[static_cast<size_t>(rank)]; }
    QString output(int rank) const; ///< stdout and stderr of the last attempt, after finish()

    /// Everything in the rank's journal so far.
    std::vector<Record> records(int rank) const;
    template <class T>
    std::vector<T> recordsOf(int rank) const {
        std::vector<T> found;
        for (const Record& record : records(rank))
            if (const auto* one = std::get_if<T>(&record))
                found.push_back(*one);
        return found;
    }
    /// Values of a metric by step; a step logged again counts as last logged.
    std::map<int64_t, float> series(int rank, MetricId metric) const;
    int64_t lastStep(int rank) const; ///< with a logged loss; 0: none

    /// Puts a command on the board of rank 0 as its agent would.
    bool post(const Command& command) const;
    std::optional<CommandApplied> applied(const std::string& id) const;

private:
    QTemporaryDir m_dir;
    QString m_program;
    std::map<QString, QString> m_variables;
    QString m_runId = "test-run";
    int m_attempt = 0;
    std::vector<std::unique_ptr<QProcess>> m_ranks;
};

} // namespace rm::test
