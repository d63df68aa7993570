// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTest>

namespace rm {

/// Whether RINGMASTER_REQUIRE (names joined by commas) demands that tests needing `name` run.
inline bool isRequired(const char* name) {
    return qgetenv("RINGMASTER_REQUIRE").split(',').contains(QByteArray(name));
}

} // namespace rm

/// For test functions that need `condition`: if it is false, skips, or fails when
/// RINGMASTER_REQUIRE names `name` ("netns", "sshd", "root", "python", "torch", "slurm", "tcsh",
/// "no-gpu", "dbus", "link-local"). The only way to skip: tst_layering allows QSKIP in no other
/// file.
#define RM_NEEDS(name, condition, why)                                                             \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            if (rm::isRequired(name))                                                              \
                QFAIL(qPrintable(QStringLiteral("required %1: %2").arg(name, why)));               \
            QSKIP(qPrintable(QStringLiteral("no %1: %2").arg(name, why)));                         \
        }                                                                                          \
    } while (false)
