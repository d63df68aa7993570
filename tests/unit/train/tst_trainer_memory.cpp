// SPDX-License-Identifier: Apache-2.0
#include "shared/exit_code.h"
#include "shared/io/json.h"
#include "tests/support/requirement.h"
#include "tests/unit/train/picture_files.h"
#include "tests/unit/train/trainer_run.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QObject>
#include <QTest>

#include <random>

Q_DECLARE_METATYPE(rm::RunSpec)

using namespace rm;
using namespace rm::test;

namespace {

/// A sanitizer's heap pads blocks and holds on to them: a process then takes what it likes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// What `ringmaster-trainer estimate` says of a spec.
struct Subcommand {
    int code = -1;
    QString output, errors;
    Json json;

    int64_t bytes(const char* part) const { return intAt(json.at("bytes"), part).value_or(-1); }
    /// In tensors, as the trainer that measures itself counts.
    int64_t tensors() const { return bytes("total") - bytes("program"); }
};

QString writeSpec(const QTemporaryDir& dir, const RunSpec& spec) {
    QFile file(dir.filePath("spec.toml"));
    if (file.open(QIODevice::WriteOnly))
        file.write(QByteArray::fromStdString(toToml(spec)));
    return file.fileName();
}

Subcommand estimate(const QStringList& arguments) {
    QProcess process;
    process.start(qEnvironmentVariable("RINGMASTER_BIN") + "/ringmaster-trainer",
                  QStringList{"estimate"} + arguments);
    Subcommand subcommand;
    if (!process.waitForFinished(300'000)) // for a model of 160 million, beside other programs
        return subcommand;
    subcommand.code = process.exitCode();
    subcommand.output = process.readAllStandardOutput();
    subcommand.errors = process.readAllStandardError();
    subcommand.json = parseJson(subcommand.output.toStdString(), "estimate").value_or(Json());
    return subcommand;
}

Subcommand estimate(const RunSpec& spec, const QStringList& more) {
    const QTemporaryDir dir;
    return estimate(QStringList{writeSpec(dir, spec), "--json"} + more);
}

/// Bytes of a real run's rank 0 at the worst moment.
struct Used {
    int64_t tensors = 0;
    int64_t process = 0; ///< VmHWM
};

Used measured(const RunSpec& spec, int worldSize) {
    TrainerRun run;
    run.useProgram(MEASURED_TRAINER);
    if (run.run(spec, worldSize) != std::vector<int>(static_cast<size_t>(worldSize), 0))
        qWarning("%s", qPrintable(run.output(0)));
    const QRegularExpression said("^peak (\\d+)\nresident (\\d+)$",
                                  QRegularExpression::MultilineOption);
    const auto match = said.match(run.output(0));
    return {match.captured(1).toLongLong(), match.captured(2).toLongLong()};
}

void compare(const char* what, int64_t estimated, int64_t used) {
    const QString figures = QString("%1: told %2, used %3").arg(what).arg(estimated).arg(used);
    qInfo("%s: %.4f", qPrintable(figures),
          static_cast<double>(estimated) / static_cast<double>(used));
    QVERIFY2(std::abs(estimated - used) * 10 < used, qPrintable(figures));
}

RunSpec smallGpt() {
    RunSpec spec = tinySpec();
    spec.model.width = 64;
    spec.model.context = 64;
    spec.train.steps = 3;
    spec.train.batchSize = 8;
    spec.validation.sampleTokens = 0;
    spec.schedule.warmupSteps = 1;
    return spec;
}

/// Sentences of ten made-up words, and the same from back to front: batches are full.
std::string someSentences() {
    std::string text;
    std::mt19937 engine(5); // a pair that comes again counts once
    for (int i = 0; i < 2400; ++i) {
        std::string source, target;
        for (int word = 0; word < 10; ++word) {
            const auto which = engine() % 40;
            const std::string made = {"bdfgklmn"[which / 5], "aeiou"[which % 5], 'r', 'a', ' '};
            source += made;
            target.insert(0, made);
        }
        text += source + "\t" + target + "\n";
    }
    return text;
}

} // namespace

/// What `estimate` says beside what real trainers then use.
class TestTrainerMemory : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_folder.isValid());
        writeClasses(path("pictures"), {"a", "b", "c"}, 6);
        writeBytes(path("pairs.tsv"), someSentences());
    }

    void estimateIsWithinATenthOfWhatIsUsed_data() {
        QTest::addColumn<RunSpec>("spec");
        QTest::addColumn<int>("worldSize");
        RunSpec spec = smallGpt();
        QTest::newRow("gpt") << spec << 1;
        QTest::newRow("gpt on two ranks") << spec << 2;
        spec.train.accumulation = 3;
        spec.train.ema = 0.9;
        spec.train.precision = "bfloat16";
        QTest::newRow("accumulation, ema, bfloat16") << spec << 2;
        spec = smallGpt();
        spec.optimizer.sharded = true;
        QTest::newRow("sharded") << spec << 2;
        spec.train.batchSize = 1;
        spec.model.width = 256;
        spec.optimizer.type = "sgd";
        QTest::newRow("sharded, little but weights") << spec << 2;
        spec = smallGpt();
        spec.model.layers = 6;
        spec.model.dropout = 0.1;
        spec.train.activationCheckpointing = true;
        QTest::newRow("activations computed again") << spec << 1;
        spec = smallGpt();
        spec.model.type = "llama";
        spec.model.kvHeads = 1;
        QTest::newRow("llama") << spec << 1;
        QTest::newRow("pictures") << imageSpec() << 1;
        QTest::newRow("translation") << translationSpec() << 1;
        QTest::newRow("translation on two ranks") << translationSpec() << 2;
    }

    void estimateIsWithinATenthOfWhatIsUsed() {
        QFETCH(RunSpec, spec);
        QFETCH(int, worldSize);
        const Subcommand estimated = estimate(spec, {"--ranks", QString::number(worldSize)});
        QVERIFY2(estimated.code == 0, qPrintable(estimated.errors));
        const Used used = measured(spec, worldSize);
        compare("tensors", estimated.tensors(), used.tensors);
        if (!kSanitized)
            compare("process", estimated.bytes("total"), used.process);
    }

    void processTakesWhatIsTold_data() {
        QTest::addColumn<RunSpec>("spec");
        QTest::addColumn<int>("worldSize");
        for (const char* name : {"gpt-tiny", "llama-tiny", "resnet-tiny", "translation-tiny"})
            QTest::newRow(name) << recipe(name, 16) << 2;
        for (const int ranks : {1, 2}) {
            QTest::addRow("larger gpt, ranks: %d", ranks) << largerGpt() << ranks;
            QTest::addRow("larger resnet18, ranks: %d", ranks) << largerResnet() << ranks;
            QTest::addRow("larger translation, ranks: %d", ranks) << largerTranslation() << ranks;
        }
    }

    /// With validation, and checkpoints beside the recipes' steps; the larger ones write theirs at
    /// the end, as beside a long step it is chance whether one is still there at its worst moment
    /// (so they do not keep the best, either).
    void processTakesWhatIsTold() {
        QFETCH(RunSpec, spec);
        QFETCH(int, worldSize);
        RM_NEEDS("plain-heap", !kSanitized, QStringLiteral("built with a sanitizer"));
        for (const std::string& data : spec.data.train)
            RM_NEEDS(spec.model.type == "translation" ? "catalogues" : "icons",
                     QFileInfo::exists(QString::fromStdString(data)),
                     QString::fromStdString(data + " is not there"));
        spec.train.threads = 1;
        spec.launch.device = "cpu";
        spec.validation.every = spec.train.steps / 2;
        const Subcommand estimated = estimate(spec, {"--ranks", QString::number(worldSize)});
        QVERIFY2(estimated.code == 0, qPrintable(estimated.errors));
        compare("process", estimated.bytes("total"), measured(spec, worldSize).process);
    }

    void everyRecipeIsEstimated_data() {
        QTest::addColumn<QString>("name");
        const QDir recipes(qEnvironmentVariable("RINGMASTER_SOURCE") + "/resources/recipes");
        for (const QString& file : recipes.entryList({"*.toml"}))
            QTest::newRow(qPrintable(file)) << file.chopped(5);
    }

    /// On a CPU, and also those whose data is not on this machine; the time is in the log.
    void everyRecipeIsEstimated() {
        QFETCH(QString, name);
        RunSpec spec = recipe(qPrintable(name), 40);
        if (spec.train.precision != "float16") // which a CPU is not trained in
            spec.launch.device = "cpu";
        if (spec.model.type == "resnet50")
            spec.model.classes = 1000;
        QElapsedTimer timer;
        timer.start();
        const Subcommand estimated = estimate(spec, {});
        QVERIFY2(estimated.code == 0, qPrintable(estimated.errors));
        QVERIFY(estimated.bytes("total") > estimated.bytes("program"));
        qInfo("%lld ms", static_cast<long long>(timer.elapsed()));
    }

    void batchThatIsFoundFitsAndALargerOneDoesNot() {
        RM_NEEDS("plain-heap", !kSanitized, QStringLiteral("built with a sanitizer"));
        constexpr int64_t kMemory = 320 << 20;
        RunSpec spec = smallGpt();
        const Subcommand subcommand =
            estimate(spec, {"--find-batch", "--memory", QString::number(kMemory)});
        QVERIFY2(subcommand.code == 0, qPrintable(subcommand.errors));
        const Json& found = subcommand.json.at("found");
        QCOMPARE(textAt(found, "key").value(), std::string("train.batch_size"));
        spec.train.batchSize = intAt(found, "value").value();
        QVERIFY(spec.train.batchSize > smallGpt().train.batchSize);
        compare("found", kMemory, measured(spec, 1).process);
        spec.train.batchSize += spec.train.batchSize / 2;
        const int64_t usedByMore = measured(spec, 1).process;
        QVERIFY2(usedByMore > kMemory, qPrintable(QString::number(usedByMore)));
    }

    void tokensAreFoundForTranslations() {
        const Subcommand subcommand =
            estimate(translationSpec(), {"--find-batch", "--memory", "1GiB"});
        QVERIFY2(subcommand.code == 0, qPrintable(subcommand.errors));
        const Json& found = subcommand.json.at("found");
        QCOMPARE(textAt(found, "key").value(), std::string("train.batch_tokens"));
        QVERIFY(intAt(found, "value").value() > translationSpec().train.batchTokens);
    }

    void impossibleIsOneClearError() {
        const Subcommand subcommand = estimate(smallGpt(), {"--find-batch", "--memory", "1MiB"});
        QCOMPARE(subcommand.code, static_cast<int>(ExitCode::kExhausted));
        QVERIFY2(subcommand.errors.contains("find a batch for 1.0 MiB") &&
                     subcommand.errors.contains("one alone needs") &&
                     subcommand.errors.count('\n') == 1,
                 qPrintable(subcommand.errors));
    }

    void moreThanAProcessCanAddressIsOneClearError() {
        RunSpec spec = smallGpt();
        spec.model.width = 131072;
        spec.model.feedForward = 1048576;
        spec.model.layers = 1024; // 1.4 PB in all
        const Subcommand subcommand = estimate(spec, {});
        QCOMPARE(subcommand.code, static_cast<int>(ExitCode::kExhausted));
        const QRegularExpression estimated(
            "estimate: one tensor of \\d+.0 GiB is more than the addresses "
            "that a process has left; a smaller model needs fewer\n$");
        QVERIFY2(estimated.match(subcommand.errors).hasMatch() &&
                     subcommand.errors.count('\n') == 1,
                 qPrintable(subcommand.errors));
    }

    void badInputIsNamed_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("named");
        const QString good = writeSpec(m_folder, smallGpt());
        QTest::newRow("no such spec") << QStringList{"/no/such.toml"} << "/no/such.toml";
        QTest::newRow("no spec") << QStringList{} << "SPEC";
        QTest::newRow("no ranks") << QStringList{good, "--ranks", "0"} << "--ranks";
        QTest::newRow("memory of what")
            << QStringList{good, "--find-batch", "--memory", "much"} << "--memory";
        QTest::newRow("memory for nothing")
            << QStringList{good, "--memory", "1GiB"} << "--find-batch";
    }

    void badInputIsNamed() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, named);
        const Subcommand subcommand = estimate(arguments);
        QVERIFY(subcommand.code != 0);
        QVERIFY2(subcommand.errors.contains(named), qPrintable(subcommand.errors));
        QVERIFY(subcommand.output.isEmpty());
    }

private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }

    RunSpec imageSpec() const {
        RunSpec spec = smallGpt();
        spec.model.type = "resnet18";
        spec.model.imageSize = 64;
        spec.data.train = {path("pictures")};
        spec.train.steps = 2;
        spec.optimizer.type = "sgd";
        return spec;
    }

    RunSpec translationSpec() const {
        RunSpec spec = smallGpt();
        spec.model.type = "translation";
        spec.model.context = 32;
        spec.data.train = {path("pairs.tsv")};
        spec.data.tokenizer = "sentencepiece";
        spec.data.vocabSize = 300;
        spec.train.batchTokens = 1024;
        spec.train.steps = 40;
        return spec;
    }

    RunSpec largerGpt() const {
        RunSpec spec = smallGpt();
        spec.model.layers = 8;
        spec.model.heads = 8;
        spec.model.width = 512;
        spec.model.context = 256;
        spec.data.train = {"/usr/share/common-licenses"};
        spec.train.batchSize = 4;
        spec.train.steps = 2;
        spec.checkpoint.keepBest = false;
        return spec;
    }

    RunSpec largerResnet() const {
        RunSpec spec = imageSpec();
        spec.model.imageSize = 128;
        spec.train.batchSize = 64;
        spec.train.steps = 2;
        spec.checkpoint.keepBest = false;
        return spec;
    }

    RunSpec largerTranslation() const {
        RunSpec spec = translationSpec();
        spec.model.width = 384;
        spec.model.heads = 8;
        spec.train.batchTokens = 4096;
        spec.train.steps = 4;
        spec.checkpoint.keepBest = false;
        return spec;
    }

    static RunSpec recipe(const char* name, int64_t steps) {
        const auto spec = loadRunSpec(qEnvironmentVariable("RINGMASTER_SOURCE").toStdString() +
                                      "/resources/recipes/" + name + ".toml");
        if (!spec)
            qFatal("%s", spec.error().message.c_str());
        RunSpec shorter = *spec;
        shorter.train.steps = steps;
        shorter.train.epochs = 0;
        shorter.schedule.warmupSteps = 1;
        shorter.checkpoint.every = steps / 4;
        return shorter;
    }

    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestTrainerMemory)
#include "tst_trainer_memory.moc"
