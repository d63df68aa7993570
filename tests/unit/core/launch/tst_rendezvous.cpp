// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/agent/agent_client.h"
#include "app/core/launch/rendezvous.h"
#include "tests/unit/core/network/network_examples.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace rm;
using namespace rm::example;

namespace {

PlacedNode placed(const std::string& name, std::vector<InterfaceReport> interfaces) {
    PlacedNode node;
    node.node.name = name;
    node.report.interfaces = std::move(interfaces);
    return node;
}

std::vector<std::string> addressesOf(const Result<NetworkMatrix>& matrix, size_t node) {
    std::vector<std::string> addresses;
    if (matrix)
        for (const InterfaceReport& item : matrix->nodes[node].addresses)
            addresses.push_back(item.address);
    return addresses;
}

/// A script in the place of the agent.
std::string makeAgent(const QTemporaryDir& folder, const QByteArray& script) {
    const QString path = folder.filePath("agent");
    QFile file(path);
    if (file.open(QIODevice::WriteOnly))
        file.write("#!/bin/sh\n" + script + "\n");
    file.setPermissions(QFile::ReadOwner | QFile::ExeOwner);
    return path.toStdString();
}

RunSpec on(const std::string& interface) {
    RunSpec spec;
    spec.launch.interface = interface;
    return spec;
}

} // namespace

class TestRendezvous : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void ranksMeetAtTheChosenAddressOfTheFirstNode();
    void whenNoneIsReachedThePairIsNamed();
    void everyPairOfAFewNodesIsDialed();
    void ofManyNodesEachIsDialedFromAndToSeveral();
    void loopbackLinkLocalAndDownAreNoCandidates();
    void aChosenInterfaceIsTheOnlyCandidateOfNodesThatHaveIt();
    void aVariableOfTheNodeOrTheSpecWins_data();
    void aVariableOfTheNodeOrTheSpecWins();
    void aVariableOfOneNodeNamesAnInterfaceOfIt();
    void aNodeWithoutAnAddressIsNamed();
    void hostileDialAnswersAreErrors_data();
    void hostileDialAnswersAreErrors();
    void hostilePortsAreErrors_data();
    void hostilePortsAreErrors();
    void aListenerThatWasNotThereToTheEndIsTold_data();
    void aListenerThatWasNotThereToTheEndIsTold();
    void anAnswerWithoutEndIsRefused();
};

void TestRendezvous::ranksMeetAtTheChosenAddressOfTheFirstNode() {
    NetworkMatrix matrix =
        wholeNetwork({networkNode("node-a", {at("docker0", "172.17.0.1"), at("ens5", "10.0.0.4")}),
                      networkNode("node-b", {at("ens6", "10.0.0.5")})});
    matrix.nodes[0].ports.next = 29501;
    setAnswer(matrix, 1, "10.0.0.4", answered(Reach::kReached, "ens6"));
    const auto chosen = chooseRendezvous(matrix);
    QVERIFY(chosen);
    QCOMPARE(chosen->masterAddr, std::string("10.0.0.4"));
    QCOMPARE(chosen->masterPort, 29500);
    QCOMPARE(chosen->agentPort, 29501);
    QCOMPARE(chosen->addresses, (std::vector{at("ens5", "10.0.0.4"), at("ens6", "10.0.0.5")}));
    QVERIFY(chosen->ncclElsewhere.empty());
}

void TestRendezvous::whenNoneIsReachedThePairIsNamed() {
    NetworkMatrix matrix = wholeNetwork({networkNode("node-a", {at("ens5", "10.0.0.4")}),
                                         networkNode("node-b", {at("ens5", "10.0.0.5")})});
    setAnswer(matrix, 1, "10.0.0.4", answered(Reach::kDropped, "ens5"));
    const auto chosen = chooseRendezvous(matrix);
    QVERIFY(!chosen);
    QCOMPARE(chosen.error().code, ErrorCode::kUnavailable);
    for (const char* part :
         {"where all ranks can meet", "node-b cannot reach node-a", "10.0.0.4 (ens5)", "dropped"})
        QVERIFY2(chosen.error().message.find(part) != std::string::npos,
                 chosen.error().message.c_str());
}

namespace {

/// Whom `from` dials.
std::vector<int> dialedBy(size_t nodes, int from) {
    std::vector<int> dialed;
    for (int to = 0; to < static_cast<int>(nodes); ++to)
        if (to != from && isDialedForLaunch(nodes, from, to))
            dialed.push_back(to);
    return dialed;
}

} // namespace

/// Or a firewall between the second of four nodes and the last is met by the ranks alone.
void TestRendezvous::everyPairOfAFewNodesIsDialed() {
    QCOMPARE(dialedBy(4, 1), (std::vector<int>{0, 2, 3}));
    for (int from = 0; from < 8; ++from)
        QCOMPARE(dialedBy(8, from).size(), size_t(7));
}

void TestRendezvous::ofManyNodesEachIsDialedFromAndToSeveral() {
    QCOMPARE(dialedBy(9, 0).size(), size_t(8));
    QCOMPARE(dialedBy(9, 4), (std::vector<int>{0, 3, 5}));
    QCOMPARE(dialedBy(9, 8), (std::vector<int>{0, 7}));
}

void TestRendezvous::loopbackLinkLocalAndDownAreNoCandidates() {
    const auto matrix =
        rendezvousCandidates({placed("node-a", {at("lo", "127.0.0.1"),
                                                at("lo", "::1"),
                                                at("eth0", "169.254.3.1"),
                                                at("eth0", "fe80::1"),
                                                {"eth1", "10.0.0.9", 24, false, 1000},
                                                at("eth2", "10.0.1.9")})},
                             RunSpec());
    QCOMPARE(addressesOf(matrix, 0), (std::vector<std::string>{"10.0.1.9"}));
}

void TestRendezvous::aChosenInterfaceIsTheOnlyCandidateOfNodesThatHaveIt() {
    const std::vector<PlacedNode> nodes = {
        placed("node-a", {at("eth0", "10.0.0.9"), at("ib0", "10.0.1.9")}),
        placed("node-b", {at("eth0", "10.0.0.8"), at("ibs1", "10.0.1.8")})};
    const auto matrix = rendezvousCandidates(nodes, on("ib0"));
    QCOMPARE(addressesOf(matrix, 0), (std::vector<std::string>{"10.0.1.9"}));
    QCOMPARE(addressesOf(matrix, 1), (std::vector<std::string>{"10.0.0.8", "10.0.1.8"}));
}

void TestRendezvous::aVariableOfTheNodeOrTheSpecWins_data() {
    using List = std::vector<std::string>;
    QTest::addColumn<List>("ofNode");
    QTest::addColumn<List>("ofSpec");
    QTest::addColumn<List>("used");
    const auto row = [](const char* name) -> QTestData& { return QTest::newRow(name); };
    row("Gloo's") << List{"GLOO_SOCKET_IFNAME=eth1"} << List{} << List{"eth1"};
    row("several of Gloo's") << List{"GLOO_SOCKET_IFNAME=eth0,eth1"} << List{}
                             << List{"eth0", "eth1"};
    row("a whole name") << List{"GLOO_SOCKET_IFNAME=eth"} << List{} << List{};
    row("a beginning") << List{"NCCL_SOCKET_IFNAME=eth"} << List{} << List{"eth0", "eth1"};
    row("whole for NCCL") << List{"NCCL_SOCKET_IFNAME==eth"} << List{} << List{};
    row("all but") << List{"NCCL_SOCKET_IFNAME=^eth"} << List{} << List{"ib0"};
    row("all but one") << List{"NCCL_SOCKET_IFNAME=^=eth0"} << List{} << List{"eth1", "ib0"};
    row("several") << List{"NCCL_SOCKET_IFNAME=ib,eth1"} << List{} << List{"eth1", "ib0"};
    row("each its own") << List{"NCCL_SOCKET_IFNAME=ib0", "GLOO_SOCKET_IFNAME=eth0"} << List{}
                        << List{"eth0", "ib0"};
    row("the spec's") << List{"NCCL_SOCKET_IFNAME=ib0"} << List{"NCCL_SOCKET_IFNAME=eth1"}
                      << List{"eth1"};
    row("an empty one") << List{"NCCL_SOCKET_IFNAME="} << List{} << List{"ib0"};
    row("another") << List{"NCCL_DEBUG=INFO"} << List{} << List{"ib0"};
}

void TestRendezvous::aVariableOfTheNodeOrTheSpecWins() {
    QFETCH(const std::vector<std::string>, ofNode);
    QFETCH(const std::vector<std::string>, ofSpec);
    QFETCH(const std::vector<std::string>, used);
    PlacedNode node = placed("node-a", {at("eth0", "10.0.0.9"), at("eth1", "10.0.1.9"),
                                        at("ib0", "10.0.2.9"), at("lo", "127.0.0.1")});
    node.node.environment = ofNode;
    RunSpec spec = on("ib0");
    spec.launch.environment = ofSpec;
    std::vector<std::string> names;
    for (const InterfaceReport& each : meetingAddresses(node, spec))
        names.push_back(each.name);
    QCOMPARE(names, used);
    const auto candidates = rendezvousCandidates({node}, spec);
    QCOMPARE(candidates.has_value(), !used.empty());
    if (used.empty())
        QVERIFY2(candidates.error().message.find("node-a has no network interface of its " +
                                                 ofNode.front()) != std::string::npos &&
                     candidates.error().message.ends_with("; it has eth0, eth1, ib0"),
                 candidates.error().message.c_str());
}

void TestRendezvous::aVariableOfOneNodeNamesAnInterfaceOfIt() {
    PlacedNode node = placed("node-a", {at("lo", "127.0.0.1"), at("eth0", "10.0.0.9")});
    RunSpec spec;
    QVERIFY(checkAlone(node, spec));
    for (const char* good : {"GLOO_SOCKET_IFNAME=lo", "NCCL_SOCKET_IFNAME=ib"}) {
        node.node.environment = {good};
        QVERIFY(checkAlone(node, spec));
    }
    spec.launch.environment = {"GLOO_SOCKET_IFNAME=eth1"};
    const auto refused = checkAlone(node, spec);
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::kInvalid);
    QVERIFY2(refused.error().message.ends_with("node-a has no network interface of its "
                                               "GLOO_SOCKET_IFNAME=eth1 that is up; it has eth0"),
             refused.error().message.c_str());
}

void TestRendezvous::aNodeWithoutAnAddressIsNamed() {
    const auto lo = at("lo", "127.0.0.1"), eth = at("eth0", "10.0.0.9");
    const auto without = rendezvousCandidates({placed("node-a", {lo, eth})}, on("ib7"));
    QVERIFY(!without);
    QVERIFY(without.error().message.find("node-a has no network interface of the name ib7") !=
            std::string::npos);
    const auto alone =
        rendezvousCandidates({placed("node-a", {eth}), placed("node-b", {lo})}, on("eth0"));
    QVERIFY(!alone);
    QVERIFY(alone.error().message.find("node-b has no network interface that is up") !=
            std::string::npos);
}

void TestRendezvous::hostileDialAnswersAreErrors_data() {
    QTest::addColumn<QByteArray>("answer");
    QTest::newRow("no JSON") << QByteArray("Welcome to Ubuntu\n[]");
    QTest::newRow("object") << QByteArray(R"({"reach": "reached"})");
    QTest::newRow("number") << QByteArray("7");
    QTest::newRow("too few") << QByteArray("[]");
    QTest::newRow("list of numbers") << QByteArray("[1]");
    QTest::newRow("wrong type") << QByteArray(R"([{"reach": 1}])");
}

void TestRendezvous::hostileDialAnswersAreErrors() {
    QFETCH(QByteArray, answer);
    const auto answers = parseDialAnswers(answer.toStdString(), 1);
    QVERIFY(!answers);
    QCOMPARE(answers.error().code, ErrorCode::kCorrupt);
    const std::vector<DialAnswer> good = {answered(Reach::kReached, "ens5"),
                                          answered(Reach::kDropped, "")};
    QVERIFY(parseDialAnswers(toJson(good), 2) == good);
}

void TestRendezvous::hostilePortsAreErrors_data() {
    QTest::addColumn<QByteArray>("answer");
    const QByteArray whole = QByteArray::fromStdString(
        toJson(OpenPorts{29500, 29501, {35000, 52000}, 32768, 60999, "ab"}));
    QTest::newRow("no JSON") << QByteArray("Last login: Tue");
    QTest::newRow("no port") << QByteArray(whole).replace("29500", "0");
    QTest::newRow("no number") << QByteArray(whole).replace("35000", "\"x\"");
    QTest::newRow("too large") << QByteArray(whole).replace("52000", "65536");
    QTest::newRow("half a range") << QByteArray(whole).replace("32768,", "");
}

void TestRendezvous::hostilePortsAreErrors() {
    QFETCH(QByteArray, answer);
    const auto ports = parseOpenPorts(answer.toStdString());
    QVERIFY(!ports);
    QCOMPARE(ports.error().code, ErrorCode::kCorrupt);
}

void TestRendezvous::aListenerThatWasNotThereToTheEndIsTold_data() {
    QTest::addColumn<QByteArray>("then"); // what it does once it listens
    QTest::addColumn<QString>("said");
    QTest::newRow("there") << QByteArray("cat > /dev/null") << "";
    QTest::newRow("over") << QByteArray("echo 30 s were over >&2; exit 1")
                          << "exit code 1: 30 s were over";
    QTest::newRow("killed") << QByteArray("kill -9 $$") << "signal 9";
    QTest::newRow("hangs") << QByteArray("exec sleep 600") << "did not end in time";
}

void TestRendezvous::aListenerThatWasNotThereToTheEndIsTold() {
    QFETCH(QByteArray, then);
    QFETCH(QString, said);
    const QTemporaryDir folder;
    const std::string agent = makeAgent(
        folder, "echo '" + QByteArray::fromStdString(toJson(OpenPorts{29500, 0, {}, 1, 2, "x"})) +
                    "'\n" + then);
    const auto session = openSession(localNode(), {}, {});
    QVERIFY(session);
    auto listener = PortListener::open(**session, agent, {}, {}, {});
    QVERIFY2(listener, listener ? "" : listener.error().message.c_str());
    const auto closed = listener->close();
    QCOMPARE(closed.has_value(), said.isEmpty());
    if (!closed)
        QVERIFY2(QString::fromStdString(closed.error().message).contains(said),
                 closed.error().message.c_str());
}

void TestRendezvous::anAnswerWithoutEndIsRefused() {
    const QTemporaryDir folder;
    const std::string agent = makeAgent(folder, "tr '\\0' x < /dev/zero"); // no newline ever
    const auto session = openSession(localNode(), {}, {});
    QVERIFY(session);
    const auto listener = PortListener::open(**session, agent, {}, {}, {});
    QVERIFY(!listener);
    QCOMPARE(listener.error().code, ErrorCode::kCorrupt);
    QVERIFY2(listener.error().message.ends_with("the host does not answer in lines"),
             listener.error().message.c_str());
}

QTEST_GUILESS_MAIN(TestRendezvous)
#include "tst_rendezvous.moc"
