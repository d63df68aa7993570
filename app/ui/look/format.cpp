// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/look/format.h"

#include <QCoreApplication>
#include <QDateTime>

#include <algorithm>
#include <cmath>

namespace rm {

const QString kAbsent = QStringLiteral("–");
const QString kSeparator = QStringLiteral(" · ");

namespace {

const QChar kThin(0x202F);

struct Formats {
    Q_DECLARE_TR_FUNCTIONS(Formats)
};

QString trimmedFixed(double value, int decimals) {
    QString text = QString::number(value, 'f', decimals);
    if (text.contains('.')) {
        while (text.endsWith('0'))
            text.chop(1);
        if (text.endsWith('.'))
            text.chop(1);
    }
    return text;
}

QString threeDigits(double value) {
    const double size = std::abs(value);
    return trimmedFixed(value, size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

QString scaled(double value, double base, std::initializer_list<const char*> units) {
    auto unit = units.begin();
    while (std::abs(value) >= base && unit + 1 != units.end()) {
        value /= base;
        ++unit;
    }
    const QString name = QString::fromUtf8(*unit);
    return name.isEmpty() ? threeDigits(value) : threeDigits(value) + kThin + name;
}

QDateTime dateTime(int64_t wallNs) {
    return QDateTime::fromMSecsSinceEpoch(wallNs / 1'000'000);
}

} // namespace

QString formatCount(int64_t value) {
    QString digits = QString::number(std::abs(value));
    for (qsizetype at = digits.size() - 3; at > 0; at -= 3)
        digits.insert(at, kThin);
    return value < 0 ? '-' + digits : digits;
}

QString formatCompact(double value) {
    if (!std::isfinite(value))
        return kAbsent;
    return scaled(value, 1000, {"", "k", "M", "G", "T"});
}

QString formatKnown(const std::optional<double>& value) {
    return !value ? kAbsent : std::isnan(*value) ? QStringLiteral("NaN") : formatFigure(*value);
}

QString formatFigure(double value) {
    if (std::isnan(value))
        return kAbsent;
    if (std::isinf(value))
        return value > 0 ? QStringLiteral("∞") : QStringLiteral("-∞");
    const double size = std::abs(value);
    if (size != 0 && (size < 0.001 || size >= 1e6))
        return QString::number(value, 'e', 2);
    if (size != 0 && size < 0.1)
        return QString::number(value, 'g', 3);
    return QString::number(value, 'f', size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

QString formatBytes(double bytes) {
    return scaled(bytes, 1000, {"B", "kB", "MB", "GB", "TB", "PB"});
}

QString formatMemory(int64_t bytes) {
    return scaled(static_cast<double>(bytes), 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
}

QString formatBytesPerSec(double bytes) {
    return formatBytes(bytes) + "/s";
}

QString formatDuration(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0)
        return kAbsent;
    const int64_t whole = std::llround(seconds), minutes = std::llround(seconds / 60),
                  hours = std::llround(seconds / 3600);
    if (whole < 60)
        return Formats::tr("%1 s").arg(whole);
    if (minutes < 60)
        return Formats::tr("%1 min").arg(minutes);
    if (minutes < 24 * 60)
        return Formats::tr("%1 h %2 min").arg(minutes / 60).arg(minutes % 60);
    return Formats::tr("%1 d %2 h").arg(hours / 24).arg(hours % 24);
}

QString formatPercent(double ratio) {
    if (!std::isfinite(ratio))
        return kAbsent;
    return QString::number(std::llround(ratio * 100)) + kThin + '%';
}

QString formatMilliseconds(double millis) {
    if (!std::isfinite(millis))
        return kAbsent;
    return millis >= 1000 ? threeDigits(millis / 1000) + kThin + 's'
                          : threeDigits(millis) + kThin + "ms";
}

QString counted(int64_t count, const QString& one, const QString& many) {
    return count == 1 ? one : many.arg(formatCount(count));
}

QString formatRelative(int64_t wallNs, int64_t nowNs) {
    const int64_t seconds = std::max<int64_t>(0, (nowNs - wallNs) / 1'000'000'000);
    if (seconds < 45)
        return Formats::tr("just now");
    if (seconds < 3600)
        return Formats::tr("%1 min ago").arg(std::max<int64_t>(1, seconds / 60));
    if (seconds < 86400)
        return Formats::tr("%1 h ago").arg(seconds / 3600);
    return Formats::tr("%1 d ago").arg(seconds / 86400);
}

QString formatClock(int64_t wallNs) {
    return dateTime(wallNs).toString("HH:mm");
}

QString formatTime(int64_t wallNs) {
    return dateTime(wallNs).toString("HH:mm:ss");
}

QString formatExact(int64_t wallNs) {
    return dateTime(wallNs).toString("yyyy-MM-dd HH:mm:ss");
}

} // namespace rm
