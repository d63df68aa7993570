// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/run_summary.h"
#include "app/ui/dialogs/sheet.h"

#include <QStringList>

#include <vector>

class QLineEdit;
class QListWidget;

namespace rm {

/// Which tags several runs have: those that only some have stay so unless a person ticks or unticks
/// them.
class TagsDialog : public Sheet {
    Q_OBJECT
public:
    TagsDialog(const std::vector<RunSummary>& runs, QWidget* parent);

Q_SIGNALS:
    void chosen(const QStringList& add, const QStringList& remove);

private:
    void addTags(const std::vector<RunSummary>& runs);
    void choose();

    QLineEdit* m_new;
    QListWidget* m_tags;
};

} // namespace rm
