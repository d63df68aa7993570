// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QLabel>

namespace rm {

/// What a state means for a person. Shown by colour and always by words too.
enum class Tone { kNeutral, kGood, kWarn, kBad, kAccent };

const char* toneName(Tone tone);
QColor toneColour(Tone tone);
QColor toneBack(Tone tone);

/// A state in two or three words.
class Chip : public QLabel {
    Q_OBJECT
public:
    explicit Chip(QWidget* parent = nullptr);
    void show(const QString& text, Tone tone);
    using QLabel::show;
};

/// A coloured dot for lists; the state in words is its tooltip and accessible name.
class Dot : public QWidget {
    Q_OBJECT
public:
    explicit Dot(QWidget* parent = nullptr);
    void setTone(Tone tone, const QString& words);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Tone m_tone = Tone::kNeutral;
};

/// A tick, an exclamation mark or a cross in a soft circle.
class VerdictMark : public QWidget {
    Q_OBJECT
public:
    VerdictMark(Tone tone, const QString& words, QWidget* parent = nullptr);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Tone m_tone;
};

} // namespace rm
