// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/toast.h"

#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QEvent>
#include <QHBoxLayout>

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
    connect(m_action, &QPushButton::clicked, this, [this] {
        hide();
        if (m_act)
            std::exchange(m_act, nullptr)();
    });
    window->installEventFilter(this);
    hide();
}

void Toast::say(const QString& text) {
    offer(text, {}, nullptr);
}

void Toast::offer(const QString& text, const QString& action, std::function<void()> act) {
    m_text->setText(text);
    m_action->setText(action);
    m_action->setAccessibleName(action);
    m_action->setVisible(!action.isEmpty());
    m_act = std::move(act);
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
    move((window->width() - width()) / 2, window->height() - height() - size::kPageY);
}

void Toast::leave() {
    if (underMouse() || m_action->hasFocus())
        m_timer.start();
    else
        hide();
}

bool Toast::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize && isVisible())
        place();
    return QFrame::eventFilter(watched, event);
}

} // namespace rm
