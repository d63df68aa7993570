// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/look/icons.h"

#include "app/ui/look/theme.h"

#include <QFile>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

namespace rm {

namespace {

constexpr int kRatios[] = {1, 2, 3}; ///< pixels for each logical one

QPixmap tinted(QSvgRenderer& svg, const QColor& colour, int ratio) {
    QPixmap pixmap(size::kIcon * ratio, size::kIcon * ratio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    svg.render(&painter);
    painter.setCompositionMode(QPainter::CompositionMode_SourceIn);
    painter.fillRect(pixmap.rect(), colour);
    painter.end();
    pixmap.setDevicePixelRatio(ratio);
    return pixmap;
}

} // namespace

QIcon themedIcon(const QString& name) {
    const QString path = ":/icons/" + name + ".svg";
    QIcon icon;
    if (!QFile::exists(path))
        return icon;
    QSvgRenderer svg(path);
    for (const int ratio : kRatios) {
        icon.addPixmap(tinted(svg, colours().secondary, ratio), QIcon::Normal, QIcon::Off);
        icon.addPixmap(tinted(svg, colours().accentText, ratio), QIcon::Normal, QIcon::On);
    }
    return icon;
}

} // namespace rm
