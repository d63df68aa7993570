// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/agent/agent_client.h"
#include "app/core/checkpoints/checkpoint_words.h"

#include <QTest>

using namespace rm;

/// What agents answer of a run's folder and of a checkpoint, whoever they are.
class TestRunFolders : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void folderIsRead();
    void whatARemovalLeavesIsSaid();
    void hostileFoldersAreErrors_data();
    void hostileFoldersAreErrors();
    void onlyAVerdictSaysThatACheckpointIsDamaged();
    void aVerdictTellsOfEachPlace();
};

void TestRunFolders::folderIsRead() {
    const auto folder =
        parseRunFolder(R"({"bytes":12345678901,"checkpoints":3,"folder":"/s/runs/a"})");
    QVERIFY(folder);
    QVERIFY(*folder == (RunFolder{{}, "/s/runs/a", 12345678901, 3}));
    const auto named = parseRunFolder(
        R"({"bytes":9,"checkpoints":2,"folder":"/s/runs/a","named":[{"folder":"/ckpt/a","bytes":5,)"
        R"("checkpoints":1,"stays_as":"another node of the run writes it"}]})");
    QVERIFY(named && named->named.size() == 1);
    QCOMPARE(namedFolderWords(named->named.front(), "5 B"),
             std::string("5 B stays in /ckpt/a, as another node of the run writes it"));
    QCOMPARE(namedFolderWords({"/ckpt/a", 5, 1, {}}, "5 B"), std::string("5 B of that in /ckpt/a"));
}

void TestRunFolders::whatARemovalLeavesIsSaid() {
    RunFolder clean{"a", "/s/runs/a", 9, 2}, kept{"b", "/s/runs/a", 9, 2};
    clean.named = {{"/ckpt/a", 5, 1, {}}};
    kept.named = {{"/ckpt/b", 603, 1, "the folder is of run ckb"}, {"/ckpt/a", 5, 1, {}}};
    const auto words = [](int64_t bytes) { return std::to_string(bytes) + " B"; };
    QVERIFY(leftWords({clean}, words).empty());
    QCOMPARE(leftWords({clean, kept}, words),
             std::vector<std::string>{"b: 603 B stays in /ckpt/b, as the folder is of run ckb"});
}

void TestRunFolders::hostileFoldersAreErrors_data() {
    QTest::addColumn<QString>("answer");
    for (const char* answer : {"", "[]", "{}", R"({"folder":"/a","bytes":"many","checkpoints":0})",
                               R"({"folder":"/a","bytes":-1,"checkpoints":0})",
                               R"({"folder":"/a","bytes":1,"checkpoints":9999999999})",
                               R"({"folder":1,"bytes":1,"checkpoints":0})",
                               R"({"folder":"/a","bytes":1,"checkpoints":0,"named":[{}]})"})
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
    const auto gone = parseVerdict(R"({"whole":false,"there":false,"problem":"open /x: no"})");
    QVERIFY(!gone && gone.error().code == ErrorCode::kNotFound);
    for (const bool isCopy : {false, true}) { // a copy's folder is empty once its copies are old
        const auto away = parseVerdict(
            R"({"whole":false,"there":false,"folder":"missing","problem":"open /x: no"})", isCopy);
        QVERIFY(!away && away.error().code == ErrorCode::kUnavailable);
        const auto empty = parseVerdict(
            R"({"whole":false,"there":false,"folder":"foreign","problem":"open /x: no"})", isCopy);
        QVERIFY(!empty &&
                empty.error().code == (isCopy ? ErrorCode::kNotFound : ErrorCode::kUnavailable));
    }
    for (const char* answer : {"", "{}", "3", R"({"whole":false})", R"({"whole":1,"problem":""})"})
        QVERIFY2(verdictText(parseVerdict(answer)).starts_with("not verified: "), answer);
}

void TestRunFolders::aVerdictTellsOfEachPlace() {
    const Result<void> whole;
    const Result<void> rotten = fail(ErrorCode::kCorrupt, "read /x: no");
    const Result<void> apart = fail(ErrorCode::kUnavailable, "no route");
    const auto textOf = [](const std::vector<VerifiedPlace>& places) {
        return verdictText(verdictOf(places));
    };
    QCOMPARE(textOf({{"a", false, whole}}), std::string("whole"));
    QCOMPARE(textOf({{"a", false, rotten}}), std::string("damaged: read /x: no"));
    QCOMPARE(textOf({{"a", false, whole}, {"b", true, whole}}), std::string("whole"));
    QCOMPARE(textOf({{"a", false, whole}, {"b", true, rotten}}),
             std::string("damaged: its copy on b: read /x: no; whole: on a"));
    QCOMPARE(textOf({{"a", false, apart}, {"b", true, whole}}),
             std::string("not verified: on a: no route; whole: its copy on b"));
    const std::vector<VerifiedPlace> all{
        {"a", false, apart}, {"b", true, rotten}, {"c", true, whole}};
    QCOMPARE(textOf(all), std::string("damaged: its copy on b: read /x: no; not verified: on a: no "
                                      "route; whole: its copy on c"));
    QCOMPARE(verdictOf(all).error().code, ErrorCode::kCorrupt);
}

QTEST_GUILESS_MAIN(TestRunFolders)
#include "tst_run_folders.moc"
