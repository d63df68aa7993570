// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/machines/machine_words.h"

#include <QString>
#include <QVector>
#include <QWidget>

namespace rm {

/// What a line shows of a GPU, or of the processors of a machine without one.
struct DeviceFigures {
    int gpu = -1;            ///< -1: the processors
    QVector<double> history; ///< shares of 1, the oldest first; NaN: not known
    QString use, memory, heat, power;
    QString owner; ///< whose process, or "free"
    Attention heatAttention = Attention::kNone;
    Attention ownerAttention = Attention::kNone;
    bool isFree = false;
    bool operator==(const DeviceFigures&) const = default;
};

/// The figures of the last five minutes, in this many equal parts.
inline constexpr int kHistoryParts = 60;

/// The line of the GPU, or of the processors with -1, of a machine that is live.
DeviceFigures figuresOf(const ShownMachine& machine, int gpu);

/// One line of a machine's card. A click, Enter or Space selects it; Tab stops at the selected one
/// of all, and arrows lead to the others.
class DeviceLine : public QWidget {
    Q_OBJECT
public:
    explicit DeviceLine(const QString& machine, QWidget* parent = nullptr);

    void show(const DeviceFigures& figures);
    using QWidget::show;
    void setSelected(bool selected);
    const DeviceFigures& figures() const { return m_figures; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void selected();
    void moveRequested(int key); ///< an arrow, Home or End: to another line

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    QString deviceName() const;
    void paintHistory(QPainter& painter, const QRect& place) const;

    QString m_machine;
    DeviceFigures m_figures;
    bool m_isSelected = false;
};

} // namespace rm
