// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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
    void setLaunching(bool launching, bool cancelled = false);

Q_SIGNALS:
    void launchAsked();
    void cancelAsked();
    void planAsked();

private:
    QLabel* m_forecast;
    QPushButton* m_plan;
    QPushButton* m_cancel;
    QPushButton* m_launch;
};

} // namespace rm
