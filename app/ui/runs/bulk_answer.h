// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <QString>
#include <QStringList>

#include <string>
#include <vector>

namespace rm {

/// What became of a request to each of several runs.
struct BulkAnswer {
    struct Refusal {
        QString run; ///< its name
        QString why; ///< without what was attempted
        bool operator==(const Refusal&) const = default;
    };
    QStringList done; ///< their names
    std::vector<Refusal> refused;

    /// `attempt`: how the messages of errors begin.
    void add(const QString& run, const std::string& attempt, const Result<void>& answer);
    qsizetype count() const { return done.size() + static_cast<qsizetype>(refused.size()); }
};

/// What is said once all have answered: "%1 archived", "%1 runs archived", "%1 of %2 runs
/// archived".
struct BulkWords {
    QString ofOne, ofAll, ofSome;
};

/// "3 of 5 runs archived; a, b: it is running; stop or pause it first"
QString bulkText(const BulkAnswer& answer, const BulkWords& words);

} // namespace rm
