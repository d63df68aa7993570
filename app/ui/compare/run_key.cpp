// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/compare/run_key.h"

#include "app/ui/data/run_words.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>

namespace rm {

namespace {
constexpr int kLineLeft = 12, kLineWidth = 14;
constexpr int kMostName = 28; ///< characters; the tooltip has all
} // namespace

RunKey::RunKey(const RunSummary& run, const RunStyle& style, QWidget* parent)
    : QFrame(parent)
    , m_run(run.id)
    , m_style(style)
    , m_name(makeButton({}, "quiet", ("compare." + run.id).toUtf8().constData()))
    , m_state(new ElidedLabel({}, "caption")) {
    setProperty("role", "card");
    m_name->setCheckable(true);
    m_name->setChecked(true);
    m_state->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    auto* open = makeButton(tr("Open"), "quiet", "openCompared");
    auto* remove = makeButton(QStringLiteral("×"), "quiet", "takeOut");
    remove->setFixedWidth(remove->sizeHint().height());
    remove->setToolTip(tr("Take this run out of the comparison"));
    open->setToolTip(tr("Show this run's page"));
    open->setAccessibleName(tr("Open %1").arg(run.name));
    remove->setAccessibleName(tr("Take %1 out").arg(run.name));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(kLineLeft + kLineWidth + size::kGrid, 2, 4, 2);
    row->setSpacing(size::kGrid);
    row->addWidget(m_name);
    row->addWidget(m_state, 1);
    row->addWidget(open);
    row->addWidget(remove);
    connect(m_name, &QPushButton::toggled, this, [this] {
        update();
        Q_EMIT toggled();
    });
    connect(open, &QPushButton::clicked, this, &RunKey::opened);
    connect(remove, &QPushButton::clicked, this, &RunKey::removed);
    show(run, style);
}

void RunKey::show(const RunSummary& run, const RunStyle& style) {
    if (std::exchange(m_style, style) != style)
        update();
    const QString& name = run.name;
    m_name->setText(name.size() > kMostName
                        ? name.left(kMostName / 2) + QChar(0x2026) + name.right(kMostName / 2 - 1)
                        : name);
    m_name->setAccessibleName(tr("Lines of %1").arg(name));
    m_name->setToolTip(asPlain(tr("%1 (%2): show or hide its lines").arg(name, run.id)));
    QString state = stateWords(run).text;
    if (!run.parentRun.isEmpty())
        state += kSeparator + tr("from %1").arg(formatCount(run.parentStep));
    m_state->setFullText(state);
}

bool RunKey::isDrawn() const {
    return m_name->isChecked();
}

void RunKey::setDrawn(bool drawn) {
    m_name->setChecked(drawn);
}

void RunKey::paintEvent(QPaintEvent* event) {
    QFrame::paintEvent(event);
    QPainter painter(this);
    QColor colour = colours().series[static_cast<size_t>(m_style.colour)];
    if (!isDrawn())
        colour = colours().faint;
    painter.setPen(QPen(colour, 3, m_style.dash));
    painter.drawLine(kLineLeft, height() / 2, kLineLeft + kLineWidth, height() / 2);
}

} // namespace rm
