// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/new_run/launch_bar.h"

#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QGuiApplication>
#include <QHBoxLayout>
#include <QStyleHints>
#include <QTimer>

#include <utility>

namespace rm {

LaunchBar::LaunchBar(QWidget* parent)
    : QFrame(parent)
    , m_forecast(makeText({}, "bodySecondary"))
    , m_script(makeButton(tr("Job script"), "", "jobScriptButton"))
    , m_plan(makeButton(tr("What will run"), "", "whatWillRun"))
    , m_queue(makeButton(tr("Queue…"), "", "queueRun"))
    , m_cancel(makeButton(tr("Cancel launch"), "", "cancelLaunch"))
    , m_launch(makeButton(tr("Launch"), "primary", "launch")) {
    setProperty("role", "bar");
    setObjectName("launchBar");
    m_forecast->setObjectName("forecast");
    m_launch->setToolTip(tr("Ctrl+Return"));
    m_cancel->setToolTip(
        tr("End what was started on the nodes; what was sent to them stays there"));
    m_queue->setToolTip(tr("Launch it when nodes are free, or a sweep of several settings"));
    m_script->setToolTip(tr("What Slurm gets, and your own lines in it"));
    m_cancel->hide();
    m_script->hide();
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(size::kPageX, 10, size::kPageX, 10);
    row->setSpacing(2 * size::kGrid);
    row->addWidget(m_forecast, 1);
    for (QPushButton* button : {m_script, m_plan, m_queue, m_cancel, m_launch})
        row->addWidget(button);
    connect(m_plan, &QPushButton::clicked, this, &LaunchBar::planRequested);
    connect(m_queue, &QPushButton::clicked, this, &LaunchBar::queueRequested);
    connect(m_script, &QPushButton::clicked, this, &LaunchBar::scriptRequested);
    connect(m_cancel, &QPushButton::clicked, this, &LaunchBar::cancelRequested);
    connect(m_launch, &QPushButton::clicked, this, &LaunchBar::launchRequested);
}

void LaunchBar::setForecast(const QString& forecast) {
    m_forecast->setText(forecast);
}

void LaunchBar::setReady(bool ready) {
    m_launch->setEnabled(ready);
    m_plan->setEnabled(ready);
    m_queue->setEnabled(ready);
    m_script->setEnabled(ready);
}

void LaunchBar::setHasJob(bool hasJob) {
    m_hasJob = hasJob;
    m_script->setVisible(m_hasJob && !m_isLaunching);
}

void LaunchBar::setMayQueue(bool mayQueue) {
    m_mayQueue = mayQueue;
    m_queue->setVisible(m_mayQueue && !m_isLaunching);
}

bool LaunchBar::isReady() const {
    return m_launch->isEnabled();
}

void LaunchBar::setLaunching(bool launching, bool cancelled) {
    const bool hadFocus = m_launch->hasFocus() || m_cancel->hasFocus();
    const bool isBegun = !std::exchange(m_isLaunching, launching) && launching;
    m_isCancelled = cancelled;
    if (isBegun)
        m_firstClick.setRemainingTime(QGuiApplication::styleHints()->mouseDoubleClickInterval());
    setHasJob(m_hasJob);
    m_launch->setVisible(!launching);
    m_plan->setVisible(!launching);
    setMayQueue(m_mayQueue);
    m_cancel->setVisible(launching);
    offerCancel();
    if (isBegun)
        QTimer::singleShot(m_firstClick.remainingTime() + 1, this, [this, hadFocus] {
            offerCancel();
            if (hadFocus && m_isLaunching)
                m_cancel->setFocus(Qt::OtherFocusReason);
        });
    else if (hadFocus && !launching)
        m_launch->setFocus(Qt::OtherFocusReason);
}

/// It stands where Launch stood: not for the second click of a double click.
void LaunchBar::offerCancel() {
    m_cancel->setEnabled(m_isLaunching && !m_isCancelled && m_firstClick.hasExpired());
}

} // namespace rm
