// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/slowdowns.h"
#include "app/ui/widgets/card.h"

class QLabel;

namespace rm {

class CappedArea;

/// Why a run is not faster: what costs the most first, each with its figures and what to do; last
/// what is not known.
class SlowCard : public Card {
    Q_OBJECT
public:
    explicit SlowCard(QWidget* parent = nullptr);
    /// `steps`: which they are of, "steps 400 to 600"; empty: of the last ones.
    void show(const Verdict& verdict, const QString& steps = {});
    using QWidget::show;

private:
    std::vector<CheckRow> m_rows; ///< that are shown
    QString m_unknown;
    QLabel* m_title;
    CappedArea* m_area;
};

} // namespace rm
