// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/run/engine.h"
#include "app/ui/app_context.h"
#include "app/ui/data/recipes.h"

#include <QTimer>
#include <QWidget>

#include <optional>
#include <vector>

class QButtonGroup;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QVBoxLayout;

namespace rm {

class Banner;
class LaunchProgress;
class PageHeader;
class PlacementList;
class SpecForm;

/// Recipe, form with the TOML beside it, nodes, what is wrong, Launch.
class NewRunPage : public QWidget {
    Q_OBJECT
public:
    explicit NewRunPage(const AppContext& context, QWidget* parent = nullptr);

    /// Chooses a recipe and nodes; what is not there is left as it is.
    void prepare(const QString& recipe, const std::vector<Placement>& nodes);
    /// Starts from another run's spec; `branchOf` and `step` make it a branch.
    void prepareBranch(const QString& run, int64_t step, const QString& toml,
                       const std::vector<Placement>& nodes);

Q_SIGNALS:
    void launched(const QString& run);

private:
    void buildUi();
    QWidget* buildLeft();
    QWidget* buildEditor();
    void buildRecipes(QVBoxLayout* column);
    void wire();
    void restore();
    void useToml(const QString& toml);
    void onFormEdited(const SpecField& field);
    void showText(const QString& toml);
    void onTomlEdited();
    void enableForm();
    void refreshChecks();
    void addCheckLine(const QString& text, bool good);
    void launch(IfTooLarge ifTooLarge);
    void cancel();
    void showLaunch(const QString& run);
    void onLaunched(const Result<QString>& answer);
    void askAboutTooLarge();
    void setLaunching(const QString& run);
    void endBranch();

    struct Branch {
        QString run;
        int64_t step = 0;
    };

    AppContext m_context;
    std::vector<RecipeText> m_recipes;
    PageHeader* m_header;
    QPushButton* m_launch;
    QPushButton* m_cancel;
    Banner* m_banner;
    LaunchProgress* m_progress;
    QButtonGroup* m_recipeButtons;
    PlacementList* m_nodes;
    QVBoxLayout* m_checks;
    SpecForm* m_form;
    QPlainTextEdit* m_toml;
    QLabel* m_tomlError;
    QTimer m_parseTimer;
    std::optional<Error> m_parseError;
    std::optional<Branch> m_branch;
    QString m_launching; ///< the new run's id while its launch goes on
    bool m_cancelled = false;
    QString m_tooLarge; ///< why this launch is refused; empty: it is not
};

} // namespace rm
