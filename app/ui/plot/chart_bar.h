// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/compare/step_scale.h"
#include "app/ui/plot/axis_map.h"
#include "app/ui/plot/smoothing.h"

#include <QWidget>

#include <map>
#include <vector>

class QAction;
class QComboBox;
class QHBoxLayout;
class QPushButton;
class QSlider;

namespace rm {

/// How charts are drawn, above the charts of a run and those of several: kind and strength of the
/// smoothing, what the horizontal axis counts, and a logarithmic vertical axis. Smoothing is kept
/// for the next start.
class ChartBar : public QWidget {
    Q_OBJECT
public:
    /// `settings`: the file in which it is kept, under `group`, which also begins the object names:
    /// "chartsAxis".
    ChartBar(const QString& settings, const QString& group, QWidget* parent = nullptr);

    Smoothing smoothing() const;
    XAxis axis() const;
    bool isLog() const;
    void setAxis(XAxis axis);
    /// What the axis of what steps are made of is called.
    void setWork(const std::vector<WorkUnit>& units);
    /// How many steps the smoothing spans where it has its effect; 0: not known.
    void setWindow(double steps) { setWindow(steps, steps); }
    void setWindow(double least, double most); ///< of several lines
    /// Behind the others.
    void add(QWidget* widget);
    void setCompact(bool compact); ///< little room
    void showSlider(bool shown);   ///< and the kind of smoothing beside it

Q_SIGNALS:
    void smoothingChanged();
    void axisChanged();
    void logChanged();

private:
    void buildUi(const QString& group);
    void buildKinds(const QString& group);
    void wire();
    void restore();
    void keep() const;
    void nameSmoothing();

    QString m_settings;
    QString m_group;
    SmoothingKind m_kind = SmoothingKind::kEma;
    double m_leastWindow = 0, m_window = 0;
    bool m_isCompact = false;
    QHBoxLayout* m_row;
    QPushButton* m_smoothingText; ///< opens the kinds
    std::map<SmoothingKind, QAction*> m_kinds;
    QSlider* m_slider;
    QComboBox* m_axis;
    QPushButton* m_log;
};

} // namespace rm
