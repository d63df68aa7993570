// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/plot/chart_data.h"

#include <QFrame>

class QCPColorMap;
class QCustomPlot;
class QLabel;
class QMenu;

namespace rm {

class ElidedLabel;

/// A heat map of ranks over training time: how busy each rank was in the range that the charts
/// show. Times without training are drawn as lines. A tooltip describes what is under the pointer.
class HeatMap : public QFrame {
    Q_OBJECT
public:
    explicit HeatMap(const char* objectName = "heatMap", QWidget* parent = nullptr);
    void show(const HeatData& heat);
    void setUnread(); ///< empties it until the next show(), and says nothing of what there is
    using QWidget::show;
    bool isFilled() const { return !m_data.metric.isEmpty(); }
    const HeatData& data() const { return m_data; }
    /// What the figures beside a rank mean, and why one is red.
    QString figureText(size_t rank) const;
    QString cellText(size_t rank, double x) const; ///< x in seconds of training
    QStringList gapTexts() const;                  ///< "no training for 17 min, 11:02 to 11:19"
    void setTitle(const QString& title); ///< in place of the metric's; empty: the metric's
    void setLeastHeight(int height);     ///< it is higher where its ranks need it

Q_SIGNALS:
    void menuRequested(QMenu* menu); ///< a context menu opens, to which the owner adds

protected:
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    struct Gap {
        double x; ///< on the axis
        TimeSpan clock;
        double abandoned; ///< seconds of it in which steps were trained that do not count
    };
    std::vector<Gap> gaps() const;
    bool isBehind(double latest) const;
    QString figureNote() const;
    QString titleText() const;
    QString emptyText() const;
    void buildUi();
    void applyTheme();
    void fitHeight();
    void rebuild();
    void fillCells();
    void labelRows();
    void separateRanks();
    void markGaps();
    void showToolTip(const QPointF& position) const;
    void describe();

    QString m_ownTitle;
    int m_leastHeight = 0;
    QLabel* m_title;
    QLabel* m_empty;
    ElidedLabel* m_scale;
    QCustomPlot* m_plot;
    QCPColorMap* m_map = nullptr;
    HeatData m_data;
    bool m_isRead = false;
    double m_median = 0; ///< of the ranks' latest figures
};

} // namespace rm
