// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/compare/parallel_view.h"

#include "app/ui/compare/key_box.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/plot/parallel_plot.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/label.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace rm {

namespace {

constexpr int kLeastHead = 56; ///< width of the button above an axis
constexpr int kMostHead = 170;

/// From the colour of the lower end of an axis to that of its upper one.
QColor between(const QColor& low, const QColor& high, double share) {
    const auto mix = [share](double from, double to) {
        return static_cast<float>(from + share * (to - from));
    };
    return QColor::fromRgbF(mix(low.redF(), high.redF()), mix(low.greenF(), high.greenF()),
                            mix(low.blueF(), high.blueF()));
}

} // namespace

ParallelView::ParallelView(const AppContext& context, std::shared_ptr<RunValues> values,
                           QWidget* parent)
    : ValuesView(context, std::move(values), parent)
    , m_add(new KeyBox(tr("Add an axis"), "addAxis"))
    , m_colours(new QComboBox)
    , m_clear(makeButton(tr("Clear ranges"), "quiet", "clearRanges"))
    , m_kept(makeLabel({}, "secondary"))
    , m_heads(new QWidget)
    , m_plot(new ParallelPlot) {
    buildUi();
    connect(m_add, &KeyBox::chosen, this, &ParallelView::addAxis);
    connect(m_colours, &QComboBox::currentIndexChanged, this, &ParallelView::draw);
    connect(m_clear, &QPushButton::clicked, m_plot, &ParallelPlot::clearRanges);
    connect(m_plot, &ParallelPlot::rangesChanged, this, &ParallelView::nameKept);
    connect(m_plot, &ParallelPlot::axesPlaced, this, &ParallelView::placeButtons);
    connect(m_plot, &ParallelPlot::opened, this, &ParallelView::runChosen);
    connect(&Theme::instance(), &Theme::changed, this, &ParallelView::draw);
}

void ParallelView::buildUi() {
    m_colours->setObjectName("parallelColours");
    m_colours->setAccessibleName(tr("Colour of the lines"));
    m_colours->setProperty("role", "quiet");
    m_colours->addItems({tr("colour: last axis"), tr("colour: run")});
    m_kept->setObjectName("keptRuns");
    m_kept->setToolTip(tr("Drag along an axis to keep the runs within"));
    m_clear->setToolTip(tr("Keep all runs again (Escape)"));
    controls()->addWidget(makeLabel(tr("Add an axis"), "secondary"));
    for (QWidget* widget : std::initializer_list<QWidget*>{m_add, m_colours})
        controls()->addWidget(widget);
    controls()->addStretch(1);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_kept, m_clear})
        controls()->addWidget(widget);
    auto* card = new Card;
    card->body()->setContentsMargins(1, 2 * size::kGrid, 1, 1);
    card->body()->setSpacing(0);
    m_heads->setFixedHeight(size::kControlHeight);
    card->body()->addWidget(m_heads);
    card->body()->addWidget(m_plot, 1);
    column()->addWidget(card, 1);
}

std::vector<std::string> ParallelView::keys() const {
    if (!m_areChosen)
        return {};
    std::vector<std::string> keys;
    for (const Axis& axis : m_axes)
        keys.push_back(axis.key);
    return keys;
}

/// Those that stay are laid out as before.
void ParallelView::takeAxes(const std::vector<std::string>& keys) {
    std::vector<Axis> axes;
    for (const std::string& key : keys) {
        const auto before = std::ranges::find(m_axes, key, &Axis::key);
        axes.push_back(before == m_axes.end() ? Axis{key} : *before);
    }
    m_axes = std::move(axes);
}

void ParallelView::addAxis(std::string key) {
    m_add->setKey({});
    m_add->clearEditText();
    if (m_axes.size() >= kMostAxes || std::ranges::find(m_axes, key, &Axis::key) != m_axes.end())
        return;
    m_areChosen = true;
    m_axes.insert(m_axes.empty() ? m_axes.end() : m_axes.end() - 1,
                  {key}); // the last has the colour
    refresh();
}

void ParallelView::moveAxis(size_t axis, int by) {
    m_areChosen = true;
    std::swap(m_axes[axis], m_axes[static_cast<size_t>(static_cast<int>(axis) + by)]);
    refresh();
}

void ParallelView::removeAxis(size_t axis) {
    m_areChosen = true;
    m_axes.erase(m_axes.begin() + static_cast<std::ptrdiff_t>(axis));
    refresh();
}

void ParallelView::showTable(const RunTable& table, const std::vector<std::string>& offered) {
    m_add->setKeys(offered);
    if (!m_areChosen)
        takeAxes(table.keys);
    arrangeButtons();
    draw();
}

void ParallelView::arrangeButtons() {
    while (m_buttons.size() > m_axes.size()) {
        m_buttons.back()->deleteLater();
        m_buttons.pop_back();
    }
    while (m_buttons.size() < m_axes.size()) {
        const size_t axis = m_buttons.size();
        QPushButton* button =
            makeButton({}, "quiet", ("axis" + std::to_string(axis)).c_str(), m_heads);
        auto* menu = new QMenu(button);
        menu->setObjectName("axisMenu");
        connect(button, &QPushButton::clicked, this, [this, axis, button, menu] {
            fillMenu(axis);
            menu->popup(button->mapToGlobal(QPoint(0, button->height())));
        });
        m_buttons.push_back(button);
        button->show();
    }
    placeButtons();
}

void ParallelView::fillMenu(size_t axis) {
    auto* menu = m_buttons[axis]->findChild<QMenu*>("axisMenu");
    menu->clear();
    if (axis >= m_axes.size() || axis >= table().keys.size())
        return; // it is being taken away
    const auto check = [&](const QString& text, bool Axis::*member) {
        QAction* action = menu->addAction(text, this, [this, axis, member] {
            m_axes[axis].*member = !(m_axes[axis].*member);
            draw();
        });
        action->setCheckable(true);
        action->setChecked(m_axes[axis].*member);
        return action;
    };
    check(tr("Logarithmic"), &Axis::isLog)->setEnabled(scaleOf(table(), axis).canBeLog());
    check(tr("Upside down"), &Axis::isFlipped);
    menu->addSeparator();
    menu->addAction(tr("Move left"), this, [this, axis] { moveAxis(axis, -1); })
        ->setEnabled(axis > 0);
    menu->addAction(tr("Move right"), this, [this, axis] { moveAxis(axis, 1); })
        ->setEnabled(axis + 1 < m_axes.size());
    menu->addAction(tr("Remove"), this, [this, axis] { removeAxis(axis); })
        ->setEnabled(m_axes.size() > 1);
}

/// Each above its axis, as wide as there is room up to the next one.
void ParallelView::placeButtons() {
    if (m_buttons.empty() || m_plot->axes().size() != m_buttons.size())
        return;
    const auto count = static_cast<int>(m_buttons.size());
    const int room = m_heads->width() / count - size::kGrid;
    for (size_t axis = 0; axis < m_buttons.size(); ++axis) {
        QPushButton* button = m_buttons[axis];
        const int width = std::clamp(room, kLeastHead, kMostHead);
        const QString key = QString::fromStdString(m_axes[axis].key);
        button->setText(
            button->fontMetrics().elidedText(key, Qt::ElideLeft, width - 6 * size::kGrid));
        button->setAccessibleName(tr("Axis %1").arg(key));
        button->setToolTip(asPlain(tr("%1: logarithmic, upside down, its place").arg(key)));
        const int middle = m_plot->pixelOf(axis, 1).x();
        button->setGeometry(
            std::clamp(middle - width / 2, 0, std::max(0, m_heads->width() - width)), 0, width,
            m_heads->height());
    }
}

std::vector<QColor> ParallelView::lineColours(const std::vector<PlotScale>& axes) const {
    const auto& series = colours().series;
    std::vector<QColor> all;
    for (const PlottedRun& run : plottedRuns())
        all.push_back(series[static_cast<size_t>(run.colour)]);
    if (m_colours->currentIndex() == 0 && !axes.empty())
        for (size_t run = 0; run < all.size(); ++run) {
            const double share = axes.back().shareOf(axes.back().scale.values[run]);
            all[run] = std::isnan(share) ? colours().faint : between(series[0], series[1], share);
        }
    return all;
}

void ParallelView::draw() {
    std::vector<PlotScale> axes;
    for (size_t axis = 0; axis < std::min(m_axes.size(), table().keys.size()); ++axis)
        axes.push_back(scaleOfKey(axis, m_axes[axis].isLog, m_axes[axis].isFlipped));
    m_plot->setEmptyText(emptyText());
    const auto& series = colours().series;
    m_plot->setLastAxisColours(m_colours->currentIndex() == 0
                                   ? std::optional(std::pair(series[0], series[1]))
                                   : std::nullopt);
    m_plot->show(plottedRuns(), axes, lineColours(axes));
    placeButtons();
}

void ParallelView::nameKept() {
    const auto all = table().runs.size();
    const bool hasRange = [this] {
        for (size_t axis = 0; axis < m_plot->axes().size(); ++axis)
            if (m_plot->range(axis))
                return true;
        return false;
    }();
    m_clear->setEnabled(hasRange);
    m_kept->setText(hasRange ? tr("%1 of %2 runs").arg(m_plot->kept()).arg(all)
                             : tr("drag along an axis to choose"));
}

} // namespace rm
