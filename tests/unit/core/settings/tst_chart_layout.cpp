// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/chart_layout.h"
#include "app/core/settings/paths.h"
#include "shared/io/file.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace rm;

namespace {

using Keys = std::vector<std::string>;

ChartLayouts example() {
    ChartLayout layout;
    layout.order = {"lr", "loss"};
    layout.setStyle("loss", {.columns = 3,
                             .rows = 2,
                             .isFirst = false,
                             .isLog = true,
                             .yRange = {.low = -0.5, .high = 3.25},
                             .isHidden = true,
                             .cutsOutliers = true});
    layout.setStyle("lr", {.yRange = {.low = 0}});
    layout.own = {{.key = "own:1",
                   .title = "slow ones \"é\"",
                   .metrics = {"train/step_ms", "phase/data_ms"},
                   .ranks = {0, 7},
                   .shape = ChartShape::kLines},
                  {.key = "own:2",
                   .title = "",
                   .metrics = {"train/loss"},
                   .ranks = {},
                   .shape = ChartShape::kHeat}};
    ChartLayouts layouts;
    layouts.inUse["gpt"] = layout;
    layouts.kept["narrow"] = {};
    return layouts;
}

std::string messageOf(std::string_view json) {
    const auto read = chartLayoutsFrom(json, "layouts.json");
    return read ? std::string() : read.error().message;
}

} // namespace

class TestChartLayout : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void withoutAnOrderChartsStayAsTheyCome();
    void aMovedChartStandsWhereItWasPut();
    void aNewChartComesBehindTheOneBeforeIt();
    void keysThatAreGoneLeaveNoGap();
    void whatIsNotThereKeepsItsPlace();
    void aPlainStyleIsForgotten();
    void ownKeysAreUsedAgain();
    void whatIsWrittenIsRead();
    void whatALaterReleaseWritesIsLeftOut();
    void aMistakeIsNamed_data();
    void aMistakeIsNamed();
    void aFileThatCannotBeReadIsNotReplaced();
    void noFileIsNoLayout();
};

void TestChartLayout::withoutAnOrderChartsStayAsTheyCome() {
    QCOMPARE(arranged({}, {"a", "b", "c"}), Keys({"a", "b", "c"}));
}

void TestChartLayout::aMovedChartStandsWhereItWasPut() {
    ChartLayout layout;
    const Keys keys = {"a", "b", "c"};
    moveChart(layout, keys, "c", "a");
    QCOMPARE(arranged(layout, keys), Keys({"c", "a", "b"}));
    moveChart(layout, arranged(layout, keys), "c", "");
    QCOMPARE(arranged(layout, keys), Keys({"a", "b", "c"}));
    moveChart(layout, arranged(layout, keys), "a", "a");
    QCOMPARE(arranged(layout, keys), Keys({"a", "b", "c"}));
    moveChart(layout, arranged(layout, keys), "a", "c");
    QCOMPARE(arranged(layout, keys), Keys({"b", "a", "c"}));
}

void TestChartLayout::aNewChartComesBehindTheOneBeforeIt() {
    ChartLayout layout;
    layout.order = {"c", "a", "b"};
    QCOMPARE(arranged(layout, {"a", "new", "b", "c", "last"}),
             Keys({"c", "last", "a", "new", "b"}));
    QCOMPARE(arranged(layout, {"first", "a", "b", "c"}), Keys({"first", "c", "a", "b"}));
}

void TestChartLayout::keysThatAreGoneLeaveNoGap() {
    ChartLayout layout;
    layout.order = {"c", "gone", "a", "c"};
    QCOMPARE(arranged(layout, {"a", "c"}), Keys({"c", "a"}));
}

void TestChartLayout::whatIsNotThereKeepsItsPlace() {
    ChartLayout layout;
    layout.order = {"a", "gpu", "b", "c"};
    moveChart(layout, {"a", "b", "c"}, "c", "a"); // in a run without a GPU
    QCOMPARE(layout.order, Keys({"c", "a", "gpu", "b"}));
}

void TestChartLayout::aPlainStyleIsForgotten() {
    ChartLayout layout;
    ChartStyle style;
    style.isHidden = true;
    layout.setStyle("a", style);
    QCOMPARE(layout.styleOf("a"), style);
    layout.setStyle("a", {});
    QCOMPARE(layout, ChartLayout());
}

void TestChartLayout::ownKeysAreUsedAgain() {
    ChartLayout layout = example().inUse["gpt"];
    QCOMPARE(layout.nextOwnKey(), std::string("own:3"));
    layout.order.push_back("own:1");
    layout.setStyle("own:1", {.columns = 2});
    layout.removeOwn("own:1");
    QCOMPARE(layout.nextOwnKey(), std::string("own:1"));
    QCOMPARE(layout.own.size(), size_t(1));
    QCOMPARE(layout.order, Keys({"lr", "loss"}));
    QCOMPARE(layout.styleOf("own:1"), ChartStyle());
}

void TestChartLayout::whatIsWrittenIsRead() {
    const auto read = chartLayoutsFrom(toJson(example()), "layouts.json");
    QVERIFY2(read, read ? "" : read.error().message.c_str());
    QCOMPARE(*read, example());
}

void TestChartLayout::whatALaterReleaseWritesIsLeftOut() {
    const auto read = chartLayoutsFrom(
        R"({"in_use":{"gpt":{"order":["a"],"later":1,"charts":{"a":{"rows":2,"glow":true}}}},"x":[]})",
        "layouts.json");
    QVERIFY2(read, read ? "" : read.error().message.c_str());
    QCOMPARE(read->inUse.at("gpt").order, Keys({"a"}));
    QCOMPARE(read->inUse.at("gpt").styleOf("a").rows, std::optional(2));
}

void TestChartLayout::aMistakeIsNamed_data() {
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QByteArray>("named");
    const auto row = [](const char* name, const char* json, const char* named) {
        QTest::newRow(name) << QByteArray(json) << QByteArray(named);
    };
    row("no JSON", "{", "layouts.json");
    row("a list", "[]", "no object");
    row("layouts", R"({"in_use":3})", "\"in_use\"");
    row("a layout", R"({"kept":{"x":3}})", "\"x\"");
    row("order", R"({"kept":{"x":{"order":[1]}}})", "\"order\"");
    row("columns", R"({"kept":{"x":{"charts":{"a":{"columns":4}}}}})", "\"columns\"");
    row("rows", R"({"kept":{"x":{"charts":{"a":{"rows":1.5}}}}})", "\"rows\"");
    row("a switch", R"({"kept":{"x":{"charts":{"a":{"hidden":"yes"}}}}})", "\"hidden\"");
    row("a range", R"({"kept":{"x":{"charts":{"a":{"y":[3,1]}}}}})", "\"y\"");
    row("a range of texts", R"({"kept":{"x":{"charts":{"a":{"y":["1","3"]}}}}})", "\"y\"");
    row("ranks", R"({"kept":{"x":{"own":[{"key":"own:1","metrics":["m"],"ranks":[-1]}]}}})",
        "\"ranks\"");
    row("shape", R"({"kept":{"x":{"own":[{"key":"own:1","metrics":["m"],"shape":"pie"}]}}})",
        "\"shape\"");
    row("no metrics", R"({"kept":{"x":{"own":[{"key":"own:1"}]}}})", "\"own\"");
    row("another's key", R"({"kept":{"x":{"own":[{"key":"loss","metrics":["m"]}]}}})", "\"own\"");
}

void TestChartLayout::aMistakeIsNamed() {
    QFETCH(QByteArray, json);
    QFETCH(QByteArray, named);
    const std::string message = messageOf(json.toStdString());
    QVERIFY2(message.find("layouts.json") != std::string::npos, message.c_str());
    QVERIFY2(message.find(named.toStdString()) != std::string::npos, message.c_str());
}

void TestChartLayout::aFileThatCannotBeReadIsNotReplaced() {
    QTemporaryDir folder;
    Paths paths;
    paths.config = folder.path() + "/config";
    QVERIFY(writeChartLayouts(paths, example()));
    QCOMPARE(readChartLayouts(paths).value(), example());
    const std::string file = paths.config.toStdString() + "/layouts.json";
    QCOMPARE(QFile::permissions(QString::fromStdString(file)) &
                 (QFile::ReadGroup | QFile::ReadOther),
             QFile::Permissions());
    QVERIFY(writeFileAtomically(file, "half a"));
    QVERIFY(!readChartLayouts(paths));
    QVERIFY(!writeChartLayouts(paths, example()));
    QCOMPARE(readFile(file).value(), std::string("half a"));
}

void TestChartLayout::noFileIsNoLayout() {
    QTemporaryDir folder;
    Paths paths;
    paths.config = folder.path();
    QCOMPARE(readChartLayouts(paths).value(), ChartLayouts());
}

QTEST_GUILESS_MAIN(TestChartLayout)
#include "tst_chart_layout.moc"
