// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/machines/device_line.h"

#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/chip.h"
#include "shared/io/clock.h"

#include <QFontMetrics>
#include <QKeyEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <utility>

namespace rm {

namespace {

constexpr int kLineHeight = 6 * size::kGrid;
constexpr int kBetween = 2 * size::kGrid;
constexpr int kHistoryMost = 2 * kHistoryParts;
constexpr int kOwnerLeast = 24 * size::kGrid;

/// "13.1 / 16 GiB", "1.17 / 2 TiB": both in the unit of the total.
QString memoryText(const std::optional<double>& used, int64_t total) {
    constexpr double kGiB = 1024.0 * 1024 * 1024, kTiB = 1024 * kGiB;
    if (!used)
        return kAbsent;
    if (total <= 0)
        return formatMemory(static_cast<int64_t>(*used));
    const bool isInTiB = static_cast<double>(total) >= kTiB;
    return QString("%1 / %2")
        .arg(*used / (isInTiB ? kTiB : kGiB), 0, 'f', isInTiB ? 2 : 1)
        .arg(formatMemory(total));
}

QString withUnit(const std::optional<double>& value, const QString& unit) {
    return value ? QString::number(qRound64(*value)) + unit : kAbsent;
}

/// Means of equal parts of the last five minutes.
template <class Value>
QVector<double> historyOf(const ShownMachine& machine, Value value) {
    QVector<double> sums(kHistoryParts, 0);
    QVector<int> counts(kHistoryParts, 0);
    const int64_t now = wallNowNs();
    for (const MachinePoint& point : machine.points) {
        const double age = static_cast<double>(now - point.atNs) / kMachineHistoryNs;
        const int part = kHistoryParts - 1 - static_cast<int>(std::floor(age * kHistoryParts));
        const std::optional<double> share = value(point.sample);
        if (!share || part < 0 || part >= kHistoryParts)
            continue;
        sums[part] += *share;
        ++counts[part];
    }
    for (int part = 0; part < kHistoryParts; ++part)
        sums[part] = counts[part] > 0 ? std::clamp(sums[part] / counts[part], 0.0, 1.0) : qQNaN();
    return sums;
}

QColor attentionColour(Attention attention, const QColor& usual) {
    return attention == Attention::kBad    ? toneColour(Tone::kBad)
           : attention == Attention::kWarn ? toneColour(Tone::kWarn)
                                           : usual;
}

/// Where the parts of a line stand; a width of 0: there is no room for it.
struct Columns {
    int index, history, use, memory, heat, power;

    explicit Columns(int width) {
        const QFontMetrics body(Theme::instance().font(FontRole::kBody));
        index = QFontMetrics(Theme::instance().font(FontRole::kMono)).horizontalAdvance("CPU");
        use = body.horizontalAdvance(QStringLiteral("100 %"));
        memory = body.horizontalAdvance(QStringLiteral("139.8 / 139.8 GiB"));
        heat = body.horizontalAdvance(QStringLiteral("100°"));
        power = body.horizontalAdvance(QStringLiteral("1000 W"));
        const int figures = index + use + memory + heat + power + 6 * kBetween;
        history = std::min(kHistoryMost, width - figures - kOwnerLeast);
        if (history < kHistoryParts) { // the figures matter more than how they came about
            history = std::max(kHistoryParts / 2, history);
            power = width - figures - history < kOwnerLeast ? 0 : power;
        }
    }
};

} // namespace

DeviceFigures figuresOf(const ShownMachine& machine, int gpu) {
    DeviceFigures figures;
    figures.gpu = gpu;
    const MachineSample* now = machine.now();
    if (!now || !machine.facts)
        return figures;
    const MachineFacts& facts = *machine.facts;
    if (gpu < 0) {
        const double cpus = std::max(facts.cpus, 1);
        const auto share = [cpus](const MachineSample& sample) {
            return sample.cpu ? std::optional(*sample.cpu / cpus) : std::nullopt;
        };
        figures.history = historyOf(machine, share);
        const auto present = share(*now);
        figures.use = present ? formatPercent(*present) : kAbsent;
        figures.memory = memoryText(static_cast<double>(now->memoryBytes), facts.memoryBytes);
        figures.heat = figures.power = QString();
        figures.owner = QString::fromStdString(cpuOwnerOf(machine));
        figures.isFree = present.value_or(0) < 0.05;
        return figures;
    }
    const auto at = static_cast<size_t>(gpu);
    if (at >= now->gpus.size() || at >= facts.gpus.size())
        return figures;
    const GpuFigures& present = now->gpus[at];
    figures.history = historyOf(machine, [at](const MachineSample& sample) {
        return at < sample.gpus.size() ? sample.gpus[at].utilization : std::nullopt;
    });
    figures.use = present.utilization ? formatPercent(*present.utilization) : kAbsent;
    figures.memory = memoryText(present.memoryBytes, facts.gpus[at].memoryBytes);
    figures.heat = withUnit(present.temperatureC, QStringLiteral("°"));
    figures.power = withUnit(present.powerW, QStringLiteral(" W"));
    figures.owner = QString::fromStdString(ownerOf(machine, at));
    const bool isSlowed = !warningsOf(facts.gpus[at], present).empty();
    figures.heatAttention =
        std::max(attentionOfHeat(facts.gpus[at], present),
                 isSlowed && !present.isLost ? Attention::kWarn : Attention::kNone);
    figures.ownerAttention = present.isLost ? Attention::kBad : Attention::kNone;
    figures.isFree = !isGpuBusy(machine, at);
    return figures;
}

DeviceLine::DeviceLine(const QString& machine, QWidget* parent)
    : QWidget(parent)
    , m_machine(machine) {
    setObjectName("deviceLine");
    setFocusPolicy(Qt::ClickFocus);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(m_machine);
}

QString DeviceLine::deviceName() const {
    return m_figures.gpu < 0 ? tr("CPU") : tr("GPU %1").arg(m_figures.gpu);
}

void DeviceLine::show(const DeviceFigures& figures) {
    const bool isOther = figures != m_figures;
    m_figures = figures;
    const QString name = tr("%1 of %2").arg(deviceName(), m_machine);
    QStringList parts{figures.use, figures.memory};
    for (const QString& part : {figures.heat, figures.power, figures.owner})
        if (!part.isEmpty())
            parts << part;
    const QString words = parts.join(", ");
    if (accessibleName() != name)
        setAccessibleName(name);
    if (accessibleDescription() != words) {
        setAccessibleDescription(words);
        setToolTip(asPlain(name + ": " + words));
    }
    if (isOther)
        update();
}

void DeviceLine::setSelected(bool selected) {
    setFocusPolicy(selected ? Qt::StrongFocus : Qt::ClickFocus);
    if (std::exchange(m_isSelected, selected) != selected)
        update();
}

QSize DeviceLine::sizeHint() const {
    return {minimumSizeHint().width() + kHistoryParts, kLineHeight};
}

QSize DeviceLine::minimumSizeHint() const {
    return {size::kNodeCardMin, kLineHeight};
}

/// A bar for each part. What is not known has none, and nothing at all a hairline.
void DeviceLine::paintHistory(QPainter& painter, const QRect& place) const {
    const QColor colour = m_figures.isFree ? colours().faint : colours().series[0];
    const double step = static_cast<double>(place.width()) / kHistoryParts;
    painter.fillRect(QRect(place.left(), place.bottom(), place.width(), 1), colours().hairline);
    for (int part = 0; part < m_figures.history.size(); ++part) {
        const double share = m_figures.history[part];
        if (std::isnan(share))
            continue;
        const double height = std::max(1.0, share * place.height());
        painter.fillRect(QRectF(place.left() + part * step, place.bottom() + 1 - height,
                                std::max(1.0, step - 0.7), height),
                         colour);
    }
}

void DeviceLine::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Colours& c = colours();
    if (m_isSelected || hasFocus()) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(hasFocus() ? QPen(c.accent) : QPen(Qt::NoPen));
        painter.setBrush(m_isSelected ? c.accentBack : QColor(Qt::transparent));
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), size::kGrid,
                                size::kGrid);
        painter.setRenderHint(QPainter::Antialiasing, false);
    }
    const int inset = size::kGrid;
    const QRect all = rect().adjusted(inset, 0, -inset, 0);
    const Columns columns(all.width());
    int x = all.left();
    const auto write = [&](const QString& text, int width, Qt::Alignment align,
                           const QColor& colour, FontRole role) {
        if (width <= 0)
            return;
        painter.setFont(Theme::instance().font(role));
        painter.setPen(colour);
        const QString shown = QFontMetrics(painter.font()).elidedText(text, Qt::ElideRight, width);
        painter.drawText(QRect(x, all.top(), width, all.height()), align | Qt::AlignVCenter, shown);
        x += width + kBetween;
    };
    const QColor figure = m_figures.isFree ? c.secondary : c.text;
    write(m_figures.gpu < 0 ? tr("CPU") : QString::number(m_figures.gpu), columns.index,
          Qt::AlignLeft, c.secondary, FontRole::kMono);
    paintHistory(painter, QRect(x, all.top() + 3, columns.history, all.height() - 6));
    x += columns.history + kBetween;
    write(m_figures.use, columns.use, Qt::AlignRight, figure, FontRole::kBody);
    write(m_figures.memory, columns.memory, Qt::AlignRight, figure, FontRole::kBody);
    write(m_figures.heat, columns.heat, Qt::AlignRight,
          attentionColour(m_figures.heatAttention, figure), FontRole::kBody);
    write(m_figures.power, columns.power, Qt::AlignRight, figure, FontRole::kBody);
    write(m_figures.owner, all.right() + 1 - x, Qt::AlignLeft,
          attentionColour(m_figures.ownerAttention, c.secondary), FontRole::kSecondary);
}

void DeviceLine::mousePressEvent(QMouseEvent*) {
    Q_EMIT selected();
}

void DeviceLine::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter ||
        event->key() == Qt::Key_Space)
        Q_EMIT selected();
    else if (event->key() >= Qt::Key_Home && event->key() <= Qt::Key_Down)
        Q_EMIT moveRequested(event->key()); // Home, End and the arrows stand in a row
    else
        QWidget::keyPressEvent(event);
}

void DeviceLine::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    update();
}

void DeviceLine::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    update();
}

} // namespace rm
