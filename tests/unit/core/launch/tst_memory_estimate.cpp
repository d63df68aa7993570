// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/memory_estimate.h"
#include "shared/spec/model_family.h"

#include <QObject>
#include <QProcess>
#include <QTest>

using namespace rm;

namespace {

constexpr int kDeadlineMs = 60000;

RunSpec specOf(const char* model) {
    RunSpec spec;
    spec.name = "estimated";
    spec.model.type = model;
    spec.model.layers = 2;
    spec.model.heads = 4;
    spec.model.width = 64;
    spec.model.context = 64;
    spec.model.classes = 10;
    spec.model.imageSize = 64;
    spec.data.train = {"/data"};
    spec.data.tokenizer = familyOf(spec).data == DataKind::kText ? "bytes" : "sentencepiece";
    spec.validation.sampleTokens = spec.model.context;
    spec.launch.device = "cpu";
    return spec;
}

struct Variant {
    const char* name;
    const char* model;
    void (*change)(RunSpec&);
};
const Variant kVariants[] = {
    {"gpt", "gpt", [](RunSpec&) {}},
    {"gpt, wide", "gpt", [](RunSpec& s) { s.model.width = 1024; }},
    {"gpt, many sequences", "gpt", [](RunSpec& s) { s.train.batchSize = 256; }},
    {"gpt, long sequences", "gpt", [](RunSpec& s) { s.model.context = 1024; }},
    {"gpt, many words", "gpt",
     [](RunSpec& s) {
         s.data.tokenizer = "sentencepiece";
         s.data.vocabSize = 50000;
     }},
    {"gpt, averaged", "gpt",
     [](RunSpec& s) {
         s.model.width = 1024;
         s.train.ema = 0.99;
         s.train.precision = "bfloat16";
     }},
    {"llama", "llama", [](RunSpec&) {}},
    {"llama, wide in a block", "llama",
     [](RunSpec& s) {
         s.model.width = 512;
         s.model.feedForward = 4096;
         s.model.headDim = 256;
     }},
    {"llama, many words", "llama",
     [](RunSpec& s) {
         s.data.tokenizer = "sentencepiece";
         s.data.vocabSize = 50000;
     }},
    {"translation", "translation", [](RunSpec&) {}},
    {"translation, large batches", "translation",
     [](RunSpec& s) {
         s.model.width = 256;
         s.train.batchTokens = 16384;
     }},
    {"resnet18", "resnet18", [](RunSpec& s) { s.train.batchSize = 32; }},
    {"resnet50", "resnet50", [](RunSpec& s) { s.train.batchSize = 16; }},
};

/// What the trainer itself says.
std::string estimateOf(const RunSpec& spec) {
    QProcess trainer;
    trainer.start(qEnvironmentVariable("RINGMASTER_BIN") + "/ringmaster-trainer",
                  {"estimate", "-", "--json", "--advise", "--ranks", "2", "--local-ranks", "1"});
    trainer.write(QByteArray::fromStdString(toToml(spec)));
    trainer.closeWriteChannel();
    if (!trainer.waitForFinished(kDeadlineMs))
        return "no answer in time";
    return (trainer.readAllStandardOutput() + trainer.readAllStandardError()).toStdString();
}

} // namespace

/// What a launch asks of the memory of its nodes.
class TestMemoryEstimate : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void boundIsAboveWhatTheTrainerEstimates_data() {
        QTest::addColumn<size_t>("index");
        for (size_t i = 0; i < std::size(kVariants); ++i)
            QTest::newRow(kVariants[i].name) << i;
    }

    /// Or a launch would not ask the trainer, where it should.
    void boundIsAboveWhatTheTrainerEstimates() {
        QFETCH(size_t, index);
        RunSpec spec = specOf(kVariants[index].model);
        kVariants[index].change(spec);
        const std::string said = estimateOf(spec);
        const auto estimate = parseNodeMemory(said);
        QVERIFY2(estimate, said.c_str());
        QVERIFY2(estimate->fits && !estimate->isLeast && estimate->advice.empty(), said.c_str());
        QVERIFY(estimate->needed > 0 && estimate->free > 0);
        const int64_t bound = memoryBound(spec);
        const QString figures = QString("%1 of %2").arg(estimate->needed).arg(bound);
        qInfo("%s", qPrintable(figures));
        QVERIFY2(estimate->needed < bound, qPrintable(figures));
    }

    void answerThatIsNoneIsRefused_data() {
        QTest::addColumn<QByteArray>("answer");
        QTest::newRow("nothing") << QByteArray();
        QTest::newRow("words") << QByteArray("ringmaster-trainer: estimate: no such option");
        QTest::newRow("another object") << QByteArray("{}");
        QTest::newRow("another type")
            << QByteArray(R"({"fits": "yes", "at_least": false, "bytes": {"total": 1}})");
    }

    void answerThatIsNoneIsRefused() {
        QFETCH(QByteArray, answer);
        const auto estimate = parseNodeMemory(answer.toStdString());
        QVERIFY(!estimate);
        QCOMPARE(estimate.error().code, ErrorCode::kCorrupt);
    }
};

QTEST_GUILESS_MAIN(TestMemoryEstimate)
#include "tst_memory_estimate.moc"
