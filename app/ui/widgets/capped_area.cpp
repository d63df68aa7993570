// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/capped_area.h"

#include <QEvent>
#include <QLayout>

#include <utility>

namespace rm {

CappedArea::CappedArea(QWidget* content, const char* objectName, HeightOf heightOf)
    : m_heightOf(std::move(heightOf)) {
    setObjectName(objectName);
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus); // a stop of Tab that nobody sees
    setWidget(content);
}

int CappedArea::wholeHeight(const QWidget& content, int width) {
    const QLayout& layout = *content.layout();
    return layout.hasHeightForWidth() ? layout.totalHeightForWidth(width)
                                      : content.sizeHint().height();
}

void CappedArea::fit() {
    if (!widget())
        return;
    if (const int height = m_heightOf(viewport()->width()); height > 0)
        setFixedHeight(height);
}

// QScrollArea watches its content already.
bool CappedArea::eventFilter(QObject* watched, QEvent* event) {
    const bool isDone = QScrollArea::eventFilter(watched, event);
    const bool isPlaced = event->type() == QEvent::LayoutRequest || event->type() == QEvent::Resize;
    if (watched == widget() && isPlaced)
        fit();
    return isDone;
}

void CappedArea::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    fit();
}

} // namespace rm
