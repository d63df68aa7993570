// SPDX-License-Identifier: Apache-2.0
#include "shared/exit_code.h"
#include "shared/io/file.h"
#include "shared/metrics/registry.h"
#include "tests/unit/train/bpe_json.h"
#include "tests/unit/train/data_folder.h"
#include "tests/unit/train/picture_files.h"
#include "tests/unit/train/trainer_run.h"
#include "tests/unit/train/translation_run.h"
#include "trainer/train/formats/weights.h"

#include <QTest>

#include <cmath>
#include <filesystem>

using namespace rm;
using namespace rm::test;

namespace {

std::string weightsAt(const std::string& folder) {
    return readFile(folder + "/model.safetensors").value_or("none in " + folder);
}

/// What one validation says of weights that its one step does not change.
RunSpec unchanging(RunSpec spec) {
    spec.train.steps = 1;
    spec.optimizer.lr = 0;
    spec.schedule.warmupSteps = 0;
    spec.validation.every = 1;
    return spec;
}

float lossOf(const TrainerRun& run, int64_t step) {
    const auto losses = run.series(0, metric::kValidationLoss);
    return losses.contains(step) ? losses.at(step) : -1;
}

} // namespace

/// model.start_from, with the real program.
class TestTrainerStartFrom : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        const std::string pictures = m_folder.path("pictures");
        writeClasses(pictures, {"a", "b"}, 20);
        m_specs["gpt"] = tinySpec();
        m_specs["llama"] = tinySpec();
        m_specs["llama"].model.type = "llama";
        m_specs["llama"].model.kvHeads = 1;
        m_specs["translation"] = translationSpec(QString::fromStdString(m_folder.path("p.tsv")));
        m_specs["resnet"] = tinyImageSpec(pictures);
        for (auto& [name, spec] : m_specs) {
            spec.train.steps = 6;
            spec.train.ema = 0.5;
            spec.validation.every = 6;
            QCOMPARE(m_sources[name].run(spec, 1), std::vector<int>{0});
            spec.model.startFrom = m_folder.path((name + "-exported").c_str());
            const Ended exported =
                runSubcommand({"export", QString::fromStdString(m_sources[name].checkpoint(6)),
                               QString::fromStdString(spec.model.startFrom)});
            QVERIFY2(exported.exitCode == 0, qPrintable(exported.err));
        }
    }

    void aRunBeginsWithTheseWeights_data() {
        QTest::addColumn<int>("ranks");
        for (const char* name : {"gpt", "llama", "translation", "resnet"})
            for (const int ranks : {1, 2})
                QTest::addRow("%s %d", name, ranks) << ranks;
    }
    void aRunBeginsWithTheseWeights() {
        QFETCH(int, ranks);
        const std::string name = QString(QTest::currentDataTag()).section(' ', 0, 0).toStdString();
        const TrainerRun& source = m_sources[name];
        TrainerRun run;
        QCOMPARE(run.run(unchanging(m_specs[name]), ranks, {"--save-initial"}),
                 std::vector<int>(static_cast<size_t>(ranks), 0));
        QVERIFY(weightsAt(run.checkpoint(0)) == weightsAt(source.checkpoint(6)));
        QVERIFY(readFile(run.checkpoint(0) + "/ema.safetensors").value_or("none") ==
                weightsAt(run.checkpoint(0))); // its average begins with them
        for (int rank = 0; rank < ranks; ++rank)
            QCOMPARE(run.recordsOf<AttemptStarted>(rank).at(0).startStep, int64_t{0});
    }

    // Of weights alone: without an average, and where no step changes what normalises.
    void theirValidationLossIsThatOfWhereTheyComeFrom() {
        for (const char* name : {"gpt", "llama", "translation"}) {
            RunSpec spec = m_specs[name];
            spec.train.ema = 0;
            TrainerRun source;
            RunSpec first = spec;
            first.model.startFrom = {};
            QCOMPARE(source.run(first, 1), std::vector<int>{0});
            spec.model.startFrom = source.checkpoint(6);
            TrainerRun run;
            QCOMPARE(run.run(unchanging(spec), 1), std::vector<int>{0});
            QVERIFY(lossOf(source, 6) > 0);
            QCOMPARE(lossOf(run, 1), lossOf(source, 6));
        }
    }

    void anAttemptGoesOnFromItsOwnCheckpoint() {
        for (auto [name, spec] : m_specs) {
            spec.checkpoint.every = 3;
            TrainerRun whole, cut;
            QCOMPARE(whole.run(spec, 1), std::vector<int>{0});
            RunSpec half = spec;
            half.train.steps = 3;
            half.schedule.type = spec.schedule.type = "constant";
            TrainerRun straight;
            QCOMPARE(straight.run(spec, 1), std::vector<int>{0});
            QCOMPARE(cut.run(half, 1), std::vector<int>{0});
            QCOMPARE(cut.run(spec, 1, {"--start-from", QString::fromStdString(cut.checkpoint(3))}),
                     std::vector<int>{0});
            QVERIFY2(weightsAt(cut.checkpoint(6)) == weightsAt(straight.checkpoint(6)),
                     name.c_str());
        }
    }

    void sizesThatDisagreeComeWithTheLinesToPutIn() {
        RunSpec spec = m_specs["gpt"];
        spec.model.layers = 3;
        spec.model.heads = 4;
        spec.model.context = 16;
        const QString said = refusal(spec);
        for (const char* words :
             {"model.layers is 3, but 2 in its config.json", "model.heads is 4, but 2",
              "model.context is 16, but 32", "[model]\nlayers = 2\nheads = 2\ncontext = 32"})
            QVERIFY2(said.contains(words), qPrintable(said));
        QVERIFY(!said.contains("feed_forward"));
        RunSpec picture = m_specs["resnet"];
        picture.model.type = "resnet50";
        QVERIFY(refusal(picture).contains("type = \"resnet18\""));
    }

    void anotherKindOfModelIsRefused() {
        RunSpec spec = m_specs["gpt"];
        spec.model.startFrom = m_specs["translation"].model.startFrom;
        const QString said = refusal(spec);
        QVERIFY2(said.contains("model.type is \"gpt\", but \"translation\" in its config.json"),
                 qPrintable(said));
    }

    void aHeadForOtherClassesIsNamed() {
        RunSpec spec = m_specs["resnet"];
        const std::string pictures = m_folder.path("three");
        writeClasses(pictures, {"a", "b", "c"}, 20);
        spec.data.train = {pictures};
        const QString said = refusal(spec);
        QVERIFY2(said.contains("fc.weight (it is (2, 512), the model's (3, 512))"),
                 qPrintable(said));
    }

    void aTokenizerOfOtherSizeIsRefused() {
        RunSpec spec = m_specs["gpt"];
        spec.data.tokenizer = "tokenizer.json";
        spec.data.tokenizerFile =
            m_folder.write("small.json", QByteArray::fromStdString(bpeJson({{"t", "h"}}).dump()));
        const QString said = refusal(spec);
        QVERIFY2(said.contains("they are for 256 tokens, the tokenizer has 258"), qPrintable(said));
    }

    /// Named as Lightning does, and without biases, as nanoGPT has it unless asked.
    void weightsOfOtherTrainersBegin() {
        RunSpec spec = unchanging(m_specs["gpt"]);
        auto weights = readWeights(spec.model.startFrom);
        QVERIFY(weights);
        std::erase_if(*weights, [](const Weight& each) { return each.name.ends_with(".bias"); });
        for (Weight& each : *weights)
            each.name = "model." + each.name;
        const std::string file = m_folder.path("lightning.safetensors");
        QVERIFY(writeWeights(file, *weights));
        spec.model.startFrom = file;
        TrainerRun run;
        QCOMPARE(run.run(spec, 1), std::vector<int>{0});
        const auto begun = readWeights(run.checkpoint(1));
        QVERIFY(begun);
        for (const Weight& each : *begun)
            if (each.name.ends_with(".bias"))
                QVERIFY2(each.tensor.eq(0).all().item<bool>(), each.name.c_str());
    }

    void weightsThatAreNotFiniteAreRefused() {
        RunSpec spec = m_specs["gpt"];
        auto weights = readWeights(spec.model.startFrom);
        QVERIFY(weights);
        at::Tensor& first = weights->front().tensor;
        first = first.clone();
        first.view(-1).narrow(0, 3, 1).fill_(NAN);
        const std::string file = m_folder.path("broken.safetensors");
        QVERIFY(writeWeights(file, *weights));
        spec.model.startFrom = file;
        const QString said = refusal(spec);
        QVERIFY2(said.contains("holds 1 values of") && said.contains("not finite"),
                 qPrintable(said));
    }

    void weightsThatWereNotFetchedAreSaidSo() {
        const std::string file = m_folder.write(
            "net.pt", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1\n");
        const QString named = QString::fromStdString(file) + ": it is a pointer of Git LFS";
        RunSpec spec = m_specs["gpt"];
        spec.model.startFrom = file;
        TrainerRun run;
        QVERIFY(run.run(spec, 1) != std::vector<int>{0});
        QVERIFY2(run.output(0).contains(named), qPrintable(run.output(0)));
        const Ended read =
            runSubcommand({"unpack", QString::fromStdString(file),
                           QString::fromStdString(m_folder.path("net.safetensors"))});
        QVERIFY2(read.exitCode != 0 && read.err.contains(named), qPrintable(read.err));
    }

    void whatIsNotThereIsNamed() {
        RunSpec spec = m_specs["gpt"];
        spec.model.startFrom = "/no/such/weights";
        const QString said = refusal(spec);
        QVERIFY2(said.contains("start from /no/such/weights (model.start_from)"), qPrintable(said));
        spec.model.startFrom = m_folder.path("empty");
        QVERIFY(makeFolders(spec.model.startFrom));
        QVERIFY(refusal(spec).contains("it has no model.safetensors"));
    }

    void allRanksEndWhereTheFirstCannotStart() {
        RunSpec spec = m_specs["gpt"];
        spec.model.layers = 3;
        TrainerRun run;
        const std::vector<int> expected{static_cast<int>(ExitCode::kUsage),
                                        static_cast<int>(ExitCode::kPeerLost)};
        QCOMPARE(run.run(spec, 2), expected);
    }

    // Checkpoints of such a run carry the file on, and the next one needs no other name for it.
    void theTokenizerComesWithTheWeights() {
        const std::string json = bpeJson({{"t", "h"}, {"th", "e"}, {"\u0120", "the"}}).dump(1);
        RunSpec spec = tinySpec();
        spec.train.steps = 2;
        spec.schedule.warmupSteps = 0;
        spec.validation.every = 2;
        spec.data.tokenizer = "tokenizer.json";
        spec.data.tokenizerFile =
            m_folder.write("bpe/tokenizer.json", QByteArray::fromStdString(json));
        m_folder.write("bpe/tokenizer_config.json", R"({"eos_token": "<|endoftext|>"})");
        TrainerRun first;
        const std::vector<int> codes = first.run(spec, 2);
        QVERIFY2(codes == std::vector<int>(2, 0), qPrintable(first.output(0)));
        QVERIFY(!first.recordsOf<SampleText>(0).empty());
        spec.data.tokenizerFile = {};
        spec.model.startFrom = first.checkpoint(2);
        TrainerRun second;
        QCOMPARE(second.run(spec, 1), std::vector<int>{0});
        QCOMPARE(readFile(second.checkpoint(2) + "/tokenizer.json").value_or(""), json);
        QCOMPARE(readFile(second.checkpoint(2) + "/tokenizer_config.json").value_or(""),
                 std::string(R"({"eos_token": "<|endoftext|>"})"));
    }

private:
    QString refusal(const RunSpec& spec) {
        TrainerRun run;
        if (run.run(spec, 1) != std::vector<int>{static_cast<int>(ExitCode::kUsage)} &&
            !run.output(0).contains("no such file"))
            return "was not refused: " + run.output(0);
        return run.output(0);
    }

    Folder m_folder;
    std::map<std::string, RunSpec> m_specs;
    std::map<std::string, TrainerRun> m_sources;
};

QTEST_GUILESS_MAIN(TestTrainerStartFrom)
#include "tst_trainer_start_from.moc"
