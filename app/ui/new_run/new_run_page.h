// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/core/launch/recipes.h"
#include "app/ui/data/app_context.h"
#include "app/ui/nodes/check_card.h"
#include "app/ui/run/branch_point.h"

#include <QPointer>
#include <QTimer>
#include <QWidget>

#include <map>
#include <optional>
#include <vector>

class QBoxLayout;
class QLabel;
class QPushButton;
class QScrollArea;

namespace rm {

class Banner;
class LaunchBar;
class LaunchPreflight;
class LaunchProgress;
class PageHeader;
class PlacementList;
class RecipeStrip;
class SpecForm;
class TomlDrawer;
struct SpecField;

/// The page with the recipes, the form, the nodes and their checks, the spec as a file, and Launch.
class NewRunPage : public QWidget {
    Q_OBJECT
public:
    explicit NewRunPage(const AppContext& context, QWidget* parent = nullptr);

    /// Chooses a recipe and nodes; unknown ones change nothing.
    void prepare(const QString& recipe, const std::vector<Placement>& nodes);
    /// Prepares a branch with the spec of the run that `from` belongs to. Its name follows the
    /// changed settings until a person enters another.
    void prepareBranch(const BranchPoint& from, const QString& toml,
                       const std::vector<Placement>& nodes);
    /// Prepares a new run with the spec of a failed one, to be corrected.
    void prepareAgain(const QString& run, const QString& toml, const std::vector<Placement>& nodes);
    /// Launches the prepared run and returns its id. Empty: something prevents the launch, and the
    /// page says what.
    QString launchNow();

Q_SIGNALS:
    void launched(const QString& run);
    void notLaunched(const QString& run); ///< the page says why
    void enqueued(const QStringList& runs);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void buildUi();
    QWidget* buildBody(QWidget* parent);
    QWidget* buildSide(QWidget* parent);
    void wire();
    void wireLaunch();
    void restore();
    void chooseRecipe(int recipe);
    void useRecipe(int recipe);
    void keepChanges();
    std::function<void()> wayBack();
    void useToml(const QString& toml, const QString& baseName);
    void onFormEdited(const SpecField& field);
    void onTomlEdited();
    void enableForm();
    void placeDrawer();
    void followScroll();
    void keepView();
    void restoreView();
    void openDrawer(bool open);
    void refreshChecks();
    std::vector<CheckLine> specLines() const;
    std::vector<CheckLine> nodeLines() const;
    void showWhatNodesFound();
    std::vector<CheckLine> togetherLines(bool hasRanks) const;
    QString nodesOption() const;
    QString branchCommand() const;
    QString forecast() const;
    void readText();
    void showPlan();
    void askQueue();
    void showScript();
    void useJobLines(const RunSpec::Launch& launch);
    bool askToBeLetIn();
    void launch(IfTooLarge ifTooLarge);
    QStringList nodesLettingIn() const;
    void launchOnceIn();
    void cancel();
    void showLaunch(const QString& run);
    void onLaunched(const QString& run, const Result<QString>& answer);
    void askAboutTooLarge();
    void setLaunching(const QString& run);
    void endBranch();
    void showAgainState();
    QString sameName() const;
    void proposeName();

    struct Branch {
        BranchPoint from;
        RunSpec parent;
        std::string proposed; ///< name
    };

    AppContext m_context;
    std::vector<Recipe> m_recipes;
    PageHeader* m_header;
    QPushButton* m_asFile;
    Banner* m_banner;
    LaunchProgress* m_progress;
    QScrollArea* m_scroll;
    RecipeStrip* m_strip;
    QLabel* m_unreadable; ///< why the form waits
    QBoxLayout* m_columns;
    QWidget* m_side;
    PlacementList* m_nodes;
    CheckCard* m_checks;
    SpecForm* m_form;
    TomlDrawer* m_drawer;
    LaunchBar* m_bar;
    LaunchPreflight* m_preflight;
    QTimer m_parseTimer;
    QTimer m_ageTimer;
    QPointer<QWidget> m_seen; ///< what a person looks at in the form: in sight, with the focus
    int m_seenAt = 0;         ///< pixels of what is in sight that are above it
    std::optional<Error> m_parseError;
    QString m_firstText;              ///< as the recipe or the run had it
    std::optional<int> m_recipe;      ///< that the text is from
    std::map<int, QString> m_changed; ///< texts of recipes that a person has changed and left
    std::optional<Branch> m_branch;
    QString m_sameName;  ///< as shown: which runs have the name; empty: none
    QString m_again;     ///< the run that is launched again; empty: none
    QString m_launching; ///< the new run's id while its launch goes on
    bool m_cancelled = false;
    std::optional<IfTooLarge> m_launchOnceIn; ///< a launch waits until a node has let a person in
    std::vector<Placement> m_refused;         ///< what the banner is about
    QString m_tooLarge;                       ///< why this launch is refused; empty: it is not
};

} // namespace rm
