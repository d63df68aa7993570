// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/installation.h"
#include "tests/integration/run_facts.h"
#include "tests/integration/testbed.h"
#include "tests/support/own_files.h"
#include "tests/support/requirement.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

using namespace rm;

namespace {

constexpr int kLimitMs = 60000;

QJsonObject rowOf(const QJsonObject& check, const QString& id) {
    for (const QJsonValue& row : check["rows"].toArray())
        if (row["id"].toString() == id)
            return row.toObject();
    return {};
}

QByteArray textOf(const QJsonObject& object) {
    return QJsonDocument(object).toJson();
}

/// Of all GPUs of a node, as NVML tells it.
QString nvml(const char* driverCapabilityName) {
    return QString("RINGMASTER_FAKE_NVML=") + driverCapabilityName;
}

} // namespace

/// Nodes that are not alike: their logins find NVMLs that tell of two GPUs each, and one has
/// another system. The Ringmaster has no runtime for GPUs, so that a launch has to say that they
/// stay idle.
class tst_mixed_nodes : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void theCheckSaysWhatEachDiffersIn();
    void theCheckOfANodeSaysWhatItsGpusLack_data() { addGpus(); }
    void theCheckOfANodeSaysWhatItsGpusLack();
    void aLaunchSaysWhichGpusStayIdle_data() { addGpus(); }
    void aLaunchSaysWhichGpusStayIdle();
    void aResumeSaysItOfItsAttempt();
    void theCheckOfALaunchSaysWhoUsesItsGpus();

private:
    static void addGpus();
    const Cli& cli() const { return *m_cli; }
    QJsonArray check(const QStringList& nodes) const;

    QTemporaryDir m_library;
    std::unique_ptr<Testbed> m_bed;
    std::unique_ptr<Cli> m_cli; ///< of a Ringmaster without a runtime for GPUs
};

void tst_mixed_nodes::initTestCase() {
    auto can = Testbed::canRun();
    if (can)
        can = canMountOwnFiles();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    QVERIFY(QFile::link(qEnvironmentVariable("RINGMASTER_BUILD") + "/tests/libfake_nvml.so",
                        m_library.filePath("libnvidia-ml.so.1")));
    const QString user = QString::number(QCoreApplication::applicationPid());
    Testbed::Options options;
    options.environment = {"LD_LIBRARY_PATH=" + m_library.path()};
    options.ownEnvironment = {
        {nvml("580.65.06;90;NVIDIA H200")},
        {nvml("580.65.06;90;NVIDIA H200"), "RINGMASTER_FAKE_GPU_PID=" + user},
        {nvml("535.183.01;61;Quadro P4000")},
        {nvml("550.127.05;70;Tesla V100-SXM2-32GB")},
    };
    options.nodes = static_cast<int>(options.ownEnvironment.size());
    options.ownFiles = {{}, {{"/etc/os-release", "PRETTY_NAME=\"Test Linux 7\"\n"}}};
    auto bed = Testbed::create("mixed", options);
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
    const auto installed = installForCpus(m_bed->path("installed"));
    RM_NEEDS("torch", installed || installed.error().code != ErrorCode::kNotFound,
             QString::fromStdString(installed.error().message));
    QVERIFY2(installed, installed ? "" : installed.error().message.c_str());
    m_cli = std::make_unique<Cli>(m_bed->laptop());
    m_cli->usePrograms(m_bed->path("installed/bin"));
    const auto added = m_bed->addNodes(cli());
    QVERIFY2(added, added ? "" : added.error().message.c_str());
}

void tst_mixed_nodes::cleanup() {
    if (m_bed && QTest::currentTestFailed())
        qInfo("%s", m_bed->reportAndClean(nullptr).constData());
    if (m_bed)
        QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 10000);
}

QJsonArray tst_mixed_nodes::check(const QStringList& nodes) const {
    const CliResult result = cli().run(QStringList{"nodes", "check", "--json"} + nodes, kLimitMs);
    if (!result.json().isArray())
        qWarning("%s", result.whole().constData());
    return result.json().array();
}

void tst_mixed_nodes::theCheckSaysWhatEachDiffersIn() {
    const QJsonArray checks = check({"node-a", "node-b"}); // with the same GPUs
    QCOMPARE(checks.size(), 2);
    for (const QJsonValue& of : checks) {
        const QJsonArray differences = of["differences"].toArray();
        QVERIFY2(differences.size() == 1, textOf(of.toObject()));
        QCOMPARE(differences[0]["what"].toString(), QString("Operating system"));
        const QString name = of["name"].toString();
        QCOMPARE(differences[0]["nodes"].toArray(), QJsonArray{name});
        QCOMPARE(differences[0]["value"].toString() == "Test Linux 7", name == "node-b");
    }
    const CliResult table = cli().run({"nodes", "check", "node-a", "node-3"}, kLimitMs);
    for (const char* words : {"DIFFERENT", "GPUs", "2 x NVIDIA H200", "2 x Quadro P4000", "Driver",
                              "535.183.01", "Newest runtime", "cuda12", "cuda13"})
        QVERIFY2(table.out.contains(words), table.whole());
}

/// The nodes, the GPUs as they are told of, and the runtime that would train on them.
void tst_mixed_nodes::addGpus() {
    const QString h200 = "2 x NVIDIA H200, 1000 B, sm_90";
    const QString p4000 = "2 x Quadro P4000, 1000 B, sm_61";
    const QString v100 = "2 x Tesla V100-SXM2-32GB, 1000 B, sm_70";
    QTest::addColumn<QStringList>("nodes");
    QTest::addColumn<QStringList>("gpus");
    QTest::addColumn<QString>("runtime");
    QTest::newRow("H200") << QStringList{"node-a"} << QStringList{h200} << "cuda13";
    QTest::newRow("P4000") << QStringList{"node-3"} << QStringList{p4000} << "cuda12";
    QTest::newRow("V100") << QStringList{"node-4"} << QStringList{v100} << "cuda12";
    QTest::newRow("P4000 and H200")
        << QStringList{"node-3", "node-a"} << QStringList{p4000, h200} << "cuda12";
}

void tst_mixed_nodes::theCheckOfANodeSaysWhatItsGpusLack() {
    QFETCH(QStringList, nodes);
    QFETCH(QStringList, gpus);
    QFETCH(QString, runtime);
    const QJsonArray checks = check(nodes);
    QCOMPARE(checks.size(), nodes.size());
    for (int i = 0; i < checks.size(); ++i) {
        const QJsonObject of = checks[i].toObject();
        const QJsonObject row = rowOf(of, "gpus");
        QVERIFY2(of["ready"].toBool(), textOf(of));
        QVERIFY2(row["state"].toString() == "warning", textOf(row));
        QVERIFY2(row["evidence"].toString().startsWith(gpus[i] + "; driver 5"), textOf(row));
        // Alone, the newest that serves it.
        const QString own = gpus[i].contains("H200") ? "cuda13" : runtime;
        QCOMPARE(row["cause"].toString(),
                 "it trains on its CPU, as this computer lacks the runtime " + own);
        QCOMPARE(row["fix"].toString(), "set that up on this computer: packaging/run --" + own);
    }
}

void tst_mixed_nodes::aLaunchSaysWhichGpusStayIdle() {
    QFETCH(QStringList, nodes);
    QFETCH(QStringList, gpus);
    QFETCH(QString, runtime);
    const QString name = "idle-" + nodes.join('-');
    QStringList command = {"run", m_bed->writeSpec(name, {.steps = 10, .checkpointEvery = 5})};
    QStringList which;
    for (int i = 0; i < nodes.size(); ++i) {
        command << "--node" << nodes[i] + ":1";
        which << nodes[i] + ": " + gpus[i];
    }
    const QString fact = "all ranks train on CPUs, and GPUs stay idle (" + which.join("; ") + ')';
    const QString why = "this computer lacks the runtime " + runtime;
    const QString fix = "set that up on this computer: packaging/run --" + runtime;
    const CliResult checked = cli().run(command + QStringList{"--check", "--json"}, kLimitMs);
    QVERIFY2(checked.exitCode == 0, checked.whole());
    const QJsonObject row = rowOf(checked.json().object(), "launch-runtime");
    QVERIFY2(row["state"].toString() == "warning", checked.whole());
    QCOMPARE(row["evidence"].toString(), fact);
    QCOMPARE(row["cause"].toString(), why);
    QCOMPARE(row["fix"].toString(), fix);

    const QByteArray words = (fact + ": " + why + "; " + fix).toUtf8();
    const CliResult started = cli().run(command, kLimitMs);
    QVERIFY2(started.exitCode == 0 && started.err.contains("warning: " + words), started.whole());
    const CliResult ended = cli().run({"attach", name}, kLimitMs);
    QVERIFY2(ended.exitCode == 0, ended.whole());
    const CliResult shown = cli().run({"show", name}, kLimitMs);
    QVERIFY2(shown.out.contains("runtime     cpu\n") && shown.out.contains(words), shown.whole());
    // And to who waits for its end.
    const CliResult waited =
        cli().run(command + QStringList{"--wait", "--set", "name=waited"}, kLimitMs);
    QVERIFY2(waited.exitCode == 0 && waited.err.contains(words), waited.whole());
    const CliResult launch = cli().run(
        command + QStringList{"--check", "--json", "--set", "launch.device=cpu"}, kLimitMs);
    const QJsonObject onCpus = rowOf(launch.json().object(), "launch-runtime");
    QVERIFY2(onCpus["state"].toString() == "good", launch.whole());
}

void tst_mixed_nodes::aResumeSaysItOfItsAttempt() {
    const QString spec =
        m_bed->writeSpec("resumed", {.steps = 1'000'000, .checkpointEvery = 100'000});
    const CliResult started = cli().run({"run", spec, "--node", "node-a:1"}, kLimitMs);
    QVERIFY2(started.exitCode == 0, started.whole());
    const CliResult paused = cli().run({"pause", "resumed"}, kLimitMs);
    QVERIFY2(paused.exitCode == 0, paused.whole());
    const CliResult resumed = cli().run({"resume", "resumed"}, kLimitMs);
    QVERIFY2(resumed.exitCode == 0 && resumed.err.contains("GPUs stay idle (node-a: "),
             resumed.whole());
    const CliResult shown = cli().run({"show", "resumed"}, kLimitMs);
    QVERIFY2(shown.out.contains("attempt 2") && shown.out.contains("GPUs stay idle (node-a: "),
             shown.whole());
    const CliResult stopped = cli().run({"stop", "resumed"}, kLimitMs);
    QVERIFY2(stopped.exitCode == 0, stopped.whole());
}

void tst_mixed_nodes::theCheckOfALaunchSaysWhoUsesItsGpus() {
    QFile own("/proc/self/comm");
    QVERIFY(own.open(QIODevice::ReadOnly));
    const QString words =
        QString("GPU 1: 300 B by %1 of root (pid %2); GPU 1: some by a process of another "
                "container (pid 4000000)")
            .arg(QString::fromUtf8(own.readAll().trimmed()))
            .arg(QCoreApplication::applicationPid());
    const QJsonObject ofNode = rowOf(check({"node-b"})[0].toObject(), "gpu-memory");
    QCOMPARE(ofNode["evidence"].toString(), words);
    QCOMPARE(ofNode["state"].toString(), QString("warning"));
    const CliResult result = cli().run({"run", m_bed->writeSpec("beside", {}), "--check", "--json",
                                        "--node", "node-a:1", "--node", "node-b:1"},
                                       kLimitMs);
    const QJsonObject row = rowOf(result.json().object(), "launch-gpu-memory");
    QVERIFY2(row["evidence"].toString() == "node-b: " + words, result.whole());
    QCOMPARE(row["state"].toString(), QString("good")); // it would train on CPUs
}

QTEST_GUILESS_MAIN(tst_mixed_nodes)
#include "tst_mixed_nodes.moc"
