// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/log_time.h"

#include "app/core/findings/text.h"
#include "app/core/runs/step_span.h"

#include <QDateTime>

#include <limits>
#include <optional>

namespace rm {

namespace {

constexpr int64_t kNsPerMs = 1'000'000;

std::optional<int64_t> agoIn(const QString& text, int64_t nowNs) {
    constexpr int64_t kSecond = 1'000'000'000;
    bool isNumber = false;
    const qlonglong count = text.chopped(1).toLongLong(&isNumber);
    const QChar unit = text.back();
    const int64_t seconds = unit == 's'   ? 1
                            : unit == 'm' ? 60
                            : unit == 'h' ? 3600
                            : unit == 'd' ? 86400
                                          : 0;
    if (!isNumber || count < 0 || seconds == 0 || count > nowNs / kSecond / seconds)
        return std::nullopt;
    return nowNs - count * seconds * kSecond;
}

/// The first or the last moment that the text names.
std::optional<int64_t> timeIn(const QString& text, int64_t nowNs, LogEnd end) {
    const QDateTime now = QDateTime::fromMSecsSinceEpoch(nowNs / kNsPerMs);
    struct Format {
        const char* text;
        qint64 ms; ///< that it leaves open
    };
    constexpr qint64 kSecondMs = 1000, kMinuteMs = 60 * kSecondMs;
    const auto momentOf = [end](const QDateTime& begin, const QDateTime& next) {
        return end == LogEnd::kSince ? begin.toMSecsSinceEpoch() * kNsPerMs
                                     : next.toMSecsSinceEpoch() * kNsPerMs - 1;
    };
    if (const QDate day = QDate::fromString(text, "yyyy-MM-dd"); day.isValid())
        return momentOf(day.startOfDay(), day.addDays(1).startOfDay());
    for (const Format& format : {Format{"yyyy-MM-dd HH:mm:ss", kSecondMs},
                                 {"yyyy-MM-dd HH:mm", kMinuteMs},
                                 {"yyyy-MM-ddTHH:mm:ss", kSecondMs},
                                 {"yyyy-MM-ddTHH:mm", kMinuteMs}})
        if (const auto when = QDateTime::fromString(text, format.text); when.isValid())
            return momentOf(when, when.addMSecs(format.ms));
    for (const Format& format : {Format{"HH:mm:ss", kSecondMs}, {"HH:mm", kMinuteMs}})
        if (const QTime time = QTime::fromString(text, format.text); time.isValid())
            return momentOf(QDateTime(now.date(), time),
                            QDateTime(now.date(), time).addMSecs(format.ms));
    return std::nullopt;
}

} // namespace

Result<int64_t> logTime(StoreReader& reader, const QString& run, const std::string& wanted,
                        int64_t nowNs, LogEnd end) {
    const QString text = QString::fromStdString(wanted).trimmed();
    bool isStep = false;
    const qlonglong step = text.toLongLong(&isStep);
    if (isStep && step >= 0) {
        auto time = timeOfStep(reader, run, step);
        if (!time && end == LogEnd::kUntil && timeUpTo(reader, run, step))
            return std::numeric_limits<int64_t>::max();
        return time;
    }
    if (!text.isEmpty())
        if (const auto ago = agoIn(text, nowNs))
            return *ago;
    if (const auto time = timeIn(text, nowNs, end))
        return *time;
    return fail(ErrorCode::kInvalid, say("run.no-such-time", {{"text", wanted}}));
}

} // namespace rm
