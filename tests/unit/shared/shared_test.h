// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "tests/support/requirement.h"

#include <QByteArray>
#include <QFile>
#include <QList>
#include <QString>
#include <QTest>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

/// A result's value must be there; its message is shown otherwise.
#define RM_OK(result)                                                                              \
    do {                                                                                           \
        const auto& checked = (result);                                                            \
        QVERIFY2(checked.has_value(), checked ? "" : checked.error().message.c_str());             \
    } while (false)

/// A result must have failed with this code and with these words in its message.
#define RM_FAILS(result, expectedCode, words)                                                      \
    do {                                                                                           \
        const auto& checked = (result);                                                            \
        QVERIFY2(!checked.has_value(), "succeeded: " #result);                                     \
        QCOMPARE(rm::errorCodeName(checked.error().code), rm::errorCodeName(expectedCode));        \
        QVERIFY2(checked.error().message.find(words) != std::string::npos,                         \
                 checked.error().message.c_str());                                                 \
    } while (false)

namespace rm::test {

inline std::string goldenPath(const char* name) {
    return qEnvironmentVariable("RINGMASTER_SOURCE").toStdString() + "/tests/data/shared/" + name;
}

inline void writeBytes(const std::string& path, std::span<const std::byte> bytes) {
    QFile file(QString::fromStdString(path));
    QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
    QCOMPARE(file.write(reinterpret_cast<const char*>(bytes.data()), qint64(bytes.size())),
             qint64(bytes.size()));
}

inline std::vector<std::byte> readBytes(const std::string& path) {
    QFile file(QString::fromStdString(path));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const QByteArray bytes = file.readAll();
    const auto view = std::as_bytes(std::span(bytes.constData(), size_t(bytes.size())));
    return {view.begin(), view.end()};
}

inline std::vector<std::byte> withBitFlipped(std::span<const std::byte> bytes, size_t bit) {
    std::vector<std::byte> flipped(bytes.begin(), bytes.end());
    flipped[bit / 8] ^= std::byte(1 << bit % 8);
    return flipped;
}

} // namespace rm::test
