// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/requirement.h"
#include "tests/support/ssh_home.h"
#include "tests/unit/core/remote/session_text.h"

#include <QDir>
#include <QProcess>
#include <QTest>

using namespace rm;

using Need = ConnectFailure::Need;

namespace {

constexpr const char* kPassword = "correct horse";

/// An ssh-agent of the test's own while it lives; this process's programs ask it.
class KeyAgent {
public:
    explicit KeyAgent(const QString& socket) {
        m_process.start("ssh-agent", {"-D", "-a", socket});
        if (QTest::qWaitFor([&socket] { return QFile::exists(socket); }, 5000))
            qputenv("SSH_AUTH_SOCK", socket.toUtf8());
    }
    ~KeyAgent() {
        qunsetenv("SSH_AUTH_SOCK");
        m_process.terminate();
        m_process.waitForFinished(5000);
    }
    KeyAgent(const KeyAgent&) = delete;
    KeyAgent& operator=(const KeyAgent&) = delete;

    /// The key's file must not have a passphrase.
    static bool add(const QString& key) {
        QProcess program;
        program.start("ssh-add", {"-q", key});
        return program.waitForFinished(5000) && program.exitCode() == 0;
    }

private:
    QProcess m_process;
};

Credentials withPassword(const std::string& password) {
    Credentials credentials;
    credentials.password = password;
    return credentials;
}

Credentials withPassphrase(const std::string& passphrase) {
    Credentials credentials;
    credentials.passphrase = passphrase;
    return credentials;
}

} // namespace

/// Every way to log in, at a real OpenSSH server whose root has a password of the test's own.
class SshLoginsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();

    void passwordOpens_data();
    void passwordOpens();
    void passwordIsAskedForWhenNoKeyFits();
    void hostThatTakesOnlyKeysSaysSo();
    void secondQuestionIsNotAnsweredWithThePassword();
    void keyAndPasswordMayBothBeNeeded_data();
    void keyAndPasswordMayBothBeNeeded();
    void agentHoldsTheKey();
    void agentThatSshConfigNamesHoldsTheKey();
    void theAgentIsNotForwarded();
    void agentOfFiftyKeysIsToldUnlessTheKeyIsNamed();
    void protectedKeyAsksForItsPassphrase_data();
    void protectedKeyAsksForItsPassphrase();
    void protectedKeyInTheAgentAsksNothing();
    void brokenKeyFileIsNamed_data();
    void brokenKeyFileIsNamed();
    void brokenKeyFileIsToldThoughAnotherKeyOpens_data();
    void brokenKeyFileIsToldThoughAnotherKeyOpens();
    void keyOfATokenIsNoBrokenFile();
    void identitiesOnlyKeepsOtherKeysBack_data();
    void identitiesOnlyKeepsOtherKeysBack();
    void keyOfMatchOriginalHostOpens();

private:
    void serve(const SshServer::Options& options);
    /// Takes the password, and the key, as `settings` say.
    void serveWithPassword(const QStringList& settings, bool mustChange = false);
    Node node(const QString& key = {}) const;
    /// The server by a name that ssh_config explains so.
    Node alias(const QString& config) const;

    SshHome m_home;
};

void SshLoginsTest::initTestCase() {
    const auto can = canRunSshd();
    RM_NEEDS("sshd", can, QString::fromStdString(can.error().message));
    const auto prepared = m_home.prepare();
    QVERIFY2(prepared, prepared ? "" : prepared.error().message.c_str());
    QVERIFY(QFile::copy(m_home.path(".ssh/id_ed25519"), m_home.path("key")));
}

void SshLoginsTest::init() {
    for (const char* name : {"id_ed25519", "id_ed25519.pub", "other", "other.pub", "config"})
        QFile::remove(m_home.path(QString(".ssh/") + name));
}

void SshLoginsTest::serve(const SshServer::Options& options) {
    const auto served = m_home.serve(options);
    QVERIFY2(served, served ? "" : served.error().message.c_str());
    QVERIFY(m_home.know());
}

void SshLoginsTest::serveWithPassword(const QStringList& settings, bool mustChange) {
    serve({.authorizedKey = m_home.publicKey(),
           .settings = settings,
           .files = {shadowWith(kPassword, mustChange), pamOfShadow()}});
}

Node SshLoginsTest::node(const QString& key) const {
    Node node = m_home.node("node-a");
    node.identityFile = key.toStdString();
    return node;
}

Node SshLoginsTest::alias(const QString& config) const {
    const QString place = QStringLiteral("Host box\n  HostName %1\n  Port %2\n")
                              .arg(m_home.node("").sshHost.c_str())
                              .arg(m_home.node("").port);
    if (!m_home.write("config", place + config))
        qFatal("write the test's ssh_config");
    Node node;
    node.name = "node-a";
    node.sshHost = "box";
    return node;
}

namespace {

const QStringList kByPassword = {};
const QStringList kByDialogue = {"UsePAM yes", "PasswordAuthentication no",
                                 "KbdInteractiveAuthentication yes"};

} // namespace

void SshLoginsTest::passwordOpens_data() {
    QTest::addColumn<QStringList>("settings");
    QTest::newRow("password") << kByPassword;
    QTest::newRow("keyboard-interactive") << kByDialogue;
}

void SshLoginsTest::passwordOpens() {
    QFETCH(QStringList, settings);
    const auto can = canMountOwnFiles();
    RM_NEEDS("root", can, QString::fromStdString(can.error().message));
    serveWithPassword(settings);
    const auto wrong = openSession(node(), withPassword("certainly not it"), {});
    QVERIFY(!wrong);
    QCOMPARE(wrong.error().need, Need::kPassword);
    QCOMPARE(wrong.error().error.code, ErrorCode::kDenied);
    QVERIFY2(messageOf(wrong).endsWith("wrong password"), messageOf(wrong));
    QTRY_COMPARE(m_home.server().log().count("Failed "), 1);
    const auto right = openSession(node(), withPassword(kPassword), {});
    QVERIFY2(right, messageOf(right) + m_home.server().log().toUtf8());
    QCOMPARE(runToEnd(**right, "echo", {"in"}, {}, std::chrono::seconds(10)).value_or(""), "in\n");
}

void SshLoginsTest::passwordIsAskedForWhenNoKeyFits() {
    QVERIFY(makeSshKey(m_home.path(".ssh/id_ed25519")));
    serve({});
    const auto opened = openSession(node(), {}, {});
    QVERIFY(!opened);
    QCOMPARE(opened.error().need, Need::kPassword);
    QVERIFY2(messageOf(opened).contains("key files"), messageOf(opened));
}

void SshLoginsTest::hostThatTakesOnlyKeysSaysSo() {
    serve({.settings = {"PasswordAuthentication no"}});
    const auto opened = openSession(node(), withPassword("unwanted"), {});
    QVERIFY(!opened);
    QCOMPARE(opened.error().need, Need::kNothing);
    QVERIFY2(messageOf(opened).contains("ssh-copy-id"), messageOf(opened));
}

void SshLoginsTest::secondQuestionIsNotAnsweredWithThePassword() {
    const auto can = canMountOwnFiles();
    RM_NEEDS("root", can, QString::fromStdString(can.error().message));
    serveWithPassword(kByDialogue, true);
    const auto opened = openSession(node(), withPassword(kPassword), {});
    QVERIFY(!opened);
    QCOMPARE(opened.error().error.code, ErrorCode::kDenied);
    QVERIFY2(messageOf(opened).contains("more than a password: \"Current password:\""),
             messageOf(opened));
}

void SshLoginsTest::keyAndPasswordMayBothBeNeeded_data() {
    QTest::addColumn<QStringList>("settings");
    const auto row = [](const char* methods, const QStringList& more) {
        QTest::newRow(methods) << QStringList("AuthenticationMethods " + QString(methods)) + more;
    };
    row("publickey,password", kByPassword);
    row("password,publickey", kByPassword);
    row("publickey,keyboard-interactive", kByDialogue);
}

void SshLoginsTest::keyAndPasswordMayBothBeNeeded() {
    QFETCH(QStringList, settings);
    const auto can = canMountOwnFiles();
    RM_NEEDS("root", can, QString::fromStdString(can.error().message));
    QVERIFY(QFile::copy(m_home.path("key"), m_home.path(".ssh/id_ed25519")));
    serveWithPassword(settings);
    const auto half = openSession(node(), {}, {});
    QVERIFY(!half);
    QCOMPARE(half.error().need, Need::kPassword);
    const auto wrong = openSession(node(), withPassword("certainly not it"), {});
    QVERIFY(!wrong);
    QVERIFY2(messageOf(wrong).endsWith("wrong password"), messageOf(wrong));
    const auto whole = openSession(node(), withPassword(kPassword), {});
    QVERIFY2(whole, messageOf(whole));
}

void SshLoginsTest::agentHoldsTheKey() {
    const QString path = m_home.path(".ssh/other");
    const auto key = makeSshKey(path);
    QVERIFY(key);
    const KeyAgent agent(m_home.path("agent.sock"));
    QVERIFY(KeyAgent::add(path));
    QVERIFY(QFile::remove(path) && QFile::remove(path + ".pub"));
    serve({.authorizedKey = *key});
    const auto opened = openSession(node(), {}, {});
    QVERIFY2(opened, messageOf(opened));
}

void SshLoginsTest::agentThatSshConfigNamesHoldsTheKey() {
    const QString path = m_home.path(".ssh/other");
    const auto key = makeSshKey(path);
    QVERIFY(key);
    const KeyAgent agent(m_home.path("agent.sock"));
    QVERIFY(KeyAgent::add(path));
    QVERIFY(QFile::remove(path) && QFile::remove(path + ".pub"));
    qunsetenv("SSH_AUTH_SOCK");
    serve({.authorizedKey = *key});
    const auto without = openSession(node(), {}, {});
    QVERIFY(!without);
    QVERIFY(m_home.write("config", "Host *\n  IdentityAgent " + m_home.path("agent.sock") + '\n'));
    const auto reset = qScopeGuard([this] { QFile::remove(m_home.path(".ssh/config")); });
    const auto opened = openSession(node(), {}, {});
    QVERIFY2(opened, messageOf(opened));
}

/// Who is root on a node could log in elsewhere with it, as long as we are connected.
void SshLoginsTest::theAgentIsNotForwarded() {
    const QString path = m_home.path(".ssh/other");
    const auto key = makeSshKey(path);
    QVERIFY(key);
    const KeyAgent agent(m_home.path("agent.sock"));
    QVERIFY(KeyAgent::add(path));
    QVERIFY(m_home.write("config", "Host *\n  ForwardAgent yes\n"));
    const auto reset = qScopeGuard([this] { QFile::remove(m_home.path(".ssh/config")); });
    serve({.authorizedKey = *key, .settings = {"AllowAgentForwarding yes"}});
    const auto opened = openSession(node(), {}, {});
    QVERIFY2(opened, messageOf(opened));
    const auto there = runToEnd(**opened, "env", {}, {}, std::chrono::seconds(10));
    QVERIFY2(there && there->find("SSH_CONNECTION=") != there->npos, messageOf(opened));
    QVERIFY2(there->find("SSH_AUTH_SOCK") == there->npos, there->c_str());
    const QString log = m_home.server().log();
    QVERIFY2(!log.contains("auth-agent"), qPrintable(log));
}

// sshd ends a login after six keys that it does not take.
void SshLoginsTest::agentOfFiftyKeysIsToldUnlessTheKeyIsNamed() {
    const KeyAgent agent(m_home.path("agent.sock"));
    for (int key = 0; key < 50; ++key) {
        const QString path = m_home.path("many");
        QVERIFY(makeSshKey(path) && KeyAgent::add(path));
    }
    QVERIFY(QFile::copy(m_home.path("key"), m_home.path(".ssh/id_ed25519")));
    serve({.authorizedKey = m_home.publicKey()});
    const auto opened = openSession(node(), {}, {});
    QVERIFY(!opened);
    QVERIFY2(messageOf(opened).contains("too many keys"), messageOf(opened));
    QCOMPARE(opened.error().error.code, ErrorCode::kDenied);
    const auto named = openSession(node("~/.ssh/id_ed25519"), {}, {});
    QVERIFY2(named, messageOf(named));
}

void SshLoginsTest::protectedKeyAsksForItsPassphrase_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<bool>("named");
    QTest::addColumn<bool>("hasPublicHalf");
    QTest::newRow("the node's key") << ".ssh/other" << true << true;
    QTest::newRow("a usual key") << ".ssh/id_ed25519" << false << true;
    QTest::newRow("a usual key alone") << ".ssh/id_ed25519" << false << false;
}

void SshLoginsTest::protectedKeyAsksForItsPassphrase() {
    QFETCH(QString, file);
    QFETCH(bool, named);
    QFETCH(bool, hasPublicHalf);
    const QString path = m_home.path(file);
    const auto key = makeSshKey(path, "open sesame");
    QVERIFY(key);
    if (!hasPublicHalf)
        QVERIFY(QFile::remove(path + ".pub"));
    serve({.authorizedKey = *key});
    const Node target = node(named ? path : QString());
    const auto requested = openSession(target, {}, {});
    QVERIFY(!requested);
    QCOMPARE(requested.error().need, Need::kPassphrase);
    QVERIFY2(messageOf(requested).contains(path.toUtf8()), messageOf(requested));
    const auto wrong = openSession(target, withPassphrase("open barley"), {});
    QVERIFY(!wrong);
    QCOMPARE(wrong.error().need, Need::kPassphrase);
    QVERIFY2(messageOf(wrong).contains("does not open"), messageOf(wrong));
    const auto opened = openSession(target, withPassphrase("open sesame"), {});
    QVERIFY2(opened, messageOf(opened));
}

void SshLoginsTest::protectedKeyInTheAgentAsksNothing() {
    const QString path = m_home.path(".ssh/other");
    const auto key = makeSshKey(path);
    QVERIFY(key);
    const KeyAgent agent(m_home.path("agent.sock"));
    QVERIFY(KeyAgent::add(path));
    QCOMPARE(
        QProcess::execute("ssh-keygen", {"-q", "-p", "-P", "", "-N", "open sesame", "-f", path}),
        0);
    serve({.authorizedKey = *key});
    const auto opened = openSession(node(path), {}, {});
    QVERIFY2(opened, messageOf(opened));
}

void SshLoginsTest::brokenKeyFileIsNamed_data() {
    QTest::addColumn<bool>("exists");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("missing") << false << QByteArray(".ssh/other cannot be read");
    QTest::newRow("no key") << true << QByteArray(".ssh/other is no private key");
}

void SshLoginsTest::brokenKeyFileIsNamed() {
    QFETCH(bool, exists);
    QFETCH(QByteArray, says);
    if (exists)
        QVERIFY(m_home.write("other", "not a key\n"));
    serve({});
    const auto opened = openSession(node("~/.ssh/other"), {}, {});
    QVERIFY(!opened);
    QVERIFY2(messageOf(opened).contains(says), messageOf(opened));
}

void SshLoginsTest::brokenKeyFileIsToldThoughAnotherKeyOpens_data() {
    QTest::addColumn<bool>("isOfNode");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("says");
    const QString missing = ".ssh/other cannot be read: No such file or directory";
    QTest::newRow("of the node, missing") << true << "" << missing;
    QTest::newRow("of ssh_config, missing") << false << "" << missing;
    QTest::newRow("no key") << false << "not a key\n"
                            << ".ssh/other is no private key";
}

void SshLoginsTest::brokenKeyFileIsToldThoughAnotherKeyOpens() {
    QFETCH(bool, isOfNode);
    QFETCH(QString, text);
    QFETCH(QString, says);
    if (!text.isEmpty())
        QVERIFY(m_home.write("other", text));
    serve({.authorizedKey = m_home.publicKey()});
    Node target = alias("  IdentityFile " + m_home.path("key") + '\n' +
                        (isOfNode ? "" : "  IdentityFile " + m_home.path(".ssh/other") + '\n'));
    if (isOfNode)
        target.identityFile = "~/.ssh/other";
    const auto opened = openSession(target, {}, {});
    QVERIFY2(opened, messageOf(opened));
    const auto problems = (*opened)->keyProblems();
    QCOMPARE(problems.size(), 1u);
    QVERIFY2(problems.front().find(says.toStdString()) != std::string::npos,
             problems.front().c_str());
    const auto whole = openSession(alias("  IdentityFile " + m_home.path("key") + '\n'), {}, {});
    QVERIFY(whole && (*whole)->keyProblems().empty());
}

/// Its file names the token, which only the SSH agent can ask.
void SshLoginsTest::keyOfATokenIsNoBrokenFile() {
    const QString half = "sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAI"
                         "AABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4fAAAABHNzaDo=\n";
    QVERIFY(m_home.write("other", "-----BEGIN OPENSSH PRIVATE KEY-----\n") &&
            m_home.write("other.pub", half));
    serve({.authorizedKey = m_home.publicKey()});
    const auto opened = openSession(alias("  IdentityFile " + m_home.path("key") +
                                          "\n  IdentityFile " + m_home.path(".ssh/other") + '\n'),
                                    {}, {});
    QVERIFY2(opened, messageOf(opened));
    QVERIFY((*opened)->keyProblems().empty());
}

void SshLoginsTest::identitiesOnlyKeepsOtherKeysBack_data() {
    QTest::addColumn<bool>("isInFile");
    QTest::newRow("the key is in its file") << true;
    QTest::newRow("its public half alone is, the agent has the rest") << false;
}

/// Of an agent's fifty keys, sshd would take none after the sixth.
void SshLoginsTest::identitiesOnlyKeepsOtherKeysBack() {
    QFETCH(bool, isInFile);
    const KeyAgent agent(m_home.path("agent.sock"));
    for (int key = 0; key < 50; ++key) {
        const QString path = m_home.path("many");
        QVERIFY(makeSshKey(path) && KeyAgent::add(path));
    }
    const QString path = m_home.path(".ssh/other");
    const auto key = makeSshKey(path);
    QVERIFY(key);
    if (!isInFile)
        QVERIFY(KeyAgent::add(path) && QFile::remove(path));
    serve({.authorizedKey = *key});
    const QString named = "  IdentityFile " + path + (isInFile ? "" : ".pub") + '\n';
    const auto opened = openSession(alias(named), {}, {});
    if (isInFile) { // a file that somebody named comes before the agent's other keys
        QVERIFY2(opened, messageOf(opened));
    } else {
        QVERIFY(!opened);
        QVERIFY2(messageOf(opened).contains("too many keys"), messageOf(opened));
    }
    const auto only = openSession(alias(named + "  IdentitiesOnly yes\n"), {}, {});
    QVERIFY2(only, messageOf(only));
    QVERIFY((*only)->keyProblems().empty());
}

void SshLoginsTest::keyOfMatchOriginalHostOpens() {
    const auto key = makeSshKey(m_home.path(".ssh/other"));
    QVERIFY(key);
    serve({.authorizedKey = *key});
    const auto opened = openSession(
        alias("Match originalhost box\n  IdentityFile " + m_home.path(".ssh/other") + '\n'), {},
        {});
    QVERIFY2(opened, messageOf(opened));
}

QTEST_GUILESS_MAIN(SshLoginsTest)
#include "tst_ssh_logins.moc"
