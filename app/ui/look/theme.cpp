// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/look/theme.h"

#include "app/ui/look/desktop_scheme.h"
#include "app/ui/look/style_sheet.h"

#include <QApplication>
#include <QEvent>
#include <QFontDatabase>
#include <QLineEdit>
#include <QPalette>
#include <QPlainTextEdit>
#include <QStyleFactory>

#include <utility>

// Resources of a static library have to be registered; the macro does not work in a namespace.
static void registerResources() {
    Q_INIT_RESOURCE(ui);
}

namespace rm {

namespace {

const Colours kLightColours = {
    .page = "#F6F7F9",
    .card = "#FFFFFF",
    .rail = "#FFFFFF",
    .hairline = "#E3E6EB",
    .grid = "#EDF0F3",
    .text = "#1B1F24",
    .secondary = "#5E6875",
    .faint = "#8A94A1",
    .accent = "#2F6FEB",
    .accentText = "#2560D6",
    .accentBack = "#E6EEFD",
    .accentHover = "#245CCB",
    .onAccent = "#FFFFFF",
    .good = "#167444",
    .goodBack = "#E3F4EA",
    .warn = "#8A5C00",
    .warnBack = "#FBF0D6",
    .bad = "#C0322F",
    .badBack = "#FBE6E6",
    .neutralBack = "#EDF0F3",
    .hover = "#F1F3F6",
    .input = "#FFFFFF",
    .series = {"#2F6FEB", "#D9730D", "#2A9D6F", "#B23A8E", "#7A5AF8", "#0E94A8", "#9C7B16",
               "#C93A3A"},
};

const Colours kDarkColours = {
    .page = "#14171B",
    .card = "#1B1F24",
    .rail = "#171A1F",
    .hairline = "#2A3038",
    .grid = "#242A31",
    .text = "#E6E9ED",
    .secondary = "#9AA4B0",
    .faint = "#6C7683",
    .accent = "#6EA0FF",
    .accentText = "#6EA0FF",
    .accentBack = "#1B2A45",
    .accentHover = "#8CB4FF",
    .onAccent = "#10141A",
    .good = "#4CC38A",
    .goodBack = "#17301F",
    .warn = "#E0B341",
    .warnBack = "#332911",
    .bad = "#FF7B72",
    .badBack = "#3A1D1D",
    .neutralBack = "#262C34",
    .hover = "#20252B",
    .input = "#171A1F",
    .series = {"#6EA0FF", "#F0954A", "#4CC38A", "#E27BC4", "#A48BFF", "#3CC4D6", "#D2B04C",
               "#FF7B72"},
};

QString firstInstalled(std::initializer_list<const char*> families,
                       QFontDatabase::SystemFont otherwise) {
    const QStringList installed = QFontDatabase::families();
    for (const char* family : families)
        if (installed.contains(QLatin1String(family)))
            return QLatin1String(family);
    return QFontDatabase::systemFont(otherwise).family();
}

QPalette paletteOf(const Colours& c) {
    QPalette palette;
    palette.setColor(QPalette::Window, c.page);
    palette.setColor(QPalette::WindowText, c.text);
    palette.setColor(QPalette::Base, c.card);
    palette.setColor(QPalette::AlternateBase, c.hover);
    palette.setColor(QPalette::Text, c.text);
    palette.setColor(QPalette::PlaceholderText, c.secondary);
    palette.setColor(QPalette::Button, c.card);
    palette.setColor(QPalette::ButtonText, c.text);
    palette.setColor(QPalette::ToolTipBase, c.card);
    palette.setColor(QPalette::ToolTipText, c.text);
    palette.setColor(QPalette::Highlight, c.accentBack);
    palette.setColor(QPalette::HighlightedText, c.text);
    palette.setColor(QPalette::Link, c.accentText);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, c.secondary);
    return palette;
}

/// Draws the placeholder of each field in the theme's second colour. A style sheet's `color` makes
/// it half of that, which is too faint to be read, and Qt 6.4 has no property for it.
class PlaceholderInk : public QObject {
public:
    using QObject::QObject;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() != QEvent::PaletteChange ||
            (!qobject_cast<QLineEdit*>(watched) && !qobject_cast<QPlainTextEdit*>(watched)))
            return false;
        auto* field = static_cast<QWidget*>(watched);
        QPalette palette = field->palette();
        for (const auto group : {QPalette::Active, QPalette::Inactive})
            palette.setColor(group, QPalette::PlaceholderText, colours().secondary);
        if (palette != field->palette())
            field->setPalette(palette); // comes here again
        return false;
    }
};

struct FontShape {
    int pixels;
    QFont::Weight weight;
};

FontShape shapeOf(FontRole role) {
    switch (role) {
    case FontRole::kTitle:
        return {20, QFont::Bold};
    case FontRole::kFigure:
        return {20, QFont::DemiBold};
    case FontRole::kCardTitle:
        return {14, QFont::DemiBold};
    case FontRole::kBody:
        return {13, QFont::Normal};
    case FontRole::kBodyStrong:
        return {13, QFont::DemiBold};
    case FontRole::kSecondary:
    case FontRole::kMono:
        return {12, QFont::Normal};
    case FontRole::kCaption:
        return {11, QFont::Normal};
    }
    Q_UNREACHABLE();
}

} // namespace

Theme& Theme::instance() {
    static Theme theme;
    return theme;
}

void Theme::install(QApplication& application) {
    if (std::exchange(m_installed, true))
        return;
    registerResources();
    m_sans = firstInstalled({"Inter", "Inter Variable", "Noto Sans", "Cantarell"},
                            QFontDatabase::GeneralFont);
    m_mono = firstInstalled({"JetBrains Mono", "DejaVu Sans Mono"}, QFontDatabase::FixedFont);
    // Qt 6.4 has no property for it. Where no portal says it, a dark palette is a dark desktop's.
    m_paletteDark = application.palette().color(QPalette::Window).lightness() < 128;
    application.setStyle(QStyleFactory::create("Fusion"));
    application.installEventFilter(new PlaceholderInk(&application));
    apply();
    if (const auto bus = DesktopScheme::sessionBus())
        connect(new DesktopScheme(*bus, &application), &DesktopScheme::changed, this,
                &Theme::setDesktopDark);
}

void Theme::setDesktopDark(std::optional<bool> isDark) {
    m_desktopDark = isDark;
    if (isDarkIn(m_mode) != m_dark)
        apply();
}

void Theme::setMode(Mode mode) {
    m_mode = mode;
    if (isDarkIn(mode) != m_dark)
        apply(); // takes long, as each widget is matched with each rule of the sheet
    else
        Q_EMIT changed();
}

bool Theme::isDarkIn(Mode mode) const {
    return mode == Mode::kDark || (mode == Mode::kSystem && m_desktopDark.value_or(m_paletteDark));
}

void Theme::apply() {
    m_dark = isDarkIn(m_mode);
    qApp->setPalette(paletteOf(colours()));
    qApp->setFont(font(FontRole::kBody));
    qApp->setStyleSheet(styleSheet(*this));
    Q_EMIT changed();
}

const Colours& Theme::colours() const {
    return m_dark ? kDarkColours : kLightColours;
}

QFont Theme::font(FontRole role) const {
    const FontShape shape = shapeOf(role);
    QFont font(role == FontRole::kMono ? m_mono : m_sans);
    font.setPixelSize(shape.pixels);
    font.setWeight(shape.weight);
    if (role == FontRole::kMono)
        font.setStyleHint(QFont::Monospace);
    return font;
}

QString modeName(Theme::Mode mode) {
    switch (mode) {
    case Theme::Mode::kSystem:
        return "system";
    case Theme::Mode::kLight:
        return "light";
    case Theme::Mode::kDark:
        return "dark";
    }
    Q_UNREACHABLE();
}

Theme::Mode modeFromName(const QString& name) {
    if (name == "light")
        return Theme::Mode::kLight;
    return name == "dark" ? Theme::Mode::kDark : Theme::Mode::kSystem;
}

} // namespace rm
