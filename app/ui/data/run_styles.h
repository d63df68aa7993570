// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHash>
#include <QObject>
#include <QPixmap>
#include <QStringList>

namespace rm {

/// Colour and dash of a run: sixteen that can be told apart.
struct RunStyle {
    int colour = 0; ///< index of Colours::series
    Qt::PenStyle dash = Qt::SolidLine;
    bool operator==(const RunStyle&) const = default;
};
inline constexpr size_t kRunStyles = 16;

/// A piece of the run's line.
QPixmap runSwatch(const RunStyle& style);

/// The style that a run has on every page: the one behind that of the run created before it, so
/// that sixteen in a row differ. It is kept from then on, until the run is compared with another
/// one that looks alike. GUI thread.
class RunStyles : public QObject {
    Q_OBJECT
public:
    /// `settings`: the file in which it is kept.
    explicit RunStyles(const QString& settings, QObject* parent = nullptr);

    /// Of a run that see() was not told of it follows from its id.
    RunStyle of(const QString& run) const;
    /// Gives those that have none a style. `runs`: all, the oldest first.
    void see(const QStringList& runs);
    /// Gives runs that look like an earlier one of them another style, as long as there is one.
    void tellApart(const QStringList& runs);

Q_SIGNALS:
    void changed();

private:
    int placeOf(const QString& run) const;

    QString m_settings;
    QHash<QString, int> m_chosen; ///< by run: its place among the styles
};

} // namespace rm
