// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/chip.h"

#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QPainter>
#include <QPainterPath>

namespace rm {

const char* toneName(Tone tone) {
    switch (tone) {
    case Tone::kNeutral:
        return "neutral";
    case Tone::kGood:
        return "good";
    case Tone::kWarn:
        return "warn";
    case Tone::kBad:
        return "bad";
    case Tone::kAccent:
        return "accent";
    }
    Q_UNREACHABLE();
}

QColor toneColour(Tone tone) {
    const Colours& c = colours();
    switch (tone) {
    case Tone::kNeutral:
        return c.secondary;
    case Tone::kGood:
        return c.good;
    case Tone::kWarn:
        return c.warn;
    case Tone::kBad:
        return c.bad;
    case Tone::kAccent:
        return c.accent;
    }
    Q_UNREACHABLE();
}

QColor toneBack(Tone tone) {
    const Colours& c = colours();
    switch (tone) {
    case Tone::kNeutral:
        return c.neutralBack;
    case Tone::kGood:
        return c.goodBack;
    case Tone::kWarn:
        return c.warnBack;
    case Tone::kBad:
        return c.badBack;
    case Tone::kAccent:
        return c.accentBack;
    }
    Q_UNREACHABLE();
}

Chip::Chip(QWidget* parent)
    : QLabel(parent) {
    setProperty("role", "chip");
    setTextFormat(Qt::PlainText);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void Chip::show(const QString& text, Tone tone) {
    if (text != this->text()) {
        setText(text);
        setAccessibleName(text);
    }
    setStyleProperty(this, "tone", toneName(tone));
}

Dot::Dot(QWidget* parent)
    : QWidget(parent) {
    setFixedSize(size::kDot, size::kDot);
}

void Dot::setTone(Tone tone, const QString& words) {
    m_tone = tone;
    setToolTip(asPlain(words));
    setAccessibleName(words);
    update();
}

void Dot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(toneColour(m_tone));
    painter.drawEllipse(rect());
}

VerdictMark::VerdictMark(Tone tone, const QString& words, QWidget* parent)
    : QWidget(parent)
    , m_tone(tone) {
    setFixedSize(size::kVerdict, size::kVerdict);
    setAccessibleName(words);
    setToolTip(asPlain(words));
}

void VerdictMark::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(toneBack(m_tone));
    painter.drawEllipse(rect());
    painter.translate(rect().center() + QPointF(0.5, 0.5));
    QPainterPath path;
    if (m_tone == Tone::kGood) {
        path.moveTo(-3.4, 0.2);
        path.lineTo(-1.0, 2.6);
        path.lineTo(3.4, -2.4);
    } else if (m_tone == Tone::kBad) {
        path.moveTo(-2.6, -2.6);
        path.lineTo(2.6, 2.6);
        path.moveTo(2.6, -2.6);
        path.lineTo(-2.6, 2.6);
    } else {
        path.moveTo(0, -3.8);
        path.lineTo(0, 0.8);
        path.moveTo(0, 3.6);
        path.lineTo(0, 3.7);
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(
        QPen(toneColour(m_tone), size::kPen, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.drawPath(path);
}

} // namespace rm
