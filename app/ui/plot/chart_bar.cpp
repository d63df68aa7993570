// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/chart_bar.h"

#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QActionGroup>
#include <QComboBox>
#include <QHBoxLayout>
#include <QMenu>
#include <QSettings>
#include <QSlider>

#include <algorithm>
#include <cmath>

namespace rm {

namespace {

constexpr int kSliderTop = 99, kSliderAtFirst = 93;
constexpr int kSliderWidth = 110, kCompactSliderWidth = 40;
constexpr int64_t kWidestWindow = 88'888; ///< steps, in words

struct KindRow {
    SmoothingKind kind;
    const char* key; ///< in the settings
};
constexpr KindRow kKinds[] = {{SmoothingKind::kEma, "ema"},
                              {SmoothingKind::kMean, "mean"},
                              {SmoothingKind::kGaussian, "gaussian"},
                              {SmoothingKind::kMedian, "median"}};

QString titleOf(SmoothingKind kind) {
    switch (kind) {
    case SmoothingKind::kEma:
        return ChartBar::tr("Moving average (EMA) of what lies before");
    case SmoothingKind::kMean:
        return ChartBar::tr("Running mean around each point");
    case SmoothingKind::kGaussian:
        return ChartBar::tr("Gaussian around each point");
    case SmoothingKind::kMedian:
        return ChartBar::tr("Median around each point");
    }
    Q_UNREACHABLE();
}

QString briefOf(SmoothingKind kind) {
    switch (kind) {
    case SmoothingKind::kEma:
        return ChartBar::tr("EMA");
    case SmoothingKind::kMean:
        return ChartBar::tr("mean");
    case SmoothingKind::kGaussian:
        return ChartBar::tr("Gaussian");
    case SmoothingKind::kMedian:
        return ChartBar::tr("median");
    }
    Q_UNREACHABLE();
}

QString workText(const std::vector<WorkUnit>& units) {
    QStringList words;
    const auto add = [&](WorkUnit unit, const QString& word) {
        if (std::ranges::find(units, unit) != units.end())
            words << word;
    };
    add(WorkUnit::kTokens, ChartBar::tr("tokens"));
    add(WorkUnit::kPairs, ChartBar::tr("pairs"));
    add(WorkUnit::kPictures, ChartBar::tr("pictures"));
    return ChartBar::tr("x: %1").arg(words.join(kSeparator));
}

QString smoothingWords(SmoothingKind kind, double weight, int64_t least, int64_t most) {
    const QString words = briefOf(kind) + ' ' + QString::number(weight, 'f', 2);
    if (most <= 0)
        return words;
    if (least < most)
        return ChartBar::tr("%1 · %2–%3 steps").arg(words, formatCount(least), formatCount(most));
    return ChartBar::tr("%1 · %2").arg(
        words, counted(most, ChartBar::tr("1 step"), ChartBar::tr("%1 steps")));
}

} // namespace

ChartBar::ChartBar(const QString& settings, const QString& group, QWidget* parent)
    : QWidget(parent)
    , m_settings(settings)
    , m_group(group) {
    buildUi(group);
    wire();
    restore();
}

void ChartBar::buildUi(const QString& group) {
    m_row = new QHBoxLayout(this);
    m_row->setContentsMargins(0, 0, 0, 0);
    m_row->setSpacing(2 * size::kGrid);
    buildKinds(group);
    m_slider = new QSlider(Qt::Horizontal);
    m_slider->setObjectName(group + "Smoothing");
    m_slider->setAccessibleName(tr("Smoothing"));
    m_slider->setRange(0, kSliderTop);
    m_axis = new QComboBox;
    m_axis->setObjectName(group + "Axis");
    m_axis->setAccessibleName(tr("Horizontal axis"));
    m_axis->setProperty("role", "quiet");
    m_axis->addItems({tr("x: step"), workText({WorkUnit::kTokens}), tr("x: epoch"),
                      tr("x: relative time"), tr("x: wall clock")});
    m_log = makeButton(tr("log"), "quiet", (group + "Log").toUtf8().constData());
    m_log->setAccessibleName(tr("Logarithmic vertical axis"));
    m_log->setToolTip(m_log->accessibleName());
    m_log->setCheckable(true);
    for (QWidget* widget :
         std::initializer_list<QWidget*>{m_smoothingText, m_slider, m_axis, m_log})
        m_row->addWidget(widget);
    setCompact(false);
}

void ChartBar::buildKinds(const QString& group) {
    m_smoothingText = makeButton({}, "quiet", (group + "Kind").toUtf8().constData());
    auto* menu = new QMenu(m_smoothingText);
    menu->setObjectName(group + "Kinds");
    auto* choices = new QActionGroup(menu);
    for (const KindRow& row : kKinds) {
        QAction* action = menu->addAction(titleOf(row.kind), this, [this, kind = row.kind] {
            m_kind = kind;
            keep();
            nameSmoothing();
            Q_EMIT smoothingChanged();
        });
        action->setCheckable(true);
        choices->addAction(action);
        m_kinds[row.kind] = action;
    }
    connect(m_smoothingText, &QPushButton::clicked, this, [this, menu] {
        menu->popup(m_smoothingText->mapToGlobal(QPoint(0, m_smoothingText->height())));
    });
}

void ChartBar::wire() {
    connect(m_slider, &QSlider::valueChanged, this, [this] {
        keep();
        nameSmoothing();
        Q_EMIT smoothingChanged();
    });
    connect(m_axis, &QComboBox::currentIndexChanged, this, &ChartBar::axisChanged);
    connect(m_log, &QPushButton::toggled, this, &ChartBar::logChanged);
}

void ChartBar::restore() {
    const QSettings kept(m_settings, QSettings::IniFormat);
    const QSignalBlocker blocker(m_slider);
    m_slider->setValue(kept.value(m_group + "/smoothing", kSliderAtFirst).toInt());
    const QString key = kept.value(m_group + "/smoothing_kind").toString();
    for (const KindRow& row : kKinds)
        if (key == row.key)
            m_kind = row.kind;
    nameSmoothing();
}

void ChartBar::keep() const {
    QSettings kept(m_settings, QSettings::IniFormat);
    kept.setValue(m_group + "/smoothing", m_slider->value());
    for (const KindRow& row : kKinds)
        if (row.kind == m_kind)
            kept.setValue(m_group + "/smoothing_kind", row.key);
}

/// Shows the kind, the strength, and how many steps that are.
void ChartBar::nameSmoothing() {
    const double weight = smoothing().weight;
    const QString words =
        smoothingWords(m_kind, weight, std::llround(m_leastWindow), std::llround(m_window));
    const QFontMetrics metrics(m_smoothingText->font());
    const QString widest =
        m_isCompact ? briefOf(m_kind) : smoothingWords(m_kind, 0.88, kWidestWindow, kWidestWindow);
    m_smoothingText->setMinimumWidth(metrics.horizontalAdvance(widest) + 4 * size::kGrid);
    m_smoothingText->setText(m_isCompact ? briefOf(m_kind) : words);
    m_smoothingText->setAccessibleName(tr("Kind of smoothing, now %1").arg(words));
    m_smoothingText->setToolTip(
        tr("%1: choose how lines are smoothed. An average reaches back about that far; a mean, "
           "Gaussian or median has a window of that width.")
            .arg(words));
    m_slider->setToolTip(words);
    m_kinds.at(m_kind)->setChecked(true);
}

Smoothing ChartBar::smoothing() const {
    return {m_kind, m_slider->value() / 100.0};
}

XAxis ChartBar::axis() const {
    return static_cast<XAxis>(m_axis->currentIndex());
}

bool ChartBar::isLog() const {
    return m_log->isChecked();
}

void ChartBar::setAxis(XAxis axis) {
    m_axis->setCurrentIndex(static_cast<int>(axis));
}

void ChartBar::setWork(const std::vector<WorkUnit>& units) {
    if (!units.empty())
        m_axis->setItemText(static_cast<int>(XAxis::kWork), workText(units));
}

void ChartBar::setWindow(double least, double most) {
    m_leastWindow = least;
    m_window = most;
    nameSmoothing();
}

void ChartBar::add(QWidget* widget) {
    m_row->addWidget(widget);
}

void ChartBar::setCompact(bool compact) {
    m_isCompact = compact;
    m_row->setSpacing(compact ? size::kGrid : 2 * size::kGrid);
    m_slider->setFixedWidth(compact ? kCompactSliderWidth : kSliderWidth);
    nameSmoothing();
}

void ChartBar::showSlider(bool shown) {
    m_slider->setVisible(shown);
    m_smoothingText->setVisible(shown);
}

} // namespace rm
