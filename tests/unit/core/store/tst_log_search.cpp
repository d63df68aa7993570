// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/export.h"
#include "app/core/store/log_search.h"
#include "app/core/store/log_severity.h"
#include "tests/unit/core/store/store_fixture.h"

#include <QRegularExpression>

#include <SQLiteCpp/SQLiteCpp.h>

#include <sstream>

namespace rm {

namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kNoon = 1'700'000'000 * kSecond;

QStringList textsOf(const LogPage& page) {
    QStringList texts;
    for (const LogLine& line : page.lines)
        texts << QString::fromStdString(line.text);
    return texts;
}

void execute(const QString& path, const std::string& sql) {
    SQLite::Database(path.toStdString(), SQLite::OPEN_READWRITE).exec(sql);
}

} // namespace

/// Which lines of logs are found: by words, by how serious they are, by time.
class TestLogSearch : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void wordsAreFoundWholeAndTheLastAsABeginning_data();
    void wordsAreFoundWholeAndTheLastAsABeginning();
    void hitsAreWhereTheWordsStand();
    void severityIsThatOfTheLogger_data();
    void severityIsThatOfTheLogger();
    void linesComeByTheTimeOfTheirNode();
    void aPageGoesOnWhereTheLastOneEnded();
    void aPageEndsWhereTheLaterOneBegan();
    void searchedLinesAreThoseThatMatch();
    void onlySevereLinesAreRead();
    void deletedLinesAreNotFoundAnyMore();
    void linesOfAnEarlierReleaseAreFoundBeforeAndAfterTheyAreIndexed();
    void aLogThatIsCutKeepsTheIndexWhole();
    void aLineSaysWhenAndWhere();

private:
    static void store(StoreFixture& store, const std::vector<NewLogLine>& lines, int node = 0) {
        IngestBatch batch = StoreFixture::batch("a", {}, node);
        batch.logLines = lines;
        StoreFixture::mustBeOk(store.writer().ingest(batch));
    }
    /// As the writer's thread does when it is idle.
    static void fill(StoreFixture& store) {
        for (bool isMore = true; isMore;) {
            const auto filled = store.writer().fillLogSearch();
            QVERIFY(filled);
            isMore = *filled;
        }
    }
    static LogChoice words(const char* text) {
        LogChoice choice;
        choice.search = text;
        return choice;
    }
    uint64_t m_written = 0;
};

void TestLogSearch::wordsAreFoundWholeAndTheLastAsABeginning_data() {
    QTest::addColumn<QString>("search");
    QTest::addColumn<QString>("line");
    QTest::addColumn<bool>("matches");
    const auto row = [](const char* name, const char* search, const char* line, bool matches) {
        QTest::newRow(name) << search << line << matches;
    };
    row("nothing", "", "anything", true);
    row("a word", "loss", "step 3 loss 2.5", true);
    row("a beginning", "lo", "step 3 loss 2.5", true);
    row("no part of a word", "oss", "step 3 loss 2.5", false);
    row("any order", "loss step", "step 3 loss 2.5", true);
    row("only the last is a beginning", "lo step", "step 3 loss 2.5", false);
    row("any case", "CUDA Error", "RuntimeError: cuda error", true);
    row("all of them", "loss cuda", "step 3 loss 2.5", false);
    row("a word with other characters", "socket.cpp:88", "[c10d] socket.cpp:88] failed", true);
    row("which begins a word", "ocket.cpp", "[c10d] socket.cpp:88] failed", false);
    row("underscores part words", "ifname", "NCCL_SOCKET_IFNAME=eth0", true);
    row("quotes find parts", "\"rror: c\"", "RuntimeError: cuda error", true);
    row("quotes as they are", "\"cuda  error\"", "RuntimeError: cuda error", false);
    row("an open quote", "step \"loss 2", "step 3 loss 2.5", true);
    row("UTF-8", "n\xc3\xa4her", "es kommt n\xc3\xa4her", true);
    row("only a mark", "%", "100 % done", true);
    row("a mark that is not there", "%", "100 done", false);
    row("the syntax of FTS5", "AND OR", "this and that or", true);
    row("its marks", "loss* NEAR(", "loss* NEAR(x", true);
}

/// By LogSearch alone, and by the index of words.
void TestLogSearch::wordsAreFoundWholeAndTheLastAsABeginning() {
    QFETCH(QString, search);
    QFETCH(QString, line);
    QFETCH(bool, matches);
    QCOMPARE(LogSearch(search).matches(line.toStdString()), matches);
    StoreFixture store;
    store.createRun("a");
    this->store(store, {{0, "another one", kNoon}, {0, line.toStdString(), kNoon + 1}});
    const auto found = [&] {
        return textsOf(store.reader().logTail("a", words(search.toUtf8()), 10)).contains(line);
    };
    QCOMPARE(found(), matches);
    fill(store);
    QCOMPARE(found(), matches);
    QVERIFY(!store.reader().failure());
}

void TestLogSearch::hitsAreWhereTheWordsStand() {
    using Hits = std::vector<std::pair<size_t, size_t>>;
    QCOMPARE(LogSearch("loss ste").hits("step 3 loss 2.5"), (Hits{{0, 3}, {7, 4}}));
    QCOMPARE(LogSearch("\"5\"").hits("55"), (Hits{{0, 1}, {1, 1}}));
    QVERIFY(LogSearch("").hits("step").empty());
}

void TestLogSearch::severityIsThatOfTheLogger_data() {
    QTest::addColumn<int>("severity");
    QTest::addColumn<QString>("line");
    const auto row = [](Severity severity, const char* line) {
        QTest::newRow(line) << static_cast<int>(severity) << line;
    };
    const auto info = [&](const char* line) { row(Severity::kInfo, line); };
    const auto warning = [&](const char* line) { row(Severity::kWarning, line); };
    const auto error = [&](const char* line) { row(Severity::kError, line); };
    info("");
    info("step 100  loss 3.214");
    info("I1130 06:07:14.123456 41200 main.cpp:12] Error: none, said by a logger as information");
    info("validation error: 0.131");
    info("node-a:41200:41310 [0] NCCL INFO cudaDriverVersion 13000");
    info("TORCH_NCCL_ASYNC_ERROR_HANDLING=3");
    info("2026-11-30 06:07:14,123 INFO trainer: no errors");
    info("INFO:root:WARNING is a level");
    info("Wide ResNet with 50 layers");
    warning("W1130 06:07:14.123456 41200 socket.cpp:12] slow");
    warning("[rank0]:[W1130 06:07:14.123456789 ProcessGroupNCCL.cpp:1538] Warning: slow");
    warning("[W socket.cpp:601] [c10d] The client socket has failed to connect");
    warning("node-a:41200:41310 [0] init.cc:958 NCCL WARN Duplicate GPU detected");
    warning("WARNING:torch.distributed.run:Setting OMP_NUM_THREADS");
    warning("2026-11-30 06:07:14,123 - data - WARNING - slow");
    warning("/usr/lib/python3/x.py:3: UserWarning: The given NumPy array is not writable");
    error("E20261130 06:07:14.123456 41200 main.cpp:12] broken");
    error("[rank3]:[E1130 06:07:14.123456789 ProcessGroupNCCL.cpp:684] [Rank 3] Watchdog caught");
    error("[E ProcessGroupNCCL.cpp:474] [Rank 0] Watchdog caught collective operation timeout");
    error("ERROR:root:broken");
    error("2026-11-30 06:07:14,123 [CRITICAL] broken");
    error("Traceback (most recent call last):");
    error("[rank0]: Traceback (most recent call last):");
    error("RuntimeError: CUDA error: device-side assert triggered");
    error("error: read /data/train: No such file or directory");
    error("terminate called after throwing an instance of 'c10::Error'");
    error("  what():  CUDA out of memory.");
    error("Segmentation fault (core dumped)");
    error("Killed");
}

void TestLogSearch::severityIsThatOfTheLogger() {
    QFETCH(int, severity);
    QFETCH(QString, line);
    QCOMPARE(static_cast<int>(severityOf(line.toStdString())), severity);
}

/// Also of a node that tells its lines later, as its link was down.
void TestLogSearch::linesComeByTheTimeOfTheirNode() {
    StoreFixture store;
    store.createRun("a", "run", 2);
    this->store(store, {{0, "first", kNoon}, {0, "third", kNoon + 20}});
    this->store(store, {{2, "second", kNoon + 10}, {2, "fourth", kNoon + 30}}, 1);
    const LogPage page = store.reader().logTail("a", {}, 10);
    QCOMPARE(textsOf(page), QStringList({"first", "second", "third", "fourth"}));
    QVERIFY(page.isAll);
    QCOMPARE(page.lines[1].node, std::string("node-b"));
    QVERIFY(page.lines[1].isStamped);
    QCOMPARE(page.lines[1].wallNs, kNoon + 10);
    LogChoice choice;
    choice.rank = 2;
    QCOMPARE(textsOf(store.reader().logTail("a", choice, 1)), QStringList("fourth"));
    QStringList all;
    QVERIFY(store.reader().visitLog("a", {}, [&](const LogLine& line) {
        all << QString::fromStdString(line.text);
        return true;
    }));
    QCOMPARE(all, QStringList({"first", "second", "third", "fourth"}));
}

void TestLogSearch::aPageGoesOnWhereTheLastOneEnded() {
    StoreFixture store;
    store.createRun("a");
    std::vector<NewLogLine> lines;
    for (int i = 0; i < 100; ++i) // several of one time
        lines.push_back({i % 2, "line " + std::to_string(i), kNoon + i / 7});
    this->store(store, lines);
    QStringList all;
    int64_t wallNs = 0, id = 0;
    for (bool isAll = false; !isAll;) {
        const LogPage page = store.reader().logFrom("a", {}, wallNs, id, 9);
        QVERIFY(!page.lines.empty());
        all << textsOf(page);
        wallNs = page.lines.back().wallNs;
        id = page.lines.back().id;
        isAll = page.isAll;
    }
    QCOMPARE(all.size(), 100);
    QCOMPARE(all.front(), QString("line 0"));
    QCOMPARE(all.back(), QString("line 99"));
    const LogPage before = store.reader().logBefore("a", {}, kNoon + 2, 0, 3);
    QCOMPARE(textsOf(before), QStringList({"line 11", "line 12", "line 13"}));
    QVERIFY(!before.isAll);
    const LogPage tail = store.reader().logTail("a", {}, 1);
    this->store(store, {{0, "late", kNoon}});
    QCOMPARE(textsOf(store.reader().logAfter("a", {}, tail.lastId, 10)), QStringList("late"));
}

void TestLogSearch::aPageEndsWhereTheLaterOneBegan() {
    StoreFixture store;
    store.createRun("a");
    std::vector<NewLogLine> lines;
    QStringList wanted, all;
    for (int i = 0; i < 100; ++i) { // several of one time, more than a page has
        lines.push_back({i % 2, "line " + std::to_string(i), kNoon + i / 30});
        wanted << QString("line %1").arg(i);
    }
    this->store(store, lines);
    int64_t wallNs = kNoon + 100, id = 0;
    for (bool isAll = false; !isAll;) {
        const LogPage page = store.reader().logBefore("a", {}, wallNs, id, 9);
        QVERIFY(!page.lines.empty());
        all = textsOf(page) + all;
        wallNs = page.lines.front().wallNs;
        id = page.lines.front().id;
        isAll = page.isAll;
    }
    QCOMPARE(all, wanted);
}

void TestLogSearch::searchedLinesAreThoseThatMatch() {
    StoreFixture store;
    store.createRun("a");
    store.createRun("b");
    IngestBatch other = StoreFixture::batch("b", {});
    other.logLines = {{0, "loss of another run", kNoon}};
    StoreFixture::mustBeOk(store.writer().ingest(other));
    this->store(store, {{0, "step 1 loss 3.5", kNoon + 1},
                        {1, "step 1 loss 3.5", kNoon + 2},
                        {0, "saved", kNoon + 3},
                        {0, "step 2 loss 3.4", kNoon + 4}});
    fill(store);
    QCOMPARE(textsOf(store.reader().logTail("a", words("loss"), 10)),
             QStringList({"step 1 loss 3.5", "step 1 loss 3.5", "step 2 loss 3.4"}));
    QCOMPARE(textsOf(store.reader().logTail("a", words("loss"), 1)),
             QStringList("step 2 loss 3.4"));
    QVERIFY(!store.reader().logTail("a", words("loss"), 1).isAll);
    LogChoice choice = words("loss");
    choice.rank = 1;
    QCOMPARE(store.reader().logTail("a", choice, 10).lines.size(), size_t(1));
    choice = words("loss");
    choice.sinceNs = kNoon + 4;
    QCOMPARE(textsOf(store.reader().logFrom("a", choice, 0, 0, 10)),
             QStringList("step 2 loss 3.4"));
    choice.sinceNs = kNoon + 2;
    choice.untilNs = kNoon + 3;
    QCOMPARE(textsOf(store.reader().logTail("a", choice, 10)), QStringList("step 1 loss 3.5"));
    choice.search.clear();
    QCOMPARE(textsOf(store.reader().logTail("a", choice, 10)),
             QStringList({"step 1 loss 3.5", "saved"}));
    QCOMPARE(textsOf(store.reader().logAfter("a", choice, 0, 10)),
             QStringList({"step 1 loss 3.5", "saved"}));
}

void TestLogSearch::onlySevereLinesAreRead() {
    StoreFixture store;
    store.createRun("a");
    this->store(store, {{0, "fine", kNoon},
                        {0, "WARNING: slow", kNoon + 1},
                        {0, "ERROR: broken", kNoon + 2},
                        {0, "fine again", kNoon + 3}});
    LogChoice choice;
    choice.least = Severity::kWarning;
    QCOMPARE(textsOf(store.reader().logTail("a", choice, 10)),
             QStringList({"WARNING: slow", "ERROR: broken"}));
    choice.least = Severity::kError;
    QCOMPARE(textsOf(store.reader().logTail("a", choice, 10)), QStringList("ERROR: broken"));
    choice.search = "slow";
    QVERIFY(store.reader().logTail("a", choice, 10).lines.empty());
}

void TestLogSearch::deletedLinesAreNotFoundAnyMore() {
    StoreFixture store;
    store.createRun("a");
    store.createRun("b");
    this->store(store, {{0, "needle", kNoon}});
    IngestBatch other = StoreFixture::batch("b", {});
    other.logLines = {{0, "needle in another run", kNoon}};
    StoreFixture::mustBeOk(store.writer().ingest(other));
    fill(store);
    StoreFixture::mustBeOk(store.writer().setState("a", RunStateKind::kStopped));
    StoreFixture::mustBeOk(store.writer().setDeleted("a", true));
    QVERIFY(store.writer().purgeDeleted(INT64_MAX));
    QCOMPARE(store.reader().logTail("b", words("needle"), 10).lines.size(), size_t(1));
    execute(store.path(), "INSERT INTO log_text (log_text) VALUES ('integrity-check')");
    SQLite::Database database(store.path().toStdString(), SQLite::OPEN_READONLY);
    QCOMPARE(
        database.execAndGet("SELECT count(*) FROM log_text WHERE log_text MATCH 'needle'").getInt(),
        1);
}

/// As if the first lines had been stored before there was an index of words.
void TestLogSearch::linesOfAnEarlierReleaseAreFoundBeforeAndAfterTheyAreIndexed() {
    StoreFixture store;
    store.createRun("a");
    std::vector<NewLogLine> lines;
    for (int i = 0; i < 2000; ++i)
        lines.push_back(
            {0, (i % 400 == 0 ? "ERROR: old needle " : "old ") + std::to_string(i), kNoon + i});
    this->store(store, lines);
    execute(store.path(), "UPDATE log_search SET unrated = (SELECT max(id) FROM log_line);"
                          "UPDATE log_line SET severity = 0");
    store.reopen();
    this->store(store, {{0, "new needle", kNoon + 9000}});
    LogChoice errors;
    errors.least = Severity::kError;
    bool isMore = true;
    for (int round = 0; isMore && round < 10; ++round) {
        const QStringList found = textsOf(store.reader().logTail("a", words("needle"), 10));
        QCOMPARE(found.size(), 6);
        QCOMPARE(found.front(), QString("ERROR: old needle 0"));
        QCOMPARE(found.back(), QString("new needle"));
        QCOMPARE(store.reader().logTail("a", errors, 10).lines.size(), size_t(5));
        QCOMPARE(store.reader().logTail("a", words("\"eedle 1600\""), 10).lines.size(), size_t(1));
        isMore = *store.writer().fillLogSearch();
    }
    QVERIFY(!isMore);
    QCOMPARE(store.reader().logTail("a", errors, 10).lines.size(), size_t(5));
    execute(store.path(), "INSERT INTO log_text (log_text) VALUES ('integrity-check')");
    SQLite::Database database(store.path().toStdString(), SQLite::OPEN_READONLY);
    QCOMPARE(
        database.execAndGet("SELECT count(*) FROM log_text WHERE log_text MATCH 'old'").getInt(),
        2000);
}

/// The line that stands for what was left out has the id of one that was deleted.
void TestLogSearch::aLogThatIsCutKeepsTheIndexWhole() {
    StoreFixture store;
    store.createRun("a");
    IngestBatch batch = StoreFixture::batch("a", {});
    const auto write = [&](int lines) {
        batch.logLines.clear();
        for (int i = 0; i < lines; ++i)
            batch.logLines.push_back({0, "needle " + std::string(4000, 'x')});
        batch.cursors = {{"log/rank-00000.log", m_written += uint64_t(lines) * 4008}};
        StoreFixture::mustBeOk(store.writer().ingest(batch));
    };
    write(4000);
    fill(store);
    write(1000);
    fill(store);
    const size_t kept = store.reader().logTail("a", words("needle"), 10'000).lines.size();
    QVERIFY(kept > 2000 && kept < 5000);
    QCOMPARE(
        store.reader().logTail("a", words("lines before this one are left out"), 10).lines.size(),
        size_t(1));
    execute(store.path(), "INSERT INTO log_text (log_text) VALUES ('integrity-check')");
}

void TestLogSearch::aLineSaysWhenAndWhere() {
    StoreFixture store;
    store.createRun("a");
    this->store(store, {{1, "stamped", kNoon + 250'000'000}, {0, "not stamped"}});
    std::ostringstream out;
    QCOMPARE(*exportLog(store.reader(), "a", {}, out), int64_t(2));
    const QStringList lines = QString::fromStdString(out.str()).split('\n');
    QVERIFY2(
        QRegularExpression("^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.250  node-a:1  stamped$")
            .match(lines[0])
            .hasMatch(),
        qPrintable(lines[0]));
    QVERIFY2(lines[1].startsWith('~') && lines[1].endsWith("  node-a:0  not stamped"),
             qPrintable(lines[1]));
}

} // namespace rm

QTEST_GUILESS_MAIN(rm::TestLogSearch)
#include "tst_log_search.moc"
