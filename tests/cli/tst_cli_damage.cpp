// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/paths.h"
#include "app/core/store/store_writer.h"
#include "shared/exit_code.h"
#include "tests/cli/own_folders.h"
#include "tests/support/requirement.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

#include <SQLiteCpp/SQLiteCpp.h>
#include <unistd.h>

#include <map>

using namespace rm;

namespace {

constexpr int kPage = 4096;
constexpr int kCorrupt = static_cast<int>(ExitCode::kCorrupt);

QString databasePath() {
    return Paths::fromEnvironment().database();
}

bool writeAll(const QString& path, const QByteArray& bytes) {
    QFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size();
}

/// Whether the error is said once, with what to do.
bool isRefused(const Answer& answer) {
    return answer.exitCode == kCorrupt && answer.err.contains("ringmaster recover") &&
           answer.err.count("ringmaster: ") == 1;
}

} // namespace

/// What a terminal says when its answer cannot be known, or does not go out.
class TestCliDamage : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void aDamagedPageIsNeverAnEmptyList_data();
    void aDamagedPageIsNeverAnEmptyList();
    void nothingIsLaunchedThatIsNotFoundAgain();
    void whatCanBeReadIsBroughtBack();
    void rowsWithoutTheirFileAreNotOverwritten();
    void whatIsStoredOnAReadOnlyDiskIsShown();
    void anAnswerThatDoesNotGoOutIsAnError_data();
    void anAnswerThatDoesNotGoOutIsAnError();

private:
    void damage(int64_t page);

    OwnFolders m_own;
    QByteArray m_good;
    std::map<QString, int64_t> m_rootPages; ///< by table or index
};

/// Two runs, of which one is in the trash, and no file beside the database.
void TestCliDamage::initTestCase() {
    QVERIFY(Paths::fromEnvironment().prepare());
    {
        const auto writer = StoreWriter::open(databasePath());
        QVERIFY2(writer, writer ? "" : writer.error().message.c_str());
        for (const char* id : {"first-000001", "second-000002"}) {
            NewRun run;
            run.id = id;
            run.name = QString(id).section('-', 0, 0);
            run.specToml = "[train]\nsteps = 20\n";
            run.nodes = {{0, "this-computer", 1, 0}};
            QVERIFY((*writer)->createRun(run));
            IngestBatch batch;
            batch.run = run.id;
            batch.records = {AttemptStarted{1, 0, 1, 0, 1, ""}};
            for (int64_t step = 1; step <= 20; ++step)
                batch.records.emplace_back(
                    Samples{0, step, step * 1000, {metric::kTrainLoss}, {1.f}});
            batch.records.emplace_back(AttemptEnded{1, Outcome::kFinished, -1, 0, 10, ""});
            QVERIFY((*writer)->ingest(batch));
        }
        QVERIFY((*writer)->setDeleted("second-000002", true));
    }
    SQLite::Database database(databasePath().toStdString(), SQLite::OPEN_READWRITE);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    SQLite::Statement rows(database, "SELECT name, rootpage FROM sqlite_master WHERE rootpage > 1");
    while (rows.executeStep())
        m_rootPages[QString::fromStdString(rows.getColumn(0).getString())] =
            rows.getColumn(1).getInt64();
    QFile file(databasePath());
    QVERIFY(file.open(QIODevice::ReadOnly));
    m_good = file.readAll();
}

void TestCliDamage::init() {
    QDir folder = QFileInfo(databasePath()).dir();
    for (const QString& name : folder.entryList({"runs.sqlite*"}, QDir::Files))
        QVERIFY(folder.remove(name));
    QVERIFY(writeAll(databasePath(), m_good));
}

void TestCliDamage::damage(int64_t page) {
    QByteArray bytes = m_good;
    bytes.replace((page - 1) * kPage, kPage, QByteArray(kPage, char(0xa5)));
    QVERIFY(writeAll(databasePath(), bytes));
}

void TestCliDamage::aDamagedPageIsNeverAnEmptyList_data() {
    QTest::addColumn<qint64>("page");
    for (const auto& [name, page] : m_rootPages)
        QTest::newRow(qPrintable(name)) << qint64{page};
}

void TestCliDamage::aDamagedPageIsNeverAnEmptyList() {
    QFETCH(qint64, page);
    damage(page);
    const Answer listed = m_own.run({"runs", "--json"});
    const bool isWhole = listed.exitCode == 0 && listed.json().array().size() == 1;
    QVERIFY2(isWhole || (isRefused(listed) &&
                         listed.json().object()["error"].toObject()["code"] == "corrupt"),
             listed.whole());
    const Answer shown = m_own.run({"show", "first"});
    QVERIFY2(isRefused(shown) || (shown.exitCode == 0 && shown.out.contains("step        20")),
             shown.whole());
}

void TestCliDamage::nothingIsLaunchedThatIsNotFoundAgain() {
    for (const char* part : {"run", "sqlite_autoindex_run_1"}) {
        damage(m_rootPages.at(part));
        const Answer launched = m_own.run(longRunWords("third", 50, "this-computer:1"));
        QVERIFY2(isRefused(launched), launched.whole());
        const QDir runs(Paths::fromEnvironment().state + "/runs");
        QVERIFY2(runs.entryList(QDir::Dirs | QDir::NoDotAndDotDot).isEmpty(), part);
    }
}

void TestCliDamage::whatCanBeReadIsBroughtBack() {
    const Answer whole = m_own.run({"recover"});
    QVERIFY2(whole.exitCode == 0 && whole.out.contains("Nothing in it is damaged"), whole.whole());
    damage(m_rootPages.at("sqlite_autoindex_run_1"));
    QVERIFY(isRefused(m_own.run({"show", "first"})));
    const Answer recovered = m_own.run({"recover"});
    QVERIFY2(recovered.exitCode == 0 && recovered.out.contains("2 runs could be read") &&
                 recovered.out.contains("runs.sqlite.damaged"),
             recovered.whole());
    const Answer shown = m_own.run({"show", "first"});
    QVERIFY2(shown.exitCode == 0 && shown.out.contains("step        20"), shown.whole());
}

/// As where a process that had the file open was killed after the file was deleted.
void TestCliDamage::rowsWithoutTheirFileAreNotOverwritten() {
    const QString rest = databasePath() + "-wal";
    for (const bool isEmpty : {false, true}) {
        QVERIFY(QFile::remove(databasePath()));
        if (isEmpty)
            QVERIFY(writeAll(databasePath(), {}));
        QVERIFY(writeAll(rest, QByteArray(5000, 'x')));
        const Answer listed = m_own.run({"runs"});
        QVERIFY2(listed.exitCode == kCorrupt && listed.err.contains("still has what came last") &&
                     listed.out.isEmpty(),
                 listed.whole());
        QCOMPARE(QFileInfo(rest).size(), 5000);
        QVERIFY(writeAll(databasePath(), {}));
    }
}

/// As a disk that was mounted to look at what another computer had.
void TestCliDamage::whatIsStoredOnAReadOnlyDiskIsShown() {
    RM_NEEDS("root", ::geteuid() == 0, QString("nobody else may mount"));
    const auto answerOf = [this](const QStringList& words) {
        QProcess process;
        process.start("unshare",
                      QStringList{"--mount", "sh", "-c",
                                  "mount --bind \"$0\" \"$0\" && mount -o remount,ro,bind \"$0\" "
                                  "&& exec \"$@\"",
                                  m_own.path({}),
                                  qEnvironmentVariable("RINGMASTER_BIN") + "/ringmaster"} +
                          words);
        Answer answer;
        if (process.waitForFinished() && process.exitStatus() == QProcess::NormalExit)
            answer.exitCode = process.exitCode();
        answer.out = process.readAllStandardOutput();
        answer.err = process.readAllStandardError();
        return answer;
    };
    for (const auto& [words, said] : {std::pair(QStringList{"runs"}, "first-000001"),
                                      {{"show", "first"}, "step        20"},
                                      {{"export", "first"}, "train/loss"},
                                      {{"commands", "first"}, ""},
                                      {{"sql", "SELECT 'so ' || step FROM runs"}, "so 20"},
                                      {{"logs", "first"}, ""}}) {
        const Answer answer = answerOf(words);
        QVERIFY2(answer.exitCode == 0 && answer.out.contains(said) &&
                     answer.err.contains("is read-only, so that no node is asked") &&
                     answer.err.count('\n') == 1,
                 answer.whole());
    }
    const Answer changed = answerOf({"rename", "first", "other"});
    QVERIFY2(changed.exitCode != 0 && changed.err.contains("Read-only file system"),
             changed.whole());
}

void TestCliDamage::anAnswerThatDoesNotGoOutIsAnError_data() {
    QTest::addColumn<QStringList>("words");
    for (const char* words :
         {"runs", "runs --json", "show first", "show first --json", "checkpoints first --json",
          "nodes list --json", "recipes", "help launch", "trash", "--version", "runs --help"})
        QTest::newRow(words) << QString(words).split(' ');
}

void TestCliDamage::anAnswerThatDoesNotGoOutIsAnError() {
    QFETCH(QStringList, words);
    QProcess process;
    process.setStandardOutputFile("/dev/full");
    process.start(qEnvironmentVariable("RINGMASTER_BIN") + "/ringmaster", words);
    QVERIFY(process.waitForFinished(60000));
    const QByteArray said = process.readAllStandardError();
    QVERIFY2(process.exitCode() == static_cast<int>(ExitCode::kExhausted) &&
                 said.contains("print the answer: No space left on device"),
             said);
}

QTEST_GUILESS_MAIN(TestCliDamage)
#include "tst_cli_damage.moc"
