// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/ingest/log_lines.h"

#include <QTest>

#include <random>

namespace rm {

namespace {

std::span<const std::byte> bytesOf(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

std::vector<std::string> texts(std::vector<TimedLine> lines) {
    std::vector<std::string> all;
    for (TimedLine& line : lines)
        all.push_back(std::move(line.text));
    return all;
}

} // namespace

class TestLogLines : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void hostileBytesBecomeText_data() {
        QTest::addColumn<QByteArray>("raw");
        QTest::addColumn<QByteArray>("text");
        const auto row = [](const char* name, QByteArray raw, QByteArray text) {
            QTest::newRow(name) << raw << text;
        };
        row("plain", "loss 1.5\tok", "loss 1.5\tok");
        row("colours", "\x1b[1;31mred\x1b[0m", "red");
        row("cursor", "a\x1b[2K\x1b[1Gb", "ab");
        row("title", "\x1b]0;rm -rf /\x07then", "then");
        row("title ended by ST", "\x1b]0;x\x1b\\then", "then");
        row("device control", "\x1bPq#0\x1b\\then", "then");
        row("character set", "\x1b(Bthen", "then");
        row("two-byte escape",
            "\x1b"
            "cthen",
            "then");
        row("unfinished escape", "then\x1b[12", "then");
        row("lone escape", "then\x1b", "then");
        row("unfinished title", "then\x1b]0;abc", "then");
        row("progress bar", "10%\r50%\r100%\r", "100%");
        row("windows end", "line\r", "line");
        row("controls",
            QByteArray("a\0b\x01\x7f"
                       "c",
                       6),
            "abc");
        row("UTF-8", "n\xc3\xa4her \xe2\x98\x83", "n\xc3\xa4her \xe2\x98\x83");
        row("Latin-1", "n\xe4her", "n\xef\xbf\xbdher");
        row("torn UTF-8", "a\xe2\x98", "a\xef\xbf\xbd\xef\xbf\xbd");
        row("overlong",
            "a\xc0\xaf"
            "b",
            "a\xef\xbf\xbd\xef\xbf\xbd"
            "b");
        row("SQL", "'); DROP TABLE run; --", "'); DROP TABLE run; --");
    }

    void aGapEndsALineAndIsOneItself() {
        LogLines log(0);
        log.feed(bytesOf("one\ntwo"));
        log.skipTo(100, "--- gap ---");
        QCOMPARE(log.cursor(), uint64_t{100});
        log.feed(bytesOf("rest\nla"));
        QCOMPARE(texts(log.take()),
                 (std::vector<std::string>{"one", "two", "--- gap ---", "rest"}));
        QCOMPARE(log.cursor(), uint64_t{105});
        QCOMPARE(texts(log.takeAll()), std::vector<std::string>{"la"});
    }

    void hostileBytesBecomeText() {
        QFETCH(QByteArray, raw);
        QFETCH(QByteArray, text);
        QCOMPARE(QByteArray::fromStdString(cleanLine(raw.toStdString())), text);
    }

    void eachLineHasTheTimeOfItsLastByte() {
        LogLines log(100);
        log.feed(bytesOf("one\ntwo\nthr"));
        log.stamp(std::vector<LogStamp>{{104, 10}, {106, 20}, {111, 30}});
        QCOMPARE(log.take(), (std::vector<TimedLine>{{"one", 10}, {"two", 30}}));
        log.feed(bytesOf("ee\nlast\n"));
        log.stamp(std::vector<LogStamp>{{113, 40}, {114, 50}});
        QCOMPARE(log.take(), (std::vector<TimedLine>{{"three", 50}, {"last", 0}}));
    }

    void aLineThatStandsForAGapHasTheTimeOfWhatFollows() {
        LogLines log(0);
        log.feed(bytesOf("one\ntw"));
        log.stamp(std::vector<LogStamp>{{6, 10}});
        log.skipTo(100, "--- gap ---");
        log.feed(bytesOf("rest\n"));
        log.stamp(std::vector<LogStamp>{{105, 90}});
        QCOMPARE(log.take(), (std::vector<TimedLine>{
                                 {"one", 10}, {"tw", 10}, {"--- gap ---", 90}, {"rest", 90}}));
    }

    void lastPartIsHeldBack() {
        LogLines log(100);
        log.feed(bytesOf("one\ntwo\nthr"));
        QVERIFY(texts(log.take()) == (std::vector<std::string>{"one", "two"}));
        QCOMPARE(log.cursor(), uint64_t(108));
        QVERIFY(texts(log.take()).empty());
        log.feed(bytesOf("ee\n\nfour"));
        QVERIFY(texts(log.take()) == (std::vector<std::string>{"three", ""}));
        QVERIFY(texts(log.takeAll()) == (std::vector<std::string>{"four"}));
        QCOMPARE(log.cursor(), uint64_t(119));
        QVERIFY(texts(log.takeAll()).empty());
    }

    void piecesOfBytesGiveTheSameLines() {
        std::mt19937 random(5);
        std::string text;
        for (int i = 0; i < 60000; ++i)
            text += random() % 50 == 0 ? '\n' : char(random());
        text += std::string(10000, 'x') + "\n";
        LogLines whole(0);
        whole.feed(bytesOf(text));
        const auto expected = texts(whole.takeAll());
        LogLines pieces(0);
        std::vector<std::string> lines;
        for (size_t at = 0; at < text.size();) {
            const size_t size = std::min<size_t>(text.size() - at, 1 + random() % 300);
            pieces.feed(bytesOf(std::string_view(text).substr(at, size)));
            at += size;
            for (auto& line : texts(pieces.take()))
                lines.push_back(std::move(line));
        }
        for (auto& line : texts(pieces.takeAll()))
            lines.push_back(std::move(line));
        QVERIFY(lines == expected);
        QCOMPARE(pieces.cursor(), uint64_t(text.size()));
    }

    void endlessLineComesInPieces() {
        LogLines log(0);
        std::string text;
        while (text.size() < 3 * kMaxLine)
            text += "\xe2\x98\x83"; // three bytes that a cut must not tear
        log.feed(bytesOf(text));
        std::string joined;
        for (const auto& line : texts(log.takeAll())) {
            QVERIFY(line.size() <= kMaxLine);
            joined += line;
        }
        QCOMPARE(joined, text);
        log.feed(bytesOf(std::string(kMaxLine, '\xff') + "\n"));
        for (const auto& line : texts(log.take()))
            QVERIFY(line.size() <= kMaxLine);
    }
};

} // namespace rm

QTEST_GUILESS_MAIN(rm::TestLogLines)
#include "tst_log_lines.moc"
