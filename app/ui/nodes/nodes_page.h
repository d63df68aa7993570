// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"
#include "app/core/launch/trial.h"
#include "app/ui/data/app_context.h"

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

#include <optional>
#include <utility>
#include <vector>

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace rm {

class Banner;
class CappedArea;
class DifferencesCard;
class ElidedLabel;
class NetworkCard;
class NodeCard;
class NodeDialog;
class PageHeader;
class ReflowGrid;

/// The machines: a card each, the check of the selected one below, and how the checked ones differ.
class NodesPage : public QWidget {
    Q_OBJECT
public:
    explicit NodesPage(const AppContext& context, QWidget* parent = nullptr);
    void addNode(); ///< opens the dialog
    void select(const QString& name);
    void focusSelected(); ///< its card, from which the arrows lead to the others
    /// What can be done here now, in words, by which button.
    std::vector<std::pair<QString, QPushButton*>> actions() const;

protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void buildUi();
    QWidget* buildCards();
    int heightOfCards() const;
    QWidget* buildCheck();
    void wire();
    void restore();
    void rebuildCards();
    void moveSelection(int key); ///< to the card that an arrow, Home or End leads to
    void showWarnings();
    void showFileProblem();
    void refresh(const QString& name);
    void refreshHeader();
    void refreshDifferences();
    void compare();
    QString progressOf(const QString& name) const;
    void showAges(); ///< of the checks and of the network
    void showCheck();
    QWidget* addRow(const CheckRow& row, QWidget* before);
    void act(const CheckAction& action);
    void endLeftovers(const QStringList& runs);
    void removeAgents(const QStringList& ids);
    void offerToAnswer(const QString& name);
    void focusAction(const QString& row);
    void clearRows();
    void editSelected();
    void openDialog(NodeDialog* dialog);
    void importNodes();
    void removeSelected();
    void offerUndo(const RemovedNode& gone, bool isClean);
    void forgetIfGone(const Node& gone);
    void selfTestSelected();
    void showSelfTest(const Progress& progress);

    AppContext m_context;
    PageHeader* m_header;
    QPushButton* m_clean;
    QPushButton* m_cancel; ///< of several checks
    QPushButton* m_links;
    QPushButton* m_add;
    QPushButton* m_import;
    Banner* m_fileBanner; ///< why nodes.toml cannot be read
    QPushButton* m_checkAll;
    CappedArea* m_cardsArea;
    ReflowGrid* m_grid;
    std::vector<NodeCard*> m_cards;
    QString m_selected;
    std::optional<NodeTrial> m_testing; ///< the devices of a node
    QString m_testStage;                ///< as shown last
    QElapsedTimer m_testShown;
    ElidedLabel* m_checkTitle;
    QLabel* m_checkSummary;
    QPushButton* m_checkOne;
    QPushButton* m_history;
    QLabel* m_use;
    QPushButton* m_cancelOne;
    QPushButton* m_selfTest;
    QPushButton* m_edit;
    QPushButton* m_remove;
    QVBoxLayout* m_rows;
    NetworkCard* m_network;
    DifferencesCard* m_differences;
    QTimer m_ageTimer;
    bool m_isComparing = false; ///< in the next turn of the event loop
};

} // namespace rm
