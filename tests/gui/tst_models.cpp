// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/run_figures.h"
#include "app/core/store/requested_command.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/stored_checkpoint.h"
#include "app/ui/data/brief_names.h"
#include "app/ui/data/run_styles.h"
#include "app/ui/data/run_words.h"
#include "app/ui/data/timeline.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/models/checkpoints_model.h"
#include "app/ui/models/runs_model.h"
#include "app/ui/new_run/spec_field.h"
#include "app/ui/new_run/spec_form.h"
#include "app/ui/palette_dialog.h"
#include "app/ui/plot/heat_map.h"
#include "app/ui/plot/smoothing.h"
#include "app/ui/run/timeline_view.h"
#include "shared/board/board.h"
#include "shared/journal/event_codes.h"
#include "shared/spec/rule.h"

#include <QAbstractItemModelTester>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>

using namespace rm;

namespace {

RunSummary runCalled(const QString& name, int64_t step, RunStateKind state) {
    RunSummary run;
    run.id = name;
    run.name = name;
    run.step = step;
    run.state = state;
    run.ranks = 4;
    run.totalSteps = 1000;
    return run;
}

RankMeans rankWith(int rank, double dataMs, double waitMs) {
    return {rank, 100, 1000, {dataMs, 20, 40, waitMs, 10}};
}

StoredCheckpoint checkpointAt(int64_t step, double loss, bool removed = false) {
    StoredCheckpoint checkpoint;
    checkpoint.saved.step = step;
    checkpoint.saved.validationLoss = loss;
    checkpoint.saved.path = "/ckpt/step-" + std::to_string(step);
    checkpoint.saved.reason = "every 500";
    checkpoint.removed = removed;
    return checkpoint;
}

const QChar kThin(0x202F);

} // namespace

class TestModels : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void namesLeaveOutWhatAllHave();
    void newRunsLookUnlikeEachOther();
    void runsModelKeepsTheModelRules();
    void runsSortByNumberNotByText();
    void filterWantsEveryWord();
    void editsAreSignalsAndTagsAreTidied();
    void removedCheckpointsAreNotShown();
    void theBestCheckpointSaysSo();
    void abandonedCheckpointSaysSo();
    void attemptIsToldWithWhatItRetires();
    void commandsAreToldWithWhoAskedForThem();
    void stepsOfAHeldRunAreCounted();
    void slowRankIsShownWithItsPhase();
    void pausingCountsTheRanksThatHaveEnded();
    void heldIsSaidWithItsStep();
    void lostNodeShowsInTheState();
    void aLaunchIsPreparedAndCancelled();
    void whatNeverTrainedSaysSo();
    void aKillIsNotCalledAStop();
    void lostNodesAreNamed();
    void smoothingOfAConstantIsTheConstant();
    void smoothingSkipsNotANumber();
    void smoothingStartsAtTheFirstValue();
    void figuresAreGroupedAndScaled();
    void paletteFindsByLettersInOrder();
    void theChosenMomentIsShownToItsEnd();
    void oneRankFillsItsRowOfTheHeatMap();
    void aZeroSaysWhatItMeans();
    void formShowsAndWritesTheSpec();
    void formRefusesWhatIsNoNumber();
    void rulesAreExplainedWhereTheyAreWritten();
    void checkpointCommandIsToldOnce();
    void anAttemptThatNeverStartedIsNotTold();
};

void TestModels::runsModelKeepsTheModelRules() {
    RunsModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setRuns({runCalled("a", 1, RunStateKind::kRunning)});
    model.setRuns({runCalled("a", 2, RunStateKind::kPaused), runCalled("b", 1, {})});
    model.setRuns({});
    QCOMPARE(model.rowCount(), 0);
}

void TestModels::runsSortByNumberNotByText() {
    RunsModel model;
    RunsFilter rows;
    rows.setSourceModel(&model);
    model.setRuns(
        {runCalled("nine", 9, {}), runCalled("hundred", 100, {}), runCalled("twenty", 20, {})});
    rows.sort(RunsModel::kStep, Qt::AscendingOrder);
    QCOMPARE(rows.index(0, 0).data().toString(), "nine");
    QCOMPARE(rows.index(2, 0).data().toString(), "hundred");
}

void TestModels::filterWantsEveryWord() {
    RunsModel model;
    RunsFilter rows;
    rows.setSourceModel(&model);
    RunSummary tagged = runCalled("gpt wide", 1, RunStateKind::kPaused);
    tagged.tags = {"baseline"};
    model.setRuns({tagged, runCalled("gpt narrow", 1, RunStateKind::kRunning)});
    rows.setFilter(*parseRunFilter("GPT"));
    QCOMPARE(rows.rowCount(), 2);
    rows.setFilter(*parseRunFilter("gpt base paused"));
    QCOMPARE(rows.rowCount(), 1);
    rows.setFilter(*parseRunFilter("gpt nowhere"));
    QCOMPARE(rows.rowCount(), 0);
}

void TestModels::editsAreSignalsAndTagsAreTidied() {
    RunsModel model;
    model.setRuns({runCalled("a", 1, {})});
    QSignalSpy tags(&model, &RunsModel::tagsEdited);
    QSignalSpy notes(&model, &RunsModel::notesEdited);
    QVERIFY(model.setData(model.index(0, RunsModel::kTags), " wmt, ,base,wmt ", Qt::EditRole));
    QVERIFY(model.setData(model.index(0, RunsModel::kNotes), "slow disk", Qt::EditRole));
    QCOMPARE(tags.first().at(1).toStringList(), QStringList({"wmt", "base"}));
    QCOMPARE(notes.first().at(1).toString(), "slow disk");
    QVERIFY(!model.setData(model.index(0, RunsModel::kNotes), "", Qt::EditRole));
    QVERIFY(model.index(0, RunsModel::kNotes).data().toString().isEmpty());
}

void TestModels::removedCheckpointsAreNotShown() {
    CheckpointsModel model;
    model.show({checkpointAt(1500, 2.1), checkpointAt(1000, 2.4, true), checkpointAt(500, 3)});
    QCOMPARE(model.rowCount(), 2);
    QCOMPARE(model.rowOfStep(1000), -1);
    QCOMPARE(model.rowOfStep(500), 1);
}

void TestModels::theBestCheckpointSaysSo() {
    CheckpointsModel model;
    StoredCheckpoint best = checkpointAt(500, 3);
    best.isBest = true;
    model.show({checkpointAt(1000, std::nan("")), best});
    QVERIFY(model.index(1, CheckpointsModel::kBecause).data().toString().contains("best"));
    QVERIFY(!model.index(0, CheckpointsModel::kBecause).data().toString().contains("best"));
    QCOMPARE(model.index(0, CheckpointsModel::kValidation).data().toString(), kAbsent);
}

void TestModels::abandonedCheckpointSaysSo() {
    CheckpointsModel model;
    StoredCheckpoint gone = checkpointAt(60, 1), again = checkpointAt(60, 2);
    gone.attempt = 1;
    gone.retiredBy = 2;
    again.attempt = 2;
    again.saved.path += "-attempt-2";
    model.show({gone, again});
    QCOMPARE(model.rowOfStep(60), 1);
    QCOMPARE(model.rowOfPath(gone.saved.path), 0);
    QCOMPARE(model.index(0, CheckpointsModel::kAttempt).data().toString(), "1");
    QCOMPARE(model.index(0, CheckpointsModel::kBecause).data().toString(),
             "every 500; set aside by attempt 2");
    QCOMPARE(model.index(1, CheckpointsModel::kBecause).data().toString(), "every 500");
}

void TestModels::attemptIsToldWithWhatItRetires() {
    RunHistory history;
    history.attempts = {{1, 0, 100, true, {}, {}}, {2, 60, 200, true, {}, {}}};
    history.lines = {{1, 1, 60, 0, 0}, {1, 61, 76, 2, 60}};
    StoredCheckpoint checkpoint = checkpointAt(76, 1);
    checkpoint.attempt = 1;
    checkpoint.retiredBy = 2;
    checkpoint.saved.wallNs = 150;
    history.checkpoints = {checkpoint};
    const auto moments = timelineOf(runCalled("a", 60, {}), history);
    QCOMPARE(moments.size(), size_t(3));
    QCOMPARE(moments[0].text, "attempt 2 from step 60, sets aside steps 61 to 76");
    QVERIFY2(moments[1].text.endsWith("(attempt 1)"), qPrintable(moments[1].text));
}

void TestModels::commandsAreToldWithWhoAskedForThem() {
    RunHistory history;
    history.commands = {{CommandApplied{"id-1", "hold", 9, 100, true, ""}, 1},
                        {CommandApplied{"id-2", "stop", 12, 300, true, ""}, 1}};
    const Requester kc{"kc", RequestedFrom::kWindow};
    history.requested = {
        {.id = "id-4", .kind = "pause", .by = kc, .requestedNs = 500},
        {.id = "id-3",
         .kind = "kill",
         .by = {"eva", RequestedFrom::kTerminal},
         .requestedNs = 350,
         .state = RequestedState::kApplied,
         .answeredNs = 400,
         .answer = "killed"},
        {.id = "id-2", .kind = "stop", .by = {{}, RequestedFrom::kElsewhere}, .requestedNs = 300},
        {.id = "id-1",
         .kind = "hold",
         .by = kc,
         .requestedNs = 90,
         .state = RequestedState::kApplied}};
    const auto moments = timelineOf(runCalled("a", 60, {}), history);
    QCOMPARE(moments.size(), size_t(4));
    QCOMPARE(moments[0].text,
             "pause, asked for by kc in the window: waits for a node to accept it");
    QCOMPARE(moments[1].text, "kill, asked for by eva in a terminal: done: killed");
    QCOMPARE(moments[2].text, "stopped at step 12");
    QCOMPARE(moments[3].text, "held at step 9, kc in the window");
}

void TestModels::stepsOfAHeldRunAreCounted() {
    RunHistory history;
    history.commands = {{CommandApplied{"id-1", "step", 467, 100, true, ""}, 1},
                        {CommandApplied{"id-2", "step", 470, 200, true, ""}, 1},
                        {CommandApplied{"id-3", "validate", 471, 300, true, ""}, 1}};
    const Requester kc{"kc", RequestedFrom::kWindow};
    history.requested = {
        {.id = "id-1", .kind = "step", .args = {{"steps", "3"}}, .by = kc, .requestedNs = 90},
        {.id = "id-2", .kind = "step", .by = {{}, RequestedFrom::kElsewhere}, .requestedNs = 200},
        {.id = "id-3", .kind = "validate", .by = kc, .requestedNs = 290}};
    const auto moments = timelineOf(runCalled("a", 471, {}), history);
    QCOMPARE(moments.size(), size_t(3));
    QCOMPARE(moments[0].text, "validated at step 471, kc in the window");
    QCOMPARE(moments[1].text, "steps done while held, from step 470");
    QCOMPARE(moments[2].text, "3 steps done while held, from step 467, kc in the window");
}

void TestModels::slowRankIsShownWithItsPhase() {
    const std::vector<RankMeans> ranks = {rankWith(0, 4, 22), rankWith(1, 22, 4),
                                          rankWith(2, 4, 22)};
    QCOMPARE(phaseOf({.rank = 1, .cause = SlowCause::kData}, ranks), size_t(0));
    QCOMPARE(phaseOf({.rank = 1, .cause = SlowCause::kLink}, ranks), size_t(3));
    // Of two ranks the other one is the measure, in each phase.
    RankMeans late = rankWith(1, 5, 4);
    late.phaseMs[2] += 20;
    QCOMPARE(phaseOf({.rank = 1, .cause = SlowCause::kCompute}, {rankWith(0, 4, 22), late}),
             size_t(2));
}

void TestModels::pausingCountsTheRanksThatHaveEnded() {
    const RunSummary run = runCalled("a", 412, RunStateKind::kRunning);
    LiveState live;
    live.pending = CommandKind::kPause;
    QCOMPARE(stateWords(run, live).text, "Pausing");
    RunState state;
    state.ranks = {{0, 0, 412, 0, 0, 21, 0}, {1, 7, 412, 9, 0, 0, 0}, {2, 8, 412, 2, 0, 0, 0}};
    live.nodes = {{"node-a", LiveState::Link::kLive, {}, 0, state}};
    QCOMPARE(stateWords(run, live).text, "Pausing, 2 of 4 ranks");
}

void TestModels::heldIsSaidWithItsStep() {
    LiveState live;
    live.held = true;
    QCOMPARE(stateWords(runCalled("a", 412, RunStateKind::kRunning), live).text, "Held at 412");
    RunState ahead; // of what was ingested
    ahead.ranks = {{0, 9, 413, 0, 0, 0, 0}};
    live.nodes = {{"node-a", LiveState::Link::kLive, {}, 0, ahead}};
    QCOMPARE(stateWords(runCalled("a", 412, RunStateKind::kRunning), live).text, "Held at 413");
    QCOMPARE(stateWords(runCalled("a", 412, RunStateKind::kPaused), live).text, "Paused at 412");
}

void TestModels::lostNodeShowsInTheState() {
    RunSummary run = runCalled("a", 412, RunStateKind::kRunning);
    run.lostNodes = {{"node-b", 1, "node-b cannot be reached"}};
    QCOMPARE(stateWords(run).text, "Running, node-b unreachable");
    RunSummary concluded = runCalled("a", 412, RunStateKind::kFinished);
    concluded.isPresumed = true;
    QCOMPARE(stateWords(concluded).text, "Finished, not confirmed");
    QCOMPARE(stateWords(concluded).tone, Tone::kWarn);
    QCOMPARE(stateWords(run).tone, Tone::kWarn);
}

void TestModels::aLaunchIsPreparedAndCancelled() {
    LiveState live;
    live.launching = Progress{"Check nodes"};
    const RunSummary paused = runCalled("a", 412, RunStateKind::kPaused); // it is being resumed
    QCOMPARE(stateWords(paused, live).text, "Preparing");
    live.pending = CommandKind::kStop;
    QCOMPARE(stateWords(paused, live).text, "Cancelling launch");
    live = {};
    live.pending = CommandKind::kKill; // its ranks are there and do not train yet
    QCOMPARE(stateWords(runCalled("a", 0, RunStateKind::kPreparing), live).text,
             "Cancelling launch");
}

void TestModels::whatNeverTrainedSaysSo() {
    QCOMPARE(stateWords(runCalled("a", 0, RunStateKind::kStopped)).text, "Stopped before step 1");
    QCOMPARE(stateWords(runCalled("a", 0, RunStateKind::kFailed)).text, "Failed before step 1");
    QCOMPARE(stateWords(runCalled("a", 7, RunStateKind::kStopped)).text, "Stopped at 7");
    RunSummary branch = runCalled("b", 600, RunStateKind::kFailed);
    branch.parentStep = 600;
    QCOMPARE(stateWords(branch).text, "Failed before step 601");
}

void TestModels::aKillIsNotCalledAStop() {
    RunSummary run = runCalled("a", 7, RunStateKind::kStopped);
    run.message = "stopped on request";
    QCOMPARE(stateWords(run).text, "Stopped at 7");
    run.message = kKilledMessage;
    QCOMPARE(stateWords(run).text, "Killed at 7");
    run.step = 0;
    QCOMPARE(stateWords(run).text, "Killed before step 1");
    LiveState live;
    live.pending = CommandKind::kKill;
    QCOMPARE(stateWords(runCalled("a", 7, RunStateKind::kRunning), live).text, "Killing");
}

void TestModels::lostNodesAreNamed() {
    LiveState live;
    live.nodes = {{"node-a", LiveState::Link::kLive, {}, 0, {}},
                  {"node-b", LiveState::Link::kLost, "timed out", 1, {}}};
    QVERIFY(linkLostText(live).startsWith("node-b unreachable since"));
    QVERIFY(!linkLostText(live).contains("node-a"));
    QVERIFY(linkLostText({}).isEmpty());
}

void TestModels::smoothingOfAConstantIsTheConstant() {
    const QVector<double> y(50, 3.25);
    QVector<double> x;
    for (int i = 0; i < 50; ++i)
        x << i * i; // uneven
    for (const double value : smoothed(x, y, {SmoothingKind::kEma, 0.99}, 2500))
        QVERIFY(std::abs(value - 3.25) < 1e-12);
}

void TestModels::smoothingSkipsNotANumber() {
    const QVector<double> out = smoothed({0, 1, 2}, {1, qQNaN(), 1}, {SmoothingKind::kEma, 0.9}, 2);
    QVERIFY(std::isnan(out[1]));
    QCOMPARE(out[2], 1.0);
}

void TestModels::smoothingStartsAtTheFirstValue() {
    const QVector<double> out = smoothed({0, 1, 2}, {7, 1, 1}, {SmoothingKind::kEma, 0.9}, 1000);
    QCOMPARE(out[0], 7.0);
    QVERIFY(out[1] > 1 && out[1] < 7);
    QVERIFY(out[2] < out[1]);
}

void TestModels::figuresAreGroupedAndScaled() {
    QCOMPARE(formatCount(38412), QString("38") + kThin + "412");
    QCOMPARE(formatCount(-1234567), QString("-1") + kThin + "234" + kThin + "567");
    QCOMPARE(formatCompact(412345), QString("412") + kThin + "k");
    QCOMPARE(formatBytes(743e6), QString("743") + kThin + "MB");
    QCOMPARE(formatFigure(2.1844), "2.184");
    QCOMPARE(formatFigure(0.0016), "0.0016");
    QCOMPARE(formatFigure(0.000294), "2.94e-04");
    QCOMPARE(formatFigure(std::nan("")), kAbsent);
    QCOMPARE(formatDuration(4320), "1 h 12 min");
    QCOMPARE(formatDuration(59.4), "59 s");
    QCOMPARE(formatDuration(119), "2 min");
    QCOMPARE(formatDuration(3599), "1 h 0 min");
    QCOMPARE(formatDuration(86399), "1 d 0 h");
    QCOMPARE(formatPercent(0.47), QString("47") + kThin + "%");
    QCOMPARE(formatRelative(0, 10 * 60'000'000'000LL), "10 min ago");
}

void TestModels::theChosenMomentIsShownToItsEnd() {
    TimelineView view;
    view.resize(300, 300);
    Moment moment;
    moment.text = QString("a warning with many words ").repeated(8);
    view.setMoments({moment, moment});
    view.show();
    const auto height = [&](int row) {
        return view.visualRect(view.model()->index(row, 0)).height();
    };
    QTRY_VERIFY(height(0) > 0);
    const int line = height(0);
    view.setCurrentIndex(view.model()->index(1, 0));
    QTRY_VERIFY(height(1) > 3 * line);
    QCOMPARE(height(0), line);
    view.setCurrentIndex(view.model()->index(0, 0));
    QTRY_COMPARE(height(1), line);
}

void TestModels::oneRankFillsItsRowOfTheHeatMap() {
    HeatData data;
    data.metric = "rank/cpu";
    data.labels = {"0 a:0"};
    data.cells = {{1, 1, 1, 1}};
    data.trained = {{0, 4'000'000'000}};
    HeatMap map;
    map.resize(400, 160);
    map.show(data);
    map.setVisible(true);
    auto* plot = map.findChild<QWidget*>("plot");
    const QColor full = colours().accent;
    QTRY_VERIFY(plot->isVisible() && plot->width() > 0);
    const auto at = [&] { return plot->grab().toImage().pixelColor(plot->rect().center()); };
    QTRY_COMPARE(at().rgb(), full.rgb());
}

void TestModels::paletteFindsByLettersInOrder() {
    QVERIFY(paletteScore("New run", "new") > paletteScore("New run", "nr"));
    QVERIFY(paletteScore("Check all nodes", "chkn") >= 0);
    QCOMPARE(paletteScore("Nodes", "x"), -1);
    QCOMPARE(paletteScore("Nodes", "sn"), -1);
}

void TestModels::aZeroSaysWhatItMeans() {
    RunSpec spec;
    const auto meaning = [&spec](std::string_view key) {
        return meaningOfZero(*std::ranges::find(specSchema(), key, &SpecField::key), spec);
    };
    QCOMPARE(meaning("train.epochs"), "0: it counts steps");
    spec.train.epochs = 3;
    QCOMPARE(meaning("train.epochs"), "");
    QCOMPARE(meaning("seed"), "");
    QCOMPARE(meaning("data.workers"), "0: chosen for the kind of data");
}

void TestModels::formShowsAndWritesTheSpec() {
    SpecForm form;
    RunSpec spec;
    spec.data.train = {"/a", "/b c"};
    spec.optimizer.lr = 2.5e-4;
    spec.validation.prompt = "\n";
    form.setSpec(spec);
    QVERIFY(form.spec() == spec);
    for (const SpecField& field : specSchema())
        QVERIFY2(form.findChild<QWidget*>(
                     "field." +
                     QString::fromLatin1(field.key.data(), static_cast<int>(field.key.size()))),
                 field.key.data());
    QSignalSpy edited(&form, &SpecForm::edited);
    auto* lr = form.findChild<QLineEdit*>("field.optimizer.lr");
    QCOMPARE(lr->text(), "0.00025");
    lr->selectAll();
    QTest::keyClicks(lr, "3e-4");
    QVERIFY(edited.count() > 0);
    QCOMPARE(form.spec().optimizer.lr, 3e-4);
    QCOMPARE(form.spec().data.train, spec.data.train);
}

void TestModels::formRefusesWhatIsNoNumber() {
    SpecForm form;
    auto* steps = form.findChild<QLineEdit*>("field.train.steps");
    const int64_t before = form.spec().train.steps;
    QSignalSpy edited(&form, &SpecForm::edited);
    steps->selectAll();
    QTest::keyClicks(steps, "x");
    QVERIFY(steps->property("invalid").toBool());
    QCOMPARE(form.spec().train.steps, before);
    QCOMPARE(edited.count(), 0);
}

void TestModels::rulesAreExplainedWhereTheyAreWritten() {
    SpecForm form;
    const auto* rule = form.findChild<QLineEdit*>("field.rules");
    QVERIFY(rule);
    QVERIFY(parseRule(rule->placeholderText().toStdString()));
    QVERIFY2(rule->toolTip().contains(QString::fromStdString(ruleHelp())),
             qPrintable(rule->toolTip()));
}

void TestModels::checkpointCommandIsToldOnce() {
    RunHistory history;
    history.checkpoints = {checkpointAt(500, 3)};
    StoredCommand command;
    command.applied.kind = "checkpoint";
    command.applied.step = 500;
    history.commands = {command};
    QCOMPARE(timelineOf(runCalled("a", 500, {}), history).size(), size_t(1));
    command.applied.ok = false;
    history.commands = {command};
    QCOMPARE(timelineOf(runCalled("a", 500, {}), history).size(), size_t(2));
}

void TestModels::anAttemptThatNeverStartedIsNotTold() {
    RunHistory history;
    history.attempts = {{1, 0, 100, true, {}, {}}, {2, 500, 200, false, {}, {}}};
    QCOMPARE(timelineOf(runCalled("a", 500, {}), history).size(), size_t(1));
    QVERIFY(chartMarks(history).empty());
    history.attempts.back().hasStarted = true;
    QCOMPARE(timelineOf(runCalled("a", 500, {}), history).size(), size_t(2));
    QCOMPARE(chartMarks(history).size(), size_t(1));
}

void TestModels::namesLeaveOutWhatAllHave() {
    QCOMPARE(briefNames({"gpt, lr 1, seed 1", "gpt, lr 1, seed 2"}),
             QStringList({"seed 1", "seed 2"}));
    QCOMPARE(briefNames({"gpt", "gpt, lr 1", "gpt, lr 2"}), QStringList({"gpt", "lr 1", "lr 2"}));
    QCOMPARE(briefNames({"gpt", "gpt-tiny"}), QStringList({"gpt", "gpt-tiny"}));
    QCOMPARE(briefNames({"gpt, lr 1", "gpt, lr 1"}), QStringList({"lr 1", "lr 1"}));
    QCOMPARE(briefNames({"gpt, lr 1"}), QStringList({"gpt, lr 1"}));
    QCOMPARE(inTwoLines("lr 0.01, batch_size 8, seed 1"),
             QString("lr 0.01,\nbatch_size 8, seed 1"));
    QCOMPARE(inTwoLines("lr 0.01"), QString("lr 0.01"));
}

void TestModels::newRunsLookUnlikeEachOther() {
    const QTemporaryDir folder;
    const QString settings = folder.filePath("settings.ini");
    QStringList runs;
    const auto add = [&](int64_t created) { runs << QString("run-%1").arg(created); };
    for (int run = 0; run < 20; ++run)
        add(run);
    RunStyles styles(settings);
    styles.see(runs);
    QSet<std::pair<int, int>> newest;
    for (const QString& run : runs.last(kRunStyles))
        newest << std::pair(styles.of(run).colour, static_cast<int>(styles.of(run).dash));
    QCOMPARE(newest.size(), static_cast<qsizetype>(kRunStyles));
    const RunStyle before = styles.of(runs.last());
    const QSignalSpy changed(&styles, &RunStyles::changed);
    runs.removeFirst(); // it is deleted
    styles.see(runs);
    styles.tellApart(runs.last(kRunStyles));
    QCOMPARE(changed.size(), 0);
    QCOMPARE(RunStyles(settings).of(runs.last()), before); // at the next start
}

QTEST_MAIN(TestModels)
#include "tst_models.moc"
