// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/run/engine.h"
#include "app/ui/app_context.h"

#include <QObject>

#include <optional>

class QPushButton;
class QWidget;

namespace rm {

class PageHeader;

/// The buttons of a run and what they do. Which ones are there follows from its state.
class RunActions : public QObject {
    Q_OBJECT
public:
    RunActions(const AppContext& context, PageHeader& header, QWidget* page);

    void show(const RunSummary& run, const LiveState& live, bool hasCheckpoint);
    void hide();
    void resume(std::optional<int64_t> step);
    void send(CommandKind kind);

private:
    void askStop();
    void cancelLaunch();
    void onAnswer(CommandKind kind, const Result<CommandState>& answer);

    AppContext m_context;
    QWidget* m_page;
    QPushButton* m_hold;
    QPushButton* m_checkpoint;
    QPushButton* m_pause;
    QPushButton* m_resume;
    QPushButton* m_cancel;
    QPushButton* m_stop;
    RunSummary m_run;
    LiveState m_live;
    QString m_cancelled; ///< run whose launch a person gave up
};

} // namespace rm
