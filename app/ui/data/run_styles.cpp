// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/run_styles.h"

#include "app/ui/look/theme.h"

#include <QPainter>
#include <QSet>
#include <QSettings>

namespace rm {

namespace {

constexpr int kSwatchWidth = 14, kSwatchHeight = 10;
constexpr int kStyleCount = static_cast<int>(kRunStyles);
const QString kGroup = QStringLiteral("run_styles");

/// FNV-1a: the same at every start, unlike qHash().
uint32_t hashOf(const QString& id) {
    uint32_t hash = 2166136261U;
    for (const char byte : id.toUtf8())
        hash = (hash ^ static_cast<uint8_t>(byte)) * 16777619U;
    return hash;
}

/// The nearest free place behind that one; -1: all are taken.
int freePlace(int wanted, const QSet<int>& taken) {
    for (int away = 0; away < kStyleCount; ++away)
        if (const int place = (wanted + away) % kStyleCount; !taken.contains(place))
            return place;
    return -1;
}

} // namespace

QPixmap runSwatch(const RunStyle& style) {
    const qreal ratio = 2; // sharp on screens of high density, too
    QPixmap pixmap(qRound(kSwatchWidth * ratio), qRound(kSwatchHeight * ratio));
    pixmap.setDevicePixelRatio(ratio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setPen(QPen(colours().series[static_cast<size_t>(style.colour)], 3, style.dash));
    painter.drawLine(0, kSwatchHeight / 2, kSwatchWidth, kSwatchHeight / 2);
    return pixmap;
}

RunStyles::RunStyles(const QString& settings, QObject* parent)
    : QObject(parent)
    , m_settings(settings) {
    QSettings kept(m_settings, QSettings::IniFormat);
    kept.beginGroup(kGroup);
    for (const QString& run : kept.childKeys())
        m_chosen.insert(run, std::clamp(kept.value(run).toInt(), 0, kStyleCount - 1));
}

int RunStyles::placeOf(const QString& run) const {
    return m_chosen.value(run, static_cast<int>(hashOf(run) % kRunStyles));
}

RunStyle RunStyles::of(const QString& run) const {
    const int colourCount = static_cast<int>(colours().series.size());
    const int place = placeOf(run);
    return {place % colourCount, place < colourCount ? Qt::SolidLine : Qt::DashLine};
}

void RunStyles::see(const QStringList& runs) {
    QStringList unknown;
    int last = -1; // place of the run before
    for (const QString& run : runs) {
        if (!m_chosen.contains(run)) {
            m_chosen.insert(run, (last + 1) % kStyleCount);
            unknown << run;
        }
        last = m_chosen.value(run);
    }
    if (unknown.isEmpty())
        return;
    QSettings kept(m_settings, QSettings::IniFormat);
    kept.beginGroup(kGroup);
    for (const QString& run : unknown)
        kept.setValue(run, m_chosen.value(run));
    Q_EMIT changed();
}

void RunStyles::tellApart(const QStringList& runs) {
    QSet<int> taken;
    bool isChanged = false;
    QSettings kept(m_settings, QSettings::IniFormat);
    kept.beginGroup(kGroup);
    for (const QString& run : runs) {
        const int before = placeOf(run), place = freePlace(before, taken);
        if (place < 0)
            break;
        taken.insert(place);
        if (place == before)
            continue;
        m_chosen.insert(run, place);
        kept.setValue(run, place);
        isChanged = true;
    }
    if (isChanged)
        Q_EMIT changed();
}

} // namespace rm
