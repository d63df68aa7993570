// SPDX-License-Identifier: Apache-2.0
#include "shared/io/file.h"
#include "tests/unit/train/data_folder.h"
#include "trainer/train/data/batch_partition.h"
#include "trainer/train/data/text/corpus.h"
#include "trainer/train/data/text/fit_vocabulary.h"
#include "trainer/train/data/text/text_data.h"
#include "trainer/train/data/text/tokenizer_file.h"
#include "trainer/train/dist/world.h"

#include <QDir>
#include <QFile>
#include <QObject>
#include <QTemporaryDir>
#include <QTest>

#include <sentencepiece_trainer.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <set>

using namespace rm;
using namespace rm::test;

namespace {

constexpr uid_t kNobody = 65534;

const QByteArray kText = "In the beginning\n\tthere   was text,\nwith \xc3\xa9 and \xe2\x82\xac, "
                         "\xf0\x9f\x99\x82.\n\n end";

} // namespace

class TestTrainData : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void folderGivesItsFilesSortedAndOnce() {
        const Folder folder;
        folder.write("b.txt", "b");
        folder.write("a.txt", "a");
        folder.write("sub/c.txt", "c");
        folder.write(".hidden", "h");
        folder.write(".git/config", "g");
        QFile::link("a.txt", QString::fromStdString(folder.path("z-link.txt")));
        const auto files = corpusFiles({folder.path(), folder.path("b.txt")});
        QVERIFY(files);
        QCOMPARE(*files, (std::vector{folder.path("a.txt"), folder.path("b.txt"),
                                      folder.path("sub/c.txt")}));
    }

    void missingPathIsNamed() {
        const auto files = corpusFiles({"/nowhere/at/all"});
        QVERIFY(!files);
        QCOMPARE(files.error().code, ErrorCode::kNotFound);
        QVERIFY(files.error().message.find("/nowhere/at/all") != std::string::npos);
    }

    void whatIsNoFileIsRefused() { QVERIFY(!corpusFiles({"/dev/zero"})); }

    void unreadableFileIsNamed() {
        const Folder folder;
        const std::string path = folder.write("secret.txt", "x");
        QFile::setPermissions(QString::fromStdString(path), {});
        const bool isRoot = geteuid() == 0; // who reads every file
        QVERIFY(!isRoot || seteuid(kNobody) == 0);
        const auto text = readText(path);
        QVERIFY(!isRoot || seteuid(0) == 0);
        QVERIFY(!text);
        QCOMPARE(text.error().code, ErrorCode::kDenied);
    }

    void bytesComeBack() {
        const auto tokenizer = makeByteTokenizer();
        std::vector<int32_t> ids;
        QByteArray every;
        for (int i = 0; i < 256; ++i)
            every.append(static_cast<char>(i));
        tokenizer->encode(every.toStdString(), ids);
        QCOMPARE(ids.size(), size_t{256});
        QCOMPARE(tokenizer->decode(ids), every.toStdString());
    }

    void sentencePieceComesBack() {
        const Folder folder;
        const std::string path = folder.write("text.txt", kText.repeated(20));
        const auto model = trainSentencePiece({path, "/usr/share/common-licenses/BSD"}, 400);
        QVERIFY2(model, model ? "" : model.error().message.c_str());
        const auto tokenizer = makeSentencePieceTokenizer(*model);
        QVERIFY(tokenizer);
        QVERIFY((*tokenizer)->vocabSize() <= 400);
        for (const QByteArray& text : {kText, QByteArray("\n\n  leading and trailing  "),
                                       QByteArray("unseen: \xe6\xbc\xa2\xe5\xad\x97")}) {
            std::vector<int32_t> ids;
            (*tokenizer)->encode(text.toStdString(), ids);
            QCOMPARE(QByteArray::fromStdString((*tokenizer)->decode(ids)), text);
        }
        QCOMPARE(*trainSentencePiece({path, "/usr/share/common-licenses/BSD"}, 400), *model);
    }

    void aVocabularyIsLearntFromTextWithoutLineBreaks_data() {
        QTest::addColumn<QByteArray>("text");
        QByteArray words;
        for (int i = 0; i < 3000; ++i)
            words += "the wood " + QByteArray::number(i % 70) + " is dark ";
        QTest::newRow("one line") << words;
        QTest::newRow("no space either") << QByteArray(words).replace(' ', "\xc3\xa4");
        QTest::newRow("CR alone") << QByteArray(words).replace(" is", "\ris");
    }

    void aVocabularyIsLearntFromTextWithoutLineBreaks() {
        QFETCH(QByteArray, text);
        const Folder folder;
        const auto model = trainSentencePiece({folder.write("text.txt", text)}, 300);
        QVERIFY2(model, model ? "" : model.error().message.c_str());
        std::vector<int32_t> ids;
        (*makeSentencePieceTokenizer(*model))->encode("wood", ids);
        QVERIFY2(ids.size() < 4, qPrintable(QString::number(ids.size())));
    }

    void whatHasNoTextIsSaid() {
        const Folder folder;
        const auto model = trainSentencePiece({folder.write("empty.txt", "")}, 300);
        QCOMPARE(model.error().code, ErrorCode::kInvalid);
        QVERIFY2(model.error().message.find("has no text") != std::string::npos,
                 model.error().message.c_str());
    }

    void whatIsNoTextIsRefusedByName() {
        const Folder folder;
        folder.write("a.txt", "text");
        const std::string path = folder.write("b.txt.gz", QByteArray("\x1f\x8b\x08", 3));
        const auto files = textFiles({folder.path()}, Encoding::kAny);
        QCOMPARE(files.error().code, ErrorCode::kInvalid);
        QVERIFY2(files.error().message.find(path + ": it is compressed by gzip") !=
                     std::string::npos,
                 files.error().message.c_str());
        QVERIFY(corpusFiles({folder.path()}));
    }

    void textOfAnotherEncodingIsRefusedWhereItsLettersWouldBeLost() {
        const Folder folder;
        const std::string latin = folder.write("latin1.txt", "citt\xe0 e pi\xf9\n");
        const auto refused = textFiles({latin}, Encoding::kUtf8);
        QVERIFY(!refused);
        QVERIFY2(refused.error().message.find("byte 5 of it is no UTF-8") != std::string::npos,
                 refused.error().message.c_str());
        QVERIFY(textFiles({latin}, Encoding::kAny)); // the tokenizer of bytes loses nothing
        // A letter may lie across the end of what is looked at.
        std::string long8(65535, 'x');
        QVERIFY(textFiles({folder.write("utf8.txt", QByteArray::fromStdString(long8) + "\xc3\xa0")},
                          Encoding::kUtf8));
    }

    void bytesThatAreNoUtf8AreCountedAndTheFirstIsNamed() {
        BrokenUtf8 whole;
        whole.count("/a.txt", "citt\xc3\xa0 \xe2\x82\xac \xf0\x9f\x99\x82");
        QCOMPARE(whole.words(), std::string());
        BrokenUtf8 some;
        some.count("/a.txt", "citt\xe0 e pi\xf9\n", 1000);
        BrokenUtf8 cut;
        cut.count("/b.txt", "cut within \xe2\x82");
        some.add(cut);
        const QByteArray said = QByteArray::fromStdString(some.words());
        QVERIFY2(said.startsWith("3 bytes in 2 files are no UTF-8"), said);
        QVERIFY2(said.contains("the first is byte 1005 of /a.txt."), said);
    }

    /// The beginning alone is looked at before.
    void textThatIsNoUtf8FurtherOnIsTold_data() {
        QTest::addColumn<QString>("tokenizer");
        QTest::addColumn<bool>("isTold");
        QTest::newRow("SentencePiece") << "sentencepiece" << true;
        QTest::newRow("bytes") << "bytes" << false;
    }

    void textThatIsNoUtf8FurtherOnIsTold() {
        QFETCH(QString, tokenizer);
        QFETCH(bool, isTold);
        const Folder folder;
        QByteArray text = QByteArray("the wood is dark\n").repeated(5000);
        const auto first = std::to_string(text.size() + 5);
        text += "citt\xe0 e pi\xf9\n";
        RunSpec spec;
        spec.model.context = 8;
        spec.data.tokenizer = tokenizer.toStdString();
        spec.data.vocabSize = 300;
        spec.data.train = {folder.write("a.txt", text)};
        World world;
        const auto data = prepareTextData(spec, folder.path("cache"), world, "");
        QVERIFY2(data, data ? "" : data.error().message.c_str());
        QCOMPARE(!data->notUtf8.empty(), isTold);
        const std::string place = "the first is byte " + first + " of " + folder.path("a.txt");
        QVERIFY2(!isTold || data->notUtf8.find(place) != std::string::npos, data->notUtf8.c_str());
        // Told once: the text is not read again.
        QCOMPARE(prepareTextData(spec, folder.path("cache"), world, "")->notUtf8, std::string());
    }

    /// The texts are new to a run that begins with weights and a tokenizer of elsewhere.
    void onlyAResumedRunMayGoOnWithTextOfAnotherEncoding() {
        const Folder folder;
        const auto model = trainSentencePiece({folder.write("a.txt", kText.repeated(20))}, 400);
        QVERIFY2(model, model ? "" : model.error().message.c_str());
        RunSpec spec;
        spec.model.context = 8;
        spec.data.tokenizer = "sentencepiece";
        spec.data.train = {
            folder.write("latin1.txt", QByteArray("citt\xe0 e pi\xf9\n").repeated(100))};
        World world;
        const auto fresh = prepareTextData(spec, folder.path("cache"), world, *model);
        QVERIFY(!fresh);
        QVERIFY2(fresh.error().message.find("latin1.txt: byte 5 of it is no UTF-8") !=
                     std::string::npos,
                 fresh.error().message.c_str());
        const auto resumed = prepareTextData(spec, folder.path("cache"), world, *model, true);
        QVERIFY2(resumed, resumed ? "" : resumed.error().message.c_str());
        QVERIFY(!resumed->notUtf8.empty());
    }

    void shardsAmongTextsAreNamed() {
        const Folder folder;
        folder.write("a.txt", "text");
        folder.write("b.rmtok", "RMTOK");
        const auto files = textFiles({folder.path()}, Encoding::kAny);
        QVERIFY(!files);
        QVERIFY2(files.error().message.find("it is a shard of tokens") != std::string::npos,
                 files.error().message.c_str());
    }

    /// SentencePiece names an option of its own, character_coverage, which nobody can set here.
    void aVocabularyThatIsTooSmallIsToldInOurKeys() {
        const Folder folder;
        const std::string path = folder.write("text.txt", kText.repeated(20));
        const auto model = trainSentencePiece({path}, 100);
        QVERIFY(!model);
        const QByteArray said = QByteArray::fromStdString(model.error().message);
        QVERIFY2(said.contains("data.vocab_size = 100"), said);
        QVERIFY2(!said.contains("character_coverage") && !said.contains("required_chars"), said);
        const int64_t least =
            said.mid(said.indexOf("set data.vocab_size to ") + 23).split(' ').front().toLongLong();
        QVERIFY2(least > 256, said);
        QVERIFY(trainSentencePiece({path}, least));
    }

    /// So that a person reads no source line of SentencePiece.
    void whatSentencePieceSaysIsToldInOurKeys_data() {
        QTest::addColumn<QByteArray>("said");
        QTest::addColumn<QByteArray>("told");
        QTest::newRow("no text") << QByteArray("Internal: ./src/trainer_interface.cc(428) "
                                               "[!sentences_.empty()] ")
                                 << QByteArray("there is no text to learn from; name files with "
                                               "more of it in data.train");
        QTest::newRow("too many letters")
            << QByteArray("Internal: ./src/trainer_interface.cc(580) [(static_cast<int>("
                          "required_chars_.size() + meta_pieces_.size())) <= "
                          "(trainer_spec_.vocab_size())] Vocabulary size is smaller than "
                          "required_chars. 100 vs 345. Increase vocab_size or decrease "
                          "character_coverage with --character_coverage option.")
            << QByteArray("set data.vocab_size to 345 or more");
        QTest::newRow("too little text")
            << QByteArray("Internal: ./src/trainer_interface.cc(660) [(trainer_spec_.vocab_size())"
                          " == (model_proto->pieces_size())] Vocabulary size too high (3000). "
                          "Please set it to a value <= 262.")
            << QByteArray("set data.vocab_size to at most 262");
        QTest::newRow("zeros") << QByteArray("Internal: ./src/trainer_interface.cc(466) [c] Found "
                                             "null character. The corpus must be encoded in utf-8.")
                               << QByteArray("bytes of zero");
        QTest::newRow("anything else") << QByteArray("Internal: ./src/somewhere.cc(1) [x]")
                                       << QByteArray("another data.vocab_size");
    }

    void whatSentencePieceSaysIsToldInOurKeys() {
        QFETCH(QByteArray, said);
        QFETCH(QByteArray, told);
        const QByteArray words = QByteArray::fromStdString(inKeysOfTheSpec(said.toStdString()));
        QVERIFY2(words.contains(told), words);
        const bool isKnown = !words.contains("SentencePiece fails");
        QVERIFY2(!isKnown || !words.contains(".cc("), words);
        QCOMPARE(isKnown, !said.contains("somewhere"));
    }

    /// SentencePiece leaves out lines with this sign without a word, as it uses it itself.
    void aLineWithABlockIsLearntFrom() {
        const Folder folder;
        QByteArray text;
        for (int i = 0; i < 300; ++i)
            text += "the wood " + QByteArray::number(i % 70) + " \xe2\x96\x85 is dark\n";
        const auto model = trainSentencePiece({folder.write("text.txt", text)}, 300);
        QVERIFY2(model, model ? "" : model.error().message.c_str());
        std::vector<int32_t> ids;
        (*makeSentencePieceTokenizer(*model))->encode("wood", ids);
        QVERIFY2(ids.size() < 4, qPrintable(QString::number(ids.size())));
    }

    void smallTextGetsASmallerVocabulary() {
        const Folder folder;
        const std::string path = folder.write("text.txt", kText);
        const auto model = trainSentencePiece({path}, 32000);
        QVERIFY2(model, model ? "" : model.error().message.c_str());
        QVERIFY((*makeSentencePieceTokenizer(*model))->vocabSize() < 32000);
    }

    void aSentencePieceModelOfElsewhereGetsNoTokenizerJson_data() {
        QTest::addColumn<QByteArray>("options");
        QTest::addColumn<int>("files");
        const QByteArray asOurs = "--model_type=bpe --add_dummy_prefix=false --byte_fallback=true "
                                  "--remove_extra_whitespaces=false "
                                  "--normalization_rule_name=identity";
        QTest::newRow("as ours") << asOurs << 3;
        QTest::newRow("a space before the text")
            << QByteArray(asOurs).replace("prefix=false", "prefix=true") << 1;
        QTest::newRow("spaces joined")
            << QByteArray(asOurs).replace("whitespaces=false", "whitespaces=true") << 1;
        QTest::newRow("normalised") << QByteArray(asOurs).replace("identity", "nfkc") << 1;
        QTest::newRow("unigram") << QByteArray(asOurs).replace("bpe", "unigram") << 1;
    }
    void aSentencePieceModelOfElsewhereGetsNoTokenizerJson() {
        QFETCH(QByteArray, options);
        QFETCH(int, files);
        const QTemporaryDir folder;
        const std::string prefix = folder.filePath("elsewhere").toStdString();
        const auto trained = sentencepiece::SentencePieceTrainer::Train(
            options.toStdString() + " --vocab_size=400 --minloglevel=2 --model_prefix=" + prefix +
            " --input=/usr/share/common-licenses/BSD");
        QVERIFY2(trained.ok(), trained.ToString().c_str());
        const auto model = readFile(prefix + ".model");
        QVERIFY(model);
        const auto tokenizer = makeSentencePieceTokenizer(*model);
        QVERIFY(tokenizer);
        QCOMPARE((*tokenizer)->files().size(), static_cast<size_t>(files));
        QCOMPARE((*tokenizer)->files().front().second, *model);
    }

    void damagedSentencePieceModelIsRefused() {
        QVERIFY(!makeSentencePieceTokenizer("not a model"));
    }

    void aTokenizerThatWasNotFetchedIsSaidSo_data() {
        QTest::addColumn<QString>("kind");
        QTest::newRow("SentencePiece") << "sentencepiece";
        QTest::newRow("tokenizer.json") << "tokenizer.json";
    }

    void aTokenizerThatWasNotFetchedIsSaidSo() {
        QFETCH(QString, kind);
        const Folder folder;
        const QByteArray pointer =
            "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1\n";
        RunSpec::Data data;
        data.tokenizer = kind.toStdString();
        data.tokenizerFile = folder.write("some.file", pointer);
        for (const auto& said : {readTokenizerFile(data).error().message,
                                 makeTokenizer(data, pointer.toStdString()).error().message})
            QVERIFY2(said.find("it is a pointer of Git LFS, not the file itself: run `git lfs "
                               "pull` first") != std::string::npos,
                     said.c_str());
    }

    void badShardEndsTheStart() {
        const Folder folder;
        RunSpec spec;
        spec.model.context = 4;
        spec.data.train = {shard(folder, "x.rmtok", std::vector<int32_t>(50, 1000), 1000)};
        World world;
        const auto data = prepareTextData(spec, folder.path("cache"), world, "");
        QVERIFY(!data);
        QVERIFY(data.error().message.find("position 0") != std::string::npos);
    }

    void everySampleComesOnceAnEpoch() {
        SampleOrder order(42, 100);
        for (int64_t epoch = 0; epoch < 3; ++epoch) {
            std::set<int64_t> seen;
            for (int64_t i = 0; i < 100; ++i) {
                const auto place = order.at(epoch * 100 + i);
                QCOMPARE(place.epoch, epoch);
                seen.insert(place.sample);
            }
            QCOMPARE(seen.size(), size_t{100});
        }
        SampleOrder again(42, 100);
        QCOMPARE(again.at(150), order.at(150));
        SampleOrder other(43, 100);
        bool differs = false;
        for (int64_t i = 0; i < 100; ++i)
            differs = differs || !(other.at(i) == order.at(i));
        QVERIFY(differs);
    }

    void orderDoesNotDependOnTheWorldSize_data() {
        QTest::addColumn<int>("worldSize");
        QTest::addColumn<int>("accumulation");
        QTest::newRow("1 x 8") << 1 << 8;
        QTest::newRow("2 x 4") << 2 << 4;
        QTest::newRow("4 x 2") << 4 << 2;
        QTest::newRow("8 x 1") << 8 << 1;
    }

    void orderDoesNotDependOnTheWorldSize() {
        QFETCH(int, worldSize);
        QFETCH(int, accumulation);
        constexpr int64_t kBatch = 3;
        constexpr int64_t kCursor = 48;
        const BatchPartition partition(std::vector<int64_t>(worldSize, kBatch), accumulation);
        std::vector<int64_t> positions;
        for (int micro = 0; micro < accumulation; ++micro)
            for (int rank = 0; rank < worldSize; ++rank)
                for (int64_t i = 0; i < kBatch; ++i)
                    positions.push_back(partition.at(kCursor, micro, rank).first + i);
        std::vector<int64_t> expected(24);
        std::iota(expected.begin(), expected.end(), kCursor);
        QCOMPARE(positions, expected);
    }

    void targetsAreTheInputsShiftedByOne() {
        const Folder folder;
        std::vector<int32_t> tokens(100);
        std::iota(tokens.begin(), tokens.end(), 0);
        const TokenStream stream({*TokenFile::open(shard(folder, "x.rmtok", tokens, 100))});
        TextBatches batches(stream, 8, 1);
        for (int64_t start = 0; start < 5 * batches.epochSize(); ++start) {
            const Batch batch = *batches.read(start, 2);
            QCOMPARE(batch.targets, int64_t{16});
            QVERIFY((batch.tensors[0] + 1).equal(batch.tensors[1]));
        }
    }

    void textOfExactlyOneSampleWorks() {
        const Folder folder;
        const TokenStream stream(
            {*TokenFile::open(shard(folder, "x.rmtok", {0, 1, 2, 3, 4, 5, 6, 7, 8}, 100))});
        TextBatches batches(stream, 8, 1);
        QCOMPARE(batches.epochSize(), int64_t{1});
        QCOMPARE(batches.read(3, 2)->tensors[0][1][0].item<int64_t>(), int64_t{0});
    }

    void validationWindowsAreSpreadAndFixed() {
        const Folder folder;
        const TokenStream stream(
            {*TokenFile::open(shard(folder, "x.rmtok", std::vector<int32_t>(101, 1), 100))});
        const auto windows = validationWindows(stream, 10, 5);
        QCOMPARE(windows.starts, (std::vector<int64_t>{0, 20, 40, 60, 80}));
        QCOMPARE(validationWindows(stream, 10, 1000).starts.size(), size_t{10});
        QCOMPARE(validationWindows(stream, 500, 4).context, int64_t{100});
        QVERIFY(validationWindows(TokenStream(), 10, 5).starts.empty());
    }

    void shardsAreCachedByContent() {
        const Folder folder;
        RunSpec spec;
        spec.model.context = 8;
        spec.data.validationShare = 0.25;
        spec.data.train = {folder.write("a.txt", QByteArray("one line of text\n").repeated(40))};
        const std::string cache = folder.path("cache");
        World world;
        const auto data = prepareTextData(spec, cache, world, "");
        QVERIFY2(data, data ? "" : data.error().message.c_str());
        QCOMPARE(data->train.count() + data->validation.count(), int64_t{40 * 17});
        QCOMPARE(data->train.count(), int64_t{31 * 17}); // cut at the end of a line
        const auto files = [&] {
            return QDir(QString::fromStdString(cache)).entryList({"*.rmtok"}, QDir::Files);
        };
        QCOMPARE(files().size(), 2);
        QVERIFY(prepareTextData(spec, cache, world, ""));
        QCOMPARE(files().size(), 2);
        folder.write("a.txt", QByteArray("another line of text\n").repeated(40));
        QVERIFY(prepareTextData(spec, cache, world, ""));
        QCOMPARE(files().size(), 4);
    }

    void ownShardsAreTakenAsTheyAre() {
        const Folder folder;
        RunSpec spec;
        spec.model.context = 4;
        spec.data.train = {shard(folder, "x.rmtok", std::vector<int32_t>(50, 3), 1000)};
        World world;
        const auto data = prepareTextData(spec, folder.path("cache"), world, "");
        QVERIFY(data);
        QCOMPARE(data->vocabSize, int64_t{1000});
        QVERIFY(!data->tokenizer);
    }

    void brokenTextIsMadeShowable() {
        QCOMPARE(toValidUtf8("a\"\\\n\xff"
                             "b"),
                 std::string("a\"\\\n\xef\xbf\xbd"
                             "b"));
    }
};

QTEST_GUILESS_MAIN(TestTrainData)
#include "tst_train_data.moc"
