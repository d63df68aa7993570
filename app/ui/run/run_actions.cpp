// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/run_actions.h"

#include "app/core/answer.h"
#include "app/ui/data/run_words.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/dialogs/sheet.h"
#include "app/ui/format.h"
#include "app/ui/widgets/page_header.h"
#include "app/ui/widgets/toast.h"

#include <QPushButton>

namespace rm {

RunActions::RunActions(const AppContext& context, PageHeader& header, QWidget* page)
    : QObject(page)
    , m_context(context)
    , m_page(page)
    , m_hold(header.addAction(tr("Hold"), "", "holdRun"))
    , m_checkpoint(header.addAction(tr("Checkpoint"), "", "checkpointRun"))
    , m_pause(header.addAction(tr("Pause"), "", "pauseRun"))
    , m_resume(header.addAction(tr("Resume"), "primary", "resumeRun"))
    , m_cancel(header.addAction(tr("Cancel launch"), "", "cancelLaunch"))
    , m_stop(header.addAction(tr("Stop"), "danger", "stopRun")) {
    m_hold->setToolTip(tr("Wait at the next step with everything kept in memory"));
    m_checkpoint->setToolTip(tr("Save a checkpoint at the next step and go on"));
    m_pause->setToolTip(tr("Save a checkpoint, end the ranks and free the devices"));
    m_resume->setToolTip(tr("Go on from the newest checkpoint"));
    m_cancel->setToolTip(
        tr("End what was started on the nodes; what was sent to them stays there"));
    connect(m_hold, &QPushButton::clicked, this,
            [this] { send(m_live.held ? CommandKind::kContinue : CommandKind::kHold); });
    connect(m_checkpoint, &QPushButton::clicked, this, [this] { send(CommandKind::kCheckpoint); });
    connect(m_pause, &QPushButton::clicked, this, [this] { send(CommandKind::kPause); });
    connect(m_resume, &QPushButton::clicked, this, [this] { resume({}); });
    connect(m_cancel, &QPushButton::clicked, this, &RunActions::cancelLaunch);
    connect(m_stop, &QPushButton::clicked, this, &RunActions::askStop);
    hide();
}

void RunActions::hide() {
    for (QPushButton* button : {m_hold, m_checkpoint, m_pause, m_resume, m_cancel, m_stop})
        button->hide();
}

void RunActions::show(const RunSummary& run, const LiveState& live, bool hasCheckpoint) {
    m_run = run;
    m_live = live;
    const bool preparing = isPreparing(run, live);
    const bool running = run.state == RunStateKind::kRunning && !preparing;
    const bool free = running && !live.pending;
    m_hold->setVisible(running);
    m_hold->setText(live.held ? tr("Continue") : tr("Hold"));
    m_hold->setAccessibleName(m_hold->text());
    m_hold->setEnabled(free);
    m_checkpoint->setVisible(running);
    m_checkpoint->setEnabled(free && !live.held);
    m_pause->setVisible(running);
    m_pause->setEnabled(free);
    m_cancel->setVisible(preparing);
    m_cancel->setEnabled(!live.pending);
    m_stop->setVisible(running);
    m_resume->setVisible(canResume(run.state) && !preparing);
    m_resume->setEnabled(hasCheckpoint);
}

void RunActions::send(CommandKind kind) {
    whenAnswered(m_context.engine.command(m_run.id, kind), this,
                 [this, kind](const Result<CommandState>& answer) { onAnswer(kind, answer); });
}

void RunActions::onAnswer(CommandKind kind, const Result<CommandState>& answer) {
    if (!answer)
        m_context.toast.say(QString::fromStdString(answer.error().message));
    else if (answer->progress == CommandProgress::kRefused)
        m_context.toast.say(tr("%1 was refused: %2")
                                .arg(QString::fromLatin1(commandKindName(kind)),
                                     QString::fromStdString(answer->message)));
    m_context.runs.refresh();
}

void RunActions::resume(std::optional<int64_t> step) {
    const auto onResumed = [this, run = m_run.id](const Result<QString>& answer) {
        if (std::exchange(m_cancelled, {}) == run && !answer)
            m_context.toast.say(tr("Launch cancelled; the run is as it was"));
        else if (!answer)
            m_context.toast.say(QString::fromStdString(answer.error().message));
        m_context.runs.refresh();
    };
    whenAnswered(m_context.engine.resume(m_run.id, step), this, onResumed);
}

// Nothing was trained yet, so nothing is lost by ending it at once.
void RunActions::cancelLaunch() {
    m_cancelled = m_run.id;
    send(CommandKind::kKill);
}

void RunActions::askStop() {
    auto* sheet = new Sheet(
        tr("Stop %1?").arg(m_run.name),
        tr("It ends at the next step without saving a checkpoint; steps since the last one are "
           "lost. Pause saves one first and can be resumed."),
        "stopDialog", m_page->window());
    sheet->addCancel();
    QPushButton* pause = sheet->addButton(tr("Pause instead"), "", "stopPause");
    QPushButton* stop = sheet->addButton(tr("Stop now"), "danger", "stopConfirm");
    connect(pause, &QPushButton::clicked, sheet, &QDialog::accept);
    connect(stop, &QPushButton::clicked, sheet, &QDialog::accept);
    connect(pause, &QPushButton::clicked, this, [this] { send(CommandKind::kPause); });
    connect(stop, &QPushButton::clicked, this, [this] { send(CommandKind::kStop); });
    sheet->open();
}

} // namespace rm
