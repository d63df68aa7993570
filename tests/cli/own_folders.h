// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QJsonDocument>
#include <QProcess>
#include <QStringList>
#include <QTemporaryDir>

#include <memory>

namespace rm {

/// How one `ringmaster ...` went.
struct Answer {
    int exitCode = -1; ///< -1: crashed or ran past its limit
    QByteArray out;
    QByteArray err;

    QJsonDocument json() const { return QJsonDocument::fromJson(out); }
    /// For a failed QVERIFY2.
    QByteArray whole() const;
};

/// A home with its own XDG folders; this process and the ones that it starts live in it as long as
/// this does. Ranks that it starts take kPaceMs a step at least.
class OwnFolders {
public:
    OwnFolders();

    QString path(const QString& below) const { return m_home.filePath(below); }
    /// Runs `ringmaster ARGUMENTS...` to its end.
    Answer run(const QStringList& arguments, int limitMs = 180'000) const;
    /// Starts it and hands it over; killed when the handle dies.
    std::unique_ptr<QProcess> start(const QStringList& arguments) const;

private:
    QTemporaryDir m_home;
};

/// Words that launch a gpt-tiny of one layer: short steps, and neither validation nor checkpoints
/// but by command. `place`: NODE:RANKS.
QStringList longRunWords(const QString& name, int64_t steps, const QString& place);

} // namespace rm
