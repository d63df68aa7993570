// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>

#include <array>

namespace rm {

class LineChart;

enum class PictureFormat { kPng, kSvg, kPdf };
inline constexpr std::array kPictureFormats{PictureFormat::kPng, PictureFormat::kSvg,
                                            PictureFormat::kPdf};
const char* endingOf(PictureFormat format);       ///< "png"
QString pictureFormatWords(PictureFormat format); ///< "PNG, a picture of pixels"

/// The chart as it is, with its title and what its lines are called, in the colours of the theme
/// and at a size of its own, which it keeps, as the place of its crosshair: so it is one that was
/// made for the picture. The bytes of a file.
QByteArray pictureOf(const LineChart& chart, PictureFormat format);

} // namespace rm
