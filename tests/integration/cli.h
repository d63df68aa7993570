// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QJsonDocument>
#include <QProcess>
#include <QProcessEnvironment>
#include <QString>
#include <QStringList>

#include <memory>

namespace rm {

/// How one `ringmaster ...` went.
struct CliResult {
    int exitCode = -1; ///< -1: see `trouble`
    QByteArray out;
    QByteArray err;
    QByteArray trouble = {}; ///< "signal 11", "not ended after 60 s"

    QJsonDocument json() const { return QJsonDocument::fromJson(out); }
    /// For a failed QVERIFY2, which cuts it: errors first.
    QByteArray whole() const;
};

/// A person's computer as the command line sees it: a home with its own XDG folders, which is
/// root's in /etc/passwd too, inside a network namespace.
class Cli {
public:
    /// Makes the folders under `home`.
    Cli(QString home, QString space);

    /// Another Ringmaster from now on: that whose `bin` folder this is.
    void usePrograms(const QString& bin) { m_bin = bin; }

    QString home() const { return m_home; }
    QString database() const { return m_home + "/data/ringmaster/runs.sqlite"; }
    QString knownHosts() const { return m_home + "/.ssh/known_hosts"; }

    /// Gives this process the home of that person, with its XDG folders.
    void takeHome() const;

    /// Runs to the end.
    CliResult run(const QStringList& arguments, int limitMs = 180'000) const;
    /// Starts and hands over; killed when the handle dies.
    std::unique_ptr<QProcess> start(const QStringList& arguments) const;
    /// As start() does it, not yet begun.
    std::unique_ptr<QProcess> make(const QStringList& arguments) const;

private:
    QString m_home;
    QString m_space;
    QString m_bin;
    QProcessEnvironment m_environment;
};

} // namespace rm
