// SPDX-License-Identifier: Apache-2.0
#include "tests/support/task_state.h"
#include "trainer/agent/posix/process.h"

#include <QTest>

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using namespace rm;

namespace {

constexpr int64_t kLongMs = 20'000;

void* waitForEver(void*) {
    while (true)
        ::pause();
}

/// A child whose first thread is gone while another one lives.
pid_t forkWithoutFirstThread() {
    const pid_t child = ::fork();
    if (child != 0)
        return child;
    pthread_t thread{};
    if (::pthread_create(&thread, nullptr, waitForEver, nullptr) != 0)
        ::_exit(1);
    // Not pthread_exit(), which unwinds the stack of the test.
    ::syscall(SYS_exit, 0);
    ::_exit(1);
}

} // namespace

class TestProcess : public QObject {
    Q_OBJECT
private Q_SLOTS:
    // What holds its locks is not gone, as a supervisor that was just killed.
    void aProcessLivesAsLongAsAnyThreadOfIt() {
        const pid_t child = forkWithoutFirstThread();
        QVERIFY(child > 0);
        QTRY_VERIFY_WITH_TIMEOUT(taskState("/proc/" + std::to_string(child)) == 'Z', kLongMs);
        const ProcessId id = identify(child);
        QVERIFY(isAlive(id));
        const Descriptor process = openProcess(id);
        QVERIFY(!waitGone(process, 0));
        QVERIFY(sendSignal(process, SIGKILL));
        QVERIFY(waitGone(process, kLongMs));
        QVERIFY(!isAlive(id)); // a zombie, until it is waited for
        QCOMPARE(::waitpid(child, nullptr, 0), child);
        QVERIFY(!isAlive(id));
    }

    // A supervisor's own look at the stack of a slow rank was told as "stopped by a debugger".
    void aLookByAChildStopsNothing() {
        const pid_t looked = ::fork();
        if (looked == 0) {
            ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
            waitForEver(nullptr);
        }
        QVERIFY(looked > 0);
        const ProcessId id = identify(looked);
        const pid_t looking = ::fork();
        if (looking == 0) {
            while (::ptrace(PTRACE_ATTACH, looked, nullptr, nullptr) != 0)
                ::usleep(1000);
            waitForEver(nullptr);
        }
        QVERIFY(looking > 0);
        QTRY_VERIFY_WITH_TIMEOUT(isTraced(id), kLongMs);
        QVERIFY(!isStopped(id));
        ::kill(looking, SIGKILL);
        QCOMPARE(::waitpid(looking, nullptr, 0), looking);
        ::kill(looked, SIGSTOP);
        QTRY_VERIFY_WITH_TIMEOUT(isStopped(id), kLongMs);
        ::kill(looked, SIGKILL);
        QCOMPARE(::waitpid(looked, nullptr, 0), looked);
    }
};

QTEST_GUILESS_MAIN(TestProcess)
#include "tst_process.moc"
