// SPDX-License-Identifier: Apache-2.0
#include "shared/exit_code.h"
#include "tests/unit/train/catalogue_bytes.h"
#include "tests/unit/train/data_folder.h"
#include "tests/unit/train/pair_folder.h"
#include "tests/unit/train/trainer_run.h"
#include "trainer/train/workloads/translation/pairs/pair.h"

#include <QObject>
#include <QTest>

using namespace rm;
using namespace rm::test;

namespace {

Ended prepare(const QStringList& arguments) {
    return runSubcommand(QStringList("prepare") + arguments);
}

/// None: it is no shard.
std::vector<int64_t> tokensIn(const std::string& shard) {
    const auto file = TokenFile::open(shard);
    return file ? readAll(TokenStream({*file})) : std::vector<int64_t>{};
}

std::vector<Pair> pairsIn(const std::string& shard) {
    const auto file = PairFile::open(shard);
    std::vector<Pair> pairs;
    for (int64_t i = 0; file && i < file->count(); ++i)
        pairs.push_back({std::string(file->text(2 * i)), std::string(file->text(2 * i + 1))});
    return pairs;
}

QString text(const std::string& path) {
    return QString::fromStdString(path);
}

} // namespace

/// `ringmaster-trainer prepare`, the program.
class TestPrepare : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void textBecomesTheTokensOfItsBytes() {
        const Folder folder;
        folder.write("in/a.txt", "first\n");
        folder.write("in/sub/b.txt", "second è\n");
        const std::string out = folder.path("out.rmtok");
        const Ended ended =
            prepare({"--kind", "text", "--out", text(out), text(folder.path("in"))});
        QVERIFY2(ended.exitCode == 0, qPrintable(ended.err));
        QVERIFY(ended.out.contains("16 tokens of a vocabulary of 256 from 2 files"));
        const auto tokens = tokensIn(out);
        QCOMPARE(std::string(tokens.begin(), tokens.end()), std::string("first\nsecond è\n"));
    }

    void learntPiecesAreKeptBesideTheShard() {
        const Folder folder;
        QByteArray lines;
        for (int i = 0; i < 400; ++i)
            lines += "the file number " + QByteArray::number(i) + " was not found\n";
        const std::string in = folder.write("in.txt", lines);
        const std::string out = folder.path("out.rmtok");
        const Ended ended = prepare({"--kind", "text", "--out", text(out), "--tokenizer",
                                     "sentencepiece", "--vocab-size", "400", text(in)});
        QVERIFY2(ended.exitCode == 0, qPrintable(ended.err));
        const auto tokens = tokensIn(out);
        QVERIFY(!tokens.empty() && tokens.size() < size_t(lines.size()) * 3 / 4);
        const std::string again = folder.path("again.rmtok");
        QCOMPARE(prepare({"--kind", "text", "--out", text(again), "--tokenizer",
                          text(out + ".model"), text(in)})
                     .exitCode,
                 0);
        QCOMPARE(tokensIn(again), tokens);
    }

    void textThatIsNoUtf8FurtherOnIsAWarning() {
        const Folder folder;
        QByteArray lines = QByteArray("the file was not found\n").repeated(4000);
        const QByteArray place = "byte " + QByteArray::number(lines.size() + 5) + " of ";
        const std::string in = folder.write("in.txt", lines + "citt\xe0\n");
        const QStringList arguments{"--kind", "text", "--out", text(folder.path("out.rmtok")),
                                    text(in)};
        const Ended ended =
            prepare(arguments + QStringList{"--tokenizer", "sentencepiece", "--vocab-size", "300"});
        QVERIFY2(ended.exitCode == 0, qPrintable(ended.err));
        QVERIFY2(ended.err.contains("warning: 1 byte in 1 file is no UTF-8") &&
                     ended.err.contains(place + text(in).toUtf8()),
                 qPrintable(ended.err));
        const Ended bytes = prepare(arguments);
        QVERIFY2(bytes.exitCode == 0 && !bytes.err.contains("UTF-8"), qPrintable(bytes.err));
    }

    void cataloguesAndLinesBecomeOneShardOfPairs() {
        const PairFolder folder;
        folder.write("it/LC_MESSAGES/x.mo", CatalogueBytes().add("_Yes", "_Sì").bytes());
        folder.write("de/LC_MESSAGES/x.mo", CatalogueBytes().add("Yes", "Ja").bytes());
        folder.write("lines.tsv", "one\tuno\ntwo\tdue\none\tuno\n");
        const std::string out = folder.path("out.rmpairs");
        const QStringList arguments{"--kind", "pairs", "--target", "it", "--out", text(out)};
        const Ended ended = prepare(arguments + QStringList(text(folder.path())));
        QVERIFY2(ended.exitCode == 0, qPrintable(ended.err));
        QVERIFY2(ended.out.contains("3 pairs from 2 files, 1 duplicates left out"),
                 qPrintable(ended.out));
        QCOMPARE(pairsIn(out), (std::vector<Pair>{{"Yes", "Sì"}, {"one", "uno"}, {"two", "due"}}));
        QCOMPARE(PairFile::peek(out)->targetLanguage, std::string("it"));
        // A shard is read as its files were, and never into itself.
        QCOMPARE(prepare(arguments + QStringList(text(folder.path()))).exitCode, 0);
        QCOMPARE(pairsIn(out).size(), size_t{3});
    }

    void twoFilesLineByLineBecomeAShardOfPairs() {
        const PairFolder folder;
        const std::string source =
            folder.write("train.en", "\xef\xbb\xbfone\r\ntwo \"2\"\tand\n\none\n");
        const std::string target = folder.write("train.it", "uno\ndue\n\nuno");
        const std::string out = folder.path("out.rmpairs");
        const QStringList arguments{"--kind", "pairs", "--out", text(out), "--max-bad", "0.3"};
        const Ended ended = prepare(arguments + QStringList{text(source), text(target)});
        QVERIFY2(ended.exitCode == 0, qPrintable(ended.err));
        QVERIFY2(ended.out.contains("2 pairs from 2 files, 1 duplicates"), qPrintable(ended.out));
        QVERIFY2(ended.err.contains("train.en:3: no source"), qPrintable(ended.err));
        QCOMPARE(pairsIn(out), (std::vector<Pair>{{"one", "uno"}, {"two \"2\" and", "due"}}));
        QCOMPARE(PairFile::peek(out)->sourceLanguage, std::string("en"));
        QCOMPARE(PairFile::peek(out)->targetLanguage, std::string("it"));
        folder.write("train.it", "uno\ndue\n\nuno\ntre\n");
        const Ended refused = prepare(arguments + QStringList{text(source), text(target)});
        QCOMPARE(refused.exitCode, static_cast<int>(ExitCode::kUsage));
        for (const char* part : {"train.en: it has 4 lines", "train.it has 5"})
            QVERIFY2(refused.err.contains(part), qPrintable(refused.err));
    }

    void fewBrokenLinesAreWarningsAndManyAnError() {
        const PairFolder folder;
        const std::string in = folder.write("in.tsv", "one\tuno\nbroken\ntwo\tdue\n");
        const std::string out = folder.path("out.rmpairs");
        const QStringList arguments{"--kind", "pairs", "--out", text(out), text(in)};
        const Ended refused = prepare(arguments);
        QCOMPARE(refused.exitCode, static_cast<int>(ExitCode::kCorrupt));
        for (const char* part : {"--max-bad", "1 of 3", "in.tsv:2: "})
            QVERIFY2(refused.err.contains(part), qPrintable(refused.err));
        QCOMPARE(folder.files(), QStringList{"in.tsv"});
        const Ended taken = prepare(arguments + QStringList{"--max-bad", "0.5"});
        QCOMPARE(taken.exitCode, 0);
        QVERIFY2(taken.err.contains("in.tsv:2: "), qPrintable(taken.err));
        QCOMPARE(pairsIn(out).size(), size_t{2});
    }

    void whatItCannotDoIsSaidInOneLine_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* name, const QStringList& arguments, const char* says) {
            QTest::newRow(name) << arguments << QString(says);
        };
        row("ending", {"--kind", "text", "--out", "x.txt", "/dev/null"}, ".rmtok");
        row("language", {"--kind", "pairs", "--out", "x.rmpairs", "--target", "i t", "/tmp"},
            "is no language");
        row("no pairs", {"--kind", "pairs", "--out", "x.rmpairs", "/usr/share/common-licenses"},
            "no .tsv, .rmpairs or .mo");
        row("missing", {"--kind", "text", "--out", "x.rmtok", "/no/such/file"}, "/no/such/file");
        row("kind", {"--kind", "poems", "--out", "x.rmtok", "/tmp"}, "poems");
    }

    void whatItCannotDoIsSaidInOneLine() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, says);
        const Ended ended = prepare(arguments);
        QVERIFY(ended.exitCode > 0);
        QVERIFY2(ended.err.contains(says), qPrintable(ended.err));
        QVERIFY(ended.out.isEmpty());
    }
};

QTEST_GUILESS_MAIN(TestPrepare)
#include "tst_prepare.moc"
