// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/panel_mover.h"

#include "app/core/settings/chart_layout.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/reflow_grid.h"

#include <QAbstractButton>
#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollArea>
#include <QScrollBar>

#include <algorithm>
#include <cmath>
#include <utility>

namespace rm {

namespace {

constexpr int kHead = 32;                       ///< height of a card's title
constexpr int kCorner = 16;                     ///< of a card, by which it is sized
constexpr int kMark = 4;                        ///< width of the line where a card would be put
constexpr int kScrollMs = 30, kScrollStep = 14; ///< while a card is held at an edge of the page

bool isAtCorner(const QWidget& card, const QPoint& at) {
    return at.x() >= card.width() - kCorner && at.y() >= card.height() - kCorner;
}

bool isAtHead(const QWidget& card, const QPoint& at) {
    return at.y() < kHead && !qobject_cast<QAbstractButton*>(card.childAt(at));
}

} // namespace

PanelMover::PanelMover(QScrollArea& page, std::vector<ReflowGrid*> grids, QObject* parent)
    : QObject(parent)
    , m_page(page)
    , m_grids(std::move(grids))
    , m_band(new QFrame(page.widget())) {
    m_band->setProperty("role", "dropMark");
    m_band->setAttribute(Qt::WA_TransparentForMouseEvents);
    m_band->hide();
    m_scrolling.setInterval(kScrollMs);
    connect(&m_scrolling, &QTimer::timeout, this, [this] { drag(QCursor::pos()); });
}

void PanelMover::watch(QWidget& card) {
    card.setMouseTracking(true);
    card.installEventFilter(this);
    for (auto* child : card.findChildren<QWidget*>()) {
        child->setMouseTracking(true);
        child->installEventFilter(this);
    }
}

ReflowGrid* PanelMover::gridOf(const QWidget& card) const {
    const auto grid = std::ranges::find(m_grids, card.parentWidget());
    return grid == m_grids.end() ? nullptr : *grid;
}

bool PanelMover::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress && m_doing != Doing::kNothing &&
        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
        cancel();
        return true;
    }
    const bool isOfMouse = event->type() == QEvent::MouseButtonPress ||
                           event->type() == QEvent::MouseMove ||
                           event->type() == QEvent::MouseButtonRelease;
    auto* widget = qobject_cast<QWidget*>(watched);
    if (!isOfMouse || !widget)
        return false;
    const auto* mouse = static_cast<QMouseEvent*>(event);
    const QPoint global = mouse->globalPosition().toPoint();
    QWidget* card = widget;
    while (card && !gridOf(*card))
        card = card->parentWidget();
    switch (event->type()) {
    case QEvent::MouseButtonPress:
        return card && mouse->button() == Qt::LeftButton &&
               press(*card, card->mapFromGlobal(global));
    case QEvent::MouseMove:
        if (m_doing != Doing::kNothing && (mouse->buttons() & Qt::LeftButton))
            return drag(global);
        if (card)
            pointAt(*card, card->mapFromGlobal(global));
        return false;
    default:
        return m_doing != Doing::kNothing && drop(global);
    }
}

/// Shows by the pointer what a press would begin.
void PanelMover::pointAt(QWidget& card, const QPoint& at) const {
    if (isAtCorner(card, at))
        card.setCursor(Qt::SizeFDiagCursor);
    else if (isAtHead(card, at))
        card.setCursor(Qt::OpenHandCursor);
    else
        card.unsetCursor();
}

bool PanelMover::press(QWidget& card, const QPoint& at) {
    const bool sizes = isAtCorner(card, at);
    if (!sizes && !isAtHead(card, at))
        return false;
    m_card = &card;
    m_pressed = card.mapToGlobal(at);
    m_doing = sizes ? Doing::kSizing : Doing::kPressed;
    m_sizeBefore = sizeAt(m_pressed);
    qApp->installEventFilter(this); // Escape goes to what has the focus
    return sizes;                   // a press on the head may be a click, too
}

bool PanelMover::drag(const QPoint& global) {
    if (!m_card || !gridOf(*m_card)) {
        cancel();
        return false;
    }
    const bool isFar = (global - m_pressed).manhattanLength() >= QApplication::startDragDistance();
    if (m_doing == Doing::kPressed && !isFar)
        return false;
    if (m_doing == Doing::kPressed) {
        m_doing = Doing::kMoving;
        m_card->setCursor(Qt::ClosedHandCursor);
    }
    scrollAt(global);
    if (m_doing == Doing::kMoving) {
        m_band->setGeometry(targetAt(global).mark);
    } else {
        const auto [columns, rows] = sizeAt(global);
        const ReflowGrid& grid = *gridOf(*m_card);
        const int column = (grid.width() + size::kCardGap) / std::max(1, grid.columns());
        const QPoint corner = m_card->mapTo(m_page.widget(), QPoint(0, 0));
        m_band->setGeometry({corner, QSize(columns * column - size::kCardGap,
                                           rows * (size::kChartMin + size::kCardGap))});
    }
    setStyleProperty(m_band, "role", m_doing == Doing::kMoving ? "dropMark" : "sizeMark");
    m_band->show();
    m_band->raise();
    return true;
}

/// Goes on while the pointer rests at the upper or lower edge.
void PanelMover::scrollAt(const QPoint& global) {
    const QPoint at = m_page.viewport()->mapFromGlobal(global);
    const int step = at.y() < kHead                                 ? -kScrollStep
                     : at.y() > m_page.viewport()->height() - kHead ? kScrollStep
                                                                    : 0;
    auto* bar = m_page.verticalScrollBar();
    bar->setValue(bar->value() + step);
    if (step == 0)
        m_scrolling.stop();
    else if (!m_scrolling.isActive())
        m_scrolling.start();
}

bool PanelMover::drop(const QPoint& global) {
    const Doing doing = m_doing;
    const QPointer<QWidget> card = m_card;
    const auto target = doing == Doing::kMoving ? targetAt(global) : Target();
    const bool isSized = card && gridOf(*card) && doing == Doing::kSizing;
    const auto [columns, rows] = isSized ? sizeAt(global) : m_sizeBefore;
    cancel();
    auto* focused = card ? card->findChild<QWidget*>("plot") : nullptr;
    if (focused && doing != Doing::kPressed) // whose keys undo what was done
        focused->setFocus();
    if (card && target.grid && target.before != card)
        Q_EMIT moved(card, target.grid, target.before);
    const int newColumns = columns != m_sizeBefore.first ? columns : 0;
    const int newRows = rows != m_sizeBefore.second ? rows : 0;
    if (card && newColumns + newRows > 0)
        Q_EMIT sized(card, newColumns, newRows);
    return doing != Doing::kPressed;
}

void PanelMover::cancel() {
    if (m_card)
        m_card->unsetCursor();
    m_doing = Doing::kNothing;
    m_card = nullptr;
    m_band->hide();
    m_scrolling.stop();
    qApp->removeEventFilter(this);
}

/// The place before or behind the card that is nearest.
PanelMover::Target PanelMover::targetAt(const QPoint& global) const {
    Target target;
    int nearest = INT_MAX;
    for (ReflowGrid* grid : m_grids)
        for (size_t at = 0; at < grid->items().size(); ++at) {
            QWidget* card = grid->items()[at].widget;
            if (!card->isVisible())
                continue;
            const QRect place(card->mapTo(m_page.widget(), QPoint(0, 0)), card->size());
            const QPoint point = m_page.widget()->mapFromGlobal(global);
            const QPoint inside(std::clamp(point.x(), place.left(), place.right()),
                                std::clamp(point.y(), place.top(), place.bottom()));
            const int distance = (point - inside).manhattanLength();
            if (distance >= nearest)
                continue;
            nearest = distance;
            const bool isBefore = point.x() < place.center().x();
            const bool isLast = at + 1 == grid->items().size();
            target.grid = grid;
            target.before = isBefore ? card : isLast ? nullptr : grid->items()[at + 1].widget;
            const int x = isBefore ? place.left() - size::kCardGap / 2 - kMark / 2
                                   : place.right() + size::kCardGap / 2 - kMark / 2;
            target.mark = {std::clamp(x, 0, m_page.widget()->width() - kMark), place.top(), kMark,
                           place.height()};
        }
    return target;
}

std::pair<int, int> PanelMover::sizeAt(const QPoint& global) const {
    const ReflowGrid& grid = *gridOf(*m_card);
    const QPoint size = m_card->mapFromGlobal(global);
    const double column = (grid.width() + size::kCardGap) / std::max(1, grid.columns());
    const auto count = [](double length, double unit, int most) {
        return std::clamp(static_cast<int>(std::lround(length / unit)), 1, most);
    };
    return {count(size.x(), column, ChartStyle::kMostColumns),
            count(size.y(), size::kChartMin + size::kCardGap, ChartStyle::kMostRows)};
}

} // namespace rm
