// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/new_run/numbered_text.h"

#include "app/ui/look/theme.h"

#include <QPainter>
#include <QScrollBar>
#include <QTextBlock>

#include <algorithm>

namespace rm {

/// Lies beside the text's viewport, where the numbers are.
class NumberedText::Margin : public QWidget {
public:
    explicit Margin(NumberedText* text)
        : QWidget(text)
        , m_text(text) {}

protected:
    void paintEvent(QPaintEvent* event) override { m_text->paintMargin(event->rect()); }
    void wheelEvent(QWheelEvent* event) override { m_text->wheelEvent(event); }

private:
    NumberedText* m_text;
};

NumberedText::NumberedText(QWidget* parent)
    : QPlainTextEdit(parent)
    , m_margin(new Margin(this)) {
    m_margin->setObjectName("lineNumbers");
    connect(this, &QPlainTextEdit::blockCountChanged, this, &NumberedText::fitMargin);
    connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& area, int scrolled) {
        if (scrolled != 0)
            m_margin->scroll(0, scrolled);
        else
            m_margin->update(0, area.y(), m_margin->width(), area.height());
    });
    connect(&Theme::instance(), &Theme::changed, this, &NumberedText::mark);
    fitMargin();
}

void NumberedText::setWrongLines(const std::vector<int>& lines) {
    const bool isNew = m_wrong != lines;
    m_wrong = lines;
    mark(); // each time, as the lines may have moved
    const auto isSeen = [this](int line) { return isInSight(line); };
    if (isNew && !m_wrong.empty() && std::ranges::none_of(m_wrong, isSeen))
        scrollTo(m_wrong.front());
}

bool NumberedText::isInSight(int line) const {
    const QTextBlock block = document()->findBlockByNumber(line - 1);
    const QRectF place = blockBoundingGeometry(block).translated(contentOffset());
    return block.isValid() && place.bottom() > 0 && place.top() < viewport()->height();
}

/// A third from the top, so that what stands before it is seen, too. The bar counts lines as they
/// are wrapped.
void NumberedText::scrollTo(int line) {
    const QTextBlock block = document()->findBlockByNumber(line - 1);
    const int before = viewport()->height() / std::max(1, fontMetrics().lineSpacing()) / 3;
    verticalScrollBar()->setValue(block.firstLineNumber() - before);
}

void NumberedText::mark() {
    QList<QTextEdit::ExtraSelection> marks;
    for (const int line : m_wrong) {
        const QTextBlock block = document()->findBlockByNumber(line - 1);
        if (!block.isValid())
            continue;
        QTextEdit::ExtraSelection mark;
        mark.cursor = QTextCursor(block);
        mark.format.setBackground(colours().badBack);
        mark.format.setProperty(QTextFormat::FullWidthSelection, true);
        marks << mark;
    }
    setExtraSelections(marks);
    m_margin->update();
}

void NumberedText::fitMargin() {
    const int digits = std::max(2, static_cast<int>(QString::number(blockCount()).size()));
    const int width = fontMetrics().horizontalAdvance(QString(digits, '9')) + 3 * size::kGrid;
    setViewportMargins(width, 0, 0, 0);
    const QRect text = contentsRect();
    m_margin->setGeometry(text.left(), text.top(), width, text.height());
}

void NumberedText::paintMargin(const QRect& area) {
    QPainter painter(m_margin);
    painter.setFont(font());
    // The text lies below the frame of the style sheet, the numbers beside it.
    const int offset = viewport()->y() - m_margin->y();
    QTextBlock block = firstVisibleBlock();
    while (block.isValid()) {
        const QRectF place = blockBoundingGeometry(block).translated(contentOffset());
        const int top = static_cast<int>(place.top()) + offset;
        if (top > area.bottom())
            return;
        const int line = block.blockNumber() + 1;
        const bool isWrong = std::ranges::find(m_wrong, line) != m_wrong.end();
        painter.setPen(isWrong ? colours().bad : colours().faint);
        painter.drawText(0, top, m_margin->width() - size::kGrid, fontMetrics().height(),
                         Qt::AlignRight, QString::number(line));
        block = block.next();
    }
}

void NumberedText::resizeEvent(QResizeEvent* event) {
    QPlainTextEdit::resizeEvent(event);
    fitMargin();
}

void NumberedText::changeEvent(QEvent* event) {
    QPlainTextEdit::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)
        fitMargin();
}

} // namespace rm
