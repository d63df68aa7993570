// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/check_rows.h"
#include "app/core/fleet/checks_file.h"
#include "app/core/fleet/fleet.h"
#include "app/core/fleet/nodes_file.h"
#include "app/core/fleet/ssh_aliases.h"
#include "app/core/remote/credential_store.h"
#include "app/core/remote/keyring.h"
#include "app/core/settings/paths.h"
#include "shared/io/file.h"

#include <QDir>
#include <QDirIterator>
#include <QPromise>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace rm;

class FleetTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }
    void nodesSurviveTheFile();
    void brokenFilesAreNamedByLine_data();
    void brokenFilesAreNamedByLine();
    void localNodeIsAlwaysFirst();
    void addedNodeIsThereForTheNextOne();
    void badNodesAreNotAdded_data();
    void badNodesAreNotAdded();
    void removedNodeIsGone();
    void editedNodeKeepsItsName();
    void checkIsKeptWhileItsNodeIsReachedAsThen();
    void checkThatWaitsForAPersonIsNotKept();
    void brokenChecksAreLeftOut_data();
    void brokenChecksAreLeftOut();
    void brokenFileIsLeftAsItIs();
    void twoFleetsDoNotLoseEachOthersNodes();
    void unknownNodeIsAnAnswerNotAFailure();
    void aliasesAreListedWithoutPatterns();
    void includedFilesCount();
    void includeCircleEnds();
    void missingConfigHasNoAliases();
    void reportIsJudged();
    void clockSkewIsJudgedWithinItsUncertainty();
    void diskOfTheHomeIsJudged();
    void oldDriverTrainsOnTheCpu();
    void aLogoutThatEndsRunsIsToldWithItsCure();
    void checksOfEarlierReleasesAreRead();
    void withoutKeyringNothingIsKept();
    void pathsFollowTheEnvironment();
    void anotherAddressDoesNotGetThePassword_data();
    void anotherAddressDoesNotGetThePassword();
    void anAliasThatLeadsElsewhereDoesNotGetThePassword();

private:
    std::string path(const QString& name) const { return m_dir->filePath(name).toStdString(); }
    std::unique_ptr<QTemporaryDir> m_dir;
};

namespace {

Node sample(const std::string& name) {
    Node node;
    node.name = name;
    node.sshHost = "gpu-box.example";
    node.user = "me";
    node.port = 2222;
    node.identityFile = "~/.ssh/with \"quotes\" and space";
    return node;
}

const CheckRow* rowOf(const std::vector<CheckRow>& rows, const std::string& title) {
    const auto found = std::ranges::find(rows, title, &CheckRow::title);
    return found == rows.end() ? nullptr : &*found;
}

NodeReport soundReport() {
    NodeReport report;
    report.os = "Debian GNU/Linux 12 (bookworm)";
    report.kernel = "6.1";
    report.glibc = "2.36";
    report.cpuModel = "Some CPU";
    report.cores = 8;
    report.memoryBytes = 64LL << 30;
    report.interfaces = {{"lo", "127.0.0.1", 8, true, -1}, {"ens5", "10.0.0.2", 24, true, 10000}};
    report.disks = {{"/", "ext4", 100LL << 30, 50LL << 30}};
    report.home = "/home/me/.local/share/ringmaster";
    report.user = "me";
    report.atLogout = AtLogout::kGoOn;
    return report;
}

} // namespace

void FleetTest::nodesSurviveTheFile() {
    Node bare;
    bare.name = "bare";
    bare.sshHost = "alias";
    const std::vector<Node> nodes{sample("a"), bare};
    const auto again = parseNodes(toToml(nodes), "nodes.toml");
    QVERIFY2(again, again ? "" : again.error().message.c_str());
    QVERIFY(*again == nodes);
    QVERIFY(parseNodes("", "empty")->empty());
}

void FleetTest::brokenFilesAreNamedByLine_data() {
    QTest::addColumn<QString>("toml");
    QTest::addColumn<QString>("complaint");
    QTest::newRow("syntax") << "[[node]\n"
                            << "line 1";
    QTest::newRow("unknown key") << "[[node]]\nname = \"a\"\nhost = \"h\"\nhots = \"x\"\n"
                                 << "line 4: unknown key 'hots'";
    QTest::newRow("wrong type") << "[[node]]\nname = 3\n"
                                << "line 2: name must be a text";
    QTest::newRow("port") << "[[node]]\nname = \"a\"\nhost = \"h\"\nport = 70000\n"
                          << "line 4: port";
    QTest::newRow("no host") << "[[node]]\nname = \"a\"\n"
                             << "line 1";
    QTest::newRow("hostile host") << "[[node]]\nname = \"a\"\nhost = \"-oProxyCommand=x\"\n"
                                  << "line 1";
    QTest::newRow("twice") << "[[node]]\nname = \"a\"\nhost = \"h\"\n[[node]]\nname = \"a\"\n"
                              "host = \"h\"\n"
                           << "line 4: there is already a node a";
    QTest::newRow("local name") << "[[node]]\nname = \"this-computer\"\nhost = \"h\"\n"
                                << "already";
    QTest::newRow("top level") << "theme = \"dark\"\n"
                               << "unknown key 'theme'";
    QTest::newRow("not a table") << "node = [1]\n"
                                 << "[[node]] tables";
}

void FleetTest::brokenFilesAreNamedByLine() {
    QFETCH(QString, toml);
    QFETCH(QString, complaint);
    const auto nodes = parseNodes(toml.toStdString(), "nodes.toml");
    QVERIFY(!nodes);
    QCOMPARE(nodes.error().code, ErrorCode::kInvalid);
    const QString message = QString::fromStdString(nodes.error().message);
    QVERIFY2(message.contains("nodes.toml") && message.contains(complaint), qPrintable(message));
}

void FleetTest::localNodeIsAlwaysFirst() {
    Fleet fleet(m_dir->filePath("config"));
    QVERIFY(fleet.load());
    QVERIFY(fleet.add(sample("aaa")));
    QCOMPARE(fleet.nodes().size(), size_t{2});
    QVERIFY(fleet.nodes().front() == localNode());
    QVERIFY(fleet.find(kLocalNodeName)->isLocal);
}

void FleetTest::addedNodeIsThereForTheNextOne() {
    Fleet first(m_dir->filePath("config"));
    QSignalSpy changed(&first, &Fleet::nodesChanged);
    QVERIFY(first.add(sample("b")));
    QVERIFY(first.add(sample("a")));
    QCOMPARE(changed.count(), 2);
    Fleet second(m_dir->filePath("config"));
    QVERIFY(second.load());
    QCOMPARE(second.nodes().size(), size_t{3});
    QVERIFY(second.nodes()[1] == sample("a"));
}

void FleetTest::badNodesAreNotAdded_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("host");
    QTest::newRow("empty name") << ""
                                << "h";
    QTest::newRow("slash") << "a/b"
                           << "h";
    QTest::newRow("option") << "-a"
                            << "h";
    QTest::newRow("taken") << "taken"
                           << "h";
    QTest::newRow("local") << "this-computer"
                           << "h";
    QTest::newRow("no host") << "a"
                             << "";
    QTest::newRow("hostile host") << "a"
                                  << "h;id";
}

void FleetTest::badNodesAreNotAdded() {
    QFETCH(QString, name);
    QFETCH(QString, host);
    Fleet fleet(m_dir->filePath("config"));
    QVERIFY(fleet.add(sample("taken")));
    Node node;
    node.name = name.toStdString();
    node.sshHost = host.toStdString();
    const auto added = fleet.add(node);
    QVERIFY(!added);
    QCOMPARE(added.error().code, ErrorCode::kInvalid);
    QCOMPARE(fleet.nodes().size(), size_t{2});
}

void FleetTest::removedNodeIsGone() {
    Fleet fleet(m_dir->filePath("config"));
    QVERIFY(fleet.add(sample("a")));
    QVERIFY(fleet.remove("a"));
    QCOMPARE(fleet.nodes().size(), size_t{1});
    QCOMPARE(fleet.remove("a").error().code, ErrorCode::kNotFound);
    QVERIFY(!fleet.remove(kLocalNodeName));
}

void FleetTest::anotherAddressDoesNotGetThePassword_data() {
    QTest::addColumn<QString>("host");
    QTest::addColumn<QString>("user");
    QTest::addColumn<int>("port");
    QTest::newRow("host") << "moved.example"
                          << "me" << 2222;
    QTest::newRow("user") << "gpu-box.example"
                          << "you" << 2222;
    QTest::newRow("port") << "gpu-box.example"
                          << "me" << 22;
}

/// It is edited while its check is under way, whose answer then comes from the old address.
void FleetTest::anotherAddressDoesNotGetThePassword() {
    QFETCH(QString, host);
    QFETCH(QString, user);
    QFETCH(int, port);
    Fleet fleet(m_dir->filePath("config"));
    QVERIFY(fleet.add(sample("a")));
    QPromise<NodeCheck> answer;
    answer.start();
    fleet.setChecker([&](const QString&, const Credentials&) { return answer.future(); });
    Credentials given;
    given.password = "secret";
    const auto checked = fleet.check("a", given);
    Node moved = sample("a");
    moved.sshHost = host.toStdString();
    moved.user = user.toStdString();
    moved.port = port;
    QVERIFY(fleet.change(moved));
    NodeCheck good;
    good.node = "a";
    good.ready = true;
    answer.addResult(good);
    answer.finish();
    QTRY_VERIFY(checked.isFinished());
    QVERIFY(!fleet.credentials().lookUp(moved).password);
    QCOMPARE(fleet.credentials().lookUp(sample("a")).password,
             std::optional<std::string>("secret"));
    QVERIFY(!fleet.lastCheck("a"));
}

void FleetTest::anAliasThatLeadsElsewhereDoesNotGetThePassword() {
    const QByteArray home = qgetenv("HOME");
    const auto reset = qScopeGuard([&] { qputenv("HOME", home); });
    qputenv("HOME", m_dir->path().toUtf8());
    QVERIFY(QDir(m_dir->path()).mkpath(".ssh"));
    const auto configure = [this](const std::string& text) {
        return writeFileAtomically(path(".ssh/config"), text).has_value();
    };
    Node node;
    node.name = node.sshHost = "box";
    QVERIFY(configure("Host box\n  HostName one.example\n"));
    CredentialStore granted;
    granted.grant(node, {"secret", {}, {}});
    QVERIFY(granted.lookUp(node).password);
    QVERIFY(configure("Host box\n  HostName two.example\n"));
    QVERIFY(!granted.lookUp(node).password);
    QVERIFY(configure("Host box\n  HostName one.example\n  ProxyJump gate.example\n"));
    QVERIFY(!granted.lookUp(node).password);
}

void FleetTest::editedNodeKeepsItsName() {
    Fleet fleet(m_dir->filePath("config"));
    QVERIFY(fleet.add(sample("a")));
    QSignalSpy edited(&fleet, &Fleet::nodeEdited);
    Node moved = sample("a");
    moved.sshHost = "moved.example";
    QVERIFY(fleet.change(moved));
    QCOMPARE(edited.count(), 1);
    QVERIFY(fleet.find("a") == moved);
    Fleet next(m_dir->filePath("config"));
    QVERIFY(next.load());
    QVERIFY(next.find("a") == moved);
    Fleet other(m_dir->filePath("config"));
    QVERIFY(other.load());
    moved.port = 22;
    QVERIFY(fleet.change(moved));
    QSignalSpy editedElsewhere(&other, &Fleet::nodeEdited);
    QVERIFY(other.load());
    QCOMPARE(editedElsewhere.count(), 1);
    QCOMPARE(fleet.change(sample("b")).error().code, ErrorCode::kNotFound);
    QCOMPARE(fleet.change(localNode()).error().code, ErrorCode::kNotFound);
    moved.sshHost = "h;id";
    QCOMPARE(fleet.change(moved).error().code, ErrorCode::kInvalid);
}

namespace {

NodeCheck sampleCheck(const std::string& name) {
    NodeCheck check;
    check.node = name;
    check.ready = true;
    check.rows = {{CheckRow::Verdict::kWarning, "Disk", "4.2 GiB free"}};
    check.report = NodeReport{};
    check.report->gpus = {{"NVIDIA H200", 1 << 30, "GPU-1", 5}};
    check.report->interfaces = {{"ens5", "10.0.0.7", 24, true, 1000}};
    check.report->disks = {{"/", "ext4", 100, 50}};
    check.report->home = "/home/me";
    check.roundTripUs = 420;
    check.checkedNs = 77;
    return check;
}

} // namespace

void FleetTest::checkIsKeptWhileItsNodeIsReachedAsThen() {
    const NodeCheck check = sampleCheck("a");
    const std::string text =
        withCheck(withCheck("", sample("a"), check), sample("b"), sampleCheck("b"));
    const auto kept = parseChecks(text, {sample("a")});
    QCOMPARE(kept.size(), size_t{1});
    QVERIFY(kept[0].rows == check.rows && kept[0].report == check.report);
    QVERIFY(kept[0].ready);
    QCOMPARE(kept[0].roundTripUs, int64_t{420});
    QCOMPARE(kept[0].checkedNs, int64_t{77});
    Node moved = sample("a");
    moved.port = 23;
    QVERIFY(parseChecks(text, {moved}).empty());
}

void FleetTest::checkThatWaitsForAPersonIsNotKept() {
    NodeCheck asks = sampleCheck("a");
    asks.failure = ConnectFailure{{}, ConnectFailure::Need::kPassword, {}};
    const std::string before = withCheck("", sample("a"), sampleCheck("a"));
    QVERIFY(parseChecks(withCheck(before, sample("a"), asks), {sample("a")}).empty());
}

void FleetTest::brokenChecksAreLeftOut_data() {
    QTest::addColumn<QString>("text");
    QTest::newRow("empty") << "";
    QTest::newRow("no JSON") << "{";
    QTest::newRow("no object") << "[1]";
    QTest::newRow("no check") << "{\"a\": 3}";
    QTest::newRow("of a later release") << "{\"a\": {\"version\": 2}}";
    QTest::newRow("wrong types") << "{\"a\": {\"version\": 1, \"reached_by\": 3, \"rows\": {}}}";
}

void FleetTest::brokenChecksAreLeftOut() {
    QFETCH(QString, text);
    QVERIFY(parseChecks(text.toStdString(), {sample("a")}).empty());
    const std::string mended = withCheck(text.toStdString(), sample("b"), sampleCheck("b"));
    QCOMPARE(parseChecks(mended, {sample("b")}).size(), size_t{1});
}

void FleetTest::brokenFileIsLeftAsItIs() {
    QDir().mkpath(m_dir->filePath("config"));
    const std::string file = path("config/nodes.toml");
    QVERIFY(writeFileAtomically(file, "[[node]\n"));
    Fleet fleet(m_dir->filePath("config"));
    QVERIFY(!fleet.load());
    QVERIFY(!fleet.add(sample("a")));
    QVERIFY(readFile(file) == std::string("[[node]\n"));
    QCOMPARE(fleet.nodes().size(), size_t{1});
}

void FleetTest::twoFleetsDoNotLoseEachOthersNodes() {
    Fleet window(m_dir->filePath("config"));
    Fleet terminal(m_dir->filePath("config"));
    QVERIFY(window.load());
    QVERIFY(terminal.load());
    QVERIFY(terminal.add(sample("a")));
    QVERIFY(window.add(sample("b")));
    QCOMPARE(window.nodes().size(), size_t{3});
}

void FleetTest::unknownNodeIsAnAnswerNotAFailure() {
    Fleet fleet(m_dir->filePath("config"));
    const auto answer = fleet.check("nobody");
    QVERIFY(answer.isFinished());
    QCOMPARE(answer.result().failure->error.code, ErrorCode::kNotFound);
    QVERIFY(!fleet.lastCheck("nobody"));
}

void FleetTest::aliasesAreListedWithoutPatterns() {
    QVERIFY(writeFileAtomically(path("config"), "# Host commented\n"
                                                "Host gpu-a gpu-b\n  HostName 10.0.0.1\n"
                                                "host=gpu-c\n"
                                                "Host *.example !bad gpu-?\n"
                                                "Host \"quoted\" gpu-a\n"
                                                "Host evil;id\n"
                                                "Match host other\n"
                                                "HostName notme\n"
                                                "Hostess no\n"));
    QVERIFY(sshAliasesOf(path("config")) ==
            (std::vector<std::string>{"gpu-a", "gpu-b", "gpu-c", "quoted"}));
}

void FleetTest::includedFilesCount() {
    QDir().mkpath(m_dir->filePath("config.d"));
    QVERIFY(writeFileAtomically(path("config"), "Include config.d/*.conf missing\nHost last\n"));
    QVERIFY(writeFileAtomically(path("config.d/1.conf"), "Host one\n"));
    QVERIFY(writeFileAtomically(path("config.d/2.conf"), "Host two\n"));
    QVERIFY(writeFileAtomically(path("config.d/3.txt"), "Host three\n"));
    QVERIFY(sshAliasesOf(path("config")) == (std::vector<std::string>{"one", "two", "last"}));
}

void FleetTest::includeCircleEnds() {
    QVERIFY(writeFileAtomically(path("config"), "Include config\nHost me\n"));
    QVERIFY(sshAliasesOf(path("config")) == std::vector<std::string>{"me"});
}

void FleetTest::missingConfigHasNoAliases() {
    QVERIFY(sshAliasesOf(path("nothing")).empty());
}

void FleetTest::reportIsJudged() {
    const auto rows = rowsOf(soundReport(), 0, 1'000'000);
    QCOMPARE(rows.size(), size_t{7});
    for (const CheckRow& row : rows)
        QVERIFY2(row.verdict == CheckRow::Verdict::kGood, row.title.c_str());
    QCOMPARE(rowOf(rows, "Network")->detail, std::string("ens5 10.0.0.2/24, 10000 Mbit/s"));
    QCOMPARE(rowOf(rows, "CPU and memory")->detail, std::string("Some CPU, 8 cores, 64.0 GiB"));
}

void FleetTest::clockSkewIsJudgedWithinItsUncertainty() {
    const auto verdict = [](int64_t ahead, int64_t uncertain) {
        return rowOf(rowsOf(soundReport(), ahead, uncertain), "Clock")->verdict;
    };
    QVERIFY(verdict(1'500'000'000, 0) == CheckRow::Verdict::kGood);
    QVERIFY(verdict(-5'000'000'000, 4'000'000'000) == CheckRow::Verdict::kGood);
    QVERIFY(verdict(5'000'000'000, 0) == CheckRow::Verdict::kWarning);
    const auto rows = rowsOf(soundReport(), -86'400'000'000'000, 0);
    QVERIFY(rowOf(rows, "Clock")->detail.starts_with("86400.0 s behind"));
}

void FleetTest::diskOfTheHomeIsJudged() {
    NodeReport report = soundReport();
    report.disks.push_back({"/home", "xfs", 100LL << 30, 100LL << 20});
    QVERIFY(rowOf(rowsOf(report, 0, 0), "Disk")->verdict == CheckRow::Verdict::kBad);
    report.disks = {{"/hom", "xfs", 1, 0}, {"/", "ext4", 100LL << 30, 50LL << 30}};
    QVERIFY(rowOf(rowsOf(report, 0, 0), "Disk")->verdict == CheckRow::Verdict::kGood);
    report.disks.clear();
    QVERIFY(rowOf(rowsOf(report, 0, 0), "Disk")->verdict == CheckRow::Verdict::kWarning);
}

void FleetTest::oldDriverTrainsOnTheCpu() {
    NodeReport report = soundReport();
    report.gpus = {{"NVIDIA H200", 140LL << 30, "a"}, {"NVIDIA H200", 140LL << 30, "b"}};
    report.driver = "580.65.06";
    QVERIFY(rowOf(rowsOf(report, 0, 0), "GPUs and driver")
                ->detail.starts_with("2 x NVIDIA H200, 140.0 GiB; driver 580.65.06"));
    report.driver = "470.82";
    const auto row = rowOf(rowsOf(report, 0, 0), "GPUs and driver");
    QVERIFY(row->verdict == CheckRow::Verdict::kWarning);
    QVERIFY(row->detail.find("it trains on its CPU") != std::string::npos);
}

void FleetTest::aLogoutThatEndsRunsIsToldWithItsCure() {
    NodeReport report = soundReport();
    const auto row = [&report] { return *rowOf(rowsOf(report, 0, 0), "Logout"); };
    QCOMPARE(row().detail, std::string("a run goes on when me logs out"));
    report.atLogout = AtLogout::kEndWithUserManager;
    QVERIFY(row().verdict == CheckRow::Verdict::kWarning);
    QVERIFY(row().detail.ends_with("run loginctl enable-linger me"));
    report.atLogout = AtLogout::kEndWithSession;
    QVERIFY(row().verdict == CheckRow::Verdict::kWarning);
    // Lingering does not keep systemd-logind from killing what is in a session.
    QVERIFY(row().detail.find("KillExcludeUsers=root me") != std::string::npos);
    QVERIFY(row().detail.find("linger") == std::string::npos);
}

/// A checks.json as it was written before reports said who ranks belong to.
void FleetTest::checksOfEarlierReleasesAreRead() {
    const std::string text =
        R"({"a":{"version":1,"reached_by":"me@gpu-box.example:2222 )"
        R"(~/.ssh/with \"quotes\" and space","checked_ns":77,"ready":true,"round_trip_us":420,)"
        R"("rows":[[0,"Disk","50 GiB free"]],"report":{"cores":8,"cpu_model":"Some CPU",)"
        R"("disks":[{"file_system":"ext4","free_bytes":50,"path":"/","total_bytes":100}],)"
        R"("driver":"580.65.06","glibc":"2.36","gpus":[{"free_bytes":5,"memory_bytes":10,)"
        R"("name":"NVIDIA H200","uuid":"GPU-1"}],"home":"/home/me","interfaces":[{"address":)"
        R"("10.0.0.7","name":"ens5","prefix":24,"speed_mbit":1000,"up":true}],"kernel":"6.1",)"
        R"("memory_bytes":64,"memory_free_bytes":32,"os":"Debian","state_dir":"/s","wall_ns":5}}})";
    const auto kept = parseChecks(text, {sample("a")});
    QCOMPARE(kept.size(), size_t{1});
    QVERIFY(kept[0].report.has_value());
    NodeReport wanted;
    wanted.os = "Debian";
    wanted.kernel = "6.1";
    wanted.glibc = "2.36";
    wanted.cpuModel = "Some CPU";
    wanted.cores = 8;
    wanted.memoryBytes = 64;
    wanted.freeMemoryBytes = 32;
    wanted.driver = "580.65.06";
    wanted.gpus = {{"NVIDIA H200", 10, "GPU-1", 5}};
    wanted.interfaces = {{"ens5", "10.0.0.7", 24, true, 1000}};
    wanted.disks = {{"/", "ext4", 100, 50}};
    wanted.home = "/home/me";
    wanted.stateDir = "/s";
    wanted.wallNs = 5;
    QVERIFY(*kept[0].report == wanted);
    QVERIFY(wanted.atLogout == AtLogout::kUnknown);
}

void FleetTest::withoutKeyringNothingIsKept() {
    qputenv("HOME", m_dir->path().toUtf8());
    qputenv("XDG_CONFIG_HOME", m_dir->path().toUtf8());
    qputenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
    Keyring keyring;
    std::optional<Result<void>> written;
    keyring.write(sample("a"), "secret", [&written](Result<void> said) { written = said; });
    QTRY_VERIFY_WITH_TIMEOUT(written.has_value(), 20000);
    QVERIFY(!*written);
    QCOMPARE(written->error().code, ErrorCode::kUnavailable);
    std::optional<std::optional<QString>> read;
    keyring.read(sample("a"), [&read](std::optional<QString> found) { read = std::move(found); });
    QTRY_VERIFY_WITH_TIMEOUT(read.has_value(), 20000);
    QVERIFY(!*read);
    QDirIterator files(m_dir->path(), QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
    while (files.hasNext())
        QVERIFY(readFile(files.next().toStdString()).value_or("").find("secret") ==
                std::string::npos);
}

void FleetTest::pathsFollowTheEnvironment() {
    qputenv("HOME", "/home/me");
    qputenv("XDG_CONFIG_HOME", "/x/config");
    qputenv("XDG_DATA_HOME", "relative");
    qunsetenv("XDG_STATE_HOME");
    qputenv("XDG_CACHE_HOME", "");
    const Paths paths = Paths::fromEnvironment();
    QCOMPARE(paths.config, QString("/x/config/ringmaster"));
    QCOMPARE(paths.data, QString("/home/me/.local/share/ringmaster"));
    QCOMPARE(paths.state, QString("/home/me/.local/state/ringmaster"));
    QCOMPARE(paths.cache, QString("/home/me/.cache/ringmaster"));
    QCOMPARE(paths.database(), QString("/home/me/.local/share/ringmaster/runs.sqlite"));
}

QTEST_GUILESS_MAIN(FleetTest)
#include "tst_fleet.moc"
