// SPDX-License-Identifier: Apache-2.0
#include "tests/support/elf.h"

#include <QProcess>
#include <QRegularExpression>

namespace rm::test {

QStringList linesOf(const QString& program, const QStringList& arguments) {
    constexpr int kTimeoutMs = 60000;
    QProcess process;
    process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    process.start(program, arguments);
    if (!process.waitForFinished(kTimeoutMs) || process.exitCode() != 0)
        return {};
    return QString::fromLocal8Bit(process.readAllStandardOutput()).split('\n', Qt::SkipEmptyParts);
}

QStringList neededBy(const QString& file) {
    static const QRegularExpression pattern("\\(NEEDED\\).*\\[(.+)\\]");
    QStringList names;
    for (const QString& line : linesOf("readelf", {"-d", file}))
        if (const auto match = pattern.match(line); match.hasMatch())
            names += match.captured(1);
    return names;
}

bool isOfTheNode(const QString& library) {
    static const QRegularExpression pattern(
        "^(ld-linux.*|lib(c|m|dl|rt|pthread|util|stdc\\+\\+|gcc_s|cuda|nvidia-ml))\\.so.*");
    return pattern.match(library).hasMatch();
}

} // namespace rm::test
