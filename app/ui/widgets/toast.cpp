// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/toast.h"

#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QAbstractButton>
#include <QApplication>
#include <QHBoxLayout>
#include <QMouseEvent>

#include <algorithm>
#include <utility>
#include <vector>

namespace rm {

namespace {
constexpr int kShownMs = 10'000;
}

Toast::Toast(QWidget* window)
    : QFrame(window)
    , m_text(makeLabel({}, "body"))
    , m_action(makeButton(tr("Undo"), "", "toastAction")) {
    setProperty("role", "toast");
    setObjectName("toast");
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(16, size::kGrid, 12, size::kGrid);
    row->setSpacing(12);
    row->addWidget(m_text);
    row->addWidget(m_action);
    m_timer.setSingleShot(true);
    m_timer.setInterval(kShownMs);
    connect(&m_timer, &QTimer::timeout, this, &Toast::leave);
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget* old, QWidget* now) {
        if (now == m_action && old) // and not when the window comes back
            m_before = old;
    });
    connect(m_action, &QPushButton::clicked, this, [this] {
        vanish();
        m_lapse = nullptr;
        if (m_act)
            std::exchange(m_act, nullptr)();
    });
    window->installEventFilter(this);
    hide();
}

void Toast::say(const QString& text) {
    offer(text, {}, nullptr);
}

void Toast::offer(const QString& text, const QString& action, std::function<void()> act,
                  std::function<void()> lapse) {
    leave();
    m_text->setText(text);
    m_action->setText(action);
    m_action->setAccessibleName(action);
    m_action->setVisible(!action.isEmpty());
    m_act = std::move(act);
    m_lapse = std::move(lapse);
    setAccessibleName(text);
    appear();
}

void Toast::appear() {
    m_text->setMinimumHeight(size::kControlHeight);
    show();
    raise();
    place();
    m_timer.start();
}

void Toast::place() {
    const QWidget* window = parentWidget();
    m_text->setWordWrap(false);
    adjustSize();
    if (width() > window->width() - 2 * size::kPageX) {
        m_text->setWordWrap(true);
        resize(window->width() - 2 * size::kPageX, layout()->heightForWidth(window->width()));
    }
    move(freePlace());
}

/// The lowest place in the middle, at the right or at the left where it covers no button; at the
/// foot if there is none.
QPoint Toast::freePlace() const {
    const QWidget* window = parentWidget();
    std::vector<QRect> taken;
    for (const auto* button : window->findChildren<QAbstractButton*>())
        if (button->isVisible() && button->window() == window && !isAncestorOf(button))
            taken.emplace_back(button->mapTo(window, QPoint()), button->size());
    const int right = window->width() - width() - size::kPageX;
    const QPoint foot((window->width() - width()) / 2, window->height() - height() - size::kPageY);
    for (int y = foot.y(); y >= size::kPageY; y -= size::kGrid)
        for (const int x : {foot.x(), right, size::kPageX}) {
            const QRect place(QPoint(x, y), size());
            if (std::ranges::none_of(taken, [&](const QRect& r) { return r.intersects(place); }))
                return place.topLeft();
        }
    return foot;
}

void Toast::vanish() {
    if (m_action->hasFocus() && m_before && m_before->isVisible())
        m_before->setFocus(Qt::OtherFocusReason);
    hide();
}

void Toast::leave() {
    vanish();
    m_act = nullptr;
    if (const auto lapse = std::exchange(m_lapse, nullptr))
        lapse();
}

void Toast::mousePressEvent(QMouseEvent* event) {
    leave();
    event->accept();
}

bool Toast::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize && isVisible())
        place();
    return QFrame::eventFilter(watched, event);
}

} // namespace rm
