// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/train/catalogue_bytes.h"
#include "trainer/train/workloads/translation/pairs/catalogue.h"
#include "trainer/train/workloads/translation/pairs/tsv.h"

#include <QObject>
#include <QTest>

using namespace rm;
using namespace rm::test;
using namespace std::string_literals;

namespace {

const std::string kHeader = "Project-Id-Version: x\nContent-Type: text/plain; charset=UTF-8\n";

std::span<const std::byte> bytesOf(const std::string& text) {
    return std::as_bytes(std::span<const char>(text));
}

CatalogueBytes catalogue(const std::string& header = kHeader) {
    return CatalogueBytes().add("", header);
}

std::vector<Pair> pairsOf(const CatalogueBytes& messages) {
    const auto read = readCatalogue(bytesOf(messages.bytes()), "x.mo");
    return read ? read->pairs : std::vector<Pair>{};
}

CatalogueBytes example() {
    return catalogue()
        .add("File not found", "File non trovato")
        .add("menu\4_Open", "_Apri")
        .add("%d file\0%d files"s, "%d file trovato\0%d file trovati"s);
}

} // namespace

class TestPairTexts : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void linesOfTwoColumnsArePairs() {
        const auto read = readTsv("\xef\xbb\xbfone\tuno\r\n\n two  words \tdue\tparole\n"
                                  "three\ttre",
                                  "x.tsv", 1);
        QCOMPARE(read.pairs, (std::vector<Pair>{{"one", "uno"}, {"three", "tre"}}));
        QCOMPARE(read.bad, int64_t{1});
        QCOMPARE(read.named.front(), "x.tsv:3: source TAB target wanted, but it has 3 columns"s);
    }

    void brokenLinesAreNamed_data() {
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<QByteArray>("why");
        QTest::newRow("one column") << QByteArray("alone") << QByteArray("1 column");
        QTest::newRow("no source") << QByteArray(" \tx") << QByteArray("no source");
        QTest::newRow("no target") << QByteArray("x\t ") << QByteArray("no target");
        QTest::newRow("not UTF-8") << QByteArray("x\t\xff") << QByteArray("not UTF-8");
    }

    void brokenLinesAreNamed() {
        QFETCH(QByteArray, line);
        QFETCH(QByteArray, why);
        const auto read = readTsv("a\tb\n" + line.toStdString() + "\n", "x.tsv", 41);
        QCOMPARE(read.pairs.size(), size_t{1});
        QCOMPARE(read.bad, int64_t{1});
        QVERIFY2(read.named.front().starts_with("x.tsv:42: "), read.named.front().c_str());
        QVERIFY2(read.named.front().find(why.toStdString()) != std::string::npos,
                 read.named.front().c_str());
    }

    void manyBrokenLinesAreCountedAndAFewNamed() {
        const auto read = readTsv(std::string(100, '\n') + std::string(2000, 'x') + "\n" +
                                      QByteArray("bad\n").repeated(1000).toStdString(),
                                  "x.tsv", 1);
        QCOMPARE(read.bad, int64_t{1001});
        QCOMPARE(read.named.size(), PairHarvest::kMaxNamed);
    }

    void messagesOfACatalogueArePairs() {
        QCOMPARE(pairsOf(example()), (std::vector<Pair>{{"File not found", "File non trovato"},
                                                        {"Open", "Apri"},
                                                        {"%d file", "%d file trovato"},
                                                        {"%d files", "%d file trovati"}}));
    }

    void bothByteOrdersAreRead() {
        const std::string little = example().bytes(false);
        const std::string big = example().bytes(true);
        QVERIFY(little != big);
        QCOMPARE(*parseCatalogue(bytesOf(big), "x"), *parseCatalogue(bytesOf(little), "x"));
    }

    void whatTeachesNothingIsLeftOut_data() {
        QTest::addColumn<QByteArray>("id");
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("not translated") << QByteArray("Open") << QByteArray();
        QTest::newRow("the same") << QByteArray("GNOME") << QByteArray("GNOME");
        QTest::newRow("no letters") << QByteArray("100 + %: 5") << QByteArray("100 + %, 5");
        QTest::newRow("white space") << QByteArray("Open") << QByteArray(" \n ");
        QTest::newRow("names") << QByteArray("translator-credits") << QByteArray("Ada <a@b.c>");
        QTest::newRow("names, KDE's way")
            << QByteArray("NAME OF TRANSLATORS\4Your names") << QByteArray("Ada");
    }

    void whatTeachesNothingIsLeftOut() {
        QFETCH(QByteArray, id);
        QFETCH(QByteArray, text);
        const auto messages = catalogue().add(id.toStdString(), text.toStdString());
        const auto read = readCatalogue(bytesOf(messages.bytes()), "x.mo");
        QVERIFY(read && read->pairs.empty());
        QCOMPARE(read->bad, int64_t{0});
    }

    void accessKeysGoAndIdentifiersStay_data() {
        QTest::addColumn<QByteArray>("id");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("source");
        QTest::addColumn<QByteArray>("target");
        const auto row = [](const char* id, const char* text, const char* source,
                            const char* target) {
            QTest::newRow(id) << QByteArray(id) << QByteArray(text) << QByteArray(source)
                              << QByteArray(target);
        };
        row("E_xit", "_Esci", "Exit", "Esci");
        row("&Save as", "Salva co&me", "Save as", "Salva come");
        row("_Album", "_Album x", "Album", "Album x");
        row("set max_size first", "prima imposta max_size", "set max_size first",
            "prima imposta max_size");
        row("a & b", "b & a", "a & b", "b & a");
        row("_One", "Uno", "_One", "Uno");
    }

    void accessKeysGoAndIdentifiersStay() {
        QFETCH(QByteArray, id);
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, source);
        QFETCH(QByteArray, target);
        const auto pairs = pairsOf(catalogue().add(id.toStdString(), text.toStdString()));
        QCOMPARE(pairs, (std::vector<Pair>{{source.toStdString(), target.toStdString()}}));
    }

    void otherPluralRulesGiveWhatTheyHave() {
        const auto one = pairsOf(catalogue().add("%d day\0%d days"s, "%d giorni"));
        QCOMPARE(one, (std::vector<Pair>{{"%d days", "%d giorni"}}));
        const auto three = pairsOf(catalogue().add("a day\0days"s, "den\0dny\0dni"s));
        QCOMPARE(three, (std::vector<Pair>{{"a day", "den"}, {"days", "dni"}}));
    }

    void otherCharacterSetsBecomeUtf8() {
        const std::string header = "Content-Type: text/plain; charset=ISO-8859-1\n";
        QCOMPARE(pairsOf(catalogue(header).add("Quality", "Qualit\xe0")),
                 (std::vector<Pair>{{"Quality", "Qualità"}}));
    }

    void messageOfAnotherCharacterSetIsBad() {
        const auto messages = catalogue().add("Quality", "Qualit\xe0").add("Yes", "Sì");
        const auto read = readCatalogue(bytesOf(messages.bytes()), "x.mo");
        QVERIFY(read);
        QCOMPARE(read->pairs.size(), size_t{1});
        QCOMPARE(read->bad, int64_t{1});
        QVERIFY(read->named.front().starts_with("x.mo:2: "));
    }

    void unknownCharacterSetIsNamed() {
        const auto messages = catalogue("Content-Type: text/plain; charset=KLINGON-1\n");
        const auto read = readCatalogue(bytesOf(messages.bytes()), "x.mo");
        QVERIFY(!read);
        QVERIFY(read.error().message.find("KLINGON-1") != std::string::npos);
    }

    void catalogueCutAnywhereIsRefused() {
        const std::string whole = example().bytes();
        for (size_t size = 0; size < whole.size(); ++size) {
            const auto read = readCatalogue(bytesOf(whole.substr(0, size)), "x.mo");
            QVERIFY(!read);
            QCOMPARE(read.error().code, ErrorCode::kCorrupt);
            QVERIFY(read.error().message.find("x.mo") != std::string::npos);
        }
    }

    void flippedBitsNeverReachBeyondTheFile() {
        const std::string whole = example().bytes();
        for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
            std::string flipped = whole;
            flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
            const auto read = parseCatalogue(bytesOf(flipped), "x.mo");
            for (size_t i = 0; read && i < read->size(); ++i)
                for (const std::string_view text : {(*read)[i].id, (*read)[i].text})
                    QVERIFY(text.data() >= flipped.data() &&
                            text.data() + text.size() < flipped.data() + flipped.size());
        }
    }

    void aCatalogueThatWasNotFetchedIsSaidSo() {
        const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n";
        const auto read = readCatalogue(bytesOf(pointer), "x.mo");
        QVERIFY(!read);
        QVERIFY2(read.error().message.find("git lfs pull") != std::string::npos,
                 read.error().message.c_str());
    }

    void newerCatalogueIsRefused() {
        std::string bytes = example().bytes();
        bytes[6] = 2;
        QCOMPARE(parseCatalogue(bytesOf(bytes), "x.mo").error().code, ErrorCode::kTooNew);
    }
};

QTEST_GUILESS_MAIN(TestPairTexts)
#include "tst_pair_texts.moc"
