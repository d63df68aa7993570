// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/compare/scatter_view.h"

#include "app/ui/compare/key_box.h"
#include "app/ui/plot/scatter_plot.h"
#include "app/ui/widgets/label.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

namespace rm {

ScatterView::ScatterView(const AppContext& context, std::shared_ptr<RunValues> values,
                         QWidget* parent)
    : ValuesView(context, std::move(values), parent)
    , m_x(new KeyBox(tr("Horizontal axis"), "scatterX"))
    , m_y(new KeyBox(tr("Vertical axis"), "scatterY"))
    , m_plot(new ScatterPlot) {
    controls()->addWidget(makeLabel(tr("x"), "secondary"));
    controls()->addWidget(m_x);
    m_logX = addLog(tr("Logarithmic horizontal axis"), "scatterLogX");
    controls()->addWidget(makeLabel(tr("y"), "secondary"));
    controls()->addWidget(m_y);
    m_logY = addLog(tr("Logarithmic vertical axis"), "scatterLogY");
    controls()->addStretch(1);
    column()->addWidget(m_plot, 1);
    for (KeyBox* box : {m_x, m_y})
        connect(box, &KeyBox::chosen, this, &ScatterView::refresh);
    connect(m_plot, &ScatterPlot::opened, this, &ScatterView::runChosen);
}

QPushButton* ScatterView::addLog(const QString& name, const char* objectName) {
    QPushButton* button = makeButton(tr("log"), "quiet", objectName);
    button->setAccessibleName(name);
    button->setToolTip(name);
    button->setCheckable(true);
    connect(button, &QPushButton::toggled, this, &ScatterView::draw);
    controls()->addWidget(button);
    return button;
}

std::vector<std::string> ScatterView::keys() const {
    if (m_x->key().empty() || m_y->key().empty())
        return {};
    return {m_x->key(), m_y->key()};
}

void ScatterView::showTable(const RunTable& table, const std::vector<std::string>& offered) {
    for (KeyBox* box : {m_x, m_y})
        box->setKeys(offered);
    if (table.keys.size() == 2) {
        m_x->setKey(table.keys[0]);
        m_y->setKey(table.keys[1]);
    }
    draw();
}

void ScatterView::draw() {
    m_plot->setEmptyText(emptyText());
    if (table().keys.size() < 2) {
        m_plot->show({}, {}, {});
        return;
    }
    const PlotScale x = scaleOfKey(0, m_logX->isChecked(), false);
    const PlotScale y = scaleOfKey(1, m_logY->isChecked(), false);
    m_plot->show(plottedRuns(), x, y);
    const auto offer = [](QPushButton& button, const PlotScale& scale) {
        button.setEnabled(scale.scale.canBeLog());
        button.setToolTip(button.isEnabled() ? button.accessibleName()
                                             : tr("Only values above 0 have a logarithm"));
    };
    offer(*m_logX, x);
    offer(*m_logY, y);
}

} // namespace rm
