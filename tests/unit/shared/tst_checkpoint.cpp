// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/manifest.h"
#include "shared/checkpoint/owner.h"
#include "shared/checkpoint/saved_runs.h"
#include "shared/io/file.h"
#include "shared/io/json.h"
#include "tests/support/small_disk.h"
#include "tests/unit/shared/examples.h"
#include "tests/unit/shared/shared_test.h"

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>

using namespace rm;

namespace {

using Fill = std::function<Result<void>(const std::string&)>;

Fill filling(const std::string& text) {
    return [text](const std::string& dir) -> Result<void> {
        if (auto done = writeFileAtomically(dir + "/model.safetensors", text); !done)
            return done;
        return writeFileAtomically(dir + "/state.json", "{}");
    };
}

Manifest manifestOf(int64_t step, const char* reason = "every 500", double loss = NAN) {
    Manifest manifest;
    manifest.runId = "run";
    manifest.step = step;
    manifest.reason = reason;
    manifest.validationLoss = loss;
    return manifest;
}

CheckpointEntry entryOf(int64_t step, const char* reason = "every 500", double loss = NAN) {
    return {"/c/" + checkpointName(step), manifestOf(step, reason, loss)};
}

using Paths = std::vector<std::string>;

std::string pathOf(int64_t step) {
    return "/c/" + checkpointName(step);
}

Paths removed(const std::vector<CheckpointEntry>& list, const CheckpointLine& line,
              int64_t keepLast, bool keepBest) {
    return checkpointsToRemove(list, line, {keepLast, keepBest ? 1 : 0, 0});
}

Manifest lineManifest(int64_t step, int64_t attempt, std::vector<Manifest::Ancestor> line) {
    Manifest manifest = manifestOf(step);
    manifest.attempt = attempt;
    manifest.line = std::move(line);
    return manifest;
}

// One byte less, or one byte changed.
void damage(const std::string& path, bool isCut) {
    std::string bytes = *readFile(path);
    if (isCut)
        bytes.pop_back();
    else
        bytes[bytes.size() / 2] ^= 1;
    (void)writeFileAtomically(path, bytes);
}

// The manifest with one member changed and its digest made right again.
std::string withMember(const char* key, const Json& value) {
    Json json = Json::parse(toJson(example::manifest()));
    json.erase("digest");
    json[key] = value;
    json["digest"] = sha256Hex(example::bytesOf(dumpJson(json)));
    return json.dump();
}

std::string withFile(const Json& file) {
    return withMember("files", Json::array({file}));
}

[[noreturn]] void publishUntilKilled(const std::string& parent, int microseconds) {
    const itimerval timer{{0, 0}, {0, microseconds}};
    ::setitimer(ITIMER_REAL, &timer, nullptr);
    for (int64_t round = 0;; ++round)
        if (!publishCheckpoint(parent, manifestOf(round % 2), filling(std::to_string(round))))
            ::_exit(1);
}

} // namespace

class TestCheckpoint : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_parent = m_folder->filePath("checkpoints").toStdString();
    }

    void manifestSurvives() {
        const auto manifest = parseManifest(toJson(example::manifest()), "x");
        RM_OK(manifest);
        QCOMPARE(toJson(*manifest), toJson(example::manifest()));
        QVERIFY(manifest->files == example::manifest().files);
        QCOMPARE(manifest->validationLoss, 1.75);
        QCOMPARE(manifest->bytes(), int64_t(123));
    }

    void lossThatIsNoNumberIsNull() {
        for (const double loss : {NAN, INFINITY}) {
            const std::string json = toJson(manifestOf(1, "end", loss));
            QVERIFY(json.find("\"validation_loss\": null") != json.npos);
            QVERIFY(std::isnan(parseManifest(json, "x")->validationLoss));
        }
    }

    void noTruncationIsAManifest() {
        std::string json = toJson(example::manifest());
        json.resize(json.find_last_of('}') + 1);
        RM_OK(parseManifest(json, "x"));
        for (size_t size = 0; size < json.size(); ++size)
            RM_FAILS(parseManifest(json.substr(0, size), "x"), ErrorCode::kCorrupt, "read x");
    }

    void everyFlippedBitIsSeenOrChangesNothing() {
        const std::string json = toJson(example::manifest());
        for (size_t bit = 0; bit < json.size() * 8; ++bit) {
            const auto flipped = test::withBitFlipped(example::bytesOf(json), bit);
            const auto manifest = parseManifest(example::textOf(flipped), "x");
            QVERIFY2(!manifest || toJson(*manifest) == json, qPrintable(QString::number(bit)));
        }
    }

    void laterVersionIsTooNew() {
        RM_FAILS(parseManifest(withMember("version", 2), "x"), ErrorCode::kTooNew, "version 2");
        RM_FAILS(parseManifest(R"({"version":99})", "x"), ErrorCode::kTooNew, "version 99");
    }

    void impossibleManifestsAreCorrupt_data() {
        QTest::addColumn<QString>("json");
        const auto row = [](const char* name, const std::string& json) {
            QTest::newRow(name) << QString::fromStdString(json);
        };
        const std::string sha(64, 'a');
        row("empty", "");
        row("not an object", "[1]");
        row("null", "null");
        row("no version", "{}");
        row("version 0", withMember("version", 0));
        row("no digest", R"({"version":1})");
        row("deep", std::string(100000, '['));
        row("step is a text", withMember("step", "1"));
        row("step is a fraction", withMember("step", 1.5));
        row("step is 2^63", withMember("step", uint64_t(1) << 63));
        row("negative step", withMember("step", -1));
        row("attempt 0", withMember("attempt", 0));
        row("world of none", withMember("world_size", 0));
        row("attempt 2^40", withMember("attempt", int64_t(1) << 40));
        row("loss is a text", withMember("validation_loss", "low"));
        row("best is a number", withMember("best", 1));
        row("line is an object", withMember("line", Json::object()));
        row("line of no attempt", withMember("line", Json::array({{{"step", 1}}})));
        row("line of a negative step",
            withMember("line", Json::array({{{"attempt", 1}, {"step", -1}}})));
        row("files are an object", withMember("files", Json::object()));
        row("file is a number", withFile(1));
        row("file without a hash", withFile({{"name", "a"}, {"size", 1}}));
        row("short hash", withFile({{"name", "a"}, {"size", 1}, {"sha256", "ab"}}));
        row("negative size", withFile({{"name", "a"}, {"size", -1}, {"sha256", sha}}));
        const Json large = {{"name", "a"}, {"size", INT64_MAX}, {"sha256", sha}};
        const Json other = {{"name", "b"}, {"size", INT64_MAX}, {"sha256", sha}};
        row("sizes overflow", withMember("files", Json::array({large, other})));
        row("name twice", withMember("files", Json::array({large, large})));
        for (const char* name :
             {"", ".", "..", "../x", "/etc/passwd", "a/b", "a\nb", "MANIFEST.json"})
            row((std::string("file name ") + name).c_str(),
                withFile({{"name", name}, {"size", 1}, {"sha256", sha}}));
    }
    void impossibleManifestsAreCorrupt() {
        QFETCH(QString, json);
        RM_FAILS(parseManifest(json.toStdString(), "x"), ErrorCode::kCorrupt, "read x");
    }

    void publishedCheckpointIsListedAndWhole() {
        const auto path = publishCheckpoint(m_parent, manifestOf(1000), filling("weights"));
        RM_OK(path);
        QCOMPARE(*path, m_parent + "/step-000001000");
        const auto list = listCheckpoints(m_parent);
        RM_OK(list);
        QCOMPARE(list->size(), size_t(1));
        QCOMPARE(list->front().path, *path);
        QCOMPARE(list->front().manifest.bytes(), int64_t(9));
        RM_OK(verifyCheckpoint(*path));
        QCOMPARE(entries(), QStringList{"step-000001000"});
    }

    void whatTakesAPlaceIsKeptAsLong_data() {
        QTest::addColumn<QString>("first");
        QTest::addColumn<QString>("then");
        QTest::addColumn<QString>("reason");
        QTest::newRow("asked for, best") << "command"
                                         << "best"
                                         << "command";
        QTest::newRow("paused, before set") << "pause"
                                            << "before set"
                                            << "pause";
        QTest::newRow("every, best") << "every 5"
                                     << "best"
                                     << "every 5";
        QTest::newRow("best, every") << "best"
                                     << "every 5"
                                     << "every 5";
        QTest::newRow("every, asked for") << "every 5"
                                          << "command"
                                          << "command";
    }
    void whatTakesAPlaceIsKeptAsLong() {
        QFETCH(QString, first);
        QFETCH(QString, then);
        QFETCH(QString, reason);
        Manifest manifest = manifestOf(5);
        manifest.line.emplace();
        for (const QString& each : {first, then}) {
            manifest.reason = each.toStdString();
            manifest.best = each == "best";
            RM_OK(publishCheckpoint(m_parent, manifest, filling("weights")));
        }
        const auto kept = readManifest(m_parent + "/step-000000005");
        RM_OK(kept);
        QCOMPARE(QString::fromStdString(kept->reason), reason);
        QCOMPARE(kept->best, then == "best");
    }

    void failedFillLeavesNothing() {
        const auto failing = [](const std::string& dir) -> Result<void> {
            (void)filling("half")(dir);
            return fail(ErrorCode::kUnavailable, "copy weights: device lost");
        };
        RM_FAILS(publishCheckpoint(m_parent, manifestOf(1), failing), ErrorCode::kUnavailable,
                 "copy weights: device lost");
        QVERIFY(entries().isEmpty());
    }

    void failedFillKeepsTheCheckpointOfThatStep() {
        RM_OK(publishCheckpoint(m_parent, manifestOf(1), filling("old")));
        const auto failing = [](const std::string&) -> Result<void> {
            return fail(ErrorCode::kInternal, "no");
        };
        QVERIFY(!publishCheckpoint(m_parent, manifestOf(1), failing));
        RM_OK(verifyCheckpoint(m_parent + "/step-000000001"));
    }

    void oddFilesAreRefused_data() {
        QTest::addColumn<int>("row");
        QTest::newRow("folder") << 0;
        QTest::newRow("link") << 1;
        QTest::newRow("manifest") << 2;
        QTest::newRow("line break") << 3;
    }
    void oddFilesAreRefused() {
        QFETCH(int, row);
        const auto odd = [row](const std::string& dir) -> Result<void> {
            if (row == 0)
                return makeFolders(dir + "/folder");
            if (row == 1)
                (void)!::symlink("/etc/passwd", (dir + "/link").c_str());
            const char* name = row == 2 ? "/MANIFEST.json" : "/a\nb";
            return row == 1 ? Result<void>() : writeFileAtomically(dir + name, "");
        };
        RM_FAILS(publishCheckpoint(m_parent, manifestOf(1), odd), ErrorCode::kInvalid,
                 "plain files");
        QVERIFY(entries().isEmpty());
    }

    void replacingKeepsOneWhole() {
        RM_OK(publishCheckpoint(m_parent, manifestOf(1), filling("old")));
        RM_OK(publishCheckpoint(m_parent, manifestOf(1, "command"), filling("newer")));
        QCOMPARE(verifyCheckpoint(m_parent + "/step-000000001")->reason, std::string("command"));
        QCOMPARE(entries(), QStringList{"step-000000001"});
    }

    void whatIsNoCheckpointIsPassedOver() {
        RM_OK(publishCheckpoint(m_parent, manifestOf(5), filling("x")));
        RM_OK(publishCheckpoint(m_parent, manifestOf(3), filling("x")));
        RM_OK(makeFolders(m_parent + "/step-000000009"));
        RM_OK(makeFolders(m_parent + "/other"));
        RM_OK(writeFileAtomically(m_parent + "/step-000000010", ""));
        RM_OK(publishCheckpoint(m_parent + "/elsewhere", manifestOf(4), filling("x")));
        QVERIFY(QFile::rename(QString::fromStdString(m_parent + "/elsewhere/step-000000004"),
                              QString::fromStdString(m_parent + "/step-000000011")));
        const auto list = listCheckpoints(m_parent);
        QCOMPARE(list->size(), size_t(2));
        QCOMPARE(list->front().manifest.step, int64_t(3));
    }

    void missingParentIsAnEmptyList() {
        RM_OK(listCheckpoints(m_parent));
        QVERIFY(listCheckpoints(m_parent)->empty());
        RM_FAILS(readManifest(m_parent), ErrorCode::kNotFound, "MANIFEST.json");
    }

    void damageIsNamed_data() {
        QTest::addColumn<int>("row");
        QTest::addColumn<QString>("words");
        QTest::newRow("missing file") << 0 << "no such file";
        QTest::newRow("wrong size") << 1 << "8 bytes, but the manifest says 7";
        QTest::newRow("wrong byte") << 2 << "SHA-256";
        QTest::newRow("link instead") << 3 << "no such file";
    }
    void damageIsNamed() {
        QFETCH(int, row);
        QFETCH(QString, words);
        const std::string dir = *publishCheckpoint(m_parent, manifestOf(1), filling("weights"));
        const std::string model = dir + "/model.safetensors";
        if (row == 0 || row == 3)
            QVERIFY(QFile::remove(QString::fromStdString(model)));
        if (row == 3)
            QCOMPARE(::symlink("/etc/passwd", model.c_str()), 0);
        if (row == 1 || row == 2)
            test::writeBytes(model, example::bytesOf(row == 1 ? m_eight : m_seven));
        RM_FAILS(verifyCheckpoint(dir), ErrorCode::kCorrupt, words.toStdString());
        RM_FAILS(verifyCheckpoint(dir), ErrorCode::kCorrupt, model);
        QCOMPARE(listCheckpoints(m_parent)->size(), size_t(row == 2));
    }

    void theNewestWholeOneTakesThePlaceOfADamagedOne_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<bool>("isCut");
        QTest::addColumn<QString>("problem");
        QTest::newRow("whole") << QString() << false << QString();
        QTest::newRow("cut") << "model.safetensors" << true
                             << "model.safetensors: 7 bytes, but the manifest says 8";
        QTest::newRow("flipped") << "model.safetensors" << false
                                 << "model.safetensors: its SHA-256 is not the one in the manifest";
        QTest::newRow("no manifest") << "MANIFEST.json" << false << "MANIFEST.json: ";
    }

    void theNewestWholeOneTakesThePlaceOfADamagedOne() {
        QFETCH(QString, file);
        QFETCH(bool, isCut);
        QFETCH(QString, problem);
        for (const int64_t step : {100, 200, 300})
            RM_OK(publishCheckpoint(m_parent, lineManifest(step, 1, {}), filling(m_eight)));
        // Of an abandoned line, and newer than what is wanted.
        RM_OK(publishCheckpoint(m_parent, lineManifest(250, 2, {{1, 200}}), filling(m_eight)));
        const std::string newest = m_parent + "/step-000000300";
        if (!file.isEmpty())
            damage(newest + "/" + file.toStdString(), isCut);
        RM_OK(claimCheckpoints(m_parent, {"run", "name", {3, {{1, 300}}, newest}}));
        const auto found = newestWhole(newest);
        RM_OK(found);
        QCOMPARE(found->manifest.step, file.isEmpty() ? 300 : 200);
        QCOMPARE(found->path, m_parent + "/" + checkpointName(found->manifest.step));
        QCOMPARE(found->passedOver.size(), size_t(file.isEmpty() ? 0 : 1));
        if (file.isEmpty())
            return;
        QCOMPARE(found->passedOver[0].step, 300);
        QCOMPARE(found->passedOver[0].path, newest);
        QVERIFY2(found->passedOver[0].problem.starts_with(problem.toStdString()),
                 found->passedOver[0].problem.c_str());
    }

    void everyDamagedOneIsNamed() {
        for (const int64_t step : {100, 200, 300, 400})
            RM_OK(publishCheckpoint(m_parent, lineManifest(step, 1, {}), filling(m_eight)));
        damage(m_parent + "/step-000000400/model.safetensors", false);
        damage(m_parent + "/step-000000300/MANIFEST.json", false);
        damage(m_parent + "/step-000000200/state.json", true);
        const auto found = newestWhole(m_parent + "/step-000000400/");
        RM_OK(found);
        QCOMPARE(found->manifest.step, 100);
        std::vector<int64_t> steps;
        for (const DamagedCheckpoint& each : found->passedOver)
            steps.push_back(each.step);
        QCOMPARE(steps, (std::vector<int64_t>{400, 300, 200}));
        damage(m_parent + "/step-000000100/state.json", false);
        for (const char* words : {"no checkpoint is whole", "step-000000400: model.safetensors",
                                  "step-000000300: MANIFEST.json", "step-000000100: state.json"})
            RM_FAILS(newestWhole(m_parent + "/step-000000400"), ErrorCode::kCorrupt, words);
        RM_FAILS(newestWhole(m_parent + "/gone/step-000000001"), ErrorCode::kCorrupt,
                 "no checkpoint is whole");
    }

    void aLaterVersionIsNoDamage() {
        RM_OK(publishCheckpoint(m_parent, lineManifest(100, 1, {}), filling("x")));
        const std::string dir =
            *publishCheckpoint(m_parent, lineManifest(200, 1, {}), filling("x"));
        RM_OK(writeFileAtomically(dir + "/MANIFEST.json", withMember("version", 2)));
        RM_FAILS(newestWhole(dir), ErrorCode::kTooNew, "newer release");
    }

    void aFolderOfAnotherRunIsRefusedByItsName() {
        RM_FAILS(readOwner(m_parent), ErrorCode::kNotFound, "OWNER.json");
        const CheckpointOwner first{"run", "my run", {2, {{1, 60}}, m_parent + "/step-000000060"}};
        RM_OK(claimCheckpoints(m_parent, first));
        QVERIFY(*readOwner(m_parent) == first);
        RM_FAILS(claimCheckpoints(m_parent, {"other", "another", {1, {}, {}}}), ErrorCode::kInvalid,
                 "belongs to the run \"my run\" (run)");
        QVERIFY(*readOwner(m_parent) == first);
        RM_OK(claimCheckpoints(m_parent, {"run", "my run", {2, {{1, 60}}, {}}}));
        RM_OK(claimCheckpoints(m_parent, {"run", "my run", {3, {}, {}}}));
        RM_FAILS(claimCheckpoints(m_parent, {"run", "my run", {2, {}, {}}}), ErrorCode::kInvalid,
                 "attempt 3 of this run has begun");
        // Launched anew, under an id of its own, to go on from what is there.
        RM_OK(claimCheckpoints(m_parent, {"other", "my run", {1, {{1, 60}}, m_parent + "/step"}}));
        RM_OK(writeFileAtomically(m_parent + "/OWNER.json", "{"));
        RM_OK(claimCheckpoints(m_parent, {"run", "my run", {4, {}, {}}}));
    }

    void whoseCheckpointsAreInAFolderIsTold() {
        const auto save = [this](const std::string& id, const std::string& name, int64_t step,
                                 int64_t createdNs) {
            const std::string folder = m_parent + "/" + id;
            Manifest manifest = lineManifest(step, 1, {});
            manifest.runId = id;
            manifest.createdNs = createdNs;
            RM_OK(claimCheckpoints(folder, {id, name, {1, {}, {}}}));
            RM_OK(publishCheckpoint(folder, manifest, filling("x")));
        };
        QVERIFY(savedRunsIn(m_parent + "/missing")->empty());
        save("run-a", "first", 100, 1);
        save("run-a", "first", 200, 2);
        save("run-b", "second", 50, 3);
        // Who has saved nothing loses nothing, and other folders are nobody's.
        RM_OK(claimCheckpoints(m_parent + "/run-c", {"run-c", "third", {1, {}, {}}}));
        RM_OK(makeFolders(m_parent + "/step-000000900"));
        // Of an abandoned line, as attempt 2 began at step 100.
        RM_OK(claimCheckpoints(m_parent + "/run-a", {"run-a", "first", {2, {{1, 100}}, {}}}));
        const auto runs = savedRunsIn(m_parent);
        RM_OK(runs);
        const std::string inA = m_parent + "/run-a/step-000000100";
        const std::vector<SavedRun> expected = {
            {"run-b", "second", m_parent + "/run-b/step-000000050", 50, 3},
            {"run-a", "first", inA, 100, 1}};
        QVERIFY(*runs == expected);
        QVERIFY(newestOf(*runs, "first") == expected);
        QVERIFY(newestOf(*runs, "third") == std::vector{expected[0]});
        QVERIFY(newestOf({}, "first").empty());
        QVERIFY(*parseSavedRuns(toJson(*runs), "x") == expected);
        // As a trainer that was started by hand claims it.
        QVERIFY(*savedRunsIn(m_parent + "/run-b") == std::vector{expected[0]});
    }

    /// By a leader and by a person, say, neither of whom sees the other.
    void ofTwoStartsOfOneAttemptTheLaterPublishes() {
        const auto start = [this](const std::string& nonce) {
            return claimCheckpoints(m_parent, {"run", "name", {2, {}, {}}, nonce});
        };
        const auto publish = [this](int64_t step, const std::string& nonce) {
            Manifest manifest = lineManifest(step, 2, {});
            manifest.nonce = nonce;
            return publishCheckpoint(m_parent, manifest, filling("x"));
        };
        RM_OK(start("aa"));
        RM_OK(publish(1, "aa"));
        QCOMPARE(readManifest(*publish(2, "aa"))->nonce, std::string("aa"));
        RM_OK(start("bb"));
        RM_FAILS(publish(3, "aa"), ErrorCode::kInvalid, "attempt 2 of this run was started once");
        RM_OK(publish(3, "bb"));
        RM_OK(publish(4, "")); // of a launcher that has none
    }

    void anOldAttemptPublishesNothingAfterANewOneBegan() {
        RM_OK(claimCheckpoints(m_parent, {"run", "name", {1, {}, {}}}));
        RM_OK(publishCheckpoint(m_parent, lineManifest(1, 1, {}), filling("x")));
        const auto began = [this](const std::string&) {
            return claimCheckpoints(m_parent, {"run", "name", {2, {}, {}}});
        };
        RM_FAILS(publishCheckpoint(m_parent, lineManifest(2, 1, {}), began), ErrorCode::kInvalid,
                 "attempt 2 of this run has begun, and this is attempt 1");
        RM_FAILS(publishCheckpoint(m_parent, lineManifest(3, 1, {}), filling("x")),
                 ErrorCode::kInvalid, "attempt 2 of this run has begun");
        QCOMPARE(entries(), (QStringList{"OWNER.json", "step-000000001"}));
        RM_OK(publishCheckpoint(m_parent, lineManifest(2, 2, {}), filling("x")));
    }

    void anOldAttemptRemovesNothingAfterANewOneBegan() {
        RM_OK(claimCheckpoints(m_parent, {"run", "name", {1, {}, {}}}));
        const std::string dir = *publishCheckpoint(m_parent, lineManifest(1, 1, {}), filling("x"));
        RM_OK(publishCheckpoint(m_parent, lineManifest(2, 1, {}), filling("x")));
        RM_OK(claimCheckpoints(m_parent, {"run", "name", {2, {}, dir}}));
        RM_FAILS(removeCheckpoint(dir, lineManifest(2, 1, {})), ErrorCode::kInvalid,
                 "attempt 2 of this run has begun, and this is attempt 1");
        QCOMPARE(entries(), (QStringList{"OWNER.json", "step-000000001", "step-000000002"}));
        RM_OK(removeCheckpoint(dir, lineManifest(3, 2, {})));
        RM_OK(removeCheckpoint(m_parent + "/step-000000002")); // by a person
        QCOMPARE(entries(), QStringList("OWNER.json"));
    }

    void removedCheckpointIsGone() {
        const std::string dir = *publishCheckpoint(m_parent, manifestOf(1), filling("x"));
        RM_OK(removeCheckpoint(dir));
        QVERIFY(entries().isEmpty());
        RM_FAILS(removeCheckpoint(dir), ErrorCode::kNotFound, dir);
    }

    void sweepRemovesOnlyWhatIsUnpublished() {
        RM_OK(publishCheckpoint(m_parent, manifestOf(1), filling("x")));
        RM_OK(makeFolders(m_parent + "/tmp-step-000000002-99-0/deep"));
        RM_OK(makeFolders(m_parent + "/tmp-step-000000002-attempt-3-99-0"));
        const QStringList strangers = {"notes.txt",
                                       "old-step-000000001",
                                       "old-step-results-1-2",
                                       "other",
                                       "step-000000001",
                                       "tmp-5-6",
                                       "tmp-data",
                                       "tmp-step-000000002-attempt-3",
                                       "tmp-step-by-step-1-2",
                                       "tmp-step-x-99-0"};
        for (const QString& name : strangers)
            if (name != "notes.txt")
                RM_OK(makeFolders(m_parent + "/" + name.toStdString()));
        RM_OK(writeFileAtomically(m_parent + "/notes.txt", ""));
        sweepUnpublished(m_parent);
        QCOMPARE(entries(), strangers);
        sweepUnpublished(m_parent + "/missing");
    }

    // On file systems that cannot exchange folders a crash may come between two renames.
    void sweepBringsBackWhatWasMovedAside() {
        RM_OK(publishCheckpoint(m_parent, manifestOf(1), filling("x")));
        rename("step-000000001", "old-step-000000001-77-0");
        sweepUnpublished(m_parent);
        RM_OK(verifyCheckpoint(m_parent + "/step-000000001"));
        RM_OK(publishCheckpoint(m_parent + "/b", manifestOf(1), filling("old")));
        rename("b/step-000000001", "old-step-000000001-77-1");
        sweepUnpublished(m_parent);
        QCOMPARE(*readFile(m_parent + "/step-000000001/model.safetensors"), std::string("x"));
        QCOMPARE(entries(), (QStringList{"b", "step-000000001"}));
    }

    void killAtAnyMomentLeavesOnlyWholeCheckpoints() {
        for (int round = 0; round < 60; ++round) {
            const pid_t child = ::fork();
            if (child == 0)
                publishUntilKilled(m_parent, 500 + round * 97);
            int status = 0;
            QCOMPARE(::waitpid(child, &status, 0), child);
            QVERIFY(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
            for (const QString& name : entries())
                if (name.startsWith("step-"))
                    RM_OK(verifyCheckpoint(m_parent + "/" + name.toStdString()));
            sweepUnpublished(m_parent);
            for (const QString& name : entries())
                QVERIFY2(name.startsWith("step-"), qPrintable(name));
        }
    }

    void fullDiskKeepsTheOldCheckpoint() {
        const OwnDisk disk;
        RM_NEEDS("root", disk.error().isEmpty(), disk.error());
        const std::string parent = disk.path();
        RM_OK(publishCheckpoint(parent, manifestOf(1), filling("old")));
        const std::string large(1 << 20, 'x');
        RM_FAILS(publishCheckpoint(parent, manifestOf(1), filling(large)), ErrorCode::kExhausted,
                 "save checkpoint step-000000001");
        RM_FAILS(publishCheckpoint(parent, manifestOf(2), filling(large)), ErrorCode::kExhausted,
                 "No space left");
        RM_OK(verifyCheckpoint(parent + "/step-000000001"));
        QCOMPARE(QDir(QString::fromStdString(parent)).entryList(QDir::Dirs | QDir::NoDotAndDotDot),
                 QStringList{"step-000000001"});
        RM_OK(publishCheckpoint(parent, manifestOf(2), filling("new")));
    }

    void everyNthAndTheBestOnesAndPinnedOnesStay() {
        std::vector<CheckpointEntry> list;
        for (int64_t step = 100; step <= 1000; step += 100) {
            list.push_back(entryOf(step));
            list.back().manifest.line.emplace();
        }
        const auto measured = [&](size_t at, const char* metric, double value) {
            list[at].manifest.watched = Manifest::Watched{metric, value};
        };
        measured(0, "validation/loss", 1.0); // of another metric: it does not count
        measured(1, "validation/bleu", 30);
        measured(2, "validation/bleu", 20);
        measured(3, "validation/bleu", 28);
        measured(4, "validation/bleu", 25);
        list[1].manifest.best = true;
        list[6].isPinned = true;
        const CheckpointLine line{1, {}, {}};
        const KeepRules rules{1, 3, 500};
        // Kept: 200, 400 and 500 as the best three (of BLEU more is better), 500 and 1000 of every
        // 500, 700 as it is pinned.
        QCOMPARE(checkpointsToRemove(list, line, rules),
                 (Paths{pathOf(900), pathOf(800), pathOf(600), pathOf(300), pathOf(100)}));
        QCOMPARE(checkpointsToRemove(list, line, {1, 0, 0}).size(), size_t(8));
    }

    void theOneBeforeAChangeStaysUntilTheNext() {
        std::vector<CheckpointEntry> list;
        const auto add = [&](int64_t step, const char* reason) {
            list.push_back(entryOf(step, reason));
            list.back().manifest.line.emplace();
        };
        add(100, "before set lr, clip");
        add(200, "before set"); // of release 0.1.0, which did not say of what
        add(300, "before set lr");
        add(400, "before set lr");
        add(500, "every 500");
        const CheckpointLine line{1, {}, {}};
        // Clip is still as it was set at 100, lr as it was at 400.
        QCOMPARE(removed(list, line, 1, false), (Paths{pathOf(300), pathOf(200)}));
        add(600, "before set clip, lr");
        QCOMPARE(removed(list, line, 1, false),
                 (Paths{pathOf(500), pathOf(400), pathOf(300), pathOf(200), pathOf(100)}));
    }

    void theOneBeforeAChangeThatWasGoneBackFromIsAsAnyOther() {
        std::vector<CheckpointEntry> list;
        list.push_back(entryOf(100, "before set lr"));
        list.push_back(entryOf(200, "before set lr"));
        for (int64_t step : {210, 220, 230})
            list.push_back(entryOf(step, "every 10"));
        for (CheckpointEntry& entry : list) {
            entry.manifest.attempt = entry.manifest.step > 200 ? 2 : 1;
            entry.manifest.line.emplace();
        }
        // Attempt 2 went back to 200, so that lr is as it was set at 100.
        const CheckpointLine back{2, {{1, 200}}, pathOf(200)};
        QCOMPARE(removed(list, back, 2, false), (Paths{pathOf(210), pathOf(200)}));
        // It went on from a later step, so that lr is as it was set at 200.
        const CheckpointLine on{2, {{1, 205}}, ""};
        QCOMPARE(removed(list, on, 3, false), Paths{pathOf(100)});
    }

    void aPinOutlivesItsReplacement() {
        QTemporaryDir dir;
        const std::string parent = dir.path().toStdString();
        const auto publish = [&] {
            return publishCheckpoint(parent, manifestOf(60), [](const std::string& into) {
                return writeFileAtomically(into + "/state.json", "{}");
            });
        };
        const auto path = publish();
        RM_OK(path);
        RM_OK(setPinned(*path, true));
        QVERIFY(listCheckpoints(parent)->front().isPinned);
        RM_OK(publish());
        QVERIFY(listCheckpoints(parent)->front().isPinned);
        RM_OK(setPinned(*path, false));
        QVERIFY(!listCheckpoints(parent)->front().isPinned);
        RM_FAILS(setPinned(parent + "/step-000000099", true), ErrorCode::kNotFound,
                 "step-000000099");
    }

    void watchedFigureSurvives() {
        Manifest manifest = example::manifest();
        manifest.line.emplace();
        manifest.watched = Manifest::Watched{"validation/bleu", 27.5};
        const auto read = parseManifest(toJson(manifest), "m");
        RM_OK(read);
        QVERIFY(read->watched == manifest.watched);
        RM_FAILS(parseManifest(withMember("watched", {{"metric", 5}}), "m"), ErrorCode::kCorrupt,
                 "watched.metric");
    }

    void ruleKeepsNewestBestAndAskedFor() {
        const std::vector<CheckpointEntry> list = {
            entryOf(3, "every 1", 2.0), entryOf(1, "command"),    entryOf(6),
            entryOf(2, "every 1", 1.0), entryOf(4, "pause", 5.0), entryOf(5, "every 1", 3.0),
        };
        QCOMPARE(removed(list, {}, 2, true), Paths{pathOf(3)});
        QCOMPARE(removed(list, {}, 2, false), (Paths{pathOf(3), pathOf(2)}));
        QCOMPARE(removed(list, {}, 10, false), Paths{});
        QCOMPARE(removed(list, {}, 0, true), (Paths{pathOf(6), pathOf(5), pathOf(3)}));
        QCOMPARE(removed({}, {}, 1, true), Paths{});
    }

    void nanIsNeverTheBest() {
        const std::vector<CheckpointEntry> list = {entryOf(1, "every 1", NAN),
                                                   entryOf(2, "every 1", 7.0), entryOf(3)};
        QCOMPARE(removed(list, {}, 1, true), Paths{pathOf(1)});
    }

    void validatedCheckpointCountsWhileItIsTheBest() {
        std::vector<CheckpointEntry> list = {entryOf(100), entryOf(150, "best", 2.0), entryOf(200),
                                             entryOf(250, "best", 1.5), entryOf(300)};
        for (CheckpointEntry& entry : list) {
            entry.manifest.line.emplace();
            entry.manifest.best = entry.manifest.reason == "best";
        }
        QCOMPARE(bestOf(list, {})->manifest.step, int64_t(250));
        QCOMPARE(removed(list, {}, 3, true), Paths{pathOf(150)});
        QCOMPARE(removed(list, {}, 3, false), (Paths{pathOf(250), pathOf(150)}));
        QCOMPARE(removed(list, {}, 2, true), (Paths{pathOf(150), pathOf(100)}));
    }

    // 60 and 76 are there, the run goes on from 60 and is paused at 62.
    void attemptRetiresWhatEarlierOnesMadeAfterItsStart() {
        std::vector<CheckpointEntry> list = {entryOf(60), entryOf(76, "pause")};
        const CheckpointLine line = lineOf(list, 2, pathOf(60));
        QCOMPARE(line.startedFrom, pathOf(60));
        list.push_back(entryOf(62, "pause"));
        list.back().manifest.attempt = 2;
        list.back().manifest.line = line.behind;
        QVERIFY(line.has(list[0].manifest) && line.has(list[2].manifest));
        QVERIFY(!line.has(list[1].manifest));
        QCOMPARE(removed(list, line, 2, true), Paths{});
        QVERIFY(lineOf(list, 3, list[2].path).has(list[0].manifest));
        QVERIFY(!lineOf(list, 3, list[2].path).has(list[1].manifest));
        // A retired one that is restored lives again, and what was made instead is retired.
        const CheckpointLine again = lineOf(list, 3, pathOf(76));
        QVERIFY(again.has(list[0].manifest) && again.has(list[1].manifest));
        QVERIFY(!again.has(list[2].manifest));
    }

    // 3000 of 10000 is restored, with keep_last 3.
    void retiredOnesDoNotCountAgainstTheLine() {
        std::vector<CheckpointEntry> list = {entryOf(3000, "command"), entryOf(8000), entryOf(9000),
                                             entryOf(10000, "every 1000", 0.1)};
        const CheckpointLine line = lineOf(list, 2, pathOf(3000));
        for (const int64_t step : {4000, 5000, 6000, 7000}) {
            list.push_back(entryOf(step));
            list.back().manifest.attempt = 2;
            list.back().manifest.line = line.behind;
            QCOMPARE(removed(list, line, 3, true), step == 7000 ? Paths{pathOf(4000)} : Paths{});
        }
        QVERIFY(!bestOf(list, line));
    }

    void startStaysUntilTheAttemptHasEnoughOfItsOwn() {
        std::vector<CheckpointEntry> list = {entryOf(100, "best", 1.0)};
        list[0].manifest.line.emplace();
        list[0].manifest.best = true;
        const CheckpointLine line = lineOf(list, 2, pathOf(100));
        for (const int64_t step : {150, 200}) {
            list.push_back(entryOf(step, "every 50", 0.5));
            list.back().manifest.attempt = 2;
            list.back().manifest.line = line.behind;
            list.back().manifest.best = true;
            QCOMPARE(removed(list, line, 2, true), step == 200 ? Paths{pathOf(100)} : Paths{});
        }
    }

    void lineSurvives() {
        Manifest manifest = example::manifest();
        manifest.line = {{1, 60}, {3, 90}};
        manifest.best = true;
        const auto read = parseManifest(toJson(manifest), "x");
        RM_OK(read);
        QVERIFY(read->line == manifest.line && read->best);
        QVERIFY(!parseManifest(toJson(example::manifest()), "x")->line);
    }

    void checkpointOfAnotherAttemptIsNotReplaced() {
        Manifest second = manifestOf(60);
        second.attempt = 2;
        RM_OK(publishCheckpoint(m_parent, manifestOf(60), filling("first")));
        const auto path = publishCheckpoint(m_parent, second, filling("second"));
        RM_OK(path);
        QCOMPARE(*path, m_parent + "/step-000000060-attempt-2");
        RM_OK(publishCheckpoint(m_parent, second, filling("anew")));
        QCOMPARE(entries(), (QStringList{"step-000000060", "step-000000060-attempt-2"}));
        QCOMPARE(*readFile(m_parent + "/step-000000060/model.safetensors"), std::string("first"));
        QCOMPARE(*readFile(*path + "/model.safetensors"), std::string("anew"));
        const auto list = listCheckpoints(m_parent);
        QCOMPARE(list->size(), size_t(2));
        QCOMPARE(list->back().path, *path);
        rename("step-000000060-attempt-2", "old-step-000000060-attempt-2-77-0");
        sweepUnpublished(m_parent);
        RM_OK(verifyCheckpoint(*path));
    }

private:
    QStringList entries() const {
        return QDir(QString::fromStdString(m_parent))
            .entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot, QDir::Name);
    }
    void rename(const char* from, const char* to) const {
        QVERIFY(QDir(QString::fromStdString(m_parent)).rename(from, to));
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::string m_parent;
    const std::string m_seven = "weighty", m_eight = "weights!";
};

QTEST_GUILESS_MAIN(TestCheckpoint)
#include "tst_checkpoint.moc"
