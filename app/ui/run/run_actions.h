// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/core/store/requested_command.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/stored_checkpoint.h"
#include "app/ui/data/app_context.h"
#include "app/ui/run/run_detail.h"

#include <QHash>
#include <QObject>
#include <QPointer>

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

class QAction;
class QMenu;
class QPushButton;
class QWidget;

namespace rm {

class PageHeader;
class Sheet;

/// The buttons of a run and what they do. Which ones are there follows from its state.
class RunActions : public QObject {
    Q_OBJECT
public:
    RunActions(const AppContext& context, PageHeader& header, QWidget* page);

    void show(const RunDetail& detail, const LiveState& live);
    void hide();
    /// `checkpoint` empty: the newest; `nodes` empty: those of the last attempt.
    void resume(const QString& checkpoint = {}, const std::vector<Placement>& nodes = {});
    /// resume() from it, once the person has confirmed what that retires. `nodes` as resume()'s.
    void askRestore(const StoredCheckpoint& checkpoint, const std::vector<Placement>& nodes = {});
    /// askRestore() on nodes that the person chooses.
    void askRestoreOn(const StoredCheckpoint& checkpoint);
    void askCopy(const StoredCheckpoint& checkpoint);
    void togglePin(const StoredCheckpoint& checkpoint);
    void askRemove(const StoredCheckpoint& checkpoint);
    void send(CommandKind kind, std::vector<std::pair<std::string, std::string>> args = {});
    /// Takes back those commands.
    void withdraw(const std::vector<RequestedCommand>& commands);
    /// Offers to take the change of a setting back that this command made.
    void askRevert(const std::string& command);
    void askKill();
    void showCommands();
    void showTraces();
    /// Offers to declare the nodes lost that nothing is heard of.
    void askDeclareLost();

    /// The buttons that can be pressed now.
    std::vector<QPushButton*> offered() const;
    /// What its menu offers now.
    std::vector<QAction*> offeredInMenu() const;

Q_SIGNALS:
    void reproduced(const QString& run); ///< a new run was launched as this one was
    /// A run like this one is to be launched, once a person has changed what it shall do otherwise.
    void editRequested(const QString& run, const QString& toml,
                       const std::vector<rm::Placement>& nodes);
    void lineageRequested(const QString& run);
    void compareRequested(const QStringList& runs); ///< ids

private:
    void offer(QPushButton* button, bool visible, bool enabled);
    void showResumePoint();
    void buildMore();
    void askSetting();
    void askSteps();
    void goBack(const StoredCheckpoint& checkpoint);
    QFuture<std::string> readSpec() const;
    void askAgain();
    void reproduce();
    void launchAgain(const RunSpec& spec, const std::vector<Placement>& nodes,
                     IfTooLarge ifTooLarge, const QString& asWas);
    void resumeRun(const ResumeRequest& request);
    bool askAboutTooLarge(const QString& why, const std::function<void()>& launch);
    void resumeLater();
    void askNodes();
    void askMetricsFile();
    void copy(const QString& run, const StoredCheckpoint& checkpoint, const CopyOrder& order);
    void askStop();
    void askEnd(Sheet& question, std::function<QString()> words);
    void renewQuestion(bool canEnd);
    QString lossWords() const;
    void cancelLaunch();
    void onAnswer(CommandKind kind, const Result<CommandState>& answer);

    AppContext m_context;
    QWidget* m_page;
    QPushButton* m_rename;
    QPushButton* m_clean;
    QPushButton* m_hold;
    QPushButton* m_checkpoint;
    QPushButton* m_pause;
    QPushButton* m_resume;
    QPushButton* m_resumeOn;
    QPushButton* m_cancel;
    QPushButton* m_more;
    QMenu* m_menu;
    QPushButton* m_stop;
    QAction* m_validate;
    QAction* m_sample;
    QAction* m_step;
    QAction* m_set;
    QAction* m_again;
    QAction* m_reproduce;
    QAction* m_resumeLater;
    QAction* m_compare;
    QAction* m_kill;
    std::array<QPushButton*, 10> m_all;
    QPushButton* m_focused = nullptr; ///< had the focus when it could not be pressed any more
    RunSummary m_run;
    LiveState m_live;
    std::optional<ResumePoint> m_from;
    std::optional<int64_t> m_newest;    ///< step of the checkpoint that it could go on from
    std::vector<Placement> m_nodes;     ///< where it goes on
    QString m_cancelled;                ///< run whose launch a person cancelled
    QHash<QString, QString> m_tooLarge; ///< why launches that it asked for were refused, by run
    /// Whether `run` is to end; `words` tell what that costs by now.
    struct EndQuestion {
        QPointer<Sheet> sheet;
        QString run;
        std::function<QString()> words;
    } m_question;
};

} // namespace rm
