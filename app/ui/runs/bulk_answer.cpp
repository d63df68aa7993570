// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/runs/bulk_answer.h"

#include "app/core/findings/text.h"

namespace rm {

namespace {

constexpr size_t kMostNames = 8; ///< for one reason

/// "a, b: it is running; c: no answer": each reason once, with all that gave it.
QString refusedText(const std::vector<BulkAnswer::Refusal>& refused) {
    QStringList reasons, parts;
    for (const BulkAnswer::Refusal& refusal : refused)
        if (!reasons.contains(refusal.why))
            reasons << refusal.why;
    for (const QString& reason : reasons) {
        std::vector<std::string> names;
        for (const BulkAnswer::Refusal& refusal : refused)
            if (refusal.why == reason)
                names.push_back(refusal.run.toStdString());
        parts << QString::fromStdString(someOf(names, kMostNames)) + ": " + reason;
    }
    return parts.join("; ");
}

} // namespace

void BulkAnswer::add(const QString& run, const std::string& attempt, const Result<void>& answer) {
    if (answer) {
        done << run;
        return;
    }
    const std::string& message = answer.error().message;
    const std::string begin = attempt + ": ";
    refused.push_back(
        {run, QString::fromStdString(message.starts_with(begin) ? message.substr(begin.size())
                                                                : message)});
}

QString bulkText(const BulkAnswer& answer, const BulkWords& words) {
    const QString done = !answer.refused.empty()
                             ? words.ofSome.arg(answer.done.size()).arg(answer.count())
                         : answer.count() == 1 ? words.ofOne.arg(answer.done.front())
                                               : words.ofAll.arg(answer.count());
    if (answer.refused.empty())
        return done;
    return answer.count() == 1 ? refusedText(answer.refused)
                               : done + "; " + refusedText(answer.refused);
}

} // namespace rm
