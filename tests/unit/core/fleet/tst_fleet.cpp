// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/check_history.h"
#include "app/core/fleet/checks_file.h"
#include "app/core/fleet/fleet.h"
#include "app/core/fleet/nodes_file.h"
#include "app/core/fleet/ssh_aliases.h"
#include "app/core/remote/credential_store.h"
#include "app/core/remote/keyring.h"
#include "app/core/settings/paths.h"
#include "shared/io/file.h"
#include "tests/unit/core/fleet/good_row.h"
#include "tests/unit/core/fleet/sound_report.h"

#include <QDir>
#include <QDirIterator>
#include <QPromise>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace rm;

Q_DECLARE_METATYPE(std::function<void(Node&)>)

class FleetTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }
    void nodesSurviveTheFile();
    void keysOfALaterReleaseAreKeptAndToldOnce();
    void brokenFilesAreNamedByLine_data();
    void brokenFilesAreNamedByLine();
    void localNodeIsAlwaysFirst();
    void numbersInNamesAreSortedAsNumbers();
    void aClusterOnThisComputerIsANodeLikeOthers();
    void addedNodeIsThereForTheNextOne();
    void badNodesAreNotAdded_data();
    void badNodesAreNotAdded();
    void whatANodeIsUsedForIsChecked_data();
    void whatANodeIsUsedForIsChecked();
    void thisComputerCanBeToldHowToBeUsed();
    void whatANodeIsUsedForDoesNotForgetItsCheck();
    void changesSinceTheLastCheckAreTold();
    void everyKindOfChangeHasItsWords();
    void whatIsFreeIsNoChange();
    void theLastTwentyChecksAreKept();
    void aHistoryIsSmall();
    void aCheckSaysWhatChanged();
    void brokenHistoriesAreEmpty_data();
    void brokenHistoriesAreEmpty();
    void removedNodeIsGone();
    void aNodeThatIsBroughtBackIsAsBefore();
    void anEmptyFileIsAnErrorAndNotAListWithoutNodes();
    void severalAreAddedOrNone();
    void theNetworkIsMeasuredWhereRanksRun();
    void oneTurnOfChecksAsksForTheRunsOnce();
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
    void includedFilesCountWhateverPartIsAPattern();
    void includeCircleEnds();
    void missingConfigHasNoAliases();
    void checksOfEarlierReleasesAreRead();
    void aCancelledCheckIsAnsweredAtOnceAndNotKept();
    void withoutKeyringNothingIsKept();
    void pathsFollowTheEnvironment();
    void anotherAddressDoesNotGetThePassword_data();
    void anotherAddressDoesNotGetThePassword();
    void anAliasThatLeadsElsewhereDoesNotGetThePassword();

private:
    std::string path(const QString& name) const { return m_dir->filePath(name).toStdString(); }
    std::unique_ptr<QTemporaryDir> m_dir;
};

using rm::test::soundReport;

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

Node fullSample(const std::string& name) {
    Node node = sample(name);
    node.jumpHost = "me@gate.example:2222";
    node.groups = {"lab", "a100"};
    node.gpus = {"0", "GPU-5a3b"};
    node.environment = {"NCCL_DEBUG=INFO", "NCCL_IB_HCA==mlx5_0:1,\"x\""};
    node.notes = "noisy,\nask Ada";
    node.pricePerHour = 2.49;
    return node;
}

const CheckRow* rowOf(const std::vector<CheckRow>& rows, const std::string& title) {
    const auto found = std::ranges::find(rows, title, &CheckRow::title);
    return found == rows.end() ? nullptr : &*found;
}

NodeCheck sampleCheck(const std::string& name) {
    NodeCheck check;
    check.node = name;
    check.ready = true;
    check.rows = {goodRow("system", "Operating system", "Debian"),
                  {"leftovers", CheckRow::State::kWarning, "Runs there", "gpt-1", "it holds memory",
                   "end it", CheckAction{CheckAction::Kind::kEndLeftovers, "End", "gpt-1"}},
                  {"other-agents", CheckRow::State::kWarning, "Other agents", "release 0.0.9",
                   "old", "remove it",
                   CheckAction{CheckAction::Kind::kRemoveAgents, "Remove", "ab12"}}};
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

void FleetTest::nodesSurviveTheFile() {
    Node bare;
    bare.name = "bare";
    bare.sshHost = "alias";
    Node local = localNode();
    local.gpus = {"1"};
    const std::vector<Node> nodes{local, fullSample("a"), bare};
    const auto again = parseNodes(toToml({nodes, {}, {}}), "nodes.toml");
    QVERIFY2(again, again ? "" : again.error().message.c_str());
    QVERIFY(again->nodes == nodes);
    QVERIFY(again->warnings.empty());
    QVERIFY(parseNodes("", "empty")->nodes.empty());
}

/// A later release wrote the file: what it has more stays in it, here and there.
void FleetTest::keysOfALaterReleaseAreKeptAndToldOnce() {
    const std::string later = "cluster = \"lab\"\n"
                              "[window]\nwide = [1, {deep = true}]\n"
                              "[[node]]\nname = \"a\"\nhost = \"h\"\nhots = \"x\"\n"
                              "limits = {ranks = 4, at = 07:30:00}\n"
                              "[[node.links]]\nto = \"b\"\n"
                              "[[node]]\nname = \"b\"\nhost = \"h\"\n";
    QVERIFY(QDir().mkpath(m_dir->filePath("config")));
    QVERIFY(writeFileAtomically(path("config/nodes.toml"), later));
    Fleet fleet(m_dir->filePath("config"));
    QVERIFY(fleet.load());
    const auto warnings = fleet.takeWarnings();
    QCOMPARE(warnings.size(), size_t{5});
    QVERIFY2(std::ranges::any_of(warnings,
                                 [](const std::string& text) {
                                     return text.find("nodes.toml: this release does not know "
                                                      "the key 'hots' of node a") != text.npos;
                                 }),
             warnings.front().c_str());
    Node edited = *fleet.find("a");
    edited.notes = "noisy";
    QVERIFY(fleet.change(edited));
    QVERIFY(fleet.load());
    QVERIFY(fleet.takeWarnings().empty());
    const auto text = readFile(path("config/nodes.toml"));
    QVERIFY(text);
    for (const char* kept : {"cluster = ", "window = ", "deep = true", "hots = ", "ranks = 4",
                             "07:30:00", "links = ", "notes = "})
        QVERIFY2(text->find(kept) != text->npos, text->c_str());
    const auto again = parseNodes(*text, "nodes.toml");
    QVERIFY2(again, again ? "" : again.error().message.c_str());
    QCOMPARE(again->warnings.size(), size_t{5});
    QVERIFY(toToml(*again) == *text);
}

void FleetTest::brokenFilesAreNamedByLine_data() {
    QTest::addColumn<QString>("toml");
    QTest::addColumn<QString>("complaint");
    QTest::newRow("syntax") << "[[node]\n"
                            << "line 1";
    QTest::newRow("wrong list") << "[[node]]\nname = \"a\"\nhost = \"h\"\ngpus = [1]\n"
                                << "line 4: gpus must be a list of texts";
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
                                << "this computer is reached without SSH";
    QTest::newRow("deep key") << "x" + QString(".x").repeated(200'000) + " = 1\n"
                              << "line 1: a key with so many dots";
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

void FleetTest::numbersInNamesAreSortedAsNumbers() {
    Fleet fleet(m_dir->filePath("config"));
    QVERIFY(fleet.load());
    QVERIFY(fleet.addAll({sample("gpu-10"), sample("gpu-2"), sample("gpu-1")}));
    std::vector<std::string> names;
    for (const Node& node : fleet.nodes())
        names.push_back(node.name);
    QCOMPARE(names, (std::vector<std::string>{kLocalNodeName, "gpu-1", "gpu-2", "gpu-10"}));
}

void FleetTest::aClusterOnThisComputerIsANodeLikeOthers() {
    Node cluster;
    cluster.name = "a-cluster";
    cluster.isLocal = cluster.isSlurm = true;
    QVERIFY(Fleet(m_dir->filePath("config")).add(cluster));
    Fleet fleet(m_dir->filePath("config"));
    QVERIFY(fleet.load());
    QCOMPARE(fleet.nodes().size(), size_t{2});
    QVERIFY(fleet.nodes()[0] == localNode());
    QVERIFY(fleet.nodes()[1] == cluster);
    QVERIFY(fleet.remove("a-cluster"));
    QCOMPARE(fleet.nodes().size(), size_t{1});
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

void FleetTest::whatANodeIsUsedForIsChecked_data() {
    using Edit = std::function<void(Node&)>;
    QTest::addColumn<Edit>("edit");
    QTest::addColumn<QString>("complaint");
    const auto row = [](const char* name, Edit edit, const char* complaint) {
        QTest::newRow(name) << std::move(edit) << QString(complaint);
    };
    const auto jump = [](const char* text) { return [=](Node& node) { node.jumpHost = text; }; };
    row("jump option", jump("-oProxyCommand=id"), "jump host '-oProxyCommand=id' must read");
    row("jump user option", jump("-l@gate"), "jump host '-l@gate' must read");
    row("jump shell", jump("gate;id"), "jump host 'gate;id' must read");
    row("jump substitution", jump("$(id)@gate"), "must read [USER@]HOST[:PORT]");
    row("jump space", jump("gate -oProxyCommand=id"), "must read");
    row("jump quote", jump("gate'"), "must read");
    row("jump placeholder", jump("%r@gate"), "must read");
    row("jump line", jump("gate\nid"), "must read");
    row("jump port", jump("gate:0x16"), "\"0x16\" is no port");
    row("jump port 0", jump("gate:0"), "\"0\" is no port");
    row("jump user alone", jump("me@"), "must read");
    row("second jump is none", jump("gate,"), "jump host 'gate,' must read");
    row("second jump option", jump("gate,-oProxyCommand=id"), "must read");
    row(
        "group", [](Node& node) { node.groups = {"a b"}; }, "group 'a b' must be");
    row(
        "group option", [](Node& node) { node.groups = {"-a"}; }, "group '-a' must be");
    row(
        "group twice",
        [](Node& node) {
            node.groups = {"a", "a"};
        },
        "a group is named twice");
    row(
        "gpu", [](Node& node) { node.gpus = {"0;id"}; }, "GPU '0;id' is neither");
    row(
        "gpu negative", [](Node& node) { node.gpus = {"-1"}; }, "GPU '-1' is neither");
    row(
        "gpu octal", [](Node& node) { node.gpus = {"01"}; }, "GPU '01' is neither");
    row(
        "gpu uuid", [](Node& node) { node.gpus = {"GPU-0,1"}; }, "GPU 'GPU-0,1' is neither");
    row(
        "gpu twice",
        [](Node& node) {
            node.gpus = {"0", "0"};
        },
        "a GPU is chosen twice");
    row(
        "variable", [](Node& node) { node.environment = {"LD_PRELOAD=x"}; },
        "its environment holds \"LD_PRELOAD=x\", but must hold NAME=value with NCCL_*");
    row(
        "variable line", [](Node& node) { node.environment = {"NCCL_DEBUG=a\nPATH=x"}; },
        "of one line");
    row(
        "variable twice",
        [](Node& node) {
            node.environment = {"NCCL_A=1", "NCCL_A=2"};
        },
        "sets NCCL_A twice");
    row(
        "visible devices", [](Node& node) { node.environment = {"CUDA_VISIBLE_DEVICES=0"}; },
        "must not set CUDA_VISIBLE_DEVICES, which the GPUs chosen for the node become (gpus)");
    row(
        "notes", [](Node& node) { node.notes = "\x1b[2J"; }, "its notes must be plain text");
    row(
        "long notes", [](Node& node) { node.notes = std::string(5000, 'x'); }, "4096 bytes");
    row(
        "a price below 0", [](Node& node) { node.pricePerHour = -1; },
        "its price must be a number from 0 to a million");
    row(
        "a price that is none", [](Node& node) { node.pricePerHour = std::nan(""); },
        "its price must be a number");
}

void FleetTest::whatANodeIsUsedForIsChecked() {
    QFETCH(std::function<void(Node&)>, edit);
    QFETCH(QString, complaint);
    Fleet fleet(m_dir->filePath("config"));
    QVERIFY(fleet.add(fullSample("a")));
    QVERIFY(fleet.find("a") == fullSample("a"));
    Node node = fullSample("a");
    edit(node);
    const auto changed = fleet.change(node);
    QVERIFY(!changed);
    QCOMPARE(changed.error().code, ErrorCode::kInvalid);
    const QString message = QString::fromStdString(changed.error().message);
    QVERIFY2(message.startsWith("set up node a: ") && message.contains(complaint),
             qPrintable(message));
    QVERIFY(fleet.find("a") == fullSample("a"));
}

void FleetTest::thisComputerCanBeToldHowToBeUsed() {
    Fleet fleet(m_dir->filePath("config"));
    Node local = localNode();
    local.gpus = {"1"};
    local.environment = {"NCCL_P2P_DISABLE=1"};
    QVERIFY(fleet.change(local));
    QVERIFY(fleet.add(sample("a")));
    QVERIFY(fleet.nodes().front() == local);
    Fleet next(m_dir->filePath("config"));
    QVERIFY(next.load());
    QCOMPARE(next.nodes().size(), size_t{2});
    QVERIFY(next.find(kLocalNodeName) == local);
    local.user = "me";
    QCOMPARE(next.change(local).error().code, ErrorCode::kInvalid);
    QVERIFY(!next.remove(kLocalNodeName));
    QVERIFY(next.change(localNode()));
    QVERIFY(readFile(path("config/nodes.toml"))->find(kLocalNodeName) == std::string::npos);
}

void FleetTest::whatANodeIsUsedForDoesNotForgetItsCheck() {
    Fleet fleet(m_dir->filePath("config"));
    QVERIFY(fleet.add(sample("a")));
    NodeCheck good = sampleCheck("a");
    fleet.setChecker(
        [&](const QString&, const Credentials&) { return QtFuture::makeReadyFuture(good); });
    Credentials given;
    given.password = "secret";
    const auto checked = fleet.check("a", given);
    QTRY_VERIFY(checked.isFinished());
    QSignalSpy edited(&fleet, &Fleet::nodeEdited);
    Node noted = sample("a");
    noted.notes = "noisy";
    noted.groups = {"lab"};
    QVERIFY(fleet.change(noted));
    QVERIFY(fleet.lastCheck("a"));
    QVERIFY(fleet.credentials().lookUp(noted).password);
    QVERIFY(edited.isEmpty());
    Node moved = noted;
    moved.jumpHost = "gate.example";
    QVERIFY(fleet.change(moved));
    QVERIFY(!fleet.lastCheck("a"));
    QVERIFY(!fleet.credentials().lookUp(moved).password);
    QCOMPARE(edited.count(), 1);
}

void FleetTest::changesSinceTheLastCheckAreTold() {
    NodeReport before = soundReport();
    before.driver = "535.183.01";
    before.gpus = {{"Tesla V100", 32LL << 30, "GPU-1", 5}, {"Tesla V100", 32LL << 30, "GPU-2", 5}};
    NodeReport now = before;
    now.driver = "550.127.05";
    now.kernel = "6.12";
    now.gpus.pop_back();
    now.memoryBytes = 32LL << 30;
    now.interfaces[1].speedMbit = 1000;
    now.interfaces.push_back({"ib0", "10.1.0.2", 24, true, 100000});
    now.disks[0].totalBytes = 200LL << 30;
    const std::vector<NodeChange> expected = {
        {"driver 535.183.01 became 550.127.05", false},
        {"GPU Tesla V100 GPU-2 is gone", true},
        {"kernel 6.1 became 6.12", false},
        {"memory 64.0 GiB became 32.0 GiB", true},
        {"interface ens5 10.0.0.2/24: 10000 Mbit/s became 1000 Mbit/s", true},
        {"new: interface ib0 10.1.0.2/24", false},
        {"disk / 107 GB became 215 GB", false}};
    const auto changes = changesBetween(before, now);
    for (size_t at = 0; at < std::max(changes.size(), expected.size()); ++at) {
        QVERIFY2(at < changes.size() && at < expected.size(), "another number of changes");
        QCOMPARE(changes[at].text, expected[at].text);
        QCOMPARE(changes[at].isLess, expected[at].isLess);
    }
    now.driver.clear();
    QCOMPARE(changesBetween(before, now).front().text, std::string("driver 535.183.01 is gone"));
}

void FleetTest::everyKindOfChangeHasItsWords() {
    NodeReport before = soundReport();
    before.gpus = {{"Tesla V100", 32LL << 30, "", 5}};
    before.interfaces[1].up = false;
    NodeReport now = soundReport();
    now.driver = "550.127.05";
    now.gpus = {{"Tesla V100", 16LL << 30, "", 5}};
    now.os = "Debian GNU/Linux 13 (trixie)";
    now.glibc = "2.41";
    now.cpuModel = "Other CPU";
    now.cores = 4;
    now.interfaces[1].speedMbit = -1;
    now.disks.clear();
    now.home = "/scratch/me";
    const std::vector<NodeChange> expected = {
        {"new driver 550.127.05", false},
        {"memory of GPU Tesla V100 number 0 32.0 GiB became 16.0 GiB", true},
        {"system Debian GNU/Linux 12 (bookworm) became Debian GNU/Linux 13 (trixie)", false},
        {"glibc 2.36 became 2.41", false},
        {"processor Some CPU became Other CPU", false},
        {"8 cores became 4", true},
        {"interface ens5 10.0.0.2/24 is up again", false},
        {"interface ens5 10.0.0.2/24: 10000 Mbit/s became unknown speed", true},
        {"disk / is gone", true},
        {"folder of Ringmaster /home/me/.local/share/ringmaster became /scratch/me", false}};
    QVERIFY(changesBetween(before, now) == expected);
    const auto back = changesBetween(now, before);
    QVERIFY(std::ranges::count(back, NodeChange{"interface ens5 10.0.0.2/24 is down", true}) == 1);
    QVERIFY(std::ranges::count(back, NodeChange{"new: disk /", false}) == 1);
}

void FleetTest::whatIsFreeIsNoChange() {
    const NodeReport before = soundReport();
    NodeReport now = before;
    now.freeMemoryBytes = 5;
    now.disks[0].freeBytes = 7;
    now.memoryBytes -= 1 << 20; // another kernel
    now.wallNs = 99;
    now.interfaces[0].address = "127.0.0.2";
    QVERIFY(changesBetween(before, now).empty());
}

void FleetTest::theLastTwentyChecksAreKept() {
    const Node node = sample("a");
    std::string text;
    for (int at = 1; at <= 25; ++at) {
        NodeCheck check = sampleCheck("a");
        check.checkedNs = at;
        check.report->driver = at < 24 ? "535" : "550";
        text = withPastCheck(text, node, check);
        QCOMPARE(withPastCheck(text, node, check), text); // another process has kept it
    }
    const auto past = parseHistory(text);
    QCOMPARE(past.size(), kKeptChecks);
    QCOMPARE(past.front().checkedNs, int64_t{25});
    QCOMPARE(past.back().checkedNs, int64_t{6});
    QCOMPARE(past[1].changes, std::vector<std::string>{"driver 535 became 550"});
    QVERIFY(past[0].changes.empty() && past[2].changes.empty());
    NodeCheck asks = sampleCheck("a");
    asks.checkedNs = 26;
    asks.failure = ConnectFailure{{}, ConnectFailure::Need::kPassword, {}};
    QCOMPARE(parseHistory(withPastCheck(text, node, asks)).front().checkedNs, int64_t{25});
    NodeCheck failed;
    failed.checkedNs = 27;
    failed.rows = {{"connection", CheckRow::State::kBad, "No route", "nobody there", {}, {}}};
    const auto more = parseHistory(withPastCheck(text, node, failed));
    QCOMPARE(more.front().problem, std::string("No route: nobody there"));
    QVERIFY(!more.front().ready && !more.front().report);
}

/// Of a machine on which much is to be told.
void FleetTest::aHistoryIsSmall() {
    NodeCheck check = sampleCheck("a");
    NodeReport& report = *check.report;
    report = soundReport();
    for (int i = 0; i < 8; ++i) {
        const std::string number = std::to_string(i);
        GpuReport gpu{"NVIDIA H200 141GB HBM3e",
                      150LL << 30,
                      "GPU-00000000-0000-0000-0000-00000000000" + number,
                      140LL << 30,
                      90,
                      "0000:3" + number + ":00"};
        gpu.processes.assign(20, {4242, "somebody", "python3", 1LL << 34});
        report.gpus.push_back(gpu);
        SelfTest test{gpu.name, gpu.uuid, "580.65.06", "torch 2.11.0", true, 1, {}};
        test.proofs.assign(40, {"GELU kernel", "gelu-kernel", true, "error 1e-7, allowed 1e-5", 1});
        report.selfTests.push_back(test);
        report.runs.push_back({"gpt-small-20261125-" + number, "gpt-small", 1, 8, true});
        report.interfaces.push_back({"enp59s0f" + number, "10.20.30." + number, 24, true, 200000});
        report.disks.push_back({"/mnt/scratch-" + number, "xfs", 1LL << 42, 1LL << 41});
    }
    std::string text;
    for (size_t at = 1; at <= kKeptChecks; ++at) {
        check.checkedNs = static_cast<int64_t>(at) * 1'000'000'000'000'000'000 / 20;
        text = withPastCheck(text, sample("a"), check);
    }
    QVERIFY2(text.size() < 150'000, qPrintable(QString::number(text.size())));
    const auto past = parseHistory(text);
    QCOMPARE(past.size(), kKeptChecks);
    QCOMPARE(past.front().report->gpus.size(), size_t{8});
    QVERIFY(past.front().changes.empty());
}

void FleetTest::aCheckSaysWhatChanged() {
    const Node node = sample("a");
    NodeCheck before = sampleCheck("a");
    before.report->driver = "535";
    const std::string text = withPastCheck("", node, before);
    NodeCheck now = sampleCheck("a");
    now.report->driver = "550";
    now.report->gpus.clear();
    addChanges(now, node, text);
    const CheckRow* row = rowOf(now.rows, "Since the last check");
    QVERIFY(row);
    QCOMPARE(row->evidence, std::string("driver 535 became 550; GPU NVIDIA H200 GPU-1 is gone"));
    QCOMPARE(row->state, CheckRow::State::kWarning);
    QCOMPARE(row->id, std::string("changes"));
    QCOMPARE(
        row->cause,
        std::string("something is gone or smaller, which may be a fault that nobody has seen"));
    QCOMPARE(row->fix, std::string("look at it on the machine; if it is meant so, nothing is to be "
                                   "done: the next check compares with this one"));
    NodeCheck same = before;
    addChanges(same, node, text);
    QVERIFY(!rowOf(same.rows, "Since the last check"));
    Node moved = node; // is another machine
    moved.port = 23;
    NodeCheck other = now;
    other.rows.clear();
    addChanges(other, moved, text);
    QVERIFY(other.rows.empty());
}

void FleetTest::brokenHistoriesAreEmpty_data() {
    QTest::addColumn<QString>("text");
    QTest::newRow("no JSON") << "{";
    QTest::newRow("no object") << "[]";
    QTest::newRow("later version") << R"({"version": 2, "checks": [{}]})";
    QTest::newRow("no list") << R"({"version": 1, "checks": 3})";
    QTest::newRow("no checks") << R"({"version": 1, "checks": [3, [], null]})";
}

void FleetTest::brokenHistoriesAreEmpty() {
    QFETCH(QString, text);
    QVERIFY(parseHistory(text.toStdString()).empty());
    const auto mended = withPastCheck(text.toStdString(), sample("a"), sampleCheck("a"));
    QCOMPARE(parseHistory(mended).size(), size_t{1});
}

void FleetTest::removedNodeIsGone() {
    Fleet fleet(m_dir->filePath("config"));
    QVERIFY(fleet.add(sample("a")));
    QVERIFY(fleet.remove("a"));
    QCOMPARE(fleet.nodes().size(), size_t{1});
    QCOMPARE(fleet.remove("a").error().code, ErrorCode::kNotFound);
    QCOMPARE(fleet.remove(kLocalNodeName).error().code, ErrorCode::kInvalid);
}

void FleetTest::aNodeThatIsBroughtBackIsAsBefore() {
    Fleet fleet(m_dir->filePath("config"), m_dir->filePath("state"));
    QVERIFY(fleet.add(sample("a")));
    fleet.setChecker([](const QString&, const Credentials&) {
        return QtFuture::makeReadyFuture(sampleCheck("a"));
    });
    Credentials given;
    given.password = "secret";
    const auto checked = fleet.check("a", given);
    QTRY_VERIFY(checked.isFinished() && fleet.history("a").size() == 1);
    const auto removed = fleet.remove("a");
    QVERIFY(removed && fleet.history("a").empty() && !fleet.lastCheck("a"));
    QVERIFY(!fleet.credentials().lookUp(sample("a")).password);
    QVERIFY(fleet.bringBack(*removed));
    QVERIFY(fleet.find("a") == sample("a"));
    QCOMPARE(fleet.lastCheck("a").value_or(NodeCheck()).checkedNs, sampleCheck("a").checkedNs);
    QCOMPARE(fleet.history("a").size(), size_t{1});
    QCOMPARE(fleet.credentials().lookUp(sample("a")).password, std::string("secret"));
    // Another machine has got the name meanwhile: that one stays as it is.
    QVERIFY(fleet.remove("a"));
    QVERIFY(fleet.add({"a", false, "elsewhere.example", {}, 0, {}}));
    QCOMPARE(fleet.bringBack(*removed).error().code, ErrorCode::kInvalid);
    QVERIFY(!fleet.lastCheck("a") && fleet.history("a").empty());
}

/// As a crash or a full disk leaves it. A list whose last node was removed is another thing.
void FleetTest::anEmptyFileIsAnErrorAndNotAListWithoutNodes() {
    const QString file = m_dir->filePath("config/nodes.toml");
    Fleet fleet(m_dir->filePath("config"));
    QVERIFY(fleet.add(sample("a")));
    QVERIFY(fleet.remove("a"));
    QVERIFY(Fleet(m_dir->filePath("config")).load());
    QVERIFY(fleet.add(sample("a")));
    QVERIFY(QFile::resize(file, 0));
    const auto loaded = fleet.load();
    QVERIFY(!loaded && loaded.error().code == ErrorCode::kCorrupt);
    for (const char* told : {"nodes.toml", "the file is empty", "bring back a copy", "remove it"})
        QVERIFY2(QByteArray::fromStdString(loaded.error().message).contains(told),
                 loaded.error().message.c_str());
    QVERIFY(fleet.problem());
    QVERIFY(fleet.find("a")); // what was known stays
    const auto added = fleet.add(sample("b"));
    QVERIFY(!added && added.error().code == ErrorCode::kCorrupt);
    QCOMPARE(QFileInfo(file).size(), 0); // nothing is written over it
    QVERIFY(QFile::remove(file));
    QVERIFY(fleet.add(sample("b")));
}

void FleetTest::severalAreAddedOrNone() {
    Fleet fleet(m_dir->filePath("config"));
    QVERIFY(fleet.add(sample("taken")));
    QSignalSpy changed(&fleet, &Fleet::nodesChanged);
    for (const char* bad : {"taken", "a b", "one"}) { // "one" comes twice
        const auto added = fleet.addAll({sample("one"), sample("two"), sample(bad)});
        QVERIFY(!added);
        QCOMPARE(added.error().code, ErrorCode::kInvalid);
    }
    QVERIFY(fleet.load());
    QCOMPARE(fleet.nodes().size(), size_t{2});
    QCOMPARE(changed.count(), 0);
    QVERIFY(fleet.addAll({sample("one"), sample("two")}));
    QCOMPARE(changed.count(), 1);
    QVERIFY(fleet.load());
    QCOMPARE(fleet.nodes().size(), size_t{4});
}

void FleetTest::theNetworkIsMeasuredWhereRanksRun() {
    Node login = sample("login");
    login.isSlurm = true;
    const Node here = localNode(), a = sample("a"), b = sample("b");
    using Nodes = std::vector<Node>;
    QVERIFY(measuredNodes({here, a, b, login}) == (Nodes{a, b}));
    QVERIFY(measuredNodes({here, a, login}) == (Nodes{here, a}));
    QVERIFY(measuredNodes({here, login}) == Nodes{here});
}

/// A check of all nodes must not read the database once for each.
void FleetTest::oneTurnOfChecksAsksForTheRunsOnce() {
    Fleet fleet(m_dir->filePath("config"));
    for (const char* name : {"a", "b", "c"})
        QVERIFY(fleet.add(sample(name)));
    int requested = 0;
    fleet.setKnownRuns([&requested] {
        ++requested;
        return KnownRuns();
    });
    for (const char* name : {"a", "b", "c"}) {
        fleet.check(name);
        fleet.cancelCheck(name);
    }
    QCOMPARE(requested, 1);
    QCoreApplication::processEvents();
    fleet.check("a"); // what has ended meanwhile is known
    fleet.cancelCheck("a");
    QCOMPARE(requested, 2);
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
    // Of a node that is removed all goes, wherever its name leads by now, and comes back as it was.
    const auto taken = granted.take(node);
    QCOMPARE(taken.size(), size_t{1});
    QVERIFY(configure("Host box\n  HostName one.example\n"));
    QVERIFY(!granted.lookUp(node).password);
    granted.bringBack(node, taken);
    QVERIFY(granted.lookUp(node).password);
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
    moved.sshHost = "h;id";
    QCOMPARE(fleet.change(moved).error().code, ErrorCode::kInvalid);
}

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
    QTest::newRow("of a later release") << "{\"a\": {\"version\": 99}}";
    QTest::newRow("with half a row")
        << R"({"a": {"version": 2, "reached_by": "", "rows": [{"id": "disk"}]}})";
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
    QVERIFY(fleet.problem() && fleet.problem()->message.find("line 1") != std::string::npos);
    QSignalSpy changed(&fleet, &Fleet::nodesChanged);
    QSignalSpy edited(&fleet, &Fleet::nodeEdited); // its runs are followed from then on
    QVERIFY(writeFileAtomically(file, "[[node]]\nname = \"a\"\nhost = \"h\"\n"));
    QVERIFY(fleet.load());
    QVERIFY(!fleet.problem());
    QCOMPARE(changed.size(), 1);
    QCOMPARE(edited.size(), 1);
    QVERIFY(writeFileAtomically(file, "[[node]\n"));
    QVERIFY(!fleet.load());
    QVERIFY(fleet.find("a")); // as it was
    QCOMPARE(changed.size(), 2);
    QVERIFY(!fleet.load()); // for the same reason
    QCOMPARE(changed.size(), 2);
    QVERIFY(writeFileAtomically(file, "\n[[node]\n"));
    QVERIFY(!fleet.load());
    QVERIFY2(fleet.problem()->message.find("line 2") != std::string::npos,
             fleet.problem()->message.c_str());
    QCOMPARE(changed.size(), 3);
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
                                                "Host fd00::1 gpu+1 no!pattern\n"
                                                "Match host other\n"
                                                "HostName notme\n"
                                                "Hostess no\n"));
    QVERIFY(sshAliasesOf(path("config")) ==
            (std::vector<std::string>{"gpu-a", "gpu-b", "gpu-c", "quoted", "fd00::1", "gpu+1",
                                      "no!pattern"}));
}

void FleetTest::includedFilesCount() {
    QDir().mkpath(m_dir->filePath("config.d"));
    QVERIFY(writeFileAtomically(path("config"), "Include config.d/*.conf missing\nHost last\n"));
    QVERIFY(writeFileAtomically(path("config.d/1.conf"), "Host one\n"));
    QVERIFY(writeFileAtomically(path("config.d/2.conf"), "Host two\n"));
    QVERIFY(writeFileAtomically(path("config.d/3.txt"), "Host three\n"));
    QVERIFY(sshAliasesOf(path("config")) == (std::vector<std::string>{"one", "two", "last"}));
}

void FleetTest::includedFilesCountWhateverPartIsAPattern() {
    for (const char* cluster : {"a", "b"}) {
        QDir().mkpath(m_dir->filePath(QString("clusters/%1").arg(cluster)));
        QVERIFY(writeFileAtomically(path(QString("clusters/%1/config").arg(cluster)),
                                    std::string("Host in-") + cluster + "\n"));
    }
    QVERIFY(writeFileAtomically(path("config"), "Include clusters/*/config\n"));
    QVERIFY(sshAliasesOf(path("config")) == (std::vector<std::string>{"in-a", "in-b"}));
}

void FleetTest::includeCircleEnds() {
    QVERIFY(writeFileAtomically(path("config"), "Include config\nHost me\n"));
    QVERIFY(sshAliasesOf(path("config")) == std::vector<std::string>{"me"});
}

void FleetTest::missingConfigHasNoAliases() {
    QVERIFY(sshAliasesOf(path("nothing")).empty());
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
    QCOMPARE(kept[0].rows, (std::vector<CheckRow>{goodRow("", "Disk", "50 GiB free")}));
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

void FleetTest::aCancelledCheckIsAnsweredAtOnceAndNotKept() {
    Fleet fleet(m_dir->filePath("config"), m_dir->filePath("state"));
    QVERIFY(fleet.add(sample("a")));
    QPromise<NodeCheck> late;
    late.start();
    fleet.setChecker([&](const QString&, const Credentials&) { return late.future(); });
    const auto checked = fleet.check("a");
    QSignalSpy changed(&fleet, &Fleet::checkChanged);
    fleet.cancelCheck("nobody");
    QVERIFY(!checked.isFinished());
    fleet.cancelCheck("a");
    QVERIFY(checked.isFinished());
    QCOMPARE(checked.result().failure->error.message, std::string("check node a: cancelled"));
    QCOMPARE(changed.count(), 1);
    late.addResult(sampleCheck("a"));
    late.finish();
    QCoreApplication::processEvents();
    QVERIFY(!fleet.lastCheck("a"));
    QCOMPARE(changed.count(), 1);
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
    std::optional<std::optional<Secret>> read;
    keyring.read(sample("a"), [&read](std::optional<Secret> found) { read = std::move(found); });
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
