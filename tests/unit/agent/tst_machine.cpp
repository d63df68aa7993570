// SPDX-License-Identifier: Apache-2.0
// A recorded machine with the GPUs of a fake NVML, as who looks at it sees it.
#include "shared/io/descriptor.h"
#include "trainer/agent/machine/machine_stream.h"

#include <QDir>
#include <QFile>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

using namespace rm;

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

/// A recorded /proc and /sys.
class RecordedMachine {
public:
    RecordedMachine() {
        put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: EPYC 9\nprocessor\t: 1\n");
        put("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\n");
        put("/sys/block/nvme0n1/device/model", "x\n");
        record(false);
    }

    /// Two moments, which a test says are two seconds apart.
    void record(bool later) {
        put("/proc/stat", later ? "cpu  125 0 0 375 0 0 0 0\ncpu0 100 0 0 150 0 0 0 0\n"
                                  "cpu1 25 0 0 225 0 0 0 0\nintr 1\n"
                                : "cpu  100 0 0 300 0 0 0 0\ncpu0 80 0 0 120 0 0 0 0\n"
                                  "cpu1 20 0 0 180 0 0 0 0\nintr 1\n");
        put("/proc/net/dev",
            QByteArray("Inter-| x\n face |bytes\n    lo: 9 0 0 0 0 0 0 0 9 0\n  eth0:") +
                (later ? "2000 0 0 0 0 0 0 0 3000 0\n" : "1000 0 0 0 0 0 0 0 1000 0\n") +
                "docker0: 5 0 0 0 0 0 0 0 5 0\n");
        put("/proc/diskstats", later ? "259 0 nvme0n1 0 0 2 0 0 0 4 0\n259 1 nvme0n1p1 0 0 9 0\n"
                                     : "259 0 nvme0n1 0 0 1 0 0 0 2 0\n259 1 nvme0n1p1 0 0 0\n");
        process(42, 1, "trainer", QByteArrayLiteral("trainer\0--spec\0a.toml\0"), later ? 300 : 100,
                5);
        process(43, 42, "loader", "loader\0", later ? 110 : 100, 7);
        process(44, 1, "idle\x01", "", 100, 1);
    }

    void process(int pid, int parent, const char* name, const QByteArray& command, int ticks,
                 int pages) {
        const QString folder = "/proc/" + QString::number(pid);
        QByteArray fields = QByteArray::number(pid) + " (a) b) S " + QByteArray::number(parent);
        for (int field = 5; field < 14; ++field)
            fields += " 0";
        fields += " " + QByteArray::number(ticks) + " 0";
        for (int field = 16; field < 24; ++field)
            fields += " 7";
        put(folder + "/stat", fields + " " + QByteArray::number(pages) + " 0\n");
        put(folder + "/comm", QByteArray(name) + "\n");
        put(folder + "/cmdline", command);
    }

    void put(const QString& path, const QByteArray& text) {
        const QString file = m_dir.path() + path;
        QDir().mkpath(QFileInfo(file).path());
        QFile out(file);
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write(text);
    }
    SysRoot root() const { return {m_dir.path().toStdString()}; }
    Folders folders() const {
        const std::string path = m_dir.path().toStdString();
        return {path + "/home", path + "/state"};
    }

private:
    QTemporaryDir m_dir;
};

std::unique_ptr<Gpus> fakeNvml() {
    const QByteArray path = qgetenv("RINGMASTER_BUILD") + "/tests/libfake_nvml.so";
    return openNvmlGpus(path.constData());
}

struct NoGpuAtAll : Gpus {
    std::vector<GpuReport> none;
    std::string driver() const override { return {}; }
    const std::vector<GpuReport>& list() const override { return none; }
    GpuReading read(size_t) const override { return {}; }
};

const ProcessFigures* processOf(const std::vector<ProcessFigures>& all, int64_t pid) {
    const auto found = std::ranges::find(all, pid, &ProcessFigures::pid);
    return found == all.end() ? nullptr : &*found;
}

/// The stream on a thread of its own, between pipes.
class StreamThread {
public:
    explicit StreamThread(MachineSampler& sampler) {
        int in[2], out[2];
        if (::pipe(in) != 0 || ::pipe(out) != 0)
            return;
        m_in = Descriptor(in[1]);
        m_out = Descriptor(out[0]);
        m_thread = std::jthread([this, &sampler, input = in[0], output = out[1]] {
            ended = streamMachine(sampler, input, output);
            ::alarm(0); // which is for a process of its own
            ::close(input);
            ::close(output);
        });
    }
    void say(const std::string& order) {
        QCOMPARE(::write(m_in.get(), order.data(), order.size()),
                 static_cast<ssize_t>(order.size()));
    }
    std::string line() {
        std::string text;
        char one = 0;
        while (::read(m_out.get(), &one, 1) == 1 && one != '\n')
            text += one;
        return text;
    }
    Result<void> finish() {
        m_in = Descriptor();
        m_thread.join();
        return ended;
    }

    Result<void> ended;

private:
    Descriptor m_in, m_out;
    std::jthread m_thread;
};

} // namespace

class TestMachine : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aMachineIsToldWithItsGpus() {
        RecordedMachine machine;
        const auto gpus = fakeNvml();
        MachineSampler sampler(machine.root(), *gpus, machine.folders());
        const MachineFacts facts = sampler.facts();
        QCOMPARE(facts.cpus, 2);
        QCOMPARE(facts.cpuModel, std::string("EPYC 9"));
        QCOMPARE(facts.memoryBytes, int64_t(1000) * 1024);
        QCOMPARE(facts.driver, std::string("580.65.06"));
        QVERIFY(!facts.machine.empty() && !facts.release.empty());
        QCOMPARE(facts.gpus.size(), size_t(2));
        QCOMPARE(facts.gpus[0].name, std::string("Fake H200"));
        QCOMPARE(*facts.gpus[0].powerLimitW, 700.0);
        QCOMPARE(*facts.gpus[0].slowdownC, 87.0);
        QVERIFY(!facts.gpus[1].powerLimitW && !facts.gpus[1].slowdownC);
        QVERIFY(parseMachineLine(toJson(facts)).has_value());
    }

    void ratesAreSinceTheLookBefore() {
        RecordedMachine machine;
        const NoGpuAtAll none;
        MachineSampler sampler(machine.root(), none, machine.folders());
        const MachineSample first = sampler.sample(kSecondNs, 1, {});
        QVERIFY(!first.cpu && !first.diskReadBytesPerS && first.interfaces.empty());
        QVERIFY(!first.processes);
        machine.record(true);
        const MachineSample second = sampler.sample(3 * kSecondNs, 2, {});
        QCOMPARE(second.wallNs, int64_t(2));
        QCOMPARE(*second.cpu, 0.25 * 2); // a quarter of two CPUs
        QCOMPARE(*second.busiestCpu, 20.0 / 50);
        QCOMPARE(second.memoryBytes, int64_t(600) * 1024);
        QCOMPARE(*second.diskReadBytesPerS, 256.0);
        QCOMPARE(*second.diskWriteBytesPerS, 512.0);
        QCOMPARE(second.interfaces.size(), size_t(1)); // no bridge, no loopback
        QVERIFY((second.interfaces[0] == InterfaceFigures{"eth0", 500, 1000}));
    }

    void whatADriverDoesNotTellIsAbsent() {
        RecordedMachine machine;
        const auto gpus = fakeNvml();
        MachineSampler sampler(machine.root(), *gpus, machine.folders());
        const MachineSample sample = sampler.sample(kSecondNs, 1, {});
        QCOMPARE(sample.gpus.size(), size_t(2));
        const GpuFigures& known = sample.gpus[0];
        QCOMPARE(*known.utilization, 0.25);
        QCOMPARE(*known.memoryBytes, 400.0);
        QCOMPARE(*known.temperatureC, 61.0);
        QCOMPARE(*known.powerW, 350.5);
        QCOMPARE(*known.smClockMhz, 1980.0);
        QCOMPARE(*known.memoryClockMhz, 2619.0);
        QVERIFY(known.throttled.empty() && !known.isLost);
        const GpuFigures& other = sample.gpus[1];
        QVERIFY(!other.powerW && !other.temperatureC && !other.smClockMhz);
        QVERIFY((other.throttled == std::vector<std::string>{"power-cap", "thermal"}));
        QVERIFY(!known.pcieRxBytesPerS); // nobody asked for what takes the driver long
    }

    void pcieIsMeasuredInTurnAndKept() {
        RecordedMachine machine;
        const auto gpus = fakeNvml();
        MachineSampler sampler(machine.root(), *gpus, machine.folders());
        (void)sampler.sample(kSecondNs, 1, {.pcie = true}); // of the second, which does not tell
        const MachineSample first = sampler.sample(2 * kSecondNs, 1, {.pcie = true});
        QCOMPARE(*first.gpus[0].pcieRxBytesPerS, 2e6);
        QCOMPARE(*first.gpus[0].pcieTxBytesPerS, 1e6);
        const MachineSample second = sampler.sample(3 * kSecondNs, 1, {.pcie = true});
        QCOMPARE(*second.gpus[0].pcieRxBytesPerS, 2e6);
        QVERIFY(!sampler.sample(4 * kSecondNs, 1, {}).gpus[0].pcieRxBytesPerS);
    }

    void aLostGpuIsSaid() {
        RecordedMachine machine;
        const auto gpus = fakeNvml();
        MachineSampler sampler(machine.root(), *gpus, machine.folders());
        qputenv("RINGMASTER_FAKE_GPU_LOST", "1");
        const auto reset = qScopeGuard([] { qunsetenv("RINGMASTER_FAKE_GPU_LOST"); });
        const MachineSample sample = sampler.sample(kSecondNs, 1, {});
        QVERIFY(!sample.gpus[0].isLost && sample.gpus[1].isLost);
    }

    void usersOfAGpuAreNamed() {
        RecordedMachine machine;
        const auto gpus = fakeNvml();
        qputenv("RINGMASTER_FAKE_GPU_PID", "42");
        const auto reset = qScopeGuard([] { qunsetenv("RINGMASTER_FAKE_GPU_PID"); });
        MachineSampler sampler(machine.root(), *gpus, machine.folders());
        (void)sampler.sample(kSecondNs, 1, {.processes = true});
        machine.record(true);
        const auto all = *sampler.sample(3 * kSecondNs, 1, {.processes = true}).processes;
        const ProcessFigures* trainer = processOf(all, 42);
        QVERIFY(trainer && trainer == &all.front());
        QVERIFY((trainer->gpus == std::vector<ProcessGpu>{{1, 300}}));
        QCOMPARE(trainer->name, std::string("trainer"));
        QCOMPARE(trainer->command, std::string("trainer --spec a.toml"));
        QVERIFY(!trainer->user.empty());
        const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
        QCOMPARE(*trainer->cpu, 200 / ticks / 2);
        QCOMPARE(trainer->memoryBytes, int64_t(5) * ::sysconf(_SC_PAGESIZE));
        QCOMPARE(trainer->rank, -1);
        const ProcessFigures* elsewhere = processOf(all, 4'000'000); // of another container
        QVERIFY(elsewhere && elsewhere->user.empty() && !elsewhere->cpu);
        QVERIFY((elsewhere->gpus == std::vector<ProcessGpu>{{1, 0}}));
        MachineSample told;
        told.processes = all;
        QVERIFY(parseMachineLine(toJson(told)).has_value());
    }

    void childrenOfARankAreItsOwn() {
        RecordedMachine machine;
        ProcessMeter meter(machine.root());
        const std::vector<LivingRank> ranks = {{42, "r1", "fake", 3}};
        const auto all = meter.read({}, ranks, kSecondNs);
        for (const int64_t pid : {42, 43}) {
            const ProcessFigures* process = processOf(all, pid);
            QVERIFY(process);
            QCOMPARE(process->rank, 3);
            QCOMPARE(process->runId, std::string("r1"));
            QCOMPARE(process->runName, std::string("fake"));
        }
        QCOMPARE(processOf(all, 44)->rank, -1);
    }

    void anotherProcessWithThePidHasNoTimesYet() {
        RecordedMachine machine;
        ProcessMeter meter(machine.root());
        (void)meter.read({}, {}, kSecondNs);
        QByteArray fields = "42 (new) S 1";
        for (int field = 5; field < 14; ++field)
            fields += " 0";
        machine.put("/proc/42/stat", fields + " 900 0 7 7 7 7 7 7 8 7 5 0\n"); // began later
        const auto all = meter.read({}, {}, 2 * kSecondNs);
        QVERIFY(processOf(all, 42) && !processOf(all, 42)->cpu);
        QVERIFY(processOf(all, 43)->cpu.has_value());
    }

    void anEmptyMachineIsNoError() {
        const NoGpuAtAll none;
        QTemporaryDir empty;
        MachineSampler sampler({empty.path().toStdString()}, none, {"/no/home", "/no/state"});
        QCOMPARE(sampler.facts().cpus, 0);
        for (int64_t i = 1; i < 3; ++i) {
            const MachineSample sample =
                sampler.sample(i * kSecondNs, i, {.processes = true, .pcie = true});
            QVERIFY(!sample.cpu && sample.gpus.empty() && sample.processes->empty());
        }
    }

    void theStreamBeginsWithFactsAndEndsWithItsInput() {
        RecordedMachine machine;
        const auto gpus = fakeNvml();
        MachineSampler sampler(machine.root(), *gpus, machine.folders());
        StreamThread stream(sampler);
        stream.say("200\n");
        const auto facts = parseMachineLine(stream.line());
        QVERIFY(facts && std::get_if<MachineFacts>(&*facts));
        const auto first = parseMachineLine(stream.line());
        QVERIFY(first && std::get_if<MachineSample>(&*first));
        const auto& sample = std::get<MachineSample>(*first);
        QVERIFY(sample.processes && !sample.interfaces.empty()); // rates at once
        stream.say("300\n");
        QVERIFY(parseMachineLine(stream.line()).has_value());
        const auto ended = stream.finish();
        QVERIFY2(ended, ended ? "" : ended.error().message.c_str());
    }

    void whatIsNoIntervalEndsTheStream_data() {
        QTest::addColumn<QByteArray>("order");
        for (const char* order :
             {"now\n", "199\n", "60001\n", "\n", "200 \n", "-200\n", "99999999999999999999999"})
            QTest::addRow("\"%s\"", QByteArray(order).replace('\n', "\\n").constData())
                << QByteArray(order);
    }
    void whatIsNoIntervalEndsTheStream() {
        QFETCH(QByteArray, order);
        RecordedMachine machine;
        const NoGpuAtAll none;
        MachineSampler sampler(machine.root(), none, machine.folders());
        StreamThread stream(sampler);
        stream.say(order.toStdString());
        QCOMPARE(stream.line(), std::string()); // until the end
        const auto ended = stream.finish();
        QVERIFY(!ended);
        QCOMPARE(ended.error().code, ErrorCode::kInvalid);
    }
};

QTEST_GUILESS_MAIN(TestMachine)
#include "tst_machine.moc"
