// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/paths.h"
#include "app/core/store/store_writer.h"
#include "shared/exit_code.h"
#include "shared/io/file.h"
#include "shared/spec/run_spec.h"
#include "tests/cli/own_folders.h"
#include "tests/support/requirement.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonObject>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

using namespace rm;

namespace {
const QStringList kTooLarge = {"run",   "gpt-tiny",   "--node", "this-computer:1",
                               "--set", "name=large", "--set",  "model.width=65536"};
/// 1.4 PB of weights: more than the addresses that a process has, whatever memory a machine has, so
/// that none of it is ever written to.
const QStringList kTooLargeForAddresses = {"run",    "gpt-tiny",
                                           "--node", "this-computer:1",
                                           "--set",  "name=larger",
                                           "--set",  "model.width=131072",
                                           "--set",  "model.feed_forward=1048576",
                                           "--set",  "model.layers=1024"};
} // namespace

/// What scripts rely on: the exit code, JSON alone on standard output, one line on standard error.
class TestCliAnswers : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void errorsAreJsonWithACode_data();
    void errorsAreJsonWithACode();
    void listsOfNothingAreEmptyArrays();
    void aPrintedRecipeIsASpec();
    void withoutADisplayTheWindowIsRefusedInOneLine();
    void nodesComeAndGo();
    void thisComputerIsNotRemoved();
    void aBrokenListOfNodesStopsWhatNeedsItAlone();
    void aClusterIsEditedAsItWasAdded();
    void severalNodesAreImportedOrNone();
    void oneNodeThatIsGoneKeepsNoOtherFromBeingAsked();
    void wordsThatAreNotUnderstoodAreSaidInTheirOrder();
    void severalRunsAreAnsweredInOneArray_data();
    void severalRunsAreAnsweredInOneArray();
    void numbersAreRefusedWithTheirBounds();
    void helpIsNoError();
    void whatTakesAGroupOfNodesSaysSo();
    void dataThatANodeLacksIsToldBeforeTheLaunch();
    void aRunIsNamedAsItIsLaunched();
    void aFarTypoIsMetWithTheKey();
    void numbersHaveAPointWhereverAPersonLives();
    void theCheckOfALaunchTellsTooManyRanks();
    void tooLargeARunIsToldAndLeavesNoTrace();
    void tooLargeARunCanBeLaunchedAnyway();
    void aRunOfANodeThatIsGoneDoesNotGoOn();
    void aNodeWithRanksThatIsEditedSaysWhatBecomesOfThem();

private:
    OwnFolders m_own;
};

void TestCliAnswers::errorsAreJsonWithACode_data() {
    using Words = QStringList;
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<int>("exitCode");
    const auto row = [](const char* name, const Words& words, ExitCode code) {
        QTest::newRow(name) << words << static_cast<int>(code);
    };
    row("no such command", Words{"bogus"}, ExitCode::kUsage);
    row("missing argument", Words{"show"}, ExitCode::kUsage);
    row("half a command", Words{"nodes"}, ExitCode::kUsage);
    row("no such run", Words{"show", "nope"}, ExitCode::kNotFound);
    row("why of no run", Words{"why", "nope"}, ExitCode::kNotFound);
    row("command to no run", Words{"hold", "nope"}, ExitCode::kNotFound);
    row("no such recipe", Words{"run", "nope"}, ExitCode::kNotFound);
    row("no such file", Words{"run", "nope.toml"}, ExitCode::kNotFound);
    row("unknown key", Words{"run", "gpt-tiny", "--set", "train.stepz=1"}, ExitCode::kUsage);
    row("bad value", Words{"run", "gpt-tiny", "--set", "train.steps=many"}, ExitCode::kUsage);
    row("no such node", Words{"run", "gpt-tiny", "--node", "nope"}, ExitCode::kNotFound);
    row("no ranks", Words{"run", "gpt-tiny", "--node", "this-computer:0"}, ExitCode::kUsage);
    row("too many ranks", Words{"run", "gpt-tiny", "--node", "this-computer:9999"},
        ExitCode::kUsage);
    row("twice the same node",
        Words{"run", "gpt-tiny", "--node", "this-computer", "--node", "this-computer"},
        ExitCode::kUsage);
    row("CSV and JSON in one stream", Words{"export", "nope"}, ExitCode::kUsage);
    row("export of no run", Words{"export", "nope", "--output", "x.csv"}, ExitCode::kNotFound);
    row("remove no node", Words{"nodes", "remove", "nope"}, ExitCode::kNotFound);
    row("check no node", Words{"nodes", "check", "nope"}, ExitCode::kNotFound);
    row("edit no node", Words{"nodes", "edit", "nope", "--ssh", "x"}, ExitCode::kNotFound);
    row("rename no run", Words{"rename", "nope", "x"}, ExitCode::kNotFound);
    row("delete no run", Words{"delete", "nope"}, ExitCode::kNotFound);
    for (const char* command : {"star", "unstar", "archive", "unarchive"})
        row(command, Words{command, "nope"}, ExitCode::kNotFound);
    row("stop no run", Words{"stop", "nope"}, ExitCode::kNotFound);
    row("group by nothing", Words{"runs", "--group", "nope"}, ExitCode::kNotFound);
    row("filter by no kept one", Words{"runs", "--filter", "@nope"}, ExitCode::kNotFound);
    row("forget no filter", Words{"runs", "--remove-filter", "nope"}, ExitCode::kNotFound);
    row("keep no filter", Words{"runs", "--save-filter", "x"}, ExitCode::kUsage);
    row("a mark that is none", Words{"runs", "--filter", "starred:so"}, ExitCode::kUsage);
    row("restore no run", Words{"trash", "restore", "nope"}, ExitCode::kNotFound);
    row("clean no run", Words{"clean", "nope"}, ExitCode::kNotFound);
    row("the log of no run", Words{"logs", "nope"}, ExitCode::kNotFound);
    row("a severity that is none", Words{"logs", "nope", "--severity", "bad"}, ExitCode::kUsage);
    row("no steps", Words{"step", "nope", "0"}, ExitCode::kUsage);
    row("steps in words", Words{"step", "nope", "abc"}, ExitCode::kUsage);
    row("trace of no run", Words{"trace", "nope"}, ExitCode::kNotFound);
    row("traces of no run", Words{"trace", "nope", "--list"}, ExitCode::kNotFound);
    row("trace of too many steps", Words{"trace", "nope", "--steps", "201"}, ExitCode::kUsage);
    row("a list and one of it", Words{"trace", "nope", "--list", "--stored", "0"},
        ExitCode::kUsage);
    row("a fingerprint that nothing is compared with",
        Words{"nodes", "add", "x", "--fingerprint", "SHA256:x", "--no-check"}, ExitCode::kUsage);
    row("a name that is a folder", Words{"nodes", "add", "..", "--ssh", "host", "--no-check"},
        ExitCode::kUsage);
    row("bad port", Words{"nodes", "add", "x", "--ssh", "host:99999"}, ExitCode::kUsage);
}

void TestCliAnswers::errorsAreJsonWithACode() {
    QFETCH(QStringList, words);
    QFETCH(int, exitCode);
    const Answer answer = m_own.run(words + QStringList{"--json"});
    QVERIFY2(answer.exitCode == exitCode, answer.whole());
    const QJsonObject error = answer.json().object()["error"].toObject();
    QVERIFY2(!error["code"].toString().isEmpty() && !error["message"].toString().isEmpty(),
             answer.whole());
    QVERIFY2(!answer.err.isEmpty(), answer.whole());
    const Answer plain = m_own.run(words);
    QVERIFY2(plain.exitCode == exitCode || words.first() == "export", plain.whole());
    QVERIFY2(plain.out.isEmpty() && !plain.err.isEmpty(), plain.whole());
}

void TestCliAnswers::severalRunsAreAnsweredInOneArray_data() {
    QTest::addColumn<QString>("command");
    for (const char* command : {"stop", "kill", "pause", "star", "archive", "delete"})
        QTest::newRow(command) << command;
}

void TestCliAnswers::severalRunsAreAnsweredInOneArray() {
    QFETCH(QString, command);
    const Answer answer = m_own.run({command, "nope", "nope-2", "--json"});
    QVERIFY2(answer.exitCode == static_cast<int>(ExitCode::kNotFound), answer.whole());
    const QJsonArray runs = answer.json().array();
    QVERIFY2(runs.size() == 2, answer.whole());
    QCOMPARE(runs[1].toObject()["run"].toString(), QString("nope-2"));
    QVERIFY2(runs[1].toObject()["error"].toString().contains("nope-2"), answer.whole());
    QVERIFY2(answer.err.contains("\"nope\"") && answer.err.contains("\"nope-2\""), answer.whole());
}

void TestCliAnswers::numbersAreRefusedWithTheirBounds() {
    for (const char* steps : {"0", "-1", "abc", "1.5", "1e3"}) {
        const Answer refused = m_own.run({"step", "nope", steps});
        QVERIFY2(refused.err.contains("steps: a whole number from 1 to 1000000000000"),
                 refused.whole());
        QVERIFY2(refused.err.size() < 200, refused.whole());
    }
    const Answer rank = m_own.run({"logs", "nope", "--rank", "x"});
    QVERIFY2(rank.err.contains("a rank: a whole number from 0 to 2147483647"), rank.whole());
}

void TestCliAnswers::listsOfNothingAreEmptyArrays() {
    const Answer runs = m_own.run({"runs", "--json"});
    QVERIFY2(runs.exitCode == 0 && runs.json().isArray() && runs.json().array().isEmpty(),
             runs.whole());
}

void TestCliAnswers::aPrintedRecipeIsASpec() {
    const Answer all = m_own.run({"recipes", "--json"});
    QVERIFY2(all.exitCode == 0 && all.json().array().size() >= 10, all.whole());
    QVERIFY(m_own.run({"recipes"}).out.contains("gpt-tiny"));
    const Answer printed = m_own.run({"recipes", "gpt-tiny"});
    QVERIFY2(printed.exitCode == 0, printed.whole());
    const QTemporaryDir dir;
    const QString spec = dir.filePath("my-run.toml");
    QVERIFY(writeFileAtomically(spec.toStdString(), printed.out.toStdString()));
    const Answer checked = m_own.run({"run", spec, "--check", "--node", "this-computer:1"});
    QVERIFY2(checked.out.contains("What computes"), checked.whole());
    const Answer unknown = m_own.run({"recipes", "nonsense"});
    QVERIFY2(unknown.exitCode == static_cast<int>(ExitCode::kNotFound) &&
                 unknown.err.contains("recipes are gpt-tiny"),
             unknown.whole());
}

void TestCliAnswers::withoutADisplayTheWindowIsRefusedInOneLine() {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
        environment.remove(name);
    QProcess process;
    process.setProcessEnvironment(environment);
    process.start(qEnvironmentVariable("RINGMASTER_BIN") + "/ringmaster", QStringList());
    QVERIFY(process.waitForFinished());
    const QByteArray said = process.readAllStandardError();
    QCOMPARE(process.exitStatus(), QProcess::NormalExit);
    QCOMPARE(process.exitCode(), static_cast<int>(ExitCode::kUnavailable));
    QVERIFY2(said.count('\n') == 1 && said.contains("there is no display here"), said);
}

void TestCliAnswers::nodesComeAndGo() {
    const Answer added =
        m_own.run({"nodes", "add", "far", "--ssh", "me@far.invalid:2222", "--no-check", "--json"});
    QVERIFY2(added.exitCode == 0, added.whole());
    QCOMPARE(added.json().object()["port"].toInt(), 2222);
    const Answer check = m_own.run({"nodes", "check", "far", "--json"});
    QVERIFY2(check.exitCode == static_cast<int>(ExitCode::kUnavailable), check.whole());
    QVERIFY2(!check.json().array().at(0).toObject()["ready"].toBool(true), check.whole());
    const Answer edited =
        m_own.run({"nodes", "edit", "far", "--ssh", "other.invalid", "--no-check", "--json"});
    QVERIFY2(edited.exitCode == 0, edited.whole());
    QCOMPARE(edited.json().object()["ssh_host"].toString(), QString("other.invalid"));
    QCOMPARE(edited.json().object()["port"].toInt(), 0);
    const auto keyBy = [this](const QString& key) {
        return m_own.run({"nodes", "edit", "far", "--key", key, "--no-check", "--json"})
            .json()["identity_file"]
            .toString();
    };
    QCOMPARE(keyBy("/keys/far"), QString("/keys/far"));
    QCOMPARE(keyBy(""), QString());
    const Answer removed = m_own.run({"nodes", "remove", "far", "--json"});
    QVERIFY2(removed.exitCode == 0 && removed.json().object()["removed"] == "far", removed.whole());
    const Answer list = m_own.run({"nodes", "list", "--json"});
    QVERIFY2(list.json().array().size() == 1, list.whole());
}

/// Above all nothing of it is deleted first.
void TestCliAnswers::thisComputerIsNotRemoved() {
    for (const QStringList& more : {QStringList{}, {"--from-node", "--runs", "--yes"}}) {
        const Answer refused = m_own.run(QStringList{"nodes", "remove", "this-computer"} + more);
        QVERIFY2(refused.exitCode == static_cast<int>(ExitCode::kUsage), refused.whole());
        QVERIFY2(refused.err.contains("this computer always is one") && refused.out.isEmpty(),
                 refused.whole());
    }
}

void TestCliAnswers::aBrokenListOfNodesStopsWhatNeedsItAlone() {
    const QString path = m_own.path("config/ringmaster/nodes.toml");
    QVERIFY(QDir().mkpath(m_own.path("config/ringmaster")));
    const QByteArray text = "[[node]]\nname = \"a\"\nhost = h\n";
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
    file.close();
    const auto isReported = [&](const Answer& answer) {
        return answer.err.contains("nodes.toml") && answer.err.contains("line 3");
    };
    const Answer runs = m_own.run({"runs", "--json"});
    QVERIFY2(runs.exitCode == 0 && isReported(runs), runs.whole());
    QCOMPARE(runs.json().array().size(), 0);
    const Answer show = m_own.run({"show", "nope"});
    QVERIFY2(show.exitCode == static_cast<int>(ExitCode::kNotFound) && isReported(show),
             show.whole());
    for (const QStringList& words :
         {QStringList{"nodes", "list"},
          QStringList{"nodes", "add", "b", "--ssh", "b", "--no-check"},
          QStringList{"run", "gpt-tiny", "--node", "a"}, QStringList{"clean"}}) {
        const Answer needed = m_own.run(words);
        QVERIFY2(needed.exitCode == static_cast<int>(ExitCode::kUsage), needed.whole());
        QVERIFY2(isReported(needed) && needed.err.count('\n') == 1, needed.whole());
    }
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), text);
    QVERIFY(file.remove());
}

void TestCliAnswers::aClusterIsEditedAsItWasAdded() {
    const Answer both = m_own.run(
        {"nodes", "add", "lab", "--slurm", "--here", "--ssh", "me@lab.invalid", "--no-check"});
    QVERIFY2(both.exitCode == static_cast<int>(ExitCode::kUsage), both.whole());
    QVERIFY2(m_own.run({"nodes", "add", "lab", "--slurm", "--here", "--partition", "gpu",
                        "--sbatch=--account=me", "--no-check"})
                     .exitCode == 0,
             "add");
    const auto edited = [this](const QStringList& more) {
        return m_own.run(QStringList{"nodes", "edit", "lab", "--no-check", "--json"} + more);
    };
    const Answer other = edited({"--partition", "a100"});
    QVERIFY2(other.exitCode == 0, other.whole());
    QCOMPARE(other.json()["sbatch"].toArray(), (QJsonArray{"--account=me", "--partition=a100"}));
    QCOMPARE(edited({"--sbatch", ""}).json()["sbatch"].toArray(), QJsonArray());
    const Answer plain = edited({"--ssh", "me@lab.invalid", "--no-slurm"});
    QVERIFY2(plain.exitCode == 0 && !plain.json()["slurm"].toBool(true), plain.whole());
    const Answer again = edited({"--slurm", "--sbatch=--account=you"});
    QVERIFY2(again.exitCode == 0 && again.json()["slurm"].toBool(), again.whole());
    QCOMPARE(m_own.run({"nodes", "remove", "lab"}).exitCode, 0);
}

void TestCliAnswers::severalNodesAreImportedOrNone() {
    QVERIFY(QDir().mkpath(m_own.path(".ssh")));
    QFile config(m_own.path(".ssh/config"));
    QVERIFY(config.open(QIODevice::WriteOnly));
    config.write("Host one\n  HostName one.invalid\nHost two\n  HostName two.invalid\n");
    config.close();
    const auto count = [this] {
        return m_own.run({"nodes", "list", "--json"}).json().array().size();
    };
    const Answer twice = m_own.run({"nodes", "import", "one", "two", "one"});
    QVERIFY2(twice.exitCode == static_cast<int>(ExitCode::kUsage), twice.whole());
    QCOMPARE(count(), 1);
    QCOMPARE(m_own.run({"nodes", "import", "one", "two"}).exitCode, 0);
    QCOMPARE(count(), 3);
    for (const char* name : {"one", "two"})
        QCOMPARE(m_own.run({"nodes", "remove", name}).exitCode, 0);
}

/// After a measurement those that took no part are logged into, in case they want a password.
void TestCliAnswers::oneNodeThatIsGoneKeepsNoOtherFromBeingAsked() {
    for (const char* name : {"far-a", "far-b"})
        QCOMPARE(m_own
                     .run({"nodes", "add", name, "--ssh", "255.255.255.255", "--group", "far",
                           "--no-check"})
                     .exitCode,
                 0);
    const Answer measured = m_own.run({"nodes", "network", "@far", "--json"});
    QVERIFY2(measured.exitCode == static_cast<int>(ExitCode::kUnavailable), measured.whole());
    QCOMPARE(measured.json()["matrix"]["nodes"].toArray().size(), 2);
    const QJsonValue gone = measured.json()["findings"][0];
    QCOMPARE(gone["state"].toString(), QString("bad"));
    QCOMPARE(gone["evidence"].toString(), QString("far-a took no part"));
    QVERIFY(!gone["cause"].toString().isEmpty() && gone["fix"].isString());
    QCOMPARE(measured.json()["sentences"].toArray().size(),
             measured.json()["findings"].toArray().size());
    for (const char* name : {"far-a", "far-b"}) {
        const Answer past = m_own.run({"nodes", "history", name, "--json"});
        QVERIFY2(past.json().array().size() == 1, past.whole());
        QCOMPARE(m_own.run({"nodes", "remove", name}).exitCode, 0);
    }
    const Answer nobody = m_own.run({"nodes", "network", "@nobody"});
    QVERIFY2(nobody.exitCode == static_cast<int>(ExitCode::kNotFound), nobody.whole());
}

void TestCliAnswers::wordsThatAreNotUnderstoodAreSaidInTheirOrder() {
    const Answer answer = m_own.run({"runs", "--name", "keep2", "more"});
    QVERIFY2(answer.exitCode == static_cast<int>(ExitCode::kUsage), answer.whole());
    QVERIFY2(answer.err.contains("--name keep2 more"), answer.whole());
}

void TestCliAnswers::helpIsNoError() {
    const Answer half = m_own.run({"nodes"});
    QVERIFY2(half.err.contains("; see ringmaster nodes --help"), half.whole());
    const Answer help = m_own.run({"run", "--help"});
    QVERIFY2(help.exitCode == 0 && help.out.contains("SPEC") && help.out.contains("rises") &&
                 help.err.isEmpty(),
             help.whole());
}

void TestCliAnswers::whatTakesAGroupOfNodesSaysSo() {
    for (const char* command : {"run", "resume", "restore", "forecast", "clean", "nodes check",
                                "nodes network", "nodes all-reduce"}) {
        const Answer help = m_own.run(QString(command).split(' ') + QStringList{"--help"});
        QVERIFY2(help.out.contains("@GROUP"), help.whole());
    }
}

void TestCliAnswers::dataThatANodeLacksIsToldBeforeTheLaunch() {
    const Answer answer = m_own.run(
        {"run", "gpt-tiny", "--json", "--set", R"(data.train=["/usr/share", "/no/such/folder"])"});
    QVERIFY2(answer.exitCode == static_cast<int>(ExitCode::kNotFound), answer.whole());
    const QString reported = answer.json().object()["error"].toObject()["message"].toString();
    QCOMPARE(reported,
             QString("launch on this-computer: data.train names /no/such/folder, which is "
                     "not there"));
    QVERIFY(m_own.run({"runs", "--json"}).json().array().isEmpty());
}

void TestCliAnswers::aRunIsNamedAsItIsLaunched() {
    const Answer answer =
        m_own.run({"run", "gpt-tiny", "--name", "my \"first\" one", "--check", "--json"});
    QVERIFY2(answer.json().isObject(), answer.whole());
    const Answer odd = m_own.run({"run", "gpt-tiny", "--name", "", "--json"});
    QVERIFY2(odd.exitCode == static_cast<int>(ExitCode::kUsage), odd.whole());
}

void TestCliAnswers::aFarTypoIsMetWithTheKey() {
    const Answer answer = m_own.run({"run", "gpt-tiny", "--set", "learning_rate=1e-3"});
    QVERIFY2(answer.exitCode == static_cast<int>(ExitCode::kUsage), answer.whole());
    QVERIFY2(answer.err.contains("did you mean \"optimizer.lr\"?"), answer.whole());
}

void TestCliAnswers::numbersHaveAPointWhereverAPersonLives() {
    const QString locales = m_own.path("locales");
    QVERIFY(QDir().mkpath(locales));
    const QString german = locales + "/de_DE.UTF-8";
    QProcess::execute("localedef", {"-i", "de_DE", "-f", "UTF-8", german});
    RM_NEEDS("locales", QFile::exists(german + "/LC_NUMERIC"),
             QStringLiteral("localedef makes no de_DE.UTF-8"));
    qputenv("LOCPATH", locales.toLocal8Bit());
    const QByteArray before = qgetenv("LC_ALL");
    qputenv("LC_ALL", "de_DE.UTF-8");
    const Answer check = m_own.run({"nodes", "check", "this-computer"});
    qunsetenv("LOCPATH");
    before.isNull() ? qunsetenv("LC_ALL") : qputenv("LC_ALL", before);
    static const QRegularExpression pointed("\\d\\.\\d [GT]iB"), comma("\\d,\\d+ [kMGT]i?B");
    QVERIFY2(pointed.match(check.out).hasMatch() && !comma.match(check.out).hasMatch(),
             check.whole());
}

void TestCliAnswers::theCheckOfALaunchTellsTooManyRanks() {
    const QStringList words{"run", "gpt-tiny", "--json", "--node", "this-computer:100000"};
    const Answer launch = m_own.run(words);
    QVERIFY2(launch.exitCode == static_cast<int>(ExitCode::kUsage), launch.whole());
    const QString why = launch.json().object()["error"].toObject()["message"].toString();
    QVERIFY2(why.startsWith("place 100000 ranks on this-computer: "), launch.whole());
    const Answer check = m_own.run(words + QStringList{"--check"});
    QVERIFY2(check.exitCode == static_cast<int>(ExitCode::kFailed), check.whole());
    const QJsonObject row = check.json()["rows"].toArray().first().toObject();
    QCOMPARE(row["id"].toString(), QString("launch-runtime"));
    QCOMPARE(row["evidence"].toString(), why);
}

void TestCliAnswers::tooLargeARunIsToldAndLeavesNoTrace() {
    const Answer answer = m_own.run(kTooLarge + QStringList{"--json"});
    QVERIFY2(answer.exitCode == static_cast<int>(ExitCode::kExhausted), answer.whole());
    const QString reported = answer.json().object()["error"].toObject()["message"].toString();
    for (const char* part :
         {"this-computer has too little memory for large: it needs more than ", " TiB, and ",
          " are free; a smaller model", "; --anyway launches it all the same"})
        QVERIFY2(reported.contains(part), part);
    QVERIFY(m_own.run({"runs", "--json"}).json().array().isEmpty());
}

void TestCliAnswers::tooLargeARunCanBeLaunchedAnyway() {
    const Answer answer = m_own.run(kTooLargeForAddresses + QStringList{"--anyway", "--wait"});
    QVERIFY2(answer.exitCode == static_cast<int>(ExitCode::kRunFailed), answer.whole());
    QVERIFY2(answer.err.contains("out of memory") || answer.out.contains("out of memory"),
             answer.whole());
}

void TestCliAnswers::aRunOfANodeThatIsGoneDoesNotGoOn() {
    {
        const auto writer = StoreWriter::open(Paths::fromEnvironment().database());
        QVERIFY(writer);
        QVERIFY((*writer)->createRun(
            {"left-1", "left", toToml(RunSpec()), {{0, "gone", 1, 0}}, {}, 0}));
        QVERIFY((*writer)->setState("left-1", RunStateKind::kStopped));
    }
    const Answer answer = m_own.run({"resume", "left-1"});
    QVERIFY2(answer.exitCode == static_cast<int>(ExitCode::kNotFound), answer.whole());
    QVERIFY2(!answer.err.contains("Going on"), answer.whole());
    QVERIFY2(
        answer.err.contains("find node gone, on which left-1 trained: it is not in the list; ") &&
            answer.err.contains("--node"),
        answer.whole());
}

void TestCliAnswers::aNodeWithRanksThatIsEditedSaysWhatBecomesOfThem() {
    {
        const auto writer = StoreWriter::open(Paths::fromEnvironment().database());
        QVERIFY(writer);
        QVERIFY((*writer)->createRun(
            {"trains-1", "trains", toToml(RunSpec()), {{0, "box", 1, 0}}, {}, 0}));
        QVERIFY((*writer)->setState("trains-1", RunStateKind::kRunning));
    }
    const Answer added = m_own.run({"nodes", "add", "box", "--ssh", "box.invalid", "--no-check"});
    QVERIFY2(added.exitCode == 0, added.whole());
    const auto edited = [this](const QStringList& more) {
        return m_own.run(QStringList{"nodes", "edit", "box", "--no-check"} + more);
    };
    const Answer grouped = edited({"--group", "lab"}); // it is reached as before
    QVERIFY2(grouped.exitCode == 0 && !grouped.err.contains("trains-1"), grouped.whole());
    const Answer moved = edited({"--ssh", "other.invalid"});
    QVERIFY2(moved.exitCode == 0 && moved.err.contains("box has ranks of trains-1"), moved.whole());
    const Answer removed = m_own.run({"nodes", "remove", "box"});
    QVERIFY2(removed.exitCode != 0 && removed.err.contains("trains-1 is live there"),
             removed.whole());
}

QTEST_GUILESS_MAIN(TestCliAnswers)
#include "tst_cli_answers.moc"
