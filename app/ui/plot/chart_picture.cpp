// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/chart_picture.h"

#include "app/ui/look/theme.h"
#include "app/ui/plot/line_chart.h"

#include <QBuffer>
#include <QCoreApplication>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <qcustomplot.h>

namespace rm {

namespace {

constexpr QSize kPictureSize(960, 540); ///< in logical pixels
constexpr int kPictureRatio = 2;        ///< of a picture made of pixels
constexpr int kDotsPerInch = 96;
constexpr int kPicturePad = 16, kPictureLine = 18, kPictureKey = 16;

/// What the lines are called, from the left, in as many rows as that takes. Returns where it ends.
int drawNames(QCPPainter& painter, const LineChart& chart, int top) {
    painter.setFont(Theme::instance().font(FontRole::kCaption));
    const QFontMetrics metrics(painter.font());
    int left = kPicturePad;
    for (const auto& [name, pen] : chart.namedLines()) {
        const int width = kPictureKey + size::kGrid + metrics.horizontalAdvance(name);
        if (left > kPicturePad && left + width > kPictureSize.width() - kPicturePad) {
            left = kPicturePad;
            top += kPictureLine;
        }
        painter.setPen(pen);
        const double middle = top + kPictureLine / 2.0;
        painter.drawLine(QPointF(left, middle), QPointF(left + kPictureKey, middle));
        painter.setPen(colours().secondary);
        painter.drawText(QRect(left + kPictureKey + size::kGrid, top, width, kPictureLine),
                         Qt::AlignLeft | Qt::AlignVCenter, name);
        left += width + kPicturePad;
    }
    return top + kPictureLine;
}

void drawPage(QPaintDevice& device, const LineChart& chart) {
    QCPPainter painter(&device);
    painter.fillRect(QRect(QPoint(), kPictureSize), colours().card);
    painter.setFont(Theme::instance().font(FontRole::kBodyStrong));
    painter.setPen(colours().text);
    painter.drawText(QRect(kPicturePad, kPicturePad / 2, kPictureSize.width() - 2 * kPicturePad,
                           kPictureLine + kPicturePad / 2),
                     Qt::AlignLeft | Qt::AlignVCenter, chart.accessibleName());
    const int top = drawNames(painter, chart, kPictureLine + kPicturePad);
    painter.translate(0, top);
    if (auto* plot = chart.findChild<QCustomPlot*>("plot"))
        plot->toPainter(&painter, kPictureSize.width(), kPictureSize.height() - top);
}

void drawPixels(QIODevice& file, const LineChart& chart) {
    QImage image(kPictureSize * kPictureRatio, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(kPictureRatio);
    drawPage(image, chart);
    image.save(&file, "PNG");
}

void drawSvg(QIODevice& file, const LineChart& chart) {
    QSvgGenerator generator;
    generator.setOutputDevice(&file);
    generator.setSize(kPictureSize);
    generator.setViewBox(QRect(QPoint(), kPictureSize));
    generator.setResolution(kDotsPerInch);
    generator.setTitle(chart.accessibleName());
    drawPage(generator, chart);
}

void drawPdf(QIODevice& file, const LineChart& chart) {
    constexpr double kPointsPerPixel = 72.0 / kDotsPerInch;
    QPdfWriter writer(&file);
    writer.setResolution(kDotsPerInch);
    writer.setPageSize(QPageSize(QSizeF(kPictureSize) * kPointsPerPixel, QPageSize::Point));
    writer.setPageMargins(QMarginsF());
    writer.setTitle(chart.accessibleName());
    drawPage(writer, chart);
}

struct PictureWords {
    Q_DECLARE_TR_FUNCTIONS(ChartPicture)
};

} // namespace

const char* endingOf(PictureFormat format) {
    constexpr const char* kEndings[] = {"png", "svg", "pdf"};
    return kEndings[static_cast<size_t>(format)];
}

QString pictureFormatWords(PictureFormat format) {
    switch (format) {
    case PictureFormat::kPng:
        return PictureWords::tr("PNG, a picture of pixels");
    case PictureFormat::kSvg:
        return PictureWords::tr("SVG, a drawing that can be edited");
    case PictureFormat::kPdf:
        return PictureWords::tr("PDF, a drawing for papers");
    }
    Q_UNREACHABLE();
}

QByteArray pictureOf(const LineChart& chart, PictureFormat format) {
    QByteArray bytes;
    QBuffer file(&bytes);
    file.open(QIODevice::WriteOnly);
    switch (format) {
    case PictureFormat::kPng:
        drawPixels(file, chart);
        break;
    case PictureFormat::kSvg:
        drawSvg(file, chart);
        break;
    case PictureFormat::kPdf:
        drawPdf(file, chart);
        break;
    }
    return bytes;
}

} // namespace rm
