// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QFont>
#include <QObject>

#include <array>
#include <optional>

class QApplication;

namespace rm {

/// Colours by role. Green, amber and red are used for states only. Texts in `text`, `secondary`,
/// `accentText` and those of states have a contrast of 4.5:1 on each background that they stand on;
/// `accent` is for fills and lines.
struct Colours {
    QColor page, card, rail, hairline, grid;
    QColor text, secondary, faint;
    QColor accent, accentText, accentBack, accentHover, onAccent;
    QColor good, goodBack, warn, warnBack, bad, badBack;
    QColor neutralBack, hover, input;
    std::array<QColor, 8> series;
};

/// Sizes in logical pixels.
namespace size {
inline constexpr int kGrid = 4;
inline constexpr int kPageX = 24;
inline constexpr int kPageY = 18;
inline constexpr int kCardGap = 12;
inline constexpr int kCardPad = 14;
inline constexpr int kCardRadius = 8;
inline constexpr int kControlRadius = 6;
inline constexpr int kControlHeight = 32;
inline constexpr int kRowHeight = 36;
inline constexpr int kRailWidth = 184;
inline constexpr int kIcon = 16;
inline constexpr int kDot = 8;
inline constexpr int kVerdict = 20;
inline constexpr int kFormLabel = 168;
inline constexpr int kFieldWidth = 148;
inline constexpr int kDialogWidth = 460;
inline constexpr int kTableDialogWidth = 760; ///< of one with a table
inline constexpr int kReadingWidth = 560;
inline constexpr int kNodeCardMin = 300;
inline constexpr int kChartMin = 168;
inline constexpr int kColumnMin = 340; ///< a chart's column is never narrower
inline constexpr int kTitleBar =
    48; ///< room for a window's, whose height is not known before it is shown
inline constexpr double kPen = 1.8;
} // namespace size

enum class FontRole {
    kTitle,
    kFigure,
    kCardTitle,
    kBody,
    kBodyStrong,
    kSecondary,
    kCaption,
    kMono
};

/// The one owner of colours, sizes and fonts. GUI thread.
class Theme : public QObject {
    Q_OBJECT
public:
    enum class Mode { kSystem, kLight, kDark };

    static Theme& instance();

    /// Applies style, palette, fonts and style sheet. The first call counts.
    void install(QApplication& application);
    void setMode(Mode mode); ///< what a person chose
    /// What the desktop asks for, which counts in kSystem; nullopt: it has no preference, so that
    /// the colours that Qt found there decide.
    void setDesktopDark(std::optional<bool> isDark);
    Mode mode() const { return m_mode; }
    bool isDark() const { return m_dark; }

    const Colours& colours() const;
    QFont font(FontRole role) const;

Q_SIGNALS:
    void changed(); ///< the mode, and mostly the colours

private:
    Theme() = default;
    void apply();
    bool isDarkIn(Mode mode) const;

    Mode m_mode = Mode::kSystem;
    bool m_paletteDark = false; ///< the colours that Qt found
    std::optional<bool> m_desktopDark;
    bool m_dark = false;
    bool m_installed = false;
    QString m_sans, m_mono;
};

inline const Colours& colours() {
    return Theme::instance().colours();
}

/// Names that settings.ini and the style sheet use.
QString modeName(Theme::Mode mode);
Theme::Mode modeFromName(const QString& name);

} // namespace rm
