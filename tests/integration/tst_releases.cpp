// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/run_summary.h"
#include "shared/io/file.h"
#include "shared/spec/node_plan.h"
#include "tests/integration/installation.h"
#include "tests/integration/run_facts.h"
#include "tests/integration/testbed.h"
#include "tests/support/requirement.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <ctime>
#include <map>

using namespace rm;

namespace {

constexpr int kNodes = 2;
constexpr int kSteps = 20;
constexpr int kLongMs = 180000;
constexpr time_t kHour = 3600;
/// Beside files: SSH, the agent's answers, the journals of a short run.
constexpr qint64 kBeside = 1 << 20;
const QStringList kBothNodes = {"--node", "node-a:1", "--node", "node-b:1"};

/// Of everything that no launch touched since.
bool useAgo(const QString& folder, time_t hours) {
    const timespec then{::time(nullptr) - hours * kHour, 0};
    const timespec times[2] = {then, then};
    return ::utimensat(AT_FDCWD, folder.toLocal8Bit(), times, AT_SYMLINK_NOFOLLOW) == 0;
}

QString bundleId(const std::string& folder) {
    return QString::fromStdString(folder).section('/', -1);
}

} // namespace

/// A person who builds from source: three builds of one release of Ringmaster, each with a trainer
/// of its own, on the laptop one after another and back again, with two nodes behind sshd. The
/// functions build on one another, in order.
class tst_releases : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void eachBuildIsDeployedAndTrains();
    void aCleaningKeepsTheBuildBeforeAlone();
    void whoGoesBackTrainsWithItAndSendsNothing();
    void whatOneWentBackFromIsKeptInItsTurn();

private:
    /// Puts the build of that letter in the place of the one before.
    void install(char build);
    /// Trains on both nodes; gives where each has the trainer that did it.
    void train(const QString& name, std::array<std::string, kNodes>& bundles);
    QString deployed(int node, const QString& kind) const {
        return m_bed->server(node).home() + "/data/ringmaster/" + kind;
    }
    QStringList bundlesOn(int node) const {
        return QDir(deployed(node, "bundles")).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    }
    /// Why that bundle of a node stayed in that cleaning, "" when it went.
    QString keptFor(const CliResult& cleaned, int node, const std::string& bundle) const;

    std::unique_ptr<Testbed> m_bed;
    std::unique_ptr<Cli> m_cli;
    QDir m_installed;
    std::map<char, std::array<std::string, kNodes>> m_bundles; ///< folders by build
};

void tst_releases::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    auto bed = Testbed::create("releases");
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
    m_installed = QDir(m_bed->path("installed"));
    const auto installed = installForCpus(m_installed.path());
    RM_NEEDS("torch", installed || installed.error().code != ErrorCode::kNotFound,
             QString::fromStdString(installed.error().message));
    QVERIFY2(installed, installed ? "" : installed.error().message.c_str());
    m_cli = std::make_unique<Cli>(m_bed->laptop());
    m_cli->usePrograms(m_installed.filePath("bin"));
    install('A');
    const auto added = m_bed->addNodes(*m_cli);
    QVERIFY2(added, added ? "" : added.error().message.c_str());
}

void tst_releases::cleanup() {
    if (m_bed && QTest::currentTestFailed())
        qInfo("%s", m_bed->reportAndClean(nullptr).constData());
    if (m_bed)
        QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 10000);
}

void tst_releases::install(char build) {
    const QString trainer = m_installed.filePath("bin/ringmaster-trainer");
    QFile::remove(trainer);
    QVERIFY(QFile::copy(qEnvironmentVariable("RINGMASTER_BIN") + "/ringmaster-trainer", trainer));
    QFile file(trainer);
    QVERIFY(file.open(QIODevice::Append)); // which no loader reads
    QCOMPARE(file.write(QByteArray(1, build)), 1);
}

void tst_releases::train(const QString& name, std::array<std::string, kNodes>& bundles) {
    const QString spec = m_bed->writeSpec(name, {.steps = kSteps, .checkpointEvery = 0});
    const CliResult run =
        m_cli->run(QStringList{"run", spec, "--wait", "--json"} + kBothNodes, kLongMs);
    QVERIFY2(run.exitCode == 0, run.whole());
    const auto summary = newestRun(m_cli->database());
    QVERIFY(summary && summary->name == name);
    QCOMPARE(summary->state, RunStateKind::kFinished);
    const auto losses = stepsInStore(m_cli->database(), summary->id, "train/loss");
    QCOMPARE(flawIn(losses, kNodes, 1, kSteps), QByteArray());
    for (int node = 0; node < kNodes; ++node) {
        const QString folder = QString("%1/state/ringmaster/runs/%2/node-%3/plan.toml")
                                   .arg(m_bed->server(node).home(), summary->id)
                                   .arg(node, 5, 10, QChar('0'));
        const auto text = readFile(folder.toStdString());
        QVERIFY2(text, qPrintable(folder));
        const auto plan = parseNodePlan(*text, folder.toStdString());
        QVERIFY(plan);
        bundles[static_cast<size_t>(node)] = plan->bundle;
    }
}

QString tst_releases::keptFor(const CliResult& cleaned, int node, const std::string& bundle) const {
    for (const QJsonValue& each : cleaned.json().object()["nodes"].toArray()) {
        if (each.toObject()["node"].toString() != Testbed::nodeName(node))
            continue;
        for (const QJsonValue& item : each.toObject()["items"].toArray())
            if (item.toObject()["name"].toString() == bundleId(bundle))
                return item.toObject()["kept_for"].toString();
    }
    return "it is not listed";
}

void tst_releases::eachBuildIsDeployedAndTrains() {
    for (const char build : {'A', 'B', 'C'}) {
        install(build);
        train(QString("with-") + QChar(build).toLower(), m_bundles[build]);
        for (size_t node = 0; node < kNodes; ++node) {
            const auto there =
                readFile(m_bundles[build][node] + "/bin/ringmaster-trainer", 1 << 30);
            QVERIFY(there && there->back() == build);
        }
    }
    for (int node = 0; node < kNodes; ++node)
        QCOMPARE(bundlesOn(node).size(), 3);
}

/// Days later.
void tst_releases::aCleaningKeepsTheBuildBeforeAlone() {
    for (int node = 0; node < kNodes; ++node) {
        const auto at = static_cast<size_t>(node);
        for (const auto& [build, hours] : {std::pair('A', 90), {'B', 60}, {'C', 30}})
            QVERIFY(useAgo(QString::fromStdString(m_bundles[build][at]), hours));
        const QDir blobs(deployed(node, "blobs"));
        for (const QString& name : blobs.entryList(QDir::Files))
            QVERIFY(useAgo(blobs.filePath(name), 90));
    }
    const CliResult cleaned =
        m_cli->run({"clean", "--node", "node-a", "--node", "node-b", "--yes", "--json"});
    QVERIFY2(cleaned.exitCode == 0, cleaned.whole());
    for (int node = 0; node < kNodes; ++node) {
        const auto at = static_cast<size_t>(node);
        QCOMPARE(keptFor(cleaned, node, m_bundles['A'][at]), QString());
        QCOMPARE(keptFor(cleaned, node, m_bundles['B'][at]), QString("the build before"));
        QCOMPARE(keptFor(cleaned, node, m_bundles['C'][at]), QString("this release"));
        QStringList kept{bundleId(m_bundles['B'][at]), bundleId(m_bundles['C'][at])};
        kept.sort();
        QCOMPARE(bundlesOn(node), kept);
    }
}

/// A trainer alone would be more than kBeside.
void tst_releases::whoGoesBackTrainsWithItAndSendsNothing() {
    install('B');
    std::array<qint64, kNodes> before{};
    for (int node = 0; node < kNodes; ++node)
        before[static_cast<size_t>(node)] = m_bed->lab().managementBytesTo(node);
    std::array<std::string, kNodes> bundles;
    train("back-to-b", bundles);
    QVERIFY(bundles == m_bundles['B']);
    for (int node = 0; node < kNodes; ++node) {
        const qint64 sent =
            m_bed->lab().managementBytesTo(node) - before[static_cast<size_t>(node)];
        QVERIFY2(sent < kBeside, qPrintable(QString::number(sent)));
    }
}

void tst_releases::whatOneWentBackFromIsKeptInItsTurn() {
    const CliResult preview =
        m_cli->run({"clean", "--node", "node-a", "--node", "node-b", "--preview", "--json"});
    QVERIFY2(preview.exitCode == 0, preview.whole());
    for (int node = 0; node < kNodes; ++node) {
        const auto at = static_cast<size_t>(node);
        QCOMPARE(keptFor(preview, node, m_bundles['B'][at]), QString("this release"));
        QCOMPARE(keptFor(preview, node, m_bundles['C'][at]), QString("the build before"));
    }
}

QTEST_GUILESS_MAIN(tst_releases)
#include "tst_releases.moc"
