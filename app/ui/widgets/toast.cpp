// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/toast.h"

#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMouseEvent>
#include <QShortcut>

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
    , m_action(makeButton(tr("Undo"), "", "toastAction"))
    , m_undo(new QShortcut(QKeySequence::Undo, window)) {
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
    connect(m_undo, &QShortcut::activated, m_action, &QPushButton::click);
    m_undo->setEnabled(false);
    window->installEventFilter(this);
    hide();
}

void Toast::say(const QString& text) {
    offer(text, {}, nullptr);
}

void Toast::offerUndo(const QString& text, std::function<void()> act, std::function<void()> lapse) {
    offer(text, tr("Undo"), std::move(act), std::move(lapse));
    m_undo->setEnabled(true);
    m_action->setToolTip(m_undo->key().toString(QKeySequence::NativeText));
}

void Toast::offer(const QString& text, const QString& action, std::function<void()> act,
                  std::function<void()> lapse) {
    leave();
    m_text->setText(text);
    m_action->setText(action);
    m_action->setAccessibleName(action);
    m_action->setVisible(!action.isEmpty());
    m_undo->setEnabled(false);
    m_action->setToolTip({});
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

template <class Widget>
std::vector<QRect> Toast::placesOf() const {
    const QWidget* window = parentWidget();
    std::vector<QRect> places;
    for (const auto* widget : window->findChildren<Widget*>())
        if (widget->isVisible() && widget->window() == window && !isAncestorOf(widget))
            places.emplace_back(widget->mapTo(window, QPoint()), widget->size());
    return places;
}

/// Where it covers neither a button nor a field, else no button, else at the foot.
QPoint Toast::freePlace() const {
    const std::vector<QRect> buttons = placesOf<QAbstractButton>();
    std::vector<QRect> taken = buttons;
    for (const auto& fields :
         {placesOf<QLineEdit>(), placesOf<QComboBox>(), placesOf<QAbstractSpinBox>()})
        taken.insert(taken.end(), fields.begin(), fields.end());
    const QWidget* window = parentWidget();
    const QPoint foot((window->width() - width()) / 2, window->height() - height() - size::kPageY);
    const auto beside = placeBeside(taken);
    return beside ? *beside : placeBeside(buttons).value_or(foot);
}

/// The lowest place in the middle, at the right or at the left that covers none of these.
std::optional<QPoint> Toast::placeBeside(const std::vector<QRect>& taken) const {
    const QWidget* window = parentWidget();
    const int right = window->width() - width() - size::kPageX;
    const QPoint foot((window->width() - width()) / 2, window->height() - height() - size::kPageY);
    for (int y = foot.y(); y >= size::kPageY; y -= size::kGrid)
        for (const int x : {foot.x(), right, size::kPageX}) {
            const QRect place(QPoint(x, y), QWidget::size());
            if (std::ranges::none_of(taken, [&](const QRect& r) { return r.intersects(place); }))
                return place.topLeft();
        }
    return std::nullopt;
}

void Toast::vanish() {
    if (m_action->hasFocus() && m_before && m_before->isVisible())
        m_before->setFocus(Qt::OtherFocusReason);
    m_undo->setEnabled(false);
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
