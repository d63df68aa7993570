// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/run_summary.h"

#include <QWidget>

#include <vector>

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace rm {

class RunsFeed;

/// The column at the left: pages, live runs with their number, and the foot with palette, manual
/// and theme.
class Rail : public QWidget {
    Q_OBJECT
public:
    enum class Place { kRuns, kNewRun, kNodes, kCompare, kMachines, kNone };

    explicit Rail(const RunsFeed& runs, QWidget* parent = nullptr);
    void setPlace(Place place);

Q_SIGNALS:
    void placeChosen(rm::Rail::Place place);
    void runChosen(const QString& run);
    void paletteRequested();
    void manualRequested();

private:
    void buildUi();
    void buildFoot(QVBoxLayout* column);
    void addPlace(const QString& text, const char* objectName, Place place, QVBoxLayout* column);
    void wire();
    void restore();
    void showLive();
    QPushButton* makeLiveButton(const RunSummary& run);
    void openThemes();
    void applyTheme();

    const RunsFeed& m_runs;
    std::vector<std::pair<Place, QPushButton*>> m_places;
    QLabel* m_liveTitle;
    QVBoxLayout* m_live;
    QPushButton* m_palette;
    QPushButton* m_manual;
    QPushButton* m_theme;
    QPushButton* m_moreLive; ///< stands for the live runs that have no line here
    std::vector<RunSummary> m_shown;
};

} // namespace rm
