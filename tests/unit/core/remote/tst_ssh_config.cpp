// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/chosen_keys_agent.h"
#include "app/core/remote/key_file.h"
#include "app/core/remote/ssh_config.h"
#include "shared/io/file.h"
#include "tests/support/task_state.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <cstdlib>
#include <thread>

using namespace rm;

/// What OpenSSH's own reader makes of ~/.ssh/config. HOME is a folder of the test's own.
class SshConfigTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void theNameAsGivenMatches();
    void userOfTheNodeMatches();
    void onlyWhatAFileSettlesIsKept();
    void withoutAFileNothingIsSettled();
    void aFileThatSshRefusesIsToldWithItsLine();
    void withoutSshItIsSaidWhatToInstall();
    void aMatchExecIsEndedWithTheQuestion();
    void agentMayBeAPathAVariableOrNone();

    void otherKeysOfAnAgentAreLeftOut();
    void ofADamagedListNothingIsLeft();

private:
    void configure(const std::string& text) const {
        QVERIFY(writeFileAtomically(m_home->filePath(".ssh/config").toStdString(), text));
    }

    std::unique_ptr<QTemporaryDir> m_home;
};

namespace {

Node nodeAt(const std::string& host, const std::string& user = {}) {
    Node node;
    node.name = "node-a";
    node.sshHost = host;
    node.user = user;
    return node;
}

QByteArray sshString(const QByteArray& text) {
    return QByteArray(3, '\0') + static_cast<char>(text.size()) + text;
}

QByteArray listOf(const QByteArrayList& keys) {
    QByteArray list = QByteArray(1, '\x0c') + QByteArray(3, '\0') + static_cast<char>(keys.size());
    for (const QByteArray& key : keys)
        list += sshString(key) + sshString("comment of " + key);
    return list;
}

} // namespace

void SshConfigTest::init() {
    m_home = std::make_unique<QTemporaryDir>();
    qputenv("HOME", m_home->path().toLocal8Bit());
    QVERIFY(QDir(m_home->path()).mkpath(".ssh"));
}

void SshConfigTest::theNameAsGivenMatches() {
    configure("Host box\n  HostName 10.0.0.7\n"
              "Match originalhost box\n  User by-name\n  IdentityFile ~/.ssh/%n\n"
              "  IdentitiesOnly yes\n");
    const auto config = sshConfigOf(nodeAt("box"));
    QVERIFY2(config, config ? "" : config.error().message.c_str());
    QCOMPARE(config->hostName, std::string("10.0.0.7"));
    QCOMPARE(config->settings, std::string("port 22\nuser by-name\n"));
    QCOMPARE(config->identityFiles, std::vector<std::string>{"~/.ssh/%n"});
    QVERIFY(config->identitiesOnly);
    const auto address = sshConfigOf(nodeAt("10.0.0.7"));
    QVERIFY(address && address->identityFiles.empty() && !address->identitiesOnly);
}

void SshConfigTest::userOfTheNodeMatches() {
    configure("Match user trainer\n  Port 2201\n");
    QCOMPARE(sshConfigOf(nodeAt("box", "trainer"))->settings,
             std::string("port 2201\nuser trainer\n"));
}

void SshConfigTest::onlyWhatAFileSettlesIsKept() {
    const SshConfig config = parseSshConfig("host box\nuser me\nhostname box\nport 22\n"
                                            "pubkeyauthentication false\nkexalgorithms a,b\n"
                                            "gssapiauthentication false\n"
                                            "identityfile ~/.ssh/id_rsa\nidentityfile ~/x\n"
                                            "proxyjump gate\n",
                                            "host host\nuser me\nhostname host\nport 22\n"
                                            "pubkeyauthentication true\nkexalgorithms a,b\n"
                                            "gssapiauthentication true\n"
                                            "identityfile ~/.ssh/id_rsa\n");
    QCOMPARE(config.hostName, std::string("box"));
    QCOMPARE(config.settings, std::string("gssapiauthentication no\nport 22\nuser me\n"));
    QVERIFY(!config.offersKeys && config.kexAlgorithms.empty());
    QCOMPARE(config.jumpHosts, std::string("gate"));
    QCOMPARE(config.identityFiles, (std::vector<std::string>{"~/.ssh/id_rsa", "~/x"}));
}

void SshConfigTest::withoutAFileNothingIsSettled() {
    const auto config = sshConfigOf(nodeAt("box", "me"));
    QVERIFY2(config, config ? "" : config.error().message.c_str());
    QCOMPARE(config->hostName, std::string("box"));
    QVERIFY(config->settings.empty() && config->identityFiles.empty());
}

void SshConfigTest::aFileThatSshRefusesIsToldWithItsLine() {
    configure("Host *\n  Prot 2201\n");
    const auto config = sshConfigOf(nodeAt("box"));
    QVERIFY(!config);
    QCOMPARE(config.error().code, ErrorCode::kInvalid);
    const QByteArray said = QByteArray::fromStdString(config.error().message);
    QVERIFY2(said.contains("line 2") && said.contains("prot") && said.contains("ssh -G"), said);
}

void SshConfigTest::withoutSshItIsSaidWhatToInstall() {
    configure("Host *\n");
    const QByteArray path = qgetenv("PATH");
    const auto reset = qScopeGuard([&path] { qputenv("PATH", path); });
    qputenv("PATH", m_home->path().toLocal8Bit());
    const auto config = sshConfigOf(nodeAt("box"));
    QVERIFY(!config);
    QVERIFY2(config.error().message.find("openssh-client") != std::string::npos,
             config.error().message.c_str());
}

void SshConfigTest::aMatchExecIsEndedWithTheQuestion() {
    constexpr int kSoonMs = 10'000;
    const QString noted = m_home->filePath("pid");
    configure("Match exec \"echo $$ > " + noted.toStdString() + "; exec sleep 60\"\n  User me\n");
    Result<SshConfig> config;
    std::jthread asking([&](std::stop_token stop) { config = sshConfigOf(nodeAt("box"), stop); });
    const auto pid = [&] {
        const auto text = readFile(noted.toStdString(), 100);
        return text ? std::atoi(text->c_str()) : 0;
    };
    QTRY_VERIFY_WITH_TIMEOUT(pid() > 0, kSoonMs);
    asking.request_stop();
    asking.join();
    QVERIFY(!config && config.error().message.find("cancelled") != std::string::npos);
    QTRY_VERIFY_WITH_TIMEOUT(isGone(pid()), kSoonMs);
}

void SshConfigTest::agentMayBeAPathAVariableOrNone() {
    qputenv("SSH_AUTH_SOCK", "/usual");
    qputenv("OTHER_SOCK", "/other");
    const auto reset = qScopeGuard([] { qunsetenv("SSH_AUTH_SOCK"); });
    const auto socketOf = [](const std::string& said) {
        SshConfig config;
        config.identityAgent = said;
        return agentSocket(config);
    };
    QCOMPARE(socketOf(""), std::string("/usual"));
    QCOMPARE(socketOf("SSH_AUTH_SOCK"), std::string("/usual"));
    QCOMPARE(socketOf("$OTHER_SOCK"), std::string("/other"));
    QCOMPARE(socketOf("${OTHER_SOCK}"), std::string("/other"));
    QCOMPARE(socketOf("~/agent"), m_home->path().toStdString() + "/agent");
    QCOMPARE(socketOf("none"), std::string());
}

void SshConfigTest::otherKeysOfAnAgentAreLeftOut() {
    QCOMPARE(withOnly({"b", "d"}, listOf({"a", "b", "c", "d"})), listOf({"b", "d"}));
    QCOMPARE(withOnly({}, listOf({"a", "b"})), listOf({}));
    const QByteArray signature = "\x0e" + sshString("signature");
    QCOMPARE(withOnly({}, signature), signature);
}

void SshConfigTest::ofADamagedListNothingIsLeft() {
    const QByteArray list = listOf({"a", "b"});
    for (qsizetype size = 6; size < list.size(); ++size) {
        const QByteArray left = withOnly({"a", "b"}, list.left(size));
        QVERIFY(left == listOf({}) || left == listOf({"a"}));
    }
    QCOMPARE(withOnly({"a"}, QByteArray(1, '\x0c') + QByteArray(12, '\xff')), listOf({}));
}

QTEST_GUILESS_MAIN(SshConfigTest)
#include "tst_ssh_config.moc"
