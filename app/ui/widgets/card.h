// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

class QLabel;
class QVBoxLayout;

namespace rm {

class Chip;
class ElidedLabel;

/// A white sheet with a hairline border. `body()` is its column.
class Card : public QFrame {
    Q_OBJECT
public:
    explicit Card(QWidget* parent = nullptr);
    QVBoxLayout* body() const { return m_body; }

private:
    QVBoxLayout* m_body;
};

/// A figure at the head of a run: caption, value, and a comparison.
class KeyFigure : public Card {
    Q_OBJECT
public:
    KeyFigure(const QString& caption, const char* objectName, QWidget* parent = nullptr);
    void setCaption(const QString& caption); ///< screen readers see it after show()
    /// `tone` as in the style sheet: "", "bad", "warn".
    void show(const QString& figure, const QString& detail, const char* tone = "");
    using QWidget::show;

private:
    QLabel* m_caption;
    ElidedLabel* m_figure;
    ElidedLabel* m_detail;
};

} // namespace rm
