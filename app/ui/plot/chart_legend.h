// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QWidget>

#include <vector>

class QPainter;

namespace rm {

/// Values at the right of a chart's title, each with a piece of its line. Without room for all, the
/// first ones are there, and "+3" for the others, which the tool tip names.
class ChartLegend : public QWidget {
    Q_OBJECT
public:
    struct Part {
        QString text;
        QColor colour; ///< invalid: no line
        Qt::PenStyle dash = Qt::SolidLine;
        bool isPast = false; ///< of what was set aside, or of the parent
    };
    explicit ChartLegend(QWidget* parent = nullptr);
    /// `where`: the values' step, for screen readers; empty: the newest point.
    void setParts(std::vector<Part> parts, const QString& where = {});

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int keyWidth() const;
    std::vector<Part> shown() const;
    void paintKey(QPainter& painter, const Part& part, int left) const;
    int widthOf(const Part& part) const;

    std::vector<Part> m_parts;
};

} // namespace rm
