// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <QStringList>

namespace rm::test {

/// Lines that `program` prints; empty when it fails.
QStringList linesOf(const QString& program, const QStringList& arguments);

/// Names of the libraries that a program or library is linked to.
QStringList neededBy(const QString& file);

/// Whether every node has this library itself: glibc, the compiler's runtime, the GPU's driver.
bool isOfTheNode(const QString& library);

} // namespace rm::test
