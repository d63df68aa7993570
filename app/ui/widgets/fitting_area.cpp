// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/fitting_area.h"

#include "app/ui/look/theme.h"

#include <QEvent>
#include <QLayout>
#include <QScrollBar>

#include <algorithm>

namespace rm {

namespace {
constexpr int kLeastHeight = 3 * size::kRowHeight;
constexpr int kBesideBar = 2 * size::kGrid;
} // namespace

FittingArea::FittingArea(QWidget* content, int mostHeight)
    : m_mostHeight(mostHeight) {
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    setWidget(content);
}

int FittingArea::heightFor(int width) const {
    const QLayout& layout = *widget()->layout();
    return layout.hasHeightForWidth() ? layout.totalHeightForWidth(width)
                                      : layout.totalSizeHint().height();
}

QSize FittingArea::sizeHint() const {
    const QSize whole = widget()->layout()->totalSizeHint();
    return {whole.width(), std::min(m_mostHeight, heightFor(std::max(whole.width(), width())))};
}

QSize FittingArea::minimumSizeHint() const {
    return {0, std::min(sizeHint().height(), kLeastHeight)};
}

bool FittingArea::event(QEvent* event) {
    const bool isDone = QScrollArea::event(event);
    if (event->type() == QEvent::LayoutRequest) {
        updateGeometry();
        fit();
    }
    return isDone;
}

void FittingArea::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    fit();
}

// With setWidgetResizable() nothing of what breaks its lines would shrink before it scrolls.
void FittingArea::fit() {
    const QLayout& layout = *widget()->layout();
    const auto leastHeight = [&layout](int width) {
        return layout.hasHeightForWidth() ? layout.totalMinimumHeightForWidth(width)
                                          : layout.totalMinimumSize().height();
    };
    const QSize room = maximumViewportSize();
    const bool isScrolled = leastHeight(room.width()) > room.height();
    const int bar = isScrolled ? verticalScrollBar()->sizeHint().width() + kBesideBar : 0;
    const int width = room.width() - bar;
    widget()->resize(width, std::max(room.height(), leastHeight(width)));
}

} // namespace rm
