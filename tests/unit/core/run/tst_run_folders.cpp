// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/agent/agent_client.h"
#include "app/core/run/checkpoint_words.h"

#include <QTest>

using namespace rm;

/// What agents answer of a run's folder and of a checkpoint, whoever they are.
class TestRunFolders : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void folderIsRead();
    void hostileFoldersAreErrors_data();
    void hostileFoldersAreErrors();
    void onlyAVerdictSaysThatACheckpointIsDamaged();
};

void TestRunFolders::folderIsRead() {
    const auto folder =
        parseRunFolder(R"({"bytes":12345678901,"checkpoints":3,"folder":"/s/runs/a"})");
    QVERIFY(folder);
    QVERIFY(*folder == (RunFolder{{}, "/s/runs/a", 12345678901, 3}));
}

void TestRunFolders::hostileFoldersAreErrors_data() {
    QTest::addColumn<QString>("answer");
    for (const char* answer : {"", "[]", "{}", R"({"folder":"/a","bytes":"many","checkpoints":0})",
                               R"({"folder":"/a","bytes":-1,"checkpoints":0})",
                               R"({"folder":"/a","bytes":1,"checkpoints":9999999999})",
                               R"({"folder":1,"bytes":1,"checkpoints":0})"})
        QTest::newRow(*answer ? answer : "nothing") << answer;
}

void TestRunFolders::hostileFoldersAreErrors() {
    QFETCH(QString, answer);
    const auto folder = parseRunFolder(answer.toStdString());
    QVERIFY(!folder);
    QCOMPARE(folder.error().code, ErrorCode::kCorrupt);
}

void TestRunFolders::onlyAVerdictSaysThatACheckpointIsDamaged() {
    QCOMPARE(verdictText(parseVerdict(R"({"whole":true,"problem":""})")), std::string("whole"));
    QCOMPARE(verdictText(parseVerdict(R"({"whole":false,"problem":"read /x: no"})")),
             std::string("damaged: read /x: no"));
    for (const char* answer : {"", "{}", "3", R"({"whole":false})", R"({"whole":1,"problem":""})"})
        QVERIFY2(verdictText(parseVerdict(answer)).starts_with("not verified: "), answer);
}

QTEST_GUILESS_MAIN(TestRunFolders)
#include "tst_run_folders.moc"
