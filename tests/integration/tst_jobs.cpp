// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/earlier_run.h"
#include "app/core/store/store_reader.h"
#include "shared/checkpoint/manifest.h"
#include "tests/integration/run_facts.h"
#include "tests/integration/testbed.h"
#include "tests/support/own_files.h"
#include "tests/support/requirement.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

#include <bit>
#include <csignal>
#include <set>

using namespace rm;

namespace {

constexpr int kRanks = 4;
constexpr int kLongMs = 180000;
constexpr int kFewestCatalogues = 15; // half of what packaging/debian-packages.txt brings
const QStringList kBothNodes = {"--node", "node-a:2", "--node", "node-b:2"};
const QString kIcons = "/usr/share/icons/oxygen/base/48x48";
const QDir kCatalogues("/usr/share/locale/it/LC_MESSAGES");

QStringList set(const QStringList& settings) {
    QStringList words;
    for (const QString& setting : settings)
        words << "--set" << setting;
    return words;
}

/// The largest catalogue that has not too many sentences for a test: an epoch of it is short.
QString smallCatalogue() {
    constexpr qint64 kMostBytes = 60000;
    QString largest;
    qint64 bytes = 0;
    for (const QFileInfo& file : kCatalogues.entryInfoList({"*.mo"}, QDir::Files, QDir::Name))
        if (file.size() > bytes && file.size() <= kMostBytes) {
            bytes = file.size();
            largest = file.filePath();
        }
    return largest;
}

std::set<int64_t> stepsOf(const QString& database, const QString& run, const std::string& metric) {
    std::set<int64_t> steps;
    for (const Point& point : pointsOf(database, run, metric, 0))
        steps.insert(point.step);
    return steps;
}

} // namespace

/// The jobs that people bring, by the recipes as they are shipped: two nodes behind sshd with one
/// drive, two ranks each. Only the number of steps is cut, and of the translation the sentences, as
/// two processors carry four ranks. The functions build on one another, in order.
class tst_jobs : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void aTranslationValidatesAtEachEpochsEnd();
    void aSecondLaunchIntoItsFolderIsRefusedByName();
    void aRunThatEndedEarlyIsResumedByOneKey_data();
    void aRunThatEndedEarlyIsResumedByOneKey();
    void otherSettingsMakeARunThatGoesOnFromThere();
    void aRunThatIsNotKnownHereIsGoneOnFrom();
    void aTranslationTakesAFixedNumberOfSentencesAsWell();
    void aResNetTrainsOnStagedPicturesWithSynchronizedNorms();
    void languageModelsTrain_data();
    void languageModelsTrain();

private:
    const Cli& cli() const { return m_bed->laptop(); }
    QString database() const { return cli().database(); }
    QString folder() const { return m_bed->drive() + "/translation"; }
    QStringList translation(const QStringList& settings) const;
    CliResult runToEnd(const Cli& cli, const QStringList& words) const;
    void verifyWhole(const QString& run, int64_t first, int64_t last) const;
    QStringList wholeCheckpoints(const QString& run) const;
    QByteArray earlierReport(const QString& database, const QString& run) const;

    std::unique_ptr<Testbed> m_bed;
    QString m_run; ///< the translation
};

/// The words that launch it, with the folder that all nodes see.
QStringList tst_jobs::translation(const QStringList& settings) const {
    return QStringList{"run", "translation-tiny"} +
           set(QStringList{"data.train=[\"" + smallCatalogue() + "\"]", "schedule.warmup_steps=5",
                           "checkpoint.directory=" + folder()} +
               settings) +
           kBothNodes;
}

CliResult tst_jobs::runToEnd(const Cli& cli, const QStringList& words) const {
    return cli.run(words + QStringList{"--wait", "--json"}, kLongMs);
}

/// Each step of each rank once, with the same gradient norm on all of them, which is that of the
/// sum: bit by bit.
void tst_jobs::verifyWhole(const QString& run, int64_t first, int64_t last) const {
    const auto summary = findRun(database(), run);
    QVERIFY(summary);
    QCOMPARE(summary->state, RunStateKind::kFinished);
    QCOMPARE(summary->step, last);
    QCOMPARE(summary->totalSteps, last);
    QCOMPARE(flawIn(stepsInStore(database(), run, "train/loss"), kRanks, first, last),
             QByteArray());
    const auto norms = pointsOf(database(), run, "train/grad_norm", 0);
    QCOMPARE(int64_t(norms.size()), last - first + 1);
    for (int rank = 1; rank < kRanks; ++rank) {
        const auto others = pointsOf(database(), run, "train/grad_norm", rank);
        QVERIFY(std::ranges::equal(others, norms, [](const Point& a, const Point& b) {
            return a.step == b.step && a.value == b.value;
        }));
    }
}

/// Those in the run's folder on the drive, every byte of which is compared.
QStringList tst_jobs::wholeCheckpoints(const QString& run) const {
    QStringList names;
    const QDir at(m_bed->driveFolder() + "/translation/" + run);
    for (const QString& name : at.entryList({"step-*"}, QDir::Dirs, QDir::Name))
        if (verifyCheckpoint(at.filePath(name).toStdString()))
            names << name;
    return names;
}

QByteArray tst_jobs::earlierReport(const QString& database, const QString& run) const {
    const auto reader = StoreReader::open(database);
    if (!reader)
        return {};
    for (const StoredEvent& each : (*reader)->events(run)) // newest first
        if (each.event.code == kEarlierRunEvent)
            return QByteArray::fromStdString(each.event.message);
    return {};
}

void tst_jobs::initTestCase() {
    auto can = Testbed::canRun();
    if (can)
        can = canMountOwnFiles();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    RM_NEEDS("icons", QDir(kIcons).exists(), "the Debian package oxygen-icon-theme");
    RM_NEEDS("catalogues", kCatalogues.entryList({"*.mo"}).size() >= kFewestCatalogues,
             "packaging/debian-packages.txt names packages with Italian messages");
    Testbed::Options options;
    options.sharesDrive = true;
    options.seeded = true;
    auto bed = Testbed::create("jobs", options);
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
    const auto added = m_bed->addNodes(cli());
    QVERIFY2(added, added ? "" : added.error().message.c_str());
}

void tst_jobs::cleanup() {
    if (m_bed && QTest::currentTestFailed())
        qInfo("%s", m_bed->reportAndClean(nullptr).constData());
    if (m_bed)
        QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 20000);
}

void tst_jobs::aTranslationValidatesAtEachEpochsEnd() {
    const CliResult done =
        runToEnd(cli(), translation({"train.epochs=2", "checkpoint.on_existing=resume"}));
    QVERIFY2(done.exitCode == 0, done.whole());
    const auto run = newestRun(database());
    QVERIFY(run);
    m_run = run->id;
    verifyWhole(m_run, 1, run->totalSteps);
    QVERIFY(earlierReport(database(), m_run).endsWith("it begins from scratch"));
    for (const char* figure : {"loss", "bleu", "cer", "wer"}) {
        const auto steps = stepsOf(database(), m_run, std::string("validation/") + figure);
        QVERIFY2(steps.size() == 2 && *steps.rbegin() == run->totalSteps, figure);
        // The first epoch ended in the middle, to a step.
        QVERIFY2(std::abs(2 * *steps.begin() - run->totalSteps) <= 1, figure);
    }
    QVERIFY(QDir(m_bed->drive()).isEmpty()); // the laptop does not see the drive
    QCOMPARE(wholeCheckpoints(m_run).size(), 2);
}

void tst_jobs::aSecondLaunchIntoItsFolderIsRefusedByName() {
    const auto runs = [this] { return cli().run({"runs", "--json"}).json().array().size(); };
    const auto before = runs();
    const CliResult refused = cli().run(QStringList{"run", "gpt-tiny"} +
                                        set({"checkpoint.directory=" + folder()}) + kBothNodes);
    QVERIFY2(refused.exitCode != 0, refused.whole());
    const QString owner = "checkpoints of the run \"translation-tiny\" (" + m_run + ")";
    for (const QString& words : {QString("launch on node-a"), owner, QString("resume that run"),
                                 QString("checkpoint.on_existing")})
        QVERIFY2(refused.err.contains(words.toUtf8()), refused.whole());
    // Not by its key either, as it is no run of that name.
    const CliResult other = cli().run(
        QStringList{"run", "gpt-tiny"} +
        set({"checkpoint.directory=" + folder(), "checkpoint.on_existing=resume"}) + kBothNodes);
    QVERIFY2(other.exitCode != 0 && other.err.contains("none of a run called \"gpt-tiny\""),
             other.whole());
    QCOMPARE(runs(), before);
    QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 10000);
}

void tst_jobs::aRunThatEndedEarlyIsResumedByOneKey_data() {
    QTest::addColumn<bool>("isCrash");
    QTest::addColumn<QByteArray>("told");
    QTest::newRow("killed by a person")
        << false << QByteArray("goes on with its next attempt from step ");
    // Where all processes died, the agents that look for it again begin the attempt themselves.
    QTest::newRow("crashed") << true << QByteArray("goes on by itself, with attempt 2");
}

void tst_jobs::aRunThatEndedEarlyIsResumedByOneKey() {
    QFETCH(bool, isCrash);
    QFETCH(QByteArray, told);
    const QString name = isCrash ? "crashed" : "killed";
    const QStringList words =
        translation({"name=" + name, "train.epochs=8", "checkpoint.on_existing=resume",
                     "checkpoint.directory=" + folder() + '-' + name});
    const auto app = cli().start(words + QStringList{"--wait", "--json"});
    QVERIFY(QTest::qWaitFor(
        [&] {
            const auto run = newestRun(database());
            const auto reader = StoreReader::open(database());
            return run && run->name == name && !(*reader)->checkpoints(run->id).empty();
        },
        kLongMs));
    const QString run = newestRun(database())->id;
    if (isCrash) {
        app->kill();
        for (const char* program : {"ringmaster-agent", "ringmaster-trainer"})
            for (int node = 0; node < m_bed->nodes(); ++node)
                for (const pid_t pid : m_bed->processes(node, program))
                    ::kill(pid, SIGKILL);
    } else {
        const CliResult killed = cli().run({"kill", run});
        QVERIFY2(killed.exitCode == 0, killed.whole());
    }
    QVERIFY(app->waitForFinished(kLongMs));
    QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 20000);
    QCOMPARE(hasEnded(findRun(database(), run)->state), !isCrash);

    const CliResult done = runToEnd(cli(), words);
    QVERIFY2(done.exitCode == 0, done.whole());
    QVERIFY2(done.err.contains(told), done.whole());
    const auto after = findRun(database(), run);
    QCOMPARE(newestRun(database())->id, run); // no other run was made
    QCOMPARE(after->attempt, 2);
    verifyWhole(run, 1, after->totalSteps);
    QVERIFY2(earlierReport(database(), run).contains(told), earlierReport(database(), run));
    QCOMPARE(stepsOf(database(), run, "validation/loss").size(), size_t{8});
}

void tst_jobs::otherSettingsMakeARunThatGoesOnFromThere() {
    const int64_t behind = findRun(database(), m_run)->totalSteps;
    const QStringList settings = {"train.epochs=3", "checkpoint.on_existing=resume"};
    const CliResult done = runToEnd(cli(), translation(settings));
    QVERIFY2(done.exitCode == 0, done.whole());
    const auto run = newestRun(database());
    QVERIFY(run->id != m_run);
    QCOMPARE(run->parentRun, m_run);
    verifyWhole(run->id, behind + 1, run->totalSteps);
    QVERIFY(earlierReport(database(), run->id).contains("as its settings differ in train.epochs"));
}

void tst_jobs::aRunThatIsNotKnownHereIsGoneOnFrom() {
    const Cli other(m_bed->path("other"), m_bed->lab().laptop());
    const auto added = m_bed->addNodes(other);
    QVERIFY2(added, added ? "" : added.error().message.c_str());
    const int64_t behind = newestRun(database())->totalSteps;
    const CliResult done =
        runToEnd(other, translation({"train.epochs=4", "checkpoint.on_existing=resume"}));
    QVERIFY2(done.exitCode == 0, done.whole());
    const auto run = newestRun(other.database());
    QVERIFY(run && run->state == RunStateKind::kFinished);
    QCOMPARE(flawIn(stepsInStore(other.database(), run->id, "train/loss"), kRanks, behind + 1,
                    run->totalSteps),
             QByteArray());
    QVERIFY2(earlierReport(other.database(), run->id).contains("which is not known here"),
             earlierReport(other.database(), run->id));
}

/// In place of as many as make a number of tokens.
void tst_jobs::aTranslationTakesAFixedNumberOfSentencesAsWell() {
    constexpr int64_t kSentences = 8; // of a rank
    const CliResult done =
        runToEnd(cli(), translation({"name=fixed", "train.batch_tokens=0", "train.epochs=1",
                                     "train.batch_size=" + QString::number(kSentences),
                                     "checkpoint.directory=" + folder() + "-3"}));
    QVERIFY2(done.exitCode == 0, done.whole());
    const auto run = newestRun(database());
    verifyWhole(run->id, 1, run->totalSteps);
    QCOMPARE(stepsOf(database(), run->id, "validation/loss"), std::set{run->totalSteps});
    const CliResult logs = cli().run({"logs", run->id});
    const QByteArray told = QByteArray::number(kRanks * kSentences) + " samples a step";
    QVERIFY2(logs.out.contains(told), logs.whole());
}

void tst_jobs::aResNetTrainsOnStagedPicturesWithSynchronizedNorms() {
    const auto train = [this](int steps, bool isSynchronized) {
        return runToEnd(
            cli(), QStringList{"run", "resnet-tiny"} +
                       set({QString("train.steps=%1").arg(steps), "validation.every=4",
                            "validation.batches=2", "schedule.warmup_steps=2", "checkpoint.every=4",
                            "data.stage=true",
                            QString("model.sync_batch_norm=") + (isSynchronized ? "true" : "false"),
                            "data.train=[\"" + kIcons + "\"]"}) +
                       kBothNodes);
    };
    const CliResult done = train(8, true);
    QVERIFY2(done.exitCode == 0, done.whole());
    const QString run = newestRun(database())->id;
    verifyWhole(run, 1, 8);
    for (const char* figure : {"validation/loss", "validation/top1", "validation/top5"})
        QCOMPARE(stepsOf(database(), run, figure), (std::set<int64_t>{4, 8}));
    for (int node = 0; node < m_bed->nodes(); ++node) // sent, and read from there
        QVERIFY(!QDir(m_bed->server(node).home() + "/data/ringmaster/data").isEmpty());
    // The same pictures and weights with norms of each rank's own have other gradients.
    const CliResult apart = train(2, false);
    QVERIFY2(apart.exitCode == 0, apart.whole());
    const QString other = newestRun(database())->id;
    QVERIFY(other != run);
    const auto first = [this](const QString& id, const char* metric) {
        return pointsOf(database(), id, metric, 0).at(0).value;
    };
    for (const QString& id :
         {run, other}) // each folder of icons is a class, also where it was sent
        QVERIFY2(first(id, "train/loss") > 1, QByteArray::number(first(id, "train/loss")));
    QVERIFY(first(run, "train/grad_norm") != first(other, "train/grad_norm"));
}

void tst_jobs::languageModelsTrain_data() {
    QTest::addColumn<QString>("recipe");
    QTest::newRow("gpt") << "gpt-tiny";
    QTest::newRow("llama") << "llama-tiny";
}

void tst_jobs::languageModelsTrain() {
    QFETCH(QString, recipe);
    const CliResult done =
        runToEnd(cli(), QStringList{"run", recipe} +
                            set({"train.steps=12", "validation.every=6", "validation.batches=2",
                                 "schedule.warmup_steps=2", "checkpoint.every=6"}) +
                            kBothNodes);
    QVERIFY2(done.exitCode == 0, done.whole());
    const QString run = newestRun(database())->id;
    verifyWhole(run, 1, 12);
    QCOMPARE(stepsOf(database(), run, "validation/loss"), (std::set<int64_t>{6, 12}));
}

QTEST_GUILESS_MAIN(tst_jobs)
#include "tst_jobs.moc"
