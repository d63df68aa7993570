// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/look/style_sheet.h"

#include "app/ui/look/theme.h"

#include <QFile>
#include <QMap>
#include <QRegularExpression>

namespace rm {

namespace {

QString px(int pixels) {
    return QString::number(pixels) + "px";
}

QMap<QString, QString> colourTokens(const Colours& c) {
    return {{"page", c.page.name()},
            {"card", c.card.name()},
            {"rail", c.rail.name()},
            {"hairline", c.hairline.name()},
            {"grid", c.grid.name()},
            {"text", c.text.name()},
            {"secondary", c.secondary.name()},
            {"faint", c.faint.name()},
            {"accent", c.accent.name()},
            {"accent-text", c.accentText.name()},
            {"accent-back", c.accentBack.name()},
            {"accent-hover", c.accentHover.name()},
            {"on-accent", c.onAccent.name()},
            {"good", c.good.name()},
            {"good-back", c.goodBack.name()},
            {"warn", c.warn.name()},
            {"warn-back", c.warnBack.name()},
            {"bad", c.bad.name()},
            {"bad-back", c.badBack.name()},
            {"neutral-back", c.neutralBack.name()},
            {"hover", c.hover.name()},
            {"input", c.input.name()}};
}

QMap<QString, QString> tokensOf(const Theme& theme) {
    QMap<QString, QString> tokens = colourTokens(theme.colours());
    tokens["card-radius"] = px(size::kCardRadius);
    tokens["control-radius"] = px(size::kControlRadius);
    tokens["control-height"] = px(size::kControlHeight - 2); // the border is outside
    tokens["row-height"] = px(size::kRowHeight);
    tokens["sans"] = '"' + theme.font(FontRole::kBody).family() + '"';
    tokens["mono"] = '"' + theme.font(FontRole::kMono).family() + '"';
    tokens["variant"] = theme.isDark() ? "dark" : "light";
    return tokens;
}

} // namespace

QString styleSheet(const Theme& theme) {
    QFile file(":/themes/app.qss");
    if (!file.open(QIODevice::ReadOnly))
        qFatal("the style sheet is not in this program");
    QString text = QString::fromUtf8(file.readAll());
    const QMap<QString, QString> tokens = tokensOf(theme);
    static const QRegularExpression token("@([a-z-]+)");
    for (auto match = token.match(text); match.hasMatch();
         match = token.match(text, match.capturedStart())) {
        const auto value = tokens.constFind(match.captured(1));
        if (value == tokens.constEnd())
            qFatal("the style sheet names an unknown token @%s", qPrintable(match.captured(1)));
        text.replace(match.capturedStart(), match.capturedLength(), *value);
    }
    return text;
}

} // namespace rm
