// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/data/app_context.h"

#include <QWidget>

class QHBoxLayout;
class QVBoxLayout;

namespace rm {

/// The first page: two ways to start, and recent runs.
class WelcomePage : public QWidget {
    Q_OBJECT
public:
    explicit WelcomePage(const AppContext& context, QWidget* parent = nullptr);

Q_SIGNALS:
    void trainHereRequested(); ///< at once
    void formRequested();      ///< the same, but edited in the form first
    void addNodeRequested();
    void runChosen(const QString& run);

private:
    void buildUi();
    QHBoxLayout* addWay(QHBoxLayout* ways, const QString& title, const QString& text);
    void addAction(QHBoxLayout* row, const QString& text, const char* role, const char* objectName,
                   void (WelcomePage::*signal)());
    void wire();
    void showRecent();

    AppContext m_context;
    QWidget* m_recentCard;
    QVBoxLayout* m_recent;
};

} // namespace rm
