// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPlainTextEdit>

#include <vector>

namespace rm {

/// A text whose lines have numbers beside them, and in which lines that are wrong are marked.
class NumberedText : public QPlainTextEdit {
    Q_OBJECT
public:
    explicit NumberedText(QWidget* parent = nullptr);

    /// Marks these lines, counted from 1, and scrolls to the first unless one of them is in sight.
    /// The cursor stays where a person types.
    void setWrongLines(const std::vector<int>& lines);
    const std::vector<int>& wrongLines() const { return m_wrong; }
    /// Whether some of that line is in sight.
    bool isInSight(int line) const;

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    class Margin;

    void fitMargin();
    void paintMargin(const QRect& area);
    void mark();
    void scrollTo(int line);

    Margin* m_margin;
    std::vector<int> m_wrong;
};

} // namespace rm
