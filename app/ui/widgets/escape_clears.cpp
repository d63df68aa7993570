// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/escape_clears.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>

namespace rm {

void EscapeClears::install(QApplication& application) {
    if (!application.findChild<EscapeClears*>({}, Qt::FindDirectChildrenOnly))
        application.installEventFilter(new EscapeClears(&application));
}

bool EscapeClears::eventFilter(QObject* watched, QEvent* event) {
    // The first asks whether the key is wanted here, before shortcuts have it.
    if (event->type() != QEvent::ShortcutOverride && event->type() != QEvent::KeyPress)
        return false;
    auto* filter = qobject_cast<QLineEdit*>(watched);
    const auto* key = static_cast<QKeyEvent*>(event);
    if (!filter || key->key() != Qt::Key_Escape || key->modifiers() != Qt::NoModifier ||
        !filter->isClearButtonEnabled() || filter->text().isEmpty())
        return false;
    event->accept();
    if (event->type() == QEvent::KeyPress)
        filter->clear();
    return true;
}

} // namespace rm
