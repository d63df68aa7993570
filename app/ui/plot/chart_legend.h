// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QPointer>
#include <QWidget>

#include <vector>

class QDialog;
class QPainter;
class QPushButton;
class QVBoxLayout;

namespace rm {

/// Values at the right of a chart's title, each with a piece of its line. Without room for all, the
/// first ones are there, and a button "+3", which opens a list of all of them.
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
    /// `where`: the values' step, for screen readers; empty: the newest point. `notes`: what else
    /// the tooltip and the list of all say, such as what a band spans.
    void setParts(std::vector<Part> parts, const QString& where = {},
                  const QStringList& notes = {});

    /// The texts that are drawn, in their order.
    QStringList shownTexts() const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    int keyWidth() const;
    int widthOf(const Part& part) const;
    int widthOf(const std::vector<Part>& parts) const;
    void fold();
    void showRest(size_t left);
    void openAll();
    void fillAll(QVBoxLayout& column) const;

    std::vector<Part> m_parts;
    QStringList m_notes;
    std::vector<Part> m_shown; ///< those that there is room for
    QPushButton* m_rest;       ///< stands for the others
    QPointer<QDialog> m_all;
};

} // namespace rm
