// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/saved_filters.h"
#include "app/core/store/store_reader.h"
#include "app/ui/compare/compare_page.h"
#include "app/ui/compare/key_box.h"
#include "app/ui/compare/lineage_table.h"
#include "app/ui/compare/run_key.h"
#include "app/ui/data/run_styles.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/look/format.h"
#include "app/ui/plot/parallel_plot.h"
#include "app/ui/plot/scatter_plot.h"
#include "app/ui/run/run_page.h"
#include "app/ui/widgets/cell_delegate.h"
#include "app/ui/widgets/table.h"
#include "tests/gui/support/demo_run.h"
#include "tests/gui/support/demo_store.h"
#include "tests/gui/support/window_fixture.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QFile>
#include <QFileDialog>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace rm;
using namespace rm::test;

/// Runs beside each other: chosen in the table, drawn in one chart, compared in tables.
class TestComparePage : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup() { m_demo.reset(); }

    void runsThatAreChosenAreCompared();
    void eachRunHasItsLineInEachChart();
    void aRunIsHiddenAndTakenOut();
    void whatDiffersStandsInATable();
    void theBestOfARowIsMarked();
    void theRunsAreKeptForTheNextStart();
    void aChartIsExported_data();
    void aChartIsExported();
    void aRunThatWasDeletedMeanwhileIsNotCompared();
    void aDeletedRunLeaves();
    void severalRunsAreDeletedAndComeBack();
    void sixteenAreTheMost();
    void aRunHasOneColourEverywhere();
    void bothPagesHaveTheSameBar();
    void runsLieOverEachOtherFromAValue();
    void aRunWithoutEpochsSaysSo();
    void aDotOpensItsRun();
    void aLogarithmNeedsNumbersAboveZero();
    void rangesOfParallelAxesCombine();
    void axesAreOfTheRunsUnlessTheyAreChosen();
    void aFilterTakesRunsThatAreNotChosen();
    void archivedRunsAreNotOfferedUnasked();
    void theValuesOpenAsATable();
    void hundredsOfRunsAreShown();
    void branchesHangFromTheirParents();
    void lineageThatGrowsKeepsTheChosenRow();
    void settingsAndMetricsAreColumns();
    void conditionsFilterTheRuns();

private:
    template <class T>
    T* find(const char* name) const {
        return m_demo->window().findChild<T*>(name);
    }
    ComparePage& page() const { return m_demo->window().comparePage(); }
    QStringList ids() const { return m_demo->listedRuns(); }
    void choose(const QStringList& runs) const;
    void compare(const QStringList& runs) const;
    void choose(const char* box, const QString& key) const;
    void showValues(ComparePage::View view) const;
    double firstBelow(const QString& run, double loss) const;
    double originOf(const QString& run) const;
    LineChart* loss() const { return find<LineChart>("compared.train/loss"); }

    std::unique_ptr<WindowFixture> m_demo;
};

void TestComparePage::init() {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo,
                                             WindowFixture::Access::kWrite);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    m_demo->openRuns();
    QTRY_COMPARE(ids().size(), 6);
}

/// As a person does: a click, and others with Ctrl held.
void TestComparePage::choose(const QStringList& runs) const {
    auto* table = find<Table>("runsTable");
    Qt::KeyboardModifiers held = Qt::NoModifier;
    for (const QString& run : runs) {
        const auto row = static_cast<int>(ids().indexOf(run));
        QVERIFY2(row >= 0, qPrintable(run));
        QTest::mouseClick(table->viewport(), Qt::LeftButton, held,
                          table->visualRect(table->model()->index(row, 0)).center());
        held = Qt::ControlModifier;
    }
}

void TestComparePage::compare(const QStringList& runs) const {
    choose(runs);
    QTRY_VERIFY(find<QPushButton>("compareRuns")->isEnabled());
    QTest::mouseClick(find<QPushButton>("compareRuns"), Qt::LeftButton);
    QTRY_VERIFY(page().isVisible());
    QTRY_VERIFY(loss() && !loss()->curves().empty());
}

void TestComparePage::runsThatAreChosenAreCompared() {
    choose({kFinishedRun});
    const auto* button = find<QPushButton>("compareRuns");
    QVERIFY(!button->isEnabled() && button->toolTip().contains("Ctrl"));
    compare({kFinishedRun, kFailedRun});
    const QStringList runs = page().runs();
    QVERIFY(runs.size() == 2 && runs.contains(kFinishedRun) && runs.contains(kFailedRun));
    QCOMPARE(page().findChildren<RunKey*>().size(), 2);
}

void TestComparePage::eachRunHasItsLineInEachChart() {
    m_demo->window().resize(1440, 2400); // charts out of sight are not read
    compare({kFinishedRun, kFailedRun, kPausedRun});
    QTRY_COMPARE(loss()->curves().size(), 3u);
    QSet<int> colours;
    for (const Curve& curve : loss()->curves()) {
        QVERIFY(!curve.x.isEmpty());
        colours << curve.colour;
    }
    QCOMPARE(colours.size(), 3);
    find<QComboBox>("compareAxis")->setCurrentIndex(static_cast<int>(XAxis::kRelative));
    QTRY_VERIFY(loss()->view().map.axis == XAxis::kRelative);
    for (const Curve& curve : loss()->curves())
        QVERIFY(curve.x.front() >= 0 && curve.x.front() < 60);
    QTRY_COMPARE(find<LineChart>("compared.train/step_ms")->view().map.axis, XAxis::kRelative);
}

void TestComparePage::aRunIsHiddenAndTakenOut() {
    compare({kFinishedRun, kFailedRun, kPausedRun});
    QTRY_COMPARE(loss()->curves().size(), 3u);
    find<QPushButton>(("compare." + kFailedRun).toUtf8().constData())->click();
    QTRY_COMPARE(loss()->curves().size(), 2u);
    for (RunKey* key : page().findChildren<RunKey*>())
        if (key->run() == kPausedRun)
            key->findChild<QPushButton*>("takeOut")->click();
    QTRY_COMPARE(page().runs().size(), 2);
    QTRY_COMPARE(page().findChildren<RunKey*>().size(), 2);
    QTRY_COMPARE(loss()->curves().size(), 1u); // the other one is hidden still
}

void TestComparePage::whatDiffersStandsInATable() {
    compare({kFinishedRun, kPicturesRun});
    const auto* table = find<Table>("comparedSettings");
    const auto cell = [&](const QString& key, int column) {
        for (int row = 0; row < table->model()->rowCount(); ++row)
            if (table->model()->index(row, 0).data().toString() == key)
                return table->model()->index(row, column).data().toString();
        return QString();
    };
    QTRY_COMPARE(cell("Ranks", 0), QString("Ranks"));
    QCOMPARE(QSet<QString>({cell("Ranks", 1), cell("Ranks", 2)}), QSet<QString>({"2", "8"}));
    QVERIFY(cell("optimizer.type", 1).isEmpty()); // it is alike
    const int differing = table->model()->rowCount();
    find<QPushButton>("compareAll")->click();
    QTRY_VERIFY(table->model()->rowCount() > differing);
    QCOMPARE(cell("optimizer.type", 2), QString("="));
    QVERIFY(find<QLabel>("differenceCount")->text().startsWith(QString::number(differing)));
}

void TestComparePage::theBestOfARowIsMarked() {
    compare({kFinishedRun, kFailedRun});
    const auto* table = find<Table>("comparedFigures");
    QTRY_VERIFY(table->model()->rowCount() > 1);
    int marked = 0, bests = 0, lasts = 0;
    for (int column = 1; column <= 2; ++column) {
        const QModelIndex loss = table->model()->index(0, column);
        QCOMPARE(table->model()->index(0, 0).data().toString(), QString("Loss"));
        marked += loss.data(Qt::FontRole).isValid();
        const QStringList figures = loss.data().toString().split(kSeparator);
        QCOMPARE(figures.size(), 2);
        bests += figures[0].endsWith(" ★");
        lasts += figures[1].endsWith(" ★");
        QVERIFY2(loss.data(Qt::ToolTipRole).toString().contains("step"),
                 qPrintable(loss.data(Qt::ToolTipRole).toString()));
    }
    QCOMPARE(bests, 1);
    QCOMPARE(lasts, 1);
    QVERIFY(marked <= 1); // a whole cell only where both of its figures are the best
    const QHeaderView* header = table->horizontalHeader();
    for (int column = 0; column <= 2; ++column) // nothing is cut
        QTRY_VERIFY(header->sectionSize(column) >= header->sectionSizeHint(column));
}

void TestComparePage::theRunsAreKeptForTheNextStart() {
    compare({kFinishedRun, kFailedRun});
    MainWindow again(m_demo->engine(), m_demo->fleet(), m_demo->paths());
    QCOMPARE(again.comparePage().runs(), page().runs());
    again.show();
    again.showCompare();
    QTRY_COMPARE(again.comparePage().findChildren<RunKey*>().size(), 2);
}

void TestComparePage::aChartIsExported_data() {
    QTest::addColumn<QByteArray>("begin");
    QTest::newRow("png") << QByteArray("\x89PNG");
    QTest::newRow("svg") << QByteArray("<?xml");
    QTest::newRow("pdf") << QByteArray("%PDF-");
    QTest::newRow("csv") << QByteArray("run,metric,rank,step,wall_time,value\n");
}

void TestComparePage::aChartIsExported() {
    QFETCH(QByteArray, begin);
    compare({kRunningRun, kFailedRun});
    QTRY_VERIFY(loss() && loss()->curves().size() == 2);
    auto* plot = loss()->findChild<QWidget*>("plot");
    QContextMenuEvent event(QContextMenuEvent::Mouse, QPoint(50, 50),
                            plot->mapToGlobal(QPoint(50, 50)));
    QCoreApplication::sendEvent(plot, &event);
    const QByteArray name = QByteArray("export.") + QTest::currentDataTag();
    auto* action = loss()->findChild<QAction*>(name.constData());
    QVERIFY(action);
    action->trigger();
    QTRY_VERIFY(find<QFileDialog>("compareExportDialog"));
    if (QWidget* menu = QApplication::activePopupWidget())
        menu->close();
    QTemporaryDir folder;
    const QString path = folder.filePath("chart"); // its ending is added
    auto* dialog = find<QFileDialog>("compareExportDialog");
    dialog->findChild<QLineEdit*>("fileNameEdit")->setText(path);
    QVERIFY(QMetaObject::invokeMethod(dialog, "accept"));
    const auto said = [this] { return find<QWidget>("toast")->accessibleName(); };
    QTRY_VERIFY2_WITH_TIMEOUT(said().contains(path), qPrintable(said()), 20'000);
    QFile file(path + '.' + QTest::currentDataTag());
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray written = file.readAll();
    QVERIFY2(written.startsWith(begin), written.left(80).constData());
    if (name.endsWith("csv"))
        for (const QString& run : {QString(kRunningRun), QString(kFailedRun)})
            QVERIFY(written.contains((run + ",train/loss,0,").toUtf8()));
}

/// The page is made after the list of runs was read.
void TestComparePage::aRunThatWasDeletedMeanwhileIsNotCompared() {
    QSettings(m_demo->paths().settings(), QSettings::IniFormat)
        .setValue("compare/runs", QStringList{kFinishedRun, "gone"});
    MainWindow next(m_demo->engine(), m_demo->fleet(), m_demo->paths());
    QTRY_VERIFY(next.runs().isLoaded());
    QCOMPARE(next.comparePage().chosenRuns(), QStringList{kFinishedRun});
}

void TestComparePage::aDeletedRunLeaves() {
    compare({kFinishedRun, kFailedRun, kPausedRun});
    const auto deleted = m_demo->engine().ask(DeletedRequest{kFailedRun, true});
    QTRY_VERIFY(deleted.isFinished());
    QTRY_COMPARE(page().runs().size(), 2);
    QTRY_COMPARE(loss()->curves().size(), 2u);
}

void TestComparePage::severalRunsAreDeletedAndComeBack() {
    const QStringList before = ids();
    choose({kFinishedRun, kFailedRun});
    QTRY_VERIFY(find<QPushButton>("deleteRun")->isEnabled());
    QTest::mouseClick(find<QPushButton>("deleteRun"), Qt::LeftButton);
    QTRY_COMPARE(ids().size(), 4);
    QTRY_COMPARE(find<QWidget>("toast")->accessibleName(), QString("2 runs deleted"));
    find<QPushButton>("toastAction")->click();
    QTRY_COMPARE(ids(), before);
    choose({kRunningRun, kPreparingRun});
    QVERIFY(!find<QPushButton>("deleteRun")->isEnabled());
}

void TestComparePage::sixteenAreTheMost() {
    QStringList many;
    for (int run = 0; run < 20; ++run)
        many << "run-" + QString::number(run);
    page().setRuns(many);
    QCOMPARE(page().runs().size(), static_cast<qsizetype>(ComparePage::kMostRuns));
    QCOMPARE(page().chosenRuns().size(), 20); // the other views have all
    QVERIFY(find<QWidget>("toast")->accessibleName().contains("16 of 20"));
    QSet<std::pair<int, int>> styles;
    RunStyles apart(m_demo->paths().settings());
    for (const QString& run : page().runs())
        styles << std::pair(apart.of(run).colour, static_cast<int>(apart.of(run).dash));
    QCOMPARE(styles.size(), static_cast<qsizetype>(ComparePage::kMostRuns));
}

void TestComparePage::aRunHasOneColourEverywhere() {
    compare({kFinishedRun, kFailedRun, kPausedRun, kRunningRun});
    QTRY_COMPARE(loss()->curves().size(), 4u);
    RunStyles styles(m_demo->paths().settings());
    const auto isIn = [](const QVariant& decoration, const RunStyle& style) {
        return decoration.value<QPixmap>().toImage() == runSwatch(style).toImage();
    };
    const auto* rows = find<Table>("runsTable")->model();
    QSet<std::pair<int, int>> all;
    for (const QString& run : page().runs()) {
        const RunStyle style = styles.of(run);
        const QModelIndex row = rows->index(static_cast<int>(ids().indexOf(run)), 0);
        QVERIFY2(isIn(row.data(Qt::DecorationRole), style), qPrintable(run));
        const auto curve =
            std::ranges::find(loss()->curves(), row.data().toString(), &Curve::brief);
        QVERIFY(curve != loss()->curves().end());
        QCOMPARE(curve->colour, style.colour);
        QCOMPARE(curve->dash, style.dash);
        all << std::pair(style.colour, static_cast<int>(style.dash));
    }
    QCOMPARE(all.size(), 4); // none looks like another one
}

void TestComparePage::bothPagesHaveTheSameBar() {
    compare({kFinishedRun, kFailedRun});
    m_demo->window().runPage(); // makes it
    const auto axes = [](const QComboBox& box) {
        QStringList texts;
        for (int at = 0; at < box.count(); ++at)
            texts << box.itemText(at);
        return texts;
    };
    QCOMPARE(axes(*find<QComboBox>("compareAxis")), axes(*find<QComboBox>("chartsAxis")));
    QCOMPARE(axes(*find<QComboBox>("compareAxis")).size(), 5);
    const auto kinds = [this](const char* name) { return find<QMenu>(name)->actions().size(); };
    QCOMPARE(kinds("compareKinds"), 4);
    QCOMPARE(kinds("chartsKinds"), 4);
    QTRY_VERIFY(find<QPushButton>("compareKind")->text().endsWith("steps"));
    const QVector<double> before = loss()->curves().front().y;
    find<QMenu>("compareKinds")->actions().last()->trigger();
    QTRY_VERIFY(loss()->curves().front().y != before);
    QVERIFY(find<QPushButton>("compareKind")->text().startsWith("median"));
    MainWindow again(m_demo->engine(), m_demo->fleet(), m_demo->paths()); // it is kept
    QVERIFY(
        again.comparePage().findChild<QPushButton*>("compareKind")->text().startsWith("median"));
}

/// The first step whose loss is stored as below that.
double TestComparePage::firstBelow(const QString& run, double loss) const {
    const auto reader = StoreReader::open(m_demo->engine().databasePath()).value();
    for (const Point& point : reader->points(run, {"train/loss", 0}))
        if (static_cast<double>(point.value) < loss)
            return static_cast<double>(point.step);
    return 0;
}

/// The step of the run that is the 0 of the axis; -1: it has no line.
double TestComparePage::originOf(const QString& run) const {
    const QString name = m_demo->window().runs().find(run)->name;
    const auto& curves = loss()->curves();
    const auto curve = std::ranges::find(curves, name, &Curve::brief);
    return curve == curves.end() || curve->x.isEmpty() ? -1
                                                       : curve->steps.front() - curve->x.front();
}

/// Both pass 4; only the finished one passes 2.
void TestComparePage::runsLieOverEachOtherFromAValue() {
    compare({kFinishedRun, kFailedRun});
    find<QComboBox>("compareAlign")->setCurrentIndex(static_cast<int>(Alignment::At::kValue));
    QVERIFY(m_demo->window().focusWidget() == find<QLineEdit>("compareAlignAt"));
    QVERIFY(loss()->lineMarks().empty()); // nothing is typed yet
    find<QLineEdit>("compareAlignAt")->setText("loss < 4");
    const auto startsBefore = [](const Curve& curve) {
        return !curve.x.isEmpty() && curve.x.front() < 0 && curve.x.back() > 0;
    };
    QTRY_VERIFY(loss()->curves().size() == 2 &&
                std::ranges::all_of(loss()->curves(), startsBefore));
    for (const QString& run : {kFinishedRun, kFailedRun}) {
        QVERIFY(firstBelow(run, 4) > 1);
        QTRY_COMPARE(originOf(run), firstBelow(run, 4));
    }
    QCOMPARE(loss()->lineMarks().size(), size_t(1));
    find<QLineEdit>("compareAlignAt")->setText("loss < 2");
    QTRY_COMPARE(loss()->curves().size(), size_t(1));
    QVERIFY(
        find<QLabel>("compareMissing")->text().contains("gpt 2×8 wide never has train/loss < 2"));
    find<QLineEdit>("compareAlignAt")->setText("loss");
    QTRY_VERIFY(find<QLineEdit>("compareAlignAt")->property("invalid").toBool());
    QVERIFY(find<QLabel>("compareAlignProblem")->isVisible());
    QVERIFY(find<QLabel>("compareAlignProblem")->text().contains("loss"));
    find<QComboBox>("compareAxis")->setCurrentIndex(static_cast<int>(XAxis::kWall));
    QTRY_COMPARE(loss()->curves().size(), size_t(2)); // the clock is the same for all
    QVERIFY(!find<QComboBox>("compareAlign")->isEnabled());
}

void TestComparePage::aRunWithoutEpochsSaysSo() {
    compare({kFinishedRun, kFailedRun});
    find<QComboBox>("compareAxis")->setCurrentIndex(static_cast<int>(XAxis::kEpoch));
    const auto* missing = find<QLabel>("compareMissing");
    QTRY_COMPARE(missing->text().count("has no epochs"), 1);
    QVERIFY2(missing->text().contains("1 other run"), qPrintable(missing->text()));
    for (const char* run : {"gpt-tiny", "gpt 2×8 wide"})
        QVERIFY(missing->toolTip().contains(QString(run) + " has no epochs"));
    QVERIFY(loss()->curves().empty());
    find<QComboBox>("compareAxis")->setCurrentIndex(static_cast<int>(XAxis::kWork));
    QTRY_COMPARE(loss()->curves().size(), size_t(2));
    QVERIFY(find<QLabel>("compareMissing")->text().isEmpty());
    for (const Curve& curve : loss()->curves())
        QVERIFY(curve.x.front() >= 256 * curve.steps.front()); // tokens of at least one sample each
}

void TestComparePage::choose(const char* box, const QString& key) const {
    auto* keys = find<KeyBox>(box);
    QTRY_VERIFY(keys->findText(key) >= 0);
    keys->setCurrentIndex(keys->findText(key));
    Q_EMIT keys->activated(keys->currentIndex());
}

void TestComparePage::showValues(ComparePage::View view) const {
    m_demo->window().showCompare();
    page().showView(view);
}

void TestComparePage::aDotOpensItsRun() {
    showValues(ComparePage::kScatter);
    choose("scatterX", "train/loss");
    choose("scatterY", "best:validation/loss");
    auto* plot = find<ScatterPlot>("scatterPlot");
    QTRY_COMPARE(plot->dots(), size_t(5)); // one run has reported nothing
    QTRY_VERIFY(plot->pixelOf(kFinishedRun).has_value());
    auto* area = plot->findChild<QWidget*>("plot");
    const auto isPointedAt = [&] { // once it is laid out
        QTest::mouseMove(area, *plot->pixelOf(kFinishedRun));
        return plot->pointedRun() == kFinishedRun;
    };
    QTRY_VERIFY(isPointedAt());
    QVERIFY(area->accessibleDescription().contains("gpt-tiny"));
    QTest::keyClick(area, Qt::Key_Right);
    QVERIFY(plot->pointedRun() != kFinishedRun);
    QTest::mouseClick(area, Qt::LeftButton, {}, *plot->pixelOf(kFinishedRun));
    QTRY_VERIFY(m_demo->window().runPage().isVisible());
}

void TestComparePage::aLogarithmNeedsNumbersAboveZero() {
    showValues(ComparePage::kScatter);
    choose("scatterX", "optimizer.lr");
    choose("scatterY", "optimizer.type");
    QTRY_VERIFY(find<QPushButton>("scatterLogX")->isEnabled());
    QTRY_VERIFY(!find<QPushButton>("scatterLogY")->isEnabled());
    QTRY_COMPARE(find<ScatterPlot>("scatterPlot")->dots(), size_t(6));
    auto* box = find<KeyBox>("scatterX");
    box->setEditText("no-such-key");
    Q_EMIT box->activated(0);
    QVERIFY(box->property("invalid").toBool());
    QVERIFY(box->toolTip().contains("no-such-key"));
}

void TestComparePage::rangesOfParallelAxesCombine() {
    showValues(ComparePage::kParallel);
    choose("addAxis", "train/loss");
    auto* plot = find<ParallelPlot>("parallelPlot");
    QTRY_VERIFY(plot->axes().size() >= 2 && plot->kept() == 6);
    const auto axisOf = [&](const QString& title) {
        return static_cast<size_t>(std::ranges::find(plot->axes(), title, &PlotScale::title) -
                                   plot->axes().begin());
    };
    QTRY_VERIFY(axisOf("train/loss") < plot->axes().size());
    const size_t loss = axisOf("train/loss"), best = axisOf("best:validation/loss");
    QVERIFY(loss < plot->axes().size() && best < plot->axes().size());
    auto* area = plot->findChild<QWidget*>("plot");
    QTest::mousePress(area, Qt::LeftButton, {}, plot->pixelOf(loss, 0.02));
    QTest::mouseMove(area, plot->pixelOf(loss, 0.4));
    QTest::mouseMove(area, plot->pixelOf(loss, 0.8));
    QTest::mouseRelease(area, Qt::LeftButton, {}, plot->pixelOf(loss, 0.8));
    QTRY_VERIFY(plot->range(loss).has_value());
    const size_t kept = plot->kept();
    QVERIFY(kept > 0 && kept < 6);
    QVERIFY(find<QLabel>("keptRuns")->text().contains(QString("%1 of 6").arg(kept)));
    plot->setRange(best, std::pair(0.0, 0.0)); // the best run alone, which the other one leaves out
    QCOMPARE(plot->kept(), size_t(0));
    plot->setRange(best, std::nullopt);
    QCOMPARE(plot->kept(), kept);
    QTest::keyClick(area, Qt::Key_Escape);
    QCOMPARE(plot->kept(), size_t(6));
    QTest::keyClick(area, Qt::Key_Right); // the first axis
    QTest::keyClick(area, Qt::Key_Up);
    QVERIFY(plot->range(0).has_value() && plot->range(0)->first > 0);
}

void TestComparePage::axesAreOfTheRunsUnlessTheyAreChosen() {
    page().setRuns({kFinishedRun});
    showValues(ComparePage::kParallel);
    auto* plot = find<ParallelPlot>("parallelPlot");
    QTRY_COMPARE(plot->axes().size(), size_t(1)); // one run differs in nothing
    page().setRuns({kFinishedRun, kFailedRun, kPicturesRun});
    QTRY_VERIFY(plot->axes().size() > 1);
    const size_t told = plot->axes().size();
    choose("addAxis", "train/loss");
    QTRY_COMPARE(plot->axes().size(), told + 1);
    page().setRuns({kFinishedRun});
    QTRY_COMPARE(plot->kept(), size_t(1));
    QCOMPARE(plot->axes().size(), told + 1);
}

void TestComparePage::aFilterTakesRunsThatAreNotChosen() {
    page().setRuns({kFinishedRun, kFailedRun});
    showValues(ComparePage::kScatter);
    choose("scatterX", "train/loss");
    choose("scatterY", "train/loss");
    auto* plot = find<ScatterPlot>("scatterPlot");
    QTRY_COMPARE(plot->dots(), size_t(2));
    find<QLineEdit>("compareFilter")->setText("loss < 2");
    QTRY_VERIFY(!plot->pixelOf(kFailedRun) && plot->pixelOf(kPicturesRun));
    QVERIFY(saveFilter(m_demo->paths(), {"none", "tag:none-is-called-so"}));
    find<QLineEdit>("compareFilter")->setText("@none");
    QTRY_COMPARE(plot->dots(), size_t(0));
    find<QLineEdit>("compareFilter")->setText("@loss");
    QVERIFY(find<QLineEdit>("compareFilter")->property("invalid").toBool());
    find<QLineEdit>("compareFilter")->setText("loss <");
    QTRY_VERIFY(find<QLineEdit>("compareFilter")->property("invalid").toBool());
    find<QLineEdit>("compareFilter")->setText("tag:none-is-called-so");
    QTRY_COMPARE(plot->dots(), size_t(0));
    find<QLineEdit>("compareFilter")->clear();
    QTRY_COMPARE(plot->dots(), size_t(2));
}

void TestComparePage::archivedRunsAreNotOfferedUnasked() {
    const auto archived = m_demo->engine().ask(ArchiveRequest{kFailedRun, true});
    QTRY_VERIFY(archived.isFinished());
    QTRY_COMPARE(ids().size(), 5);
    showValues(ComparePage::kScatter);
    choose("scatterX", "train/loss");
    choose("scatterY", "train/loss");
    auto* plot = find<ScatterPlot>("scatterPlot");
    QTRY_COMPARE(plot->dots(), size_t(4)); // of the others one has reported nothing
    QVERIFY(!plot->pixelOf(kFailedRun));
    find<QPushButton>("addCompared")->click();
    QCOMPARE(find<QMenu>("addComparedMenu")->actions().size(), 5);
    find<QMenu>("addComparedMenu")->close();
    find<QLineEdit>("compareFilter")->setText("archived:yes");
    QTRY_COMPARE(plot->dots(), size_t(1));
    find<QLineEdit>("compareFilter")->clear();
    page().setRuns({kFailedRun, kFinishedRun}); // it is asked for
    QTRY_COMPARE(plot->dots(), size_t(2));
}

void TestComparePage::theValuesOpenAsATable() {
    showValues(ComparePage::kScatter);
    choose("scatterY", "optimizer.type");
    QTRY_COMPARE(find<ScatterPlot>("scatterPlot")->dots(), size_t(6));
    choose("scatterX", "optimizer.lr");
    choose("scatterY", "train/loss");
    QTRY_COMPARE(find<ScatterPlot>("scatterPlot")->dots(), size_t(5));
    for (auto* button : page().findChildren<QPushButton*>("valuesTable"))
        if (button->isVisible())
            button->click();
    QTRY_VERIFY(find<Table>("runTable"));
    auto* table = find<Table>("runTable");
    QCOMPARE(table->model()->rowCount(), 6);
    QCOMPARE(table->model()->headerData(1, Qt::Horizontal).toString(), QString("optimizer.lr"));
    table->sortByColumn(2, Qt::DescendingOrder);
    double before = qInf();
    for (int row = 0; row < 5; ++row) {
        const QModelIndex loss = table->model()->index(row, 2);
        QVERIFY(loss.data(kSortRole).toDouble() <= before);
        before = loss.data(kSortRole).toDouble();
        QVERIFY(loss.data(Qt::TextAlignmentRole).toInt() & Qt::AlignRight);
        QVERIFY2(loss.data().toString().size() <= 6, qPrintable(loss.data().toString()));
    }
    QVERIFY(!table->model()->index(5, 2).data(kSortRole).isValid()); // it has reported nothing
}

void TestComparePage::hundredsOfRunsAreShown() {
    constexpr int kMany = 300;
    m_demo = std::make_unique<WindowFixture>([](StoreWriter& writer) -> Result<void> {
        for (int run = 0; run < kMany; ++run) {
            const auto id = QString("run-%1").arg(run);
            const std::string toml = "seed = " + std::to_string(run) +
                                     "\n[optimizer]\nlr = " + std::to_string(0.001 * (1 + run)) +
                                     "\n";
            if (auto made = writer.createRun({id, id, toml, {{0, "this-computer", 1, 0}}, {}, 0});
                !made)
                return made;
        }
        return {};
    });
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    m_demo->window().show();
    QTRY_COMPARE(ids().size(), kMany);
    QStringList runs = ids();
    runs.removeLast();
    page().setRuns(runs); // of which sixteen have curves
    showValues(ComparePage::kScatter);
    QTRY_COMPARE(find<ScatterPlot>("scatterPlot")->dots(), size_t(kMany - 1));
    showValues(ComparePage::kParallel);
    auto* plot = find<ParallelPlot>("parallelPlot");
    QTRY_COMPARE(plot->kept(), size_t(kMany - 1));
    plot->setRange(0, std::pair(0.0, 0.5));
    QVERIFY(plot->kept() > 100 && plot->kept() < 200);
}

void TestComparePage::branchesHangFromTheirParents() {
    m_demo = std::make_unique<WindowFixture>([](StoreWriter& writer) {
        const auto create = [&](const QString& id, double lr, const QString& parent, int64_t step) {
            return writer.createRun({id,
                                     id,
                                     "[optimizer]\nlr = " + std::to_string(lr) + "\n",
                                     {{0, "this-computer", 1, 0}},
                                     parent,
                                     step});
        };
        return create("root-1", 0.002, {}, 0)
            .and_then([&] { return create("branch-1", 0.001, "root-1", 40); })
            .and_then([&] { return create("other-1", 0.002, {}, 0); });
    });
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    m_demo->window().show();
    QTRY_COMPARE(ids().size(), 3);
    m_demo->window().showCompare();
    page().setRuns({"other-1", "root-1"});
    page().showLineageOf("branch-1");
    QTRY_VERIFY(page().chosenRuns().contains("branch-1"));
    find<QPushButton>("toastAction")->click(); // the way back
    QCOMPARE(page().chosenRuns(), QStringList({"other-1", "root-1"}));
    page().showLineageOf("branch-1");
    auto* lineage = find<LineageTable>("lineage");
    QTRY_COMPARE(lineage->model()->rowCount(), 2);
    const auto cell = [&](int row, int column) {
        return lineage->model()->index(row, column).data().toString();
    };
    QCOMPARE(cell(0, 0), QString("root-1"));
    QCOMPARE(cell(1, 0), QString("branch-1"));
    QCOMPARE(cell(1, 2), QString("optimizer.lr 0.002 → 0.001"));
    QVERIFY(lineage->model()
                ->index(1, 1)
                .data(Qt::AccessibleTextRole)
                .toString()
                .contains("from 40 of root-1"));
    QSignalSpy opened(&page(), &ComparePage::runChosen);
    lineage->setCurrentIndex(lineage->model()->index(0, 0));
    QTest::keyClick(lineage, Qt::Key_Return);
    QCOMPARE(opened.size(), 1);
    QCOMPARE(opened.front().front().toString(), QString("root-1"));
}

void TestComparePage::lineageThatGrowsKeepsTheChosenRow() {
    RunStyles styles(m_demo->paths().settings());
    LineageTable table(styles);
    const auto showUpTo = [&](int64_t step) {
        LineageRun root, branch;
        root.run.id = "root-1";
        branch.run.id = "branch-1";
        branch.parent = 0;
        branch.run.step = step;
        branch.attempts = {{.attempt = 1}, {.attempt = 2}};
        table.show({root, branch});
    };
    const auto steps = [&] {
        return table.model()->index(1, 1).data(Qt::AccessibleTextRole).toString();
    };
    showUpTo(10);
    QCOMPARE(table.model()->rowCount(), 4);
    table.setCurrentIndex(table.model()->index(1, 0));
    const QString before = steps();
    showUpTo(20);
    QVERIFY(steps() != before && steps().endsWith("20"));
    QCOMPARE(table.currentIndex().row(), 1);
    QCOMPARE(table.currentRow(), 1);
    QCOMPARE(table.model()->index(3, 0).data().toString(), QString("attempt 2"));
}

void TestComparePage::settingsAndMetricsAreColumns() {
    auto* table = find<Table>("runsTable");
    const int before = table->model()->columnCount();
    find<QPushButton>("chooseColumns")->click();
    QTRY_VERIFY(find<QListWidget>("columnList"));
    auto* list = find<QListWidget>("columnList");
    QTRY_VERIFY(!list->findItems("best:validation/loss", Qt::MatchExactly).isEmpty());
    find<QLineEdit>("findColumn")->setText("optimizer.lr");
    for (const char* key : {"optimizer.lr", "best:validation/loss"})
        list->findItems(key, Qt::MatchExactly).front()->setCheckState(Qt::Checked);
    QVERIFY(list->findItems("train.steps", Qt::MatchExactly).front()->isHidden());
    find<QPushButton>("showColumns")->click();
    QTRY_COMPARE(table->model()->columnCount(), before + 2);
    const auto row = static_cast<int>(ids().indexOf(kFinishedRun));
    const auto cell = [&](int column) { return table->model()->index(row, column).data(); };
    QTRY_COMPARE(cell(before).toString(), QString("0.001"));
    QVERIFY2(cell(before + 1).toString().startsWith("1.7"),
             qPrintable(cell(before + 1).toString()));
    QCOMPARE(table->model()->headerData(before, Qt::Horizontal).toString(), QString("lr"));
    MainWindow again(m_demo->engine(), m_demo->fleet(), m_demo->paths()); // they are kept
    QCOMPARE(again.findChild<Table*>("runsTable")->model()->columnCount(), before + 2);
}

void TestComparePage::conditionsFilterTheRuns() {
    auto* filter = find<QLineEdit>("runsFilter");
    filter->setText("loss < 1");
    QTRY_COMPARE(ids(), QStringList{kPicturesRun});
    filter->setText("train.steps >= 4000 tag:wmt");
    QTRY_COMPARE(ids(), QStringList{kRunningRun});
    filter->setText("learning_rat < 1");
    QTRY_VERIFY(filter->property("invalid").toBool());
    QVERIFY2(filter->toolTip().contains("learning_rat"), qPrintable(filter->toolTip()));
    QCOMPARE(ids(), QStringList{kRunningRun}); // as it was
    filter->clear();
    QTRY_COMPARE(ids().size(), 6);
    QVERIFY(!filter->property("invalid").toBool());
}

QTEST_MAIN(TestComparePage)
#include "tst_compare_page.moc"
