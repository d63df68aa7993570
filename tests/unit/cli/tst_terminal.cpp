// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/access.h"
#include "app/cli/json_view.h"
#include "app/cli/run_text.h"
#include "app/cli/terminal.h"
#include "app/core/store/requested_command.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/series.h"
#include "shared/journal/event_codes.h"

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
    void aCutLeavesCharactersWhole();
    void jsonSurvivesBytesThatAreNoText();
    void columnsAreAsWideAsTheirWidestCell();
    void eachKindOfWarningIsToldOnce();
    void deploymentIsToldByNode();
    void shortIdsNameOneCommandEach();
    void aKeyIsTrustedByTheCommandOfItsNode();
};

void TestTerminal::shortIdsNameOneCommandEach() {
    std::vector<RequestedCommand> commands;
    for (const char* id :
         {"rule-1-1-0", "rule-1-1-1", "rule-1-12-0", "0f8c2a41-90d1-4f6e-8a55-2d9d6c1b7e00", "c"}) {
        commands.emplace_back();
        commands.back().id = id;
    }
    const std::vector<std::string> expected = {"rule-1-1-0", "rule-1-1-1", "rule-1-12", "0f8c2a41",
                                               "c"};
    QCOMPARE(shortIds(commands), expected);
}

void TestTerminal::aKeyIsTrustedByTheCommandOfItsNode() {
    const ConnectFailure failure{{ErrorCode::kDenied, "connect to box: its key is unknown"},
                                 ConnectFailure::Need::kTrustHostKey,
                                 "SHA256:abc",
                                 ConnectFailure::Cause::kHostKey};
    const std::string listed = withAdvice(failure, "box");
    QVERIFY2(listed.ends_with("ringmaster nodes edit box --fingerprint SHA256:abc"),
             listed.c_str());
    const std::string added = withAdvice(failure, {});
    QVERIFY2(added.ends_with("pass it as --fingerprint to `nodes add`"), added.c_str());
}

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

void TestTerminal::aCutLeavesCharactersWhole() {
    QCOMPARE(cutBehind("Größe 数 😀", 3), std::string("Grö"));
    QCOMPARE(cutBehind("Größe 数 😀", 9), std::string("Größe 数 😀"));
    QCOMPARE(cutBehind("Größe 数 😀", 8), std::string("Größe 数 "));
    QCOMPARE(cutBehind("abc", 0), std::string());
    QCOMPARE(cutBehind("abc", 60), std::string("abc"));
}

void TestTerminal::eachKindOfWarningIsToldOnce() {
    const auto event = [](int attempt, Severity severity, const char* code, const char* message) {
        return StoredEvent{.event = {-1, 7, 0, severity, code, message}, .attempt = attempt};
    };
    std::vector<StoredEvent> events(1000, event(2, Severity::kWarning, "bad-sample", "no picture"));
    events.push_back(event(2, Severity::kWarning, "checkpoint-failed", "step 30: disk full"));
    events.push_back(event(2, Severity::kInfo, "held", "held at step 25"));
    events.push_back(event(2, Severity::kError, "rank-failed", "rank 1 ended"));
    events.push_back(event(2, Severity::kWarning, kNodeLostEvent, "gpu2 is out of reach"));
    events.push_back(event(2, Severity::kWarning, "checkpoint-failed", "step 20: disk full"));
    events.push_back(event(2, Severity::kWarning, "pause-failed", "of rank 1:\nno"));
    events.push_back(event(2, Severity::kWarning, "steps-skipped", "a fourth kind"));
    events.push_back(event(1, Severity::kWarning, "rolled-back", "of the attempt before"));
    std::vector<std::string> texts;
    for (const Warned& warned : warningsOf(events, 2))
        texts.push_back(warningText(warned));
    QCOMPARE(texts,
             (std::vector<std::string>{"-: no picture (1000 times)",
                                       "-: step 30: disk full (2 times)", "-: of rank 1: no"}));
    QVERIFY(warningsOf(events, 3).empty());
    events.insert(events.begin(),
                  event(2, Severity::kError, kJournalDamagedEvent, "journal/x: steps are lost"));
    QCOMPARE(warningText(warningsOf(events, 2).front()),
             std::string("-: journal/x: steps are lost"));
    QCOMPARE(toJson(warningsOf(events, 2)[2])["count"].get<int>(), 2);
    Warned ofRank{event(2, Severity::kWarning, "rank-slow", "computing takes 9 ms"), 1};
    ofRank.newest.event.rank = 3;
    QCOMPARE(warningText(ofRank), std::string("-: rank 3: computing takes 9 ms"));
    ofRank.newest.event.message = "waits for rank 31";
    QCOMPARE(warningText(ofRank), std::string("-: rank 3: waits for rank 31"));
    ofRank.newest.event.message = "rank 31 waits for rank 3";
    QCOMPARE(warningText(ofRank), std::string("-: rank 31 waits for rank 3"));
}

void TestTerminal::deploymentIsToldByNode() {
    Progress trainer{.stage = "Send trainer"};
    QCOMPARE(progressText(trainer), std::string("Send trainer"));
    for (const char* name : {"gpu1", "gpu10"}) {
        Progress node{.stage = name};
        node.total = 200'000'000;
        node.done = 100'000'000;
        node.sent = 40'000'000;
        node.bytesPerSec = 20e6;
        node.secondsLeft = 5;
        trainer.nodes.push_back(node);
    }
    trainer.total = 400'000'000;
    trainer.done = 200'000'000;
    trainer.sent = 80'000'000;
    const std::string whole = progressText(trainer);
    QVERIFY2(whole.starts_with("Send trainer to 2 nodes  [") &&
                 whole.ends_with("200 MB of 400 MB, 80.0 MB sent"),
             whole.c_str());
    const std::vector<std::string> each = nodeProgressTexts(trainer);
    QCOMPARE(each.size(), size_t{2});
    QVERIFY2(each[0].starts_with("  gpu1   [") && each[1].starts_with("  gpu10  [") &&
                 each[0].ends_with("40.0 MB sent, 20.0 MB/s, 5 s left"),
             each[0].c_str());
    trainer.nodes[0].done = trainer.nodes[0].total;
    QVERIFY(nodeProgressTexts(trainer)[0].ends_with("the node puts it in place"));
    trainer.done = trainer.total;
    const std::string sent = sentText(trainer, 24);
    QVERIFY2(sent == "Sent trainer to 2 nodes: 400 MB as 80.0 MB in 24 s", sent.c_str());
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
