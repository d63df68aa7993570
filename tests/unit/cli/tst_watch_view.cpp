// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/watch/cell_chart.h"
#include "app/cli/watch/rank_map.h"
#include "app/cli/watch/watch_keys.h"
#include "app/cli/watch/watch_view.h"
#include "app/core/store/pyramid.h"
#include "shared/board/board.h"

#include <QTest>

#include <algorithm>
#include <functional>
#include <limits>

using namespace rm;
using namespace rm::cli;

namespace {

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();

/// A series of that many steps, all 1, as the store gives it for `columns` columns.
std::vector<Bucket> seriesOf(int64_t steps, int columns,
                             const std::function<float(int64_t)>& valueOf) {
    std::vector<Point> points;
    for (int64_t step = 1; step <= steps; ++step)
        points.push_back({step, step * 1000, valueOf(step)});
    std::vector<Summary> summaries;
    for (const Point& point : points)
        summaries.push_back(summaryOf(point));
    return toBuckets(summaries, static_cast<size_t>(columns));
}

CellChart chartOf(std::vector<std::vector<Bucket>> ranks, int64_t steps) {
    CellChart chart{"loss", {}, 1, steps, false, false};
    chart.lines.push_back({"", std::move(ranks), 0.98, true, {}});
    return chart;
}

Canvas drawn(const CellChart& chart, Glyphs glyphs = Glyphs::kUtf8) {
    Canvas canvas(80, 14, glyphs);
    drawChart(canvas, {0, 0, 80, 14}, chart);
    return canvas;
}

/// Whether anything is drawn in the row of the plot, 0: the top, in these cells.
bool isDrawn(const Canvas& canvas, int row, int firstX = 9, int lastX = 79) {
    for (int x = firstX; x <= lastX; ++x)
        if (canvas.at(x, row + 1).glyph != U' ')
            return true;
    return false;
}

bool hasOnlyAscii(const Canvas& canvas) {
    for (int y = 0; y < canvas.height(); ++y)
        for (int x = 0; x < canvas.width(); ++x)
            if (canvas.at(x, y).glyph < U' ' || canvas.at(x, y).glyph > 0x7e)
                return false;
    return true;
}

std::vector<RankCell> ranksOn(const std::vector<std::pair<std::string, int>>& nodes) {
    std::vector<RankCell> ranks;
    for (const auto& [node, count] : nodes)
        for (int at = 0; at < count; ++at)
            ranks.push_back({.rank = static_cast<int>(ranks.size()),
                             .node = node,
                             .busy = 0.5,
                             .utilization = 0.5,
                             .phase = 'f'});
    return ranks;
}

WatchData trainingRun() {
    WatchData data;
    data.run.id = "gpt-tiny-7f3a";
    data.run.name = "gpt-tiny";
    data.run.state = RunStateKind::kRunning;
    data.run.step = 120;
    data.run.totalSteps = 1000;
    data.run.ranks = 4;
    data.run.nodes = {{0, "node-a", 2, 0}, {1, "node-b", 2, 2}};
    data.run.loss = 2.25;
    data.titles = {"loss", "learning rate", "gradient norm"};
    data.ranks = ranksOn({{"node-a", 2}, {"node-b", 2}});
    data.best = Point{100, 0, 2.125F};
    data.secondsLeft = 180;
    data.figures.throughput = 12'300;
    data.figures.stepMs = 80;
    for (const std::string& title : data.titles) {
        data.charts.push_back(chartOf(
            {seriesOf(120, 140, [](int64_t step) { return 4.0F / static_cast<float>(step); })},
            120));
        data.charts.back().title = title;
    }
    data.moments = {{1'700'000'000'000'000'000, 50, "checkpoint of step 50 saved", Ink::kAccent}};
    return data;
}

Key letter(char32_t character) {
    return {Key::Named::kCharacter, character};
}

WatchAction pressed(WatchView& view, const WatchData& data, const char* text) {
    WatchAction action;
    for (const char* at = text; *at; ++at)
        action = pressKey(view, data, letter(static_cast<char32_t>(*at)));
    return action;
}

bool isCommand(const WatchAction& action, CommandKind kind) {
    const auto* command = std::get_if<SendCommand>(&action);
    return command && command->kind == kind;
}

} // namespace

class tst_watch_view : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aSpikeOfOneStepIsDrawnAtEveryLength_data() {
        QTest::addColumn<int64_t>("steps");
        for (const int64_t steps : {50, 1000, 20'000, 100'000})
            QTest::newRow(qPrintable(QString::number(steps))) << steps;
    }
    void aSpikeOfOneStepIsDrawnAtEveryLength() {
        QFETCH(int64_t, steps);
        const int columns = columnsIn({0, 0, 80, 14}, Glyphs::kUtf8);
        const int64_t spike = steps / 2;
        const auto buckets = seriesOf(steps, columns, [&](int64_t step) {
            return step == spike ? 100.0F : 1.0F + static_cast<float>(step % 2);
        });
        for (const Glyphs glyphs : {Glyphs::kUtf8, Glyphs::kAscii}) {
            const Canvas canvas = drawn(chartOf({buckets}, steps), glyphs);
            QVERIFY2(isDrawn(canvas, 0, 43, 46), canvas.rows().c_str());
            QVERIFY2(!isDrawn(canvas, 0, 9, 41) && !isDrawn(canvas, 0, 48), canvas.rows().c_str());
        }
    }

    void aSpikeOfOneOfManyRanksIsDrawn() {
        const int columns = columnsIn({0, 0, 80, 14}, Glyphs::kUtf8);
        std::vector<std::vector<Bucket>> ranks;
        for (int rank = 0; rank < 64; ++rank)
            ranks.push_back(seriesOf(5000, columns, [&](int64_t step) {
                return rank == 41 && step == 1234 ? 50.0F : 1.0F;
            }));
        const Canvas canvas = drawn(chartOf(ranks, 5000));
        QVERIFY2(isDrawn(canvas, 0), canvas.rows().c_str());
    }

    void aColumnHasTheExtremesAndTheMeanOfWhatItCovers() {
        const auto series =
            seriesOf(100, 10, [](int64_t step) { return static_cast<float>(step); });
        const auto columns = columnsOf({series, series}, 1, 100, 10);
        QCOMPARE(columns.size(), size_t(10));
        QCOMPARE(columns.front().min, 1.0F);
        QCOMPARE(columns.back().max, 100.0F);
        int64_t count = 0;
        for (const ChartColumn& column : columns) {
            QVERIFY(column.min <= column.mean && column.mean <= column.max);
            count += column.count;
        }
        QVERIFY(count >= 200);
        QVERIFY(columnsOf({series}, 50, 10, 10).front().count == 0); // no steps
        QVERIFY(columnsOf({series}, 1, 100, 0).empty());
    }

    void smoothingMovesTheLineAndNotTheBand() {
        const auto series =
            seriesOf(100, 100, [](int64_t step) { return step == 60 ? 9.0F : 1.0F; });
        const auto raw = columnsOf({series}, 1, 100, 100);
        const auto smooth = smoothed(raw, 0.9);
        for (size_t at = 0; at < raw.size(); ++at) {
            QCOMPARE(smooth[at].min, raw[at].min);
            QCOMPARE(smooth[at].max, raw[at].max);
        }
        QVERIFY(smooth[59].mean < 3 && smooth[59].mean > 1);
        QCOMPARE(smoothed(raw, 0), raw);
    }

    void whatIsNoNumberBreaksTheLineAndIsMarked() {
        const auto columns = columnsIn({0, 0, 80, 14}, Glyphs::kUtf8);
        const auto series = seriesOf(columns, columns, [&](int64_t step) {
            return step > 60 && step < 80 ? kNoNumber : 1.0F;
        });
        const Canvas canvas = drawn(chartOf({series}, columns));
        QCOMPARE(canvas.at(9 + 35, 1).glyph, U'▲');
        QVERIFY2(!isDrawn(canvas, 6, 9 + 32, 9 + 37), canvas.rows().c_str());
    }

    void anInfiniteValueIsMarkedAndLeavesTheAxis() {
        const auto columns = columnsIn({0, 0, 80, 14}, Glyphs::kUtf8);
        const auto series = seriesOf(columns, columns, [](int64_t step) {
            return step == 71 ? std::numeric_limits<float>::infinity() : static_cast<float>(step);
        });
        const Canvas canvas = drawn(chartOf({series}, columns));
        QCOMPARE(canvas.at(9 + 35, 1).glyph, U'▲');
        QVERIFY2(canvas.row(1).find("inf") == std::string::npos, canvas.rows().c_str());
    }

    void aChartWithoutValuesSaysSo() {
        const Canvas canvas = drawn(chartOf({{}}, 100));
        QVERIFY2(canvas.rows().find("no values yet") != std::string::npos, canvas.rows().c_str());
    }

    void aConstantHasAnAxisAroundIt() {
        for (const float value : {0.0F, 3.0F, -2.0F, 1e-12F, 1e30F}) {
            const Canvas canvas =
                drawn(chartOf({seriesOf(50, 50, [=](int64_t) { return value; })}, 50));
            QVERIFY2(isDrawn(canvas, 5) || isDrawn(canvas, 6), canvas.rows().c_str());
        }
    }

    void aLogarithmicAxisIsOnlyOfWhatIsAboveZero() {
        CellChart chart = chartOf(
            {seriesOf(50, 50, [](int64_t step) { return step == 1 ? 1000.0F : 1.0F; })}, 50);
        chart.isLog = true;
        QVERIFY(drawn(chart).row(7).find("31.6") != std::string::npos); // half way in decades
        chart.lines[0].ranks[0][5].min = -1;
        QVERIFY(drawn(chart).row(7).find("31.6") == std::string::npos);
    }

    void everyRankHasACell_data() {
        QTest::addColumn<int>("nodes");
        QTest::addColumn<int>("each");
        QTest::newRow("one") << 1 << 1;
        QTest::newRow("two nodes") << 2 << 4;
        QTest::newRow("64") << 8 << 8;
        QTest::newRow("130 on one") << 1 << 130;
        QTest::newRow("256") << 32 << 8;
    }
    void everyRankHasACell() {
        QFETCH(int, nodes);
        QFETCH(int, each);
        std::vector<std::pair<std::string, int>> on;
        for (int node = 0; node < nodes; ++node)
            on.emplace_back("NODE-" + std::to_string(node), each);
        const auto ranks = ranksOn(on);
        const int rows = rowsOfRankMap(ranks, 80);
        Canvas canvas(80, rows);
        drawRankMap(canvas, {0, 0, 80, rows}, ranks, RankMapKind::kPhase);
        int cells = 0;
        for (int y = 1; y < rows; ++y)
            cells += static_cast<int>(std::ranges::count(canvas.row(y), 'f'));
        QCOMPARE(cells, nodes * each);
        for (int node = 0; node < nodes; ++node)
            QVERIFY(canvas.rows().find("NODE-" + std::to_string(node)) != std::string::npos);
    }

    void ranksWithoutRoomAreCounted() {
        Canvas canvas(40, 2);
        drawRankMap(canvas, {0, 0, 40, 2}, ranksOn({{"a", 30}, {"b", 30}}), RankMapKind::kBusy);
        QVERIFY2(canvas.row(1).find("and 30 more") != std::string::npos, canvas.rows().c_str());
    }

    void aLongNameIsCutBetweenCharacters() {
        Canvas canvas(40, 2);
        drawRankMap(canvas, {0, 0, 40, 2}, ranksOn({{"knöchelsträußchen-1", 1}}),
                    RankMapKind::kPhase);
        QCOMPARE(canvas.row(1), std::string("knöchelsträußche f"));
    }

    void aSlowRankAndALostOneStandOut() {
        auto ranks = ranksOn({{"a", 4}});
        ranks[1].isSlow = true;
        ranks[2].isGone = true;
        ranks[3].busy = -1;
        Canvas canvas(40, 2, Glyphs::kAscii);
        drawRankMap(canvas, {0, 0, 40, 2}, ranks, RankMapKind::kBusy);
        QCOMPARE(canvas.row(1), std::string("a 55?-"));
        QCOMPARE(canvas.at(2, 1).ink, Ink::kGood);
        QCOMPARE(canvas.at(3, 1).ink, Ink::kBad);
        QCOMPARE(canvas.at(4, 1).ink, Ink::kBad);
    }

    void everyPhaseHasALetterOfItsOwn() {
        std::string letters;
        for (uint8_t phase = 0; phase <= static_cast<uint8_t>(Phase::kRendezvous); ++phase)
            letters += phaseLetter(phase);
        std::ranges::sort(letters);
        QVERIFY(std::ranges::adjacent_find(letters) == letters.end());
        QVERIFY(letters.find('?') == std::string::npos);
        QCOMPARE(phaseLetter(200), '?');
    }

    void aScreenOf80By24HasAllParts() {
        for (const Glyphs glyphs : {Glyphs::kUtf8, Glyphs::kAscii}) {
            const Canvas canvas = drawWatch(trainingRun(), {}, 80, 24, glyphs);
            const std::string all = canvas.rows();
            for (const char* part :
                 {"gpt-tiny", "running", "step 120/1000, 12 %", "3 min 0 s left", "loss 2.25",
                  "lowest 2.125 at 100", "12.3k", "80 ms a step", "node-a", "node-b", "events",
                  "checkpoint of step 50 saved", "? help", "q leave", "h hold", "ranks by busy"})
                QVERIFY2(all.find(part) != std::string::npos, (part + ("\n" + all)).c_str());
            QVERIFY(glyphs == Glyphs::kUtf8 || hasOnlyAscii(canvas));
        }
    }

    void aLargeScreenHasSeveralCharts() {
        const Canvas canvas = drawWatch(trainingRun(), {}, 200, 60, Glyphs::kUtf8);
        const std::string all = canvas.rows();
        for (const char* title : {"loss", "learning rate", "gradient norm"})
            QVERIFY2(all.find(title) != std::string::npos, all.c_str());
        QVERIFY(layoutOf(80, 24, 6, trainingRun().ranks, 0).charts.size() == 1);
        QVERIFY(layoutOf(200, 60, 6, trainingRun().ranks, 0).charts.size() == 6);
    }

    void everySizeCanBeDrawn() {
        WatchData data = trainingRun();
        data.notices = {"node-b cannot be reached", "stands still", "a third one"};
        data.ranks = ranksOn({{"node-a", 64}, {"node-b", 64}});
        for (const int width : {0, 1, 20, 39, 40, 79, 80, 119, 120, 121, 300})
            for (const int height : {0, 1, 5, 11, 12, 13, 23, 24, 25, 50, 120})
                for (const bool isHelp : {false, true}) {
                    WatchView view;
                    view.isHelp = isHelp;
                    const Canvas canvas = drawWatch(data, view, width, height, Glyphs::kUtf8);
                    QCOMPARE(canvas.width(), width);
                    QCOMPARE(canvas.height(), height);
                }
    }

    void textFromOutsideIsOneLineWithoutControls() {
        WatchData data = trainingRun();
        data.run.name = QString::fromUtf8("a\x1b[31m\nb\xe2\x80\xae模型");
        data.moments[0].text = "\x1b]0;title\x07 done";
        const Canvas canvas = drawWatch(data, {}, 80, 24, Glyphs::kUtf8);
        QVERIFY2(canvas.rows().find('\x1b') == std::string::npos, canvas.rows().c_str());
        QVERIFY2(canvas.rows().find("\xe2\x80\xae") == std::string::npos, canvas.rows().c_str());
        QCOMPARE(static_cast<int>(std::ranges::count(canvas.rows(), '\n')), 24);
        QVERIFY(hasOnlyAscii(drawWatch(data, {}, 80, 24, Glyphs::kAscii)));
    }

    void theHelpHasEveryKey() {
        WatchView view;
        view.isHelp = true;
        const std::string all = drawWatch(trainingRun(), view, 80, 24, Glyphs::kUtf8).rows();
        for (const KeyRow& row : keyRows())
            QVERIFY2(all.find(row.help) != std::string::npos, row.help);
    }

    void aCommandIsSentOnlyAfterYes_data() {
        QTest::addColumn<char>("key");
        QTest::addColumn<CommandKind>("kind");
        QTest::newRow("hold") << 'h' << CommandKind::kHold;
        QTest::newRow("pause") << 'p' << CommandKind::kPause;
        QTest::newRow("checkpoint") << 'c' << CommandKind::kCheckpoint;
        QTest::newRow("validate") << 'v' << CommandKind::kValidate;
        QTest::newRow("sample") << 'g' << CommandKind::kSample;
        QTest::newRow("stop") << 'x' << CommandKind::kStop;
    }
    void aCommandIsSentOnlyAfterYes() {
        QFETCH(char, key);
        QFETCH(CommandKind, kind);
        const WatchData data = trainingRun();
        WatchView view;
        const std::string once(1, key);
        QVERIFY(std::holds_alternative<std::monostate>(pressed(view, data, once.c_str())));
        const std::string question = drawWatch(data, view, 80, 24, Glyphs::kUtf8).rows();
        QVERIFY2(question.find("y: send") != std::string::npos, question.c_str());
        QVERIFY(isCommand(pressed(view, data, "y"), kind));
        QVERIFY(std::holds_alternative<std::monostate>(pressed(view, data, (once + "n").c_str())));
        QVERIFY(std::holds_alternative<std::monostate>(pressed(view, data, "y")));
        pressed(view, data, once.c_str());
        QVERIFY(std::holds_alternative<std::monostate>(
            pressKey(view, data, {Key::Named::kRedraw, 0}))); // the terminal was resized
        QVERIFY(isCommand(pressed(view, data, "y"), kind));
    }

    void aHeldRunContinuesByTheSameKey() {
        WatchData data = trainingRun();
        data.run.held = true;
        WatchView view;
        QVERIFY(isCommand(pressed(view, data, "hy"), CommandKind::kContinue));
    }

    void aRunThatHasEndedTakesNoCommand() {
        WatchData data = trainingRun();
        data.run.state = RunStateKind::kFinished;
        WatchView view;
        QVERIFY(std::holds_alternative<std::monostate>(pressed(view, data, "h")));
        QVERIFY(view.message.find("has ended") != std::string::npos);
        QVERIFY(std::holds_alternative<std::monostate>(pressed(view, data, "y")));
    }

    void aSettingIsCheckedBeforeItIsSent() {
        const WatchData data = trainingRun();
        const Key enter{Key::Named::kEnter, 0};
        const auto entered = [&](WatchView& view, const char* text) {
            pressed(view, data, text);
            return pressKey(view, data, enter);
        };
        WatchView view;
        const auto good = entered(view, "=optimizer.lr=1e-4");
        QVERIFY(isCommand(good, CommandKind::kSet));
        const std::vector<std::pair<std::string, std::string>> args = {{"optimizer.lr", "1e-4"}};
        QCOMPARE(std::get<SendCommand>(good).args, args);
        for (const char* bad :
             {"=", "=lr", "=model.layers=4", "=optimizer.lr=fast", "=optimizer.lr="}) {
            view.message.clear();
            QVERIFY2(std::holds_alternative<std::monostate>(entered(view, bad)), bad);
            QVERIFY2(!view.message.empty() && !view.prompted, bad);
        }
        pressed(view, data, "=optimizer.lr=q1"); // letters are typed and are no keys
        QVERIFY(view.prompted.has_value());
        pressKey(view, data, {Key::Named::kEscape, 0});
        QVERIFY(!view.prompted && view.typed.empty());
    }

    void theNewestChangeIsSetBackAfterYes() {
        WatchData data = trainingRun();
        WatchView view;
        QVERIFY(std::holds_alternative<std::monostate>(pressed(view, data, "u")));
        QVERIFY(view.message.find("no change") != std::string::npos);
        data.change = LiveChange{"set-1", "optimizer.lr", 0.0005, 0.01, 1, 90, 0, true, {}};
        pressed(view, data, "u");
        const std::string question = drawWatch(data, view, 80, 24, Glyphs::kUtf8).rows();
        QVERIFY2(question.find("optimizer.lr 0.0005 -> 0.01") != std::string::npos,
                 question.c_str());
        const auto action = pressed(view, data, "y");
        QVERIFY(isCommand(action, CommandKind::kSet));
        const std::vector<std::pair<std::string, std::string>> args = {{"optimizer.lr", "0.0005"}};
        QCOMPARE(std::get<SendCommand>(action).args, args);
        QVERIFY(std::get<SendCommand>(pressed(view, data, "cy")).args.empty());
        data.run.state = RunStateKind::kPaused;
        QVERIFY(std::holds_alternative<std::monostate>(pressed(view, data, "uy")));
    }

    void aLongMessageIsShownWhole() {
        WatchView view;
        view.message = std::string(150, 'a') + " the end";
        const Canvas canvas = drawWatch(trainingRun(), view, 80, 24, Glyphs::kUtf8);
        QVERIFY2(canvas.rows().find("the end") != std::string::npos, canvas.rows().c_str());
        QCOMPARE(canvas.row(21), std::string(80, 'a'));
        QVERIFY(canvas.row(23).starts_with("? help"));
    }

    void stepsAreAWholeNumber() {
        const WatchData data = trainingRun();
        const Key enter{Key::Named::kEnter, 0};
        WatchView view;
        pressed(view, data, "n10");
        QVERIFY(isCommand(pressKey(view, data, enter), CommandKind::kStep));
        for (const char* bad : {"n", "n0", "n-3", "n1.5", "nmany", "n99999999999999999999"}) {
            pressed(view, data, bad);
            QVERIFY2(std::holds_alternative<std::monostate>(pressKey(view, data, enter)), bad);
        }
    }

    void keysTurnChartsPanesAndMaps() {
        const WatchData data = trainingRun();
        WatchView view;
        pressed(view, data, "3");
        QCOMPARE(view.chart, size_t(2));
        pressed(view, data, "9"); // there is none
        QCOMPARE(view.chart, size_t(2));
        pressKey(view, data, {Key::Named::kRight, 0});
        QCOMPARE(view.chart, size_t(0));
        pressKey(view, data, {Key::Named::kLeft, 0});
        QCOMPARE(view.chart, size_t(2));
        pressed(view, data, "m");
        QCOMPARE(view.map, RankMapKind::kUtilization);
        pressKey(view, data, {Key::Named::kTab, 0});
        QCOMPARE(view.pane, WatchPane::kLog);
        pressed(view, data, "r");
        QCOMPARE(view.pane, WatchPane::kCommands);
        QVERIFY(std::holds_alternative<LeaveWatch>(pressed(view, data, "q")));
    }

    void aRunIsChosenFromTheList() {
        WatchData data = trainingRun();
        RunSummary other = data.run;
        other.id = "other-1";
        data.runs = {data.run, other};
        WatchView view;
        pressed(view, data, "w");
        QVERIFY(view.isList);
        const std::string list = drawWatch(data, view, 80, 24, Glyphs::kUtf8).rows();
        QVERIFY2(list.find("other-1") != std::string::npos, list.c_str());
        for (int i = 0; i < 3; ++i)
            pressKey(view, data, {Key::Named::kDown, 0});
        const auto action = pressKey(view, data, {Key::Named::kEnter, 0});
        QVERIFY(std::holds_alternative<OpenRun>(action));
        QCOMPARE(std::get<OpenRun>(action).run, QString("other-1"));
        data.runs.clear();
        view.isList = true;
        QVERIFY(
            std::holds_alternative<std::monostate>(pressKey(view, data, {Key::Named::kEnter, 0})));
    }
};

QTEST_GUILESS_MAIN(tst_watch_view)
#include "tst_watch_view.moc"
