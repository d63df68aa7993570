// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/owner.h"
#include "shared/exit_code.h"
#include "shared/io/file.h"
#include "shared/wire/deployed.h"
#include "shared/wire/node_report.h"
#include "tests/unit/agent/agent_fixture.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int kLongMs = 50'000;
constexpr int64_t kHourSeconds = 3600;

/// A name as folders and blobs have them.
QString sha(char digit) {
    return QString(64, QChar(digit));
}

void use(const QString& path, int64_t hoursAgo) {
    const timespec then{::time(nullptr) - hoursAgo * kHourSeconds, 0};
    const timespec times[2] = {then, then};
    QCOMPARE(::utimensat(AT_FDCWD, path.toLocal8Bit(), times, 0), 0);
}

void write(const QString& path, const QByteArray& bytes) {
    QVERIFY(QDir().mkpath(QFileInfo(path).path()));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
    QCOMPARE(file.write(bytes), bytes.size());
}

/// A blob of 1000 bytes, used long ago, and a folder that has it.
void deploy(const AgentFixture& f, const QString& kind, const QString& name, char blob) {
    const QString stored = f.home() + "/blobs/" + sha(blob);
    if (!QFile::exists(stored))
        write(stored, QByteArray(1000, blob));
    use(stored, 48);
    const QString folder = f.home() + "/" + kind + "/" + name;
    QVERIFY(QDir().mkpath(folder));
    QCOMPARE(::link(stored.toLocal8Bit(), (folder + "/file").toLocal8Bit()), 0);
    use(folder, 48);
}

DeployedReport reportOf(const AgentFixture::Answer& answer) {
    const auto report = parseDeployedReport(answer.out.toStdString());
    if (!report)
        qWarning("%s", answer.err.constData());
    return report.value_or(DeployedReport());
}

DeployedItem itemOf(const DeployedReport& report, const std::string& kind, const QString& name) {
    for (const DeployedItem& item : report.items)
        if (item.kind == kind && item.name == name.toStdString())
            return item;
    return {"not listed", {}, 0, 0, {}, {}};
}

bool isThere(const AgentFixture& f, const QString& path) {
    return QFileInfo::exists(f.home() + "/" + path);
}

bool hasOpen(const QProcess& process, const QString& path) {
    const QDir files(QString("/proc/%1/fd").arg(process.processId()));
    const QStringList all = files.entryList(QDir::Files | QDir::System);
    return std::any_of(all.begin(), all.end(), [&](const QString& each) {
        return QFileInfo(files.filePath(each)).symLinkTarget() == path;
    });
}

/// What a run that has ended leaves of a part, whose spec names a folder of checkpoints.
void layOut(const AgentFixture& f, int node, int attempt, const QString& folder) {
    NodePlan plan = f.plan(1);
    plan.nodeIndex = node;
    plan.nodeCount = plan.worldSize = node + 1;
    plan.firstRank = node;
    plan.attempt = attempt;
    const QString part = QString("%1/node-%2").arg(f.runFolder()).arg(node, 5, 10, QChar('0'));
    write(part + "/plan.toml", QByteArray::fromStdString(toToml(plan)));
    write(part + "/spec.toml", "[checkpoint]\ndirectory = \"" + folder.toUtf8() + "\"\n");
}

/// A checkpoint of 700 bytes and its manifest.
std::string save(const QString& folder, const std::string& run, int64_t step) {
    Manifest manifest;
    manifest.runId = run;
    manifest.step = step;
    manifest.worldSize = 1;
    const auto saved =
        publishCheckpoint(folder.toStdString(), manifest, [](const std::string& into) {
            return writeFileAtomically(into + "/model.safetensors", std::string(700, 'x'));
        });
    if (!saved)
        qWarning("%s", saved.error().message.c_str());
    return saved.value_or("");
}

bool claim(const QString& folder, const std::string& run, int64_t attempt = 1) {
    CheckpointOwner owner;
    owner.runId = run;
    owner.line.attempt = attempt;
    return claimCheckpoints(folder.toStdString(), owner).has_value();
}

QStringList namesIn(const QString& folder) {
    return QDir(folder).entryList(QDir::AllEntries | QDir::Hidden | QDir::System |
                                  QDir::NoDotAndDotDot);
}

/// Lets a run of one rank train with a bundle and data that lie in the home.
void launch(AgentFixture& f, const QString& bundle, const QString& data) {
    NodePlan plan = f.plan(1);
    const QString folder = f.home() + "/bundles/" + bundle;
    QVERIFY(QDir().mkpath(folder + "/bin"));
    QVERIFY(QFile::link(QFileInfo(f.path("bundle/bin/ringmaster-trainer")).symLinkTarget(),
                        folder + "/bin/ringmaster-trainer"));
    use(folder, 48);
    // By another way, as a bundle that nobody sent is not started.
    if (!QFile::exists(f.path("elsewhere")))
        QVERIFY(QFile::link(f.home() + "/bundles", f.path("elsewhere")));
    plan.bundle = f.path("elsewhere/" + bundle).toStdString();
    const std::string spec = "name = \"fake\"\n[data]\ntrain = [\"" +
                             (f.home() + "/data/" + data).toStdString() + "\"]\n";
    const auto started = f.start(plan, spec);
    QVERIFY2(started.exitCode == 0, started.err);
}

} // namespace

/// What was deployed to a node goes when nothing there needs it.
class TestAgentPrune : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void reportsSurviveAsJson() {
        const DeployedReport report{
            "/h",
            {{"data", "x", 1LL << 40, 7, "run a", {}},
             {"blobs", {}, 1, 2, {}, "0.1.0 cpu"},
             {"checkpoints", "a", 0, 2, kItsRun, {}, "/" + std::string(1000, 'c')},
             {"runs", "a", 0, 2, kItsRun, {}, {}, "me@laptop"}},
            "run a runs",
            "0f",
            "9a",
            "/s"};
        QVERIFY(parseDeployedReport(toJson(report)) == report);
        QCOMPARE(unneededBytes(report), 1);
        QCOMPARE(neededBytes(report), 1LL << 40);
        for (const char* wrong : {"", "[]", "{}", R"({"home":"/h","items":[{"kind":"data"}]})",
                                  R"({"home":"/h","items":[1]})"})
            QVERIFY(!parseDeployedReport(wrong));
        const DeployedItem huge{"data", "x", INT64_MAX, 0, {}, {}};
        QCOMPARE(unneededBytes({"/h", {huge, huge}, {}}), INT64_MAX);
    }

    void whatAnAgentTellsHasNoControlCharacters() {
        DeployedReport report{
            "/h",
            {{"bundles", "x", 1, 7, "in use\x1b[2J\nmore", "0.1.0 \x1b[31mcpu\x7f\xc2\x9b\n"}},
            "a\tb"};
        const auto reported = parseDeployedReport(toJson(report));
        QVERIFY(reported && reported->items.size() == 1);
        QCOMPARE(reported->items[0].label, std::string("0.1.0  [31mcpu   "));
        QCOMPARE(reported->items[0].keptFor, std::string("in use [2J more"));
        QCOMPARE(reported->inTheWay, std::string("a b"));
    }

    void aLabelIsTheFirstLineOfItsFile() {
        AgentFixture f;
        deploy(f, "bundles", sha('1'), 'a');
        write(f.home() + "/bundles/" + sha('1') + "/.ringmaster-label", "0.1.0 \x1b"
                                                                        "cpu\nmore\n");
        const auto answer = f.agent({"prune", "--preview"});
        QCOMPARE(answer.json()["items"][0]["label"].toString(), QString("0.1.0  cpu"));
    }

    void whatNothingNeedsGoesAndIsForetold() {
        AgentFixture f;
        deploy(f, "bundles", sha('1'), 'a');
        deploy(f, "bundles", sha('2'), 'a');
        deploy(f, "data", sha('3'), 'b');
        deploy(f, "agents", sha('4'), 'c');
        write(f.home() + "/blobs/" + sha('d'), QByteArray(500, 'd'));
        use(f.home() + "/blobs/" + sha('d'), 48);
        write(f.home() + "/bundles/mine/file", "a person's own");
        write(f.home() + "/runs.sqlite", "the app's");
        const auto preview = reportOf(f.agent({"prune", "--preview"}));
        QCOMPARE(preview.home, f.home().toStdString());
        QFile id(f.home() + "/home-id");
        QVERIFY(id.open(QIODevice::ReadOnly));
        QCOMPARE(preview.homeId, id.readAll().toStdString());
        QCOMPARE(preview.items.size(), size_t{5});
        QCOMPARE(unneededBytes(preview), 3500); // what two bundles share is there once
        QCOMPARE(neededBytes(preview), 0);
        QVERIFY(isThere(f, "bundles/" + sha('1')));
        QVERIFY(reportOf(f.agent({"prune"})) == preview);
        for (const QString& path :
             {"bundles/" + sha('1'), "bundles/" + sha('2'), "data/" + sha('3'),
              "agents/" + sha('4'), "blobs/" + sha('a'), "blobs/" + sha('d')})
            QVERIFY2(!isThere(f, path), qPrintable(path));
        QVERIFY(isThere(f, "bundles/mine/file") && isThere(f, "runs.sqlite"));
        QVERIFY(reportOf(f.agent({"prune"})).items.empty());
    }

    void whatARunNamesStaysUntilTheRunIsGone() {
        AgentFixture f;
        f.script(0, "finish@1");
        deploy(f, "data", sha('3'), 'b');
        launch(f, sha('1'), sha('3'));
        QTRY_VERIFY_WITH_TIMEOUT(!f.nodeRecords<AttemptEnded>().empty(), kLongMs);
        f.agent({"stop", "r1"});
        // A finished run is not gone on with, and a restore deploys its own release.
        const auto finished = reportOf(f.agent({"prune", "--older-than", "0"}));
        QCOMPARE(itemOf(finished, "data", sha('3')).keptFor, std::string("run r1"));
        QCOMPARE(itemOf(finished, "bundles", sha('1')).keptFor, std::string());
        QVERIFY(isThere(f, "data/" + sha('3')) && !isThere(f, "bundles/" + sha('1')));
        QCOMPARE(f.agent({"remove", "r1"}).exitCode, 0);
        QCOMPARE(f.agent({"prune", "--older-than", "0"}).exitCode, 0);
        QVERIFY(!isThere(f, "data/" + sha('3')));
    }

    void whatALivingOrStoppedRunNamesStays() {
        AgentFixture f;
        deploy(f, "data", sha('3'), 'b');
        launch(f, sha('1'), sha('3'));
        for (const bool lives : {true, false}) {
            if (!lives)
                QCOMPARE(f.agent({"stop", "r1"}).exitCode, 0);
            const auto report = reportOf(f.agent({"prune", "--older-than", "0"}));
            QCOMPARE(itemOf(report, "data", sha('3')).keptFor, std::string("run r1"));
            QVERIFY(isThere(f, "bundles/" + sha('1') + "/bin/ringmaster-trainer"));
        }
    }

    void whatAProcessUsesStays() {
        AgentFixture f;
        const QString program = f.home() + "/bundles/" + sha('1') + "/bin/sleep";
        QVERIFY(QDir().mkpath(QFileInfo(program).path()));
        QVERIFY(QFile::copy(QFileInfo("/bin/sleep").canonicalFilePath(), program));
        deploy(f, "data", sha('2'), 'a');
        QFile reads(f.home() + "/data/" + sha('2') + "/file");
        QVERIFY(reads.open(QIODevice::ReadOnly));
        QProcess sleeper;
        sleeper.start(program, {"1000"});
        QVERIFY(sleeper.waitForStarted());
        const auto report = reportOf(f.agent({"prune", "--older-than", "0"}));
        QCOMPARE(itemOf(report, "bundles", sha('1')).keptFor, std::string("a process uses it"));
        QCOMPARE(itemOf(report, "data", sha('2')).keptFor, std::string("a process uses it"));
        sleeper.kill();
        QVERIFY(sleeper.waitForFinished());
        reads.close();
        QCOMPARE(f.agent({"prune", "--older-than", "0"}).exitCode, 0);
        QVERIFY(!QFileInfo::exists(program) && !isThere(f, "data/" + sha('2')));
    }

    void whatIsYoungStaysUnlessItIsAskedFor() {
        AgentFixture f;
        deploy(f, "data", sha('1'), 'a');
        use(f.home() + "/data/" + sha('1'), 23);
        deploy(f, "data", sha('2'), 'b');
        use(f.home() + "/data/" + sha('2'), 25);
        write(f.home() + "/blobs/" + sha('c') + ".part", "half");
        const auto report = reportOf(f.agent({"prune"}));
        QCOMPARE(itemOf(report, "data", sha('1')).keptFor, std::string("used lately"));
        QVERIFY(isThere(f, "data/" + sha('1')) && !isThere(f, "data/" + sha('2')));
        QVERIFY(isThere(f, "blobs/" + sha('a')) && !isThere(f, "blobs/" + sha('b')));
        QVERIFY(isThere(f, "blobs/" + sha('c') + ".part"));
        QCOMPARE(f.agent({"prune", "--older-than", "0"}).exitCode, 0);
        QVERIFY(!isThere(f, "data/" + sha('1')) && !isThere(f, "blobs/" + sha('c') + ".part"));
    }

    void whatTheAskingReleaseUsesStays() {
        AgentFixture f;
        deploy(f, "bundles", sha('1'), 'a');
        deploy(f, "bundles", sha('2'), 'b');
        const auto report = reportOf(f.agent({"prune", "--keep", sha('2')}));
        QCOMPARE(itemOf(report, "bundles", sha('2')).keptFor, std::string("this release"));
        QVERIFY(!isThere(f, "bundles/" + sha('1')) && isThere(f, "bundles/" + sha('2')));
    }

    void nothingGoesWhileFilesAreReceived() {
        AgentFixture f;
        deploy(f, "data", sha('1'), 'a');
        const auto receiver = f.spawn({"receive"});
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(f.home() + "/blobs.lock"), kLongMs);
        // The lock is taken a moment after its file is there.
        QTRY_COMPARE_WITH_TIMEOUT(f.agent({"prune", "--preview"}).exitCode,
                                  static_cast<int>(ExitCode::kUnavailable), kLongMs);
        QCOMPARE(f.agent({"prune"}).exitCode, static_cast<int>(ExitCode::kUnavailable));
        QVERIFY(isThere(f, "data/" + sha('1')));
        receiver->closeWriteChannel();
        QVERIFY(receiver->waitForFinished(kLongMs));
        QCOMPARE(f.agent({"prune"}).exitCode, 0);
    }

    void agentsStayWhileARunMayGoOnElsewhere() {
        AgentFixture f;
        f.script(0, "finish@1");
        deploy(f, "agents", sha('4'), 'c');
        launch(f, sha('1'), sha('3'));
        QTRY_VERIFY_WITH_TIMEOUT(!f.nodeRecords<AttemptEnded>().empty(), kLongMs);
        f.agent({"stop", "r1"});
        QJsonObject state = f.agentState();
        state["ended"] = false;
        state["boot"] = "of another machine";
        write(f.runDir() + "/agent.json", QJsonDocument(state).toJson());
        const auto report = reportOf(f.agent({"prune"}));
        QVERIFY(itemOf(report, "agents", sha('4')).keptFor.starts_with("run r1 may go on"));
        QVERIFY(isThere(f, "agents/" + sha('4')) && isThere(f, "bundles/" + sha('1')));
    }

    void anAgentOfAnotherReleaseIsToldAndGoesAlone() {
        AgentFixture f;
        for (const char digit : {'4', '5'})
            deploy(f, "agents", sha(digit), digit);
        deploy(f, "data", sha('1'), 'a');
        write(f.home() + "/agents/" + sha('4') + "/.ringmaster-label", "0.0.9");
        use(f.home() + "/agents/" + sha('4'), 48);
        use(f.home() + "/agents/" + sha('5'), 0);
        const auto probed = parseNodeReport(f.agent({"probe"}).out.toStdString());
        QVERIFY(probed.has_value());
        QCOMPARE(probed->otherAgents.size(), size_t{2});
        for (const AgentReport& agent : probed->otherAgents) {
            const bool isOld = agent.id == sha('4').toStdString();
            QCOMPARE(agent.release, std::string(isOld ? "0.0.9" : ""));
            QCOMPARE(agent.keptFor, std::string(isOld ? "" : "used lately"));
            QVERIFY(agent.bytes >= 1000);
        }
        QVERIFY(f.agent({"prune", "--agent", "4"}).exitCode != 0); // names too many
        const QStringList order{"prune", "--agent", sha('4').left(12)};
        const auto preview = reportOf(f.agent(order + QStringList{"--preview"}));
        QCOMPARE(preview.items.size(), size_t{1});
        QCOMPARE(preview.items[0].label, std::string("0.0.9"));
        QVERIFY(isThere(f, "agents/" + sha('4')));
        QVERIFY(reportOf(f.agent(order)) == preview);
        QVERIFY(!isThere(f, "agents/" + sha('4')) && isThere(f, "agents/" + sha('5')));
        QVERIFY(isThere(f, "data/" + sha('1')));
        QVERIFY(reportOf(f.agent(order)).items.empty()); // it is gone already
    }

    void anAgentByWhichARunLivesStays() {
        AgentFixture f;
        const QString folder = f.home() + "/agents/" + sha('4');
        QVERIFY(QDir().mkpath(folder));
        QVERIFY(QFile::copy(qEnvironmentVariable("RINGMASTER_BIN") + "/ringmaster-agent",
                            folder + "/ringmaster-agent"));
        const QJsonObject order{{"spec", "[launch]\nmax_restarts = 0\n"},
                                {"plan", QString::fromStdString(toToml(f.plan(1)))}};
        QProcess old;
        old.setProcessEnvironment(f.environment());
        old.start(folder + "/ringmaster-agent", {"start", "r1"});
        QVERIFY(old.waitForStarted());
        old.write(QJsonDocument(order).toJson());
        old.closeWriteChannel();
        QVERIFY(old.waitForFinished(kLongMs));
        QVERIFY2(old.exitCode() == 0, old.readAllStandardError());
        use(folder, 48);
        const QStringList removal{"prune", "--agent", sha('4'), "--older-than", "0"};
        QTRY_COMPARE_WITH_TIMEOUT(reportOf(f.agent(removal)).items.at(0).keptFor,
                                  std::string("run r1 lives by it"), kLongMs);
        QVERIFY(QFile::exists(folder + "/ringmaster-agent"));
        const auto probed = parseNodeReport(f.agent({"probe"}).out.toStdString());
        QVERIFY(probed && probed->otherAgents.size() == 1);
        QCOMPARE(probed->otherAgents[0].keptFor, std::string("run r1 lives by it"));
        QCOMPARE(f.agent({"stop", "r1", "--kill"}).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(reportOf(f.agent(removal)).items.empty() || !QFile::exists(folder),
                                 kLongMs);
        QVERIFY(!QFile::exists(folder));
    }

    void nothingGoesWhereARunCannotBeRead() {
        AgentFixture f;
        deploy(f, "data", sha('1'), 'a');
        QVERIFY(QDir().mkpath(f.runDir()));
        write(f.runDir() + "/plan.toml", "x");
        write(f.runDir() + "/agent.json", "{");
        QVERIFY(f.agent({"prune"}).exitCode != 0);
        QVERIFY(isThere(f, "data/" + sha('1')));
    }

    void theReleaseBeforeStaysAndOlderOnesGo() {
        AgentFixture f;
        int hours = 48;
        for (const auto& [digit, label] : {std::pair('1', "99.2.0 cuda13"),
                                           {'2', "99.2.0 cpu"},
                                           {'3', "99.1.0 cpu"},
                                           {'4', ""}}) {
            deploy(f, "bundles", sha(digit), 'a');
            const QString folder = f.home() + "/bundles/" + sha(digit);
            if (*label)
                write(folder + "/.ringmaster-label", label);
            use(folder, hours++);
        }
        const auto report = reportOf(f.agent({"prune"}));
        QCOMPARE(itemOf(report, "bundles", sha('1')).keptFor, std::string("the release before"));
        QCOMPARE(itemOf(report, "bundles", sha('1')).label, std::string("99.2.0 cuda13"));
        QVERIFY(isThere(f, "bundles/" + sha('1')) && isThere(f, "bundles/" + sha('2')));
        QVERIFY(!isThere(f, "bundles/" + sha('3')) && !isThere(f, "bundles/" + sha('4')));
    }

    /// As of one who builds from source: the release has the same name each time.
    void ofOneReleaseTheBuildBeforeStays() {
        AgentFixture f;
        const auto probed = parseNodeReport(f.agent({"probe"}).out.toStdString());
        QVERIFY(probed.has_value());
        const std::string& release = probed->release;
        int hours = 48;
        for (const auto& [digit, label] : {std::pair('1', release + " cpu"),
                                           {'2', release + " cpu"},
                                           {'3', release + " cuda13"},
                                           {'4', release + " cpu"},
                                           {'5', std::string("0.0.9 cpu")}}) {
            deploy(f, "bundles", sha(digit), digit);
            const QString folder = f.home() + "/bundles/" + sha(digit);
            write(folder + "/.ringmaster-label", QByteArray::fromStdString(label));
            use(folder, hours++);
        }
        const auto report = reportOf(f.agent({"prune", "--keep", sha('1')}));
        QCOMPARE(itemOf(report, "bundles", sha('1')).keptFor, std::string("this release"));
        for (const char digit : {'2', '3'})
            QCOMPARE(itemOf(report, "bundles", sha(digit)).keptFor,
                     std::string("the build before"));
        for (const char digit : {'1', '2', '3'})
            QVERIFY(isThere(f, "bundles/" + sha(digit) + "/file") &&
                    isThere(f, "blobs/" + sha(digit)));
        for (const char digit : {'4', '5'})
            QVERIFY(!isThere(f, "bundles/" + sha(digit)) && !isThere(f, "blobs/" + sha(digit)));
    }

    void theDiskIsToldByKind() {
        AgentFixture f;
        deploy(f, "bundles", sha('1'), 'a');
        write(f.runDir() + "/log/rank-00000.log", QByteArray(300, 'x'));
        write(f.runDir() + "/checkpoints/step-1/model", QByteArray(700, 'x'));
        const auto report = reportOf(f.agent({"prune", "--preview"}));
        QCOMPARE(bytesOfKind(report, "bundles"), 1000);
        QCOMPARE(itemOf(report, "runs", "r1").bytes, 300);
        QCOMPARE(itemOf(report, "checkpoints", "r1").bytes, 700);
        QCOMPARE(itemOf(report, "runs", "r1").keptFor, std::string("its run"));
    }

    void namedCheckpointsAreCountedAndGoWithTheirRunAlone() {
        AgentFixture f;
        const QString folder = f.path("named/r1"), other = f.path("other");
        QVERIFY(QDir().mkpath(f.home()));
        layOut(f, 0, 1, folder);
        write(folder + "/notes.txt", "a person's own");
        write(folder + "/tmp-mine/x", "a person's own");
        QVERIFY(!save(folder, "r2", 5).empty()); // of another run, which nobody claimed it for
        QVERIFY(claim(folder, "r1"));
        QVERIFY(!save(folder, "r1", 10).empty());
        QVERIFY(setAside(save(folder, "r1", 20)).has_value());
        const std::string linked = save(other, "r1", 30);
        QVERIFY(QFile::link(QString::fromStdString(linked), folder + "/step-000000030"));
        write(folder + "/tmp-step-000000040-123-1/model", "half");

        const auto report = reportOf(f.agent({"prune", "--preview"}));
        const DeployedItem item = itemOf(report, "checkpoints", "r1");
        QCOMPARE(item.path, folder.toStdString());
        QCOMPARE(item.keptFor, std::string(kItsRun));
        QVERIFY2(item.bytes > 1400 && item.bytes < 2800, qPrintable(QString::number(item.bytes)));
        QCOMPARE(f.agent({"prune"}).exitCode, 0); // which removes nothing of runs
        QVERIFY(QFile::exists(folder + "/step-000000010"));

        const QJsonObject preview = f.agent({"remove", "r1", "--preview"}).json();
        QCOMPARE(preview["checkpoints"].toInt(), 2);
        QCOMPARE(preview["named"][0]["folder"].toString(), folder);
        QCOMPARE(preview["named"][0]["stays_as"].toString(), QString());
        QVERIFY(preview["bytes"].toInt() >= item.bytes);
        QVERIFY(QFile::exists(folder + "/step-000000010"));
        QCOMPARE(f.agent({"remove", "r1"}).json(), preview);
        QCOMPARE(namesIn(folder),
                 QStringList({"notes.txt", "step-000000005", "step-000000030", "tmp-mine"}));
        QVERIFY(readManifest((folder + "/step-000000005").toStdString()).has_value());
        QVERIFY(readManifest(linked).has_value());
        QVERIFY(!QFile::exists(f.runFolder()));
    }

    void aNamedFolderGoesOnceItIsEmptyAndItsParentStays() {
        AgentFixture f;
        const QString folder = f.path("named/r1");
        for (int node : {0, 1}) // which share it
            layOut(f, node, 1, folder);
        QVERIFY(claim(folder, "r1"));
        QVERIFY(!save(folder, "r1", 10).empty());
        const auto report = reportOf(f.agent({"uninstall", "--runs", "--preview"}));
        QCOMPARE(std::ranges::count(report.items, "checkpoints", &DeployedItem::kind), 1);
        QCOMPARE(itemOf(report, "checkpoints", "r1").keptFor, std::string());
        QVERIFY(reportOf(f.agent({"uninstall", "--runs"})) == report);
        QVERIFY(!QFile::exists(folder) && QFile::exists(f.path("named")));
        QVERIFY(!QFile::exists(f.runFolder()));
    }

    void aNamedFolderThatAnotherNodeHasRemovedIsNoError() {
        AgentFixture f;
        layOut(f, 0, 1, f.path("named/r1"));
        QCOMPARE(f.agent({"remove", "r1"}).exitCode, 0);
        QVERIFY(!QFile::exists(f.runFolder()));
    }

    void whatMayBeOfOthersStaysInANamedFolder_data() {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("why");
        QTest::newRow("no owner file") << "nobody"
                                       << "no OWNER.json";
        QTest::newRow("another run's") << "r2"
                                       << "of run r2";
        QTest::newRow("a damaged owner file") << "damaged"
                                              << "OWNER.json";
        QTest::newRow("goes on elsewhere") << "later"
                                           << "attempt 3 of it began on other nodes";
        QTest::newRow("another node's") << "node 1"
                                        << "another node of the run writes it";
        QTest::newRow("a link") << "link"
                                << "link";
    }
    void whatMayBeOfOthersStaysInANamedFolder() {
        QFETCH(QString, what);
        QFETCH(QString, why);
        AgentFixture f;
        const QString folder = f.path("named/r1"), linked = f.path("linked");
        layOut(f, what == "node 1" ? 1 : 0, 2, what == "link" ? linked : folder);
        const std::string checkpoint = save(folder, "r1", 10);
        QVERIFY(!checkpoint.empty());
        if (what == "damaged")
            write(folder + "/OWNER.json", "{");
        else if (what != "nobody")
            QVERIFY(claim(folder, what == "r2" ? "r2" : "r1", what == "later" ? 3 : 2));
        QVERIFY(QFile::link(folder, linked));
        const QStringList before = namesIn(folder);
        const auto report = reportOf(f.agent({"uninstall", "--runs"}));
        const DeployedItem item = itemOf(report, "checkpoints", "r1");
        QVERIFY2(QString::fromStdString(item.keptFor).contains(why), item.keptFor.c_str());
        QVERIFY(item.bytes >= 700);
        QCOMPARE(namesIn(folder), before);
        QVERIFY(verifyCheckpoint(checkpoint).has_value());
        QVERIFY(!QFile::exists(f.runFolder()));
    }

    void anUninstallLeavesNothingOfOursAndAllOfOthers() {
        AgentFixture f;
        deploy(f, "bundles", sha('1'), 'a');
        deploy(f, "data", sha('2'), 'b');
        deploy(f, "agents", sha('3'), 'c');
        write(f.home() + "/self-tests/GPU-1-cuda13.json", "{}"); // as a trainer does
        write(f.home() + "/self-tests/notes.txt", "a person's own");
        use(f.home() + "/bundles/" + sha('1'), 0); // lately, and all the same
        write(f.home() + "/blobs/" + sha('d') + ".part", "half");
        write(f.home() + "/bundles/mine/file", "a person's own");
        write(f.home() + "/runs.sqlite", "the app's");
        write(f.runDir() + "/checkpoints/step-1/model", "weights");
        QCOMPARE(f.agent({"probe"}).exitCode, 0); // leaves home-id and state-id
        const auto preview = reportOf(f.agent({"uninstall", "--preview"}));
        QCOMPARE(preview.inTheWay, std::string());
        QVERIFY(itemOf(preview, "other", "bundles/mine").keptFor.starts_with("Ringmaster did not"));
        QVERIFY(
            itemOf(preview, "other", "self-tests/notes.txt").keptFor.starts_with("Ringmaster did"));
        QVERIFY(!itemOf(preview, "runs", "r1").keptFor.empty());
        QVERIFY(itemOf(preview, "notes", "").bytes >= 66); // two ids and a result, at least
        QVERIFY(isThere(f, "agents/" + sha('3')) && isThere(f, "home-id"));
        QVERIFY(isThere(f, "self-tests/GPU-1-cuda13.json"));
        QVERIFY(reportOf(f.agent({"uninstall"})) == preview);
        QCOMPARE(QDir(f.home()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot),
                 QStringList({"bundles", "runs.sqlite", "self-tests"}));
        QCOMPARE(QDir(f.home() + "/self-tests").entryList(QDir::Files), QStringList{"notes.txt"});
        QCOMPARE(QDir(f.home() + "/bundles").entryList(QDir::Dirs | QDir::NoDotAndDotDot),
                 QStringList{"mine"});
        QVERIFY(QFile::exists(f.runDir() + "/checkpoints/step-1/model"));
        QCOMPARE(f.agent({"uninstall", "--runs"}).exitCode, 0);
        QVERIFY(!QFile::exists(f.path("state/ringmaster")));
        for (const char* others : {"bundles/mine", "runs.sqlite", "self-tests/notes.txt"})
            QVERIFY(QFile::remove(f.home() + "/" + others) ||
                    QDir(f.home() + "/" + others).removeRecursively());
        QCOMPARE(f.agent({"uninstall"}).exitCode, 0);
        QVERIFY(!QFile::exists(f.home()));
    }

    /// As of a disk of its own, of a person who keeps a copy there, or has moved a run.
    void whatIsNoRunStaysAndStopsNothing() {
        AgentFixture f;
        const QString runs = QFileInfo(f.runFolder()).path();
        write(f.runDir() + "/checkpoints/step-1/model", "weights");
        write(runs + "/backup/thesis.txt", "a person's own");
        write(runs + "/backup/node-modules/x", "a person's own");
        write(runs + "/lost+found/x", "of the file system");
        write(runs + "/notes.txt", "a person's own");
        write(f.path("moved/node-00000/plan.toml"), "x");
        QVERIFY(QFile::link(f.path("moved"), runs + "/gpt-1"));
        QVERIFY(QDir().mkpath(runs + "/zz/node-00000"));
        deploy(f, "data", sha('2'), 'b');
        const auto preview = reportOf(f.agent({"uninstall", "--runs", "--preview"}));
        for (const char* name : {"backup", "gpt-1", "lost+found", "notes.txt"}) {
            const DeployedItem item = itemOf(preview, "other", QString("runs/") + name);
            QVERIFY2(item.keptFor == "Ringmaster did not put it there", name);
            QCOMPARE(itemOf(preview, "runs", name).kind, std::string("not listed"));
        }
        QCOMPARE(itemOf(preview, "runs", "r1").keptFor, std::string());
        QVERIFY(reportOf(f.agent({"uninstall", "--runs"})) == preview);
        QCOMPARE(namesIn(runs), QStringList({"backup", "gpt-1", "lost+found", "notes.txt"}));
        QCOMPARE(namesIn(runs + "/backup"), QStringList({"node-modules", "thesis.txt"}));
        QVERIFY(QFile::exists(f.path("moved/node-00000/plan.toml")));
        QVERIFY(!isThere(f, "data/" + sha('2')));
    }

    void aRunSaysWhoStartedIt() {
        AgentFixture f;
        QVERIFY(QDir().mkpath(f.home()));
        for (const auto& [node, attempt] : {std::pair(0, 3), {1, 2}}) {
            NodePlan plan = f.plan(1);
            plan.attempt = attempt;
            plan.startedBy = attempt == 3 ? "me@laptop" : "you@box";
            write(QString("%1/node-0000%2/plan.toml").arg(f.runFolder()).arg(node),
                  QByteArray::fromStdString(toToml(plan)));
        }
        const auto report = reportOf(f.agent({"uninstall", "--runs", "--preview"}));
        QCOMPARE(itemOf(report, "runs", "r1").startedBy, std::string("me@laptop"));
    }

    void anErrorInTheMiddleSaysWhatIsGone() {
        AgentFixture f;
        const QString runs = QFileInfo(f.runFolder()).path();
        write(runs + "/a1/node-00000/log/x", "x");
        write(runs + "/b2/node-00000/plan.toml", "x");
        QVERIFY(QDir().mkpath(runs + "/b2/node-00000/agent.pid")); // which cannot be locked
        const auto report = reportOf(f.agent({"uninstall", "--runs"}));
        QVERIFY2(report.failure.find("remove b2: ") != std::string::npos &&
                     report.failure.ends_with("; gone already: run a1"),
                 report.failure.c_str());
        QCOMPARE(report.items.size(), size_t(1));
        QCOMPARE(itemOf(report, "runs", "a1").keptFor, std::string());
        QVERIFY(!QFile::exists(runs + "/a1") && QFile::exists(runs + "/b2/node-00000/plan.toml"));
    }

    /// One who removes files holds the lock alone, as who receives them does not.
    void ofTwoThatUninstallAtOnceTheSecondWaits() {
        AgentFixture f;
        deploy(f, "data", sha('2'), 'b');
        write(f.runDir() + "/checkpoints/step-1/model", "weights");
        const int lock = ::open(QString(f.home() + "/blobs.lock").toLocal8Bit(),
                                O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        QVERIFY(lock >= 0 && ::flock(lock, LOCK_EX) == 0);
        const auto preview = f.spawn({"uninstall", "--preview"});
        const auto first = f.spawn({"uninstall", "--runs"});
        const auto second = f.spawn({"uninstall", "--runs"});
        for (QProcess* each : {preview.get(), first.get(), second.get()})
            QTRY_VERIFY_WITH_TIMEOUT(hasOpen(*each, f.home() + "/blobs.lock"), kLongMs);
        QVERIFY(isThere(f, "data/" + sha('2')));
        ::close(lock);
        for (QProcess* each : {preview.get(), first.get(), second.get()}) {
            QVERIFY(each->waitForFinished(kLongMs));
            QVERIFY2(each->exitCode() == 0, each->readAllStandardError());
        }
        QVERIFY(!QFile::exists(f.home()) && !QFile::exists(f.runDir()));
    }

    /// As of one that waited until another had removed all.
    void aPreviewOfNothingLeavesNothing() {
        AgentFixture f;
        QVERIFY(QDir().mkpath(f.home()));
        const auto preview = f.agent({"uninstall", "--preview"});
        QCOMPARE(preview.exitCode, 0);
        QVERIFY(reportOf(preview).items.empty());
        QVERIFY(!QFile::exists(f.home()));
    }

    void nothingIsUninstalledUnderWhatRuns() {
        AgentFixture f;
        deploy(f, "data", sha('3'), 'b');
        launch(f, sha('1'), sha('3'));
        const auto refused = f.agent({"uninstall", "--runs"});
        QCOMPARE(refused.exitCode, static_cast<int>(ExitCode::kUnavailable));
        QVERIFY2(refused.err.contains("run r1"), refused.err);
        QVERIFY(isThere(f, "data/" + sha('3')) && QFile::exists(f.runDir()));
        QVERIFY(!reportOf(f.agent({"uninstall", "--preview"})).inTheWay.empty());
        QCOMPARE(f.agent({"stop", "r1"}).exitCode, 0);
        QCOMPARE(f.agent({"uninstall", "--runs"}).exitCode, 0);
        QVERIFY(!isThere(f, "data/" + sha('3')) && !QFile::exists(f.runFolder()));
    }

    void aRemovalThatWasCutOffIsEnded() {
        AgentFixture f;
        write(f.home() + "/data/.removed-" + sha('1') + "/file", "x");
        write(f.home() + "/data/.staging-12/file", "x");
        QCOMPARE(f.agent({"prune"}).exitCode, 0);
        QVERIFY(!isThere(f, "data/.removed-" + sha('1')) && isThere(f, "data/.staging-12"));
    }
};

QTEST_GUILESS_MAIN(TestAgentPrune)
#include "tst_agent_prune.moc"
