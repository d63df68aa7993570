// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/train/catalogue_bytes.h"
#include "tests/unit/train/pair_folder.h"
#include "trainer/train/dist/world.h"
#include "trainer/train/workloads/translation/pairs/pair_data.h"

#include <QObject>
#include <QTest>

#include <set>

using namespace rm;
using namespace rm::test;

namespace {

/// Lines of pairs enough for a small vocabulary.
std::string lines(int count, const char* word = "file") {
    std::string text;
    for (int i = 0; i < count; ++i) {
        const std::string number = std::to_string(i);
        text += "open the " + std::string(word) + " number " + number + "\tapri il " + word +
                " numero " + number + "\n";
    }
    return text;
}

RunSpec specFor(const std::string& path) {
    RunSpec spec;
    spec.model.type = "translation";
    spec.model.context = 64;
    spec.data.train = {path};
    spec.data.tokenizer = "sentencepiece";
    spec.data.vocabSize = 400;
    spec.data.validationShare = 0.2;
    return spec;
}

Result<PairData> prepared(const RunSpec& spec, const PairFolder& folder) {
    return preparePairData(spec, folder.path("cache"), World(), "");
}

std::set<std::string> sourcesOf(const PairFile& texts) {
    std::set<std::string> sources;
    for (int64_t i = 0; i < texts.count(); ++i)
        sources.emplace(texts.text(2 * i));
    return sources;
}

std::vector<Pair> harvested(const PairCorpus& corpus, HarvestState& state) {
    std::vector<Pair> pairs;
    PairDeduplicator seen;
    static_cast<void>(harvestPairs(corpus, state, seen, [&](const Pair& pair) -> Result<void> {
        pairs.push_back(pair);
        return {};
    }));
    return pairs;
}

} // namespace

class TestPairData : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void folderGivesItsFilesOfPairs() {
        const PairFolder folder;
        folder.write("b/it/LC_MESSAGES/x.mo", CatalogueBytes().add("Yes", "Sì").bytes());
        folder.write("a.tsv", "one\tuno\n");
        folder.write("notes.txt", "no pairs");
        const auto corpus = findPairs({folder.path()}, {});
        QVERIFY(corpus);
        QCOMPARE(corpus->files,
                 (std::vector{folder.path("a.tsv"), folder.path("b/it/LC_MESSAGES/x.mo")}));
        QCOMPARE(corpus->languages, (PairLanguages{"en", "it"}));
        HarvestState state;
        QCOMPARE(harvested(*corpus, state), (std::vector<Pair>{{"one", "uno"}, {"Yes", "Sì"}}));
    }

    void pathWithoutPairsIsNamed() {
        const PairFolder folder;
        const std::string path = folder.write("notes.txt", "no pairs");
        const auto corpus = findPairs({path}, {});
        QCOMPARE(corpus.error().code, ErrorCode::kInvalid);
        QVERIFY(corpus.error().message.find(path) != std::string::npos);
    }

    void cataloguesOfSeveralLanguagesAreAnErrorUnlessOneIsNamed() {
        const PairFolder folder;
        for (const char* name : {"de/LC_MESSAGES/x.mo", "it/LC_MESSAGES/x.mo"})
            folder.write(name, CatalogueBytes().add("Yes", "Sì").bytes());
        const auto all = findPairs({folder.path()}, {});
        QVERIFY(!all);
        QVERIFY2(all.error().message.find("de, it") != std::string::npos,
                 all.error().message.c_str());
        const auto one = findPairs({folder.path()}, "it");
        QCOMPARE(one->files, std::vector{folder.path("it/LC_MESSAGES/x.mo")});
        QVERIFY(!findPairs({folder.path()}, "fr"));
    }

    void duplicatesCountOnce() {
        const PairFolder folder;
        folder.write("a.tsv", "one\tuno\ntwo\tdue\none\tuno\n");
        folder.write("b.tsv", "two\tdue\none\tun\n");
        HarvestState state;
        QCOMPARE(harvested(*findPairs({folder.path()}, {}), state),
                 (std::vector<Pair>{{"one", "uno"}, {"two", "due"}, {"one", "un"}}));
        QCOMPARE(state.duplicates, int64_t{2});
    }

    void linesOfALargeFileKeepTheirNumbers() {
        const PairFolder folder;
        // Longer than a piece, so that it is cut several times.
        std::string text = lines(400'000);
        const auto count = std::count(text.begin(), text.end(), '\n');
        folder.write("a.tsv", text + "bad\n" + std::string(20 << 20, 'x') + "\tlong\n");
        HarvestState state;
        QCOMPARE(int64_t(harvested(*findPairs({folder.path()}, {}), state).size()), count + 1);
        QCOMPARE(state.bad, int64_t{1});
        QVERIFY(state.pieces > 2);
        const std::string place = "a.tsv:" + std::to_string(count + 1) + ": ";
        QVERIFY2(state.named.front().find(place) != std::string::npos, state.named.front().c_str());
    }

    void damagedCatalogueEndsTheHarvest() {
        const PairFolder folder;
        folder.write("it/LC_MESSAGES/x.mo", "not a catalogue");
        const auto data = prepared(specFor(folder.path()), folder);
        QCOMPARE(data.error().code, ErrorCode::kCorrupt);
        QVERIFY(data.error().message.find("x.mo") != std::string::npos);
        QVERIFY(folder.files("cache").isEmpty());
    }

    void fewBrokenLinesAreAWarningAndManyAnError() {
        const PairFolder folder;
        const std::string path = folder.write("a.tsv", lines(500) + "bad one\nbad two\n");
        RunSpec spec = specFor(path);
        const auto data = prepared(spec, folder);
        QVERIFY2(data, data ? "" : data.error().message.c_str());
        QCOMPARE(data->warnings.size(), size_t{1});
        QVERIFY(data->warnings[0].find("a.tsv:502: ") != std::string::npos);
        QCOMPARE(data->bad, int64_t{2});
        spec.data.maxBad = 0.001;
        const auto tooBad = prepared(spec, folder);
        QCOMPARE(tooBad.error().code, ErrorCode::kCorrupt);
        QVERIFY2(tooBad.error().message.find("a.tsv:501: ") != std::string::npos,
                 tooBad.error().message.c_str());
        QVERIFY(tooBad.error().message.find("data.max_bad") != std::string::npos);
    }

    void heldOutSentencesAreNeverTrainedOn() {
        const PairFolder folder;
        const std::string path =
            folder.write("a.tsv", lines(500) + "open the file number 7\tun'altra\n");
        const auto data = prepared(specFor(path), folder);
        QVERIFY(data);
        const auto heldOut = sourcesOf(data->validation);
        QVERIFY(heldOut.size() > 50 && heldOut.size() < 150);
        QCOMPARE(data->train.count() + data->validation.count(), int64_t{501});
        const auto cached = folder.files("cache").filter("texts");
        QCOMPARE(cached.size(), 1);
        const auto texts = PairFile::open(folder.path("cache/") + cached.front().toStdString());
        for (const std::string& source : sourcesOf(*texts))
            QVERIFY(!heldOut.contains(source));
    }

    void ownValidationPairsAreTakenOutOfTraining() {
        const PairFolder folder;
        RunSpec spec = specFor(folder.write("a.tsv", lines(300)));
        spec.data.validation = {folder.write("b.tsv", lines(20) + lines(10, "door"))};
        const auto data = prepared(spec, folder);
        QVERIFY(data);
        QCOMPARE(data->validation.count(), int64_t{30});
        QCOMPARE(data->train.count(), int64_t{280});
    }

    void shardsAreMadeOnceAndAgainForOtherTexts() {
        const PairFolder folder;
        const RunSpec spec = specFor(folder.write("a.tsv", lines(300)));
        QVERIFY(prepared(spec, folder));
        QCOMPARE(folder.files("cache").size(), 3);
        QVERIFY(prepared(spec, folder));
        QCOMPARE(folder.files("cache").size(), 3);
        folder.write("a.tsv", lines(300, "window"));
        QVERIFY(prepared(spec, folder));
        QCOMPARE(folder.files("cache").size(), 6);
    }

    void pairsLongerThanTheContextAreLeftOutAndTold() {
        const PairFolder folder;
        std::string longer;
        for (int i = 0; i < 80; ++i)
            longer += "number " + std::to_string(i) + " ";
        RunSpec spec = specFor(folder.write("a.tsv", lines(300) + longer + "\tcorto\n"));
        spec.data.validationShare = 0.01;
        const auto data = prepared(spec, folder);
        QVERIFY(data);
        QCOMPARE(data->warnings.size(), size_t{1});
        QVERIFY2(data->warnings[0].find("model.context = 64") != std::string::npos,
                 data->warnings[0].c_str());
        spec.model.context = 2;
        const auto none = prepared(spec, folder);
        QCOMPARE(none.error().code, ErrorCode::kInvalid);
    }

    void textsComeBackFromIds_data() {
        QTest::addColumn<bool>("shared");
        QTest::newRow("a vocabulary each") << false;
        QTest::newRow("one vocabulary") << true;
    }

    void textsComeBackFromIds() {
        QFETCH(bool, shared);
        const PairFolder folder;
        RunSpec spec = specFor(folder.write("a.tsv", lines(300)));
        spec.model.shareEmbeddings = shared;
        const auto data = prepared(spec, folder);
        QVERIFY2(data, data ? "" : data.error().message.c_str());
        const PairTokenizer& tokenizer = data->tokenizer;
        QCOMPARE(tokenizer.isShared(), shared);
        QVERIFY(tokenizer.sourceVocab() <= 400);
        for (const char* text : {"apri il file numero 12", "mai visto: è così, ☺"}) {
            const auto ids = tokenizer.encodeTarget(text);
            QCOMPARE(ids.back(), kEndId);
            QCOMPARE(tokenizer.decodeTarget(ids), std::string(text));
        }
        const auto again = PairTokenizer::parse(tokenizer.serialized());
        QVERIFY(again);
        QCOMPARE(again->isShared(), shared);
        QCOMPARE(again->encodeSource("open the file"), tokenizer.encodeSource("open the file"));
        QCOMPARE(tokenizer.files(64, {}).size(), size_t{shared ? 4u : 5u});
    }

    /// SentencePiece leaves out lines above 4192 bytes without a word.
    void aVocabularyIsLearntFromTextsOfAnyLength() {
        const PairFolder folder;
        std::string longer;
        for (int i = 0; i < 20; ++i) {
            std::string source = std::to_string(i), target = source;
            for (int word = 0; word < 900; ++word) {
                source += " quokka";
                target += " quacquero";
            }
            longer += source + "\t" + target + "\n";
        }
        const auto data = prepared(specFor(folder.write("a.tsv", lines(300) + longer)), folder);
        QVERIFY2(data, data ? "" : data.error().message.c_str());
        // A piece and the end; a piece for each letter where the words were never seen.
        const auto source = data->tokenizer.encodeSource("quokka").size();
        QVERIFY2(source < 5, qPrintable(QString::number(source)));
        const auto target = data->tokenizer.encodeTarget("quacquero").size();
        QVERIFY2(target < 7, qPrintable(QString::number(target)));
    }

    void tokenizerOfACheckpointIsTakenAsItIs() {
        const PairFolder folder;
        const RunSpec spec = specFor(folder.write("a.tsv", lines(300)));
        const auto first = prepared(spec, folder);
        QVERIFY(first);
        folder.write("a.tsv", lines(300, "window"));
        const auto other = prepared(spec, folder);
        QVERIFY(other->tokenizer.serialized() != first->tokenizer.serialized());
        const auto resumed =
            preparePairData(spec, folder.path("cache"), World(), first->tokenizer.serialized());
        QCOMPARE(resumed->tokenizer.serialized(), first->tokenizer.serialized());
    }

    void damagedTokenizerIsRefused() {
        QVERIFY(!PairTokenizer::load("not a model", "nor this"));
        QVERIFY(!PairTokenizer::parse(""));
        QVERIFY(!PairTokenizer::parse("99\nshort"));
        const auto pointer =
            PairTokenizer::load("version https://git-lfs.github.com/spec/v1\n", "nor this");
        QVERIFY2(pointer.error().message.find("git lfs pull") != std::string::npos,
                 pointer.error().message.c_str());
    }
};

QTEST_GUILESS_MAIN(TestPairData)
#include "tst_pair_data.moc"
