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

/// The style that a run has on every page. It follows from its id until it is compared with another
/// one that looks alike; what it gets then is kept. GUI thread.
class RunStyles : public QObject {
    Q_OBJECT
public:
    /// `settings`: the file in which it is kept.
    explicit RunStyles(const QString& settings, QObject* parent = nullptr);

    RunStyle of(const QString& run) const;
    /// Gives runs that look like an earlier one of them another style, as long as there is one.
    void tellApart(const QStringList& runs);

Q_SIGNALS:
    void changed();

private:
    int placeOf(const QString& run) const;

    QString m_settings;
    QHash<QString, int> m_chosen; ///< by run, where it does not follow from the id
};

} // namespace rm
