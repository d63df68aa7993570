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

/// The JSON object that a script of tests/python prints.
QJsonObject runScript(const QString& script, const QStringList& arguments);

/// A program of tests/python or tests/bench, as built.
QString builtProgram(const QString& name);

} // namespace rm::test
