// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/plot/chart_data.h"

#include <QFrame>

class QCPColorMap;
class QCustomPlot;
class QLabel;

namespace rm {

class ElidedLabel;

/// Rank x time: how busy each rank was in the time that the charts show.
class HeatMap : public QFrame {
    Q_OBJECT
public:
    explicit HeatMap(QWidget* parent = nullptr);
    void show(const HeatData& heat);
    using QWidget::show;
    bool isFilled() const { return !m_data.metric.isEmpty(); }
    const HeatData& data() const { return m_data; }

private:
    void buildUi();
    void applyTheme();
    void rebuild();
    void fillCells();
    void labelRows();
    void addGaps();
    void describe();

    QLabel* m_title;
    QLabel* m_empty;
    ElidedLabel* m_scale;
    QCustomPlot* m_plot;
    QCPColorMap* m_map = nullptr;
    HeatData m_data;
};

} // namespace rm
