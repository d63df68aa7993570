// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>

#include <memory>
#include <set>

class QStackedWidget;

namespace rm {

class ComparePage;
class Engine;
class Fleet;
class MachinesPage;
class NewRunPage;
class NodeConnector;
class NodesPage;
class Rail;
class RunPage;
class RunsFeed;
class RunsPage;
class StoreThread;
class Toast;
class Banner;
class WelcomePage;
struct AppContext;
struct PaletteEntry;
struct Paths;

/// The app's window over one engine. The theme is installed with it.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    MainWindow(Engine& engine, Fleet& fleet, const Paths& paths);
    ~MainWindow() override;

    void showWelcome();
    void showRuns();
    void showRun(const QString& run);
    void showNewRun();
    void showNodes();
    void showCompare();
    void showMachines();
    /// Shows these beside each other, by their ids.
    void compare(const QStringList& runs);
    void showPalette();
    /// The topic of the page that is shown, unless another one is named.
    void showManual(const QString& topic = {});
    /// Raises the window and gives it the focus, which the desktop allows with the token that it
    /// gave to the start of the app ($XDG_ACTIVATION_TOKEN).
    void comeToFront(const QByteArray& activationToken);

    // Pages that are made when they are first needed: each takes long, and most starts show few.
    RunPage& runPage();
    NewRunPage& newRunPage();
    ComparePage& comparePage();
    MachinesPage& machinesPage();
    // For tests.
    NodesPage& nodesPage() const { return *m_nodes; }
    RunsFeed& runs() const { return *m_runsFeed; }

protected:
    /// A person who closes it is asked first while a launch would end with it.
    void closeEvent(QCloseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override; ///< Return presses the button with the focus

private:
    void buildUi();
    void wire();
    void wirePages();
    void wireRun();
    void wireNewRun();
    void wireCompare();
    template <class Page>
    bool makePage(Page*& page);
    void wireKeys();
    void restore();
    void focusPage();
    void askToClose(qsizetype launches);
    void tellWhatGoesOn(qsizetype live, qsizetype waiting);
    void askToClose(const QString& words, const QString& closing, const char* role);
    void prepareHere();
    void trainHere();
    void chooseFirstPage();
    void driveQueue();
    void showQueue();
    void onEnqueued(const QStringList& runs);
    QString topicOfPage() const;
    std::vector<PaletteEntry> paletteEntries();
    std::vector<PaletteEntry> runEntries() const;
    std::vector<PaletteEntry> actionEntries();

    Engine& m_engine;
    Fleet& m_fleet;
    const Paths& m_paths;
    StoreThread* m_store;
    RunsFeed* m_runsFeed;
    Toast* m_toast;
    Banner* m_unread; ///< that something stored cannot be read
    NodeConnector* m_connector;
    std::set<QString> m_queueProblems; ///< that were told
    std::unique_ptr<AppContext> m_context;
    Rail* m_rail;
    QStackedWidget* m_stack;
    WelcomePage* m_welcome;
    RunsPage* m_runs;
    NodesPage* m_nodes; ///< says what is wrong with the list of nodes
    // nullptr: not made yet
    RunPage* m_run = nullptr;
    NewRunPage* m_newRun = nullptr;
    ComparePage* m_compare = nullptr;
    MachinesPage* m_machines = nullptr;
    bool m_firstPageChosen = false;
};

} // namespace rm
