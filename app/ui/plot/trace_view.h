// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/run_trace.h"

#include <QWidget>

#include <memory>
#include <optional>
#include <utility>

namespace rm {

/// A colour for each kind of a trace, as the theme has it.
QColor traceColour(TraceKind kind);
/// "forward", "all-reduce wait", in the person's language.
QString traceKindWords(TraceKind kind);
/// "1.234 ms", "12.3 ms", "1.24 s".
QString formatNanoseconds(int64_t ns);

/// A trace over time: a row for each rank under its node, phases as bars, collectives as thin bars
/// beneath. A drag zooms, a double click or 0 shows everything again, Ctrl and the wheel zoom at
/// the pointer, Shift and the wheel move along. Keys: up and down choose a rank, left and right its
/// slice before or after, + and - zoom there. The slice that is pointed at or chosen is described.
class TraceView : public QWidget {
    Q_OBJECT
public:
    explicit TraceView(QWidget* parent = nullptr);

    /// Nothing is chosen any more. The same trace with more in it keeps its range, unless all was
    /// shown; another one, or null for none, is shown whole.
    void show(std::shared_ptr<const AlignedTrace> trace);
    using QWidget::show;
    void zoom(double beginNs, double endNs);
    void showAll();
    std::pair<double, double> range() const { return {m_begin, m_end}; }
    /// Where a moment and a rank are drawn, in the middle of its bar; outside the widget where the
    /// moment is not in range(). `rank`: an index into the ranks of the trace that is shown.
    QPoint pixelOf(double ns, size_t rank) const;
    /// What the slice under the pointer, or the chosen one, is: "rank 1, step 105: backward, 12.3
    /// ms from 0.412 s on".
    QString description() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void described(const QString& text); ///< empty: nothing is pointed at
    void zoomed();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Row {
        int top = 0;
        std::vector<const TraceSlice*> phases;
        std::vector<const TraceSlice*> steps;
        std::vector<std::pair<const TraceSlice*, int>> collectives; ///< with their lane
    };
    void buildRows();
    void describeAll();
    double nsAt(double x) const;
    double xOf(double ns) const;
    int rightEdge() const;
    void point(const QPointF& pixel);
    void setChosen(size_t rank, const TraceSlice* slice);
    void moveChosen(int by);
    void chooseRank(int by);
    void zoomBy(double factor, double aroundNs);
    void drawAxis(QPainter& painter) const;
    void drawRow(QPainter& painter, size_t rank) const;
    void drawBars(QPainter& painter, const std::vector<const TraceSlice*>& slices, int top,
                  int height) const;

    std::shared_ptr<const AlignedTrace> m_trace;
    std::vector<Row> m_rows;                         ///< by rank
    std::vector<std::pair<int, QString>> m_headings; ///< tops and names of nodes
    int m_height = 0;
    double m_begin = 0, m_end = 1; ///< shown, in nanoseconds
    std::optional<double> m_pointer;
    std::optional<QPointF> m_pressed;
    double m_draggedTo = 0; ///< pixel
    size_t m_chosenRank = 0;
    const TraceSlice* m_chosen = nullptr;
};

} // namespace rm
