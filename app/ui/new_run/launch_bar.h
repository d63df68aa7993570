// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDeadlineTimer>
#include <QFrame>

class QLabel;
class QPushButton;

namespace rm {

/// The bar at the foot of New run, always visible: what a launch will do, and the Launch button.
class LaunchBar : public QFrame {
    Q_OBJECT
public:
    explicit LaunchBar(QWidget* parent = nullptr);

    void setForecast(const QString& forecast);
    void setReady(bool ready); ///< Launch can be asked for
    bool isReady() const;
    void setMayQueue(bool mayQueue); ///< a branch may not
    void setHasJob(bool hasJob);     ///< a chosen node is a cluster, which gets a script
    void setLaunching(bool launching, bool cancelled = false);

Q_SIGNALS:
    void launchRequested();
    void cancelRequested();
    void planRequested();
    void queueRequested();
    void scriptRequested();

private:
    void offerCancel();

    QLabel* m_forecast;
    QPushButton* m_script;
    QPushButton* m_plan;
    QPushButton* m_queue;
    QPushButton* m_cancel;
    QPushButton* m_launch;
    bool m_hasJob = false;
    bool m_mayQueue = true;
    bool m_isLaunching = false;
    bool m_isCancelled = false;
    QDeadlineTimer m_firstClick; ///< whose second one may come until then
};

} // namespace rm
