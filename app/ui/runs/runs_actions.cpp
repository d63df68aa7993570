// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/runs/runs_actions.h"

#include "app/core/answer.h"
#include "app/core/engine/engine.h"
#include "app/core/findings/text.h"
#include "app/core/runs/run_tags.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/dialogs/run_dialogs.h"
#include "app/ui/look/format.h"
#include "app/ui/runs/tags_dialog.h"
#include "app/ui/widgets/toast.h"

#include <QAction>
#include <QMenu>
#include <QPushButton>

#include <algorithm>
#include <memory>

namespace rm {

namespace {

/// That a rank refused is a refusal, too.
Result<void> verdictOf(const Result<CommandState>& answer) {
    if (!answer)
        return tl::unexpected<Error>(answer.error());
    if (answer->progress == CommandProgress::kRefused)
        return fail(ErrorCode::kInvalid, answer->message);
    return {};
}

Result<void> verdictOf(const Result<void>& answer) {
    return answer;
}

/// It can have paused before.
bool isInQueue(const RunSummary& run) {
    return run.queuePlace > 0;
}

bool isOver(const RunSummary& run) {
    return hasEnded(run.state) && !isInQueue(run);
}

/// Or soon has them.
bool hasRanks(const RunSummary& run) {
    return !isOver(run) && !isInQueue(run);
}

std::vector<RunSummary> those(bool (*are)(const RunSummary&), const std::vector<RunSummary>& runs) {
    std::vector<RunSummary> found;
    std::ranges::copy_if(runs, std::back_inserter(found), are);
    return found;
}

QString whyNotOver(const RunSummary& run) {
    return isInQueue(run)
               ? RunsActions::tr("%1 waits in the queue: take it out first").arg(run.name)
               : RunsActions::tr("%1 has not ended: stop or pause it first").arg(run.name);
}

QString namesOf(const std::vector<RunSummary>& runs) {
    std::vector<std::string> names;
    for (const RunSummary& run : runs)
        names.push_back(run.name.toStdString());
    return QString::fromStdString(someOf(names));
}

QString stopTitle(const std::vector<RunSummary>& live, const std::vector<RunSummary>& queued) {
    const size_t count = live.size() + queued.size();
    if (live.empty())
        return count == 1 ? RunsActions::tr("Take %1 out of the queue?").arg(queued.front().name)
                          : RunsActions::tr("Take %1 runs out of the queue?").arg(count);
    return count == 1 ? RunsActions::tr("Stop %1?").arg(live.front().name)
                      : RunsActions::tr("Stop %1 runs?").arg(count);
}

QString liveText(const std::vector<RunSummary>& live) {
    const QString ends =
        live.size() == 1
            ? RunsActions::tr("%1 ends at its next step without saving a checkpoint.")
            : RunsActions::tr("%1: each ends at its next step without saving a checkpoint.");
    return ends.arg(namesOf(live)) + ' ' +
           RunsActions::tr("Pause saves one first and can be resumed.");
}

/// What a paused one has stays.
QString queuedText(const std::vector<RunSummary>& queued) {
    const QString waits = queued.size() == 1
                              ? RunsActions::tr("%1 waits in the queue, and is taken out of it.")
                              : RunsActions::tr("%1 wait in the queue, and are taken out of it.");
    return waits.arg(namesOf(queued));
}

QString stopText(const std::vector<RunSummary>& live, const std::vector<RunSummary>& queued,
                 size_t chosen) {
    QStringList parts;
    if (!live.empty())
        parts << liveText(live);
    if (!queued.empty())
        parts << queuedText(queued);
    if (const size_t ended = chosen - live.size() - queued.size(); ended > 0)
        parts << counted(static_cast<int64_t>(ended),
                         RunsActions::tr("1 of those chosen has ended already."),
                         RunsActions::tr("%1 of those chosen have ended already."));
    return parts.join(' ');
}

} // namespace

RunsActions::RunsActions(const AppContext& context, QWidget* table)
    : QObject(table)
    , m_context(context)
    , m_table(table)
    , m_star(add(tr("Star"), "starRuns", Qt::CTRL | Qt::Key_D))
    , m_tags(add(tr("Tags"), "tagRuns", Qt::CTRL | Qt::Key_T))
    , m_archive(add(tr("Archive"), "archiveRuns", Qt::CTRL | Qt::Key_E))
    , m_rename(add(tr("Rename"), "renameChosen", {}))
    , m_stop(add(tr("Stop"), "stopRuns", {}))
    , m_clean(add(tr("Clean nodes"), "cleanChosen", {}))
    , m_delete(add(tr("Delete"), "deleteRuns", Qt::CTRL | Qt::Key_Delete)) {
    connect(m_star, &QAction::triggered, this, &RunsActions::toggleStar);
    connect(m_tags, &QAction::triggered, this, &RunsActions::askTags);
    connect(m_archive, &QAction::triggered, this, &RunsActions::toggleArchived);
    connect(m_rename, &QAction::triggered, this,
            [this] { (new RenameDialog(m_context, m_chosen.front(), m_table->window()))->open(); });
    connect(m_stop, &QAction::triggered, this, &RunsActions::askStop);
    connect(m_clean, &QAction::triggered, this,
            [this] { (new CleanDialog(m_context, m_chosen.front(), m_table->window()))->open(); });
    connect(m_delete, &QAction::triggered, this, &RunsActions::remove);
    offer({});
}

QAction* RunsActions::add(const QString& text, const char* objectName, QKeySequence keys) {
    auto* action = new QAction(text, this);
    action->setObjectName(objectName);
    action->setShortcut(keys);
    action->setShortcutContext(Qt::WidgetShortcut);
    m_table->addAction(action);
    return action;
}

void RunsActions::addTo(QMenu& menu) const {
    menu.addActions({m_star, m_tags, m_rename, m_archive});
    menu.addSeparator();
    menu.addActions({m_stop, m_clean, m_delete});
}

void RunsActions::offer(const std::vector<RunSummary>& chosen) {
    m_chosen = chosen;
    const bool isAny = !chosen.empty(), isOne = chosen.size() == 1;
    const bool haveAllEnded = std::ranges::all_of(chosen, isOver);
    const bool hasAnyEnded = std::ranges::any_of(chosen, isOver);
    const bool areQueued = isAny && std::ranges::none_of(chosen, hasRanks) && !haveAllEnded;
    const bool areStarred = isAny && std::ranges::all_of(chosen, &RunSummary::isStarred);
    const bool areArchived = isAny && std::ranges::all_of(chosen, &RunSummary::isArchived);
    const QString choose = tr("Choose a run first; several with Ctrl or Shift held");
    const QString ended = isAny && !hasAnyEnded ? whyNotOver(chosen.front()) : choose;
    const auto set = [](QAction* action, bool isUsable, const QString& why) {
        action->setEnabled(isUsable);
        action->setToolTip(isUsable ? QString() : why);
    };
    m_star->setText(areStarred ? tr("Take the star away") : tr("Star"));
    m_archive->setText(areArchived ? tr("Put back into the list") : tr("Archive"));
    set(m_star, isAny, choose);
    set(m_tags, isAny, choose);
    set(m_archive, hasAnyEnded || areArchived, ended);
    set(m_rename, isOne, tr("Choose one run"));
    m_stop->setText(areQueued ? tr("Take out of the queue") : tr("Stop"));
    set(m_stop, !haveAllEnded, isAny ? tr("It has ended") : choose);
    set(m_clean, isOne && haveAllEnded, isOne ? ended : tr("Choose one run"));
    set(m_delete, hasAnyEnded, ended);
}

QString RunsActions::nameOf(const QString& run) const {
    const RunSummary* known = m_context.runs.find(run);
    return known ? known->name : run;
}

template <class Request>
void RunsActions::report(const BulkAnswer& answer, const std::vector<Request>& undo,
                         const BulkWords& words) {
    const QString text = bulkText(answer, words);
    if (undo.empty() || answer.done.isEmpty())
        return m_context.toast.say(text);
    m_context.toast.offerUndo(text, [this, undo] {
        for (const Request& request : undo)
            whenAnswered(m_context.engine.ask(request), this, [this](const auto& undone) {
                if (const Result<void> verdict = verdictOf(undone); !verdict)
                    m_context.toast.say(QString::fromStdString(verdict.error().message));
            });
    });
}

template <class Request>
void RunsActions::askEach(const std::vector<Request>& requests, const std::vector<Request>& undo,
                          const BulkWords& words) {
    struct Pending {
        BulkAnswer answer;
        std::vector<Request> undo; ///< requests that undo those that were done
    };
    const auto pending = std::make_shared<Pending>();
    const auto count = static_cast<qsizetype>(requests.size());
    for (size_t at = 0; at < requests.size(); ++at) {
        const Request& request = requests[at];
        const auto take = [this, pending, count, words, name = nameOf(request.run),
                           attempt = request.attempt(),
                           undone = undo.empty() ? std::nullopt : std::optional(undo[at])](
                              const typename Request::Answer& answer) {
            const Result<void> verdict = verdictOf(answer);
            pending->answer.add(name, attempt, verdict);
            if (verdict && undone)
                pending->undo.push_back(*undone);
            if (pending->answer.count() == count)
                report(pending->answer, pending->undo, words);
        };
        whenAnswered(m_context.engine.ask(request), this, take);
    }
}

void RunsActions::toggleStar() {
    setStarred(m_chosen, !std::ranges::all_of(m_chosen, &RunSummary::isStarred));
}

void RunsActions::setStarred(const std::vector<RunSummary>& runs, bool isStarred) {
    std::vector<StarRequest> requests, undo;
    for (const RunSummary& run : runs)
        if (run.isStarred != isStarred) {
            requests.push_back({run.id, isStarred});
            undo.push_back({run.id, !isStarred});
        }
    askEach(requests, undo,
            isStarred
                ? BulkWords{tr("%1 starred"), tr("%1 runs starred"), tr("%1 of %2 runs starred")}
                : BulkWords{tr("%1 has no star any more"), tr("%1 runs have no star any more"),
                            tr("%1 of %2 runs have no star any more")});
}

void RunsActions::toggleArchived() {
    const bool isArchived = !std::ranges::all_of(m_chosen, &RunSummary::isArchived);
    std::vector<ArchiveRequest> requests, undo;
    for (const RunSummary& run : m_chosen)
        if (run.isArchived != isArchived) {
            requests.push_back({run.id, isArchived});
            undo.push_back({run.id, !isArchived});
        }
    askEach(requests, undo,
            isArchived
                ? BulkWords{tr("%1 archived"), tr("%1 runs archived"), tr("%1 of %2 runs archived")}
                : BulkWords{tr("%1 is in the list again"), tr("%1 runs are in the list again"),
                            tr("%1 of %2 runs are in the list again")});
}

void RunsActions::askTags() {
    auto* dialog = new TagsDialog(m_chosen, m_table->window());
    connect(dialog, &TagsDialog::chosen, this,
            [this, runs = m_chosen](const QStringList& add, const QStringList& remove) {
                changeTags(runs, add, remove);
            });
    dialog->open();
}

void RunsActions::changeTags(const std::vector<RunSummary>& runs, const QStringList& add,
                             const QStringList& remove) {
    std::vector<TagsRequest> requests, undo;
    for (const RunSummary& run : runs)
        if (const QStringList wanted = withTags(run.tags, add, remove); wanted != run.tags) {
            requests.push_back({run.id, wanted});
            undo.push_back({run.id, run.tags});
        }
    askEach(requests, undo,
            {tr("Tags of %1 changed"), tr("Tags of %1 runs changed"),
             tr("Tags of %1 of %2 runs changed")});
}

void RunsActions::askStop() {
    const auto live = those(&hasRanks, m_chosen), queued = those(&isInQueue, m_chosen);
    if (live.empty() && queued.empty())
        return; // they have ended meanwhile
    auto* sheet = new Sheet(stopTitle(live, queued), stopText(live, queued, m_chosen.size()),
                            "stopRunsDialog", m_table->window());
    sheet->addCancel();
    if (!live.empty()) {
        QPushButton* pause = sheet->addButton(tr("Pause instead"), "", "stopRunsPause");
        connect(pause, &QPushButton::clicked, sheet, &QDialog::accept);
        connect(pause, &QPushButton::clicked, this, [this, live] {
            send(CommandKind::kPause, live,
                 {tr("%1 pauses"), tr("%1 runs pause"), tr("%1 of %2 runs pause")});
        });
    }
    QPushButton* confirm = sheet->addButton(live.empty() ? tr("Take out") : tr("Stop now"),
                                            "danger", "stopRunsConfirm");
    connect(confirm, &QPushButton::clicked, sheet, &QDialog::accept);
    connect(confirm, &QPushButton::clicked, this, [this, live, queued] { stop(live, queued); });
    sheet->open();
}

void RunsActions::stop(std::vector<RunSummary> live, const std::vector<RunSummary>& queued) {
    const BulkWords words =
        live.empty() ? BulkWords{tr("%1 is out of the queue"), tr("%1 runs are out of the queue"),
                                 tr("%1 of %2 runs are out of the queue")}
                     : BulkWords{tr("%1 is stopped"), tr("%1 runs are stopped"),
                                 tr("%1 of %2 runs are stopped")};
    live.insert(live.end(), queued.begin(), queued.end());
    send(CommandKind::kStop, live, words);
}

void RunsActions::send(CommandKind kind, const std::vector<RunSummary>& runs,
                       const BulkWords& words) {
    std::vector<CommandRequest> requests;
    for (const RunSummary& run : runs)
        requests.push_back({run.id, kind});
    askEach(requests, {}, words);
}

void RunsActions::remove() {
    std::vector<DeletedRequest> requests, undo;
    for (const RunSummary& run : m_chosen) {
        requests.push_back({run.id, true});
        undo.push_back({run.id, false});
    }
    askEach(requests, undo, {tr("%1 deleted"), tr("%1 runs deleted"), tr("%1 of %2 runs deleted")});
}

} // namespace rm
