// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/tables.h"

#include <QCoreApplication>

namespace rm {

namespace {

/// Lists, buttons and an error, which all subjects have.
struct ListTexts {
    Q_DECLARE_TR_FUNCTIONS(Findings)
public:
    static constexpr Phrase kPhrases[] = {
        {"list.and", QT_TR_NOOP("{first} and {last}")},
        {"list.or", QT_TR_NOOP("{first} or {last}")},
        {"list.more", QT_TR_NOOP("{first} and {more} more")},
        {"error.cancelled", QT_TR_NOOP("{attempt}: cancelled")},
        {"action.copy-command", QT_TR_NOOP("Copy the command")},
        {"action.end-leftovers", QT_TR_NOOP("End leftovers")},
        {"action.trust", QT_TR_NOOP("Trust…")},
        {"action.password", QT_TR_NOOP("Enter password…")},
        {"action.passphrase", QT_TR_NOOP("Enter passphrase…")},
        {"action.remove-agents", QT_TR_NOOP("Remove")},
        {"action.self-test", QT_TR_NOOP("Self-test")},
    };
};

} // namespace

TextTable listTexts() {
    return {{}, ListTexts::kPhrases};
}

} // namespace rm
