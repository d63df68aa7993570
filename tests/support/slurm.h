// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "tests/support/own_files.h"

#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>

#include <memory>
#include <vector>

namespace rm {

/// Whether Debian's slurm-wlm and munge are on this machine, and this process may start them
/// (root); else why not.
Result<void> canRunSlurm();

/// A real Slurm cluster of its own on this machine: munged, slurmctld and the slurmd of n1, n2 and
/// n3, on free ports of loopback, with all their files in a temporary folder. The partition "main"
/// has n1 and n2 and is the default; jobs of "urgent" preempt those of "main", which are requeued.
/// The partition "v100" has n3, with two GPUs of that name, which are there for Slurm alone. A
/// requeued job may begin again after five seconds, and jobs get ten seconds from SIGTERM to
/// SIGKILL. One thread. The destructor cancels what runs there and ends the daemons.
class SlurmCluster {
public:
    static Result<std::unique_ptr<SlurmCluster>> start();
    ~SlurmCluster();

    /// "NAME=value" that srun, sbatch and the like need to find this cluster.
    QString environment() const { return "SLURM_CONF=" + configuration(); }
    QString configuration() const { return m_dir.filePath("slurm.conf"); }

    /// What one of Slurm's programs prints, run to its end; kUnavailable with what it complained
    /// of.
    Result<QString> ask(const QStringList& command, int limitMs = 60000) const;
    /// JobState and the like of `scontrol show job`; empty: there is none.
    QString jobField(const QString& job, const QString& field) const;
    /// Ids of all jobs that have not ended.
    QStringList jobs() const;

    /// SIGKILLs the slurmd of a node (0 or 1) and what runs there, as if its power failed, and has
    /// slurmctld take it for down.
    Result<void> failNode(int node);
    /// Starts it again.
    Result<void> restoreNode(int node);

    /// What its daemons said last, for the log of a failed test.
    QByteArray logs() const;

private:
    SlurmCluster() = default;
    Result<void> prepare();
    Result<void> launch();
    Result<void> launchNode(int node);
    Result<void> awaitIdle();
    Result<void> spawn(QProcess& process, const QString& name, QStringList command);

    QTemporaryDir m_dir;
    QProcess m_munge, m_control;
    QProcess m_nodes[3];
};

} // namespace rm
