// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/dial.h"
#include "tests/support/netns.h"
#include "tests/support/requirement.h"

#include <QCoreApplication>
#include <QProcess>
#include <QTest>

#include <csignal>

using namespace rm;

namespace {

constexpr int kLimitMs = 20'000;
const QString kRouter = QStringLiteral("10.232.1.1");
const QString kSix = QStringLiteral("fd00:232::2");

QString agent() {
    return QCoreApplication::applicationDirPath() + "/../bin/ringmaster-agent";
}

/// The agent's listener on a node.
class Listener {
public:
    Listener(const NetworkLab& lab, int node) {
        const QStringList command =
            NetworkLab::commandIn(lab.node(node), {agent(), "listen", "--seconds", "60"});
        m_process.start(command.first(), command.mid(1));
        if (QTest::qWaitFor([this] { return m_process.canReadLine(); }, kLimitMs))
            ports = parseOpenPorts(m_process.readLine().toStdString()).value_or(OpenPorts());
    }
    ~Listener() {
        signal(SIGCONT);
        m_process.closeWriteChannel();
        m_process.waitForFinished(kLimitMs);
    }
    /// `ip netns exec` becomes the agent.
    void signal(int number) { ::kill(static_cast<pid_t>(m_process.processId()), number); }

    OpenPorts ports;

private:
    QProcess m_process;
};

/// What one of two nodes, or of three with a router, finds at the other's address.
class Scene {
public:
    explicit Scene(int nodes)
        : m_made(NetworkLab::create("dial", nodes)) {
        if (m_made)
            m_listener.emplace(*m_made, 1);
    }
    bool isReady() const { return m_made && m_listener && m_listener->ports.port > 0; }
    NetworkLab& lab() { return *m_made; }
    Listener& listener() { return *m_listener; }

    DialAnswer dial(const QString& address = NetworkLab::dataAddress(1)) const {
        return dial(address, m_listener->ports.port, m_listener->ports.token);
    }
    DialAnswer dial(const QString& address, int64_t port, const std::string& token) const {
        const DialTarget target{address.toStdString(), port, "", token, 0, true};
        QProcess process;
        const QStringList command = NetworkLab::commandIn(m_made->node(0), {agent(), "dial"});
        process.start(command.first(), command.mid(1));
        process.write(toJson(DialOrder{{target}, -1}).c_str());
        process.closeWriteChannel();
        process.waitForFinished(kLimitMs);
        const QByteArray said = process.readAllStandardOutput();
        const auto answers = parseDialAnswers(said.toStdString(), 1);
        return answers ? answers->front() : DialAnswer();
    }

    /// Commands of ip(8) in the namespace of a node, or of the router for -1.
    bool ip(int node, const QStringList& commands) {
        const QString space =
            node < 0 ? m_made->node(0).replace("node0", "router") : m_made->node(node);
        for (const QString& command : commands)
            if (QProcess::execute("ip", QStringList{"-n", space} + command.split(' ')) != 0)
                return false;
        return true;
    }
    /// Routers answer by ICMP, hosts that do not forward keep silent.
    bool letForward(int node) {
        const QStringList command = NetworkLab::commandIn(
            m_made->node(node),
            {"bash", "-c",
             "echo 1 | tee /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv6/conf/all/forwarding"});
        return QProcess::execute(command.first(), command.mid(1)) == 0;
    }
    /// What a rule of that kind on a node does with connections that come to it.
    bool meetConnectionsBy(int node, const QString& kind) {
        for (const char* family : {"-4", "-6"}) {
            const QString on = QString(family) + " rule ";
            if (!ip(node, {on + "add pref 20 lookup local", on + "del pref 0",
                           on + "add pref 10 iif data0 ipproto tcp " + kind}))
                return false;
        }
        return true;
    }

private:
    Result<NetworkLab> m_made;
    std::optional<Listener> m_listener;
};

} // namespace

#define COMPARE_REACH(answer, expected)                                                            \
    QVERIFY2((answer).reach == (expected),                                                         \
             (jsonWord((answer).reach) + (": " + (answer).error)).c_str())

/// What the kernel of a node says of a way, and what is made of it.
class tst_dial : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void bothFamiliesAreReached();
    void aPortWithoutAListenerIsRefused();
    void whatAnotherListenerAnswersIsAStranger();
    void aListenerThatHangsIsSilentAndNobodyElse();
    void whatIsDroppedOnArrivalIsNoMissingRoute();
    void aFirewallOfTheTargetThatAnswersIsNamed();
    void aFirewallOfARouterThatAnswersIsNamed();
    void aRouterWithoutAWayIsNamed();
    void whatARouterDropsIsDropped();
    void ownRoutesThatDoNotLeadThereAreToldApart_data();
    void ownRoutesThatDoNotLeadThereAreToldApart();
    void anAddressThatNobodyOfTheNetworkHasIsNoNeighbour();
    void aGatewayThatDoesNotAnswerIsNoNeighbour();
    void aCardThatIsDownHasNoRoute();
    void largePacketsThatAreLostAreToldApartByDirection_data();
    void largePacketsThatAreLostAreToldApartByDirection();
};

void tst_dial::initTestCase() {
    const auto can = canMakeNamespaces();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
}

void tst_dial::bothFamiliesAreReached() {
    Scene scene(2);
    QVERIFY(scene.lab().addAddress(0, "data0", "fd00:232::1/64"));
    QVERIFY(scene.lab().addAddress(1, "data0", kSix + "/64"));
    const Listener both(scene.lab(), 1);
    for (const QString& address : {NetworkLab::dataAddress(1), kSix}) {
        const DialAnswer answer = scene.dial(address, both.ports.port, both.ports.token);
        COMPARE_REACH(answer, Reach::kReached);
        QCOMPARE(answer.large, LargePackets::kPassed);
        QCOMPARE(answer.interface, std::string("data0"));
    }
}

void tst_dial::aPortWithoutAListenerIsRefused() {
    Scene scene(2);
    QVERIFY(scene.isReady());
    COMPARE_REACH(scene.dial(NetworkLab::dataAddress(1), 9, "x"), Reach::kRefused);
}

void tst_dial::whatAnotherListenerAnswersIsAStranger() {
    Scene scene(2);
    QVERIFY(scene.isReady());
    COMPARE_REACH(
        scene.dial(NetworkLab::dataAddress(1), scene.listener().ports.port, "another token"),
        Reach::kStranger);
}

void tst_dial::aListenerThatHangsIsSilentAndNobodyElse() {
    Scene scene(2);
    QVERIFY(scene.isReady());
    scene.listener().signal(SIGSTOP); // its kernel takes connections for it
    COMPARE_REACH(scene.dial(), Reach::kSilent);
}

void tst_dial::whatIsDroppedOnArrivalIsNoMissingRoute() {
    Scene scene(2);
    QVERIFY(scene.isReady() && scene.meetConnectionsBy(1, "blackhole"));
    COMPARE_REACH(scene.dial(), Reach::kDropped);
}

void tst_dial::aFirewallOfTheTargetThatAnswersIsNamed() {
    Scene scene(2);
    QVERIFY(scene.lab().addAddress(0, "data0", "fd00:232::1/64"));
    QVERIFY(scene.lab().addAddress(1, "data0", kSix + "/64"));
    QVERIFY(scene.isReady() && scene.letForward(1) && scene.meetConnectionsBy(1, "prohibit"));
    for (const QString& address : {NetworkLab::dataAddress(1), kSix}) {
        const DialAnswer answer = scene.dial(address);
        COMPARE_REACH(answer, Reach::kRejected);
        QCOMPARE(QString::fromStdString(answer.answeredBy), address);
        QCOMPARE(answer.error, std::string("administratively prohibited"));
    }
}

void tst_dial::aFirewallOfARouterThatAnswersIsNamed() {
    Scene scene(3);
    QVERIFY(scene.isReady() &&
            scene.ip(-1, {"route replace prohibit " + NetworkLab::dataAddress(1) + "/32"}));
    const DialAnswer answer = scene.dial();
    COMPARE_REACH(answer, Reach::kRejected);
    QCOMPARE(QString::fromStdString(answer.answeredBy), kRouter);
}

void tst_dial::aRouterWithoutAWayIsNamed() {
    Scene scene(3);
    QVERIFY(scene.isReady() && scene.ip(-1, {"route del " + NetworkLab::dataAddress(1) + "/32"}));
    const DialAnswer answer = scene.dial();
    COMPARE_REACH(answer, Reach::kUnreachable);
    QCOMPARE(QString::fromStdString(answer.answeredBy), kRouter);
    QCOMPARE(answer.error, std::string("network unreachable"));
}

void tst_dial::whatARouterDropsIsDropped() {
    Scene scene(3);
    QVERIFY(scene.isReady() &&
            scene.ip(-1, {"route replace blackhole " + NetworkLab::dataAddress(1) + "/32"}));
    COMPARE_REACH(scene.dial(), Reach::kDropped);
}

void tst_dial::ownRoutesThatDoNotLeadThereAreToldApart_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("word");
    QTest::newRow("none") << ""
                          << "Network is unreachable";
    QTest::newRow("blackhole") << "blackhole"
                               << "leads nowhere";
    QTest::newRow("unreachable") << "unreachable"
                                 << "unreachable";
    QTest::newRow("prohibit") << "prohibit"
                              << "prohibits it";
}

void tst_dial::ownRoutesThatDoNotLeadThereAreToldApart() {
    QFETCH(QString, kind);
    QFETCH(QString, word);
    Scene scene(2);
    QVERIFY(scene.isReady());
    QVERIFY(scene.ip(0, {kind.isEmpty() ? QString("route del 10.232.0.0/24")
                                        : "route add " + kind + " 10.232.0.2/32"}));
    const DialAnswer answer = scene.dial();
    COMPARE_REACH(answer, Reach::kNoRoute);
    QVERIFY2(QString::fromStdString(answer.error).contains(word), answer.error.c_str());
}

void tst_dial::anAddressThatNobodyOfTheNetworkHasIsNoNeighbour() {
    Scene scene(2);
    QVERIFY(scene.lab().addAddress(0, "data0", "fd00:232::1/64"));
    for (const char* address : {"10.232.0.77", "fd00:232::77"}) {
        const DialAnswer answer = scene.dial(address);
        COMPARE_REACH(answer, Reach::kNoNeighbour);
        QVERIFY2(answer.error.find("in the network of data0") != std::string::npos,
                 answer.error.c_str());
    }
}

void tst_dial::aGatewayThatDoesNotAnswerIsNoNeighbour() {
    Scene scene(2);
    QVERIFY(scene.ip(0, {"route add 10.99.0.0/24 via 10.232.0.77"}));
    const DialAnswer answer = scene.dial("10.99.0.5");
    COMPARE_REACH(answer, Reach::kNoNeighbour);
    QVERIFY2(answer.error.find("gateway") != std::string::npos, answer.error.c_str());
}

void tst_dial::aCardThatIsDownHasNoRoute() {
    Scene scene(2);
    QVERIFY(scene.isReady() && scene.lab().setDataLink(false));
    COMPARE_REACH(scene.dial(), Reach::kNoRoute);
}

void tst_dial::largePacketsThatAreLostAreToldApartByDirection_data() {
    QTest::addColumn<int>("behind"); // the node to which large packets do not come
    QTest::addColumn<int>("large");
    QTest::newRow("there") << 1 << static_cast<int>(LargePackets::kLostThere);
    QTest::newRow("back") << 0 << static_cast<int>(LargePackets::kLostBack);
}

void tst_dial::largePacketsThatAreLostAreToldApartByDirection() {
    QFETCH(int, behind);
    QFETCH(int, large);
    Scene scene(3);
    QVERIFY(scene.isReady() && scene.lab().loseLargePacketsTo(behind));
    const DialAnswer answer = scene.dial();
    COMPARE_REACH(answer, Reach::kReached);
    QCOMPARE(static_cast<int>(answer.large), large);
}

QTEST_GUILESS_MAIN(tst_dial)
#include "tst_dial.moc"
