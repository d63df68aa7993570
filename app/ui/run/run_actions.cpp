// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/run_actions.h"

#include "app/core/answer.h"
#include "app/core/checkpoints/checkpoint_choice.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/engine/go_back.h"
#include "app/core/queue/queue_order.h"
#include "app/core/queue/sweep.h"
#include "app/core/runs/live_changes.h"
#include "app/core/runs/live_spec.h"
#include "app/core/runs/parts_of_run.h"
#include "app/core/runs/requested_words.h"
#include "app/core/store/export.h"
#include "app/core/store/store_reader.h"
#include "app/ui/data/run_words.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/dialogs/checkpoint_dialogs.h"
#include "app/ui/dialogs/commands_dialog.h"
#include "app/ui/dialogs/export_dialog.h"
#include "app/ui/dialogs/live_dialogs.h"
#include "app/ui/dialogs/revert_dialog.h"
#include "app/ui/dialogs/run_dialogs.h"
#include "app/ui/dialogs/too_large_dialog.h"
#include "app/ui/dialogs/trace_dialog.h"
#include "app/ui/look/format.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/page_header.h"
#include "app/ui/widgets/toast.h"
#include "shared/checkpoint/manifest.h"

#include <QMenu>
#include <QPushButton>

namespace rm {

namespace {
constexpr int64_t kWidestStep = 88'888; ///< in the caption of a button, which keeps its width
} // namespace

RunActions::RunActions(const AppContext& context, PageHeader& header, QWidget* page)
    : QObject(page)
    , m_context(context)
    , m_page(page)
    , m_rename(header.addAction(tr("Rename"), "quiet", "renameRun"))
    , m_clean(header.addAction(tr("Clean nodes"), "quiet", "cleanRun"))
    , m_hold(header.addAction(tr("Hold"), "", "holdRun"))
    , m_checkpoint(header.addAction(tr("Checkpoint"), "", "checkpointRun"))
    , m_pause(header.addAction(tr("Pause"), "", "pauseRun"))
    , m_resume(header.addAction(tr("Resume"), "primary", "resumeRun"))
    , m_resumeOn(header.addAction(tr("Resume on other nodes"), "", "resumeRunOn"))
    , m_cancel(header.addAction(tr("Cancel launch"), "", "cancelLaunch"))
    , m_more(header.addAction(tr("More"), "", "moreRun"))
    , m_stop(header.addAction(tr("Stop"), "danger", "stopRun"))
    , m_all{m_hold,   m_checkpoint, m_pause, m_resume, m_resumeOn,
            m_cancel, m_more,       m_stop,  m_clean,  m_rename} {
    buildMore();
    keepWidth(*m_hold, {tr("Hold"), tr("Continue")});
    keepWidth(*m_resume, {tr("Resume"), tr("Resume from %1").arg(formatCount(kWidestStep))});
    m_clean->setToolTip(tr("Delete this run's folder on its nodes, with the checkpoints in it"));
    m_hold->setToolTip(tr("Wait at the next step with everything kept in memory"));
    m_pause->setToolTip(tr("Save a checkpoint, end the ranks and free the devices"));
    m_cancel->setToolTip(
        tr("End what was started on the nodes; what was sent to them stays there"));
    connect(m_hold, &QPushButton::clicked, this,
            [this] { send(m_live.held ? CommandKind::kContinue : CommandKind::kHold); });
    connect(m_checkpoint, &QPushButton::clicked, this, [this] { send(CommandKind::kCheckpoint); });
    connect(m_pause, &QPushButton::clicked, this, [this] { send(CommandKind::kPause); });
    connect(m_resume, &QPushButton::clicked, this, [this] { resume(); });
    connect(m_resumeOn, &QPushButton::clicked, this, &RunActions::askNodes);
    connect(m_cancel, &QPushButton::clicked, this, &RunActions::cancelLaunch);
    connect(m_stop, &QPushButton::clicked, this, &RunActions::askStop);
    connect(m_rename, &QPushButton::clicked, this,
            [this] { (new RenameDialog(m_context, m_run, m_page->window()))->open(); });
    connect(&m_context.engine, &Engine::tooLarge, this,
            [this](const QString& run, const QString& why) {
                if (m_tooLarge.contains(run))
                    m_tooLarge[run] = why;
            });
    connect(m_clean, &QPushButton::clicked, this,
            [this] { (new CleanDialog(m_context, m_run, m_page->window()))->open(); });
    hide();
}

void RunActions::buildMore() {
    auto* menu = m_menu = new QMenu(m_more);
    menu->setObjectName("moreMenu");
    menu->setToolTipsVisible(true);
    connect(m_more, &QPushButton::clicked, this,
            [this, menu] { menu->popup(m_more->mapToGlobal(QPoint(0, m_more->height()))); });
    m_more->setToolTip(tr("What else can be done with this run"));
    m_validate =
        menu->addAction(tr("Validate now"), this, [this] { send(CommandKind::kValidate); });
    m_sample =
        menu->addAction(tr("Generate a sample"), this, [this] { send(CommandKind::kSample); });
    m_step = menu->addAction(tr("Do some steps"), this, &RunActions::askSteps);
    m_step->setToolTip(tr("While held: do some steps and hold again"));
    m_set = menu->addAction(tr("Change a setting"), this, &RunActions::askSetting);
    menu->addSeparator();
    menu->addAction(tr("Export metrics"), this, &RunActions::askMetricsFile)
        ->setToolTip(tr("Write every sample to a CSV file, as `ringmaster export` does"));
    m_compare = menu->addAction(tr("Compare with its parent"), this, [this] {
        Q_EMIT compareRequested({m_run.parentRun, m_run.id});
    });
    m_compare->setToolTip(tr("Both to their ends, in one chart for each metric"));
    menu->addAction(tr("Show its lineage"), this, [this] { Q_EMIT lineageRequested(m_run.id); })
        ->setToolTip(tr("The runs that hang together with this one by branches, and what each "
                        "changed"));
    menu->addAction(tr("Traces"), this, &RunActions::showTraces)
        ->setToolTip(tr("What every rank does in some steps, on one clock; record another one"));
    m_again = menu->addAction(tr("Edit and launch again"), this, &RunActions::askAgain);
    m_again->setToolTip(tr("Launch another run like this one, from its first step"));
    m_resumeLater =
        menu->addAction(tr("Resume when its nodes are free"), this, &RunActions::resumeLater);
    m_resumeLater->setToolTip(tr("It waits in the queue and goes on from its newest checkpoint"));
    m_reproduce = menu->addAction(tr("Launch again as it was"), this, &RunActions::reproduce);
    m_reproduce->setToolTip(tr("The same settings, trainer, data and nodes, or what differs"));
    menu->addSeparator();
    m_kill = menu->addAction(tr("Kill"), this, &RunActions::askKill);
    m_kill->setToolTip(tr("End every rank at once, also one that obeys nothing"));
}

void RunActions::askSteps() {
    auto* dialog = new StepDialog(m_run.name, m_page->window());
    connect(dialog, &StepDialog::chosen, this, [this](int steps) {
        send(CommandKind::kStep, {{"steps", std::to_string(steps)}});
    });
    dialog->open();
}

/// For another run like this one, by itself.
QFuture<std::string> RunActions::readSpec() const {
    return m_context.store.ask([run = m_run.id, sweep = m_run.sweep](StoreReader& reader) {
        const std::string toml = reader.specToml(run);
        const auto spec = parseRunSpec(toml, run.toStdString());
        const RunSpec alone = spec ? withoutRungs(*spec, reader.sweep(sweep)) : RunSpec();
        return spec && alone != *spec ? toToml(alone) : toml;
    });
}

void RunActions::askAgain() {
    whenAnswered(readSpec(), this, [this, run = m_run.id](const std::string& toml) {
        if (run == m_run.id)
            Q_EMIT editRequested(run, QString::fromStdString(toml), m_nodes);
    });
}

void RunActions::resumeLater() {
    const EnqueueResumeRequest request{m_run.id, queuedPlace(m_nodes, 0, false)};
    whenAnswered(m_context.engine.ask(request), this, [this](const Result<void>& done) {
        if (!done)
            m_context.toast.say(QString::fromStdString(done.error().message));
        m_context.runs.refresh();
    });
}

void RunActions::reproduce() {
    whenAnswered(
        readSpec(), this, [this, run = m_run.id, nodes = m_nodes](const std::string& toml) {
            const auto spec = parseRunSpec(toml, run.toStdString());
            if (!spec)
                return m_context.toast.say(QString::fromStdString(spec.error().message));
            m_context.toast.say(tr("%1 is being launched again as it was").arg(m_run.name));
            launchAgain(*spec, nodes, IfTooLarge::kRefuse, run);
        });
}

void RunActions::launchAgain(const RunSpec& spec, const std::vector<Placement>& nodes,
                             IfTooLarge ifTooLarge, const QString& asWas) {
    const QString id = QString::fromStdString(newRunId(spec.name));
    m_tooLarge[id].clear();
    const auto answer = m_context.engine.ask(LaunchRequest{spec, nodes, id, ifTooLarge, asWas});
    whenAnswered(answer, this, [=, this](const Result<QString>& started) {
        const auto launch = [=, this] { launchAgain(spec, nodes, IfTooLarge::kLaunch, asWas); };
        const QString why = m_tooLarge.take(id);
        if (!started && askAboutTooLarge(why, launch))
            return;
        if (!started)
            return m_context.toast.say(QString::fromStdString(started.error().message));
        m_context.runs.refresh();
        Q_EMIT reproduced(*started);
    });
}

/// False: the launch was not refused as too large, as `why` is empty.
bool RunActions::askAboutTooLarge(const QString& why, const std::function<void()>& launch) {
    if (why.isEmpty())
        return false;
    auto* dialog = new TooLargeDialog(why, m_page->window());
    connect(dialog, &QDialog::accepted, this, launch);
    dialog->open();
    return true;
}

void RunActions::askSetting() {
    const auto read = m_context.store.ask([run = m_run.id](StoreReader& reader) {
        return std::pair(reader.specToml(run), settingsNow(reader.settings(run)));
    });
    whenAnswered(read, this, [this, run = m_run.id](const auto& found) {
        const auto spec = parseRunSpec(found.first, run.toStdString());
        if (run != m_run.id)
            return;
        if (!spec)
            return m_context.toast.say(QString::fromStdString(spec.error().message));
        auto* dialog = new SetDialog(m_run.name, liveSpec(*spec, found.second), m_page->window());
        connect(dialog, &SetDialog::chosen, this,
                [this](const std::string& key, const std::string& value) {
                    send(CommandKind::kSet, {{key, value}});
                });
        dialog->open();
    });
}

void RunActions::withdraw(const std::vector<RequestedCommand>& commands) {
    for (const RequestedCommand& each : commands)
        whenAnswered(m_context.engine.ask(WithdrawRequest{m_run.id, each.id}), this,
                     [this, what = QString::fromStdString(requestedWords(each))](
                         const Result<QString>& withdrawn) {
                         m_context.toast.say(!withdrawn
                                                 ? QString::fromStdString(withdrawn.error().message)
                                             : withdrawn->isEmpty()
                                                 ? tr("%1 is withdrawn").arg(what)
                                                 : tr("%1 is withdrawn; %2").arg(what, *withdrawn));
                         m_context.runs.refresh();
                     });
}

void RunActions::askMetricsFile() {
    askExport(m_context, m_page->window(),
              {tr("Export metrics"), "metricsExportDialog", m_run.id + ".csv",
               [run = m_run.id](StoreReader& reader, const QString& path) {
                   return exportCsv(reader, {run}, path);
               },
               [](int64_t rows) { return counted(rows, tr("1 sample"), tr("%1 samples")); }});
}

void RunActions::showTraces() {
    (new TraceDialog(m_context, m_run, m_page->window()))->show();
}

void RunActions::showCommands() {
    auto* dialog = new CommandsDialog(m_context, m_run, m_page->window());
    connect(dialog, &CommandsDialog::withdrawRequested, this, &RunActions::withdraw);
    connect(dialog, &CommandsDialog::revertRequested, this,
            [this, dialog](const std::string& command) {
                dialog->close();
                askRevert(command);
            });
    dialog->open();
}

void RunActions::askRevert(const std::string& command) {
    struct Found {
        Result<LiveChange> change;
        Retirement retires;
    };
    const auto read = m_context.store.ask([run = m_run, command](StoreReader& reader) {
        const std::string attempt = tr("Take a change of %1 back").arg(run.name).toStdString();
        Found found{findChange(liveChanges(reader, run), command, attempt), {}};
        if (found.change && found.change->checkpoint)
            found.retires = reader.retirementBy(run.id, *found.change->checkpoint);
        return found;
    });
    whenAnswered(read, this, [this, run = m_run.id](const Found& found) {
        if (run != m_run.id)
            return;
        if (!found.change)
            return m_context.toast.say(QString::fromStdString(found.change.error().message));
        auto* dialog = new RevertDialog(m_run, *found.change, found.retires, m_page->window());
        connect(dialog, &RevertDialog::setBackChosen, this, [this, run, change = *found.change] {
            if (run == m_run.id)
                send(CommandKind::kSet, settingsBefore(change));
        });
        connect(dialog, &RevertDialog::goBackChosen, this, [this, run, change = *found.change] {
            if (run == m_run.id)
                goBack(*change.checkpoint);
        });
        dialog->open();
    });
}

void RunActions::goBack(const StoredCheckpoint& checkpoint) {
    const QString step = formatCount(checkpoint.saved.step);
    m_context.toast.say(tr("%1 goes back to step %2").arg(m_run.name, step));
    const auto answer =
        goBackTo(m_context.engine, m_run, QString::fromStdString(checkpointNameOf(checkpoint)));
    whenAnswered(answer, this, [this](const Result<QString>& started) {
        if (!started)
            m_context.toast.say(QString::fromStdString(started.error().message));
        m_context.runs.refresh();
    });
}

void RunActions::hide() {
    for (QPushButton* button : m_all)
        offer(button, false, false);
    m_focused = nullptr;
}

namespace {

/// "It goes on from step 400, its newest checkpoint. That sets aside steps 401 to 467, which ..."
QString resumeWords(const ResumePoint& from) {
    QString words = RunActions::tr("It goes on from step %1, its newest checkpoint.")
                        .arg(formatCount(from.step));
    if (!from.retires.isEmpty())
        words += ' ' + RunActions::tr("That sets aside %1, which can be seen and restored.")
                           .arg(QString::fromStdString(retirementText(from.retires)));
    if (!from.notes.empty())
        words += ' ' + QString::fromStdString(from.notes);
    return words;
}

} // namespace

void RunActions::showResumePoint() {
    m_resume->setText(m_from ? tr("Resume from %1").arg(formatCount(m_from->step)) : tr("Resume"));
    m_resume->setAccessibleName(m_resume->text());
    const QString nothing = tr("It has no checkpoint to go on from");
    m_resume->setToolTip(m_from ? resumeWords(*m_from) : nothing);
    m_resumeOn->setToolTip(m_from ? tr("The same on other nodes or with another number of ranks")
                                  : nothing);
}

void RunActions::show(const RunDetail& detail, const LiveState& live) {
    const RunSummary& run = *detail.run;
    m_run = run;
    m_live = live;
    m_from = detail.resumePoint;
    const StoredCheckpoint* newest = newestLiving(detail.history.checkpoints);
    m_newest = newest ? std::optional(newest->saved.step) : std::nullopt;
    m_nodes = placementsOf(detail.wholePlaces);
    const bool preparing = isPreparing(run, live);
    const bool running = run.state == RunStateKind::kRunning && !preparing;
    const bool free = running && !live.pending;
    const bool canEnd = running || ((isRestarting(run) || isQueued(run)) && !preparing);
    m_hold->setText(live.held ? tr("Continue") : tr("Hold"));
    m_hold->setAccessibleName(m_hold->text());
    offer(m_hold, running, free);
    m_checkpoint->setToolTip(live.held ? tr("Save a checkpoint of this step and stay held")
                                       : tr("Save a checkpoint at the next step and go on"));
    offer(m_checkpoint, running, free);
    offer(m_pause, running, free);
    const bool waits = run.queuePlace > 0 && !preparing;
    m_cancel->setText(waits ? tr("Take out of the queue") : tr("Cancel launch"));
    m_cancel->setAccessibleName(m_cancel->text());
    m_cancel->setToolTip(waits ? tr("It waits no more, and can be launched or resumed by hand")
                               : tr("End what was started on the nodes; what was sent to them "
                                    "stays there"));
    offer(m_cancel, preparing || waits, !live.pending);
    offer(m_more, !preparing, true); // a kill need not wait for what is under way
    for (QAction* action : {m_validate, m_step, m_set})
        action->setVisible(running);
    m_sample->setVisible(running && detail.writesSamples());
    m_kill->setVisible(canEnd);
    for (QAction* action : {m_validate, m_sample, m_set})
        action->setEnabled(free);
    m_step->setEnabled(free && live.held);
    m_compare->setVisible(!run.parentRun.isEmpty() && m_context.runs.find(run.parentRun));
    m_again->setVisible(hasEnded(run.state));
    m_again->setEnabled(m_again->isVisible());
    m_reproduce->setVisible(m_again->isVisible() && run.parentRun.isEmpty());
    m_reproduce->setEnabled(m_reproduce->isVisible());
    m_kill->setEnabled(live.pending != CommandKind::kKill);
    offer(m_stop, canEnd, true);
    showResumePoint();
    const bool resumes = canResume(run.state) && !preparing && !waits;
    offer(m_resume, resumes, m_from.has_value());
    offer(m_resumeOn, resumes, m_from.has_value());
    m_resumeLater->setVisible(resumes && m_from);
    m_resumeLater->setEnabled(m_resumeLater->isVisible());
    offer(m_rename, hasEnded(run.state), true); // what is live needs the room; F2 renames it
    offer(m_clean, hasEnded(run.state) && !preparing && !waits, true);
    renewQuestion(canEnd);
}

// When a button is disabled or hidden, Qt moves its focus to the next enabled one, here Stop. The
// page keeps the focus instead until the button is back.
void RunActions::offer(QPushButton* button, bool visible, bool enabled) {
    const bool usable = visible && enabled;
    if (!usable && button->hasFocus()) {
        m_page->setFocus();
        m_focused = button;
    }
    button->setVisible(visible);
    button->setEnabled(enabled);
    if (usable && m_focused == button) {
        m_focused = nullptr;
        if (m_page->hasFocus())
            button->setFocus();
    }
}

std::vector<QPushButton*> RunActions::offered() const {
    std::vector<QPushButton*> usable;
    for (QPushButton* button : m_all)
        if (!button->isHidden() && button->isEnabled())
            usable.push_back(button);
    return usable;
}

std::vector<QAction*> RunActions::offeredInMenu() const {
    std::vector<QAction*> usable;
    if (m_more->isHidden() || !m_more->isEnabled())
        return usable;
    for (QAction* action : m_menu->actions())
        if (!action->isSeparator() && action->isVisible() && action->isEnabled())
            usable.push_back(action);
    return usable;
}

void RunActions::send(CommandKind kind, std::vector<std::pair<std::string, std::string>> args) {
    whenAnswered(m_context.engine.ask(CommandRequest{m_run.id, kind, std::move(args)}), this,
                 [this, kind](const Result<CommandState>& answer) { onAnswer(kind, answer); });
}

void RunActions::onAnswer(CommandKind kind, const Result<CommandState>& answer) {
    if (!answer)
        m_context.toast.say(QString::fromStdString(answer.error().message));
    else if (answer->progress == CommandProgress::kRefused)
        m_context.toast.say(tr("%1 was refused: %2")
                                .arg(QString::fromLatin1(commandKindName(kind)),
                                     QString::fromStdString(answer->message)));
    else if (kind == CommandKind::kKill && m_cancelled != m_run.id)
        m_context.toast.say(tr("%1 was killed: its ranks are ended").arg(m_run.name));
    m_context.runs.refresh();
}

void RunActions::askNodes() {
    auto* dialog = new ResumeDialog(m_context, m_run, {}, m_from ? resumeWords(*m_from) : QString(),
                                    m_nodes, m_page->window());
    connect(dialog, &ResumeDialog::chosen, this,
            [this](const std::vector<Placement>& nodes) { resume({}, nodes); });
    dialog->open();
}

void RunActions::resume(const QString& checkpoint, const std::vector<Placement>& nodes) {
    resumeRun({m_run.id, checkpoint, nodes});
}

void RunActions::resumeRun(const ResumeRequest& request) {
    m_tooLarge[request.run].clear();
    whenAnswered(m_context.engine.ask(request), this, [=, this](const Result<QString>& answer) {
        const auto launch = [=, this] {
            ResumeRequest again = request;
            again.ifTooLarge = IfTooLarge::kLaunch;
            resumeRun(again);
        };
        const QString why = m_tooLarge.take(request.run);
        if (std::exchange(m_cancelled, {}) == request.run && !answer)
            m_context.toast.say(tr("Launch cancelled; the run is as it was"));
        else if (!answer && !askAboutTooLarge(why, launch))
            m_context.toast.say(QString::fromStdString(answer.error().message));
        m_context.runs.refresh();
    });
}

void RunActions::askRestoreOn(const StoredCheckpoint& checkpoint) {
    auto* dialog =
        new ResumeDialog(m_context, m_run, QString::fromStdString(checkpointNameOf(checkpoint)),
                         tr("It goes on from step %1.").arg(formatCount(checkpoint.saved.step)),
                         m_nodes, m_page->window());
    connect(dialog, &ResumeDialog::chosen, this,
            [this, checkpoint, run = m_run.id](const std::vector<Placement>& nodes) {
                if (run == m_run.id)
                    askRestore(checkpoint, nodes);
            });
    dialog->open();
}

void RunActions::askCopy(const StoredCheckpoint& checkpoint) {
    auto* dialog = new CopyDialog(m_context, m_run, checkpoint, m_page->window());
    connect(dialog, &CopyDialog::chosen, this,
            [this, checkpoint, run = m_run.id](const CopyOrder& order) {
                copy(run, checkpoint, order);
            });
    dialog->open();
}

void RunActions::copy(const QString& run, const StoredCheckpoint& checkpoint,
                      const CopyOrder& order) {
    const QString step = formatCount(checkpoint.saved.step);
    const QString node = nodeTitle(order.node.toStdString());
    m_context.toast.say(tr("The checkpoint of step %1 is being copied to %2").arg(step, node));
    const QString name = QString::fromStdString(checkpointNameOf(checkpoint));
    whenAnswered(
        m_context.engine.ask(CopyCheckpointRequest{run, name, order}), this,
        [this, step, node](const Result<QString>& folder) {
            m_context.toast.say(
                folder ? tr("The checkpoint of step %1 lies in %2 on %3").arg(step, *folder, node)
                       : QString::fromStdString(folder.error().message));
            m_context.runs.refresh();
        });
}

void RunActions::askRestore(const StoredCheckpoint& checkpoint,
                            const std::vector<Placement>& nodes) {
    const QString run = m_run.id;
    const auto retired = m_context.store.ask(
        [=](StoreReader& reader) { return reader.retirementBy(run, checkpoint); });
    whenAnswered(retired, this, [this, run, checkpoint, nodes](const Retirement& retirement) {
        const QString name = QString::fromStdString(checkpointNameOf(checkpoint));
        if (run != m_run.id)
            return;
        if (retirement.isEmpty())
            return resume(name, nodes);
        const QString step = formatCount(checkpoint.saved.step);
        auto* sheet =
            new Sheet(tr("Go on from step %1?").arg(step),
                      tr("This sets aside %1 of %2. They stay: their curve can be seen, their "
                         "checkpoints restored, branched from or removed.")
                          .arg(QString::fromStdString(retirementText(retirement)), m_run.name),
                      "restoreDialog", m_page->window());
        sheet->addCancel();
        QPushButton* restore =
            sheet->addButton(tr("Restore and resume"), "primary", "restoreConfirm");
        connect(restore, &QPushButton::clicked, sheet, &QDialog::accept);
        connect(restore, &QPushButton::clicked, this, [this, run, name, nodes] {
            if (run == m_run.id)
                resume(name, nodes);
        });
        sheet->open();
    });
}

void RunActions::togglePin(const StoredCheckpoint& checkpoint) {
    const QString name = QString::fromStdString(checkpointNameOf(checkpoint));
    whenAnswered(m_context.engine.ask(PinCheckpointRequest{m_run.id, name, !checkpoint.isPinned}),
                 this, [this](const Result<void>& done) {
                     if (!done)
                         m_context.toast.say(QString::fromStdString(done.error().message));
                     m_context.runs.refresh();
                 });
}

void RunActions::askRemove(const StoredCheckpoint& checkpoint) {
    const QString name = QString::fromStdString(checkpointNameOf(checkpoint));
    auto* sheet =
        new Sheet(tr("Remove the checkpoint of step %1?").arg(formatCount(checkpoint.saved.step)),
                  tr("%1 of %2 is removed from its node. It can be brought back for %3 days: by "
                     "Bring back in the table of checkpoints, or in a terminal by "
                     "ringmaster remove-checkpoint %4 %1 --undo")
                      .arg(name, m_run.name)
                      .arg(kAsideDays)
                      .arg(m_run.id),
                  "removeDialog", m_page->window());
    sheet->addCancel();
    QPushButton* remove = sheet->addButton(tr("Remove"), "danger", "removeConfirm");
    connect(remove, &QPushButton::clicked, sheet, &QDialog::accept);
    connect(remove, &QPushButton::clicked, this, [this, name, run = m_run.id] {
        whenAnswered(m_context.engine.ask(RemoveCheckpointRequest{run, name}), this,
                     [this, name, run](const Result<void>& removed) {
                         if (removed)
                             m_context.toast.offerUndo(tr("%1 is removed").arg(name),
                                                       [context = m_context, name, run] {
                                                           bringBack(context, run, name);
                                                       });
                         else
                             m_context.toast.say(QString::fromStdString(removed.error().message));
                         m_context.runs.refresh();
                     });
    });
    sheet->open();
}

// Nothing was trained yet, so nothing is lost by ending it at once.
void RunActions::cancelLaunch() {
    if (m_run.queuePlace > 0 && !m_live.launching)
        return send(CommandKind::kStop);
    m_cancelled = m_run.id;
    send(CommandKind::kKill);
}

/// What ending it without a checkpoint costs.
QString RunActions::lossWords() const {
    if (m_newest)
        return tr("Steps after %1, its newest checkpoint, are lost; the run can be resumed from "
                  "that.")
            .arg(formatCount(*m_newest));
    const QString only = tr("it cannot be resumed, only launched again");
    if (m_run.trainedSteps() <= 0)
        return tr("It has no checkpoint: %1.").arg(only);
    return tr("It has no checkpoint: %1 lost, and %2.")
        .arg(counted(m_run.trainedSteps(), tr("the only step is"), tr("all %1 steps are")), only);
}

/// The run goes on while a person thinks about it.
void RunActions::askEnd(Sheet& question, std::function<QString()> words) {
    question.setText(words());
    question.open();
    m_question = {&question, m_run.id, std::move(words)};
}

void RunActions::renewQuestion(bool canEnd) {
    if (!m_question.sheet)
        return;
    if (canEnd && m_question.run == m_run.id)
        m_question.sheet->setText(m_question.words());
    else
        m_question.sheet->reject();
}

void RunActions::askStop() {
    auto* sheet = new Sheet(tr("Stop %1?").arg(m_run.name), {}, "stopDialog", m_page->window());
    sheet->addCancel();
    QPushButton* pause = sheet->addButton(tr("Pause instead"), "", "stopPause");
    QPushButton* stop = sheet->addButton(tr("Stop now"), "danger", "stopConfirm");
    connect(pause, &QPushButton::clicked, sheet, &QDialog::accept);
    connect(stop, &QPushButton::clicked, sheet, &QDialog::accept);
    connect(pause, &QPushButton::clicked, this, [this] { send(CommandKind::kPause); });
    connect(stop, &QPushButton::clicked, this, [this] { send(CommandKind::kStop); });
    askEnd(*sheet, [this] {
        return tr("It ends at the next step without saving a checkpoint. %1 Pause saves one first "
                  "and can be resumed.")
            .arg(lossWords());
    });
}

void RunActions::askDeclareLost() {
    QStringList lost;
    for (const LiveState::NodeLink& node : m_live.nodes)
        if (isDown(node.link))
            lost << QString::fromStdString(node.node);
    if (lost.isEmpty())
        return;
    auto* sheet = new Sheet(
        tr("Declare %1 lost?").arg(lost.join(", ")),
        tr("The ranks on the other nodes cannot go on without it and are killed, and the run ends "
           "as failed. %1")
            .arg(m_newest ? tr("It can then be resumed from its newest checkpoint, on these nodes "
                               "when they are back or on others.")
                          : lossWords()),
        "lostDialog", m_page->window());
    sheet->addCancel();
    QPushButton* declare = sheet->addButton(tr("Declare lost"), "danger", "lostConfirm");
    connect(declare, &QPushButton::clicked, sheet, &QDialog::accept);
    connect(declare, &QPushButton::clicked, this, [this, lost, run = m_run.id] {
        for (const QString& node : lost)
            whenAnswered(m_context.engine.ask(DeclareLostRequest{run, node}), this,
                         [this](const Result<void>& declared) {
                             if (!declared)
                                 m_context.toast.say(
                                     QString::fromStdString(declared.error().message));
                             m_context.runs.refresh();
                         });
    });
    sheet->open();
}

void RunActions::askKill() {
    auto* sheet = new Sheet(tr("Kill %1?").arg(m_run.name), {}, "killDialog", m_page->window());
    sheet->addCancel();
    QPushButton* kill = sheet->addButton(tr("Kill now"), "danger", "killConfirm");
    connect(kill, &QPushButton::clicked, sheet, &QDialog::accept);
    connect(kill, &QPushButton::clicked, this, [this] { send(CommandKind::kKill); });
    askEnd(*sheet, [this] {
        return tr("Every rank ends at once, also one that hangs. %1").arg(lossWords());
    });
}

} // namespace rm
