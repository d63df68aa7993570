// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/run_figures.h"
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "app/ui/data/timeline.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/plot/heat_map.h"
#include "app/ui/plot/line_chart.h"
#include "app/ui/plot/plot_scale.h"
#include "app/ui/plot/plot_style.h"
#include "tests/gui/support/demo_run.h"
#include "tests/gui/support/widget_audit.h"

#include <QAbstractItemView>
#include <QAction>
#include <QContextMenuEvent>
#include <QDialog>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <numeric>
#include <random>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kStart = 1'700'000'000 * kSecond;
constexpr int kSlowRank = 1;

Curve curveOf(const QString& brief, const QVector<double>& x, const QVector<double>& y) {
    return {.name = "train/loss", .brief = brief, .colour = 0, .x = x, .y = y, .steps = x};
}

QVector<double> upTo(int last) {
    QVector<double> x(last);
    std::iota(x.begin(), x.end(), 1);
    return x;
}

ChartView viewTo(double high) {
    ChartView view;
    view.high = high;
    return view;
}

/// How rough a line is: the mean of its jumps.
double roughness(const QVector<double>& y) {
    double sum = 0;
    for (qsizetype i = 1; i < y.size(); ++i)
        sum += std::abs(y[i] - y[i - 1]);
    return sum / static_cast<double>(y.size() - 1);
}

ValueScale scaleBetween(const std::vector<double>& values) {
    ValueScale scale{values};
    scale.least = qInf();
    scale.most = -qInf();
    for (const double value : values)
        if (!std::isnan(value)) {
            scale.least = std::min(scale.least, value);
            scale.most = std::max(scale.most, value);
        }
    return scale;
}

} // namespace

/// What charts read from the store, and what a person reads from charts.
class TestCurves : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup();

    void valuesStayWhileSamplesArrive();
    void valuesAreThoseOfTheDrawnPoint();
    void aValueThatStandsElsewhereSaysWhere();
    void valuesOfTheNewestPointComeBackWhenThePointerLeaves();
    void smoothedAndRawAreNamed();
    void ofManyLinesTheLowestAndTheHighestAreNamed();
    void whatALegendHasNoRoomForIsOpened_data();
    void whatALegendHasNoRoomForIsOpened();
    void aBandIsNamed();
    void whatIsNotReadYetSaysNothing();
    void aRemovedCheckpointIsAHollowMark();
    void oneSampleDrawsAPoint();
    void ticksOfStepsAreWholeNumbers_data();
    void ticksOfStepsAreWholeNumbers();
    void fewValuesHaveATickEach();
    void aLineAtZeroHasAScale();
    void ticksOfWholeValuesAreWhole();
    void aLogarithmicAxisIsLabelledAtItsEnds();
    void ticksAreToldApart_data();
    void ticksAreToldApart();

    void elevenPointsAreSmoothed();
    void smoothingSaysItsWindow();
    void eachKindOfSmoothingSmooths_data();
    void eachKindOfSmoothingSmooths();
    void aMedianIsNotMovedByAnOutlier();
    void whatLiesAheadCountsForAWindowOnly();
    void aSmoothedValueIsTheSameAtEveryZoom_data();
    void aSmoothedValueIsTheSameAtEveryZoom();
    void stepsComeBackFromAnyAxis_data();
    void stepsComeBackFromAnyAxis();
    void aTableHasWhatIsInSight();
    void aBandSpansWhatABucketHolds();
    void oneSlowStepIsSeenAtEveryZoom_data();
    void oneSlowStepIsSeenAtEveryZoom();
    void oneSlowStepIsDrawn();
    void anAxisOfTokensIsThatOfStepsScaled();
    void eachOfAFewRanksHasItsLine();
    void theRibbonOfManyRanksNamesItsEnds();
    void whatTheClockSampledStandsAtItsStep();
    void whatABranchSampledBeforeItsFirstStepIsLeftOut();
    void aTimeAxisHasNoLineAcrossAPause();
    void aBrokenLineIsNotDrawnBetween();
    void aMetricOfANodeIsNamedByIt();
    void whatNobodyForesawHasAChartOfItsOwn();
    void metricsOfOnePanelAndOtherUnitsAreParted();
    void bytesAndRatiosReadAsSuch();

    void tokensASecondAreThoseOfAllStepsByTheirTime();
    void aRankIsSlowOnlyOnceItIsForAWhile();
    void theFirstStepsOfAnAttemptMakeNoRankSlow();

    void aPauseTakesNoRoomInTheHeatMap();
    void whatWasAbandonedIsNotIdle();
    void aHoldTakesNoRoomInTheHeatMap();
    void stepsThatAreDoneWhileHeldAreTrained();
    void aRunThatIsHeldEndsWithAGap();
    void aRedFigureSaysWhy();
    void noFigureIsRedWhereRanksAreAlike();

private:
    void showChart(std::vector<Curve> curves, double high);
    void pointAt(double x);
    StoreReader& reader();
    DemoRun demo(const DemoShape& shape);
    void ingest(std::vector<Record> records, int node = 0);
    void sampleCpu(int64_t step, int64_t fromNs, int64_t toNs, float value);
    HeatData readHeatMap();
    void trainWithASlowStep(int ranks, int64_t steps, int64_t slowStep);
    void trainTwoRanks(int64_t first, int64_t last, float stepMs, float loadMs);
    std::vector<Curve> readPanel(const QString& panel, double smoothing = 0, int maxPoints = 1000,
                                 XAxis axis = XAxis::kStep,
                                 std::optional<std::pair<double, double>> range = {});

    std::unique_ptr<LineChart> m_chart;
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<StoreWriter> m_writer;
    std::unique_ptr<StoreReader> m_reader;
    DemoShape m_shape;
};

void TestCurves::init() {
    m_chart = std::make_unique<LineChart>("loss", "chartLoss");
    connect(m_chart.get(), &LineChart::pointed, m_chart.get(), &LineChart::setPointer);
    m_chart->resize(800, 300);
    m_folder = std::make_unique<QTemporaryDir>();
    auto writer = StoreWriter::open(m_folder->filePath("runs.sqlite"));
    QVERIFY(writer);
    m_writer = std::move(*writer);
    m_shape = {.id = "tiny-000001", .name = "tiny", .nodes = {{0, "this-computer", 2, 0}}};
    m_shape.gpus = false;
    m_shape.stepMs = 1000;
    m_shape.totalSteps = 1000;
}

void TestCurves::cleanup() {
    m_chart.reset();
    m_reader.reset();
    m_writer.reset();
}

void TestCurves::showChart(std::vector<Curve> curves, double high) {
    m_chart->show(std::move(curves), viewTo(high));
    m_chart->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_chart.get()));
}

/// With the mouse.
void TestCurves::pointAt(double x) {
    auto* plot = m_chart->findChild<QWidget*>("plot");
    QTest::mouseMove(plot, {m_chart->pixelOf(x, 0).x(), plot->height() / 2});
}

StoreReader& TestCurves::reader() {
    auto reader = StoreReader::open(m_folder->filePath("runs.sqlite"));
    m_reader = std::move(reader.value());
    return *m_reader;
}

DemoRun TestCurves::demo(const DemoShape& shape) {
    return DemoRun(*m_writer, shape);
}

void TestCurves::ingest(std::vector<Record> records, int node) {
    IngestBatch batch;
    batch.nodeIndex = node;
    batch.run = m_shape.id;
    batch.records = std::move(records);
    QVERIFY(m_writer->ingest(batch));
}

/// As an agent does: each second, whether steps are made or not.
void TestCurves::sampleCpu(int64_t step, int64_t fromNs, int64_t toNs, float value) {
    std::vector<Record> records;
    for (int64_t wallNs = fromNs; wallNs <= toNs; wallNs += kSecond)
        for (const int rank : {0, 1})
            records.push_back(Samples{rank, step, wallNs, {metric::kRankCpu}, {value}});
    ingest(std::move(records));
}

HeatData TestCurves::readHeatMap() {
    const auto run = reader().run(m_shape.id);
    return readHeat(*m_reader, {.run = run.value(), .startNs = kStart});
}

std::vector<Curve> TestCurves::readPanel(const QString& panel, double smoothing, int maxPoints,
                                         XAxis axis,
                                         std::optional<std::pair<double, double>> range) {
    ChartQuery query = queryOf(reader().run(m_shape.id).value());
    query.smoothing = {SmoothingKind::kEma, smoothing};
    query.maxPoints = maxPoints;
    query.map = {axis, kStart};
    query.range = range;
    query.panels = {panel};
    for (const PanelCurves& each : readPanels(*m_reader, query))
        if (each.panel.key == panel)
            return each.curves;
    return {};
}

void TestCurves::valuesStayWhileSamplesArrive() {
    const auto lossTo = [](int last) {
        QVector<double> y;
        for (int step = 1; step <= last; ++step)
            y << 10 - 0.5 * step;
        return std::vector<Curve>{curveOf("smoothed", upTo(last), y)};
    };
    showChart(lossTo(8), 8);
    pointAt(4);
    QCOMPARE(m_chart->values(), QStringList("smoothed 8.000"));
    for (int last = 9; last < 16; ++last)
        m_chart->show(lossTo(last), viewTo(last));
    QCOMPARE(m_chart->values(), QStringList("smoothed 8.000"));
}

void TestCurves::valuesAreThoseOfTheDrawnPoint() {
    showChart({curveOf("lr", {100, 200, 300}, {0.002, 0.0016, 0.0011})}, 300);
    pointAt(198);
    QCOMPARE(m_chart->values(), QStringList("lr 0.0016"));
    pointAt(170);
    QCOMPARE(m_chart->values(), QStringList("lr 0.0016"));
    pointAt(130);
    QCOMPARE(m_chart->values(), QStringList("lr 0.002"));
}

void TestCurves::aValueThatStandsElsewhereSaysWhere() {
    showChart({curveOf("smoothed", upTo(400), QVector<double>(400, 2)),
               curveOf("validation", {100, 200, 300, 400}, {4, 3, 2.5, 2.25})},
              400);
    pointAt(220);
    QCOMPARE(m_chart->values(), QStringList({"smoothed 2.000", "validation 3.000 at 200"}));
    pointAt(300);
    QCOMPARE(m_chart->values(), QStringList({"smoothed 2.000", "validation 2.500"}));
}

void TestCurves::valuesOfTheNewestPointComeBackWhenThePointerLeaves() {
    showChart({curveOf("smoothed", upTo(3), {3, 2, 1})}, 3);
    pointAt(1);
    QCOMPARE(m_chart->values(), QStringList("smoothed 3.000"));
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(m_chart->findChild<QWidget*>("plot"), &leave);
    QCOMPARE(m_chart->values(), QStringList("smoothed 1.000"));
}

void TestCurves::smoothedAndRawAreNamed() {
    Curve curve = curveOf("smoothed", upTo(2), {2, 1.903});
    curve.raw = {2, 1.81};
    showChart({curve}, 2);
    QCOMPARE(m_chart->values(), QStringList({"smoothed 1.903", "raw 1.810"}));
}

void TestCurves::ofManyLinesTheLowestAndTheHighestAreNamed() {
    std::vector<Curve> ranks;
    for (int rank = 0; rank < 8; ++rank)
        ranks.push_back(
            curveOf(QString("rank %1").arg(rank), {1}, {rank == 5 ? 1.0 : 10.0 + rank}));
    showChart(ranks, 1);
    QCOMPARE(m_chart->values(), QStringList({"low rank 5 1.0", "high rank 7 17"}));
}

void TestCurves::whatALegendHasNoRoomForIsOpened_data() {
    QTest::addColumn<bool>("byKey");
    QTest::newRow("by a click") << false;
    QTest::newRow("by a key") << true;
}

void TestCurves::whatALegendHasNoRoomForIsOpened() {
    QFETCH(bool, byKey);
    QStringList names;
    std::vector<Curve> curves;
    for (int run = 0; run < 5; ++run) {
        names << QString("a run with a long name, number %1").arg(run);
        curves.push_back(curveOf(names.back(), {1, 2}, {1, 1.0 + run}));
    }
    showChart(curves, 2);
    auto* rest = m_chart->findChild<QPushButton*>("legendRest");
    const auto* legend = m_chart->findChild<ChartLegend*>();
    QTRY_VERIFY(rest->isVisible());
    QCOMPARE(rest->text(), QString("+%1").arg(5 - legend->shownTexts().size()));
    QVERIFY(rest->toolTip().contains("number 4") && !rest->accessibleName().isEmpty());
    QVERIFY(rest->focusPolicy() & Qt::TabFocus);
    if (byKey)
        QTest::keyClick(rest, Qt::Key_Space);
    else
        rest->click();
    auto* all = m_chart->findChild<QDialog*>("legendValues");
    QVERIFY(all && all->isVisible());
    const auto texts = [all] {
        QStringList found;
        for (const QLabel* label : all->findChildren<QLabel*>())
            if (!label->isHidden())
                found << label->text();
        return found.join('\n');
    };
    for (const QString& name : names)
        QVERIFY2(texts().contains(name), qPrintable(texts()));
    curves.front().y = {1, 77};
    m_chart->show(curves, viewTo(2)); // a list that is open follows the values
    QTRY_VERIFY2(texts().contains("77"), qPrintable(texts()));
    QTest::keyClick(all, Qt::Key_Escape);
    QTRY_VERIFY(!m_chart->findChild<QDialog*>("legendValues"));
    showChart({curveOf("raw", {1, 2}, {1, 2})}, 2);
    QTRY_VERIFY(!rest->isVisible());
}

void TestCurves::aBandIsNamed() {
    Curve curve = curveOf("smoothed", upTo(2), {2, 1.5});
    curve.low = {1, 1.25};
    curve.high = {3, 1.75};
    showChart({curve}, 2);
    const QString name = m_chart->findChild<ChartLegend*>()->accessibleName();
    QVERIFY2(name.contains("least 1.250") && name.contains("most 1.750"), qPrintable(name));
}

void TestCurves::whatIsNotReadYetSaysNothing() {
    auto* plot = m_chart->findChild<QWidget*>("plot");
    const auto ink = [plot] { return inkOf(plot->grab().toImage()); };
    m_chart->setUnread(viewTo(10));
    m_chart->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_chart.get()));
    QCOMPARE(plot->accessibleDescription(), QString());
    const double silent = ink();
    m_chart->show({}, viewTo(10));
    QCOMPARE(plot->accessibleDescription(), QString("no points yet"));
    QTRY_VERIFY(ink() > silent);
}

void TestCurves::aRemovedCheckpointIsAHollowMark() {
    RunHistory history;
    StoredCheckpoint removed;
    removed.saved.step = 50;
    removed.removed = true;
    history.checkpoints = {removed};
    const std::vector<Mark> marks = chartMarks(history);
    QCOMPARE(marks.size(), size_t(1));
    QVERIFY(marks.front().removed);
    QVERIFY2(marks.front().text.endsWith("removed"), qPrintable(marks.front().text));
    showChart({curveOf("raw", {1, 100}, {1, 1})}, 100);
    const auto colourInside = [this] { // the triangle stands above the axes
        const QImage image = m_chart->findChild<QWidget*>("plot")->grab().toImage();
        const QPoint foot = m_chart->pixelOf(50, m_chart->shownY().second);
        return image.pixelColor(foot + QPoint(0, -2));
    };
    m_chart->setMarks(marks);
    QTRY_COMPARE(colourInside().rgb(), colours().card.rgb());
    Mark there = marks.front();
    there.removed = false;
    m_chart->setMarks({there});
    QTRY_COMPARE(colourInside().rgb(), colours().accent.rgb());
}

void TestCurves::oneSampleDrawsAPoint() {
    showChart({curveOf("smoothed", {1}, {5})}, 2);
    const QImage image = m_chart->findChild<QWidget*>("plot")->grab().toImage();
    QCOMPARE(image.pixelColor(m_chart->pixelOf(1, 5)).rgb(), colours().series[0].rgb());
}

void TestCurves::ticksOfStepsAreWholeNumbers_data() {
    QTest::addColumn<double>("low");
    QTest::addColumn<double>("high");
    QTest::newRow("one step") << 0.0 << 1.01;
    QTest::newRow("three steps") << 0.0 << 3.03;
    QTest::newRow("eleven steps") << 0.0 << 11.1;
    QTest::newRow("zoomed in far out") << 8412.0 << 8419.0;
}

void TestCurves::ticksOfStepsAreWholeNumbers() {
    QFETCH(double, low);
    QFETCH(double, high);
    const auto [ticks, labels] = ticksBetween(*xTicker(XAxis::kStep), low, high);
    for (const double tick : ticks)
        QCOMPARE(tick, std::round(tick));
    for (qsizetype i = 0; i < ticks.size(); ++i)
        QCOMPARE(labels[i], formatCount(std::llround(ticks[i])));
}

void TestCurves::fewValuesHaveATickEach() {
    const auto ticks = ticksOf({"train.batch_size", scaleBetween({4, 8, 8, NAN})}, 10);
    QCOMPARE(ticks.size(), size_t(2));
    QCOMPARE(ticks.front().text, QString("4"));
    QCOMPARE(ticks.back().text, QString("8"));
    QCOMPARE(ticks.back().share, 1.0);
}

void TestCurves::aLineAtZeroHasAScale() {
    showChart({curveOf("", upTo(10), QVector<double>(10, 0.0))}, 10);
    QCOMPARE(m_chart->shownY().first, 0.0);
    QVERIFY(m_chart->shownY().second > 1 && m_chart->shownY().second < 2);
}

void TestCurves::ticksOfWholeValuesAreWhole() {
    const auto ticks = ticksOf({"seed", scaleBetween({1, 2, 3, 4})}, 3);
    QVERIFY(ticks.size() >= 2);
    for (const ScaleTick& tick : ticks)
        QVERIFY2(!tick.text.contains('.'), qPrintable(tick.text));
}

void TestCurves::aLogarithmicAxisIsLabelledAtItsEnds() {
    const auto ticks = ticksOf({"lr", scaleBetween({0.003, 0.02, 0.1, 0.7, 3.3}), true}, 4);
    for (const double end : {0.0, 1.0})
        QVERIFY(std::ranges::any_of(
            ticks, [&](const ScaleTick& tick) { return std::abs(tick.share - end) < 0.1; }));
}

void TestCurves::ticksAreToldApart_data() {
    QTest::addColumn<double>("low");
    QTest::addColumn<double>("high");
    QTest::newRow("nearly constant") << 5.55 << 5.56;
    QTest::newRow("thousands") << 51'480.0 << 51'510.0;
    QTest::newRow("learning rates") << 0.0 << 0.002;
    QTest::newRow("warm-up") << 0.0 << 0.00103;
    QTest::newRow("small rates") << 2.0e-4 << 2.2e-4;
}

void TestCurves::ticksAreToldApart() {
    QFETCH(double, low);
    QFETCH(double, high);
    const auto [ticks, labels] = ticksBetween(*figureTicker(), low, high);
    QVERIFY(ticks.size() > 2);
    QCOMPARE(QSet<QString>(labels.begin(), labels.end()).size(), labels.size());
    for (const QString& label : labels)
        QVERIFY2(label.size() <= 7, qPrintable(label)); // there is no room for more
}

void TestCurves::elevenPointsAreSmoothed() {
    DemoRun run = demo(m_shape);
    QVERIFY(run.create() && run.train(1, 1, 11, kStart));
    const Curve loss = readPanel("loss", 0.93).front();
    QCOMPARE(loss.y.size(), 11);
    QVERIFY2(roughness(loss.y) < roughness(loss.raw) / 3,
             qPrintable(QString("%1 of %2").arg(roughness(loss.y)).arg(roughness(loss.raw))));
}

void TestCurves::smoothingSaysItsWindow() {
    m_shape.stepMs = 10;
    DemoRun run = demo(m_shape);
    QVERIFY(run.create() && run.train(1, 1, 500, kStart));
    const Curve loss = readPanel("loss", 0.9).front();
    QVERIFY2(std::abs(loss.window - 10) < 0.1, qPrintable(QString::number(loss.window)));
    QCOMPARE(loss.brief, "smoothed");
    QVERIFY(!loss.raw.isEmpty());
    const Curve raw = readPanel("loss", 0).front();
    QCOMPARE(raw.window, 0);
    QCOMPARE(raw.brief, "raw");
}

void TestCurves::eachKindOfSmoothingSmooths_data() {
    QTest::addColumn<SmoothingKind>("kind");
    QTest::newRow("moving average") << SmoothingKind::kEma;
    QTest::newRow("mean") << SmoothingKind::kMean;
    QTest::newRow("Gaussian") << SmoothingKind::kGaussian;
    QTest::newRow("median") << SmoothingKind::kMedian;
}

void TestCurves::eachKindOfSmoothingSmooths() {
    QFETCH(SmoothingKind, kind);
    std::mt19937 random(7);
    std::normal_distribution<double> noise;
    QVector<double> y;
    for (int step = 0; step < 500; ++step)
        y << 10 + noise(random);
    y[250] = qQNaN();
    const QVector<double> out = smoothed(upTo(500), y, {kind, 0.9}, 1);
    QCOMPARE(out.size(), y.size());
    QVERIFY(std::isnan(out[250]));
    QVector<double> finite, smooth;
    for (qsizetype i = 0; i < y.size(); ++i)
        if (i != 250) {
            finite << y[i];
            smooth << out[i];
        }
    QVERIFY2(roughness(smooth) < roughness(finite) / 3,
             qPrintable(QString::number(roughness(smooth))));
    for (const double value : smooth)
        QVERIFY(std::abs(value - 10) < 3.5);
    QCOMPARE(smoothed(upTo(500), finite, {kind, 0}, 1), finite);
    const QVector<double> level(100, 4.0); // what is constant stays so, from its first point on
    for (const double value : smoothed(upTo(100), level, {kind, 0.97}, 1))
        QVERIFY(std::abs(value - 4) < 1e-12);
}

void TestCurves::aMedianIsNotMovedByAnOutlier() {
    QVector<double> y(200, 2.0);
    y[100] = 1e6;
    for (const double value : smoothed(upTo(200), y, {SmoothingKind::kMedian, 0.9}, 1))
        QCOMPARE(value, 2.0);
    QVERIFY(smoothed(upTo(200), y, {SmoothingKind::kMean, 0.9}, 1)[100] > 1000);
}

void TestCurves::whatLiesAheadCountsForAWindowOnly() {
    QVector<double> y(200, 0.0);
    std::fill(y.begin() + 100, y.end(), 1.0);
    QCOMPARE(smoothed(upTo(200), y, {SmoothingKind::kEma, 0.9}, 1)[99], 0.0);
    QVERIFY(smoothed(upTo(200), y, {SmoothingKind::kMean, 0.9}, 1)[99] > 0.3);
    QVERIFY(smoothed(upTo(200), y, {SmoothingKind::kGaussian, 0.9}, 1)[99] > 0.3);
    QCOMPARE(smoothed(upTo(200), y, {SmoothingKind::kMean, 0.9}, 1)[90], 0.0); // too far away
}

void TestCurves::aSmoothedValueIsTheSameAtEveryZoom_data() {
    QTest::addColumn<SmoothingKind>("kind");
    QTest::addColumn<double>("weight");
    QTest::addColumn<int>("every"); // steps a sample
    QTest::addColumn<double>("within");
    QTest::newRow("an average") << SmoothingKind::kEma << 0.9 << 1 << 0.01;
    QTest::newRow("an average that reaches further than what is drawn")
        << SmoothingKind::kEma << 0.99 << 1 << 0.01;
    QTest::newRow("a mean") << SmoothingKind::kMean << 0.97 << 1 << 0.01;
    QTest::newRow("a Gaussian") << SmoothingKind::kGaussian << 0.97 << 1 << 0.01;
    // That of means of a few values is another one than that of the values.
    QTest::newRow("a median") << SmoothingKind::kMedian << 0.97 << 1 << 0.15;
    QTest::newRow("one sample in sight") << SmoothingKind::kEma << 0.9 << 50 << 0.01;
}

void TestCurves::aSmoothedValueIsTheSameAtEveryZoom() {
    QFETCH(SmoothingKind, kind);
    QFETCH(double, weight);
    QFETCH(int, every);
    QFETCH(double, within);
    constexpr int kSteps = 20'000;
    constexpr double kScatter = 1;
    m_shape.totalSteps = kSteps;
    QVERIFY(demo(m_shape).create());
    QVector<double> steps, values;
    std::vector<Record> records;
    std::mt19937 random(1);
    for (int step = every; step <= kSteps; step += every) {
        const float value = static_cast<float>(random() % 1000) / 1000 * kScatter +
                            (step > kSteps / 2 && kind != SmoothingKind::kMedian ? 2.0F : 4.0F);
        for (const int rank : {0, 1})
            records.push_back(
                Samples{rank, step, kStart + step * kSecond, {metric::kTrainLoss}, {value}});
        steps << step;
        values << static_cast<double>(value);
    }
    ingest(std::move(records));
    const QVector<double> whole =
        smoothed(steps, values, {kind, weight}, smoothingTick(kSteps, every));
    for (const auto& [low, high] :
         {std::pair(10'030.0, 10'070.0), {9'900.0, 10'900.0}, {19'940.0, 20'000.0}}) {
        ChartQuery query = queryOf(reader().run(m_shape.id).value());
        query.smoothing = {kind, weight};
        query.map = {XAxis::kStep, kStart};
        query.range = {low, high};
        query.panels = {"loss"};
        int seen = 0;
        for (const PanelCurves& panel : readPanels(*m_reader, query)) {
            if (!panel.isRead)
                continue;
            const Curve& loss = panel.curves.front();
            for (qsizetype i = 0; i < loss.x.size(); ++i) {
                if (loss.x[i] < low || loss.x[i] > high)
                    continue;
                const double wanted = whole[qRound64(loss.x[i]) / every - 1];
                QVERIFY2(std::abs(loss.y[i] - wanted) < within * kScatter,
                         qPrintable(QString("step %1: %2, of the whole run %3")
                                        .arg(loss.x[i])
                                        .arg(loss.y[i])
                                        .arg(wanted)));
                ++seen;
            }
        }
        QVERIFY(seen > 0);
    }
}

void TestCurves::stepsComeBackFromAnyAxis_data() {
    QTest::addColumn<XAxis>("axis");
    QTest::addColumn<double>("perStep");
    QTest::newRow("steps") << XAxis::kStep << 1.0;
    QTest::newRow("epochs") << XAxis::kEpoch << 3.0 / 1000;
    QTest::newRow("tokens as measured") << XAxis::kWork << 32767.0 / 7;
    QTest::newRow("since the start") << XAxis::kRelative << 1.0;
    QTest::newRow("wall clock") << XAxis::kWall << 1.0;
}

void TestCurves::stepsComeBackFromAnyAxis() {
    QFETCH(XAxis, axis);
    QFETCH(double, perStep);
    m_shape.stepMs = 1234.567;
    DemoRun run = demo(m_shape);
    QVERIFY(run.create() && run.train(1, 1, 900, kStart));
    AxisMap map{axis, kStart};
    map.scale.perStep = perStep;
    for (int64_t first = 2; first < 860; first += 7) {
        const StepSpan steps{first, first + 31};
        const auto span = stepsOfRun(reader(), m_shape.id, steps);
        QVERIFY(span);
        const auto [low, high] = rangeOf(*m_reader, m_shape.id, map, *span);
        const auto back = spanBetween(*m_reader, m_shape.id, map, low, high);
        QVERIFY(back);
        QCOMPARE(back->steps.first, steps.first);
        QCOMPARE(back->steps.last, steps.last);
    }
}

void TestCurves::aTableHasWhatIsInSight() {
    DemoRun run = demo(m_shape);
    QVERIFY(run.create() && run.train(1, 1, 100, kStart));
    ChartView view;
    view.low = 40;
    view.high = 60;
    m_chart->show(readPanel("loss", 0.9, 1000, XAxis::kStep, {{view.low, view.high}}), view);
    m_chart->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_chart.get()));
    QContextMenuEvent event(QContextMenuEvent::Keyboard, QPoint(50, 50),
                            m_chart->mapToGlobal(QPoint(50, 50)));
    QCoreApplication::sendEvent(m_chart.get(), &event);
    for (QAction* action : m_chart->findChild<QMenu*>()->actions())
        if (action->text() == "Show as table")
            action->trigger();
    auto* dialog = m_chart->findChild<QDialog*>("tableTwinDialog");
    QVERIFY(dialog);
    const auto* rows = dialog->findChild<QAbstractItemView*>("tableTwin")->model();
    QCOMPARE(rows->rowCount(), 21);
    QCOMPARE(rows->index(0, 0).data().toString(), "40");
    QCOMPARE(rows->headerData(1, Qt::Horizontal).toString(), "Loss, smoothed over 10 steps");
    QCOMPARE(rows->headerData(2, Qt::Horizontal).toString(), "Loss");
    const Curve& loss = m_chart->curves().front();
    const auto at = std::ranges::find(loss.x, 40.0) - loss.x.begin();
    QCOMPARE(rows->index(0, 1).data().toString(), formatFigure(loss.y[at]));
    QVERIFY(rows->index(0, 2).data().toString().startsWith(formatFigure(loss.raw[at])));
}

void TestCurves::aBandSpansWhatABucketHolds() {
    m_shape.stepMs = 10;
    DemoRun run = demo(m_shape);
    QVERIFY(run.create() && run.train(1, 1, 900, kStart));
    ingest({Samples{0, 901, kStart + 10 * kSecond, {metric::kTrainLoss}, {77.0F}}});
    ingest({Samples{0, 902, kStart + 10 * kSecond, {metric::kTrainLoss}, {2.0F}}});
    const Curve loss = readPanel("loss", 0.9, 50).front();
    QVERIFY(loss.x.size() <= 50);
    QCOMPARE(*std::ranges::max_element(loss.high), 77.0);
    QVERIFY(*std::ranges::max_element(loss.raw) < 10 || loss.raw.back() == 2.0);
    const Curve fine = readPanel("loss", 0.9, 2000).front();
    for (qsizetype i = 0; i < fine.x.size(); ++i) { // each point is one sample of each rank
        std::vector<double> values;
        for (const int rank : {0, 1})
            for (const Point& point :
                 m_reader->points(m_shape.id, {"train/loss", rank}, qRound64(fine.steps[i]),
                                  qRound64(fine.steps[i])))
                values.push_back(static_cast<double>(point.value));
        QCOMPARE(fine.low[i], *std::ranges::min_element(values));
        QCOMPARE(fine.high[i], *std::ranges::max_element(values));
    }
}

/// One step of one rank takes 5 s, all others 100 ms.
void TestCurves::trainWithASlowStep(int ranks, int64_t steps, int64_t slowStep) {
    constexpr int64_t kPiece = 5'000;
    m_shape.nodes = {{0, "this-computer", ranks, 0}};
    m_shape.totalSteps = steps;
    QVERIFY(demo(m_shape).create());
    for (int64_t first = 1; first <= steps; first += kPiece) {
        std::vector<Record> records;
        for (int64_t step = first; step < first + kPiece; ++step)
            for (int rank = 0; rank < ranks; ++rank) {
                const bool isSlow = step == slowStep && rank == kSlowRank;
                records.push_back(
                    Samples{rank,
                            step,
                            kStart + step * kSecond / 10,
                            {metric::kTrainLoss, metric::kTrainStepMs, metric::kPhaseDataMs},
                            {2.0F, isSlow ? 5000.0F : 100.0F, isSlow ? 4900.0F : 1.0F}});
            }
        ingest(std::move(records));
    }
}

void TestCurves::oneSlowStepIsSeenAtEveryZoom_data() {
    QTest::addColumn<int>("ranks");
    QTest::addColumn<int>("steps");
    QTest::newRow("a line each") << 2 << 100'000;
    QTest::newRow("a ribbon") << 9 << 30'000;
    QTest::newRow("more than a mean is made of") << 18 << 15'000;
}

void TestCurves::oneSlowStepIsSeenAtEveryZoom() {
    QFETCH(int, ranks);
    QFETCH(int, steps);
    const int64_t slowStep = steps * 54321LL / 100'000;
    trainWithASlowStep(ranks, steps, slowStep);
    const auto at = static_cast<double>(slowStep);
    for (const double width : {1.0 * steps, 0.5 * steps, 0.09 * steps, 1'200.0, 90.0, 6.0})
        for (const double left : {0.1, 0.5, 0.95}) {
            const std::pair range(at - left * width, at + (1 - left) * width);
            for (const auto& [panel, wanted] :
                 {std::pair("step_time", 5000.0), {"phases", 4900.0}}) {
                double seen = 0;
                for (const Curve& curve : readPanel(panel, 0.9, 1600, XAxis::kStep, range))
                    for (qsizetype i = 0; i < curve.x.size(); ++i)
                        if (curve.x[i] >= range.first && curve.x[i] <= range.second)
                            seen = std::max(
                                {seen, curve.y[i], curve.high.isEmpty() ? 0 : curve.high[i]});
                QVERIFY2(seen == wanted,
                         qPrintable(QString("%1, %2 steps: %3").arg(panel).arg(width).arg(seen)));
            }
        }
}

/// In pixels, at the top of the chart; the line itself, a mean, does not reach it.
void TestCurves::oneSlowStepIsDrawn() {
    constexpr int64_t kSteps = 100'000, kSlowStep = 54'321;
    trainWithASlowStep(2, kSteps, kSlowStep);
    const std::vector<Curve> curves = readPanel("step_time", 0.9, 1600);
    for (const Curve& curve : curves)
        QVERIFY(*std::ranges::max_element(curve.y) < 1000);
    showChart(curves, static_cast<double>(kSteps));
    const auto isDrawnAt = [this](double step) {
        const QImage image = m_chart->findChild<QWidget*>("plot")->grab().toImage();
        const QPoint top = m_chart->pixelOf(step, 4500);
        for (int x = top.x() - 2; x <= top.x() + 2; ++x)
            if (image.rect().contains(x, top.y()) && image.pixelColor(x, top.y()).saturation() > 20)
                return true;
        return false;
    };
    QTRY_VERIFY(isDrawnAt(static_cast<double>(kSlowStep)));
    QVERIFY(!isDrawnAt(static_cast<double>(kSlowStep) / 2));
}

void TestCurves::anAxisOfTokensIsThatOfStepsScaled() {
    QVERIFY(m_writer->createRun({m_shape.id,
                                 m_shape.name,
                                 "[model]\ncontext = 100\n[train]\nbatch_size = 5\n",
                                 m_shape.nodes,
                                 {},
                                 0}));
    QVERIFY(demo(m_shape).train(1, 1, 60, kStart));
    StoreReader& store = reader();
    const auto map = axisOf(store, store.run(m_shape.id).value(), XAxis::kWork, kStart);
    QVERIFY(map);
    ChartQuery query = queryOf(m_reader->run(m_shape.id).value());
    query.map = *map;
    query.range = {20'000, 40'000}; // of 1,000 a step
    query.panels = {"loss"};
    const Curve loss = readPanels(*m_reader, query).front().curves.front();
    QVERIFY(loss.x.size() >= 21 && loss.x.size() < 40);
    for (qsizetype i = 0; i < loss.x.size(); ++i)
        QCOMPARE(loss.x[i], 1000 * loss.steps[i]);
    QCOMPARE(stepOf(*map, 20'000), 20.0);
    QVERIFY(!axisOf(*m_reader, *m_reader->run(m_shape.id), XAxis::kEpoch, kStart));
}

void TestCurves::eachOfAFewRanksHasItsLine() {
    DemoRun run = demo(m_shape);
    QVERIFY(run.create() && run.train(1, 1, 20, kStart));
    const std::vector<Curve> curves = readPanel("throughput", 0.9);
    QCOMPARE(curves.size(), 2);
    QCOMPARE(curves[0].brief, "rank 0");
    QCOMPARE(curves[1].brief, "rank 1");
    QCOMPARE(curves[1].y.size(), 20);
    QVERIFY(curves[0].colour != curves[1].colour);
}

void TestCurves::theRibbonOfManyRanksNamesItsEnds() {
    m_shape.nodes = {{0, "node-a", 8, 0}, {1, "node-b", 4, 8}};
    DemoRun run = demo(m_shape);
    QVERIFY(run.create() && run.train(1, 1, 20, kStart));
    const std::vector<Curve> curves = readPanel("throughput", 0.9);
    QCOMPARE(curves.size(), 1);
    std::vector<float> last;
    for (int rank = 0; rank < 12; ++rank)
        last.push_back(m_reader->lastPoint(m_shape.id, {"train/tokens_per_s", rank})->value);
    const auto slowest = std::ranges::min_element(last) - last.begin();
    const auto fastest = std::ranges::max_element(last) - last.begin();
    showChart(curves, 20);
    QVERIFY2(m_chart->values().front().startsWith(QString("least, rank %1 ").arg(slowest)),
             qPrintable(m_chart->values().join(',')));
    QVERIFY2(m_chart->values().back().startsWith(QString("most, rank %1 ").arg(fastest)),
             qPrintable(m_chart->values().join(',')));
}

/// Three samples while one step lasted are one point; two of another step are another.
void TestCurves::whatTheClockSampledStandsAtItsStep() {
    QVERIFY(demo(m_shape).create());
    std::vector<Record> records;
    for (const auto& [step, value] :
         {std::pair(5, 1.0F), {5, 2.0F}, {5, 6.0F}, {6, 4.0F}, {6, 4.0F}})
        records.push_back(Samples{0,
                                  step,
                                  kStart + static_cast<int64_t>(records.size()) * kSecond,
                                  {metric::kRankCpu},
                                  {value}});
    ingest(std::move(records));
    const std::vector<Curve> curves = readPanel("rank_cpu");
    QCOMPARE(curves.size(), size_t(2)); // one a rank
    QCOMPARE(curves[0].x, QVector<double>({5, 6}));
    QCOMPARE(curves[0].y, QVector<double>({3, 4}));
    QVERIFY(curves[1].x.isEmpty());
}

void TestCurves::whatABranchSampledBeforeItsFirstStepIsLeftOut() {
    QVERIFY(
        m_writer->createRun({m_shape.id, m_shape.name, {}, m_shape.nodes, "other-000001", 200}));
    sampleCpu(0, kStart, kStart + 3 * kSecond, 9.0F);
    QVERIFY(demo(m_shape).train(1, 201, 260, kStart + 5 * kSecond));
    for (const Curve& curve : readPanel("rank_cpu")) {
        QVERIFY(curve.x.size() > 10 && curve.x.front() >= 200);
        QVERIFY(std::ranges::all_of(curve.y, [](double y) { return y < 9; }));
    }
}

void TestCurves::aTimeAxisHasNoLineAcrossAPause() {
    DemoRun run = demo(m_shape);
    QVERIFY(run.create() && run.train(1, 1, 100, kStart));
    QVERIFY(run.command("hold", 40, run.wallOf(40) + 1));
    QVERIFY(run.end(Outcome::kPaused) && run.train(2, 101, 200, kStart + 1120 * kSecond));
    for (const auto& [panel, isHeldToo] : {std::pair("loss", true), {"rank_cpu", false}}) {
        QCOMPARE(readPanel(panel).front().breaks.size(), 0); // steps follow each other
        const std::vector<Curve> curves = readPanel(panel, 0, 1000, XAxis::kRelative);
        for (const Curve& curve : curves) {
            QVERIFY2(curve.breaks.size() == (isHeldToo ? 2 : 1), panel);
            const qsizetype at = curve.breaks.back();
            QVERIFY(curve.x[at - 1] < 110 && curve.x[at] > 1110);
            QVERIFY(!isHeldToo || curve.steps[curve.breaks.front()] == 41);
        }
    }
}

void TestCurves::aBrokenLineIsNotDrawnBetween() {
    const auto isDrawnAt = [this](double x) {
        const QImage image = m_chart->findChild<QWidget*>("plot")->grab().toImage();
        const QColor wanted = colours().series[0];
        const int column = m_chart->pixelOf(x, 0).x();
        for (int y = 0; y < image.height(); ++y)
            if (const QColor seen = image.pixelColor(column, y);
                std::abs(seen.hue() - wanted.hue()) < 8 && seen.saturation() > 100)
                return true;
        return false;
    };
    Curve curve = curveOf("raw", {10, 20, 80, 90}, {1, 2, 3, 4});
    showChart({curve}, 100);
    QTRY_VERIFY(isDrawnAt(50));
    curve.breaks = {2};
    showChart({curve}, 100);
    QTRY_VERIFY(!isDrawnAt(50));
    QVERIFY(isDrawnAt(15) && isDrawnAt(85));
}

void TestCurves::aMetricOfANodeIsNamedByIt() {
    m_shape.nodes = {{0, "node-a", 2, 0}, {1, "node-b", 2, 2}};
    QVERIFY(demo(m_shape).create());
    const std::vector<MetricId> both{metric::kNodeRxBytesPerS, metric::kNodeTxBytesPerS};
    ingest({Samples{0, 1, kStart, both, {1, 2}}});
    ingest({Samples{2, 1, kStart, both, {3, 4}}}, 1);
    QStringList names;
    QVector<double> values;
    for (const Curve& curve : readPanel("network")) {
        names << curve.brief;
        values << curve.y.value(0);
    }
    QCOMPARE(names,
             QStringList({"received node-a", "received node-b", "sent node-a", "sent node-b"}));
    QCOMPARE(values, QVector<double>({1, 3, 2, 4}));
}

void TestCurves::whatNobodyForesawHasAChartOfItsOwn() {
    QStringList keys;
    for (const ChartPanel& panel :
         panelsOf({builtinMetric(metric::kGpuPowerW),
                   {.id = 1003, .name = "router/share", .panel = "routing", .place = 1},
                   {.id = 1000, .name = "zeta/last", .unit = "ms"},
                   {.id = 1001, .name = "alpha/first"},
                   {.id = 1002, .name = "router/entropy", .panel = "routing"},
                   builtinMetric(metric::kTrainLoss),
                   {.id = 1004, .name = "aux/loss", .unit = "nats", .panel = "loss"}})) {
        keys << panel.key;
        if (panel.key == "loss")
            QCOMPARE(panel.metrics.front().name, std::string("train/loss"));
        if (panel.key == "routing")
            QCOMPARE(panel.metrics.front().name, std::string("router/entropy"));
        if (panel.key == "zeta/last")
            QCOMPARE(panel.title, QString("zeta/last (ms)"));
    }
    QCOMPARE(keys, QStringList({"loss", "loss:nats", "lr", "grad_norm", "throughput", "phases",
                                "gpu_power", "alpha/first", "routing", "zeta/last"}));
}

void TestCurves::metricsOfOnePanelAndOtherUnitsAreParted() {
    std::vector<MetricDef> metrics;
    for (const MetricId id : {metric::kValidationWer, metric::kValidationCer,
                              metric::kValidationChrf, metric::kValidationBleu})
        metrics.push_back(builtinMetric(id));
    const std::vector<ChartPanel> panels = panelsOf(metrics);
    const auto at = [&panels](const QString& key) {
        return *std::ranges::find(panels, key, &ChartPanel::key);
    };
    QCOMPARE(at("quality").title, QString("Validation: BLEU · chrF"));
    QVERIFY(at("quality").isMain);
    QCOMPARE(at("quality:ratio").title, QString("Validation: CER · WER"));
    QVERIFY(!at("quality:ratio").isMain);
}

void TestCurves::bytesAndRatiosReadAsSuch() {
    Curve memory = curveOf("rank 0", {1, 2}, {1.5 * (1 << 30), 2.0 * (1 << 30)});
    memory.format = MetricFormat::kBytes;
    showChart({memory}, 2);
    QCOMPARE(m_chart->values(), QStringList("rank 0 " + formatMemory(int64_t(2) << 30)));
    Curve busy = curveOf("rank 0", {1, 2}, {0.25, 0.5});
    busy.format = MetricFormat::kPercent;
    m_chart->show({busy}, viewTo(2));
    QCOMPARE(m_chart->values(), QStringList("rank 0 " + formatPercent(0.5)));
    const auto last = [](MetricFormat format, double high) {
        return ticksBetween(*figureTicker(format), 0, high).labels.back();
    };
    QCOMPARE(last(MetricFormat::kBytes, 2.0 * (1 << 30)), QString("2.0 Gi"));
    QCOMPARE(last(MetricFormat::kBytes, 600.0 * (1 << 20)), QString("600 Mi"));
    QCOMPARE(last(MetricFormat::kPercent, 1), QString("100 %"));
}

/// Two steps of 100 tokens each, of 1 s and of 100 ms: 200 in 1.1 s, and not the mean of 100 and
/// 1000.
void TestCurves::tokensASecondAreThoseOfAllStepsByTheirTime() {
    QVERIFY(
        m_writer->createRun({m_shape.id, m_shape.name, {}, {{0, "this-computer", 1, 0}}, {}, 0}));
    ingest(
        {AttemptStarted{1, 0, 1, 0, 1, ""},
         Samples{0, 1, 1000, {metric::kTrainStepMs, metric::kTrainTokensPerS}, {1000.f, 100.f}},
         Samples{0, 2, 2000, {metric::kTrainStepMs, metric::kTrainTokensPerS}, {100.f, 1000.f}}});
    StoreReader& store = reader();
    const RunFigures figures = readFigures(store, *store.run(m_shape.id));
    QCOMPARE(std::lround(figures.throughput), 182L);
    QCOMPARE(std::lround(figures.stepMs), 550L);
}

/// Rank 1 loads data for `loadMs` longer than the other one.
void TestCurves::trainTwoRanks(int64_t first, int64_t last, float stepMs, float loadMs) {
    std::vector<Record> records;
    for (int64_t step = first; step <= last; ++step)
        for (const int rank : {0, 1})
            records.push_back(Samples{
                rank,
                step,
                kStart + step * kSecond,
                {metric::kTrainStepMs, metric::kPhaseDataMs, metric::kPhaseForwardMs,
                 metric::kPhaseAllreduceMs},
                {stepMs, rank == 1 ? loadMs : 0.0F, stepMs / 4, rank == 1 ? 0.0F : loadMs}});
    ingest(std::move(records));
}

/// Short steps are seen together, until they take long enough.
void TestCurves::aRankIsSlowOnlyOnceItIsForAWhile() {
    QVERIFY(m_writer->createRun({m_shape.id, m_shape.name, {}, m_shape.nodes, {}, 0}));
    ingest({AttemptStarted{1, 0, 2, 0, kStart, ""}});
    const auto slow = [this] {
        StoreReader& store = reader();
        return readFigures(store, *store.run(m_shape.id)).stragglers;
    };
    const auto isCompared = [this] {
        StoreReader& store = reader();
        return readFigures(store, *store.run(m_shape.id)).isCompared;
    };
    trainTwoRanks(1, 30, 20, 10);
    QVERIFY(slow().empty() && !isCompared()); // after a second, it is not known that none is slow
    trainTwoRanks(31, 300, 20, 10);
    QVERIFY(isCompared());
    const auto stragglers = slow();
    QCOMPARE(stragglers.size(), size_t(1));
    QCOMPARE(stragglers[0].rank, 1);
    QCOMPARE(stragglers[0].cause, SlowCause::kData);
}

/// They warm caches, and each rank at its own pace.
void TestCurves::theFirstStepsOfAnAttemptMakeNoRankSlow() {
    QVERIFY(m_writer->createRun({m_shape.id, m_shape.name, {}, m_shape.nodes, {}, 0}));
    ingest({AttemptStarted{1, 0, 2, 0, kStart, ""}});
    const auto isSlow = [this] {
        StoreReader& store = reader();
        return !readFigures(store, *store.run(m_shape.id)).stragglers.empty();
    };
    trainTwoRanks(1, 5, 1000, 3000);
    trainTwoRanks(6, 30, 400, 0);
    QVERIFY(!isSlow());
    ingest({AttemptStarted{2, 0, 2, 30, kStart + 40 * kSecond, "x"}});
    trainTwoRanks(31, 35, 1000, 3000);
    trainTwoRanks(36, 60, 400, 0);
    QVERIFY(!isSlow());
    trainTwoRanks(61, 100, 400, 200);
    QVERIFY(isSlow());
}

void TestCurves::aPauseTakesNoRoomInTheHeatMap() {
    DemoRun run = demo(m_shape);
    QVERIFY(run.create() && run.train(1, 1, 100, kStart));
    QVERIFY(run.end(Outcome::kPaused) && run.train(2, 101, 200, kStart + 1120 * kSecond));
    const HeatData heat = readHeatMap();
    const double trained = static_cast<double>(lengthOf(heat.trained)) / 1e9;
    QVERIFY2(std::abs(trained - 200) < 6, qPrintable(QString::number(trained)));
    for (const std::vector<double>& row : heat.cells)
        QVERIFY(std::ranges::all_of(row, [](double cell) { return cell > 0.5; }));
    HeatMap map;
    map.show(heat);
    QCOMPARE(map.gapTexts().size(), 1);
    QVERIFY2(map.gapTexts().front().contains("17 min"), qPrintable(map.gapTexts().front()));
}

void TestCurves::whatWasAbandonedIsNotIdle() {
    DemoRun run = demo(m_shape);
    QVERIFY(run.create() && run.train(1, 1, 100, kStart));
    QVERIFY(run.train(2, 61, 160, kStart + 120 * kSecond));
    HeatMap map;
    map.show(readHeatMap());
    QCOMPARE(map.gapTexts().size(), 1);
    const auto parts = QRegularExpression(": (\\d+)\\D+s idle, (\\d+)\\D+s set aside$")
                           .match(map.gapTexts().front());
    QVERIFY2(parts.hasMatch(), qPrintable(map.gapTexts().front()));
    QVERIFY2(std::abs(parts.captured(1).toInt() - 20) < 4, qPrintable(parts.captured(0)));
    QVERIFY2(std::abs(parts.captured(2).toInt() - 40) < 4, qPrintable(parts.captured(0)));
}

void TestCurves::aHoldTakesNoRoomInTheHeatMap() {
    DemoRun run = demo(m_shape);
    QVERIFY(run.create() && run.train(1, 1, 100, kStart));
    const int64_t held = kStart + 100 * kSecond;
    const int64_t goneOn = held + 1020 * kSecond;
    QVERIFY(run.command("hold", 100, held));
    sampleCpu(100, held + kSecond, goneOn - kSecond, 0.0F);
    QVERIFY(run.command("continue", 100, goneOn));
    sampleCpu(150, goneOn, goneOn + 100 * kSecond, 0.9F);
    const HeatData heat = readHeatMap();
    const double trained = static_cast<double>(lengthOf(heat.trained)) / 1e9;
    QVERIFY2(std::abs(trained - 200) < 10, qPrintable(QString::number(trained)));
    HeatMap map;
    map.show(heat);
    QCOMPARE(map.gapTexts().size(), 1);
    QVERIFY2(map.gapTexts().front().contains("17 min"), qPrintable(map.gapTexts().front()));
}

void TestCurves::stepsThatAreDoneWhileHeldAreTrained() {
    DemoRun run = demo(m_shape);
    QVERIFY(run.create() && run.train(1, 1, 100, kStart));
    const int64_t held = kStart + 100 * kSecond, stepped = held + 500 * kSecond;
    const int64_t last = stepped + 200 * kSecond;
    QVERIFY(run.command("hold", 100, held));
    sampleCpu(100, held + kSecond, stepped - kSecond, 0.0F);
    QVERIFY(run.command("step", 100, stepped));
    for (int64_t step = 101; step <= 300; ++step)
        ingest({Samples{0, step, stepped + (step - 100) * kSecond, {metric::kTrainLoss}, {1.F}}});
    sampleCpu(300, stepped, last, 0.9F);
    sampleCpu(300, last + kSecond, last + 300 * kSecond, 0.0F);
    HeatMap map;
    map.show(readHeatMap());
    const double trained = static_cast<double>(lengthOf(map.data().trained)) / 1e9;
    QVERIFY2(std::abs(trained - 300) < 10, qPrintable(QString::number(trained)));
    QCOMPARE(map.gapTexts().size(), 2);
}

void TestCurves::aRunThatIsHeldEndsWithAGap() {
    DemoRun run = demo(m_shape);
    QVERIFY(run.create() && run.train(1, 1, 100, kStart));
    QVERIFY(run.command("hold", 100, kStart + 100 * kSecond));
    sampleCpu(100, kStart + 101 * kSecond, kStart + 400 * kSecond, 0.0F);
    HeatMap map;
    map.show(readHeatMap());
    QVERIFY(std::abs(static_cast<double>(lengthOf(map.data().trained)) / 1e9 - 100) < 6);
    QCOMPARE(map.gapTexts().size(), 1);
    QVERIFY2(map.gapTexts().front().contains("5 min"), qPrintable(map.gapTexts().front()));
}

void TestCurves::aRedFigureSaysWhy() {
    m_shape.nodes = {{0, "this-computer", 3, 0}};
    m_shape.lastStep = 100;
    m_shape.slowRank = 2;
    DemoRun run = demo(m_shape);
    QVERIFY(run.create() && run.train(1, 1, 100, kStart));
    HeatMap map;
    map.show(readHeatMap());
    QVERIFY2(map.figureText(2).contains("red: under 75"), qPrintable(map.figureText(2)));
    QVERIFY(!map.figureText(1).contains("red"));
    const auto labels = map.findChildren<QLabel*>();
    QVERIFY(std::ranges::any_of(
        labels, [](const QLabel* label) { return label->toolTip().contains("red: under 75"); }));
}

void TestCurves::noFigureIsRedWhereRanksAreAlike() {
    DemoRun run = demo(m_shape);
    QVERIFY(run.create() && run.train(1, 1, 100, kStart));
    // The last second is not whole: one rank was asked before its step, one behind it.
    ingest({Samples{0, 100, kStart + 101 * kSecond, {metric::kRankCpu}, {0.2F}}});
    HeatMap map;
    map.show(readHeatMap());
    QVERIFY2(!map.figureText(0).contains("red"), qPrintable(map.figureText(0)));
}

QTEST_MAIN(TestCurves)
#include "tst_curves.moc"
