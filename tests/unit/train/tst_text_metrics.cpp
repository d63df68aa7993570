// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/text_metrics/bleu.h"
#include "trainer/train/text_metrics/chrf.h"
#include "trainer/train/text_metrics/edit_rate.h"
#include "trainer/train/text_metrics/unicode_text.h"

#include <QObject>
#include <QTest>

#include <cmath>

using namespace rm;

namespace {

struct Case {
    const char* hypothesis;
    const char* reference;
    double bleu, chrf; ///< as sacreBLEU 2.6.0 has them
};

// tests/python compares many more with sacreBLEU itself.
constexpr Case kCases[] = {
    {"The cat sat on the mat.", "The cat sat on the mat.", 100.00000000000004, 100.0},
    {"the the the the the the the", "the cat is on the mat", 7.809849842300637, 14.232426848159646},
    {"It costs 1,200.50 dollars, he said.", "It costs 1,200.5 dollars - he said.",
     27.054113452696992, 75.85929860228691},
    {"Hello", "Hello", 0.0, 100.0},
    {"Perché il gatto è qui?", "Perché la gatta è lì?", 10.682175159905853, 35.992734932448975},
    {"", "nothing", 0.0, 0.0},
    {"a b c", "x y z", 0.0, 0.0},
    {"a &amp; b &lt;tag&gt; 5-6", "a & b <tag> 5-7", 86.33400213704509, 17.33100175226459},
    {"short", "a much longer reference than that", 0.0, 3.4188034188034186},
};

bool isNear(double a, double b) {
    return std::abs(a - b) < 1e-9;
}

std::string tokens(const char* line) {
    const std::u32string words = tokenize13a(codePoints(line));
    return QString::fromStdU32String(words).toStdString();
}

} // namespace

class TestTextMetrics : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void oneSentenceScoresAsInSacreBleu_data() {
        QTest::addColumn<int>("index");
        for (int i = 0; i < int(std::size(kCases)); ++i)
            QTest::addRow("%d: %s", i, kCases[i].hypothesis) << i;
    }

    void oneSentenceScoresAsInSacreBleu() {
        QFETCH(int, index);
        const Case& one = kCases[index];
        BleuCounts words;
        ChrfCounts characters;
        addSentence(words, one.hypothesis, one.reference);
        addSentence(characters, one.hypothesis, one.reference);
        QVERIFY2(isNear(bleu(words), one.bleu), QByteArray::number(bleu(words), 'g', 17));
        QVERIFY2(isNear(chrf(characters), one.chrf), QByteArray::number(chrf(characters), 'g', 17));
    }

    void corpusScoresAsInSacreBleu() {
        BleuCounts words;
        ChrfCounts characters;
        for (const Case& one : kCases) {
            addSentence(words, one.hypothesis, one.reference);
            addSentence(characters, one.hypothesis, one.reference);
        }
        QVERIFY(isNear(bleu(words), 42.60375922815243));
        QVERIFY(isNear(chrf(characters), 43.44704107980512));
    }

    void punctuationPartsAsInMteval_data() {
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<QByteArray>("expected");
        const auto row = [](const char* line, const char* expected) {
            QTest::newRow(line) << QByteArray(line) << QByteArray(expected);
        };
        row("Hello, world!", "Hello , world !");
        row("1,000.5 and 3.", "1,000.5 and 3 .");
        row("x-y 5-6 -7", "x-y 5 - 6 -7");
        row("a\u00a0b\u3000c", "a b c");
        row("l'uomo (d'oro)", "l'uomo ( d'oro )");
        row("...", ". . .");
        row("$5.00/kg", "$ 5.00 / kg");
        row("e.g. this", "e . g . this");
        row("cut-\nhere <skipped>now", "cuthere now");
    }

    void punctuationPartsAsInMteval() {
        QFETCH(QByteArray, line);
        QFETCH(QByteArray, expected);
        QCOMPARE(tokens(line), expected.toStdString());
    }

    void emptyCorpusScoresNothing() {
        QCOMPARE(bleu({}), 0.0);
        QCOMPARE(chrf({}), 0.0);
    }

    void errorsAreTheFewestEdits_data() {
        QTest::addColumn<QByteArray>("hypothesis");
        QTest::addColumn<QByteArray>("reference");
        QTest::addColumn<int>("characters");
        QTest::addColumn<int>("words");
        const auto row = [](const char* hypothesis, const char* reference, int characters,
                            int words) {
            QTest::addRow("%s, %s", hypothesis, reference)
                << QByteArray(hypothesis) << QByteArray(reference) << characters << words;
        };
        row("", "", 0, 0);
        row("", "gatto", 5, 1);
        row("kitten", "sitting", 3, 1);
        row("perché è", "perche e", 2, 2);
        row("the cat sat", "cat sat  down", 9, 2);
    }

    void errorsAreTheFewestEdits() {
        QFETCH(QByteArray, hypothesis);
        QFETCH(QByteArray, reference);
        EditCounts characters, words;
        addCharacters(characters, hypothesis.toStdString(), reference.toStdString());
        addWords(words, hypothesis.toStdString(), reference.toStdString());
        QTEST(int(characters.edits), "characters");
        QTEST(int(words.edits), "words");
    }

    void errorRateIsOfTheReferences() {
        EditCounts words;
        addWords(words, "one two", "one");
        addWords(words, "", "two three four");
        QCOMPARE(errorRate(words), 1.0);
        QCOMPARE(errorRate({}), 0.0);
    }

    void brokenUtf8IsReplacedByteForByte() {
        QCOMPARE(codePoints("a\xff\xc3"), std::u32string(U"a\ufffd\ufffd"));
        QCOMPARE(codePoints("\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82"), std::u32string(U"é€🙂"));
        for (const char* broken : {"\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"})
            QVERIFY(!isWholeUtf8(broken));
        QVERIFY(isWholeUtf8("é€🙂"));
    }
};

QTEST_GUILESS_MAIN(TestTextMetrics)
#include "tst_text_metrics.moc"
