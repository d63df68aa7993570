// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/node/node.h"
#include "app/core/settings/paths.h"
#include "app/core/store/store_writer.h"
#include "shared/exit_code.h"
#include "tests/cli/own_folders.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <fcntl.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>

using namespace rm;

namespace {

constexpr int kDeadlineMs = 60000;

int codeOf(ExitCode code) {
    return static_cast<int>(code);
}

} // namespace

/// What is kept of runs, from the terminal, with a run of real ranks: their names, their
/// checkpoints, the trash, what lies on the nodes. The functions build on one another, in order.
class TestCliKeeping : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void aRunThatTrainsIsNeitherDeletedNorCleaned();
    void aRenamedRunIsCalledSoEverywhere();
    void tagsAndNotesAreEdited();
    void whatARunHasUsedIsTold();
    void severalAreTaggedAtOnce();
    void starredRunsAreFound();
    void archivedRunsAreListedWhereTheyAreAskedFor();
    void runsAreGroupedWithTheirFigures();
    void filtersAreKeptUnderNames();
    void aNameThatIsTakenIsRefused();
    void aCopyIsVerifiedWhereItLies();
    void checkpointsAreVerifiedByteByByte();
    void theTrashGivesBackWhatWasDeleted();
    void nodesAreCleanedOnceItIsAgreedTo();
    void whatWasDeployedIsCleanedOnceItIsAgreedTo();
    void theTrashIsEmptiedOnceItIsAgreedTo();
    void whatACleaningLeavesIsSaid();

private:
    QStringList namesIn(const QStringList& words) const;
    QJsonArray verified(int exitCode) const;

    OwnFolders m_own;
};

/// Checkpoints at 2 and 4, which a run of minutes has as well.
void TestCliKeeping::initTestCase() {
    const Answer ended =
        m_own.run({"run", "gpt-tiny", "--set", "name=first", "--set", "train.steps=4", "--set",
                   "schedule.warmup_steps=1", "--set", "checkpoint.every=2", "--node",
                   "this-computer:1", "--wait", "--json"},
                  2 * kDeadlineMs);
    QVERIFY2(ended.exitCode == 0, ended.whole());
}

QStringList TestCliKeeping::namesIn(const QStringList& words) const {
    QStringList names;
    for (const QJsonValue& each : m_own.run(words + QStringList{"--json"}).json().array())
        names << each["name"].toString();
    return names;
}

void TestCliKeeping::aRunThatTrainsIsNeitherDeletedNorCleaned() {
    const Answer started = m_own.run(longRunWords("busy", 500000, "this-computer:1"));
    QVERIFY2(started.exitCode == 0, started.whole());
    for (const char* command : {"delete", "clean", "archive"}) {
        const Answer refused = m_own.run({command, "busy", "--json"});
        QVERIFY2(refused.exitCode == codeOf(ExitCode::kUsage), refused.whole());
        QVERIFY2(refused.err.contains("it is running; stop or pause it first"), refused.whole());
    }
    QCOMPARE(m_own.run({"kill", "busy"}).exitCode, 0);
    QCOMPARE(m_own.run({"delete", "busy"}).exitCode, 0);
}

void TestCliKeeping::aRenamedRunIsCalledSoEverywhere() {
    const Answer renamed = m_own.run({"rename", "first", "kept, lr 5e-4"});
    QVERIFY2(renamed.exitCode == 0, renamed.whole());
    QVERIFY2(renamed.out.contains("is called kept, lr 5e-4"), renamed.whole());
    QCOMPARE(namesIn({"runs"}), QStringList("kept, lr 5e-4"));
    const QJsonObject shown = m_own.run({"show", "kept, lr 5e-4", "--json"}).json().object();
    QVERIFY2(shown["spec"].toString().contains("name = \"kept, lr 5e-4\""),
             qPrintable(shown["spec"].toString()));
    QCOMPARE(m_own.run({"rename", shown["id"].toString(), "kept"}).exitCode, 0);
    // What is launched with its spec is called after it.
    const Answer like = m_own.run({"run", "--like", "kept", "--wait", "--json"}, 2 * kDeadlineMs);
    QVERIFY2(like.exitCode == 0, like.whole());
    QVERIFY2(like.err.contains("a run is called kept already, " + shown["id"].toString().toUtf8()),
             like.whole());
    QCOMPARE(namesIn({"runs"}), QStringList({"kept", "kept"}));
    // Which one is meant is said by who only looks, and asked by who changes something.
    const QString newest = like.json().object()["id"].toString();
    const Answer looked = m_own.run({"show", "kept"});
    QVERIFY2(looked.exitCode == 0 && looked.out.startsWith(newest.toUtf8()), looked.whole());
    QVERIFY2(looked.err.contains("2 runs are called kept; the newest is meant, "), looked.whole());
    const Answer refused = m_own.run({"rename", "kept", "other"});
    QVERIFY2(refused.exitCode == codeOf(ExitCode::kUsage), refused.whole());
    for (const QString& id : {newest, shown["id"].toString()})
        QVERIFY2(refused.err.contains(id.toUtf8()), refused.whole());
    QCOMPARE(m_own.run({"rename", newest, "other"}).exitCode, 0);
    QCOMPARE(namesIn({"runs"}), QStringList({"other", "kept"}));
    QVERIFY(m_own.run({"show", "kept"}).err.isEmpty());
}

void TestCliKeeping::tagsAndNotesAreEdited() {
    QCOMPARE(m_own.run({"tag", "kept", "good", "old"}).out, QByteArray("good, old\n"));
    QCOMPARE(m_own.run({"tag", "kept", "new", "--remove", "old"}).out, QByteArray("good, new\n"));
    QCOMPARE(m_own.run({"note", "kept", "the best\nso far"}).exitCode, 0);
    QCOMPARE(m_own.run({"note", "kept"}).out, QByteArray("the best\nso far\n"));
    const QJsonObject shown = m_own.run({"show", "kept", "--json"}).json().object();
    QCOMPARE(shown["tags"].toArray(), QJsonArray({"good", "new"}));
    QCOMPARE(shown["notes"].toString(), QString("the best\nso far"));
    QVERIFY(m_own.run({"show", "kept"}).out.contains("tags        good, new\n"));
    QCOMPARE(m_own.run({"note", "kept", ""}).out, QByteArray("\n"));
    QCOMPARE(m_own.run({"tag", "kept", "--remove", "good", "--remove", "new", "--json"})
                 .json()
                 .object()["tags"]
                 .toArray(),
             QJsonArray());
}

void TestCliKeeping::whatARunHasUsedIsTold() {
    QVERIFY(m_own.run({"nodes", "edit", "this-computer", "--price", "-1"})
                .err.contains("its price must be a number from 0 to a million"));
    const Answer priced = m_own.run({"nodes", "edit", "this-computer", "--price", "3600000"});
    QVERIFY2(priced.exitCode != 0, priced.whole()); // over a million
    const Answer edited = m_own.run({"nodes", "edit", "this-computer", "--price", "360000"});
    QVERIFY2(edited.exitCode == 0, edited.whole());
    const QJsonObject used =
        m_own.run({"show", "kept", "--json"}).json().object()["used"].toObject();
    QVERIFY2(used["hours"].toDouble() > 0, qPrintable(QJsonDocument(used).toJson()));
    QCOMPARE(used["rank_hours"].toDouble(), used["hours"].toDouble());
    QVERIFY(std::abs(used["price"].toDouble() - 360000 * used["hours"].toDouble()) < 1e-6);
    QVERIFY(used["kwh"].isNull());
    const QByteArray told = m_own.run({"show", "kept"}).out;
    QVERIFY2(told.contains("  used        0.0") && told.contains(" rank-hours, ") &&
                 told.contains(" at the prices of its nodes\n"),
             told.constData());
    QVERIFY(m_own.run({"compare", "kept", "other", "--all"}).out.contains("Rank-hours"));
    QCOMPARE(m_own.run({"nodes", "edit", "this-computer", "--price", "0"}).exitCode, 0);
    QVERIFY(!m_own.run({"show", "kept"}).out.contains("at the prices"));
}

void TestCliKeeping::severalAreTaggedAtOnce() {
    const Answer tagged = m_own.run({"tag", "kept", "both", "--also", "other"});
    QVERIFY2(tagged.exitCode == 0 && tagged.out.count(": both\n") == 2, tagged.whole());
    const Answer taken =
        m_own.run({"tag", "kept", "--remove", "both", "--also", "other", "--json"});
    QCOMPARE(taken.json().array().size(), 2);
    QCOMPARE(taken.json().array().at(1)["tags"].toArray(), QJsonArray());
}

void TestCliKeeping::starredRunsAreFound() {
    const Answer starred = m_own.run({"star", "kept", "other"});
    QVERIFY2(starred.exitCode == 0 && starred.out.count(" has a star\n") == 2, starred.whole());
    QCOMPARE(namesIn({"runs", "--filter", "starred:yes"}).size(), 2);
    const Answer taken = m_own.run({"unstar", "other", "--json"});
    QCOMPARE(taken.json().object()["starred"], QJsonValue(false));
    QCOMPARE(namesIn({"runs", "--filter", "starred:yes"}), QStringList("kept"));
    QVERIFY(m_own.run({"show", "kept"}).out.contains("marks       starred\n"));
    QVERIFY(m_own.run({"runs"}).out.contains("MARKS"));
    QVERIFY(m_own.run({"show", "kept", "--json"}).json().object()["starred"].toBool());
    QCOMPARE(m_own.run({"unstar", "kept"}).exitCode, 0);
}

void TestCliKeeping::archivedRunsAreListedWhereTheyAreAskedFor() {
    // One that is not known does not keep the others from it.
    const Answer archived = m_own.run({"archive", "nope", "other", "--json"});
    QVERIFY2(archived.exitCode == codeOf(ExitCode::kNotFound), archived.whole());
    QVERIFY(archived.json().array().at(0)["error"].toString().contains("nope"));
    QVERIFY(archived.json().array().at(1)["archived"].toBool());
    QCOMPARE(namesIn({"runs"}), QStringList("kept"));
    QCOMPARE(namesIn({"runs", "--archived"}), QStringList("other"));
    QCOMPARE(namesIn({"runs", "--filter", "archived:yes name:kept"}), QStringList());
    QVERIFY(m_own.run({"show", "other", "--json"}).json().object()["archived"].toBool());
    const Answer back = m_own.run({"unarchive", "other"});
    QVERIFY2(back.exitCode == 0 && back.out.contains("is in the list again"), back.whole());
    QCOMPARE(namesIn({"runs"}), QStringList({"other", "kept"}));
}

void TestCliKeeping::runsAreGroupedWithTheirFigures() {
    const Answer table = m_own.run({"runs", "--group", "state", "--columns", "lr"});
    QVERIFY2(table.exitCode == 0 && table.out.startsWith("state") &&
                 table.out.contains("finished  2 "),
             table.whole());
    const QJsonObject json =
        m_own.run({"runs", "--group", "train.steps", "--json"}).json().object();
    QCOMPARE(json["group"], QJsonValue("train.steps"));
    const QJsonObject group = json["groups"].toArray().at(0).toObject();
    QCOMPARE(group["value"], QJsonValue("4"));
    QCOMPARE(group["runs"].toArray().size(), 2);
    QCOMPARE(group["figures"]["step"]["mean"], QJsonValue(4));
    QCOMPARE(group["figures"]["step"]["spread"], QJsonValue(0));
    QCOMPARE(group["figures"]["loss"]["count"], QJsonValue(2));
    const Answer refused = m_own.run({"runs", "--group", "learning_rat"});
    QVERIFY2(refused.exitCode == codeOf(ExitCode::kNotFound), refused.whole());
}

void TestCliKeeping::filtersAreKeptUnderNames() {
    QVERIFY(m_own.run({"runs", "--filters"}).out.startsWith("No filter is kept."));
    QCOMPARE(namesIn({"runs", "--filter", "name:kept step >= 4", "--save-filter", "my own"}),
             QStringList("kept"));
    QCOMPARE(namesIn({"runs", "--filter", "@my own"}), QStringList("kept"));
    const Answer compared = m_own.run({"compare", "--filter", "@my own", "--keys", "lr", "--json"});
    QCOMPARE(compared.json()["runs"].toArray().size(), 1);
    QCOMPARE(m_own.run({"compare", "--filter", "@no such", "--keys", "lr"}).exitCode,
             codeOf(ExitCode::kNotFound));
    const QJsonArray kept = m_own.run({"runs", "--filters", "--json"}).json().array();
    QCOMPARE(kept,
             QJsonArray({QJsonObject{{"name", "my own"}, {"filter", "name:kept step >= 4"}}}));
    QCOMPARE(m_own.run({"runs", "--remove-filter", "my own"}).exitCode, 0);
    for (const QStringList& words :
         {QStringList{"--filter", "@my own"}, {"--remove-filter", "my own"}})
        QCOMPARE(m_own.run(QStringList{"runs"} + words).exitCode, codeOf(ExitCode::kNotFound));
    // What is no filter is not kept.
    QCOMPARE(m_own.run({"runs", "--filter", "loss <", "--save-filter", "bad"}).exitCode,
             codeOf(ExitCode::kUsage));
    QVERIFY(m_own.run({"runs", "--filters", "--json"}).json().array().isEmpty());
}

void TestCliKeeping::aNameThatIsTakenIsRefused() {
    for (const char* name : {"kept", "", "one\ntwo"}) {
        const Answer refused = m_own.run({"rename", "other", name, "--json"});
        QVERIFY2(refused.exitCode == codeOf(ExitCode::kUsage), refused.whole());
        QCOMPARE(refused.err.count('\n'), 1);
    }
    QVERIFY(m_own.run({"rename", "other", "kept"}).err.contains("choose another name"));
    QCOMPARE(m_own.run({"rename", "nope", "x"}).exitCode, codeOf(ExitCode::kNotFound));
}

QJsonArray TestCliKeeping::verified(int exitCode) const {
    const Answer answer = m_own.run({"checkpoints", "kept", "--verify", "--json"});
    if (answer.exitCode != exitCode)
        QTest::qFail(answer.whole().constData(), __FILE__, __LINE__);
    return answer.json().array();
}

void TestCliKeeping::aCopyIsVerifiedWhereItLies() {
    const std::string path = verified(0).at(0)["path"].toString().toStdString();
    const std::string copy = m_own.path("copy").toStdString();
    std::filesystem::copy(path, copy);
    QFile model(QString::fromStdString(copy) + "/model.safetensors");
    QVERIFY(model.open(QIODevice::ReadWrite) && model.seek(model.size() - 1));
    char last = 0;
    QVERIFY(model.peek(&last, 1) == 1);
    last = static_cast<char>(last ^ 1);
    const QString run = m_own.run({"show", "kept", "--json"}).json()["id"].toString();
    {
        const auto writer = StoreWriter::open(Paths::fromEnvironment().database());
        QVERIFY(writer && (*writer)->setCheckpointCopy(run, path, {kLocalNodeName, copy, 1}));
    }
    QCOMPARE(verified(0).size(), 2); // still as it was saved
    QVERIFY(model.write(&last, 1) == 1 && model.flush());
    const QJsonValue rotten = verified(codeOf(ExitCode::kCorrupt)).at(0);
    QVERIFY(!rotten["whole"].toBool(true));
    const QString problem = rotten["problem"].toString();
    QVERIFY2(problem.startsWith("its copy on this-computer: read ") &&
                 problem.endsWith("; whole: on this-computer"),
             qPrintable(problem));
    const auto writer = StoreWriter::open(Paths::fromEnvironment().database());
    QVERIFY(writer && (*writer)->forgetCheckpointCopy(run, path, kLocalNodeName));
}

void TestCliKeeping::checkpointsAreVerifiedByteByByte() {
    const QJsonArray whole = verified(0);
    QCOMPARE(whole.size(), 2);
    for (const QJsonValue& each : whole)
        QVERIFY(each["whole"].toBool() && each["problem"].toString().isEmpty());
    const QString damaged = whole.at(1)["path"].toString() + "/model.safetensors";
    QFile file(damaged);
    QVERIFY(file.open(QIODevice::ReadWrite));
    QVERIFY(file.seek(file.size() - 1));
    char last = 0;
    QVERIFY(file.peek(&last, 1) == 1);
    last = static_cast<char>(last ^ 1);
    QVERIFY(file.write(&last, 1) == 1);
    file.close();
    const QJsonArray flipped = verified(codeOf(ExitCode::kCorrupt));
    QVERIFY(flipped.at(0)["whole"].toBool());
    QVERIFY(!flipped.at(1)["whole"].toBool(true));
    QVERIFY2(flipped.at(1)["problem"].toString().contains(damaged),
             qPrintable(flipped.at(1)["problem"].toString()));
    const Answer table = m_own.run({"checkpoints", "kept", "--verify"});
    QVERIFY2(table.out.contains("VERIFIED") && table.out.contains("whole\n") &&
                 table.out.contains("damaged: read "),
             table.whole());
    // When it was found whole is remembered.
    const Answer later = m_own.run({"checkpoints", "kept"});
    QVERIFY2(later.out.contains("VERIFIED") && !later.out.contains("damaged: read "),
             later.whole());
}

void TestCliKeeping::theTrashGivesBackWhatWasDeleted() {
    const Answer deleted = m_own.run({"delete", "kept"});
    QVERIFY2(deleted.exitCode == 0 && deleted.out.contains("trash for 30 days"), deleted.whole());
    QCOMPARE(namesIn({"runs"}), QStringList("other"));
    QCOMPARE(namesIn({"trash"}), QStringList({"kept", "busy"}));
    QVERIFY(m_own.run({"trash"}).out.contains("busy"));
    QCOMPARE(m_own.run({"trash", "restore", "other"}).exitCode, codeOf(ExitCode::kNotFound));
    const Answer restored = m_own.run({"trash", "restore", "kept", "--json"});
    QVERIFY2(restored.exitCode == 0, restored.whole());
    QCOMPARE(namesIn({"runs"}), QStringList({"other", "kept"}));
    QCOMPARE(m_own.run({"checkpoints", "kept", "--json"}).json().array().size(), 2);
}

void TestCliKeeping::nodesAreCleanedOnceItIsAgreedTo() {
    const Answer preview = m_own.run({"clean", "kept", "--preview", "--json"});
    QVERIFY2(preview.exitCode == 0, preview.whole());
    const QJsonObject there = preview.json()["folders"].toArray().at(0).toObject();
    const QString folder = there["folder"].toString();
    QCOMPARE(there["node"].toString(), QString("this-computer"));
    QCOMPARE(there["checkpoints"].toInt(), 2);
    QVERIFY(there["bytes"].toInteger() > 1'000'000);
    const Answer refused = m_own.run({"clean", "kept"});
    QVERIFY2(refused.exitCode == codeOf(ExitCode::kUsage), refused.whole());
    QVERIFY2(refused.err.contains("2 checkpoints") && refused.err.contains("--yes"),
             refused.whole());
    QVERIFY(QFileInfo::exists(folder));
    const Answer cleaned = m_own.run({"clean", "kept", "--yes"});
    QVERIFY2(cleaned.exitCode == 0, cleaned.whole());
    QVERIFY(!QFileInfo::exists(folder));
    QVERIFY(m_own.run({"checkpoints", "kept", "--json"}).json().array().isEmpty());
    const Answer none = m_own.run({"checkpoints", "kept"});
    QVERIFY2(none.out.startsWith("No checkpoints: its checkpoints were cleaned from the nodes on "),
             none.whole());
    const Answer resumed = m_own.run({"resume", "kept"});
    QVERIFY2(resumed.exitCode == codeOf(ExitCode::kNotFound), resumed.whole());
    QVERIFY2(resumed.err.contains("it has no checkpoint"), resumed.whole());
    const Answer again = m_own.run({"clean", "kept"});
    QVERIFY2(again.exitCode == 0 && again.out.contains("0 B") && again.out.contains("are gone"),
             again.whole());
    QCOMPARE(m_own.run({"show", "kept", "--json"}).json()["steps"].toInt(), 4);
}

void TestCliKeeping::whatWasDeployedIsCleanedOnceItIsAgreedTo() {
    const QString data =
        Paths::fromEnvironment().data + "/data/" + QString(64, QChar('a')) + "/train";
    QVERIFY(QDir().mkpath(QFileInfo(data).path()));
    QFile staged(data);
    QVERIFY(staged.open(QIODevice::WriteOnly));
    QCOMPARE(staged.write(QByteArray(2'000'000, ' ')), 2'000'000);
    staged.close();
    QVERIFY(m_own.run({"nodes", "add", "gone", "--ssh", "me@no-such-machine.invalid", "--no-check"})
                .exitCode == 0);
    const Answer young = m_own.run({"clean", "--node", "this-computer", "--preview", "--json"});
    QVERIFY2(young.exitCode == 0, young.whole());
    const QJsonObject there = young.json()["nodes"].toArray().at(0).toObject();
    QCOMPARE(there["unneeded_bytes"].toInt(-1), 0);
    qint64 dataBytes = 0;
    for (const QJsonValue& item : there["items"].toArray())
        dataBytes += item["kind"].toString() == "data" ? item["bytes"].toInteger() : 0;
    QCOMPARE(dataBytes, 2'000'000);
    const Answer refused = m_own.run({"clean", "--node", "this-computer", "--recent"});
    // Deployed a moment ago, it may be of a launch that starts its ranks now.
    QVERIFY2(refused.exitCode == 0 && refused.out.contains("used lately"), refused.whole());
    const timespec longAgo[2] = {};
    QCOMPARE(::utimensat(AT_FDCWD, QFileInfo(data).path().toLocal8Bit(), longAgo, 0), 0);
    const Answer requested = m_own.run({"clean", "--node", "this-computer"});
    QVERIFY2(requested.exitCode == codeOf(ExitCode::kUsage) && requested.err.contains("--yes"),
             requested.whole());
    QVERIFY(QFileInfo::exists(data));
    // One answer a node, and the one that cannot be reached is named.
    const Answer cleaned = m_own.run({"clean", "--yes"});
    QVERIFY2(cleaned.exitCode == codeOf(ExitCode::kUnavailable), cleaned.whole());
    QVERIFY2(cleaned.out.contains("this-computer: 2.0 MB removed, "), cleaned.whole());
    QVERIFY2(cleaned.err.contains("clean gone: "), cleaned.whole());
    QVERIFY(!QFileInfo::exists(data));
    QCOMPARE(m_own.run({"clean", "--node", "nope"}).exitCode, codeOf(ExitCode::kNotFound));
    QCOMPARE(m_own.run({"clean", "kept", "--recent"}).exitCode, codeOf(ExitCode::kUsage));
    QCOMPARE(m_own.run({"nodes", "remove", "gone"}).exitCode, 0);
}

void TestCliKeeping::theTrashIsEmptiedOnceItIsAgreedTo() {
    const Answer deleted = m_own.run({"delete", "kept", "--json"});
    QVERIFY2(deleted.exitCode == 0, deleted.whole());
    const Answer refused = m_own.run({"trash", "empty"});
    QVERIFY2(refused.exitCode == codeOf(ExitCode::kUsage), refused.whole());
    QVERIFY2(refused.err.contains("forgets 2 runs for good"), refused.whole());
    QCOMPARE(namesIn({"trash"}).size(), 2);
    const auto setState = [&](RunStateKind state) {
        const auto writer = StoreWriter::open(Paths::fromEnvironment().database());
        QVERIFY(writer && (*writer)->setState(deleted.json()["run"].toString(), state));
    };
    setState(RunStateKind::kRunning); // one that trains is not forgotten, nor counted
    const Answer some = m_own.run({"trash", "empty", "--yes"});
    QVERIFY2(some.exitCode == 0 && some.out.contains("1 run is forgotten; not, as they train or "
                                                     "were brought back: " +
                                                     deleted.json()["run"].toString().toUtf8()),
             some.whole());
    QCOMPARE(namesIn({"trash"}).size(), 1);
    setState(RunStateKind::kFinished);
    const Answer emptied = m_own.run({"trash", "empty", "--yes", "--json"});
    QVERIFY2(emptied.exitCode == 0, emptied.whole());
    QCOMPARE(emptied.json()["forgotten"].toArray().size(), 1);
    QVERIFY(m_own.run({"trash"}).out.contains("The trash is empty."));
    QCOMPARE(m_own.run({"show", deleted.json()["run"].toString()}).exitCode,
             codeOf(ExitCode::kNotFound));
    QCOMPARE(namesIn({"runs"}), QStringList("other"));
    QCOMPARE(m_own.run({"trash", "empty"}).exitCode, 0);
}

/// A folder of checkpoints that the spec names, and of which it is not sure that it is the run's.
void TestCliKeeping::whatACleaningLeavesIsSaid() {
    const QString all = m_own.path("named");
    const Answer ended =
        m_own.run({"run", "gpt-tiny", "--set", "name=named", "--set", "train.steps=2", "--set",
                   "schedule.warmup_steps=1", "--set", "checkpoint.every=2", "--set",
                   "checkpoint.directory=" + all, "--node", "this-computer:1", "--wait"},
                  2 * kDeadlineMs);
    QVERIFY2(ended.exitCode == 0, ended.whole());
    const QStringList runs = QDir(all).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    QCOMPARE(runs.size(), 1);
    const QString folder = all + '/' + runs[0];
    QVERIFY(QFile::remove(folder + "/OWNER.json"));
    const Answer cleaned = m_own.run({"clean", "named", "--yes"});
    QVERIFY2(cleaned.exitCode == 0, cleaned.whole());
    QVERIFY2(cleaned.out.contains("gone from its nodes, except:\n  this-computer: ") &&
                 cleaned.out.contains("stays in " + folder.toUtf8() + ", as no OWNER.json") &&
                 cleaned.out.contains("remove it by hand"),
             cleaned.whole());
    QVERIFY(QFileInfo::exists(folder + "/step-000000002"));
}

QTEST_GUILESS_MAIN(TestCliKeeping)
#include "tst_cli_keeping.moc"
