// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <cstdint>

namespace rm {

/// Figures as people read them: thin-space groups, a thin space before the unit, "–" for absent.
/// What is counted in which bytes: shared/amounts.h.

QString formatCount(int64_t value);  ///< "38 412"
QString formatCompact(double value); ///< "412 k", "51.5 k", "0.81"
QString formatFigure(double value);  ///< three digits or four: "2.184", "0.0016", "2.94e-04"
/// Of a value that is known, formatFigure() or "NaN"; else "–".
QString formatKnown(const std::optional<double>& value);
QString formatBytes(double bytes);         ///< "743 MB"
QString formatMemory(int64_t bytes);       ///< "16 GiB"
QString formatBytesPerSec(double bytes);   ///< "12.4 MB/s"
QString formatDuration(double seconds);    ///< "1 h 12 min", "40 s"
QString formatPercent(double ratio);       ///< 0.47 -> "47 %"
QString formatMilliseconds(double millis); ///< "84 ms", "1.2 s"

/// `one` for 1, else `many` with its %1 replaced.
QString counted(int64_t count, const QString& one, const QString& many);

QString formatRelative(int64_t wallNs, int64_t nowNs); ///< "10 min ago"
QString formatClock(int64_t wallNs);                   ///< "11:02" today's clock
QString formatTime(int64_t wallNs);                    ///< "11:02:13"
QString formatExact(int64_t wallNs);                   ///< "2026-11-21 11:02:13"

extern const QString kAbsent;    ///< "–"
extern const QString kSeparator; ///< " · "

} // namespace rm
