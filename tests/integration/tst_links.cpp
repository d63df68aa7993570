// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/run_facts.h"
#include "tests/integration/testbed.h"
#include "tests/support/requirement.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

using namespace rm;

namespace {

constexpr int kLimitMs = 240000;
const QStringList kBothNodes = {"--node", "node-a:1", "--node", "node-b:1"};

/// 12 MB of weights: so large that a slow link takes longer than the computing.
constexpr const char* kSpec = R"(name = "NAME"
[model]
type = "gpt"
layers = 4
heads = 4
width = 256
context = 128
[data]
train = ["TEXT"]
tokenizer = "bytes"
[train]
steps = STEPS
batch_size = 8
threads = 1
log_every = 1
[validation]
every = 0
[checkpoint]
every = 0
)";

/// Nodes are machines of their own, which share no core, and whatever else this one does does not
/// slow them: as far as control groups (of version 1 or 2) can see to that, the processes of
/// `server` come first. Gives the group's folder, which may be none.
QString giveOwnMachine(pid_t server, int node) {
    const unsigned cores = std::thread::hardware_concurrency();
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(static_cast<size_t>(node) % cores, &own);
    if (cores > 1 && ::sched_setaffinity(server, sizeof own, &own) != 0)
        qFatal("give node %d its core: %s", node, std::strerror(errno));
    const auto write = [](const QString& path, const QByteArray& text) {
        QFile file(path);
        return QFile::exists(path) && file.open(QIODevice::WriteOnly | QIODevice::Unbuffered) &&
               file.write(text) == text.size();
    };
    const QString name = QString("/rm-links-%1-%2").arg(::getpid()).arg(node);
    const std::array<std::array<const char*, 3>, 2> kinds = {
        {{"/sys/fs/cgroup/cpu", "/cpu.shares", "262144"},
         {"/sys/fs/cgroup", "/cpu.weight", "10000"}}};
    for (const auto& [root, key, most] : kinds) {
        const QString group = root + name;
        const bool isMade = QFile::exists(QString(root) + "/cgroup.procs") && QDir().mkdir(group);
        if (isMade && write(group + key, most) &&
            write(group + "/cgroup.procs", QByteArray::number(server)))
            return group;
        if (isMade)
            QDir().rmdir(group);
    }
    return {};
}

} // namespace

/// What the app measures and forecasts of two nodes behind sshd, by the rate of the cable between
/// them.
class tst_links : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void cleanupTestCase();
    void allReduceFigureIsTheRateOfTheLink();
    void selfTestOfANodeShowsItsProofs();
    void aNodeThatFailsEndsTheTestOfAllAtOnce();
    void aForecastNeedsNeitherDataNorAFreeFolder();
    void forecastIsWhatThenHappens_data();
    void forecastIsWhatThenHappens();

private:
    const Cli& cli() const { return m_bed->laptop(); }
    QString writeSpec(const QString& name, int steps) const;
    double stepMs(const QString& name, int steps) const;

    std::unique_ptr<Testbed> m_bed;
    QStringList m_groups; ///< control groups of the nodes
};

void tst_links::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    auto bed = Testbed::create("links", {.stepMs = 0});
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
    for (int node = 0; node < m_bed->nodes(); ++node)
        m_groups << giveOwnMachine(m_bed->server(node).pid(), node);
    const auto added = m_bed->addNodes(cli());
    QVERIFY2(added, added ? "" : added.error().message.c_str());
    QFile text(m_bed->path("text"));
    QVERIFY(text.open(QIODevice::WriteOnly));
    text.write(
        QByteArray("It is read again and again, and so it is learnt by heart. ").repeated(2000));
}

void tst_links::cleanup() {
    if (m_bed && QTest::currentTestFailed())
        qInfo("%s", m_bed->reportAndClean(nullptr).constData());
    if (m_bed)
        QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 10000);
}

void tst_links::cleanupTestCase() {
    m_bed.reset();
    for (const QString& group : m_groups)
        if (!group.isEmpty())
            QTRY_VERIFY_WITH_TIMEOUT(!QFile::exists(group) || QDir().rmdir(group), 20000);
}

QString tst_links::writeSpec(const QString& name, int steps) const {
    QFile file(m_bed->path(name + ".toml"));
    if (file.open(QIODevice::WriteOnly))
        file.write(QByteArray(kSpec)
                       .replace("NAME", name.toUtf8())
                       .replace("TEXT", m_bed->path("text").toUtf8())
                       .replace("STEPS", QByteArray::number(steps)));
    return file.fileName();
}

/// The least mean time of some steps in a row, in a run on both nodes; the first steps are not
/// counted. 0: it did not make so many.
double tst_links::stepMs(const QString& name, int steps) const {
    constexpr int kSettled = 4;
    constexpr size_t kInARow = 4;
    const CliResult run =
        cli().run(QStringList{"run", writeSpec(name, steps), "--wait"} + kBothNodes, kLimitMs);
    if (run.exitCode != 0)
        qWarning("%s", run.whole().constData());
    std::vector<double> times;
    if (const auto newest = newestRun(cli().database()))
        for (const Point& point : pointsOf(cli().database(), newest->id, "train/step_ms", 0))
            if (point.step > kSettled)
                times.push_back(point.value);
    double least = 0;
    for (size_t end = kInARow; end <= times.size(); ++end) {
        const auto last = times.begin() + static_cast<std::ptrdiff_t>(end);
        const double mean = std::accumulate(last - kInARow, last, 0.0) / kInARow;
        least = end == kInARow ? mean : std::min(least, mean);
    }
    return least;
}

void tst_links::allReduceFigureIsTheRateOfTheLink() {
    constexpr double kRate = 200e6;
    QVERIFY(m_bed->lab().setDataRate("200mbit"));
    const CliResult result =
        cli().run({"nodes", "all-reduce", "node-a", "node-b", "--json"}, kLimitMs);
    QVERIFY2(result.exitCode == 0, result.whole());
    // The first trial there sends the trainer, as a launch does and with the same words.
    QVERIFY2(result.err.contains("Check nodes") && result.err.contains("Sent trainer to 2 nodes: "),
             result.whole());
    const QJsonObject test = result.json().object();
    QCOMPARE(test["nodes"].toArray().last().toObject()["ranks"].toInt(), 1);
    const QJsonObject group = test["report"]["groups"].toArray().last().toObject();
    const double bits = group["bits_per_second"].toDouble();
    QVERIFY2(std::abs(bits - kRate) < 0.2 * kRate, result.whole());
    QVERIFY2(group["latency_ms"].toDouble() > 0 && group["times"].toArray().size() > 3,
             result.whole());
    for (const QJsonValue time : group["times"].toArray())
        QVERIFY2(time.toObject()["bits_per_second"].toDouble() > 0, result.whole());
    // A veth says that it is one of 10 Gbit/s.
    const QString words = group["words"].toString();
    QVERIFY2(words.contains("of 10 Gbit/s") && words.contains("far below"), qPrintable(words));

    const CliResult kept = cli().run({"nodes", "all-reduce", "--history", "--json"});
    QVERIFY2(kept.exitCode == 0, kept.whole());
    QCOMPARE(kept.json().array().size(), 1);
    QCOMPARE(kept.json().array().first().toObject(), test);
    const CliResult shown = cli().run({"nodes", "all-reduce", "--history"});
    QCOMPARE(shown.out.count("node-a - node-b"), group["times"].toArray().size()); // a line each
    QVERIFY2(shown.out.contains("4 bytes") && shown.out.contains("1 MiB"), shown.whole());

    const CliResult one = cli().run({"nodes", "all-reduce", "node-a"});
    QCOMPARE(one.exitCode, static_cast<int>(ExitCode::kUsage));
    QVERIFY2(one.err.contains("two nodes"), one.whole());
}

void tst_links::selfTestOfANodeShowsItsProofs() {
    const CliResult result = cli().run({"nodes", "self-test", "node-a"}, kLimitMs);
    QVERIFY2(result.exitCode == 0, result.whole());
    for (const char* proof : {"memory", "float32 products", "bfloat16 products", "sums"})
        QVERIFY2(result.out.contains(proof), result.whole());
    QVERIFY2(!result.out.contains("BAD"), result.whole());
    const CliResult checked = cli().run({"nodes", "check", "node-a"}, kLimitMs);
    QVERIFY2(checked.out.contains("all proofs held"), checked.whole());
}

void tst_links::aNodeThatFailsEndsTheTestOfAllAtOnce() {
    constexpr int kMuchLessThanTheOthersWouldWait = 60000; // of five minutes
    const auto app = cli().start({"nodes", "all-reduce", "node-a", "node-b"});
    std::vector<pid_t> ranks;
    const auto areThere = [&] {
        ranks = m_bed->processes(1, "ringmaster-trainer", "all-reduce");
        return !ranks.empty() || app->state() == QProcess::NotRunning;
    };
    QTRY_VERIFY_WITH_TIMEOUT(areThere(), kLimitMs);
    QVERIFY2(!ranks.empty(), app->readAllStandardError());
    for (const pid_t rank : ranks)
        QCOMPARE(::kill(rank, SIGKILL), 0);
    QVERIFY(app->waitForFinished(kMuchLessThanTheOthersWouldWait));
    const QByteArray result = app->readAllStandardError();
    QVERIFY2(app->exitCode() != 0, app->readAllStandardOutput());
    QVERIFY2(result.contains("node-b"), result);
}

void tst_links::aForecastNeedsNeitherDataNorAFreeFolder() {
    const QString folder = m_bed->path("saved");
    const QStringList inFolder{"--set", "checkpoint.directory=\"" + folder + '"'};
    const CliResult run = cli().run(QStringList{"run", writeSpec("saved", 2), "--wait", "--node",
                                                "node-a:1", "--set", "checkpoint.every=1"} +
                                        inFolder,
                                    kLimitMs);
    QVERIFY2(run.exitCode == 0, run.whole());
    const QStringList other =
        QStringList{writeSpec("other", 2), "--set", "data.train=[\"/nowhere\"]"} + inFolder +
        kBothNodes;
    const CliResult refused = cli().run(QStringList{"run"} + other, kLimitMs);
    QVERIFY2(refused.exitCode != 0 && refused.err.contains("has checkpoints of the run"),
             refused.whole());
    const CliResult result = cli().run(QStringList{"forecast"} + other, kLimitMs);
    QVERIFY2(result.exitCode == 0, result.whole());
}

void tst_links::forecastIsWhatThenHappens_data() {
    QTest::addColumn<QString>("rate");
    QTest::addColumn<bool>("helps");
    QTest::newRow("a second node makes it slower") << "60mbit" << false;
    QTest::newRow("a second node helps") << "2gbit" << true;
}

void tst_links::forecastIsWhatThenHappens() {
    QFETCH(QString, rate);
    QFETCH(bool, helps);
    const int steps = helps ? 40 : 8; // which take about ten seconds
    QVERIFY(m_bed->lab().setDataRate(rate));
    // The processors of a virtual machine become slower and faster, each by itself, for seconds on
    // end. What is least of several rounds nears what they do when nothing else disturbs them.
    constexpr int kMostRounds = 30, kInARow = 2;
    int nearRounds = 0; // in a row, the newest among them
    double forecastMs = std::numeric_limits<double>::infinity(), happenedMs = forecastMs;
    QByteArray all;
    const auto isNear = [&] { return std::abs(forecastMs / happenedMs - 1) < 0.2; };
    for (int round = 1; round <= kMostRounds && nearRounds < kInARow; ++round) {
        const QString name = QString("forecast-%1-%2").arg(rate).arg(round);
        const CliResult result = cli().run(
            QStringList{"forecast", writeSpec(name, steps), "--json"} + kBothNodes, kLimitMs);
        QVERIFY2(result.exitCode == 0, result.whole());
        const QJsonObject forecast = result.json()["forecasts"].toArray().last().toObject();
        QCOMPARE(forecast["nodes"].toInt(), 2);
        QCOMPARE(forecast["speed_up"].toDouble() > 1, helps);
        const QString words = result.json()["words"].toArray().first().toString();
        QVERIFY2(words.contains("makes training slower") != helps, qPrintable(words));
        const double happened = stepMs(name, steps);
        QVERIFY(happened > 0);
        // The run's last checkpoint is copied over the same cable.
        QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 60000);
        all += QByteArray::number(forecast["step_ms"].toDouble()) + " ms forecast, " +
               QByteArray::number(happened) + " ms happened; ";
        forecastMs = std::min(forecastMs, forecast["step_ms"].toDouble());
        happenedMs = std::min(happenedMs, happened);
        nearRounds = isNear() ? nearRounds + 1 : 0;
    }
    qInfo("%s", all.constData());
    QVERIFY2(nearRounds == kInARow, all.constData());
}

QTEST_GUILESS_MAIN(tst_links)
#include "tst_links.moc"
