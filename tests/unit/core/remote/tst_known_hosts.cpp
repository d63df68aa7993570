// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/known_hosts.h"
#include "app/core/settings/paths.h"
#include "shared/io/file.h"
#include "tests/support/requirement.h"
#include "tests/support/ssh_home.h"
#include "tests/unit/core/remote/session_text.h"

#include <QProcess>
#include <QTest>

using namespace rm;

/// Where keys of hosts are looked for and kept: as OpenSSH does by the same ~/.ssh/config. Against
/// a real OpenSSH server on loopback; HOME is a folder of the test's own.
class KnownHostsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();

    void aKeyIsKnownByItsAlias();
    void aKeyThatIsTrustedIsKeptUnderTheAlias();
    void everyFileIsReadAndTheFirstIsWritten();
    void whatIsKeptNowhereIsKeptByUs();
    void aCommandMayTellTheKeys();
    void aCommandThatFailsIsNamed();
    void aCommandIsPartedAsOpenSshDoesIt();
    void aRevokedKeyIsRefused();
    void aListOfRevokedKeysIsAsked();
    void whoIsExcludedIsNotKnown();
    void authoritiesAndSwitchedOffQuestionsAreNamed();
    void aLineThatCannotBeReadHidesNoOther();
    void aLastLineWithoutItsEndStaysWhole();
    void aNameThatLibsshRefusesGoesThroughAProxy();
    void whatIsNotFollowedIsNamed();
    void demandsThatCannotBeMetAreRefused_data();
    void demandsThatCannotBeMetAreRefused();
    void aShortRsaKeyIsRefused();
    void aNewKeyIsHashedWhereOthersAre();

private:
    Node box() const {
        Node node;
        node.name = node.sshHost = "box";
        return node;
    }
    /// ~/.ssh/config leads "box" to the server, with these lines.
    void configure(const QString& lines) const {
        QVERIFY(
            m_home.write("config", QStringLiteral("Host box\n  HostName 127.0.0.1\n  Port %1\n%2")
                                       .arg(m_home.server().port())
                                       .arg(lines)));
    }
    /// Without the host: "ssh-ed25519 AAAA...".
    QString key() const { return m_home.server().knownHostsLine().section(' ', 1); }
    QString textOf(const QString& path) const {
        return QString::fromStdString(readFile(path.toStdString()).value_or("none"));
    }
    Credentials trusting() const {
        Credentials credentials;
        credentials.trustedFingerprint = m_home.server().fingerprint().toStdString();
        return credentials;
    }
    bool enters(const Credentials& credentials = {}) const {
        const auto opened = openSession(box(), credentials, {});
        if (!opened)
            qWarning("%s", messageOf(opened).constData());
        return opened.has_value();
    }
    /// Not entered, as the key is not known; what is said of it.
    QByteArray question() const {
        const auto opened = openSession(box(), {}, {});
        return opened || opened.error().need != ConnectFailure::Need::kTrustHostKey
                   ? QByteArray()
                   : messageOf(opened);
    }

    mutable SshHome m_home;
};

void KnownHostsTest::initTestCase() {
    const auto can = canRunSshd();
    RM_NEEDS("sshd", can, QString::fromStdString(can.error().message));
    const auto prepared = m_home.prepare().and_then(
        [this] { return m_home.serve({.authorizedKey = m_home.publicKey()}); });
    QVERIFY2(prepared, prepared ? "" : prepared.error().message.c_str());
}

void KnownHostsTest::init() {
    QVERIFY(m_home.write("known_hosts", {}));
}

/// As cloud tools write it, with a file of their own.
void KnownHostsTest::aKeyIsKnownByItsAlias() {
    configure("  UserKnownHostsFile ~/.ssh/cloud_hosts\n  HostKeyAlias compute.111\n"
              "  CheckHostIP no\n");
    QVERIFY(m_home.write("cloud_hosts", "compute.111 " + key() + '\n'));
    QVERIFY(enters());
    // Another machine had this address before: that says nothing of this one.
    QVERIFY(m_home.write("cloud_hosts", "compute.111 " + key() + "\n[127.0.0.1]:" +
                                            QString::number(m_home.server().port()) + ' ' +
                                            m_home.publicKey() + '\n'));
    QVERIFY(enters());
    QVERIFY(m_home.write("cloud_hosts", m_home.server().knownHostsLine() + '\n'));
    QVERIFY(!question().isEmpty());
}

void KnownHostsTest::aKeyThatIsTrustedIsKeptUnderTheAlias() {
    configure("  UserKnownHostsFile ~/.ssh/new_hosts\n  HostKeyAlias compute.222\n");
    QVERIFY(enters(trusting()));
    QCOMPARE(textOf(m_home.path(".ssh/new_hosts")), "compute.222 " + key() + '\n');
    QCOMPARE(textOf(m_home.path(".ssh/known_hosts")), QString());
    QVERIFY(enters());
    QVERIFY(m_home.write("new_hosts", "compute.222 " + m_home.publicKey() + '\n'));
    const auto refused = openSession(box(), trusting(), {});
    QVERIFY(!refused);
    QVERIFY2(messageOf(refused).contains("ssh-keygen -R 'compute.222' -f '" +
                                         m_home.path(".ssh/new_hosts").toUtf8()),
             messageOf(refused));
}

void KnownHostsTest::everyFileIsReadAndTheFirstIsWritten() {
    configure("  UserKnownHostsFile ~/.ssh/first ~/.ssh/second\n");
    QVERIFY(m_home.write("second", m_home.server().knownHostsLine() + '\n'));
    QVERIFY(enters());
    QVERIFY(m_home.write("second", {}));
    QVERIFY(enters(trusting()));
    QCOMPARE(textOf(m_home.path(".ssh/first")), m_home.server().knownHostsLine() + '\n');
    configure("  UserKnownHostsFile \"~/.ssh/with a blank\"\n"
              "  GlobalKnownHostsFile ~/.ssh/first\n");
    QVERIFY(enters());
    QVERIFY(m_home.write("first", {}));
    QVERIFY(enters(trusting()));
    QCOMPARE(textOf(m_home.path(".ssh/with a blank")), m_home.server().knownHostsLine() + '\n');
}

/// As where machines are often made anew.
void KnownHostsTest::whatIsKeptNowhereIsKeptByUs() {
    configure("  UserKnownHostsFile /dev/null\n");
    QVERIFY(!question().isEmpty());
    QVERIFY(enters(trusting()));
    QVERIFY(enters());
    const QString own = Paths::fromEnvironment().config + "/known_hosts";
    QCOMPARE(textOf(own), m_home.server().knownHostsLine() + '\n');
    QVERIFY(QFile::remove(own));
}

void KnownHostsTest::aCommandMayTellTheKeys() {
    const QString noted = m_home.path("noted");
    QVERIFY(writeFileAtomically(
        m_home.path("keys.sh").toStdString(),
        ("echo \"$*\" >> '" + noted + "'; echo \"$1 " + key() + "\"\n").toStdString()));
    configure("  KnownHostsCommand /bin/sh '" + m_home.path("keys.sh") + "' %H \"%I\" %t %f\n");
    QVERIFY(enters());
    const QString host = m_home.server().knownHostsLine().section(' ', 0, 0);
    QCOMPARE(textOf(noted), host + " ORDER NONE NONE\n" + host + " HOSTNAME ssh-ed25519 " +
                                m_home.server().fingerprint() + '\n');
}

void KnownHostsTest::aCommandThatFailsIsNamed() {
    configure("  KnownHostsCommand /bin/ls /no/such/folder\n");
    const auto refused = openSession(box(), {}, {});
    QVERIFY(!refused);
    QCOMPARE(refused.error().cause, ConnectFailure::Cause::kHostKey);
    for (const char* words : {"/bin/ls /no/such/folder failed", "cannot access"})
        QVERIFY2(messageOf(refused).contains(words), messageOf(refused));
}

void KnownHostsTest::aCommandIsPartedAsOpenSshDoesIt() {
    const QString host = m_home.server().knownHostsLine().section(' ', 0, 0);
    configure("  KnownHostsCommand /usr/bin/printf \"" + host + ' ' + key() + "\\n@revoked * " +
              key() + "\\n\"\n");
    const auto refused = openSession(box(), {}, {});
    QVERIFY(!refused);
    QVERIFY2(messageOf(refused).contains("revoked by KnownHostsCommand line 2"),
             messageOf(refused));
    for (const char* odd : {"%q", "${HOME}", "%C"}) {
        configure(QString("  KnownHostsCommand /bin/echo %1\n").arg(odd));
        const auto unknown = openSession(box(), {}, {});
        QVERIFY(!unknown);
        QVERIFY2(messageOf(unknown).contains(odd + QByteArray(" is not known here")),
                 messageOf(unknown));
    }
}

void KnownHostsTest::aRevokedKeyIsRefused() {
    configure({});
    QVERIFY(m_home.write("known_hosts",
                         m_home.server().knownHostsLine() + "\n@revoked * " + key() + '\n'));
    const auto refused = openSession(box(), trusting(), {});
    QVERIFY(!refused);
    QCOMPARE(refused.error().need, ConnectFailure::Need::kNothing);
    QVERIFY2(messageOf(refused).contains("revoked by") && messageOf(refused).contains("line 2"),
             messageOf(refused));
}

void KnownHostsTest::aListOfRevokedKeysIsAsked() {
    configure("  RevokedHostKeys " + m_home.path(".ssh/revoked") + '\n');
    QVERIFY(m_home.write("known_hosts", m_home.server().knownHostsLine() + '\n'));
    QVERIFY(m_home.write("revoked", m_home.publicKey() + '\n'));
    QVERIFY(enters());
    QVERIFY(m_home.write("revoked", m_home.publicKey() + '\n' + key() + '\n'));
    const auto refused = openSession(box(), trusting(), {});
    QVERIFY(!refused);
    QVERIFY2(messageOf(refused).contains("is revoked by " + m_home.path(".ssh/revoked").toUtf8()),
             messageOf(refused));
    QVERIFY(m_home.write("revoked", "junk\n"));
    QVERIFY(!openSession(box(), {}, {})); // it may be the key
    QVERIFY(m_home.write("revoked", m_home.publicKey() + '\n' + key() + '\n'));
    QProcess keygen; // the same as a KRL
    keygen.start("ssh-keygen",
                 {"-q", "-k", "-f", m_home.path(".ssh/krl"), m_home.path(".ssh/revoked")});
    QVERIFY(keygen.waitForFinished() && keygen.exitCode() == 0);
    configure("  RevokedHostKeys " + m_home.path(".ssh/krl") + '\n');
    const auto byList = openSession(box(), {}, {});
    QVERIFY(!byList);
    QVERIFY2(messageOf(byList).contains("is revoked by"), messageOf(byList));
    QVERIFY(QFile::remove(m_home.path(".ssh/krl")));
    QVERIFY(!openSession(box(), {}, {})); // as OpenSSH: without the list nothing is trusted
}

/// libssh alone does not know '!', and takes a name for one in brackets.
void KnownHostsTest::whoIsExcludedIsNotKnown() {
    const auto countOf = [this](const char* hosts, const char* name) {
        return knownLinesIn((hosts + (' ' + key())).toStdString(), name, "file").keys.size();
    };
    QCOMPARE(countOf("*.lan", "bad.lan"), 1u);
    for (const char* hosts : {"!bad.lan,*.lan", "*.lan,!bad.lan", "[bad.lan]:22", "!*"})
        QCOMPARE(countOf(hosts, "bad.lan"), 0u);
    QCOMPARE(countOf("!bad.lan,*.lan", "good.lan"), 1u);
    QCOMPARE(countOf("[bad.lan]:2222", "[bad.lan]:2222"), 1u);
}

void KnownHostsTest::authoritiesAndSwitchedOffQuestionsAreNamed() {
    configure("  StrictHostKeyChecking no\n");
    QVERIFY(m_home.write("known_hosts",
                         "@cert-authority *,[127.0.0.1]:* " + m_home.publicKey() + '\n'));
    const QByteArray said = question();
    QVERIFY2(said.contains("`StrictHostKeyChecking no` is not followed"), said);
    QVERIFY2(said.contains("the authority for hosts in") && said.contains("known_hosts line 1"),
             said);
}

void KnownHostsTest::aLineThatCannotBeReadHidesNoOther() {
    configure({});
    QVERIFY(m_home.write("known_hosts",
                         "* ssh-ed25519 AAAAnokey\n\n#\nhalf\n*\tunknown-type AAAA\n" +
                             m_home.server().knownHostsLine().replace(' ', "\t") + '\n'));
    QVERIFY(enters());
}

void KnownHostsTest::aLastLineWithoutItsEndStaysWhole() {
    configure({});
    QVERIFY(m_home.write("known_hosts", "elsewhere " + m_home.publicKey()));
    QVERIFY(enters(trusting()));
    QCOMPARE(textOf(m_home.path(".ssh/known_hosts")),
             "elsewhere " + m_home.publicKey() + '\n' + m_home.server().knownHostsLine() + '\n');
}

void KnownHostsTest::aNameThatLibsshRefusesGoesThroughAProxy() {
    const QString noted = m_home.path("proxied");
    QVERIFY(writeFileAtomically(m_home.path("proxy.sh").toStdString(),
                                ("echo \"$1 $2\" > '" + noted + "'\nexec 3<>/dev/tcp/127.0.0.1/" +
                                 QString::number(m_home.server().port()) +
                                 "\ncat <&3 &\nexec cat >&3\n")
                                    .toStdString()));
    QVERIFY(m_home.write("config", "Host gpu_box\n  ProxyCommand bash " + m_home.path("proxy.sh") +
                                       " %h %p\n"));
    QVERIFY(m_home.write("known_hosts", "gpu_box " + key() + '\n'));
    Node node;
    node.name = node.sshHost = "gpu_box";
    const auto opened = openSession(node, {}, {});
    QVERIFY2(opened, messageOf(opened));
    QVERIFY2((*opened)->where().find("gpu_box") != std::string::npos, (*opened)->where().c_str());
    QCOMPARE(textOf(noted), QString("gpu_box 22\n"));
}

void KnownHostsTest::whatIsNotFollowedIsNamed() {
    QVERIFY(m_home.write("known_hosts", m_home.server().knownHostsLine() + '\n'));
    configure("  BindInterface no-such-interface\n");
    QVERIFY(enters());
    QVERIFY(m_home.write("config", "Host box\n  HostName 127.0.0.1\n  Port 1\n"
                                   "  BindInterface no-such-interface\n"));
    const auto refused = openSession(box(), {}, {});
    QVERIFY(!refused);
    QVERIFY2(messageOf(refused).contains("not followed here: bindinterface no-such-interface"),
             messageOf(refused));
}

void KnownHostsTest::demandsThatCannotBeMetAreRefused_data() {
    QTest::addColumn<QString>("line");
    QTest::newRow("cipher") << "Ciphers aes192-ctr";
    QTest::newRow("host keys") << "HostKeyAlgorithms ssh-ed25519-cert-v01@openssh.com";
    QTest::newRow("other host keys") << "HostKeyAlgorithms rsa-sha2-512";
    QTest::newRow("no keys of a person") << "PubkeyAuthentication no";
    QTest::newRow("passwords alone") << "PreferredAuthentications password";
}

void KnownHostsTest::demandsThatCannotBeMetAreRefused() {
    QFETCH(QString, line);
    QVERIFY(m_home.write("known_hosts", m_home.server().knownHostsLine() + '\n'));
    configure({});
    QVERIFY(enters());
    configure("  " + line + '\n');
    const auto refused = openSession(box(), {}, {});
    QVERIFY(!refused);
    QCOMPARE(refused.error().error.code == ErrorCode::kInvalid,
             line.startsWith("Ciphers") || line.contains("cert"));
}

/// The one that is known, of two that the server has.
void KnownHostsTest::aShortRsaKeyIsRefused() {
    QProcess keygen;
    const QString rsa = m_home.path("rsa");
    keygen.start("ssh-keygen", {"-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", rsa});
    QVERIFY(keygen.waitForFinished() && keygen.exitCode() == 0);
    QVERIFY(m_home.serve({.authorizedKey = m_home.publicKey(), .settings = {"HostKey " + rsa}}));
    const auto again =
        qScopeGuard([this] { QVERIFY(m_home.serve({.authorizedKey = m_home.publicKey()})); });
    QVERIFY(m_home.write("known_hosts", m_home.server().knownHostsLine().section(' ', 0, 0) + ' ' +
                                            textOf(rsa + ".pub")));
    configure("  RequiredRSASize 2048\n");
    QVERIFY(enters());
    configure("  RequiredRSASize 3072\n");
    const auto refused = openSession(box(), {}, {});
    QVERIFY(!refused);
    QCOMPARE(refused.error().error.code, ErrorCode::kDenied);
    QCOMPARE(refused.error().cause, ConnectFailure::Cause::kHostKey);
    QVERIFY2(messageOf(refused).contains("RequiredRSASize"), messageOf(refused));
}

void KnownHostsTest::aNewKeyIsHashedWhereOthersAre() {
    configure("  HashKnownHosts yes\n");
    QVERIFY(enters(trusting()));
    const QString kept = textOf(m_home.path(".ssh/known_hosts"));
    QVERIFY2(kept.startsWith("|1|") && kept.endsWith(' ' + key() + '\n'), qPrintable(kept));
    QVERIFY(enters());
    QProcess keygen; // OpenSSH finds it, too
    const QString host = m_home.server().knownHostsLine().section(' ', 0, 0);
    keygen.start("ssh-keygen", {"-F", host, "-f", m_home.path(".ssh/known_hosts")});
    QVERIFY(keygen.waitForFinished());
    QCOMPARE(keygen.exitCode(), 0);
}

QTEST_GUILESS_MAIN(KnownHostsTest)
#include "tst_known_hosts.moc"
