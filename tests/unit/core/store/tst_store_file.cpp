// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/fleet.h"
#include "app/core/settings/paths.h"
#include "app/core/store/recover.h"
#include "app/core/store/schema.h"
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "tests/support/requirement.h"
#include "tests/support/small_disk.h"
#include "tests/unit/core/store/store_fixture.h"

#include <QFile>
#include <QFileInfo>

#include <sys/stat.h>
#include <unistd.h>

namespace rm {

namespace {

QString golden(int version = 1) {
    return qEnvironmentVariable("RINGMASTER_SOURCE") +
           QString("/tests/unit/core/store/golden_v%1.sqlite").arg(version);
}

int modeOf(const QString& path) {
    struct stat info {};
    return ::stat(path.toLocal8Bit(), &info) == 0 ? static_cast<int>(info.st_mode & 0777) : -1;
}

void execute(const QString& path, const std::string& sql) {
    SQLite::Database(path.toStdString(), SQLite::OPEN_READWRITE).exec(sql);
}

int64_t countIn(const QString& path, const std::string& table) {
    SQLite::Database database(path.toStdString(), SQLite::OPEN_READONLY);
    return database.execAndGet("SELECT count(*) FROM " + table).getInt64();
}

std::string integrityOf(const QString& path) {
    SQLite::Database database(path.toStdString(), SQLite::OPEN_READONLY);
    return database.execAndGet("PRAGMA integrity_check").getString();
}

int64_t orphansIn(const QString& path) {
    SQLite::Database database(path.toStdString(), SQLite::OPEN_READONLY);
    return database
        .execAndGet("SELECT (SELECT count(*) FROM pragma_foreign_key_check) + "
                    "(SELECT count(*) FROM event WHERE run NOT IN (SELECT id FROM run))")
        .getInt64();
}

/// Whether the writer will rate all lines of logs.
bool areAllUnrated(const QString& path) {
    SQLite::Database database(path.toStdString(), SQLite::OPEN_READONLY);
    return database
               .execAndGet("SELECT unrated = (SELECT coalesce(max(id), 0) FROM log_line) "
                           "FROM log_search")
               .getInt() == 1;
}

/// Overwrites what a file holds from there on.
void overwrite(const QString& path, int64_t from, int64_t bytes) {
    QFile file(path);
    if (!file.open(QIODevice::ReadWrite) || !file.seek(from) ||
        file.write(QByteArray(bytes, char(0xa5))) != bytes)
        qFatal("%s", qPrintable(file.errorString()));
}

QByteArray bytesOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// Makes a database of two runs, all in one file: the page of their table.
int makeStore(const QString& path) {
    {
        auto writer = std::move(*StoreWriter::open(path));
        for (const char* id : {"a", "b"}) {
            NewRun run;
            run.id = id;
            run.name = id;
            run.specToml = "[train]\nsteps = 300\n";
            run.nodes = {{0, "node-a", 2, 0}};
            StoreFixture::mustBeOk(writer->createRun(run));
            std::vector<Record> records{started(1, 0, 0), started(1, 1, 0)};
            for (int64_t step = 1; step <= 300; ++step)
                for (const int rank : {0, 1})
                    records.push_back(lossAt(step, 1.f / float(step), rank));
            records.push_back(Event{1, 7, 5, Severity::kWarning, "data-skipped", "skipped"});
            records.push_back(CheckpointSaved{300, 7, "/c/step-000000300", 1, 4.5, "end", 2, true});
            IngestBatch batch = StoreFixture::batch(id, std::move(records));
            batch.logLines = {{1, "a line"}};
            batch.cursors = {{"journal/rank-00000.rmj", 4711}};
            StoreFixture::mustBeOk(writer->ingest(batch));
        }
        writer->checkpointWal();
    }
    SQLite::Database database(path.toStdString(), SQLite::OPEN_READWRITE);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return database.execAndGet("SELECT rootpage FROM sqlite_master WHERE name = 'run'").getInt();
}

RecoveredStore mustRecover(const QString& path) {
    const auto done = recoverStore(path);
    if (!done)
        qFatal("%s", done.error().message.c_str());
    return *done;
}

} // namespace

class TestStoreFile : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void secondWriterIsRefusedByPid() {
        StoreFixture store;
        const auto second = StoreWriter::open(store.path());
        QVERIFY(!second);
        QCOMPARE(second.error().code, ErrorCode::kUnavailable);
        const std::string pid = "pid " + std::to_string(::getpid());
        QVERIFY2(second.error().message.find(pid) != std::string::npos,
                 second.error().message.c_str());
    }

    void readerWithoutADatabaseIsToldSo() {
        QTemporaryDir folder;
        const auto reader = StoreReader::open(folder.filePath("none.sqlite"));
        QVERIFY(!reader);
        QCOMPARE(reader.error().code, ErrorCode::kNotFound);
        QVERIFY(!QFile::exists(folder.filePath("none.sqlite")));
    }

    void writerMakesMissingFolders() {
        QTemporaryDir folder;
        QVERIFY(StoreWriter::open(folder.filePath("a/b/runs.sqlite")));
        QVERIFY(!StoreWriter::open("/proc/none/runs.sqlite"));
    }

    void whatIsKeptIsForItsOwnerAlone() {
        const mode_t before = ::umask(022);
        const auto reset = qScopeGuard([before] { ::umask(before); });
        QTemporaryDir home;
        const Paths paths{home.filePath("config"), home.filePath("data"), home.filePath("state"),
                          home.filePath("cache")};
        const QStringList parts = {paths.database(), paths.database() + "-wal",
                                   paths.database() + "-shm", paths.database() + ".lock"};
        QVERIFY(paths.prepare());
        {
            const auto writer = StoreWriter::open(paths.database());
            QVERIFY(writer && (*writer)->createRun({"a", "a", "name = \"a\"\n", {}, {}, 0}));
            for (const QString& part : parts)
                QCOMPARE(modeOf(part), 0600);
        }
        // As releases before this one made them.
        QFile settings(paths.config + "/settings.ini");
        QVERIFY(settings.open(QIODevice::WriteOnly));
        settings.close();
        for (const QString& folder : {paths.config, paths.data})
            QCOMPARE(::chmod(folder.toLocal8Bit(), 0755), 0);
        for (const QString& file : {settings.fileName(), parts[0], parts[3]})
            QCOMPARE(::chmod(file.toLocal8Bit(), 0644), 0);
        {
            const auto writer = StoreWriter::open(paths.database());
            QVERIFY(writer && (*writer)->createRun({"b", "b", "name = \"b\"\n", {}, {}, 0}));
            for (const QString& part : parts)
                QCOMPARE(modeOf(part), 0600);
        }
        QVERIFY(paths.prepare());
        QCOMPARE(modeOf(settings.fileName()), 0600);
        for (const QString& folder : {paths.config, paths.data, paths.state, paths.cache})
            QCOMPARE(modeOf(folder), 0700);
        Fleet fleet(paths.config, paths.state);
        QVERIFY(fleet.add({"box", false, "box.example", {}, 0, {}}));
        QCOMPARE(modeOf(paths.config + "/nodes.toml"), 0600);
    }

    void newerSchemaIsRefusedByName() {
        QTemporaryDir folder;
        const QString path = folder.filePath("runs.sqlite");
        QVERIFY(StoreWriter::open(path));
        execute(path, "PRAGMA user_version = 99; "
                      "UPDATE about SET value = '7.8.9' WHERE key = 'release'");
        for (const Error& error :
             {StoreWriter::open(path).error(), StoreReader::open(path).error()}) {
            QCOMPARE(error.code, ErrorCode::kTooNew);
            QVERIFY2(error.message.find("7.8.9") != std::string::npos, error.message.c_str());
        }
    }

    void foreignFilesAreLeftAlone() {
        QTemporaryDir folder;
        const QString foreign = folder.filePath("foreign.sqlite");
        SQLite::Database(foreign.toStdString(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
            .exec("CREATE TABLE theirs (x)");
        QCOMPARE(StoreWriter::open(foreign).error().code, ErrorCode::kInvalid);
        const QString text = folder.filePath("text.sqlite");
        QFile file(text);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray(5000, 'x'));
        file.close();
        const Error error = StoreWriter::open(text).error();
        QCOMPARE(error.code, ErrorCode::kCorrupt);
        QVERIFY2(error.message.find("move it away") != std::string::npos, error.message.c_str());
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), QByteArray(5000, 'x'));
    }

    /// Each page in turn is overwritten, as by a disk that fails.
    void damageIsNeverAnEmptyAnswerAndIsRecoveredFrom() {
        QTemporaryDir folder;
        const QString good = folder.filePath("good.sqlite");
        const int runPage = makeStore(good);
        constexpr int kPage = 4096;
        const auto pages = static_cast<int>(QFileInfo(good).size() / kPage);
        QVERIFY(pages > 30);
        QCOMPARE(mustRecover(good).wasDamaged, false);
        int withoutRuns = 0, unused = 0;
        for (int page = 1; page <= pages; ++page) {
            const QString path = folder.filePath(QString("page-%1.sqlite").arg(page));
            QVERIFY(QFile::copy(good, path));
            // The first page also holds the header of the file, which is another case.
            overwrite(path, int64_t{page - 1} * kPage + (page == 1 ? 100 : 0),
                      kPage - (page == 1 ? 100 : 0));
            const QByteArray damaged = bytesOf(path), what = "page " + QByteArray::number(page);
            const auto done = recoverStore(path);
            QVERIFY2(done, what + ": " + (done ? "" : done.error().message.c_str()));
            QVERIFY2(done->lostTables.empty(), what);
            QVERIFY2(!QFile::exists(path + ".tables"), what);
            unused += done->wasDamaged ? 0 : 1;
            if (!done->wasDamaged)
                continue;
            QVERIFY2(bytesOf(done->kept) == damaged, what);
            QVERIFY2(integrityOf(path) == "ok", what);
            QVERIFY2(done->runs == (page == runPage ? 0 : 2), what);
            withoutRuns += page == runPage ? 1 : 0;
            QVERIFY2(orphansIn(path) == 0, what);
            QVERIFY2(areAllUnrated(path), what);
            auto writer = StoreWriter::open(path);
            QVERIFY2(writer, what);
            const auto reader = std::move(*StoreReader::open(path));
            QCOMPARE(reader->runs().size(), size_t(done->runs));
            if (done->runs > 0)
                StoreFixture::mustBeOk(
                    (*writer)->ingest(StoreFixture::batch("a", {lossAt(301, 1)})));
        }
        QCOMPARE(withoutRuns, 1);
        QVERIFY2(unused <= 3, qPrintable(QString::number(unused)));
    }

    /// What says where the tables lie is gone, and the tables lie elsewhere than in a new database.
    void tablesAreFoundWithoutTheTableOfTables() {
        QTemporaryDir folder;
        const QString path = folder.filePath("runs.sqlite");
        makeStore(path);
        execute(path, "CREATE TABLE kept AS SELECT * FROM event; DROP TABLE kept; VACUUM; "
                      "PRAGMA wal_checkpoint(TRUNCATE)");
        const int64_t events = countIn(path, "event");
        overwrite(path, 100, 4096 - 100);
        const auto done = recoverStore(path);
        QVERIFY2(done, done ? "" : done.error().message.c_str());
        QCOMPARE(done->runs, 2);
        QCOMPARE(countIn(path, "event"), events);
    }

    void whatIsNoDatabaseOfOursIsNotRecovered() {
        QTemporaryDir folder;
        const QString path = folder.filePath("runs.sqlite");
        SQLite::Database(path.toStdString(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
            .exec("CREATE TABLE theirs (x)");
        overwrite(path, 100, 4096 - 100);
        const QByteArray before = bytesOf(path);
        const auto done = recoverStore(path);
        QVERIFY(!done && done.error().code == ErrorCode::kCorrupt);
        QCOMPARE(bytesOf(path), before);
    }

    void aFileThatWasCutIsRecoveredFrom() {
        QTemporaryDir folder;
        const QString good = folder.filePath("good.sqlite");
        makeStore(good);
        for (const int64_t cut : {int64_t{4096}, int64_t{QFileInfo(good).size() / 4}}) {
            const QString path = folder.filePath(QString("cut-%1.sqlite").arg(cut));
            QVERIFY(QFile::copy(good, path));
            QVERIFY(QFile::resize(path, QFileInfo(good).size() - cut));
            const auto done = recoverStore(path);
            QVERIFY2(done, done ? "" : done.error().message.c_str());
            QVERIFY(done->wasDamaged);
            QCOMPARE(done->runs, 2);
            QCOMPARE((*StoreReader::open(path))->runs().size(), size_t(2));
        }
    }

    void anEmptyFileIsNoNewDatabase() {
        QTemporaryDir folder;
        const QString path = folder.filePath("runs.sqlite");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.close();
        for (const Error& error : {StoreWriter::open(path).error(), recoverStore(path).error()}) {
            QCOMPARE(error.code, ErrorCode::kCorrupt);
            QVERIFY2(error.message.find("the file is empty") != std::string::npos,
                     error.message.c_str());
        }
        QCOMPARE(QFileInfo(path).size(), qint64(0));
    }

    void rowsBetweenDamagedPagesAreRecovered_data() {
        QTest::addColumn<QList<int>>("percent");
        QTest::newRow("within") << QList<int>{25, 50, 75};
        QTest::newRow("first and last") << QList<int>{0, 100};
        QTest::newRow("one and the last") << QList<int>{25, 100};
        QTest::newRow("neighbours") << QList<int>{50, 51, 52};
    }

    void rowsBetweenDamagedPagesAreRecovered() {
        QFETCH(QList<int>, percent);
        QTemporaryDir folder;
        const QString path = folder.filePath("runs.sqlite");
        makeStore(path);
        execute(path, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                      "WHERE i < 20000) INSERT INTO event (run, attempt, node, rank, step, "
                      "wall_ns, severity, code, message) SELECT 1, 1, 0, -1, i, i, 0, 'many', "
                      "'an event' FROM n; PRAGMA wal_checkpoint(TRUNCATE)");
        std::vector<int64_t> pages;
        {
            SQLite::Database database(path.toStdString(), SQLite::OPEN_READONLY);
            SQLite::Statement leaves(database, "SELECT pageno FROM dbstat WHERE name = 'event' "
                                               "AND pagetype = 'leaf' ORDER BY pageno");
            while (leaves.executeStep())
                pages.push_back(leaves.getColumn(0).getInt64());
        }
        QVERIFY(pages.size() > 100);
        for (const int at : percent)
            overwrite(path, (pages[(pages.size() - 1) * size_t(at) / 100] - 1) * 4096, 4096);
        QVERIFY(mustRecover(path).wasDamaged);
        SQLite::Database database(path.toStdString(), SQLite::OPEN_READONLY);
        const int64_t found =
            database.execAndGet("SELECT count(*) FROM event WHERE code = 'many'").getInt64();
        const int64_t aPage = 20000 / static_cast<int64_t>(pages.size()) + 1;
        QVERIFY2(found >= 20000 - (percent.size() + 1) * aPage, qPrintable(QString::number(found)));
    }

    void aDatabaseThatIsOpenIsNotRecovered() {
        QTemporaryDir folder;
        const QString path = folder.filePath("runs.sqlite");
        const auto writer = StoreWriter::open(path);
        QVERIFY(writer);
        QCOMPARE(recoverStore(path).error().code, ErrorCode::kUnavailable);
        QCOMPARE(recoverStore(folder.filePath("none")).error().code, ErrorCode::kNotFound);
    }

    void goldenDatabasesOpen_data() {
        QTest::addColumn<int>("version");
        for (const int version : {1, 3})
            QTest::addRow("schema %d", version) << version;
    }

    void goldenDatabasesOpen() {
        QFETCH(int, version);
        QTemporaryDir folder;
        const QString path = folder.filePath("runs.sqlite");
        QVERIFY(QFile::copy(golden(version), path));
        QFile::setPermissions(path, QFile::ReadOwner | QFile::WriteOwner);
        auto writer = StoreWriter::open(path);
        QVERIFY2(writer, writer ? "" : writer.error().message.c_str());
        const auto reader = std::move(*StoreReader::open(path));
        const RunSummary run = *reader->resolve("golden");
        QCOMPARE(run.state, RunStateKind::kFailed);
        QCOMPARE(run.message, "rank 1 on node-a: killed by SIGKILL at step 5000");
        QVERIFY(!run.isStarred && !run.isArchived); // of before there were marks
        const auto points = reader->points(run.id, {"train/loss", 0});
        QCOMPARE(points.size(), size_t(5000));
        for (size_t i = 0; i < points.size(); ++i)
            QCOMPARE(points[i].value, 1.f / float(i + 1));
        QCOMPARE(reader->buckets(run.id, {"train/loss", 0}, 0, INT64_MAX, 1).at(0).count,
                 int64_t(5000));
        QCOMPARE(reader->events(run.id).size(), size_t(1));
        QCOMPARE(reader->checkpoints(run.id).size(), size_t(1));
        QVERIFY(QFile::exists(path + QString(".v%1.backup").arg(version)));
        QCOMPARE(reader->commands(run.id).size(), size_t(1));
        const auto requested = reader->requestedCommands(run.id);
        QCOMPARE(requested.size(), size_t(1));
        QCOMPARE(requested[0].by.from, RequestedFrom::kElsewhere);
        QCOMPARE(requested[0].state, RequestedState::kApplied);
        QVERIFY(reader->openCommands(run.id).empty());
        QCOMPARE(reader->samples(run.id).size(), size_t(1));
        QCOMPARE(reader->log(run.id, -1, 0, 10).size(), size_t(1));
        QCOMPARE(reader->cursors(run.id, 0).size(), size_t(1));
        QVERIFY((*writer)->ingest(StoreFixture::batch(run.id, {lossAt(5001, 1)})));
        QCOMPARE(reader->points(run.id, {"train/loss", 0}).size(), size_t(5001));
    }

    void upgradeCopiesTheOldFileFirst() {
        QTemporaryDir folder;
        const QString path = folder.filePath("runs.sqlite");
        QVERIFY(QFile::copy(golden(), path));
        QFile::setPermissions(path, QFile::ReadOwner | QFile::WriteOwner);
        auto steps = schemaSteps();
        const int newest = steps.back().version;
        QVERIFY(StoreWriter::open(path)); // the golden one is of the first version
        QVERIFY(QFile::exists(path + ".v1.backup"));
        steps.push_back({newest + 1, "CREATE TABLE later (x); INSERT INTO later VALUES (5);"});
        {
            Database database(path.toStdString(), SQLite::OPEN_READWRITE);
            StoreFixture::mustBeOk(upgradeSchema(database, path.toStdString(), steps));
            QCOMPARE(database.connection().execAndGet("SELECT x FROM later").getInt(), 5);
        }
        QCOMPARE(StoreReader::open(path).error().code, ErrorCode::kTooNew);
        const QString backup = path + QString(".v%1.backup").arg(newest);
        const auto reader = StoreReader::open(backup);
        QVERIFY2(reader, reader ? "" : reader.error().message.c_str());
        QCOMPARE((*reader)->points("golden", {"train/loss", 0}).size(), size_t(5000));
    }

    void failedUpgradeChangesNothing() {
        QTemporaryDir folder;
        const QString path = folder.filePath("runs.sqlite");
        QVERIFY(StoreWriter::open(path));
        auto steps = schemaSteps();
        const int newest = steps.back().version;
        steps.push_back({newest + 1, "CREATE TABLE later (x); CREATE TABLE run (y);"});
        {
            Database database(path.toStdString(), SQLite::OPEN_READWRITE);
            QVERIFY(!upgradeSchema(database, path.toStdString(), steps));
            QVERIFY(!database.connection().tableExists("later"));
        }
        QVERIFY(StoreWriter::open(path));
    }

    void fullDiskRollsBackAndHealsByItself() {
        const QTemporaryDir folder;
        const SmallDisk disk(folder.path(), "3m");
        RM_NEEDS("root", disk.isMounted(), disk.error());
        const QString path = disk.filePath("runs.sqlite");
        auto writer = std::move(*StoreWriter::open(path));
        NewRun run;
        run.id = "a";
        run.nodes = {{0, "node-a", 1, 0}};
        StoreFixture::mustBeOk(writer->createRun(run));
        disk.fill();
        std::vector<Record> records{started(1, 0, 0)};
        for (int64_t step = 1; step <= 20000; ++step)
            records.push_back(lossAt(step, float(step)));
        IngestBatch batch = StoreFixture::batch("a", records);
        batch.cursors = {{"journal/rank-00000.rmj", 1000}};
        batch.previous = {{"journal/rank-00000.rmj", 0}};
        const auto full = writer->ingest(batch);
        QVERIFY(!full);
        QVERIFY2(full.error().code == ErrorCode::kExhausted, full.error().message.c_str());
        QVERIFY2(full.error().message.ends_with(": this computer's disk is full: make room at " +
                                                QFileInfo(path).path().toStdString()),
                 full.error().message.c_str());
        disk.empty();
        const auto reader = std::move(*StoreReader::open(path));
        QVERIFY(reader->points("a", {"train/loss", 0}).empty());
        QVERIFY(reader->cursors("a", 0).empty());
        StoreFixture::mustBeOk(writer->ingest(batch));
        QCOMPARE(reader->points("a", {"train/loss", 0}).size(), size_t(20000));
        writer->checkpointWal();
        QCOMPARE(integrityOf(path), std::string("ok"));
    }

    /// SQLite says "disk I/O error", as it has no room for its -shm. What is stored can be read.
    void openingOnAFullDiskSaysWhichDisk() {
        const QTemporaryDir folder;
        const SmallDisk disk(folder.path(), "3m");
        RM_NEEDS("root", disk.isMounted(), disk.error());
        const QString path = disk.filePath("runs.sqlite");
        {
            const auto writer = StoreWriter::open(path);
            QVERIFY(writer);
            StoreFixture::mustBeOk((*writer)->createRun({"a", "a", "", {{0, "n", 1, 0}}, {}, 0}));
            (*writer)->checkpointWal();
        }
        QVERIFY(!StoreWriter::isHeld(path));
        disk.fill();
        const auto writer = StoreWriter::open(path);
        const auto reader = StoreReader::open(path);
        QVERIFY(!writer);
        const Error& error = writer.error();
        QVERIFY2(error.code == ErrorCode::kExhausted, error.message.c_str());
        QVERIFY2(error.message.ends_with(": this computer's disk is full: make room at " +
                                         QFileInfo(path).path().toStdString()),
                 error.message.c_str());
        QVERIFY2(reader, reader ? "" : reader.error().message.c_str());
        QCOMPARE((*reader)->runs().size(), size_t(1));
        disk.empty();
        const auto again = StoreWriter::open(path);
        QVERIFY2(again, again ? "" : again.error().message.c_str());
        QVERIFY(StoreWriter::isHeld(path));
    }
};

} // namespace rm

QTEST_GUILESS_MAIN(rm::TestStoreFile)
#include "tst_store_file.moc"
