// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/look/plain_text.h"

#include <QTextDocument>

namespace rm {

QString asHtml(const QString& text) {
    return "<qt>" + text.toHtmlEscaped().replace('\n', "<br>") + "</qt>";
}

QString asPlain(const QString& text) {
    return Qt::mightBeRichText(text) ? asHtml(text) : text;
}

QString inMenu(QString text) {
    return text.replace('&', "&&");
}

} // namespace rm
