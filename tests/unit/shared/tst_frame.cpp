// SPDX-License-Identifier: Apache-2.0
#include "shared/io/bytes.h"
#include "shared/io/frame.h"
#include "tests/unit/shared/examples.h"
#include "tests/unit/shared/shared_test.h"

using namespace rm;

namespace {

std::vector<std::byte> stream(std::initializer_list<std::string> payloads) {
    std::vector<std::byte> bytes;
    for (const std::string& payload : payloads)
        appendFrame(bytes, example::bytesOf(payload));
    return bytes;
}

std::vector<std::byte> header(uint32_t length) {
    std::vector<std::byte> bytes;
    appendInt(bytes, length);
    appendInt(bytes, uint64_t{0});
    return bytes;
}

// All payloads, and the error if one came.
std::pair<std::vector<std::string>, std::optional<Error>> drain(FrameScanner& scanner) {
    std::vector<std::string> payloads;
    for (;;) {
        const auto payload = scanner.next();
        if (!payload)
            return {payloads, payload.error()};
        if (!*payload)
            return {payloads, std::nullopt};
        payloads.push_back(example::textOf(**payload));
    }
}

} // namespace

class TestFrame : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void payloadsComeBackInOrder() {
        FrameScanner scanner;
        scanner.feed(stream({"one", "two", std::string(kMaxRecord, 'x')}));
        const auto [payloads, error] = drain(scanner);
        QVERIFY(!error);
        QCOMPARE(payloads.size(), size_t(3));
        QCOMPARE(payloads[1], std::string("two"));
        QCOMPARE(payloads[2].size(), kMaxRecord);
    }

    void bytesMayComeOneByOne() {
        FrameScanner scanner;
        std::vector<std::string> all;
        for (const std::byte byte : stream({"one", "two"})) {
            scanner.feed(std::span(&byte, 1));
            for (const std::string& payload : drain(scanner).first)
                all.push_back(payload);
        }
        QCOMPARE(all, (std::vector<std::string>{"one", "two"}));
    }

    void everyTruncationWaitsForMore() {
        const auto whole = stream({"one", "two"});
        for (size_t size = 0; size < whole.size(); ++size) {
            FrameScanner scanner;
            scanner.feed(std::span(whole).first(size));
            const auto [payloads, error] = drain(scanner);
            QVERIFY(!error);
            QCOMPARE(payloads.size(), size_t(size >= whole.size() / 2));
        }
    }

    void everyFlippedBitIsAnErrorOrAWait() {
        const auto whole = stream({"payload"});
        for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
            FrameScanner scanner;
            scanner.feed(test::withBitFlipped(whole, bit));
            const auto payload = scanner.next();
            QVERIFY2(!payload || !*payload, qPrintable(QString::number(bit)));
        }
    }

    void impossibleLengthsAreCorrupt_data() {
        QTest::addColumn<quint32>("length");
        QTest::newRow("empty") << quint32(0);
        QTest::newRow("one too many") << quint32(kMaxRecord + 1);
        QTest::newRow("sign bit") << quint32(0x80000000);
        QTest::newRow("largest") << quint32(0xffffffff);
    }
    void impossibleLengthsAreCorrupt() {
        QFETCH(quint32, length);
        FrameScanner scanner(1000);
        scanner.feed(header(length));
        RM_FAILS(scanner.next(), ErrorCode::kCorrupt, "frame at byte 1000");
    }

    void lengthIsRefusedBeforeItsBytesCome() {
        FrameScanner scanner;
        scanner.feed(std::span<const std::byte>(header(kMaxRecord + 1)).first(4));
        QVERIFY(!scanner.next());
    }

    void errorIsFinal() {
        FrameScanner scanner;
        scanner.feed(header(0));
        QVERIFY(!scanner.next());
        scanner.feed(stream({"good"}));
        RM_FAILS(scanner.next(), ErrorCode::kCorrupt, "impossible length 0");
    }

    void errorNamesWhereTheFrameBegins() {
        auto bytes = stream({"good", "bad"});
        bytes.back() ^= std::byte{1};
        FrameScanner scanner(16);
        scanner.feed(bytes);
        const auto [payloads, error] = drain(scanner);
        QCOMPARE(payloads.size(), size_t(1));
        QVERIFY(error.has_value());
        QCOMPARE(error->message, std::string("frame at byte 32: wrong checksum"));
    }

    void cursorStandsBehindTheLastPayload() {
        FrameScanner scanner(100);
        scanner.feed(stream({"one", "two"}));
        QCOMPARE(scanner.consumed(), uint64_t(100));
        QVERIFY(scanner.next().has_value());
        QCOMPARE(scanner.consumed(), uint64_t(115));
    }
};

QTEST_GUILESS_MAIN(TestFrame)
#include "tst_frame.moc"
