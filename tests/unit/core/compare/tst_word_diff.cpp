// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/compare/class_figures.h"
#include "app/core/compare/sample_rows.h"
#include "app/core/compare/word_diff.h"

#include <QObject>
#include <QTest>

#include <cmath>

using namespace rm;

namespace {

std::string joined(const std::vector<WordSpan>& spans) {
    std::string text;
    for (const WordSpan& span : spans)
        text += span.text;
    return text;
}

SampleText sampleOf(const std::string& prompt, const std::string& text) {
    return {10, 1, prompt, text};
}

} // namespace

/// What a person compares of samples.
class TestWordDiff : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void wordsThatDifferAreMarked_data() {
        QTest::addColumn<QString>("a");
        QTest::addColumn<QString>("b");
        QTest::addColumn<QString>("marked");
        QTest::newRow("alike") << "a b c"
                               << "a b c"
                               << "a b c";
        QTest::newRow("both empty") << ""
                                    << ""
                                    << "";
        QTest::newRow("one empty") << ""
                                   << "a b"
                                   << "{+a b+}";
        QTest::newRow("another word") << "You must copy"
                                      << "You may copy"
                                      << "You [-must-]{+may+} copy";
        QTest::newRow("a word more") << "a c"
                                     << "a b c"
                                     << "a {+b +}c";
        QTest::newRow("a word less") << "a b c"
                                     << "a c"
                                     << "a [-b -]c";
        QTest::newRow("nothing alike") << "one"
                                       << "two"
                                       << "[-one-]{+two+}";
        QTest::newRow("other white space") << "a b"
                                           << "a\nb"
                                           << "a[- -]{+\n+}b";
        QTest::newRow("umlauts") << "Guten Tag"
                                 << "Guten Abend"
                                 << "Guten [-Tag-]{+Abend+}";
    }

    void wordsThatDifferAreMarked() {
        QFETCH(QString, a);
        QFETCH(QString, b);
        QFETCH(QString, marked);
        QCOMPARE(QString::fromStdString(wdiffText(a.toStdString(), b.toStdString())), marked);
        const WordDiff diff = wordDiff(a.toStdString(), b.toStdString());
        QCOMPARE(joined(diff.a), a.toStdString());
        QCOMPARE(joined(diff.b), b.toStdString());
    }

    void longTextsAreComparedAtTheirEnds() {
        std::string a = "begin ", b = "begin ";
        for (int i = 0; i < 9000; ++i) {
            a += "a" + std::to_string(i) + " ";
            b += "b" + std::to_string(i) + " ";
        }
        const WordDiff diff = wordDiff(a + "end", b + "end");
        QCOMPARE(diff.b.size(), size_t{3});
        QCOMPARE(diff.b.front().text, std::string("begin "));
        QVERIFY(diff.b[1].isOwn);
        QCOMPARE(diff.b.back().text, std::string(" end"));
    }

    void inputsOfSeveralStepsStandInOneRow() {
        const auto rows = sampleRows({{sampleOf("p", "one"), sampleOf("q", "two")},
                                      {sampleOf("q", "deux"), sampleOf("p", "un")},
                                      {sampleOf("r", "drei")}});
        QCOMPARE(rows.size(), size_t{3});
        QCOMPARE(rows[0].prompt, std::string("p"));
        QCOMPARE(rows[0].of[1]->text, std::string("un"));
        QVERIFY(!rows[0].of[2]);
        QCOMPARE(rows[2].prompt, std::string("r"));
        QVERIFY(!rows[2].of[0]);
    }

    void anInputThatComesTwiceHasTwoRows() {
        const auto rows = sampleRows({{sampleOf("p", "one"), sampleOf("p", "two")},
                                      {sampleOf("p", "un"), sampleOf("p", "deux")}});
        QCOMPARE(rows.size(), size_t{2});
        QCOMPARE(rows[1].of[0]->text, std::string("two"));
        QCOMPARE(rows[1].of[1]->text, std::string("deux"));
    }

    void scoresAreInWords() {
        SampleText sample = sampleOf("p", "t");
        QCOMPARE(scoreWords(sample), std::string());
        sample.kind = SampleKind::kTranslation;
        QCOMPARE(scoreWords(sample), std::string());
        sample.score = 61.54f;
        QCOMPARE(scoreWords(sample), std::string("chrF 61.5"));
        sample.kind = SampleKind::kPicture;
        sample.score = 0.87f;
        QCOMPARE(scoreWords(sample), std::string("87 %"));
    }

    void recallAndPrecisionFollowFromTheCounts() {
        const ConfusionMatrix matrix{10,
                                     1,
                                     4,
                                     {"cat", "dog", "owl"},
                                     {6, 2, 0, 0, //
                                      1, 9, 0, 0, //
                                      0, 0, 0, 0, //
                                      0, 3, 0, 50}};
        const auto figures = classFigures(matrix);
        QCOMPARE(figures.size(), size_t{3});
        QCOMPARE(figures[0].pictures, uint64_t{8});
        QCOMPARE(figures[0].recall, 0.75);
        QCOMPARE(figures[0].precision, 6.0 / 7);
        QCOMPARE(figures[0].confusedWith, std::string("dog"));
        QCOMPARE(figures[0].confusions, uint64_t{2});
        QCOMPARE(figures[1].precision, 9.0 / 14); // the other class counts, too
        QVERIFY(std::isnan(figures[2].recall) && std::isnan(figures[2].precision));
        QVERIFY(figures[2].confusedWith.empty());
        QCOMPARE(rowName(matrix, 3), std::string("1 other class"));
    }
};

QTEST_GUILESS_MAIN(TestWordDiff)
#include "tst_word_diff.moc"
