// SPDX-License-Identifier: Apache-2.0
#include "shared/io/descriptor.h"
#include "shared/io/elf_versions.h"
#include "trainer/agent/net/reach.h"
#include "trainer/agent/net/socket_address.h"
#include "trainer/agent/posix/process.h"
#include "trainer/agent/probe/fingerprint.h"
#include "trainer/agent/probe/folder.h"
#include "trainer/agent/probe/home_id.h"
#include "trainer/agent/probe/kernel_log.h"
#include "trainer/agent/probe/libstdcxx.h"
#include "trainer/agent/probe/limits.h"
#include "trainer/agent/probe/logout.h"
#include "trainer/agent/probe/machine.h"
#include "trainer/agent/probe/paths.h"
#include "trainer/agent/probe/probe.h"
#include "trainer/agent/supervisor/log_tail.h"
#include "trainer/agent/supervisor/sampler.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <thread>

using namespace rm;

namespace {

constexpr int64_t kSecond = 1'000'000'000;

/// A recorded /proc, /sys and /etc.
class FakeSysRoot {
public:
    void put(const QString& path, const QByteArray& text) {
        const QString file = m_dir.path() + path;
        QDir().mkpath(QFileInfo(file).path());
        QFile out(file);
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write(text);
    }
    SysRoot root() const { return {m_dir.path().toStdString()}; }

private:
    QTemporaryDir m_dir;
};

struct NoGpus : Gpus {
    std::vector<GpuReport> none;
    std::string driver() const override { return {}; }
    const std::vector<GpuReport>& list() const override { return none; }
    GpuReading read(size_t) const override { return {}; }
};

std::unique_ptr<Gpus> fakeGpus() {
    const QByteArray path = qgetenv("RINGMASTER_BUILD") + "/tests/libfake_nvml.so";
    return openNvmlGpus(path.constData());
}

QByteArray rankStat(int user, int system, int pages) {
    QByteArray fields = "42 (a) b) (c) S";
    for (int field = 4; field < 14; ++field)
        fields += " 0";
    fields += " " + QByteArray::number(user) + " " + QByteArray::number(system);
    for (int field = 16; field < 24; ++field)
        fields += " 0";
    return fields + " " + QByteArray::number(pages) + " 0 0\n";
}

std::optional<float> valueOf(const Record& record, MetricId metric) {
    const Samples& samples = std::get<Samples>(record);
    for (size_t i = 0; i < samples.metric.size(); ++i)
        if (samples.metric[i] == metric)
            return samples.value[i];
    return std::nullopt;
}

/// A listener on a thread of its own, with its ports.
class ListeningThread {
public:
    explicit ListeningThread(const ListenOrder& order) {
        int in[2], out[2];
        if (::pipe(in) != 0 || ::pipe(out) != 0)
            return;
        m_in = Descriptor(in[1]);
        m_thread = std::jthread([order, input = in[0], output = out[1]] {
            (void)listenForDials(order, 60, input, output);
            ::close(input);
            ::close(output);
        });
        char text[512] = {};
        if (::read(out[0], text, sizeof text - 1) > 0)
            ports = parseOpenPorts(text).value_or(OpenPorts());
        ::close(out[0]);
    }
    ~ListeningThread() { m_in = Descriptor(); }

    DialTarget target(const std::string& address, int64_t port) const {
        return {address, port, {}, ports.token, 0, true};
    }
    static std::vector<DialAnswer> dial(const std::vector<DialTarget>& targets) {
        return dialAll({targets, -1}, {300, 20'000, 40'000}).value_or(std::vector<DialAnswer>());
    }

    OpenPorts ports;

private:
    std::jthread m_thread;
    Descriptor m_in; ///< closed first
};

} // namespace

class TestProbe : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void recordedMachineIsRead() {
        FakeSysRoot fake;
        fake.put("/etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
        fake.put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: EPYC: 9 \nprocessor\t: 1\n");
        fake.put("/proc/meminfo", "MemTotal:       24684084 kB\nMemFree: 1 kB\n");
        QCOMPARE(readMachine(fake.root()), (Machine{"Debian GNU/Linux 12 (bookworm)", "EPYC: 9", 2,
                                                    24684084 * INT64_C(1024)}));
    }

    void emptyMachineIsNoError() {
        QCOMPARE(readMachine(FakeSysRoot().root()), Machine{});
        QVERIFY(readMounts(FakeSysRoot().root()).empty());
    }

    void armNamesItsModelElsewhere() {
        FakeSysRoot fake;
        fake.put("/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 50\n");
        fake.put("/sys/firmware/devicetree/base/model", "NVIDIA Grace\n");
        QCOMPARE(readMachine(fake.root()).cpuModel, std::string("NVIDIA Grace"));
    }

    void speedsOfOddInterfacesAreUnknown() {
        FakeSysRoot fake;
        fake.put("/sys/class/net/ens5/speed", "100000\n");
        fake.put("/sys/class/net/down0/speed", "-1\n");
        fake.put("/sys/class/net/veth0/speed", "4294967295\n");
        fake.put("/sys/class/net/odd0/speed", "fast\n");
        QCOMPARE(readSpeedMbit(fake.root(), "ens5"), int64_t(100000));
        for (const char* name : {"down0", "veth0", "odd0", "gone0"})
            QCOMPARE(readSpeedMbit(fake.root(), name), int64_t(-1));
    }

    void mountsThatHoldFilesAreListedOnce() {
        FakeSysRoot fake;
        fake.put("/proc/self/mounts", "proc /proc proc rw 0 0\n"
                                      "/dev/nvme0n1p2 / ext4 rw 0 0\n"
                                      "/dev/nvme0n1p2 /var/lib/x ext4 rw 0 0\n"
                                      "/dev/nvme0n1p1 /boot/efi vfat rw 0 0\n"
                                      "tmpfs /run tmpfs rw 0 0\n"
                                      "tmpfs /dev/shm tmpfs rw 0 0\n"
                                      "/dev/loop3 /snap/core/1 squashfs ro 0 0\n"
                                      "srv:/home /shared\\040data nfs4 rw 0 0\n"
                                      "broken\n");
        QCOMPARE(
            readMounts(fake.root()),
            (std::vector<Mount>{{"/", "ext4"}, {"/dev/shm", "tmpfs"}, {"/shared data", "nfs4"}}));
    }

    void probeAnswersWhateverTheMachine() {
        FakeSysRoot fake;
        fake.put("/etc/os-release", "PRETTY_NAME=\"caf\xe9\"\n");
        const NodeReport report = probeNode({"/h", "/s"}, fake.root(), NoGpus());
        QCOMPARE(report.home, std::string("/h"));
        QCOMPARE(report.stateDir, std::string("/s"));
        QVERIFY(!report.kernel.empty() && !report.glibc.empty() && !report.user.empty());
        QCOMPARE(report.machine, probeNode({"/other", "/s"}, fake.root(), NoGpus()).machine);
        QVERIFY(report.machine.starts_with(bootId()) && !report.machine.empty());
        QVERIFY(report.gpus.empty() && !report.interfaces.empty() && report.wallNs > 0);
        QVERIFY(report.atLogout == AtLogout::kUnknown);
        QVERIFY(!report.isKernelLogRead);                                // there is none
        QVERIFY(report.homeTotalBytes > 0 && report.homeFreeBytes >= 0); // of "/", as /h is missing
        const auto again = parseNodeReport(toJson(report));
        QVERIFY2(again, again ? "" : again.error().message.c_str());
        QCOMPARE(again->os, std::string("caf\xef\xbf\xbd"));
        QVERIFY(again->interfaces == report.interfaces);
    }

    void nodesThatShareAHomeTellTheSameId() {
        QTemporaryDir one;
        QTemporaryDir other;
        const std::string id = homeId(one.path().toStdString());
        QCOMPARE(id.size(), 32u);
        QVERIFY(QFile::link(one.path(), other.filePath("elsewhere")));
        QCOMPARE(homeId(other.filePath("elsewhere").toStdString()), id);
        QVERIFY(homeId(other.path().toStdString()) != id);
        QCOMPARE(QDir(one.path()).entryList(QDir::Files), QStringList("home-id"));
        QCOMPARE(homeId(one.filePath("missing").toStdString()), std::string());
        QFile file(one.filePath("home-id"));
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write("damaged") == 7);
        file.close();
        QCOMPARE(homeId(one.path().toStdString()), std::string());
    }

    void logoutsAreForetold_data() {
        using Files = QMap<QString, QByteArray>;
        QTest::addColumn<Files>("files");
        QTest::addColumn<AtLogout>("expected");
        const QString group = "/proc/self/cgroup", main = "/etc/systemd/logind.conf";
        const QByteArray session = "0::/user.slice/user-7.slice/session-3.scope\n";
        const QByteArray old = "1:name=systemd:/user.slice/user-7.slice/session-3.scope\n";
        const QByteArray manager = "0::/user.slice/user-7.slice/user@7.service/app.slice/x.scope\n";
        const QByteArray kill = "[Login]\n#KillUserProcesses=no\nKillUserProcesses = yes\n";
        const auto row = [](const char* name, const Files& files, AtLogout expected) {
            QTest::newRow(name) << files << expected;
        };
        row("nothing is known", {}, AtLogout::kUnknown);
        row("a service", {{group, "0::/system.slice/ssh.service\n"}, {main, kill}},
            AtLogout::kGoOn);
        row("a session", {{group, session}}, AtLogout::kGoOn);
        row("a session is killed", {{group, session}, {main, kill}}, AtLogout::kEndWithSession);
        row("of an older hierarchy", {{group, old}, {main, kill}}, AtLogout::kEndWithSession);
        row("lingering does not help",
            {{group, session}, {main, kill}, {"/var/lib/systemd/linger/me", ""}},
            AtLogout::kEndWithSession);
        row("another section", {{group, session}, {main, "[Other]\nKillUserProcesses=yes\n"}},
            AtLogout::kGoOn);
        row("the user is excluded", {{group, session}, {main, kill + "KillExcludeUsers=you me\n"}},
            AtLogout::kGoOn);
        row("a set list leaves root out, to which this user is like any other",
            {{group, session}, {main, kill + "KillExcludeUsers=root\nKillExcludeUsers=you\n"}},
            AtLogout::kEndWithSession);
        row("others alone", {{group, session}, {main, kill + "KillOnlyUsers=you\n"}},
            AtLogout::kGoOn);
        row("the user alone", {{group, session}, {main, "[Login]\nKillOnlyUsers=me\n"}},
            AtLogout::kEndWithSession);
        row("a drop-in says no",
            {{group, session},
             {main, kill},
             {main + ".d/50-no.conf", "[Login]\nKillUserProcesses=no\n"}},
            AtLogout::kGoOn);
        row("the last drop-in decides",
            {{group, session},
             {"/usr/lib/systemd/logind.conf.d/10.conf", "[Login]\nKillUserProcesses=no\n"},
             {"/run/systemd/logind.conf.d/20.conf", "[Login]\nKillUserProcesses=1\n"}},
            AtLogout::kEndWithSession);
        row("one in /etc hides its namesake",
            {{group, session},
             {"/usr/lib/systemd/logind.conf.d/20.conf", "[Login]\nKillUserProcesses=yes\n"},
             {main + ".d/20.conf", ""}},
            AtLogout::kGoOn);
        row("what is no drop-in", {{group, session}, {main + ".d/20.conf.bak", kill}},
            AtLogout::kGoOn);
        row("the user's systemd", {{group, manager}}, AtLogout::kEndWithUserManager);
        row("the user lingers", {{group, manager}, {"/var/lib/systemd/linger/me", ""}},
            AtLogout::kGoOn);
    }
    void logoutsAreForetold() {
        using Files = QMap<QString, QByteArray>;
        QFETCH(Files, files);
        QFETCH(AtLogout, expected);
        FakeSysRoot fake;
        for (auto file = files.begin(); file != files.end(); ++file)
            fake.put(file.key(), file.value());
        QVERIFY(readAtLogout(fake.root(), "me") == expected);
    }

    void pathsAreToldApart() {
        QTemporaryDir dir;
        QVERIFY(QDir(dir.path()).mkpath("empty"));
        QVERIFY(QDir(dir.path()).mkpath("full of texts"));
        QFile text(dir.filePath("full of texts/a \"b\".txt"));
        QVERIFY(text.open(QIODevice::WriteOnly));
        text.close();
        QJsonArray requested{text.fileName(),          dir.filePath("full of texts"),
                             dir.filePath("empty"),    dir.filePath("nowhere"),
                             text.fileName() + "/sub", "/dev/null"};
        const auto report = pathsReport(QJsonDocument(requested).toJson().toStdString());
        QVERIFY2(report, report ? "" : report.error().message.c_str());
        const QJsonArray answers =
            QJsonDocument::fromJson(QByteArray::fromStdString(*report)).array();
        QStringList kinds;
        for (int at = 0; at < requested.size(); ++at) {
            kinds << answers.at(at)["kind"].toString();
            QCOMPARE(answers.at(at)["path"], requested.at(at));
        }
        QCOMPARE(kinds, QStringList({"file", "folder", "empty", "missing", "missing", "other"}));
        QVERIFY(!answers.at(3)["error"].toString().isEmpty());
    }

    void whatIsNoListOfPathsIsAnError_data() {
        QTest::addColumn<QString>("list");
        for (const char* list : {"", "{}", "[1]", "[\"/a\"", "\"/a\"", "[[\"/a\"]]"})
            QTest::newRow(*list ? list : "nothing") << list;
    }
    void whatIsNoListOfPathsIsAnError() {
        QFETCH(QString, list);
        QVERIFY(!pathsReport(list.toStdString()));
    }

    void missingDriverIsNoError() {
        const auto gpus = openNvmlGpus("libno-such-driver.so.1");
        QVERIFY(gpus->driver().empty() && gpus->list().empty());
    }

    void gpusAreReadAsFarAsTheyTell() {
        const auto gpus = fakeGpus();
        QCOMPARE(gpus->driver(), std::string("580.65.06"));
        GpuReport sound{"Fake H200", 1000, "GPU-aaaa", 600, 90, "0000:18:00"};
        sound.pcieWidth = sound.pcieWidthMost = 16;
        sound.pcieGeneration = 1;
        sound.pcieGenerationMost = 5;
        sound.retired = 2; // pages, as it knows of no rows
        GpuReport ill{"Fake H200", 1000, "GPU-bbbb", 600, 0, "0000:3b:00"};
        ill.eccCorrected = 7;
        ill.eccUncorrected = 1;
        ill.throttled = {"power-cap", "thermal"};
        ill.pcieWidth = 8;
        ill.pcieWidthMost = 16;
        ill.pcieGeneration = 1;
        ill.pcieGenerationMost = 5;
        ill.retired = 3;
        ill.isRepairPending = true;
        QCOMPARE(gpus->list(), (std::vector<GpuReport>{sound, ill}));
        QCOMPARE(*gpus->read(0).powerW, 350.5f);
        QCOMPARE(*gpus->read(0).temperatureC, 61.0f);
        QCOMPARE(*gpus->read(1).utilization, 0.75f);
        QVERIFY(!gpus->read(1).powerW && !gpus->read(1).temperatureC);
    }

    void processesOfAGpuAreToldByUserAndName() {
        qputenv("RINGMASTER_FAKE_GPU_PID", "4242");
        const auto reset = qScopeGuard([] { qunsetenv("RINGMASTER_FAKE_GPU_PID"); });
        FakeSysRoot fake;
        fake.put("/proc/4242/comm", "python3\n");
        QTemporaryDir empty;
        const std::string folder = empty.path().toStdString();
        const NodeReport report = probeNode({folder, folder}, fake.root(), *fakeGpus());
        QVERIFY(report.gpus[0].processes.empty());
        QCOMPARE(report.gpus[1].processes.size(), size_t{2});
        QVERIFY(report.gpus[1].processes[0] == (GpuProcess{4242, report.user, "python3", 300}));
        QVERIFY(report.gpus[1].processes[1] == (GpuProcess{4'000'000, "", "", 0}));
    }

    void theLastXidOfEachGpuIsReadFromTheKernelsLog() {
        FakeSysRoot fake;
        fake.put("/dev/kmsg",
                 "4,1,1,-;NVRM: Xid (PCI:0000:3B:00): 31, pid=7, name=python3\n"
                 "6,2,2,-;usb 1-1: new device\n"
                 "4,3,3,-;NVRM: Xid (PCI:0000:18:00): 13\n"
                 "4,4,4,-;NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n"
                 "4,5,5,-;NVRM: Xid (PCI:0000:3b:00): unknown\n4,6,6,-;NVRM: Xid (PCI");
        QVERIFY(xidsIn(readKernelLog(fake.root()).value()) ==
                (std::vector<XidReport>{{"0000:18:00", 13, ""},
                                        {"0000:3b:00", 79, "GPU has fallen off the bus."}}));
        QVERIFY(!readKernelLog(FakeSysRoot().root()));
    }

    void theLibstdcxxOfThisMachineIsFound() {
        const std::string newest = newestGlibcxx(SysRoot{});
        QVERIFY2(!isOlderVersion(newest, "3.4.20"), newest.c_str());
        FakeSysRoot fake;
        fake.put("/lib64/libstdc++.so.6", "no library");
        QCOMPARE(newestGlibcxx(fake.root()), std::string());
    }

    /// Ranks would not get it.
    void theLibstdcxxOfAProfileIsNotTold() {
        QFile maps("/proc/self/maps");
        QVERIFY(maps.open(QIODevice::ReadOnly));
        const auto line =
            QRegularExpression("/\\S+/libstdc\\+\\+\\.so\\.6\\S*").match(maps.readAll());
        QFile own(line.captured());
        QVERIFY(own.open(QIODevice::ReadOnly));
        FakeSysRoot fake;
        fake.put("/opt/conda/lib/libstdc++.so.6", own.readAll());
        qputenv("LD_LIBRARY_PATH", "/opt/conda/lib");
        const auto reset = qScopeGuard([] { qunsetenv("LD_LIBRARY_PATH"); });
        QTemporaryDir empty;
        const std::string folder = empty.path().toStdString();
        const NodeReport report = probeNode({folder, folder}, fake.root(), *fakeGpus());
        QCOMPARE(report.libstdcxx, std::string());
    }

    void limitsOfThisLoginAreTold() {
        FakeSysRoot fake;
        fake.put("/sys/class/infiniband/mlx5_0/x", "");
        NodeReport report;
        readLimits(fake.root(), report);
        QVERIFY(report.openFiles != 0 && report.openFilesMost != 0 && report.memlockBytes != 0);
        QCOMPARE(report.shmBytes, int64_t{0});
        QVERIFY(report.rdmaDevices == std::vector<std::string>{"mlx5_0"});
    }

    void aFolderIsTriedAndItsMarkIsTaken() {
        QTemporaryDir dir;
        const auto ask = [&](const QString& path, const char* what) {
            const QJsonObject order{{"path", path}, {"mark", "ab12"}, {"do", what}};
            const auto report = folderReport(Folders{dir.path().toStdString(), "/proc"},
                                             QJsonDocument(order).toJson().toStdString());
            return report ? QJsonDocument::fromJson(QByteArray::fromStdString(*report)).object()
                          : QJsonObject();
        };
        const QString missing = dir.filePath("not/there");
        QVERIFY(!ask(missing, "look")["mark"].toBool());
        const QJsonObject left = ask(missing, "leave");
        QCOMPARE(left["folder"].toString(), dir.path());
        QCOMPARE(left["problem"].toString(), QString());
        QVERIFY(left["free_bytes"].toDouble() > 0);
        QVERIFY(ask(missing, "look")["mark"].toBool());
        QVERIFY(!ask(missing, "leave")["problem"].toString().isEmpty()); // never overwrites
        QVERIFY(!ask(missing, "take")["mark"].toBool());
        QVERIFY(QDir(dir.path()).isEmpty(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot));
        for (const char* order : {"", "[]", R"({"path":"a","mark":"a","do":"look"})",
                                  R"({"path":"/a","mark":"../a","do":"look"})",
                                  R"({"path":"/a","mark":"a","do":"eat"})"})
            QVERIFY2(!folderReport(Folders(), order), order);
        // What was left by a program that was killed goes, and nothing else.
        const QStringList names{QString(".ringmaster-") + QString(32, 'a'),
                                QString(".ringmaster-") + QString(32, 'b'), ".ringmaster-label"};
        for (const QString& name : names) {
            QFile file(dir.filePath(name));
            QVERIFY(file.open(QIODevice::WriteOnly) && file.write(".") == 1);
            if (name != names[1])
                QVERIFY(file.flush() &&
                        file.setFileTime(QDateTime::currentDateTime().addSecs(-7200),
                                         QFileDevice::FileModificationTime));
        }
        ask(missing, "leave"), ask(missing, "take");
        QVERIFY(!QFile::exists(dir.filePath(names[0])));
        QVERIFY(QFile::exists(dir.filePath(names[1])) && QFile::exists(dir.filePath(names[2])));
        QCOMPARE(ask("home", "look")["folder"].toString(), dir.path());
        QVERIFY(!ask("state", "leave")["problem"].toString().isEmpty());
    }

    /// In /proc even root makes no file.
    void foldersInWhichNothingCanBeWrittenAreTold() {
        QTemporaryDir dir;
        const std::string folder = dir.path().toStdString();
        const NodeReport good =
            probeNode({folder, folder + "/not/there"}, FakeSysRoot().root(), NoGpus());
        QCOMPARE(good.homeProblem, std::string());
        QCOMPARE(good.stateProblem, std::string());
        QCOMPARE(QDir(dir.path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot),
                 QStringList("home-id"));
        QCOMPARE(whyNotWritable("/proc/not/there"),
                 std::string("write in /proc: No such file or directory"));
        const NodeReport bad = probeNode({folder, "/proc"}, FakeSysRoot().root(), NoGpus());
        QCOMPARE(bad.homeProblem, std::string());
        QVERIFY2(bad.stateProblem.starts_with("write in /proc: "), bad.stateProblem.c_str());
    }

    void dataIsTheSameWhereNamesSizesAndContentsAre() {
        QTemporaryDir one, other;
        const auto write = [](QTemporaryDir& dir, const QString& name, const QByteArray& text) {
            QDir(dir.path()).mkpath("train/sub");
            QFile file(dir.filePath("train/" + name));
            QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
        };
        const auto print = [](QTemporaryDir& dir) {
            const QJsonObject order{{"paths", QJsonArray{dir.filePath("train")}}, {"seconds", 60}};
            return *fingerprintReport(QJsonDocument(order).toJson().toStdString());
        };
        for (QTemporaryDir* dir : {&one, &other})
            write(*dir, "a.txt", "text"), write(*dir, "sub/b.txt", "more");
        QCOMPARE(print(one), print(other));
        write(other, ".DS_Store", "hidden"); // which the trainer does not read
        QCOMPARE(print(one), print(other));
        const auto late = fingerprintReport(
            QString(R"({"paths":["%1"],"seconds":0})").arg(one.path()).toStdString());
        QVERIFY(!late && late.error().code == ErrorCode::kUnavailable);
        write(other, "sub/b.txt", "MORE");
        QVERIFY(print(one) != print(other));
        QVERIFY(!fingerprintReport("{}") && !fingerprintReport(R"({"paths":[1],"seconds":1})") &&
                !fingerprintReport(R"({"paths":[]})"));
    }

    /// A class of links to pictures of another class is trained on, so that it counts.
    void picturesCountByEachOfTheirNames() {
        QTemporaryDir one, other;
        for (QTemporaryDir* dir : {&one, &other}) {
            QVERIFY(QDir(dir->path()).mkpath("train/cats") &&
                    QDir(dir->path()).mkpath("train/pets"));
            QFile file(dir->filePath("train/cats/a.png"));
            QVERIFY(file.open(QIODevice::WriteOnly) && file.write("png") == 3);
        }
        QVERIFY(QFile::link("../cats/a.png", other.filePath("train/pets/a.png")));
        const auto print = [](QTemporaryDir& dir, bool arePictures) {
            const QJsonObject order{{"paths", QJsonArray{dir.filePath("train")}},
                                    {"pictures", arePictures},
                                    {"seconds", 60}};
            return *fingerprintReport(QJsonDocument(order).toJson().toStdString());
        };
        QCOMPARE(print(one, false), print(other, false)); // a text is read once
        QVERIFY(print(one, true) != print(other, true));
        const auto files = [&](QTemporaryDir& dir) {
            return QJsonDocument::fromJson(QByteArray::fromStdString(print(dir, true)))["files"];
        };
        QCOMPARE(files(one).toInt(), 1);
        QCOMPARE(files(other).toInt(), 2);
    }

    void visibleDevicesDecideWhichGpuARankHas() {
        const auto gpus = fakeGpus();
        QCOMPARE(deviceOfRank(*gpus, "", 1), std::optional<size_t>(1));
        QCOMPARE(deviceOfRank(*gpus, "1", 0), std::optional<size_t>(1));
        QCOMPARE(deviceOfRank(*gpus, "GPU-bbbb,GPU-aaaa", 1), std::optional<size_t>(0));
        QVERIFY(!deviceOfRank(*gpus, "", 2));
        QVERIFY(!deviceOfRank(*gpus, "0", 1));
        QVERIFY(!deviceOfRank(*gpus, "GPU-none", 0));
        QVERIFY(!deviceOfRank(NoGpus(), "", 0));
    }

    void ratesNeedTwoLooks() {
        FakeSysRoot fake;
        recordNode(fake, 0);
        const auto gpus = fakeGpus();
        Sampler sampler(fake.root(), gpus.get(), "");
        const std::vector<SampledRank> ranks = {{4, 0, 42, 7}, {5, 1, 43, 8}};
        const auto first = sampler.sample(ranks, {kSecond, 1});
        QCOMPARE(first.size(), size_t(2));
        QVERIFY(!valueOf(first[0], metric::kNodeCpu) && !valueOf(first[0], metric::kRankCpu));
        QCOMPARE(*valueOf(first[0], metric::kNodeMemoryBytes), 600.0f * 1024);
        QCOMPARE(*valueOf(first[1], metric::kGpuUtilization), 0.75f);
        recordNode(fake, 1);
        const auto second = sampler.sample(ranks, {3 * kSecond, 2});
        QCOMPARE(std::get<Samples>(second[0]).rank, 4);
        QCOMPARE(std::get<Samples>(second[0]).step, int64_t(7));
        QCOMPARE(*valueOf(second[0], metric::kNodeCpu), 0.25f);
        QCOMPARE(*valueOf(second[0], metric::kNodeRxBytesPerS), 500.0f);
        QCOMPARE(*valueOf(second[0], metric::kNodeTxBytesPerS), 1000.0f);
        QCOMPARE(*valueOf(second[0], metric::kNodeDiskReadBytesPerS), 256.0f);
        QCOMPARE(*valueOf(second[0], metric::kNodeDiskWriteBytesPerS), 512.0f);
        const auto ticks = static_cast<float>(::sysconf(_SC_CLK_TCK));
        QCOMPARE(*valueOf(second[0], metric::kRankCpu), 300.0f / ticks / 2);
        QVERIFY(!valueOf(second[1], metric::kNodeCpu));
        QVERIFY(!valueOf(second[1], metric::kRankMemoryBytes)); // pid 43 is gone
    }

    void aGpuThatFallsOffTheBusIsToldOnce() {
        FakeSysRoot fake;
        const auto gpus = fakeGpus();
        Sampler sampler(fake.root(), gpus.get(), "");
        const std::vector<SampledRank> ranks = {{4, 0, 42, 7}, {5, 1, 43, 8}};
        QCOMPARE(sampler.sample(ranks, {kSecond, 1}).size(), size_t(2));
        qputenv("RINGMASTER_FAKE_GPU_LOST", "1");
        const auto records = sampler.sample(ranks, {2 * kSecond, 2});
        const auto after = sampler.sample(ranks, {3 * kSecond, 3});
        qunsetenv("RINGMASTER_FAKE_GPU_LOST");
        QCOMPARE(records.size(), size_t(3));
        const Event lost = std::get<Event>(records[2]);
        QCOMPARE(lost.code, std::string("gpu-lost"));
        QCOMPARE(lost.rank, 5);
        QCOMPARE(lost.step, int64_t(8));
        QVERIFY(lost.message.find("GPU 1 (Fake H200, GPU-bbbb)") != std::string::npos);
        QCOMPARE(after.size(), size_t(2));
    }

    void countersThatFallGiveNoNegativeRate() {
        FakeSysRoot fake;
        recordNode(fake, 1);
        Sampler sampler(fake.root(), nullptr, "");
        sampler.sample({{0, 0, 42, 0}}, {kSecond, 1});
        fake.put("/proc/net/dev", "");
        const auto second = sampler.sample({{0, 0, 42, 0}}, {2 * kSecond, 2});
        QCOMPARE(*valueOf(second[0], metric::kNodeRxBytesPerS), 0.0f);
    }

    void emptySysRootGivesSamplesWithoutNonsense() {
        Sampler sampler(FakeSysRoot().root(), nullptr, "");
        for (int64_t i = 1; i < 3; ++i)
            for (const Record& record : sampler.sample({{0, 0, 42, 0}}, {i * kSecond, i}))
                for (const float value : std::get<Samples>(record).value)
                    QCOMPARE(value, 0.0f);
    }

    void tailIsPlainText_data() {
        QTest::addColumn<QByteArray>("raw");
        QTest::addColumn<QByteArray>("plain");
        QTest::newRow("colours") << QByteArray("\x1b[1;31mred\x1b[0m") << QByteArray("red");
        QTest::newRow("title") << QByteArray("\x1b]0;owned\x07ok") << QByteArray("ok");
        QTest::newRow("title with ST") << QByteArray("\x1b]0;owned\x1b\\ok") << QByteArray("ok");
        QTest::newRow("cut escape") << QByteArray("ok\x1b[12") << QByteArray("ok");
        QTest::newRow("lone escape") << QByteArray("ok\x1b") << QByteArray("ok");
        QTest::newRow("controls") << QByteArray("a\x08\r\nb\tc\x7f") << QByteArray("a\nb\tc");
        QTest::newRow("UTF-8") << QByteArray("caf\xc3\xa9") << QByteArray("caf\xc3\xa9");
        QTest::newRow("Latin-1") << QByteArray("caf\xe9") << QByteArray("caf?");
        QTest::newRow("overlong") << QByteArray("\xe0\x80\xaf") << QByteArray("???");
        QTest::newRow("surrogate") << QByteArray("\xed\xa0\x80") << QByteArray("???");
    }
    void tailIsPlainText() {
        QFETCH(QByteArray, raw);
        QFETCH(QByteArray, plain);
        QCOMPARE(QByteArray::fromStdString(plainText(raw.toStdString())), plain);
    }

    void tailIsShortAndBeginsWithALine() {
        FakeSysRoot fake;
        QByteArray text;
        for (int i = 0; i < 2000; ++i)
            text += "line " + QByteArray::number(i) + "\n";
        fake.put("/log", text);
        const std::string tail = logTail(fake.root().path("/log"));
        QVERIFY(tail.size() <= 4096 && tail.starts_with("line ") && tail.ends_with("line 1999"));
        QVERIFY(logTail(fake.root().path("/log"), static_cast<uint64_t>(text.size())).empty());
        QVERIFY(logTail("/no/such/file").empty());
    }

    void addressesAreParsed_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("host");
        QTest::newRow("IPv4") << "10.0.0.1:29500"
                              << "10.0.0.1";
        QTest::newRow("IPv6") << "[fd00::1]:29500"
                              << "fd00::1";
        QTest::newRow("IPv6 bare") << "fd00::1:29500"
                                   << "fd00::1";
        for (const char* bad : {"", "10.0.0.1", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536",
                                "localhost:1", ":1", "[fd00::1:1", "10.0.0.1:1x"})
            QTest::newRow(bad) << bad << "";
    }
    void addressesAreParsed() {
        QFETCH(QString, text);
        QFETCH(QString, host);
        const auto address = parseSocketAddress(text.toStdString());
        QCOMPARE(address.has_value(), !host.isEmpty());
        if (address) {
            QCOMPARE(QString::fromStdString(address->host()), host);
            QCOMPARE(address->port(), 29500);
        }
    }

    void dialTellsReachedFromRefusedAndSilent() {
        const ListeningThread here({});
        // 192.0.2.0/24 is for documentation alone: silent or unreachable, never there.
        const auto answers =
            here.dial({here.target("127.0.0.1", here.ports.port), here.target("127.0.0.1", 1),
                       here.target("192.0.2.254", 9)});
        QCOMPARE(answers.size(), size_t(3));
        QCOMPARE(answers[0].reach, Reach::kReached);
        QCOMPARE(answers[0].large, LargePackets::kPassed);
        QCOMPARE(answers[0].interface, std::string("lo"));
        QVERIFY(answers[0].microseconds >= 0 && answers[0].mtu > 0);
        QCOMPARE(answers[1].reach, Reach::kRefused);
        QCOMPARE(answers[1].error, std::string("Connection refused"));
        QVERIFY(answers[2].reach != Reach::kReached);
    }

    void anotherListenerIsAStranger() {
        const ListeningThread here({}), other({});
        DialTarget target = here.target("127.0.0.1", other.ports.port);
        QCOMPARE(here.dial({target})[0].reach, Reach::kStranger);
        target.token = other.ports.token;
        QCOMPARE(here.dial({target})[0].reach, Reach::kReached);
    }

    void whoSaysNothingIsSilent() {
        const Descriptor silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* at = reinterpret_cast<sockaddr*>(&address);
        QCOMPARE(::bind(silent.get(), at, size), 0);
        QCOMPARE(::listen(silent.get(), 4), 0);
        QCOMPARE(::getsockname(silent.get(), at, &size), 0);
        DialTarget target;
        target.address = "127.0.0.1";
        target.port = ntohs(address.sin_port);
        const auto answers = dialAll({{target}, -1}, {200, 200, 2000});
        QVERIFY(answers);
        QCOMPARE(answers->front().reach, Reach::kSilent);
        // What was cut short by the end of all dials is no evidence.
        const auto cut = dialAll({{target}, -1}, {200, 20'000, 200});
        QVERIFY(cut);
        QCOMPARE(cut->front().reach, Reach::kUntried);
    }

    void aListenerWhoseTimeIsOverBeforeItsDialsFails() {
        int in[2], out[2];
        QCOMPARE(::pipe(in), 0);
        QCOMPARE(::pipe(out), 0);
        const auto over = listenForDials({}, 0, in[0], out[1]);
        QVERIFY(!over && over.error().code == ErrorCode::kUnavailable);
        ::close(in[1]);
        QVERIFY(listenForDials({}, 60, in[0], out[1]));
        for (const int fd : {in[0], out[0], out[1]})
            ::close(fd);
    }

    void aListenerServesSeveralPortsOfItsRange() {
        ListenOrder order;
        order.next = true;
        order.samples = 2;
        const ListeningThread here(order);
        const OpenPorts& ports = here.ports;
        QCOMPARE(ports.samples.size(), size_t(2));
        QVERIFY(ports.rangeFirst <= ports.samples[0] && ports.samples[0] < ports.samples[1] &&
                ports.samples[1] <= ports.rangeLast);
        QVERIFY(ports.next > 0 && ports.next != ports.port);
        for (const int64_t port : {ports.port, ports.next, ports.samples[0], ports.samples[1]})
            QCOMPARE(here.dial({here.target("127.0.0.1", port)})[0].reach, Reach::kReached);
    }

    void aDialByAnInterfaceThatDoesNotLeadThereHasNoRoute() {
        const ListeningThread here({});
        DialTarget target = here.target("127.0.0.1", here.ports.port);
        target.interface = "eth77";
        QCOMPARE(here.dial({target})[0].reach, Reach::kNoRoute);
    }

    void manyDialsAtOnceAreAllAnswered() {
        const ListeningThread here({});
        const std::vector<DialTarget> targets(1500, here.target("127.0.0.1", here.ports.port));
        const auto answers = dialAll({targets, -1}, {20'000, 20'000, 60'000});
        QVERIFY(answers);
        for (const DialAnswer& answer : *answers)
            QCOMPARE(answer.reach, Reach::kReached);
    }

    void onceOneAddressOfANodeAnswersTheOthersAreNotWaitedFor() {
        const ListeningThread here({});
        DialTarget silent = here.target("192.0.2.254", 9);
        const auto answers = dialAll({{here.target("127.0.0.1", here.ports.port), silent}, 20},
                                     {60'000, 60'000, 60'000});
        QVERIFY(answers);
        QCOMPARE((*answers)[0].reach, Reach::kReached);
        QVERIFY((*answers)[1].reach != Reach::kReached);
    }

    void takenPortIsAnErrorUnlessAnyWillDo() {
        const ListeningThread here({});
        ListenOrder order;
        order.port = here.ports.port;
        int in[2], out[2];
        QCOMPARE(::pipe(in), 0);
        QCOMPARE(::pipe(out), 0);
        const auto second = listenForDials(order, 1, in[0], out[1]);
        QVERIFY(!second.has_value());
        QCOMPARE(second.error().code, ErrorCode::kUnavailable);
        for (const int fd : {in[0], in[1], out[0], out[1]})
            ::close(fd);
        order.orAny = true;
        const ListeningThread other(order);
        QVERIFY(other.ports.port != here.ports.port);
    }

private:
    // Two moments, two seconds apart.
    static void recordNode(FakeSysRoot& fake, int moment) {
        const bool isLater = moment == 1;
        fake.put("/proc/stat", isLater ? "cpu  125 0 0 375 0 0 0 0 9 9\ncpu0 1 1\n"
                                       : "cpu  100 0 0 300 0 0 0 0 9 9\ncpu0 1 1\n");
        fake.put("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\n");
        fake.put("/proc/net/dev",
                 QByteArray("Inter-| x\n face |bytes\n    lo: 9999 0 0 0 0 0 0 0 9999 0\n  eth0:") +
                     (isLater ? "2000 0 0 0 0 0 0 0 3000 0\n" : "1000 0 0 0 0 0 0 0 1000 0\n"));
        fake.put("/proc/diskstats",
                 isLater ? "259 0 nvme0n1 0 0 2 0 0 0 4 0\n259 1 nvme0n1p1 0 0 9 0\n"
                         : "259 0 nvme0n1 0 0 1 0 0 0 2 0\n259 1 nvme0n1p1 0 0 0 0\n");
        fake.put("/sys/block/nvme0n1/device/model", "x\n");
        fake.put("/proc/42/stat", isLater ? rankStat(300, 100, 5) : rankStat(50, 50, 5));
    }
};

QTEST_GUILESS_MAIN(TestProbe)
#include "tst_probe.moc"
