// SPDX-License-Identifier: Apache-2.0
#include "tests/support/task_state.h"
#include "trainer/agent/posix/process.h"

#include <QTest>

#include <pthread.h>
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
};

QTEST_GUILESS_MAIN(TestProcess)
#include "tst_process.moc"
