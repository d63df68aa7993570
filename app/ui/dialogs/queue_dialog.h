// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/data/app_context.h"
#include "app/ui/dialogs/sheet.h"

#include <QStringList>

class QListWidget;

namespace rm {

/// The runs that wait for free nodes, in their order, which a person changes by dragging or with
/// the buttons.
class QueueDialog : public Sheet {
    Q_OBJECT
public:
    QueueDialog(const AppContext& context, QWidget* parent);

private:
    struct Row {
        QString run;
        QString words;
        bool operator==(const Row&) const = default;
    };
    void read();
    void show(const std::vector<Row>& rows);
    void offer();
    void move(int by);
    void moveTo(const QString& run, int place);
    void takeOut();
    void onDropped();

    const AppContext& m_context;
    QListWidget* m_list;
    QPushButton* m_up;
    QPushButton* m_down;
    QPushButton* m_out;
    std::vector<Row> m_rows;
};

} // namespace rm
