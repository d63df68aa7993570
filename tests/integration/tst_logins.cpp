// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/asking_cli.h"
#include "tests/integration/run_facts.h"
#include "tests/integration/testbed.h"
#include "tests/support/requirement.h"

#include <QDirIterator>
#include <QFile>
#include <QJsonArray>
#include <QTest>

using namespace rm;

namespace {

constexpr int kPort = 2223; ///< of the servers that these tests start beside the testbed's
constexpr const char* kPassword = "correct horse";

/// All files below `folder` with this text in them.
QStringList filesThatHold(const QByteArray& text, const QString& folder) {
    QStringList holders;
    QDirIterator files(folder, QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
    while (files.hasNext()) {
        QFile file(files.next());
        // The key that logs in lies in ~/.ssh of the laptop; programs are large and say nothing.
        if (file.size() < 8 << 20 && file.open(QIODevice::ReadOnly) &&
            file.readAll().contains(text))
            holders << file.fileName();
    }
    return holders;
}

} // namespace

/// Nodes that take more than a key in a file: a password, a passphrase, a host between.
class tst_logins : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void passwordIsAskedForOnTheTerminal();
    void refusedLoginIsNotRepeatedButAskedAbout();
    void refusedLoginEndsFollowingWhereNobodyIsAsked();
    void withoutATerminalNothingIsAsked();
    void passphraseIsAskedForOnTheTerminal();
    void nodeBehindAJumpHostTrains_data();
    void nodeBehindAJumpHostTrains();
    void nodeBehindTwoJumpHostsTrains_data();
    void nodeBehindTwoJumpHostsTrains();
    void namesOfSshConfigAreImportedAndTrainAsAGroup();
    void jumpHostThatLetsNobodyPassIsNamed_data();
    void jumpHostThatLetsNobodyPassIsNamed();
    void aNodeThatItsJumpHostDoesNotReachIsNamed();

private:
    const Cli& cli() const { return *m_cli; }
    void serve(int node, const QString& address, SshServer::Options options);
    QStringList addCommand(const QString& target) const;
    void writeSshFile(const QString& name, const QString& text) const;
    void configureJump(int jumpPort) const;

    std::unique_ptr<Testbed> m_bed;
    std::unique_ptr<Cli> m_cli; ///< a laptop that knows no host yet
    std::unique_ptr<SshServer> m_server;
};

void tst_logins::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    auto bed = Testbed::create("logins", {.seeded = true});
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
}

void tst_logins::init() {
    static int count = 0;
    m_cli = std::make_unique<Cli>(m_bed->path("laptop-" + QString::number(++count)),
                                  m_bed->lab().laptop());
}

void tst_logins::cleanup() {
    m_server.reset();
    if (!m_bed)
        return;
    QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 15000);
    QTRY_COMPARE_WITH_TIMEOUT(NetworkLab::processesIn(m_bed->lab().laptop()).size(), 0u, 5000);
}

void tst_logins::serve(int node, const QString& address, SshServer::Options options) {
    options.space = m_bed->lab().node(node);
    options.address = address;
    options.port = kPort;
    auto server = SshServer::start(options);
    QVERIFY2(server, server ? "" : server.error().message.c_str());
    m_server = std::move(*server);
}

QStringList tst_logins::addCommand(const QString& target) const {
    return {"nodes", "add", "node-x", "--ssh", target, "--fingerprint", m_server->fingerprint()};
}

void tst_logins::writeSshFile(const QString& name, const QString& text) const {
    QFile file(cli().home() + "/.ssh/" + name);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text.toUtf8());
}

void tst_logins::passwordIsAskedForOnTheTerminal() {
    serve(0, NetworkLab::managementAddress(0), {.files = {shadowWith(kPassword)}});
    AskingCli add(cli(), addCommand("root@10.231.1.2:2223"));
    QVERIFY2(add.waitForQuestion("Password for node-x"), add.shown());
    add.answer(kPassword);
    const CliResult added = add.finish();
    QVERIFY2(added.exitCode == 0, added.whole());
    QVERIFY2(!add.shown().contains(kPassword), add.shown());
    const QString spec = m_bed->writeSpec("by-password", {.steps = 5});
    AskingCli run(cli(), {"run", spec, "--node", "node-x:1", "--wait"});
    QVERIFY2(run.waitForQuestion("Password for node-x"), run.shown());
    run.answer(kPassword);
    const CliResult trained = run.finish();
    QVERIFY2(trained.exitCode == 0, trained.whole());
    for (const QString& home : {cli().home(), m_server->home()}) {
        const QStringList holders = filesThatHold(kPassword, home);
        QVERIFY2(holders.isEmpty(), qPrintable(holders.join('\n')));
    }
}

void tst_logins::refusedLoginIsNotRepeatedButAskedAbout() {
    serve(0, NetworkLab::managementAddress(0), {.files = {shadowWith(kPassword)}});
    AskingCli add(cli(), addCommand("root@10.231.1.2:2223"));
    QVERIFY(add.waitForQuestion("Password for node-x"));
    add.answer(kPassword);
    QCOMPARE(add.finish().exitCode, 0);
    const QString spec = m_bed->writeSpec("followed", {.steps = 1000000, .checkpointEvery = 0});
    AskingCli run(cli(), {"run", spec, "--node", "node-x:1", "--wait"});
    QVERIFY(run.waitForQuestion("Password for node-x"));
    run.answer(kPassword);
    const auto step = [this] {
        const auto newest = newestRun(cli().database());
        return newest ? newest->step : 0;
    };
    QTRY_VERIFY_WITH_TIMEOUT(step() > 10, 60000);

    QVERIFY(m_server->changePassword("another one"));
    m_server->cutSessions();
    QVERIFY2(run.waitForQuestion("Password for node-x"), run.shown());
    const auto refusals = [this] { return m_server->log().count("Failed password"); };
    QCOMPARE(refusals(), 1);
    const int64_t before = step();
    QVERIFY(!QTest::qWaitFor([&] { return refusals() > 1; }, 3000));
    run.answer("another one");
    QTRY_VERIFY_WITH_TIMEOUT(step() > before, 30000);

    // The terminal that follows has the password, and does this for the other.
    const CliResult stop = cli().run({"stop", newestRun(cli().database())->id});
    QVERIFY2(stop.exitCode == 0, stop.whole());
    const CliResult followed = run.finish();
    QVERIFY2(followed.exitCode == static_cast<int>(ExitCode::kStopped), followed.whole());
}

void tst_logins::refusedLoginEndsFollowingWhereNobodyIsAsked() {
    const QString key = cli().home() + "/.ssh/id_ed25519";
    const auto publicKey = makeSshKey(key);
    QVERIFY(publicKey);
    serve(0, NetworkLab::managementAddress(0), {.authorizedKey = *publicKey});
    const CliResult added = cli().run(addCommand("root@10.231.1.2:2223"));
    QVERIFY2(added.exitCode == 0, added.whole());
    const QString spec = m_bed->writeSpec("shut", {.steps = 1000000, .checkpointEvery = 0});
    const CliResult begun = cli().run({"run", spec, "--node", "node-x:1"});
    QVERIFY2(begun.exitCode == 0, begun.whole());
    const QString id = newestRun(cli().database())->id;

    QVERIFY(QFile::rename(key, key + ".away"));
    for (const QStringList& command : {QStringList{"attach", id}, QStringList{"stop", id}}) {
        const CliResult refused = cli().run(command);
        QVERIFY2(refused.exitCode == static_cast<int>(ExitCode::kDenied), refused.whole());
        QVERIFY2(refused.err.contains("a password is needed"), refused.whole());
    }
    QVERIFY(QFile::rename(key + ".away", key));
    const CliResult stopped = cli().run({"stop", id});
    QVERIFY2(stopped.exitCode == 0, stopped.whole());
}

void tst_logins::withoutATerminalNothingIsAsked() {
    serve(0, NetworkLab::managementAddress(0), {.files = {shadowWith(kPassword)}});
    const CliResult added = cli().run(addCommand("root@10.231.1.2:2223"));
    QCOMPARE(added.exitCode, static_cast<int>(ExitCode::kDenied));
    QVERIFY2(added.err.contains("a password is needed"), added.whole());
}

void tst_logins::passphraseIsAskedForOnTheTerminal() {
    const auto key = makeSshKey(cli().home() + "/.ssh/id_ed25519", "open sesame");
    QVERIFY(key);
    serve(0, NetworkLab::managementAddress(0), {.authorizedKey = *key});
    AskingCli add(cli(), addCommand("root@10.231.1.2:2223"));
    QVERIFY2(add.waitForQuestion("Passphrase of the key for node-x"), add.shown());
    add.answer("open sesame");
    const CliResult added = add.finish();
    QVERIFY2(added.exitCode == 0, added.whole());
}

/// "far" is node 1 by the network that the laptop cannot reach, "near" is node 0.
void tst_logins::configureJump(int jumpPort) const {
    const QString host = "Host %1\n  HostName %2\n  Port %3\n  User root\n  IdentityFile " +
                         m_bed->path("id_ed25519") + "\n";
    writeSshFile("config", host.arg("near", NetworkLab::managementAddress(0)).arg(jumpPort) +
                               host.arg("far", NetworkLab::dataAddress(1)).arg(kPort) +
                               "  ProxyJump near\n");
}

void tst_logins::nodeBehindAJumpHostTrains_data() {
    QTest::addColumn<QString>("target");
    QTest::addColumn<QStringList>("options");
    QTest::newRow("of ssh config") << "far" << QStringList{};
    QTest::newRow("of the node") << "root@" + NetworkLab::dataAddress(1) + ":2223"
                                 << QStringList{"--jump", "near", "--key",
                                                m_bed->path("id_ed25519")};
}

void tst_logins::nodeBehindAJumpHostTrains() {
    serve(1, NetworkLab::dataAddress(1), {.authorizedKey = m_bed->publicKey()});
    QFETCH(QString, target);
    QFETCH(QStringList, options);
    configureJump(m_bed->server(0).port());
    writeSshFile("known_hosts", m_bed->server(0).knownHostsLine() + '\n');
    const CliResult added = cli().run(addCommand(target) + options);
    QVERIFY2(added.exitCode == 0, added.whole());
    const QString spec = m_bed->writeSpec("far", {.steps = 5});
    const CliResult trained = cli().run({"run", spec, "--node", "node-x:1", "--wait"});
    QVERIFY2(trained.exitCode == 0, trained.whole());
    const QStringList holders = filesThatHold("OPENSSH PRIVATE KEY", m_server->home());
    QVERIFY2(holders.isEmpty(), qPrintable(holders.join('\n')));
}

void tst_logins::nodeBehindTwoJumpHostsTrains_data() {
    QTest::addColumn<QStringList>("options");
    QTest::newRow("of ssh config") << QStringList{};
    QTest::newRow("of the node") << QStringList{"--jump", "near,far"};
}

/// Of the two, only "near" can be reached from the laptop, so that their order matters.
void tst_logins::nodeBehindTwoJumpHostsTrains() {
    QFETCH(QStringList, options);
    serve(1, NetworkLab::dataAddress(1), {.authorizedKey = m_bed->publicKey()});
    configureJump(m_bed->server(0).port());
    QFile config(cli().home() + "/.ssh/config");
    QVERIFY(config.open(QIODevice::Append));
    config.write(("Host last\n  HostName " + NetworkLab::managementAddress(1) + "\n  Port " +
                  QString::number(m_bed->server(1).port()) + "\n  User root\n  IdentityFile " +
                  m_bed->path("id_ed25519") + '\n' +
                  (options.isEmpty() ? "  ProxyJump near,far\n" : ""))
                     .toUtf8());
    config.close();
    writeSshFile("known_hosts", m_bed->server(0).knownHostsLine() + '\n' +
                                    m_server->knownHostsLine() + '\n' +
                                    m_bed->server(1).knownHostsLine() + '\n');
    const qsizetype before = m_bed->server(1).log().count("Accepted publickey");
    const CliResult added =
        cli().run(QStringList{"nodes", "add", "node-x", "--ssh", "last"} + options);
    QVERIFY2(added.exitCode == 0, added.whole());
    const QString spec = m_bed->writeSpec("last", {.steps = 5});
    const CliResult trained = cli().run({"run", spec, "--node", "node-x:1", "--wait"});
    QVERIFY2(trained.exitCode == 0, trained.whole());
    const QString log = m_bed->server(1).log();
    QVERIFY2(log.count("Accepted publickey") > before, qPrintable(log));
    const QString passed = m_server->log();
    QVERIFY2(passed.contains("Accepted publickey"), qPrintable(passed));
}

void tst_logins::namesOfSshConfigAreImportedAndTrainAsAGroup() {
    serve(1, NetworkLab::dataAddress(1), {.authorizedKey = m_bed->publicKey()});
    configureJump(m_bed->server(0).port());
    writeSshFile("known_hosts",
                 m_bed->server(0).knownHostsLine() + '\n' + m_server->knownHostsLine() + '\n');
    const QJsonArray offers = cli().run({"nodes", "import", "--json"}).json().array();
    QCOMPARE(offers.size(), 2);
    QCOMPARE(offers[1]["name"].toString(), QString("far"));
    QCOMPARE(offers[1]["host"].toString(), NetworkLab::dataAddress(1));
    QCOMPARE(offers[1]["port"].toInt(), kPort);
    QCOMPARE(offers[1]["jump_host"].toString(), QString("near"));
    QVERIFY(offers[1]["key"].toString().endsWith("id_ed25519"));
    const CliResult spaced = cli().run({"nodes", "import", "far", "--group", "test lab"});
    QVERIFY2(spaced.exitCode != 0 && spaced.err.contains("group 'test lab' must be"),
             spaced.whole());
    const CliResult imported = cli().run({"nodes", "import", "far", "--group", "lab"});
    QVERIFY2(imported.exitCode == 0, imported.whole());
    const CliResult again = cli().run({"nodes", "import", "far"});
    QVERIFY2(again.exitCode != 0 && again.err.contains("is in the list as far"), again.whole());
    const QString spec = m_bed->writeSpec("lab", {.steps = 5});
    const CliResult trained = cli().run({"run", spec, "--node", "@lab:1", "--wait"});
    QVERIFY2(trained.exitCode == 0, trained.whole());
    for (int check = 0; check < 2; ++check)
        QCOMPARE(cli().run({"nodes", "check", "@lab"}).exitCode, 0);
    QCOMPARE(cli().run({"nodes", "history", "far", "--json"}).json().array().size(), 2);
}

void tst_logins::jumpHostThatLetsNobodyPassIsNamed_data() {
    QTest::addColumn<bool>("known");
    QTest::addColumn<int>("port");
    QTest::addColumn<QByteArray>("says");
    QTest::addColumn<QByteArray>("advises");
    QTest::newRow("its key is not known")
        << false << 2222 << QByteArray("Host key verification") << QByteArray("log in there once");
    QTest::newRow("nothing listens") << true << 2299 << QByteArray("Connection refused")
                                     << QByteArray("check its address and port");
}

void tst_logins::jumpHostThatLetsNobodyPassIsNamed() {
    QFETCH(bool, known);
    QFETCH(int, port);
    QFETCH(QByteArray, says);
    QFETCH(QByteArray, advises);
    serve(1, NetworkLab::dataAddress(1), {.authorizedKey = m_bed->publicKey()});
    configureJump(port);
    writeSshFile("known_hosts", known ? m_bed->server(0).knownHostsLine() + '\n' : QString());
    const CliResult added = cli().run(addCommand("far"));
    QCOMPARE(added.exitCode, static_cast<int>(ExitCode::kUnavailable));
    QVERIFY2(added.err.contains("jump host") && added.err.contains(says), added.whole());
    QVERIFY2(added.err.contains(advises), added.whole());
}

void tst_logins::aNodeThatItsJumpHostDoesNotReachIsNamed() {
    serve(1, NetworkLab::dataAddress(1), {.authorizedKey = m_bed->publicKey()});
    const QStringList add = addCommand("far");
    m_server->stop();
    configureJump(m_bed->server(0).port());
    writeSshFile("known_hosts", m_bed->server(0).knownHostsLine() + '\n');
    const CliResult added = cli().run(add);
    QCOMPARE(added.exitCode, static_cast<int>(ExitCode::kUnavailable));
    QVERIFY2(added.err.contains("the jump host let us in, but reached nothing there") &&
                 added.err.contains("Connection refused"),
             added.whole());
}

QTEST_GUILESS_MAIN(tst_logins)
#include "tst_logins.moc"
