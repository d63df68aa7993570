// SPDX-License-Identifier: Apache-2.0
#include "tests/support/task_state.h"
#include "trainer/agent/posix/stack.h"

#include <QTest>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using namespace rm;

namespace stands {

template <class T>
struct Here {
    [[gnu::noinline]] static void still(T) {
        for (;;)
            ::pause();
    }
};

} // namespace stands

namespace {

/// A child that stands in a function whose name is known.
class Child {
public:
    Child()
        : m_pid(::fork()) {
        if (m_pid == 0)
            stands::Here<std::vector<int>>::still({});
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        ::kill(m_pid, SIGKILL);
        ::waitpid(m_pid, nullptr, 0);
    }
    pid_t pid() const { return m_pid; }
    /// 'S' in a wait, 'T' stopped.
    char state() const { return taskState("/proc/" + std::to_string(m_pid)); }

private:
    pid_t m_pid;
};

} // namespace

class TestStack : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void functionsOfAnotherProcessAreNamed() {
        const Child child;
        QTRY_COMPARE(child.state(), 'S');
        const std::string stack = stackOf(child.pid());
        QVERIFY2(stack.starts_with("main: "), stack.c_str());
        QVERIFY2(stack.find("stands::Here::still") != std::string::npos, stack.c_str());
        QTRY_COMPARE(child.state(), 'S'); // goes on
    }

    void oneThatIsStoppedStaysStopped() {
        const Child child;
        QTRY_COMPARE(child.state(), 'S');
        ::kill(child.pid(), SIGSTOP);
        QTRY_COMPARE(child.state(), 'T');
        const std::string stack = stackOf(child.pid());
        QVERIFY2(stack.find("stands::Here::still") != std::string::npos, stack.c_str());
        QTRY_COMPARE(child.state(), 'T');
    }

    void oneThatIsGoneIsSaidSo() {
        pid_t gone = 0;
        {
            const Child child;
            gone = child.pid();
        }
        const std::string stack = stackOf(gone);
        QCOMPARE(stack, std::string("main: its stack cannot be read: the process has ended\n"));
    }

    void oneThatDiesMeanwhileIsSaidSo() {
        const Child child;
        QTRY_COMPARE(child.state(), 'S');
        ::kill(child.pid(), SIGKILL);
        QTRY_COMPARE(child.state(), 'Z'); // nobody has reaped it yet
        const std::string stack = stackOf(child.pid());
        QVERIFY2(stack.starts_with("main: its stack cannot be read: the process has ended\n"),
                 stack.c_str());
    }

    void namesAreShort_data() {
        QTest::addColumn<QByteArray>("symbol");
        QTest::addColumn<QByteArray>("name");
        QTest::newRow("of C") << QByteArray("epoll_wait") << QByteArray("epoll_wait");
        QTest::newRow("method") << QByteArray("_ZNK2rm3Gpt7forwardERKi")
                                << QByteArray("rm::Gpt::forward");
        QTest::newRow("unnamed namespace")
            << QByteArray("_ZN2rm12_GLOBAL__N_19PlainStep16computeGradientsEv")
            << QByteArray("rm::PlainStep::computeGradients");
        QTest::newRow("templates") << QByteArray("_ZNSt6vectorIiSaIiEE9push_backERKi")
                                   << QByteArray("std::vector::push_back");
        QTest::newRow("nothing") << QByteArray("") << QByteArray("");
    }
    void namesAreShort() {
        QFETCH(QByteArray, symbol);
        QTEST(QByteArray::fromStdString(shortFunctionName(symbol)), "name");
    }
};

QTEST_GUILESS_MAIN(TestStack)
#include "tst_stack.moc"
