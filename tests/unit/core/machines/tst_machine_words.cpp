// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/machines/machine_words.h"
#include "shared/io/clock.h"

#include <QTest>

using namespace rm;

namespace {

constexpr int64_t kGiBytes = 1LL << 30;

MachineFacts factsWith(size_t gpus) {
    MachineFacts facts{"boot a", "0.1.0", "EPYC 9", 64, 100 * kGiBytes, "", {}};
    for (size_t i = 0; i < gpus; ++i)
        facts.gpus.push_back({"V100", "GPU-" + std::to_string(i), 16 * kGiBytes, {}, 87.0});
    return facts;
}

ShownMachine machineWith(size_t gpus) {
    ShownMachine machine;
    machine.node = "node-a";
    machine.state = MachineState::kLive;
    machine.facts = factsWith(gpus);
    MachineSample sample;
    sample.cpu = 2.0;
    sample.memoryBytes = 10 * kGiBytes;
    sample.gpus.resize(gpus);
    machine.points.push_back({wallNowNs(), sample});
    return machine;
}

GpuFigures& gpuOf(ShownMachine& machine, size_t at) {
    return machine.points.back().sample.gpus[at];
}

MachineNews newsOf(const char* node, std::vector<int64_t> moments) {
    MachineNews news;
    news.node = node;
    news.state = MachineState::kLive;
    news.facts = factsWith(1);
    for (const int64_t moment : moments)
        news.points.push_back({moment, {}});
    return news;
}

} // namespace

/// What is said of machines that are looked at.
class TestMachineWords : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aGpuIsFreeUntilSomethingUsesIt() {
        ShownMachine machine = machineWith(3);
        QCOMPARE(chipOf(machine).text, std::string("Free"));
        QCOMPARE(ownerOf(machine, 0), std::string("free"));
        gpuOf(machine, 0).utilization = 0.5; // by what the driver does not list
        QCOMPARE(ownerOf(machine, 0), std::string("not listed"));
        QCOMPARE(chipOf(machine).text, std::string("2 free"));
        machine.processes = {
            {7, "alice", "python", "python x", 1.0, 1, {{1, 1}, {2, 1}}, "", "", -1},
            {8, "me", "trainer", "trainer", 1.0, 1, {{2, 1}}, "r-1", "gpt", 3}};
        QCOMPARE(ownerOf(machine, 1), std::string("python · alice"));
        QCOMPARE(ownerOf(machine, 2), std::string("gpt · rank 3 and 1 more")); // ours first
        QCOMPARE(chipOf(machine).text, std::string("Busy"));
        machine.processes = {{9, "", "", "", {}, 0, {{0, 0}}, "", "", -1}};
        QCOMPARE(ownerOf(machine, 0), std::string("process 9 of another container"));
    }

    void processorsAreOfTheProcessThatUsesMost() {
        ShownMachine machine = machineWith(0);
        QCOMPARE(cpuOwnerOf(machine), std::string("free"));
        machine.processes = {{7, "alice", "python", "", 0.4, 1, {}, "", "", -1},
                             {8, "bob", "make", "", {}, 1, {}, "", "", -1}};
        QCOMPARE(cpuOwnerOf(machine), std::string("free"));
        machine.processes[0].cpu = 0.6;
        machine.processes[1].cpu = 3.0;
        QCOMPARE(cpuOwnerOf(machine), std::string("make · bob"));
        machine.processes.push_back({9, "me", "trainer", "", 0.1, 1, {}, "r-1", "gpt", 3});
        QCOMPARE(cpuOwnerOf(machine), std::string("gpt · rank 3")); // ours first
    }

    void aBoardIsSettledOnceEveryNodeHasTold() {
        MachineBoard board("me");
        board.setNodes({"node-a", "node-b"});
        board.take({newsOf("node-a", {wallNowNs()}), newsOf("node-b", {})});
        QVERIFY(!board.isSettled()); // live, without a figure
        MachineNews away;
        away.node = "node-b";
        QCOMPARE(away.state, MachineState::kConnecting);
        board.take({away});
        QVERIFY(!board.isSettled());
        away.state = MachineState::kLost;
        board.take({away});
        QVERIFY(board.isSettled());
    }

    void heatIsAWarningNearWhereTheDriverSlowsDown() {
        ShownMachine machine = machineWith(1);
        const MachineGpu& gpu = machine.facts->gpus[0];
        for (const auto& [degrees, attention] :
             {std::pair(81.0, Attention::kNone), std::pair(82.0, Attention::kWarn),
              std::pair(87.0, Attention::kBad)}) {
            gpuOf(machine, 0).temperatureC = degrees;
            QVERIFY(attentionOfHeat(gpu, gpuOf(machine, 0)) == attention);
        }
        QVERIFY(attentionOfHeat(gpu, GpuFigures{}) == Attention::kNone);
        QCOMPARE(warningsOf(machine),
                 (std::vector<std::string>{"GPU 0: 87 °C, slows down from 87 °C on"}));
    }

    void whatHoldsAClockDownIsNotAlwaysAWarning() {
        ShownMachine machine = machineWith(1);
        gpuOf(machine, 0).throttled = {"power-cap", "application-clocks"};
        QVERIFY(warningsOf(machine).empty());
        QCOMPARE(throttleWords(gpuOf(machine, 0).throttled),
                 std::string("at its limit of power, at the clock that was set"));
        gpuOf(machine, 0).throttled = {"thermal", "hardware-thermal"}; // one cause, two words
        QCOMPARE(warningsOf(machine), (std::vector<std::string>{"GPU 0: slowed by heat"}));
        QVERIFY((chipOf(machine) == MachineChip{MachineChip::Tone::kWarn, "1 warning"}));
    }

    void aLostGpuIsBad() {
        ShownMachine machine = machineWith(2);
        gpuOf(machine, 1).isLost = true;
        QVERIFY(chipOf(machine).tone == MachineChip::Tone::kBad);
        QVERIFY(ownerOf(machine, 1).starts_with("fallen off the bus"));
    }

    void memoryThatIsNearlyFullIsAWarning() {
        ShownMachine machine = machineWith(0);
        QVERIFY(warningsOf(machine).empty());
        machine.points.back().sample.memoryBytes = 96 * kGiBytes;
        QCOMPARE(warningsOf(machine), (std::vector<std::string>{"memory nearly full"}));
    }

    void aMachineThatIsNotLiveHasNoFigures() {
        ShownMachine machine = machineWith(1);
        gpuOf(machine, 0).throttled = {"thermal"};
        for (const auto& [state, words] : {std::pair(MachineState::kLost, "Unreachable"),
                                           std::pair(MachineState::kRefused, "Needs you"),
                                           std::pair(MachineState::kFailed, "No figures"),
                                           std::pair(MachineState::kCluster, "Slurm"),
                                           std::pair(MachineState::kConnecting, "Connecting")}) {
            machine.state = state;
            QCOMPARE(chipOf(machine).text, std::string(words));
            QVERIFY(!machine.now() && warningsOf(machine).empty() && footOf(machine).empty());
        }
    }

    void aMachineIsNamedByItsModels() {
        MachineFacts facts = factsWith(2);
        facts.gpus.push_back({"RTX 4090", "GPU-9", 24 * kGiBytes, {}, {}});
        facts.driver = "550.90";
        QCOMPARE(modelWords(facts),
                 std::string("2 × V100 16.0 GiB · 1 × RTX 4090 24.0 GiB · driver 550.90"));
        QCOMPARE(modelWords(factsWith(0)), std::string("64 CPUs · EPYC 9"));
    }

    void theInterfaceWithTheMostTrafficIsShown() {
        ShownMachine machine = machineWith(0);
        QVERIFY(!busiestInterface(machine));
        machine.points.back().sample.interfaces = {{"eth0", 10, 10}, {"ib0", 500, 500}};
        QCOMPARE(busiestInterface(machine)->name, std::string("ib0"));
        // One that rests for a moment is not replaced by another.
        MachineSample later = machine.points.back().sample;
        later.interfaces = {{"eth0", 30, 30}, {"ib0", 0, 0}};
        machine.points.push_back({wallNowNs(), later});
        QCOMPARE(busiestInterface(machine)->name, std::string("ib0"));
    }

    void aMachineThatIsListedTwiceCountsOnce() {
        ShownMachine a = machineWith(2), b = machineWith(2), c = machineWith(1);
        b.node = "node-b";
        c.node = "node-c";
        c.facts->machine = "boot c";
        gpuOf(a, 0).powerW = 200;
        gpuOf(b, 0).powerW = 200;
        gpuOf(c, 0).powerW = 50;
        const auto same = sameMachines({a, b, c});
        QCOMPARE(same.size(), size_t(2));
        QCOMPARE(same.at("node-a"), std::string("the same machine as node-b"));
        const MachineTotals totals = totalsOf({a, b, c});
        QCOMPARE(totals.machines, 2);
        QCOMPARE(totals.gpus, 3);
        QCOMPARE(*totals.powerW, 250.0);
    }

    void pointsAreTakenOnceAndOldOnesGo() {
        MachineBoard board("me");
        board.setNodes({"node-a", "node-b"});
        const int64_t now = wallNowNs();
        const int64_t old = now - kMachineHistoryNs - 1;
        board.take({newsOf("node-a", {old, now - 2}), newsOf("elsewhere", {now})});
        QCOMPARE(board.machines()[0].points.size(), size_t(1));
        board.take({newsOf("node-a", {now - 2, now - 1})}); // as another holder may tell it again
        QCOMPARE(board.machines()[0].points.size(), size_t(2));
        const MachineLook next = board.next(500, {"node-b"});
        QCOMPARE(next.by, std::string("me"));
        QCOMPARE(next.intervalMs, 500);
        QVERIFY((next.questions ==
                 std::vector<MachineQuestion>{{"node-a", now - 1, false}, {"node-b", 0, true}}));
        board.setNodes({"node-c", "node-a"});
        QCOMPARE(board.machines()[1].points.size(), size_t(2)); // what is known stays
    }
};

QTEST_GUILESS_MAIN(TestMachineWords)
#include "tst_machine_words.moc"
