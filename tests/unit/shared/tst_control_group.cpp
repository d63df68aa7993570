// SPDX-License-Identifier: Apache-2.0
#include "shared/io/control_group.h"
#include "tests/unit/shared/shared_test.h"

#include <sched.h>

#include <filesystem>
#include <fstream>

using namespace rm;

class TestControlGroup : public QObject {
    Q_OBJECT

    void write(const QString& name, const QByteArray& text) const {
        const std::string path = m_root->filePath(name).toStdString();
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        std::ofstream(path) << text.toStdString();
    }
    std::string root() const { return m_root->path().toStdString(); }

private Q_SLOTS:
    void init() { m_root = std::make_unique<QTemporaryDir>(); }

    void aQuotaLeavesFewerProcessors_data() {
        QTest::addColumn<QByteArray>("quota");
        QTest::addColumn<int>("cores");
        QTest::newRow("none") << QByteArray("max 100000\n") << 8;
        QTest::newRow("half a processor") << QByteArray("50000 100000\n") << 1;
        QTest::newRow("two") << QByteArray("200000 100000\n") << 2;
        QTest::newRow("rounded") << QByteArray("140000 50000\n") << 3;
        QTest::newRow("more than there are") << QByteArray("6400000 100000\n") << 8;
        QTest::newRow("damaged") << QByteArray("\n") << 8;
    }

    void aQuotaLeavesFewerProcessors() {
        QFETCH(QByteArray, quota);
        QFETCH(int, cores);
        QCOMPARE(coresWithinQuota(8, root()), 8);
        write("proc/self/cgroup", "0::/user.slice/run\n");
        write("sys/fs/cgroup/user.slice/run/cpu.max", quota);
        QCOMPARE(coresWithinQuota(8, root()), cores);
        // What it is in counts as well, as the folder that a container sees.
        write("sys/fs/cgroup/user.slice/run/cpu.max", "max 100000\n");
        write("sys/fs/cgroup/cpu.max", quota);
        QCOMPARE(coresWithinQuota(8, root()), cores);
    }

    void theFirstVersionIsKnownToo() {
        write("proc/self/cgroup", "3:memory:/m\n4:cpu,cpuacct:/a\n0::/\n");
        write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
        write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
        QCOMPARE(coresWithinQuota(8, root()), 8);
        write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "300000\n");
        QCOMPARE(coresWithinQuota(8, root()), 3);
    }

    void anAffinityCounts() {
        cpu_set_t all, one;
        QCOMPARE(::sched_getaffinity(0, sizeof all, &all), 0);
        CPU_ZERO(&one);
        for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
            if (CPU_ISSET(cpu, &all))
                CPU_SET(cpu, &one);
        QVERIFY(givenCores() >= 1 && givenCores() <= CPU_COUNT(&all));
        QCOMPARE(::sched_setaffinity(0, sizeof one, &one), 0);
        const int cores = givenCores();
        QCOMPARE(::sched_setaffinity(0, sizeof all, &all), 0);
        QCOMPARE(cores, 1);
    }

private:
    std::unique_ptr<QTemporaryDir> m_root;
};

QTEST_GUILESS_MAIN(TestControlGroup)
#include "tst_control_group.moc"
