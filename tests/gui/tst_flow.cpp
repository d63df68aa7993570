// SPDX-License-Identifier: GPL-3.0-or-later
// A person's way through the window with the real engine, agent and trainer: launch, points,
// hold, checkpoint, pause, resume, restore, branch, stop; a node whose host key is trusted once
// and refused when it changes.
#include "app/core/fleet/fleet.h"
#include "app/core/remote/credential_store.h"
#include "app/core/run/engine.h"
#include "app/core/settings/paths.h"
#include "app/ui/main_window.h"
#include "app/ui/nodes_page.h"
#include "app/ui/plot/line_chart.h"
#include "app/ui/run/run_page.h"
#include "app/ui/widgets/table.h"
#include "tests/support/requirement.h"
#include "tests/support/sshd.h"

#include <QDialog>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

using namespace rm;

namespace {

constexpr int kStartMs = 60'000; // a trainer's start on a busy machine
constexpr int kSoonMs = 30'000;

// Long enough that every command finds it running; the steps are tiny.
const QString kSpec = R"(name = "flow"
[model]
layers = 1
heads = 1
width = 16
context = 16
[data]
train = ["/usr/share/common-licenses/GPL-2"]
[train]
steps = 1000000
batch_size = 2
threads = 1
[validation]
every = 0
[checkpoint]
every = 200
keep_last = 4
[launch]
device = "cpu"
)";

} // namespace

class TestFlow : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();

    void launchFromWelcomeShowsPoints();
    void holdAndContinue();
    void checkpointAppearsInItsTab();
    void pauseFreesTheRanks();
    void resumeGoesOnInTheSameRun();
    void restoreOfAnOlderCheckpointGoesBack();
    void branchIsARunOfItsOwn();
    void stopAsksFirst();
    void newHostKeyIsTrustedOnceAndAChangedOneRefused();

private:
    template <class T>
    T* find(const QString& name) const {
        return m_window->findChild<T*>(name);
    }
    void click(const QString& name) const;
    QString state() const;
    qint64 newestStep() const;
    void prepareHome();

    QTemporaryDir m_home;
    QString m_publicKey;
    Paths m_paths;
    std::unique_ptr<Fleet> m_fleet;
    std::unique_ptr<Engine> m_engine;
    std::unique_ptr<MainWindow> m_window;
};

void TestFlow::prepareHome() {
    qputenv("HOME", m_home.path().toUtf8());
    for (const char* name : {"CONFIG", "DATA", "STATE", "CACHE"})
        qputenv((QByteArray("XDG_") + name + "_HOME").constData(),
                m_home.filePath(QString(name).toLower()).toUtf8());
    qputenv("RINGMASTER_HOME", m_home.filePath("node").toUtf8());
    qunsetenv("SSH_AUTH_SOCK");
    QVERIFY(QDir(m_home.path()).mkpath(".ssh"));
}

void TestFlow::initTestCase() {
    for (const char* program : {"ringmaster-agent", "ringmaster-trainer"})
        QVERIFY2(QFile::exists(installPrefix() + "/bin/" + program), program);
    prepareHome();
    m_paths = Paths::fromEnvironment();
    QVERIFY(QDir().mkpath(m_paths.data));
    m_fleet = std::make_unique<Fleet>(m_paths.config);
    QVERIFY(m_fleet->load());
    auto writer = StoreWriter::open(m_paths.database());
    QVERIFY(writer);
    m_engine = std::make_unique<Engine>(m_paths, *m_fleet, std::move(*writer));
    m_engine->setCredentialSource(
        [this](const Node& node) { return m_fleet->credentials().lookUp(node.name); });
    m_window = std::make_unique<MainWindow>(*m_engine, *m_fleet, m_paths);
    m_window->show();
}

void TestFlow::cleanupTestCase() {
    if (m_engine && m_window && find<QPushButton>("stopRun")->isVisible())
        m_engine->command(m_window->runPage().run(), CommandKind::kKill);
    if (m_window)
        QTRY_VERIFY_WITH_TIMEOUT(!find<QPushButton>("stopRun")->isVisible(), kSoonMs);
    m_window.reset();
    m_engine.reset();
}

void TestFlow::click(const QString& name) const {
    auto* button = find<QPushButton>(name);
    QVERIFY2(button, qPrintable(name));
    QTRY_VERIFY2_WITH_TIMEOUT(button->isVisible() && button->isEnabled(), qPrintable(name),
                              kSoonMs);
    QTest::mouseClick(button, Qt::LeftButton);
}

QString TestFlow::state() const {
    for (const QLabel* label : m_window->runPage().findChildren<QLabel*>())
        if (label->property("role") == "chip")
            return label->text();
    return {};
}

qint64 TestFlow::newestStep() const {
    const auto& curves = find<LineChart>("chartLoss")->curves();
    return curves.empty() || curves.front().steps.isEmpty()
               ? 0
               : static_cast<qint64>(curves.front().steps.back());
}

void TestFlow::launchFromWelcomeShowsPoints() {
    click("welcomeTrain");
    QCOMPARE(find<QSpinBox>(QString("ranks.") + kLocalNodeName)->value(), 2);
    find<QPlainTextEdit>("specToml")->setPlainText(kSpec);
    QTRY_COMPARE(find<QLineEdit>("field.name")->text(), "flow");
    click("launch");
    QVERIFY(find<QWidget>("launchProgress")->isVisible());
    QTRY_VERIFY2_WITH_TIMEOUT(m_window->runPage().isVisible(),
                              qPrintable(find<QWidget>("launchBanner")->accessibleName()),
                              kStartMs);
    QTRY_COMPARE_WITH_TIMEOUT(state(), "Running", kStartMs);
    QTRY_VERIFY_WITH_TIMEOUT(newestStep() > 20, kStartMs);
}

void TestFlow::holdAndContinue() {
    click("holdRun");
    QTRY_VERIFY_WITH_TIMEOUT(state().startsWith("Held at"), kSoonMs);
    QTRY_COMPARE(find<QPushButton>("holdRun")->text(), "Continue");
    click("holdRun");
    QTRY_COMPARE_WITH_TIMEOUT(state(), "Running", kSoonMs);
}

void TestFlow::checkpointAppearsInItsTab() {
    click("tabCheckpoints");
    click("checkpointRun");
    const auto* table = find<Table>("checkpointsTable");
    QTRY_VERIFY_WITH_TIMEOUT(table->model()->rowCount() > 0, kSoonMs);
    QVERIFY(!find<QPushButton>("restoreCheckpoint")->isEnabled());
}

void TestFlow::pauseFreesTheRanks() {
    click("tabCharts");
    click("pauseRun");
    QTRY_VERIFY_WITH_TIMEOUT(state().startsWith("Paused at"), kSoonMs);
    QTRY_VERIFY(!find<QPushButton>("pauseRun")->isVisible());
}

void TestFlow::resumeGoesOnInTheSameRun() {
    const qint64 before = newestStep();
    const QString run = m_window->runPage().run();
    click("resumeRun");
    QTRY_VERIFY_WITH_TIMEOUT(state().contains("attempt 2"), kStartMs);
    QTRY_VERIFY_WITH_TIMEOUT(newestStep() > before, kStartMs);
    QCOMPARE(m_window->runPage().run(), run);
}

void TestFlow::restoreOfAnOlderCheckpointGoesBack() {
    click("pauseRun");
    QTRY_VERIFY_WITH_TIMEOUT(state().startsWith("Paused at"), kSoonMs);
    click("tabCheckpoints");
    auto* table = find<Table>("checkpointsTable");
    QTRY_VERIFY(table->model()->rowCount() > 1);
    table->selectRow(table->model()->rowCount() - 1);
    click("restoreCheckpoint");
    QTRY_VERIFY_WITH_TIMEOUT(state().contains("attempt 3"), kStartMs);
}

void TestFlow::branchIsARunOfItsOwn() {
    const QString parent = m_window->runPage().run();
    click("pauseRun");
    QTRY_VERIFY_WITH_TIMEOUT(state().startsWith("Paused at"), kSoonMs);
    click("tabCheckpoints");
    find<Table>("checkpointsTable")->selectRow(0);
    click("branchRun");
    click("launch");
    QTRY_VERIFY_WITH_TIMEOUT(m_window->runPage().run() != parent, kStartMs);
    QTRY_COMPARE_WITH_TIMEOUT(state(), "Running", kStartMs);
}

void TestFlow::stopAsksFirst() {
    click("stopRun");
    click("stopConfirm");
    QTRY_VERIFY_WITH_TIMEOUT(state().startsWith("Stopped at"), kSoonMs);
}

void TestFlow::newHostKeyIsTrustedOnceAndAChangedOneRefused() {
    const auto can = canRunSshd();
    RM_NEEDS("sshd", can, QString::fromStdString(can.error().message));
    const auto key = makeSshKey(m_home.filePath(".ssh/id_ed25519"));
    QVERIFY(key);
    const auto server = SshServer::start({.authorizedKey = *key});
    QVERIFY2(server, server ? "" : server.error().message.c_str());

    click("railNodes");
    click("addNode");
    find<QLineEdit>("nodeHost")->setText("127.0.0.1");
    find<QLineEdit>("nodeName")->setText("node-a");
    find<QSpinBox>("nodePort")->setValue((*server)->port());
    click("addNodeConfirm");
    QTRY_VERIFY_WITH_TIMEOUT(find<QLabel>("fingerprint"), kSoonMs);
    QCOMPARE(find<QLabel>("fingerprint")->text(), (*server)->fingerprint());
    click("trustKey");
    QTRY_VERIFY_WITH_TIMEOUT(m_fleet->lastCheck("node-a") && m_fleet->lastCheck("node-a")->ready,
                             kSoonMs);

    QVERIFY((*server)->changeHostKey());
    click("checkNode");
    QTRY_VERIFY_WITH_TIMEOUT(!m_fleet->lastCheck("node-a")->ready, kSoonMs);
    QTRY_VERIFY(find<QPushButton>("checkNode")->isEnabled());
    QVERIFY(!find<QDialog>("hostKeyDialog"));
    QVERIFY(find<QPushButton>("trustKey") == nullptr);
}

QTEST_MAIN(TestFlow)
#include "tst_flow.moc"
