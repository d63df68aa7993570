// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/text.h"
#include "app/core/fleet/check_rows.h"
#include "app/core/fleet/node_comparison.h"
#include "shared/amounts.h"
#include "tests/unit/core/fleet/good_row.h"
#include "tests/unit/core/fleet/sound_report.h"
#include "tests/unit/core/network/network_examples.h"

#include <QTest>

#include <algorithm>

using namespace rm;

using State = CheckRow::State;

/// What a node's report becomes in words: each is what a person reads.
class CheckRowsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aSoundNodeIsGoodInEveryRow();
    void everyWarningSaysWhatToDo();
    void theLibrariesOfTheNodeMustServeTheTrainer();
    void clockSkewIsJudgedWithinItsUncertainty();
    void diskOfTheHomeIsJudged();
    void foldersInWhichNothingCanBeWrittenAreBad();
    void theRuntimeThatARunWouldGetIsTold();
    void oldDriverTrainsOnTheCpu();
    void whatNoDriverChangesIsNotAdvised();
    void aLogoutThatEndsRunsIsToldWithItsCure();
    void whoUsesAGpusMemoryIsTold();
    void errorsOfGpusAreToldWithWhatToDo();
    void heldDownClocksAreToldByTheirReason();
    void aNarrowLinkIsAWarningAndAnIdleOneIsNot();
    void aProcessorThatWasTestedShowsIt();
    void gpusShowHowTheyStoodTheirSelfTest();
    void limitsCountWhereTheyMatter();
    void gpusKeepTheirNumbersWhereOnlySomeAreUsed();
    void wordsOfANodeDoNotBecomeCommands();
    void runsThereAreLiveLeftOverOrForeign();
    void aPublicAddressIsAWarningWithAWayOut();
    void aSlowWayToTheNodeIsTold();
    void agentsOfOthersAreToldAndOffered();
    void anAgentThatFailsSaysWhatToDo_data();
    void anAgentThatFailsSaysWhatToDo();
    void whatWaitsForAPersonHasAButton_data();
    void whatWaitsForAPersonHasAButton();
    void aFixByAButtonNamesItsCommandToo();
    void onlyDifferencesAreCompared();
    void disksAreCountedByThousandsAndMemoryIsNot();
    void sharedFoldersAreSaid();
    void aMachineUnderSeveralNamesIsSaid();
    void whoSharesAFolderIsKnownBeforeItIsDeleted();
    void nodesWithoutAReportAreNotCompared();
};

using rm::test::soundReport;

namespace {

constexpr int64_t kMiB = 1 << 20;

NodeReport gpuReport() {
    NodeReport report = soundReport();
    report.driver = "580.65.06";
    for (const char* id : {"0000:18:00", "0000:3b:00"}) {
        GpuReport gpu{"NVIDIA H200", 140LL << 30, id, 139LL << 30, 90, id};
        gpu.eccCorrected = gpu.eccUncorrected = gpu.retired = 0;
        gpu.pcieWidth = gpu.pcieWidthMost = 16;
        gpu.pcieGeneration = gpu.pcieGenerationMost = 5;
        report.gpus.push_back(gpu);
    }
    report.isKernelLogRead = true;
    return report;
}

/// By cuda13's trainer.
SelfTest selfTestOf(const GpuReport& gpu, std::vector<SelfTestProof> proofs) {
    return {
        gpu.name, gpu.uuid, "580.65.06",      "torch 2.11.0, CUDA 13.0, ringmaster-trainer 0.2.0",
        true,     1,        std::move(proofs)};
}

/// With these runtimes set up on this computer, whatever is.
CheckContext with(const std::string& runtimes) {
    const auto isHere = [runtimes](const Runtime& runtime) {
        return runtimes.find(runtime.name) != std::string::npos;
    };
    return {0, 1'000'000, {}, NeededVersions{"2.34", "3.4.30"}, {}, isHere};
}

const CheckContext kNewEnough = with("cuda13");

CheckRow rowOf(const NodeReport& report, const std::string& id,
               const CheckContext& context = kNewEnough) {
    for (const CheckRow& row : rowsOf(report, context))
        if (row.id == id)
            return row;
    return {};
}

CheckRow warning(const std::string& id, const std::string& title, const std::string& evidence,
                 const std::string& cause, const std::string& fix) {
    return {id, State::kWarning, title, evidence, cause, fix};
}

QByteArray words(const CheckRow& row) {
    return QByteArray::fromStdString(row.id + " | " + row.title + " | " + row.evidence + " | " +
                                     row.cause + " | " + row.fix);
}

} // namespace

namespace QTest {
template <>
char* toString(const CheckRow& row) {
    return qstrdup((QByteArray::number(int(row.state)) + ' ' + words(row)).constData());
}
} // namespace QTest

void CheckRowsTest::aSoundNodeIsGoodInEveryRow() {
    const auto rows = rowsOf(gpuReport(), kNewEnough);
    QStringList ids;
    for (const CheckRow& row : rows) {
        QVERIFY2(row.state == State::kGood, words(row));
        QVERIFY2(!row.evidence.empty() && !row.title.empty(), words(row));
        ids << QString::fromStdString(row.id);
    }
    QCOMPARE(ids,
             (QStringList{"system", "glibc", "libstdcxx", "machine", "gpus", "gpu-memory",
                          "gpu-errors", "gpu-clocks", "gpu-link", "gpu-self-test", "disk", "logout",
                          "limits", "leftovers", "clock", "network", "public-address"}));
    QCOMPARE(rowOf(soundReport(), "network").evidence,
             std::string("ens5 10.0.0.2/24, 10000 Mbit/s"));
    QCOMPARE(rowOf(soundReport(), "machine").evidence, std::string("Some CPU, 8 cores, 64.0 GiB"));
    QVERIFY(rowOf(soundReport(), "gpu-memory").id.empty());
}

/// A node on which everything is wrong.
void CheckRowsTest::everyWarningSaysWhatToDo() {
    NodeReport report = gpuReport();
    report.glibc = "2.31";
    report.libstdcxx.clear();
    report.memoryBytes = 1;
    report.gpus[0].processes = {{7, "you", "python3", 0}};
    report.gpus[0].eccUncorrected = 1;
    report.selfTests = {
        selfTestOf(report.gpus[0], {{"memory", "device", false, "a bit is stuck", 1}})};
    report.gpus[0].throttled = {"thermal"};
    report.gpus[0].pcieWidth = 1;
    report.disks.clear();
    report.atLogout = AtLogout::kEndWithSession;
    report.openFiles = 256;
    report.runs = {{"gpt-1", "gpt", 1, 2, true}};
    report.interfaces.clear();
    int faults = 0;
    CheckContext ahead = kNewEnough;
    ahead.aheadNs = int64_t{1} << 40;
    for (const CheckRow& row : rowsOf(report, ahead)) {
        const bool isGood = row.state == State::kGood;
        faults += isGood ? 0 : 1;
        QVERIFY2(row.cause.empty() == isGood && row.fix.empty() == isGood, words(row));
    }
    QCOMPARE(faults, 14);
}

void CheckRowsTest::theLibrariesOfTheNodeMustServeTheTrainer() {
    QCOMPARE(rowOf(soundReport(), "libstdcxx"),
             goodRow("libstdcxx", "libstdc++", "GLIBCXX 3.4.30; the trainer needs GLIBCXX 3.4.30"));
    NodeReport old = soundReport();
    old.glibc = "2.31";
    old.libstdcxx = "3.4.9";
    QCOMPARE(rowOf(old, "libstdcxx"),
             (CheckRow{"libstdcxx", State::kBad, "libstdc++",
                       "GLIBCXX 3.4.9; the trainer needs GLIBCXX 3.4.30",
                       "the trainer cannot start there: it takes this library from the node, and "
                       "that is too old",
                       "update the node to a system with a later libstdc++ (GCC 12 has 3.4.30), or "
                       "leave it out"}));
    QCOMPARE(rowOf(old, "glibc"),
             (CheckRow{"glibc", State::kBad, "glibc", "2.31; the trainer needs 2.34",
                       "the trainer cannot start there, as its system is older than the trainer's",
                       "update the node to a system with glibc 2.34 or later (Debian 12, Ubuntu "
                       "22.04, RHEL 9 have 2.34 to 2.36), or leave it out"}));
    old.libstdcxx.clear();
    CheckRow missing{"libstdcxx",
                     State::kBad,
                     "libstdc++",
                     "no libstdc++.so.6 where ld.so looks; the trainer needs GLIBCXX 3.4.30",
                     "the trainer cannot start there: it takes this library from the node",
                     "install the C++ standard library of GCC there: sudo apt-get install "
                     "libstdc++6",
                     copyCommand("sudo apt-get install libstdc++6")};
    QCOMPARE(rowOf(old, "libstdcxx"), missing);
    old.os = "Rocky Linux 9.3";
    QCOMPARE(rowOf(old, "libstdcxx").action->argument, std::string("sudo dnf install libstdc++"));
    old.os = "Something Linux";
    QVERIFY(!rowOf(old, "libstdcxx").action);
}

void CheckRowsTest::clockSkewIsJudgedWithinItsUncertainty() {
    const auto at = [](int64_t ahead, int64_t uncertain) {
        return rowOf(soundReport(), "clock", {ahead, uncertain, {}, kNewEnough.needed});
    };
    QVERIFY(at(1'500'000'000, 0).state == State::kGood);
    QVERIFY(at(-5'000'000'000, 4'000'000'000).state == State::kGood);
    QVERIFY(at(5'000'000'000, 0).state == State::kWarning);
    CheckRow behind = warning("clock", "Clock", "86400.0 s behind this computer's",
                              "times of its events are shifted",
                              "set it with NTP: sudo timedatectl set-ntp true");
    behind.action = copyCommand("sudo timedatectl set-ntp true");
    QCOMPARE(at(-86'400'000'000'000, 0), behind);
}

void CheckRowsTest::diskOfTheHomeIsJudged() {
    NodeReport report = soundReport();
    report.disks.push_back({"/home", "xfs", 100LL << 30, 100LL << 20});
    QCOMPARE(rowOf(report, "disk"),
             (CheckRow{"disk", State::kBad, "Disk",
                       "105 MB free of 107 GB for /home/me/.local/share/ringmaster (xfs)",
                       "too little for the trainer and checkpoints",
                       "make room on NODE (Clean up, or ringmaster clean --node NODE, removes what "
                       "no run needs), or name a larger folder as RINGMASTER_HOME in that "
                       "machine's /etc/environment"}));
    QVERIFY(isTight(report));
    // Only what would be added counts: the trainer may be there.
    const auto stateWith = [&report](int64_t toSend) {
        CheckContext context;
        context.toSend = toSend;
        for (const CheckRow& row : rowsOf(report, context))
            if (row.id == "disk")
                return row.state;
        return State::kGood;
    };
    QVERIFY(stateWith(0) == State::kWarning);
    QVERIFY(stateWith(60LL << 20) == State::kWarning);
    QVERIFY(stateWith(90LL << 20) == State::kBad);
    report.disks.back().freeBytes = 1 << 20;
    QVERIFY(stateWith(0) == State::kBad);
    report.disks = {{"/hom", "xfs", 1, 0}, {"/", "ext4", 100LL << 30, 50LL << 30}};
    QVERIFY(!isTight(report));
    QVERIFY(rowOf(report, "disk").state == State::kGood);
    // A home that is bind-mounted from elsewhere: what the agent asked for itself counts.
    report.disks = {{"/", "ext4", 100LL << 30, 100LL << 20}};
    report.homeTotalBytes = 2LL << 40;
    report.homeFreeBytes = 1LL << 40;
    QCOMPARE(rowOf(report, "disk"),
             goodRow("disk", "Disk", "1.1 TB free of 2.2 TB for /home/me/.local/share/ringmaster"));
    report.homeTotalBytes = report.homeFreeBytes = -1;
    report.disks.clear();
    QVERIFY(rowOf(report, "disk").state == State::kWarning);
}

void CheckRowsTest::foldersInWhichNothingCanBeWrittenAreBad() {
    NodeReport report = soundReport();
    QVERIFY(rowOf(report, "folders").id.empty()); // not told
    report.homeProblem = "write in /home/me/.local/share/ringmaster: Read-only file system";
    QCOMPARE(rowOf(report, "folders"),
             (CheckRow{"folders", State::kBad, "Folders", report.homeProblem,
                       "nothing can be sent to it, and no run started there",
                       "let its user write there (see ls -ld and mount: a disk with errors is "
                       "mounted read-only), or name a folder of that user as RINGMASTER_HOME in "
                       "that machine's /etc/environment, then check again"}));
    report.homeProblem.clear();
    report.stateProblem = "write in /home/me/.local/state: No space left on device";
    QCOMPARE(rowOf(report, "folders"),
             (CheckRow{"folders", State::kBad, "Folders", report.stateProblem,
                       "no run can be started there: it writes its journal there",
                       "make room there (see df -h, df -i and quota), or name a folder on another "
                       "disk as XDG_STATE_HOME in that machine's /etc/environment, then check "
                       "again"}));
    report.homeProblem = "write in /h: Permission denied";
    report.stateProblem = "write in /s: Permission denied";
    const CheckRow both = rowOf(report, "folders");
    QCOMPARE(both.evidence, report.homeProblem + "; " + report.stateProblem);
    QVERIFY2(both.fix.find("RINGMASTER_HOME and XDG_STATE_HOME") != std::string::npos, words(both));
}

void CheckRowsTest::theRuntimeThatARunWouldGetIsTold() {
    const NodeReport report = gpuReport();
    const auto gpus = [&report](const std::string& runtimes) {
        return rowOf(report, "gpus", with(runtimes));
    };
    const std::string found = "2 x NVIDIA H200, 140.0 GiB, sm_90; driver 580.65.06";
    QCOMPARE(gpus("cuda12 cuda13"), goodRow("gpus", "GPUs and driver", found + "; runtime cuda13"));
    QCOMPARE(gpus("cuda12"),
             goodRow("gpus", "GPUs and driver",
                     found + "; runtime cuda12, while the newer cuda13 would run, too "
                             "(packaging/run --cuda13)"));
    CheckRow none = warning("gpus", "GPUs and driver", found,
                            "it trains on its CPU, as this computer lacks the runtime cuda13",
                            "set that up on this computer: packaging/run --cuda13");
    none.action = copyCommand("packaging/run --cuda13");
    QCOMPARE(gpus(""), none);
}

void CheckRowsTest::oldDriverTrainsOnTheCpu() {
    NodeReport report = gpuReport();
    report.driver = "470.82";
    const CheckRow row = rowOf(report, "gpus");
    QVERIFY(row.state == State::kWarning);
    QCOMPARE(row.cause,
             std::string("it trains on its CPU, as its driver 470.82 is older than 525"));
    QCOMPARE(row.fix, std::string("install a driver of 525 or later there; or let the node train "
                                  "on its CPU"));
}

void CheckRowsTest::whatNoDriverChangesIsNotAdvised() {
    NodeReport report = gpuReport();
    report.gpus[1] = {"NVIDIA GeForce GT 710", 2LL << 30, "GPU-b", 0, 35};
    CheckContext context = kNewEnough;
    context.node.name = "box";
    QCOMPARE(
        rowOf(report, "gpus", context).fix,
        std::string("take only the GPUs that a runtime serves, with Edit or ringmaster nodes edit "
                    "box --gpus 0; or let the node train on its CPU"));
    report.driver = "470.82"; // which the first of them could have another in the place of
    QCOMPARE(rowOf(report, "gpus", context).fix,
             std::string("install a driver of 525 or later there and take only the GPUs that a "
                         "runtime serves, with Edit or ringmaster nodes edit box --gpus 0; or let "
                         "the node train on its CPU"));
    // Each alone is served, but not both by one runtime.
    NodeReport mixed = gpuReport();
    mixed.gpus[0].computeCapability = 61;
    mixed.gpus[1].computeCapability = 100;
    const std::string one = rowOf(mixed, "gpus", context).fix;
    QVERIFY2(one.find(" --gpus 1; or let") != one.npos, one.c_str());
    report.gpus.erase(report.gpus.begin());
    QCOMPARE(rowOf(report, "gpus", context).fix,
             std::string("no driver changes that: let the node train on its CPU"));
}

void CheckRowsTest::aLogoutThatEndsRunsIsToldWithItsCure() {
    NodeReport report = soundReport();
    QCOMPARE(rowOf(report, "logout"),
             goodRow("logout", "Logout", "a run goes on when me logs out"));
    report.atLogout = AtLogout::kEndWithUserManager;
    CheckRow manager = warning("logout", "Logout", "me does not linger",
                               "a run ends there with the last login of me, as it belongs to the "
                               "user's own systemd",
                               "run there: loginctl enable-linger me");
    manager.action = copyCommand("loginctl enable-linger me");
    QCOMPARE(rowOf(report, "logout"), manager);
    report.atLogout = AtLogout::kEndWithSession;
    // Lingering does not keep systemd-logind from killing what is in a session.
    QCOMPARE(rowOf(report, "logout"),
             warning("logout", "Logout", "KillUserProcesses=yes in logind.conf",
                     "a run ends there when me logs out, as when the connection is closed: "
                     "systemd-logind kills what is left behind",
                     "as root add \"KillExcludeUsers=root me\" to [Login] in "
                     "/etc/systemd/logind.conf, then run systemctl restart systemd-logind"));
}

void CheckRowsTest::whoUsesAGpusMemoryIsTold() {
    NodeReport report = gpuReport();
    QCOMPARE(rowOf(report, "gpu-memory"),
             goodRow("gpu-memory", "GPU memory in use", "by no process"));
    report.gpus[0].processes = {{7, "root", "Xorg", 40 * kMiB},
                                {8, "me", "ringmaster-trai", 90'000 * kMiB}};
    QCOMPARE(rowOf(report, "gpu-memory"),
             goodRow("gpu-memory", "GPU memory in use",
                     "GPU 0: 40.0 MiB by Xorg of root (pid 7); GPU 0: 87.9 GiB by ringmaster-trai "
                     "of me (pid 8)"));
    report.gpus[0].processes.clear();
    report.gpus[1].processes = {{4242, "you", "python3", 70'000 * kMiB}};
    QCOMPARE(rowOf(report, "gpu-memory"),
             warning("gpu-memory", "GPU memory in use",
                     "GPU 1: 68.4 GiB by python3 of you (pid 4242)",
                     "a run there has less memory and shares the GPU's time",
                     "ask you when it ends, or leave that GPU out with Edit, or with ringmaster "
                     "nodes edit NODE --gpus with the numbers of the others"));
    report.gpus[1].processes = {{9, "", "", 0}};
    QCOMPARE(rowOf(report, "gpu-memory").evidence,
             std::string("GPU 1: some by a process of another container (pid 9)"));
    report.gpus[1].processes.clear();
    report.gpus[1].freeBytes = 60LL << 30; // as of a container whose processes are hidden
    const CheckRow hidden = rowOf(report, "gpu-memory");
    QVERIFY(hidden.state == State::kWarning);
    QCOMPARE(hidden.evidence, std::string("GPU 1: 80.0 GiB of 140.0 GiB; by a process that the "
                                          "driver does not list"));
}

void CheckRowsTest::errorsOfGpusAreToldWithWhatToDo() {
    NodeReport report = gpuReport();
    QCOMPARE(rowOf(report, "gpu-errors"),
             goodRow("gpu-errors", "GPU errors", "none by ECC and the driver's log"));
    report.gpus[0].eccCorrected = 7;
    report.gpus[0].retired = 2;
    report.xids = {{"0000:18:00", 31, "pid=7, name=python3"}};
    QCOMPARE(rowOf(report, "gpu-errors"),
             goodRow("gpu-errors", "GPU errors",
                     "GPU 0: 7 memory errors that ECC corrected; GPU 0: 2 faulty places of memory "
                     "out of use; GPU 0: Xid 31, a program used memory that was not its own"));
    report = gpuReport();
    report.gpus[0].eccCorrected = 1;
    report.gpus[0].retired = 1;
    QCOMPARE(
        rowOf(report, "gpu-errors"),
        goodRow("gpu-errors", "GPU errors",
                "GPU 0: 1 memory error that ECC corrected; GPU 0: 1 faulty place of memory out "
                "of use"));
    report = gpuReport();
    report.isKernelLogRead = false; // kernel.dmesg_restrict
    QCOMPARE(rowOf(report, "gpu-errors"),
             goodRow("gpu-errors", "GPU errors",
                     "none by ECC; the driver's log is closed to this user: sudo dmesg | grep Xid "
                     "there shows what it has"));
    report = gpuReport();
    report.gpus[1].eccUncorrected = 1;
    report.gpus[1].isRepairPending = true;
    QCOMPARE(rowOf(report, "gpu-errors"),
             warning("gpu-errors", "GPU errors",
                     "GPU 1: 1 memory error that ECC could not correct; GPU 1: faulty memory is "
                     "taken out of use at the next reset",
                     "what it computes may be wrong, or a run on it may fail",
                     "end what runs on that GPU and reset it (sudo nvidia-smi --gpu-reset), or "
                     "restart the node"));
    report = gpuReport();
    report.gpus.pop_back();
    report.xids = {{"0000:3b:00", 79, "GPU has fallen off the bus."}};
    QCOMPARE(rowOf(report, "gpu-errors"),
             warning("gpu-errors", "GPU errors",
                     "a GPU at 0000:3b:00 that the driver does not list: Xid 79, the GPU fell off "
                     "the bus",
                     "a run on it may fail or hang",
                     "switch the machine off and on; if it comes again, look at power, cooling and "
                     "seat of the card"));
}

void CheckRowsTest::heldDownClocksAreToldByTheirReason() {
    NodeReport report = gpuReport();
    QCOMPARE(rowOf(report, "gpu-clocks"), goodRow("gpu-clocks", "GPU clocks", "not held down"));
    report.gpus[0].throttled = {"power-cap"};
    QCOMPARE(rowOf(report, "gpu-clocks"),
             goodRow("gpu-clocks", "GPU clocks", "GPU 0 is held down by its limit of power"));
    report.gpus[1].throttled = {"power-cap", "hardware-thermal"};
    QCOMPARE(rowOf(report, "gpu-clocks"),
             warning("gpu-clocks", "GPU clocks",
                     "GPU 0 is held down by its limit of power; GPU 1 is held down by its limit of "
                     "power; GPU 1 is held down by its temperature, by the hardware",
                     "steps on it take longer, and all ranks wait for the slowest",
                     "look at fans, dust and the air around the machine, or lower the limit of "
                     "power"));
}

void CheckRowsTest::aNarrowLinkIsAWarningAndAnIdleOneIsNot() {
    NodeReport report = gpuReport();
    for (GpuReport& gpu : report.gpus)
        gpu.pcieGeneration = 1; // it is idle
    QCOMPARE(rowOf(report, "gpu-link"),
             goodRow("gpu-link", "GPU links", "all: PCIe x16 of x16, generation 1 of 5"));
    report.gpus[1].pcieWidth = 8;
    QCOMPARE(rowOf(report, "gpu-link"),
             warning("gpu-link", "GPU links",
                     "GPU 0: PCIe x16 of x16, generation 1 of 5; GPU 1: PCIe x8 of x16, generation "
                     "1 of 5",
                     "data and sums reach it more slowly than they could",
                     "push the card home, or move it to a slot with all lanes; some boards share "
                     "lanes between slots, which is no fault"));
    for (GpuReport& gpu : report.gpus)
        gpu.pcieWidth = 0;
    QCOMPARE(rowOf(report, "gpu-link"), goodRow("gpu-link", "GPU links", "not told by the driver"));
}

void CheckRowsTest::aProcessorThatWasTestedShowsIt() {
    NodeReport report = soundReport();
    SelfTest test{"EPYC", "", "", "torch 2.11.0", true, 1, {}};
    test.proofs = {{"memory", "device", true, "all bits", 1}};
    report.selfTests = {test};
    QCOMPARE(
        rowOf(report, "cpu-self-test"),
        goodRow("cpu-self-test", "CPU self-test", "EPYC: all proofs held (1), with torch 2.11.0"));
    test.wallNs = 2; // the newest counts
    test.proofs[0] = {"memory", "device", false, "a bit is stuck", 1};
    report.selfTests.push_back(test);
    QVERIFY(rowOf(report, "cpu-self-test").state == CheckRow::State::kBad);
    QCOMPARE(rowOf(report, "cpu-self-test").evidence,
             std::string("EPYC failed in memory: a bit is stuck"));
}

void CheckRowsTest::gpusShowHowTheyStoodTheirSelfTest() {
    const auto rows = rowsOf(soundReport()); // no GPU, no row
    QVERIFY(std::ranges::find(rows, "gpu-self-test", &CheckRow::id) == rows.end());
    NodeReport report = soundReport();
    report.driver = "580.65.06";
    report.gpus = {{"NVIDIA H200", 150LL << 30, "GPU-a", 0, 90}};
    const auto row = [&report] { return rowOf(report, "gpu-self-test"); };
    QVERIFY(row().state == CheckRow::State::kGood);
    QVERIFY(row().evidence.find("the first training does it") != std::string::npos);
    QVERIFY(row().action && row().action->kind == CheckAction::Kind::kSelfTest);

    report.selfTests = {
        selfTestOf(report.gpus[0], {{"memory", "device", true, "all bits", 1},
                                    {"GELU kernel", "gelu-kernel", true, "fine", 1}})};
    QCOMPARE(row().evidence,
             std::string("1 of 1 hold all proofs with driver 580.65.06 and cuda13"));
    QVERIFY(!row().action);
    // What another runtime showed says nothing of this one, and a node on its CPU tests no GPU.
    QVERIFY(rowOf(report, "gpu-self-test", with("cuda12")).evidence.find("1 not tested") !=
            std::string::npos);
    QVERIFY(rowOf(report, "gpu-self-test", with("")).id.empty());
    report.selfTests[0].proofs[1] = {"GELU kernel", "gelu-kernel", false, "error 0.05", 1};
    QVERIFY(row().state == CheckRow::State::kWarning);
    QVERIFY2(row().evidence.starts_with("GPU 0 failed in GELU kernel: error 0.05 (training does"),
             row().evidence.c_str());
    report.selfTests[0].proofs[0].held = false;
    QVERIFY(row().state == CheckRow::State::kBad);

    // Of another driver it says nothing.
    report.driver = "595.10";
    QVERIFY(row().state == CheckRow::State::kGood);
    QVERIFY(row().evidence.find("1 not tested with both yet") != std::string::npos);
}

/// As nvidia-smi numbers them: what is to be done is done to that card.
void CheckRowsTest::gpusKeepTheirNumbersWhereOnlySomeAreUsed() {
    NodeReport report = gpuReport();
    report.gpus[1].eccUncorrected = 1;
    report.gpus[1].throttled = {"thermal"};
    report.gpus[1].processes = {{4242, "you", "python3", 70'000 * kMiB}};
    report.selfTests = {
        selfTestOf(report.gpus[1], {{"memory", "device", false, "a bit is stuck", 1}})};
    report.xids = {{report.gpus[0].pciId, 79, "fallen off the bus"},
                   {report.gpus[1].pciId, 94, "contained"}};
    CheckContext second = kNewEnough;
    second.node.name = "box";
    second.node.gpus = {"1"};
    for (const char* id : {"gpu-memory", "gpu-errors", "gpu-clocks", "gpu-link", "gpu-self-test"}) {
        const CheckRow row = rowOf(report, id, second);
        QVERIFY2(row.evidence.find("GPU 1") != std::string::npos &&
                     row.evidence.find("GPU 0") == std::string::npos,
                 words(row));
    }
    const std::string errors = rowOf(report, "gpu-errors", second).evidence;
    QVERIFY2(errors.find("Xid 94") != errors.npos && errors.find("Xid 79") == errors.npos,
             errors.c_str());
    const std::string fix = rowOf(report, "gpu-self-test", second).fix;
    QVERIFY2(fix.find("ringmaster nodes edit box --gpus") != fix.npos, fix.c_str());
    QVERIFY(rowOf(report, "gpus", second).evidence.starts_with("1 x NVIDIA H200"));
    // What the first one has is no matter of the second.
    CheckContext first = second;
    first.node.gpus = {report.gpus[0].uuid};
    QVERIFY(rowOf(report, "gpu-memory", first).state == State::kGood);
    QCOMPARE(rowOf(report, "gpu-errors", first).evidence,
             std::string("GPU 0: Xid 79, the GPU fell off the bus"));
}

/// A command line that a person pastes into a shell has none that a shell would read as more.
void CheckRowsTest::wordsOfANodeDoNotBecomeCommands() {
    const std::string hostile = "me\nrm -rf ~; $(id)";
    NodeReport report = soundReport();
    report.atLogout = AtLogout::kEndWithUserManager;
    report.user = hostile;
    report.runs = {{hostile, "gpt", 1, 1, false}};
    QVERIFY(!rowOf(report, "logout").action);
    QCOMPARE(rowOf(report, "logout").fix, std::string("run there: loginctl enable-linger"));
    const CheckRow there = rowOf(report, "leftovers");
    QVERIFY2(there.state == State::kWarning && !there.action &&
                 there.fix.find("$(id)") == std::string::npos,
             words(there));
    report.runs.push_back({"gpt-1", "gpt", 1, 1, false});
    QCOMPARE(rowOf(report, "leftovers").action->argument, std::string("gpt-1"));
}

void CheckRowsTest::limitsCountWhereTheyMatter() {
    NodeReport report = gpuReport();
    QCOMPARE(
        rowOf(report, "limits"),
        goodRow("limits", "Limits", "locked memory 8.0 MiB, open files 1024, /dev/shm 32.0 GiB"));
    report.rdmaDevices = {"mlx5_0"};
    report.openFiles = 256;
    report.shmBytes = report.shmFreeBytes = 64 * kMiB; // as Docker gives
    QCOMPARE(rowOf(report, "limits"),
             warning("limits", "Limits", "locked memory 8.0 MiB, open files 256, /dev/shm 64.0 MiB",
                     "NCCL cannot register memory with mlx5_0 and falls back to TCP; ranks of many "
                     "nodes run out of open files; only 64.0 MiB of it are free, and NCCL between "
                     "the GPUs of this node may fail with a bus error",
                     "add \"* - memlock unlimited\" to /etc/security/limits.conf, then log in "
                     "again; add \"* - nofile 65536\" to /etc/security/limits.conf, then log in "
                     "again; remove what lies there, or give the container more: --shm-size=8g"));
    report.gpus.clear();
    report.memlockBytes = report.openFiles = -1;
    QCOMPARE(rowOf(report, "limits"),
             goodRow("limits", "Limits",
                     "locked memory unlimited, open files unlimited, /dev/shm 64.0 MiB"));
}

void CheckRowsTest::runsThereAreLiveLeftOverOrForeign() {
    NodeReport report = soundReport();
    QCOMPARE(rowOf(report, "leftovers"), goodRow("leftovers", "Runs there", "none"));
    CheckContext context = kNewEnough;
    context.runs = {{"gpt-1", KnownRun::kLive}, {"gpt-2", KnownRun::kEnded}};
    report.runs = {{"gpt-1", "gpt", 1, 2, true}};
    QCOMPARE(rowOf(report, "leftovers", context),
             goodRow("leftovers", "Runs there", "live, of this Ringmaster: gpt-1 (2 ranks)"));
    report.runs = {{"gpt-2", "gpt", 1, 1, false}};
    CheckRow left =
        warning("leftovers", "Runs there", "left over: gpt-2 (1 rank)",
                "they ended by what is known here, yet hold memory and processors there",
                "end just those: ringmaster nodes end-leftovers NODE gpt-2");
    left.action = CheckAction{CheckAction::Kind::kEndLeftovers, "End leftovers", "gpt-2"};
    QCOMPARE(rowOf(report, "leftovers", context), left);
    report.runs = {{"gpt-1", "gpt", 1, 2, true}, {"other-7", "o", 1, 0, true}};
    const CheckRow foreign = rowOf(report, "leftovers", context);
    QCOMPARE(foreign.evidence, std::string("live, of this Ringmaster: gpt-1 (2 ranks); of another "
                                           "Ringmaster: other-7 (its agent alone)"));
    QCOMPARE(foreign.action->argument, std::string("other-7"));
    QVERIFY2(foreign.fix.starts_with("ask who started"), foreign.fix.c_str());
    constexpr int64_t kHourNs = 3600'000'000'000;
    RunReport other{"other-7", "o", 1, 2, true, 120, kHourNs, "anna@lab"};
    QCOMPARE(otherRunWords(other, 4 * kHourNs),
             std::string("other-7 (2 ranks, trains, at step 120, began 3 h ago, started by "
                         "anna@lab)"));
    other.step = 0;
    QCOMPARE(otherRunWords(other, kHourNs),
             std::string("other-7 (2 ranks, does not train yet, began 0 s ago, started by "
                         "anna@lab)"));
}

void CheckRowsTest::aPublicAddressIsAWarningWithAWayOut() {
    NodeReport report = soundReport();
    report.interfaces.push_back({"eth0", "8.8.4.4", 24, true, 1000});
    const std::string firewall = "let a firewall admit the other nodes alone";
    QCOMPARE(rowOf(report, "public-address"),
             warning("public-address", "Public address", "8.8.4.4 (eth0)",
                     "while ranks of several nodes meet there, anybody who reaches the address can "
                     "connect: PyTorch's rendezvous, Gloo and NCCL know no password",
                     firewall));
    CheckContext measured;
    measured.node.name = "a";
    measured.lastNetwork = [&report] {
        return example::wholeNetwork(
            {example::networkNode("a", report.interfaces),
             example::networkNode("b", {example::at("ens5", "10.0.0.9")})});
    };
    QCOMPARE(rowOf(report, "public-address", measured).fix,
             firewall + ", or keep to a private network: launch.interface = \"ens5\"");
    report.interfaces.back().up = false;
    QVERIFY(rowOf(report, "public-address").state == State::kGood);
}

void CheckRowsTest::aSlowWayToTheNodeIsTold() {
    QCOMPARE(connectionRow("ssh me@a:22", false, 420),
             goodRow("connection", "SSH and host key",
                     "ssh me@a:22, host key known, round trip 0.4 ms"));
    QVERIFY(connectionRow("ssh me@a:22", false, -1).state == State::kGood);
    QCOMPARE(connectionRow("ssh me@a:22", false, 800'000),
             warning("connection", "SSH and host key",
                     "ssh me@a:22, host key known, round trip 800.0 ms",
                     "commands and curves come late; training itself does not wait for them",
                     "look for a nearer or less busy way to the node, such as another jump host"));
}

namespace {

NodeCheck checkOf(const std::string& name, NodeReport report) {
    NodeCheck check;
    check.node = name;
    check.ready = true;
    check.report = std::move(report);
    return check;
}

} // namespace

void CheckRowsTest::agentsOfOthersAreToldAndOffered() {
    NodeReport report = soundReport();
    QVERIFY(!otherAgentsRow(report, "node-a"));
    report.otherAgents = {{std::string(64, 'b'), "0.0.8", 12 << 20, "run gpt-1 lives by it"}};
    QCOMPARE(*otherAgentsRow(report, "node-a"),
             goodRow("other-agents", "Other agents",
                     "release 0.0.8 (12.6 MB), kept: run gpt-1 lives by it"));
    report.otherAgents.push_back({std::string(64, 'c'), "0.0.9", 12 << 20, ""});
    report.otherAgents.push_back({std::string(64, 'd'), report.release, 11 << 20, ""});
    report.otherAgents.push_back({"; reboot", "", 1 << 20, ""});
    const CheckRow row = *otherAgentsRow(report, "node-a");
    QCOMPARE(row.state, State::kWarning);
    QCOMPARE(row.evidence, std::string("release 0.0.8 (12.6 MB), kept: run gpt-1 lives by it; "
                                       "release 0.0.9 (12.6 MB), which no run needs; another "
                                       "build of release 0.1.0 (11.5 MB), which no run needs; of "
                                       "an unknown release (1.0 MB), which no run needs"));
    QCOMPARE(row.fix, std::string("remove just that: ringmaster clean --node node-a --agent "
                                  "cccccccccccc --agent dddddddddddd"));
    QCOMPARE(*row.action, (CheckAction{CheckAction::Kind::kRemoveAgents, "Remove",
                                       "cccccccccccc dddddddddddd"}));
}

void CheckRowsTest::anAgentThatFailsSaysWhatToDo_data() {
    QTest::addColumn<ErrorCode>("code");
    QTest::addColumn<AgentFault>("fault");
    QTest::addColumn<QString>("says");
    QTest::newRow("full disk") << ErrorCode::kExhausted << AgentFault::kNotSent << "make room";
    QTest::newRow("no permission")
        << ErrorCode::kDenied << AgentFault::kNotSent << "let its user write";
    QTest::newRow("noexec") << ErrorCode::kDenied << AgentFault::kNotRun << "without noexec";
    QTest::newRow("old system") << ErrorCode::kInvalid << AgentFault::kNotSent
                                << "glibc 2.34 or later";
    QTest::newRow("silence") << ErrorCode::kUnavailable << AgentFault::kNotRun << "check again;";
    QTest::newRow("no answer") << ErrorCode::kUnavailable << AgentFault::kNotSent
                               << "what does not answer";
    QTest::newRow("damage") << ErrorCode::kCorrupt << AgentFault::kNotSent << "mend what";
}

void CheckRowsTest::anAgentThatFailsSaysWhatToDo() {
    QFETCH(ErrorCode, code);
    QFETCH(AgentFault, fault);
    QFETCH(QString, says);
    const CheckRow row = agentFaultRow({code, "send the agent to node-a: it fails"}, fault);
    QCOMPARE(row.state, State::kBad);
    QCOMPARE(row.id, std::string("agent"));
    QCOMPARE(row.evidence, std::string("send the agent to node-a: it fails"));
    QVERIFY2(QString::fromStdString(row.fix).contains(says), words(row));
}

void CheckRowsTest::whatWaitsForAPersonHasAButton_data() {
    using Failure = ConnectFailure;
    const Error why{ErrorCode::kDenied, "connect to ssh me@box: why"};
    QTest::addColumn<ConnectFailure>("failure");
    QTest::addColumn<QString>("label");
    QTest::newRow("unknown key") << Failure{why, Failure::Need::kTrustHostKey, "SHA256:abc",
                                            Failure::Cause::kHostKey}
                                 << "Trust…";
    QTest::newRow("changed key")
        << Failure{why, Failure::Need::kNothing, {}, Failure::Cause::kHostKey} << "";
    QTest::newRow("password") << Failure{why, Failure::Need::kPassword, {}, Failure::Cause::kLogin}
                              << "Enter password…";
    QTest::newRow("passphrase") << Failure{why,
                                           Failure::Need::kPassphrase,
                                           {},
                                           Failure::Cause::kLogin}
                                << "Enter passphrase…";
    QTest::newRow("no route") << Failure{why, Failure::Need::kNothing, {}, Failure::Cause::kRoute}
                              << "";
    QTest::newRow("jump host")
        << Failure{why, Failure::Need::kNothing, {}, Failure::Cause::kJumpHost} << "";
}

void CheckRowsTest::whatWaitsForAPersonHasAButton() {
    QFETCH(ConnectFailure, failure);
    QFETCH(QString, label);
    const CheckRow row = refusedRow(failure, "box");
    QCOMPARE(QString::fromStdString(row.action.value_or(CheckAction()).label), label);
    if (row.action)
        QCOMPARE(row.action->argument, failure.fingerprint);
    QVERIFY2(!row.fix.starts_with("mend what"), row.fix.c_str()); // a known cause has its own
}

void CheckRowsTest::aFixByAButtonNamesItsCommandToo() {
    using Cause = ConnectFailure::Cause;
    for (const Cause cause :
         {Cause::kName, Cause::kRoute, Cause::kJumpHost, Cause::kRefused, Cause::kLogin}) {
        ConnectFailure failure;
        failure.cause = cause;
        const CheckRow row = refusedRow(failure, "box");
        QVERIFY2(row.fix.find(" with Edit, or with ringmaster nodes edit box --") !=
                     std::string::npos,
                 row.fix.c_str());
    }
}

void CheckRowsTest::onlyDifferencesAreCompared() {
    NodeReport other = gpuReport();
    other.driver = "550.54.15";
    other.gpus.pop_back();
    const NodeComparison found =
        compareNodes({checkOf("a", gpuReport()), checkOf("odd", other), checkOf("b", gpuReport())});
    QCOMPARE(found.compared, 3);
    const std::vector<NodeDifference> expected = {
        {"Driver", {{"580.65.06", {"a", "b"}}, {"550.54.15", {"odd"}}}},
        {"GPUs", {{"2 x NVIDIA H200", {"a", "b"}}, {"1 x NVIDIA H200", {"odd"}}}},
        {"Newest runtime", {{"cuda13", {"a", "b"}}, {"cuda12", {"odd"}}}}};
    QVERIFY(found.differences == expected);
    QVERIFY(found.shared.empty());
    QVERIFY(
        compareNodes({checkOf("a", gpuReport()), checkOf("b", gpuReport())}).differences.empty());
}

void CheckRowsTest::disksAreCountedByThousandsAndMemoryIsNot() {
    QCOMPARE(bytesWords(999), std::string("999 B"));
    QCOMPARE(bytesWords(12 << 20), std::string("12.6 MB"));
    QCOMPARE(bytesWords(329'400'000), std::string("329 MB"));
    QCOMPARE(bytesWords(int64_t{1} << 40), std::string("1.1 TB"));
    QCOMPARE(memoryWords(12 << 20), std::string("12.0 MiB"));
    QCOMPARE(memoryWords(int64_t{1} << 40), std::string("1.0 TiB"));
}

void CheckRowsTest::sharedFoldersAreSaid() {
    NodeReport report = soundReport();
    report.homeId = "h";
    std::vector<NodeCheck> checks;
    for (const char* name : {"a", "b", "c", "d", "e", "f"})
        checks.push_back(checkOf(name, report));
    checks[5].report->homeId = "other";
    checks[0].report->stateId = checks[5].report->stateId = "s";
    QVERIFY(compareNodes(checks).shared ==
            (std::vector<std::string>{
                "a, b, c, d and 1 more share the folder of trainers and data, which is sent once",
                "a, f share the folder of runs, in which each has a part of its own"}));
}

void CheckRowsTest::aMachineUnderSeveralNamesIsSaid() {
    std::vector<NodeCheck> checks;
    for (const char* name : {"a", "b", "c", "old"})
        checks.push_back(checkOf(name, soundReport()));
    QVERIFY(compareNodes(checks).shared.empty()); // an earlier agent does not tell
    for (const size_t at : {0, 1})
        checks[at].report->machine = "boot gpu-1";
    checks[2].report->machine = "boot container";
    const NodeComparison all = compareNodes(checks);
    QCOMPARE(all.shared.size(), size_t{1});
    QVERIFY2(all.shared[0].starts_with("a, b are the same machine: ") &&
                 all.shared[0].ends_with("keep one and remove the others from the list"),
             all.shared[0].c_str());
    // Also where the other one was checked before.
    QVERIFY(compareNodes({checks[1]}, checks).shared[0].starts_with("b, a are the same machine"));
    QVERIFY(compareNodes({checks[2]}, checks).shared.empty());
    checks[1].rows.push_back(goodRow("slurm", "Slurm", "23.02")); // whose jobs train elsewhere
    QVERIFY(compareNodes(checks).shared.empty());
}

void CheckRowsTest::whoSharesAFolderIsKnownBeforeItIsDeleted() {
    std::vector<NodeCheck> checks;
    for (const char* name : {"a", "b", "c", "d"})
        checks.push_back(checkOf(name, soundReport()));
    checks[0].report->homeId = checks[1].report->homeId = "h";
    checks[0].report->stateId = checks[1].report->stateId = checks[2].report->stateId = "s";
    using Names = std::vector<std::string>;
    QVERIFY(sharersOf("a", checks, false) == Names{"b"});
    QVERIFY(sharersOf("a", checks, true) == (Names{"b", "c"}));
    QVERIFY(sharersOf("d", checks, true).empty() && sharersOf("gone", checks, true).empty());
}

void CheckRowsTest::nodesWithoutAReportAreNotCompared() {
    NodeCheck gone;
    gone.node = "gone";
    const NodeComparison found = compareNodes({checkOf("a", soundReport()), gone});
    QCOMPARE(found.compared, 1);
    QVERIFY(found.differences.empty());
}

QTEST_GUILESS_MAIN(CheckRowsTest)
#include "tst_check_rows.moc"
