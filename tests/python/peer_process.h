// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QJsonObject>
#include <QString>
#include <QStringList>

namespace rm::test {

/// Python with the peers of packaging/requirements/python-peer.txt; empty where there is none.
QString peerPython();

/// Standard output of a program that must succeed, started so that Python finds the trainer's
/// torch; else the test has failed and it is empty.
QByteArray runPeer(const QString& program, const QStringList& arguments);

/// Where a script of tests/python is.
QString peerScript(const QString& name);

/// The JSON object that a script of tests/python prints.
QJsonObject runScript(const QString& name, const QStringList& arguments);

/// The same of a script that takes jobs, each [kind, argument...] by a name (jobs.py); whatever it
/// returns stands under the same name.
QJsonObject runJobs(const QString& script, const QJsonObject& jobs);

/// A program of tests/python or tests/bench, as built.
QString builtProgram(const QString& name);

} // namespace rm::test
