// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/agent/agent_client.h"
#include "app/core/deploy/deploy.h"
#include "app/core/deploy/hash_cache.h"
#include "app/core/engine/clean_node.h"
#include "app/core/launch/node_preflight.h"
#include "app/core/launch/recipes.h"
#include "app/core/settings/paths.h"
#include "shared/io/file.h"
#include "tests/support/requirement.h"
#include "tests/support/small_disk.h"
#include "tests/support/ssh_home.h"
#include "tests/unit/core/deploy/counting_session.h"

#include <QDir>
#include <QDirIterator>
#include <QElapsedTimer>
#include <QScopeGuard>
#include <QStandardPaths>
#include <QTest>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <random>

using namespace rm;
using namespace std::chrono_literals;

/// Against a real OpenSSH server on loopback and the agent as built.
class DeployTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init() { serve({}); }

    void agentIsSentOnce();
    void agentTravelsPackedWhereItCanBeUnpacked_data();
    void agentTravelsPackedWhereItCanBeUnpacked();
    void damagedAgentIsReplaced();
    void programsOfAProfileVerifyNothing();
    void aProfileIsAskedWhereTheSystemCannotHash();
    void agentIsReadOnceForEachChange();
    void oldGlibcIsRefusedBeforeAnythingIsSent_data();
    void oldGlibcIsRefusedBeforeAnythingIsSent();
    void homeThatCannotBeWrittenIsClear();
    void homeWithoutRoomIsClear();
    void aFolderInTheWayOfTheAgentIsNamed();
    void homeWithoutExecutionIsClear();
    void aRecipesFolderWithoutItsDataNamesThePackages();
    void treeArrivesWhole();
    void secondDeployIsOneExchangeAndHashesNothing();
    void changedFileAloneIsSent();
    void aBundleThatChangedThereIsSentAgain();
    void progressTellsWhatCrossesTheWire();
    void cutLinkResumes();
    void stopEndsATransfer();
    void vanishedFileIsNamed();
    void hostThatIsFullSaysSo();
    void bundleForThisComputerIsNotCopied();
    void treeLargerThanAFrameArrives();
    void whatIsNotNeededIsCleanedOffTheNode();
    void aSessionWhoseAgentIsGoneIsOpenedAnew();
    void trainerRunsFromItsBundle();
    void aTorchThatTheNodeHasIsNotSent();

private:
    void serve(SshServer::Options options);
    QString writeScript(const QString& name, const std::string& text);
    std::unique_ptr<CountingSession> open();
    std::string agentOn(CountingSession& session);
    LocalTree sampleTree(size_t bigBytes);
    QString write(const QString& name, const std::string& text);

    SshHome m_home;
    Node m_node;
};

namespace {

std::string noise(size_t size) {
    std::mt19937_64 random(size);
    std::string text(size, '\0');
    for (char& c : text)
        c = static_cast<char>(random());
    return text;
}

template <class T>
QByteArray messageOf(const Result<T>& result) {
    return result ? "it succeeded" : QByteArray::fromStdString(result.error().message);
}

QStringList filesBelow(const QString& folder) {
    QStringList names;
    QDirIterator all(folder, QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
    while (all.hasNext())
        names << all.next();
    return names;
}

/// Of this machine, as the file itself.
QString programHere(const char* name) {
    return QFileInfo(QStandardPaths::findExecutable(name)).canonicalFilePath();
}

/// So that no shell finds it. Needs canMountOwnFiles().
std::vector<OwnDrive> without(const std::vector<const char*>& programs) {
    std::vector<OwnDrive> drives;
    for (const char* name : programs)
        if (const QString here = programHere(name); !here.isEmpty())
            drives.push_back({here, "/dev/null"});
    return drives;
}

} // namespace

QString DeployTest::writeScript(const QString& name, const std::string& text) {
    const QString path = write(name, "#!/bin/sh\n" + text + '\n');
    QFile::setPermissions(path, QFile::ReadOwner | QFile::ExeOwner);
    return path;
}

QString DeployTest::write(const QString& name, const std::string& text) {
    const QString path = m_home.path(name);
    QDir().mkpath(QFileInfo(path).path());
    const auto written = writeFileAtomically(path.toStdString(), text);
    const timespec old[2] = {{1'700'000'000, 0}, {1'700'000'000, 0}};
    ::utimensat(AT_FDCWD, path.toUtf8().constData(), old, 0);
    return written ? path : QString();
}

void DeployTest::initTestCase() {
    const auto can = canRunSshd();
    RM_NEEDS("sshd", can, QString::fromStdString(can.error().message));
    QVERIFY2(QFile::exists(installPrefix() + "/bin/ringmaster-agent"), qPrintable(installPrefix()));
    QVERIFY(m_home.prepare());
}

void DeployTest::serve(SshServer::Options options) {
    options.authorizedKey = m_home.publicKey();
    const auto serving = m_home.serve(options);
    QVERIFY2(serving, serving ? "" : serving.error().message.c_str());
    m_node = m_home.node("node3");
    QVERIFY(m_home.know());
}

std::unique_ptr<CountingSession> DeployTest::open() {
    auto opened = openSession(m_node, {}, {});
    if (!opened)
        qWarning("%s", opened.error().error.message.c_str());
    return opened ? std::make_unique<CountingSession>(std::move(*opened)) : nullptr;
}

std::string DeployTest::agentOn(CountingSession& session) {
    const auto agent = deployAgent(session, m_node, {});
    if (!agent)
        qWarning("%s", agent.error().message.c_str());
    session.bytesSent = 0;
    session.started = 0;
    return agent.value_or("");
}

LocalTree DeployTest::sampleTree(size_t bigBytes) {
    LocalTree tree{"data", {}};
    tree.files.push_back({"big.bin", write("tree/big.bin", noise(bigBytes)).toStdString()});
    tree.files.push_back({"copy/big.bin", m_home.path("tree/big.bin").toStdString()});
    tree.files.push_back({"empty", write("tree/empty", "").toStdString()});
    tree.files.push_back({"bin/tool", write("tree/tool", "#!/bin/sh\n").toStdString(), true});
    tree.files.push_back({"with space.txt", write("tree/x", "text\n").toStdString()});
    return tree;
}

void DeployTest::agentIsSentOnce() {
    auto session = open();
    QVERIFY(session);
    const auto first = deployAgent(*session, m_node, {});
    QVERIFY2(first, messageOf(first));
    QVERIFY(
        first->starts_with((m_home.server().home() + "/data/ringmaster/agents/").toStdString()));
    QVERIFY(session->bytesSent > 10000);
    const auto probe = runToEnd(*session, *first, {"probe"}, {}, 20s);
    QVERIFY2(probe, messageOf(probe));
    session->bytesSent = 0;
    const auto second = deployAgent(*session, m_node, {});
    const int64_t bytesSent = session->bytesSent;
    QVERIFY(second == first);
    const auto release = readFile(first->substr(0, first->rfind('/')) + "/.ringmaster-label");
    const auto version = runToEnd(*session, *first, {"--version"}, {}, 20s);
    QVERIFY(release && version && version->starts_with("ringmaster-agent " + *release + " "));
    QCOMPARE(bytesSent, static_cast<int64_t>(66 + release->size())); // SHA-256, release, newline
}

void DeployTest::agentTravelsPackedWhereItCanBeUnpacked_data() {
    QTest::addColumn<bool>("hasGzip");
    QTest::newRow("gzip") << true;
    QTest::newRow("no gzip") << false;
}

void DeployTest::agentTravelsPackedWhereItCanBeUnpacked() {
    QFETCH(bool, hasGzip);
    const auto can = canMountOwnFiles();
    RM_NEEDS("root", can, QString::fromStdString(can.error().message));
    serve({.drives = hasGzip ? std::vector<OwnDrive>() : without({"gzip"})});
    auto session = open();
    const auto agent = deployAgent(*session, m_node, {});
    QVERIFY2(agent, messageOf(agent));
    const std::string here = (installPrefix() + "/bin/ringmaster-agent").toStdString();
    QCOMPARE(*sha256HexOfFile(*agent), *sha256HexOfFile(here));
    const auto size = static_cast<int64_t>(std::filesystem::file_size(here));
    QVERIFY(hasGzip ? session->bytesSent < size / 2 : session->bytesSent > size);
}

void DeployTest::damagedAgentIsReplaced() {
    auto session = open();
    const std::string agent = agentOn(*session);
    QVERIFY(writeFileAtomically(agent, "#!/bin/sh\nevil\n"));
    QCOMPARE(agentOn(*session), agent);
    QVERIFY(runToEnd(*session, agent, {"probe"}, {}, 20s));
}

/// That would take any bytes for the agent.
void DeployTest::programsOfAProfileVerifyNothing() {
    const QString ran = m_home.path("false/ran");
    for (const char* name : {"sha256sum", "shasum", "gzip", "sh", "stat", "getconf", "mv"})
        writeScript(QString("false/%1").arg(name), "echo >>" + ran.toStdString());
    serve({.environment = {"PATH=" + m_home.path("false") + ":/usr/bin:/bin",
                           "LD_LIBRARY_PATH=" + m_home.path("false")}});
    auto session = open();
    const auto agent = deployAgent(*session, m_node, {});
    QVERIFY2(agent, messageOf(agent));
    QVERIFY(!QFileInfo::exists(ran));
    QVERIFY(runToEnd(*session, *agent, {"probe"}, {}, 20s));
}

/// As on NixOS, which has next to nothing in /usr/bin.
void DeployTest::aProfileIsAskedWhereTheSystemCannotHash() {
    const auto can = canMountOwnFiles();
    RM_NEEDS("root", can, QString::fromStdString(can.error().message));
    QVERIFY(QDir().mkpath(m_home.path("profile")) &&
            QFile::copy(programHere("sha256sum"), m_home.path("profile/sha256sum")));
    serve({.environment = {"PATH=/usr/bin:/bin:" + m_home.path("profile")},
           .drives = without({"sha256sum", "shasum"})});
    auto session = open();
    const auto agent = deployAgent(*session, m_node, {});
    QVERIFY2(agent, messageOf(agent));
}

void DeployTest::agentIsReadOnceForEachChange() {
    const auto can = canMountOwnFiles();
    RM_NEEDS("root", can, QString::fromStdString(can.error().message));
    const QString reads = m_home.path("reads");
    const QString sum = programHere("sha256sum");
    QVERIFY(QDir().mkpath(m_home.path("real")) && QFile::copy(sum, m_home.path("real/sha256sum")));
    serve({.files = {{sum,
                      QString("#!/bin/sh\necho >>%1\nexec %2/sha256sum \"$@\"\n")
                          .arg(reads, m_home.path("real"))
                          .toUtf8(),
                      true}}});
    auto session = open();
    const std::string agent = agentOn(*session);
    // While it is so young that another change might not show, it is read each time.
    const QString note = QFileInfo(QString::fromStdString(agent)).path() + "/verified";
    QTRY_VERIFY_WITH_TIMEOUT(agentOn(*session) == agent && QFileInfo::exists(note), 20000);
    const qint64 read = QFileInfo(reads).size();
    QVERIFY(read > 0);
    QCOMPARE(agentOn(*session), agent);
    QCOMPARE(QFileInfo(reads).size(), read);

    QFile there(QString::fromStdString(agent));
    QVERIFY(there.open(QIODevice::ReadWrite));
    QVERIFY(there.write("changed") == 7); // in place
    there.close();
    QCOMPARE(agentOn(*session), agent);
    QVERIFY(QFileInfo(reads).size() > read);
    QVERIFY(sha256HexOfFile(agent) ==
            sha256HexOfFile((installPrefix() + "/bin/ringmaster-agent").toStdString()));
}

void DeployTest::oldGlibcIsRefusedBeforeAnythingIsSent_data() {
    QTest::addColumn<QByteArray>("getconf");
    QTest::addColumn<QByteArray>("complaint");
    QTest::newRow("Debian 11") << QByteArray("echo glibc 2.31")
                               << QByteArray("node3 has glibc 2.31; Ringmaster's trainer needs");
    QTest::newRow("Alpine") << QByteArray("echo musl libc") << QByteArray("musl");
}

void DeployTest::oldGlibcIsRefusedBeforeAnythingIsSent() {
    QFETCH(QByteArray, getconf);
    QFETCH(QByteArray, complaint);
    const auto can = canMountOwnFiles();
    RM_NEEDS("root", can, QString::fromStdString(can.error().message));
    serve({.files = {{programHere("getconf"), "#!/bin/sh\n" + getconf + '\n', true}}});
    auto session = open();
    const auto agent = deployAgent(*session, m_node, {});
    QVERIFY(!agent);
    QCOMPARE(agent.error().code, ErrorCode::kInvalid);
    QVERIFY2(messageOf(agent).contains(complaint), messageOf(agent));
    QVERIFY(session->bytesSent < 100); // SHA-256 and release
    QCOMPARE(filesBelow(m_home.server().home()), QStringList());
}

void DeployTest::homeThatCannotBeWrittenIsClear() {
    serve({.environment = {"RINGMASTER_HOME=/proc/ringmaster"}});
    auto session = open();
    const auto agent = deployAgent(*session, m_node, {});
    QVERIFY(!agent);
    QCOMPARE(agent.error().code, ErrorCode::kDenied);
    QVERIFY2(messageOf(agent).contains("/proc/ringmaster"), messageOf(agent));
    const auto node = openNode(m_node, {}, {}); // as a launch does it
    QVERIFY(!node);
    const std::string& reported = node.error().error.message;
    QVERIFY2(reported.find("; let its user write there") != std::string::npos, reported.c_str());
}

void DeployTest::homeWithoutRoomIsClear() {
    const SmallDisk disk(m_home.path("disk"), "256k");
    RM_NEEDS("root", disk.isMounted(), QStringLiteral("mounting a tmpfs is not allowed here"));
    serve({.environment = {"RINGMASTER_HOME=" + m_home.path("disk")}});
    const auto node = openNode(m_node, {}, {});
    QVERIFY(!node);
    QCOMPARE(node.error().error.code, ErrorCode::kExhausted);
    const auto reported = QString::fromStdString(node.error().error.message);
    for (const QString& part :
         {m_home.path("disk") + "/agents/", QString("No space left"), QString("; make room there")})
        QVERIFY2(reported.contains(part), qPrintable(reported));
}

void DeployTest::aFolderInTheWayOfTheAgentIsNamed() {
    auto session = open();
    const QString agent = QString::fromStdString(agentOn(*session));
    QVERIFY(QFile::remove(agent) && QDir().mkpath(agent));
    const auto again = deployAgent(*session, m_node, {});
    QVERIFY(!again);
    QVERIFY2(messageOf(again).contains(agent.toUtf8() + " is a folder"), messageOf(again));
    const QStringList left = filesBelow(QFileInfo(agent).path()).filter("incoming");
    QVERIFY2(left.isEmpty(), qPrintable(left.join(' ')));
    QVERIFY(QDir().rmdir(agent));
    QVERIFY2(deployAgent(*session, m_node, {}), "it is not sent again");
}

void DeployTest::homeWithoutExecutionIsClear() {
    const SmallDisk disk(m_home.path("disk"), "64m", MS_NOEXEC);
    RM_NEEDS("root", disk.isMounted(), QStringLiteral("mounting a tmpfs is not allowed here"));
    serve({.environment = {"RINGMASTER_HOME=" + m_home.path("disk")}});
    auto session = open();
    const auto agent = deployAgent(*session, m_node, {});
    QVERIFY2(agent, messageOf(agent));
    const auto report = probeNode(*session, *agent, {});
    QVERIFY(!report);
    QCOMPARE(report.error().code, ErrorCode::kDenied);
    const auto launch = preflightOnNode(*session, *agent, m_node, {}, {}, {}, {});
    QVERIFY(!launch);
    QVERIFY2(messageOf(launch).contains("without noexec"), messageOf(launch));
    session.reset();
}

/// The folder is there, as other packages have made it.
void DeployTest::aRecipesFolderWithoutItsDataNamesThePackages() {
    const auto can = canMountOwnFiles();
    RM_NEEDS("root", can, QString::fromStdString(can.error().message));
    const QString folder = "/usr/share/locale/it/LC_MESSAGES";
    RM_NEEDS("catalogues", QDir(folder).exists(), folder + " is not there");
    serve({.drives = {{folder, QFileInfo(write("bare/kcoreaddons.qm", "x")).path()}}});
    auto session = open();
    const std::string agent = agentOn(*session);
    const auto spec = loadSpecOrRecipe("translation-tiny", {});
    QVERIFY2(spec, messageOf(spec));
    const auto there = preflightOnNode(*session, agent, m_node, **spec, {}, {}, {});
    QVERIFY2(there, messageOf(there));
    QCOMPARE(there->problems.size(), size_t{1});
    const LaunchProblem& problem = there->problems.front();
    QCOMPARE(problem.key, std::string("data.train"));
    const auto words = QByteArray::fromStdString(problemWords(problem));
    QVERIFY2(words.contains("which has no .tsv, .rmpairs or .mo file"), words);
    QVERIFY2(words.contains("sudo apt install gnupg-l10n"), words);
}

void DeployTest::treeArrivesWhole() {
    auto session = open();
    const std::string agent = agentOn(*session);
    const LocalTree tree = sampleTree(3'000'000);
    Transferred last;
    const auto path = deployTree(*session, agent, tree,
                                 [&](const Transferred& now) {
                                     QVERIFY(now.done > last.done && now.sent > last.sent);
                                     last = now;
                                 },
                                 {});
    QVERIFY2(path, messageOf(path));
    QCOMPARE(last.done, last.total);
    QVERIFY(last.total >= 3'000'000 && last.total < 3'001'000); // equal files travel once
    for (const LocalTree::File& file : tree.files) {
        QVERIFY(readFile(*path + '/' + file.path) == readFile(file.local));
        const QFileInfo there(QString::fromStdString(*path + '/' + file.path));
        QCOMPARE(there.isExecutable(), file.executable);
    }
}

void DeployTest::whatIsNotNeededIsCleanedOffTheNode() {
    auto session = open();
    const std::string agent = agentOn(*session);
    const auto path = deployTree(*session, agent, sampleTree(3'000'000), {}, {});
    QVERIFY2(path, messageOf(path));
    const std::string id = std::filesystem::path(*path).filename();
    const auto keptFor = [&](const DeployedReport& report, const std::string& name) {
        const auto found = std::ranges::find(report.items, name, &DeployedItem::name);
        return found == report.items.end() ? "it is not listed" : found->keptFor;
    };
    const auto young = cleanOnNode(*session, agent, {true, false}, {}, {});
    QVERIFY2(young, messageOf(young));
    QCOMPARE(keptFor(*young, id), std::string("used lately"));
    const timespec longAgo[2] = {};
    QCOMPARE(::utimensat(AT_FDCWD, path->c_str(), longAgo, 0), 0);
    const auto kept = cleanOnNode(*session, agent, {false, false}, {id}, {});
    QVERIFY2(kept, messageOf(kept));
    QCOMPARE(keptFor(*kept, id), std::string("this release"));
    const auto cleaned = cleanOnNode(*session, agent, {false, true}, {}, {});
    QVERIFY2(cleaned, messageOf(cleaned));
    QCOMPARE(keptFor(*cleaned, id), std::string());
    QVERIFY(!QFileInfo::exists(QString::fromStdString(*path)));
    const std::string release = std::filesystem::path(agent).parent_path().filename();
    QCOMPARE(keptFor(*cleaned, release), std::string("this release"));
    QCOMPARE(agentOn(*session), agent);
}

void DeployTest::secondDeployIsOneExchangeAndHashesNothing() {
    auto session = open();
    const std::string agent = agentOn(*session);
    const LocalTree tree = sampleTree(3'000'000);
    const auto first = deployTree(*session, agent, tree, {}, {});
    QVERIFY2(first, messageOf(first));
    session->bytesSent = 0;
    session->started = 0;
    const int64_t hashed = HashCache::instance().computed();
    const auto noProgress = [](const Transferred&) { QFAIL("something was sent"); };
    const auto second = deployTree(*session, agent, tree, noProgress, {});
    QVERIFY(second == first);
    QCOMPARE(session->started, 1);
    QVERIFY2(session->bytesSent < 2000, qPrintable(QString::number(session->bytesSent)));
    QCOMPARE(HashCache::instance().computed(), hashed);
}

void DeployTest::changedFileAloneIsSent() {
    auto session = open();
    const std::string agent = agentOn(*session);
    LocalTree tree = sampleTree(3'000'000);
    const auto first = deployTree(*session, agent, tree, {}, {});
    QVERIFY(first);
    write("tree/x", "other text\n");
    session->bytesSent = 0;
    const auto second = deployTree(*session, agent, tree, {}, {});
    QVERIFY2(second, messageOf(second));
    QVERIFY(*second != *first);
    QVERIFY(session->bytesSent < 5000);
    QVERIFY(readFile(*second + "/with space.txt").value_or("") == "other text\n");
}

void DeployTest::aBundleThatChangedThereIsSentAgain() {
    auto session = open();
    const std::string agent = agentOn(*session);
    LocalTree tree = sampleTree(3'000'000);
    tree.kind = "bundles";
    const auto first = deployTree(*session, agent, tree, {}, {});
    QVERIFY2(first, messageOf(first));
    const std::string victim = *first + "/with space.txt";
    QCOMPARE(::chmod(victim.c_str(), 0600), 0);
    QFile file(QString::fromStdString(victim));
    QVERIFY(file.open(QIODevice::ReadWrite));
    QCOMPARE(file.write("T"), 1);
    file.close();
    Transferred last;
    const auto second =
        deployTree(*session, agent, tree, [&last](const Transferred& now) { last = now; }, {});
    QVERIFY2(second, messageOf(second));
    QCOMPARE(*second, *first);
    QVERIFY(readFile(victim).value_or("") == "text\n");
    QCOMPARE(last.done, 5); // only what had changed
    QVERIFY2(QByteArray::fromStdString(last.repairs).startsWith("with space.txt in the bundle "),
             last.repairs.c_str());
    const auto third = deployTree(*session, agent, tree, {}, {});
    QVERIFY2(third, messageOf(third));
}

void DeployTest::progressTellsWhatCrossesTheWire() {
    auto session = open();
    const std::string agent = agentOn(*session);
    LocalTree tree{"data", {}};
    tree.files.push_back({"dull", write("dull", std::string(8'000'000, 'x')).toStdString()});
    tree.files.push_back({"noise", write("noise", noise(1'000'000)).toStdString()});
    Transferred last;
    const auto keep = [&last](const Transferred& now) { last = now; };
    const auto path = deployTree(*session, agent, tree, keep, {});
    QVERIFY2(path, messageOf(path));
    QCOMPARE(last.done, 9'000'000);
    QVERIFY2(std::abs(session->bytesSent - last.sent) < 20'000,
             qPrintable(QString("%1 %2").arg(session->bytesSent).arg(last.sent)));
    QVERIFY(last.sent < 1'100'000);
}

void DeployTest::cutLinkResumes() {
    constexpr int64_t kSize = 24'000'000;
    auto session = open();
    const std::string agent = agentOn(*session);
    const LocalTree tree = sampleTree(kSize);
    int64_t sent = 0;
    const auto cut = [&](const Transferred& now) {
        sent = now.done;
        if (now.done > now.total / 2)
            m_home.server().cutSessions();
    };
    const auto first = deployTree(*session, agent, tree, cut, {});
    QVERIFY(!first);
    QCOMPARE(first.error().code, ErrorCode::kUnavailable);
    session.reset();
    auto again = open();
    QVERIFY(again);
    int64_t rest = 0;
    const auto second =
        deployTree(*again, agent, tree, [&rest](const Transferred& now) { rest = now.total; }, {});
    QVERIFY2(second, messageOf(second));
    QVERIFY2(rest < kSize * 3 / 4, qPrintable(QString::number(rest)));
    QVERIFY(readFile(*second + "/big.bin") == readFile(tree.files[0].local));
}

void DeployTest::stopEndsATransfer() {
    auto session = open();
    const std::string agent = agentOn(*session);
    std::stop_source source;
    const auto path = deployTree(
        *session, agent, sampleTree(8'000'000),
        [&source](const Transferred&) { source.request_stop(); }, source.get_token());
    QVERIFY(!path);
    QVERIFY2(messageOf(path).contains("cancelled"), messageOf(path));
}

void DeployTest::vanishedFileIsNamed() {
    auto session = open();
    const std::string agent = agentOn(*session);
    LocalTree tree{"data", {{"a", m_home.path("gone.txt").toStdString()}}};
    const auto path = deployTree(*session, agent, tree, {}, {});
    QVERIFY(!path);
    QCOMPARE(path.error().code, ErrorCode::kNotFound);
    QVERIFY(messageOf(path).contains("gone.txt"));
}

void DeployTest::hostThatIsFullSaysSo() {
    const SmallDisk disk(m_home.path("disk"), "16m");
    RM_NEEDS("root", disk.isMounted(), QStringLiteral("mounting a tmpfs is not allowed here"));
    serve({.environment = {"RINGMASTER_HOME=" + m_home.path("disk")}});
    auto session = open();
    const auto agent = deployAgent(*session, m_node, {});
    QVERIFY2(agent, messageOf(agent));
    const auto path = deployTree(*session, *agent, sampleTree(32'000'000), {}, {});
    QVERIFY(!path);
    QCOMPARE(path.error().code, ErrorCode::kExhausted);
    session.reset();
}

void DeployTest::bundleForThisComputerIsNotCopied() {
    auto local = openSession(localNode(), {}, {});
    QVERIFY(local);
    const auto agent = deployAgent(**local, localNode(), {});
    QVERIFY2(agent, messageOf(agent));
    const auto path = deployTree(**local, *agent, {"bundles", {}, true}, {}, {});
    QCOMPARE(QString::fromStdString(path.value_or("")), installPrefix());
}

void DeployTest::treeLargerThanAFrameArrives() {
    auto session = open();
    const std::string agent = agentOn(*session);
    LocalTree tree{"data", {}};
    const QString longName(150, 'n');
    for (int i = 0; i < 10; ++i)
        write(QStringLiteral("many/%1").arg(i), std::to_string(i));
    for (int i = 0; i < 6000; ++i)
        tree.files.push_back({longName.toStdString() + std::to_string(i),
                              m_home.path(QStringLiteral("many/%1").arg(i % 10)).toStdString()});
    const auto path = deployTree(*session, agent, tree, {}, {});
    QVERIFY2(path, messageOf(path));
    QVERIFY(readFile(*path + '/' + longName.toStdString() + "5999").value_or("") == "9");
}

void DeployTest::aTorchThatTheNodeHasIsNotSent() {
    const auto bundle = trainerBundle("cpu");
    RM_NEEDS("torch", bundle, QString::fromStdString(bundle.error().message));
    // As pip puts it: the files of the same wheels, whatever Python's version is.
    const QString site = m_home.server().home() + "/.local/lib/python3.9/site-packages";
    QVERIFY(QDir().mkpath(site + "/torch/lib") && QDir().mkpath(site + "/nvidia/cu13/lib"));
    int64_t torch = 0, all = 0;
    for (const LocalTree::File& file : bundle->files) {
        const QString local = QString::fromStdString(file.local);
        all += QFileInfo(local).size();
        const bool isNvidia = local.contains("/nvidia/");
        if (!isNvidia && !local.contains("/torch/lib/"))
            continue;
        const QString folder = site + (isNvidia ? "/nvidia/cu13/lib/" : "/torch/lib/");
        QVERIFY(QFile::copy(local, folder + QFileInfo(local).fileName()));
        torch += QFileInfo(local).size();
    }
    QVERIFY(torch > 400'000'000);
    auto session = open();
    const std::string agent = agentOn(*session);
    const auto preflight = missingBytes(*session, agent, *bundle, {});
    QVERIFY2(preflight, messageOf(preflight));
    QVERIFY2(*preflight <= all - torch, qPrintable(QString::number(*preflight)));
    QVERIFY(filesBelow(m_home.server().home() + "/.local/share/ringmaster/blobs").isEmpty());
    Transferred last;
    const auto path =
        deployTree(*session, agent, *bundle, [&last](const Transferred& now) { last = now; }, {});
    QVERIFY2(path, messageOf(path));
    QVERIFY2(last.total <= all - torch, qPrintable(QString::number(last.total)));
    QVERIFY(last.reused >= torch - 1'000'000);
    qInfo("%lld of %lld bytes were sent, %lld used of the torch there",
          static_cast<long long>(last.total), static_cast<long long>(all),
          static_cast<long long>(last.reused));
    const auto version =
        runToEnd(*session, *path + "/bin/ringmaster-trainer", {"--version"}, "", 30s, {});
    QVERIFY2(version, messageOf(version));
}

void DeployTest::aSessionWhoseAgentIsGoneIsOpenedAnew() {
    HostPool pool([](const Node&) { return Credentials{}; });
    const auto probe = [&] { return pool.worker(m_node)->post<NodeReport>(&probeNode).get(); };
    const auto first = probe();
    QVERIFY2(first, messageOf(first));
    const auto removed = cleanNode(pool, m_node, {.isPreview = false, .isUninstall = true}, {});
    QVERIFY2(removed, messageOf(removed));
    QVERIFY(!QDir(QString::fromStdString(first->home)).exists("agents"));
    const auto second = probe();
    QVERIFY2(second, messageOf(second));
    // By somebody else, which is found out by what fails.
    QVERIFY(QDir(QString::fromStdString(second->home + "/agents")).removeRecursively());
    const auto third = probe();
    QVERIFY(!third);
    QCOMPARE(third.error().code, ErrorCode::kUnavailable);
    const auto fourth = probe();
    QVERIFY2(fourth, messageOf(fourth));
}

void DeployTest::trainerRunsFromItsBundle() {
    const auto bundle = trainerBundle("cpu");
    RM_NEEDS("torch", bundle, QString::fromStdString(bundle.error().message));
    auto session = open();
    const std::string agent = agentOn(*session);
    QElapsedTimer timer;
    timer.start();
    const auto path = deployTree(*session, agent, *bundle, {}, {});
    QVERIFY2(path, messageOf(path));
    qInfo("%d MB over the wire in %d ms", static_cast<int>(session->bytesSent / 1'000'000),
          static_cast<int>(timer.elapsed()));
    timer.start();
    QVERIFY(deployTree(*session, agent, *bundle, {}, {}) == path);
    QVERIFY2(timer.elapsed() < 3000, qPrintable(QString::number(timer.elapsed())));
    const auto help = runToEnd(*session, *path + "/bin/ringmaster-trainer", {"--help"}, {}, 30s);
    QVERIFY2(help, messageOf(help));
    const auto loaded = runToEnd(*session, "ldd", {*path + "/bin/ringmaster-trainer"}, {}, 30s);
    QVERIFY(loaded && loaded->find(*path + "/bin/../lib/libtorch_cpu.so") != std::string::npos);
}

QTEST_GUILESS_MAIN(DeployTest)
#include "tst_deploy.moc"
