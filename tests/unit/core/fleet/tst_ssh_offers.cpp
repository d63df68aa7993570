// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/ssh_aliases.h"
#include "app/core/fleet/ssh_offers.h"
#include "app/core/remote/jump_host.h"
#include "shared/io/file.h"

#include <QDir>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace rm;

/// What ~/.ssh/config offers as nodes. HOME is a folder of the test's own.
class SshOffersTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void everyNameLeadsWhereSshWouldGo_data();
    void everyNameLeadsWhereSshWouldGo();
    void whatIsInTheListIsSaid();
    void namesThatCannotBeNodesSayWhy();
    void withoutAConfigNothingIsOffered();
    void jumpHostsOfANodeArePassedAsThoseOfSshConfig();

private:
    void configure(const QByteArray& text, const QString& name = "config") const;
    static SshOffer offerOf(const std::string& alias, const std::vector<Node>& nodes = {});

    std::unique_ptr<QTemporaryDir> m_home;
};

namespace {

const char* const kConfig = "Include {home}/.ssh/config.d/*\n"
                            "Host plain\n  HostName 10.0.0.1\n"
                            "Host full\n  HostName full.example\n  User trainer\n  Port 2201\n"
                            "  IdentityFile ~/.ssh/id_full\n"
                            "Host behind\n  HostName 10.9.9.9\n  ProxyJump gatekeeper@gate:2022\n"
                            "Host hidden\n  ProxyCommand nc -X 5 %h %p\n"
                            "Host equal=sign\n"
                            "Match host matched\n  User by-match\n"
                            "Host matched\n  HostName 10.0.0.7\n  User by-host\n"
                            "Match host 10.0.0.1\n  Port 2202\n"
                            "Match originalhost as-given\n  User by-name\n"
                            "Host as-given\n  HostName 10.0.0.8\n"
                            "Host *\n  User everyone\n";

} // namespace

void SshOffersTest::init() {
    m_home = std::make_unique<QTemporaryDir>();
    qputenv("HOME", m_home->path().toLocal8Bit());
    QVERIFY(QDir(m_home->path()).mkpath(".ssh/config.d"));
    configure(kConfig);
    configure("Host included\n  HostName included.example\n  Port 2203\n", "config.d/one");
}

void SshOffersTest::configure(const QByteArray& text, const QString& name) const {
    QByteArray whole = text;
    whole.replace("{home}", m_home->path().toLocal8Bit());
    QVERIFY(
        writeFileAtomically(m_home->filePath(".ssh/" + name).toStdString(), whole.toStdString()));
}

SshOffer SshOffersTest::offerOf(const std::string& alias, const std::vector<Node>& nodes) {
    for (const SshOffer& offer : sshOffers(nodes, sshAliases()))
        if (offer.node.sshHost == alias)
            return offer;
    return {};
}

void SshOffersTest::everyNameLeadsWhereSshWouldGo_data() {
    QTest::addColumn<QString>("alias");
    QTest::addColumn<QString>("passes");
    QTest::addColumn<QString>("key");
    QTest::newRow("host") << "plain"
                          << ""
                          << "";
    QTest::newRow("all of it") << "full"
                               << ""
                               << "~/.ssh/id_full";
    QTest::newRow("jump host") << "behind"
                               << "gatekeeper@gate:2022"
                               << "";
    QTest::newRow("proxy command") << "hidden"
                                   << "nc -X 5 %h %p"
                                   << "";
    QTest::newRow("Match") << "matched"
                           << ""
                           << "";
    QTest::newRow("Match originalhost") << "as-given"
                                        << ""
                                        << "";
    QTest::newRow("Include") << "included"
                             << ""
                             << "";
}

/// The home of the passwd entry, to which a relative Include refers, is not the test's.
void SshOffersTest::everyNameLeadsWhereSshWouldGo() {
    QFETCH(QString, alias);
    const SshOffer offer = offerOf(alias.toStdString());
    QCOMPARE(QString::fromStdString(offer.node.name), alias);
    QTEST(QString::fromStdString(offer.passes), "passes");
    QTEST(QString::fromStdString(offer.route.keyFile), "key");
    QVERIFY(offer.known.empty() && offer.problem.empty());
    QProcess ssh;
    ssh.start("ssh", {"-F", m_home->filePath(".ssh/config"), "-G", alias});
    QVERIFY(ssh.waitForFinished(20'000) && ssh.exitCode() == 0);
    const QByteArray said = ssh.readAllStandardOutput();
    for (const std::string& line : {"hostname " + offer.route.host, "user " + offer.route.user,
                                    "port " + std::to_string(offer.route.port)})
        QVERIFY2(said.contains(QByteArray::fromStdString(line) + '\n'),
                 said + QByteArray::fromStdString(line));
}

void SshOffersTest::whatIsInTheListIsSaid() {
    Node byAlias;
    byAlias.name = "box";
    byAlias.sshHost = "plain";
    QCOMPARE(offerOf("plain", {byAlias}).known, std::string("box"));
    Node byAddress;
    byAddress.name = "other";
    byAddress.sshHost = "full.example";
    byAddress.user = "trainer";
    byAddress.port = 2201;
    QCOMPARE(offerOf("full", {byAddress}).known, std::string("other"));
    byAddress.jumpHost = "gate";
    QVERIFY(offerOf("full", {byAddress}).known.empty());
}

void SshOffersTest::namesThatCannotBeNodesSayWhy() {
    Node taken;
    taken.name = "plain";
    taken.sshHost = "elsewhere.example";
    QCOMPARE(offerOf("plain", {localNode(), taken}).problem,
             std::string("there is another node of that name"));
    configure("Host this-computer gpu+1 a;id fd00::1\n"
              "Match exec \"echo %n >>{home}/asked\"\n  Port 2203\n");
    QVERIFY(offerOf("this-computer", {localNode()}).problem.ends_with("name of this computer"));
    for (const char* alias : {"gpu+1", "a;id"})
        QVERIFY(offerOf(alias).problem.find("may hold letters, digits and") != std::string::npos);
    QCOMPARE(offerOf("fd00::1").node.name, std::string("fd00--1"));
    QCOMPARE(offerOf("fd00::1").problem, std::string());
    QCOMPARE(offerOf("fd00::1").route.port, 2203);
    // What such a name could do to a command.
    const auto requested = readFile(m_home->filePath("asked").toStdString());
    QVERIFY(requested && requested->find("fd00::1") != std::string::npos);
    QVERIFY(requested->find("a;") == std::string::npos &&
            requested->find("gpu") == std::string::npos);
}

void SshOffersTest::withoutAConfigNothingIsOffered() {
    QVERIFY(QFile::remove(m_home->filePath(".ssh/config")));
    QVERIFY(sshOffers({}, sshAliases()).empty());
}

void SshOffersTest::jumpHostsOfANodeArePassedAsThoseOfSshConfig() {
    Node own;
    own.name = "own";
    own.sshHost = "10.9.9.9";
    own.user = "everyone";
    own.jumpHost = "gatekeeper@gate:2022";
    const auto route = findRoute(own);
    QVERIFY2(route, route ? "" : route.error().message.c_str());
    QCOMPARE(route->proxy, offerOf("behind").route.proxy);
    QCOMPARE(routeTo(own), "ssh everyone@10.9.9.9:22 through " + route->proxy);
    for (const char* jump : {"gate", "me@gate", "gate:22", "me@[fe80::1]:2222", "fe80::1",
                             "outer,inner", "me@outer:22,[fe80::1]:23,you@inner:24"}) {
        own.jumpHost = jump;
        QCOMPARE(jumpHostsIn(findRoute(own)->proxy), std::string(jump));
    }
    own.jumpHost = "me@outer:2022,middle,inner:2023";
    configure("Host 10.9.9.9\n  ProxyJump " + QByteArray::fromStdString(own.jumpHost) + "\n");
    const std::string way = "ssh -J 'me@outer:2022,middle' -p 2023 -W '[%h]:%p' inner";
    QCOMPARE(findRoute(own)->proxy, way);
    own.jumpHost.clear();
    QCOMPARE(findRoute(own)->proxy, way);
}

QTEST_GUILESS_MAIN(SshOffersTest)
#include "tst_ssh_offers.moc"
