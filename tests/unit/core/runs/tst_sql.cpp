// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/sql.h"
#include "shared/io/file.h"
#include "tests/unit/core/store/store_fixture.h"

#include <QSet>
#include <QTest>

using namespace rm;

namespace {

/// "a|b", as the terminal shows cells.
QString shown(const SqlRow& row) {
    QStringList cells;
    for (const SqlValue& value : row)
        if (const auto* whole = std::get_if<int64_t>(&value))
            cells << QString::number(*whole);
        else if (const auto* number = std::get_if<double>(&value))
            cells << QString::number(*number, 'g', 6);
        else if (const auto* text = std::get_if<std::string>(&value))
            cells << QString::fromStdString(*text);
        else
            cells << "NULL";
    return cells.join('|');
}

} // namespace

class TestSql : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();

    void runsAreRowsWithTheirStateInWords();
    void keysOfRunsAreValues();
    void samplesAreThoseThatWereNotSetAside();
    void samplesOfOneSeriesAreFound();
    void tablesJoinAndCount();
    void eventsAndLogsAreRows();
    void whatWouldChangeSomethingIsRefused_data();
    void whatWouldChangeSomethingIsRefused();
    void aMistakeIsInWords_data();
    void aMistakeIsInWords();
    void rowsEndWhereNoMoreAreWanted();
    void everyTableHasItsColumns();
    void aDatabaseThatIsNotThereIsAnError();

private:
    QStringList answer(const std::string& statement);
    Result<void> run(const std::string& statement) {
        return runSql(m_store.path(), statement,
                      {[](const auto&) {}, [](const SqlRow&) { return true; }});
    }

    StoreFixture m_store;
};

void TestSql::initTestCase() {
    for (const auto& [id, lr] : {std::pair("a", "0.002"), {"b", "0.001"}})
        StoreFixture::mustBeOk(
            m_store.writer().createRun({id,
                                        QString("run ") + id,
                                        std::string("[optimizer]\nlr = ") + lr + "\n",
                                        {{0, "node-a", 2, 0}},
                                        {},
                                        0}));
    std::vector<Record> records{started(1, 0, 0), started(1, 1, 0)};
    for (int64_t step = 1; step <= 20; ++step)
        for (int rank = 0; rank < 2; ++rank)
            records.emplace_back(lossAt(step, static_cast<float>(100 * rank + step), rank));
    // Another attempt goes on from step 10 and comes to 12.
    records.emplace_back(started(2, 0, 10));
    records.emplace_back(started(2, 1, 10));
    for (int64_t step = 11; step <= 12; ++step)
        for (int rank = 0; rank < 2; ++rank)
            records.emplace_back(lossAt(step, static_cast<float>(1000 + step), rank));
    records.emplace_back(
        Event{1, 12, 7'500'000'000, Severity::kWarning, "slow", "rank 1, \"slow\""});
    m_store.ingest("a", std::move(records));
}

QStringList TestSql::answer(const std::string& statement) {
    QStringList rows;
    const auto answered = runSql(m_store.path(), statement,
                                 {[](const auto&) {},
                                  [&rows](const SqlRow& row) {
                                      rows << shown(row);
                                      return true;
                                  }});
    if (!answered)
        rows << QString::fromStdString(answered.error().message);
    return rows;
}

void TestSql::runsAreRowsWithTheirStateInWords() {
    QCOMPARE(
        answer("SELECT id, name, state, ranks, nodes, starred, loss FROM runs ORDER BY id"),
        QStringList({"a|run a|running|2|node-a:2|0|1012", "b|run b|preparing|2|node-a:2|0|NULL"}));
}

void TestSql::keysOfRunsAreValues() {
    QCOMPARE(answer("SELECT id, value(id, 'lr'), value(id, 'max:train/loss'), "
                    "value(id, 'optimizer.type') FROM runs ORDER BY id"),
             QStringList({"a|0.002|1012|adamw", "b|0.001|NULL|adamw"}));
    QCOMPARE(answer("SELECT typeof(value('a', 'seed')), typeof(value('a', 'lr')), "
                    "typeof(value('a', 'optimizer.type'))"),
             QStringList("integer|real|text"));
    QCOMPARE(answer("SELECT value FROM spec WHERE run = 'b' AND key = 'optimizer.lr'"),
             QStringList("0.001"));
    QCOMPARE(answer("SELECT value('nobody', 'lr')"), QStringList("NULL"));
}

void TestSql::samplesAreThoseThatWereNotSetAside() {
    QCOMPARE(answer("SELECT rank, count(*), min(step), max(step), sum(value) FROM samples "
                    "WHERE run = 'a' GROUP BY rank"),
             QStringList({"0|12|1|12|2078", "1|12|1|12|3078"}));
    QCOMPARE(answer("SELECT count(*) FROM samples WHERE run = 'b'"), QStringList("0"));
}

void TestSql::samplesOfOneSeriesAreFound() {
    QCOMPARE(answer("SELECT step, value FROM samples WHERE rank = 1 AND metric = 'train/loss' AND "
                    "run = 'a' AND step BETWEEN 9 AND 11"),
             QStringList({"9|109", "10|110", "11|1011"}));
    QCOMPARE(answer("SELECT count(*) FROM samples WHERE metric = 'train/nothing'"),
             QStringList("0"));
    QCOMPARE(answer("SELECT count(*) FROM samples WHERE rank = 7"), QStringList("0"));
    // Whatever the order and collation of the conditions is.
    QCOMPARE(answer("SELECT count(*) FROM samples WHERE 1 = rank AND metric = 'train/loss' AND "
                    "'a' = run"),
             QStringList("12"));
    QCOMPARE(answer("SELECT count(*) FROM samples WHERE run = 'A' COLLATE NOCASE AND rank = 0"),
             QStringList("12"));
}

void TestSql::tablesJoinAndCount() {
    QCOMPARE(answer("SELECT r.name, count(s.step) FROM runs r LEFT JOIN samples s ON s.run = r.id "
                    "AND s.rank = 0 GROUP BY r.id ORDER BY r.id"),
             QStringList({"run a|12", "run b|0"}));
    QCOMPARE(answer("SELECT count(*) FROM run"), QStringList("2")); // a stored table, too
}

void TestSql::eventsAndLogsAreRows() {
    QCOMPARE(answer("SELECT rank, step, time, severity, code, message FROM events "
                    "WHERE code = 'slow'"),
             QStringList("1|12|7.5|warning|slow|rank 1, \"slow\""));
    QCOMPARE(answer("SELECT attempt, start_step FROM attempts WHERE run = 'a'"),
             QStringList({"1|0", "2|10"}));
    QCOMPARE(answer("SELECT count(*) FROM commands"), QStringList("0"));
    QCOMPARE(answer("SELECT count(*) FROM logs"), QStringList("0"));
    IngestBatch batch = StoreFixture::batch("a", {});
    batch.logLines = {{0, "ERROR: broken", 7'500'000'000}, {1, "fine"}};
    StoreFixture::mustBeOk(m_store.writer().ingest(batch));
    QCOMPARE(answer("SELECT run, rank, time, text, node, severity, stamped FROM logs "
                    "WHERE rank = 0"),
             QStringList("a|0|7.5|ERROR: broken|node-a|error|1"));
    QCOMPARE(answer("SELECT severity, stamped FROM logs WHERE rank = 1"), QStringList("info|0"));
    QCOMPARE(answer("SELECT count(*) FROM checkpoints"), QStringList("0"));
}

void TestSql::whatWouldChangeSomethingIsRefused_data() {
    QTest::addColumn<QByteArray>("statement");
    for (const char* statement :
         {"DELETE FROM run", "UPDATE run SET name = 'x'", "DROP TABLE run",
          "INSERT INTO runs VALUES (1)", "CREATE TABLE x (y)", "PRAGMA journal_mode = DELETE",
          "PRAGMA user_version = 1", "ATTACH '/tmp/ringmaster-other.sqlite' AS other", "VACUUM"})
        QTest::newRow(statement) << QByteArray(statement);
}

void TestSql::whatWouldChangeSomethingIsRefused() {
    QFETCH(QByteArray, statement);
    const std::string all = "SELECT * FROM run ORDER BY id";
    const QStringList before = answer(all);
    const auto log = readFile(m_store.path().toStdString() + "-wal");
    QVERIFY2(!run(statement.toStdString()), statement);
    QCOMPARE(answer(all), before);
    QCOMPARE(readFile(m_store.path().toStdString() + "-wal").value(), log.value());
}

void TestSql::aMistakeIsInWords_data() {
    QTest::addColumn<QByteArray>("statement");
    QTest::addColumn<QByteArray>("named");
    QTest::newRow("syntax") << QByteArray("SELEC 1") << QByteArray("SELEC");
    QTest::newRow("column") << QByteArray("SELECT nothing FROM runs") << QByteArray("nothing");
    QTest::newRow("nothing") << QByteArray("  -- hm") << QByteArray("no statement");
    QTest::newRow("half a second one") << QByteArray("SELECT 1; SELEC") << QByteArray("several");
    QTest::newRow("several") << QByteArray("SELECT 1; SELECT 2") << QByteArray("several");
    QTest::newRow("key") << QByteArray("SELECT value(id, 'lrr') FROM runs") << QByteArray("lrr");
}

void TestSql::aMistakeIsInWords() {
    QFETCH(QByteArray, statement);
    QFETCH(QByteArray, named);
    const auto answered = run(statement.toStdString());
    QVERIFY(!answered);
    QVERIFY2(answered.error().message.find(named.toStdString()) != std::string::npos,
             answered.error().message.c_str());
    QCOMPARE(answered.error().code, ErrorCode::kInvalid);
}

void TestSql::rowsEndWhereNoMoreAreWanted() {
    QCOMPARE(answer("SELECT 1; -- and no more"), QStringList("1"));
    int rows = 0;
    QVERIFY(runSql(m_store.path(), "SELECT * FROM samples",
                   {[](const auto&) {}, [&rows](const SqlRow&) { return ++rows < 3; }}));
    QCOMPARE(rows, 3);
}

void TestSql::everyTableHasItsColumns() {
    QSet<QString> names;
    for (const SqlTable& table : sqlTables()) {
        names << table.name;
        std::vector<std::string> columns;
        QVERIFY(runSql(m_store.path(), std::string("SELECT * FROM ") + table.name,
                       {[&columns](const auto& found) { columns = found; },
                        [&columns](const SqlRow& row) { return row.size() == columns.size(); }}));
        QCOMPARE(QString(table.columns).count(',') + 1, static_cast<qsizetype>(columns.size()));
    }
    QCOMPARE(names.size(), 10);
}

void TestSql::aDatabaseThatIsNotThereIsAnError() {
    const auto answered = runSql(m_store.path() + ".none", "SELECT 1",
                                 {[](const auto&) {}, [](const SqlRow&) { return true; }});
    QVERIFY(!answered);
}

QTEST_GUILESS_MAIN(TestSql)
#include "tst_sql.moc"
