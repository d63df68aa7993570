// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/engine.h"
#include "app/core/store/step_samples.h"
#include "app/core/store/store_reader.h"
#include "app/ui/plot/line_chart.h"
#include "app/ui/run/run_page.h"
#include "tests/gui/support/demo_store.h"
#include "tests/gui/support/window_fixture.h"

#include <QAbstractItemModel>
#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTableView>
#include <QTest>
#include <QTextEdit>

using namespace rm;
using namespace rm::test;

/// What models made of their inputs, and checkpoints that are tried, under a hand.
class TestSamples : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup() { m_demo.reset(); }

    void theNewestTextIsShownAlone();
    void stepsStandSideBySideWithTheirDifferences();
    void aZoomShowsItsNewestSampleUnlessOthersAreChosen();
    void anotherRunStandsBeside();
    void translationsHaveSourceReferenceAndScore();
    void picturesComeMisclassifiedFirst();
    void confusedClassesAreCountedAndMeasured();
    void aCheckpointIsTriedFromItsTabAndThePalette();
    void whatATriedCheckpointLacksIsSaid();

private:
    template <class T>
    T* find(const char* name) const {
        return m_demo->window().findChild<T*>(name);
    }
    void open(const QString& run, RunPage::Tab tab) const;
    QString cellOf(const char* table, int row, int column) const;

    std::unique_ptr<WindowFixture> m_demo;
};

void TestSamples::init() {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
}

void TestSamples::open(const QString& run, RunPage::Tab tab) const {
    m_demo->window().showRun(run);
    m_demo->window().runPage().showTab(tab);
    QTRY_VERIFY(find<QWidget>("figureStep")->accessibleName().contains("of"));
}

QString TestSamples::cellOf(const char* table, int row, int column) const {
    const auto* model = find<QTableView>(table)->model();
    return model->index(row, column).data().toString();
}

void TestSamples::theNewestTextIsShownAlone() {
    open(kFinishedRun, RunPage::kSamples);
    const auto* text = find<QPlainTextEdit>("sampleText");
    QTRY_VERIFY(text->isVisible() && text->toPlainText().contains("copy and distribute verbatim"));
    QCOMPARE(find<QListWidget>("samplesList")->selectedItems().size(), 1);
}

void TestSamples::stepsStandSideBySideWithTheirDifferences() {
    open(kFinishedRun, RunPage::kSamples);
    auto* steps = find<QListWidget>("samplesList");
    QTRY_VERIFY(steps->count() > 1);
    steps->item(steps->count() - 1)->setSelected(true);
    const auto* beside = find<QTextEdit>("samplesBeside");
    QTRY_VERIFY(beside->isVisible() && beside->toPlainText().contains("copies of copy"));
    const QTextCursor own = beside->document()->find("distribute");
    QVERIFY(!own.isNull() && own.charFormat().fontUnderline()); // only the later text has it
    const QTextCursor same = beside->document()->find("Everyone", own);
    QVERIFY(same.isNull() || !same.charFormat().fontUnderline());
}

void TestSamples::aZoomShowsItsNewestSampleUnlessOthersAreChosen() {
    open(kFinishedRun, RunPage::kSamples);
    auto* list = find<QListWidget>("samplesList");
    QTRY_VERIFY(list->count() > 2 && list->currentRow() == 0);
    const auto reader = StoreReader::open(m_demo->engine().databasePath()).value();
    const auto samples = samplesByStep(reader->samples(kFinishedRun)); // as they are listed
    const auto second = static_cast<double>(samples.at(1).step);
    auto* shown = find<QPushButton>("shownSteps");
    const auto zoom = [&] {
        Q_EMIT find<LineChart>("chartLoss")->zoomRequested(second - 10, second + 5);
        QTRY_VERIFY(shown->isVisible());
    };
    zoom();
    QTRY_COMPARE(list->currentRow(), 1);
    shown->click();
    QTRY_COMPARE(list->currentRow(), 0);
    list->setCurrentRow(2);
    zoom();
    QCOMPARE(list->currentRow(), 2);
    shown->click();
    QTRY_VERIFY(!shown->isVisible());
    QCOMPARE(list->currentRow(), 2);
}

void TestSamples::anotherRunStandsBeside() {
    open(kFinishedRun, RunPage::kSamples);
    QTRY_VERIFY(find<QPlainTextEdit>("sampleText")->isVisible());
    auto* other = find<QComboBox>("samplesOther");
    QTRY_VERIFY(other->findData(kPausedRun) > 0); // as soon as the list of runs has been read
    other->setCurrentIndex(other->findData(kPausedRun));
    const auto* beside = find<QTextEdit>("samplesBeside");
    QTRY_VERIFY2(beside->isVisible() && beside->toPlainText().contains(kPausedRun),
                 qPrintable(other->currentText() + ": " + beside->toPlainText().left(200)));
}

void TestSamples::translationsHaveSourceReferenceAndScore() {
    open(kRunningRun, RunPage::kSamples);
    const auto* beside = find<QTextEdit>("samplesBeside");
    QTRY_VERIFY(beside->isVisible() && !beside->document()->isEmpty());
    for (const char* part : {"Source: The file could not be opened.",
                             "Reference: Impossibile aprire il file.", "chrF "})
        QVERIFY2(beside->toPlainText().contains(part), part);
}

void TestSamples::picturesComeMisclassifiedFirst() {
    open(kPicturesRun, RunPage::kSamples);
    QTRY_COMPARE(find<QTableView>("samplePictures")->model()->rowCount(), 8);
    QCOMPARE(cellOf("samplePictures", 0, 1), QString("apps"));
    QCOMPARE(cellOf("samplePictures", 0, 2), QString("devices, wrong"));
    QCOMPARE(cellOf("samplePictures", 0, 3), QString("95 %"));
    QCOMPARE(cellOf("samplePictures", 7, 2), QString("places"));
    const auto* model = find<QTableView>("samplePictures")->model();
    QVERIFY(!model->index(0, 0).data(Qt::DecorationRole).isNull());
}

void TestSamples::confusedClassesAreCountedAndMeasured() {
    open(kPicturesRun, RunPage::kSamples);
    QTRY_COMPARE(find<QTableView>("confusionHeat")->model()->rowCount(), 4);
    QCOMPARE(cellOf("confusionHeat", 0, 0), QString("54"));
    QCOMPARE(cellOf("confusionHeat", 0, 1), QString("4"));
    const auto* heat = find<QTableView>("confusionHeat")->model();
    QCOMPARE(heat->headerData(1, Qt::Horizontal).toString(), QString("devices"));
    QVERIFY(
        heat->index(0, 1).data(Qt::AccessibleTextRole).toString().contains("taken for devices"));
    QCOMPARE(cellOf("classFigures", 0, 1), QString("60"));
    QCOMPARE(cellOf("classFigures", 0, 2), QString("90 %").replace(QChar(0x20), QChar(0x202F)));
    QCOMPARE(cellOf("classFigures", 0, 4), QString("devices (4)"));
}

void TestSamples::aCheckpointIsTriedFromItsTabAndThePalette() {
    open(kPausedRun, RunPage::kCheckpoints);
    auto* button = find<QPushButton>("tryCheckpointNow");
    QTRY_VERIFY(button->isVisible() && button->isEnabled());
    button->click();
    QTRY_VERIFY(find<QDialog>("tryDialog"));
    QVERIFY(find<QComboBox>("tryCheckpoint")->count() > 0);
    QVERIFY(find<QPlainTextEdit>("tryPrompt"));
    find<QPushButton>("tryClose")->click();
    QTRY_VERIFY(!find<QDialog>("tryDialog"));
    m_demo->window().showPalette();
    auto* input = find<QLineEdit>("paletteInput");
    input->setText("try a checkpoint");
    QTest::keyClick(input, Qt::Key_Return);
    QTRY_VERIFY(find<QDialog>("tryDialog"));
}

void TestSamples::whatATriedCheckpointLacksIsSaid() {
    open(kPausedRun, RunPage::kCheckpoints);
    QTRY_VERIFY(find<QPushButton>("tryCheckpointNow")->isEnabled());
    find<QPushButton>("tryCheckpointNow")->click();
    QTRY_VERIFY(find<QPushButton>("tryNow"));
    find<QPushButton>("tryNow")->click(); // its nodes are not in the list
    const auto said = [this] { return find<QLabel>("tryState")->text(); };
    QTRY_VERIFY2_WITH_TIMEOUT(said().startsWith("Try the checkpoint of step "), qPrintable(said()),
                              20'000);
    QVERIFY(find<QPushButton>("tryNow")->isEnabled());
}

QTEST_MAIN(TestSamples)
#include "tst_samples.moc"
