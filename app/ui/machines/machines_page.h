// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/machines/machine_board.h"
#include "app/ui/data/app_context.h"
#include "app/ui/machines/machine_figures.h"

#include <QTimer>
#include <QWidget>

#include <array>
#include <vector>

class QComboBox;
class QPushButton;

namespace rm {

class Banner;
class CappedArea;
class DeviceLine;
class ElidedLabel;
class Fold;
class LineChart;
class MachineCard;
class PageHeader;
class ProcessesModel;
class ReflowGrid;
class Table;

/// What all machines do at this moment: a card each with a line for each of its devices, charts of
/// the selected one, and its processes. Nodes are looked at only while this page is seen.
class MachinesPage : public QWidget {
    Q_OBJECT
public:
    explicit MachinesPage(const AppContext& context, QWidget* parent = nullptr);
    ~MachinesPage() override;

    void focusSelected(); ///< its line, from which the arrows lead to the others
    void select(const std::string& node, int gpu);
    const MachineBoard& board() const { return m_board; }
    bool isLooking() const { return m_isLooking; }
    /// The button that makes it look five times as often.
    QPushButton* fastButton() const { return m_fast; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override; ///< of the window
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void buildUi();
    QWidget* buildCards();
    QWidget* buildSelected();
    void wire();
    int heightOfCards(int width) const;
    void rebuildCards();
    void begin();
    void end();
    int intervalMs() const;
    void ask();
    void refresh();
    void refreshHeader();
    void refreshSelected();
    void offerFigures(bool ofGpu);
    void moveSelection(const std::string& node, int gpu, int key);
    struct Line {
        std::string node;
        int gpu = -1;
        bool operator==(const Line&) const = default;
    };
    std::vector<Line> lines() const;
    void markSelected();
    DeviceLine* selectedLine() const;

    AppContext m_context;
    MachineBoard m_board;
    PageHeader* m_header;
    QPushButton* m_fast;
    Banner* m_banner; ///< why nothing can be asked
    CappedArea* m_cardsArea;
    ReflowGrid* m_grid;
    std::vector<MachineCard*> m_cards;
    Line m_selected;
    ElidedLabel* m_selectedTitle;
    struct Chart {
        QComboBox* choice;
        LineChart* chart;
        std::string chosen; ///< MachineFigure::id of what a person wants to see; empty: nothing
    };
    std::array<Chart, 2> m_charts;
    std::vector<MachineFigure> m_figures; ///< that the charts offer
    Fold* m_processes;
    ProcessesModel* m_model;
    Table* m_table;
    QTimer m_timer;
    bool m_isLooking = false;
    bool m_isAsking = false;
};

} // namespace rm
