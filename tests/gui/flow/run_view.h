// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>
#include <QWidget>

#include <optional>

namespace rm::test {

// What a person reads in the window: from its widgets alone.

/// The run page's state: "Running · attempt 2".
QString stateOf(const QWidget& runPage);

/// Steps of the raw points of train/loss on the loss chart, as the chart has them.
QList<qint64> lossSteps(const QWidget& runPage);

/// "" when each step from `first` to the last is there once, else what is wrong.
QByteArray flawIn(const QList<qint64>& steps, qint64 first);

/// "Step: 40, of 200 · 3 s left" of the figure with that name.
QString figureOf(const QWidget& runPage, const QString& objectName);

/// Texts of the event list, newest first.
QStringList eventsOf(const QWidget& runPage);

/// Whether one of them matches.
bool hasEvent(const QWidget& runPage, const QString& pattern);

/// Step of the newest checkpoint in the run's list that a person asked for; "": none.
QString stepSavedByCommand(const QWidget& runPage);

/// One column of a table, top to bottom.
QStringList columnOf(const QWidget& page, const QString& table, int column);

/// The chip of a node's card; nullopt: there is no such card.
std::optional<QString> nodeState(const QWidget& nodesPage, const QString& node);

/// All visible labels' texts.
QStringList textsOn(const QWidget& page);

} // namespace rm::test
