// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/json_view.h"
#include "app/cli/run_text.h"
#include "app/cli/terminal.h"

#include <QTest>

#include <iostream>
#include <sstream>

using namespace rm;
using namespace rm::cli;

class TestTerminal : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void hostileTextBecomesOneHarmlessLine_data();
    void hostileTextBecomesOneHarmlessLine();
    void safeTextKeepsItsLines();
    void jsonSurvivesBytesThatAreNoText();
    void columnsAreAsWideAsTheirWidestCell();
    void eachKindOfWarningIsToldOnce();
};

void TestTerminal::hostileTextBecomesOneHarmlessLine_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("shown");
    QTest::newRow("plain") << QByteArray("step 5: ok") << QByteArray("step 5: ok");
    QTest::newRow("escape") << QByteArray("a\x1b[2Jb") << QByteArray("a [2Jb");
    QTest::newRow("lines") << QByteArray("a\r\nb\tc") << QByteArray("a  b c");
    QTest::newRow("zero") << QByteArray("a\0b", 3) << QByteArray("a b");
    QTest::newRow("CSI of C1") << QByteArray("a\xc2\x9b"
                                             "2Jb")
                               << QByteArray("a 2Jb");
    QTest::newRow("right to left") << QByteArray("a\xe2\x80\xae"
                                                 "b")
                                   << QByteArray("a b");
    QTest::newRow("raw C1") << QByteArray("a\x9b"
                                          "b")
                            << QByteArray("a\xef\xbf\xbd"
                                          "b");
    QTest::newRow("other scripts") << QByteArray("Größe 数 😀") << QByteArray("Größe 数 😀");
}

void TestTerminal::hostileTextBecomesOneHarmlessLine() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, shown);
    QCOMPARE(QByteArray::fromStdString(oneLine(text.toStdString())), shown);
}

void TestTerminal::safeTextKeepsItsLines() {
    QCOMPARE(safeText("one\n\ttwo\x07\r"), std::string("one\n\ttwo  "));
}

void TestTerminal::eachKindOfWarningIsToldOnce() {
    const auto event = [](int attempt, Severity severity, const char* code, const char* message) {
        return StoredEvent{.event = {-1, 7, 0, severity, code, message}, .attempt = attempt};
    };
    const std::vector<StoredEvent> events{
        event(2, Severity::kWarning, "checkpoint-failed", "checkpoint of step 30: disk full"),
        event(2, Severity::kInfo, "held", "held at step 25"),
        event(2, Severity::kWarning, "pause-failed", "of rank 1:\nno"),
        event(2, Severity::kWarning, "checkpoint-failed", "checkpoint of step 20: disk full"),
        event(1, Severity::kWarning, "rolled-back", "of the attempt before"),
    };
    QCOMPARE(warningTexts(events, 2),
             (std::vector<std::string>{"-: checkpoint of step 30: disk full (2 times)",
                                       "-: of rank 1: no"}));
    QVERIFY(warningTexts(events, 3).empty());
}

void TestTerminal::jsonSurvivesBytesThatAreNoText() {
    std::ostringstream out;
    std::streambuf* const before = std::cout.rdbuf(out.rdbuf());
    printJson(toJson(Error{ErrorCode::kNotFound, "open \xff\xfe: no such file"}));
    std::cout.rdbuf(before);
    const auto read = nlohmann::json::parse(out.str(), nullptr, false);
    QVERIFY(!read.is_discarded());
    QCOMPARE(read["error"]["code"].get<std::string>(), std::string("not-found"));
}

void TestTerminal::columnsAreAsWideAsTheirWidestCell() {
    QCOMPARE(formatTable({{"RUN", "STEP"}, {"größe-1", "5"}}),
             std::string("RUN      STEP\ngröße-1  5\n"));
}

QTEST_GUILESS_MAIN(TestTerminal)
#include "tst_terminal.moc"
