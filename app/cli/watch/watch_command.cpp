// SPDX-License-Identifier: GPL-3.0-or-later
// The live view of a run in the terminal.
#include "app/cli/access.h"
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/interruption.h"
#include "app/cli/terminal.h"
#include "app/cli/watch/screen.h"
#include "app/cli/watch/watch_keys.h"
#include "app/cli/watch/watch_reader.h"
#include "app/cli/watch/watch_view.h"
#include "app/core/answer.h"
#include "shared/io/clock.h"

#include <QMutex>
#include <QSocketNotifier>

#include <unistd.h>

#include <iostream>
#include <sstream>

namespace rm::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto kShortestPause = 200ms; ///< between two drawings that nobody's key asked for
constexpr int64_t kLongestPauseNs = 1'000'000'000; ///< as times go by although nothing comes

/// What libraries say meanwhile, from any thread.
QMutex g_saidMutex;
std::string g_said;

void keepMessage(QtMsgType, const QMessageLogContext&, const QString& text) {
    const QMutexLocker lock(&g_saidMutex);
    g_said += "ringmaster: " + oneLine(text.toStdString()) + '\n';
}

/// Keeps what is written to standard error, which would be drawn over the screen, until the
/// terminal is given back.
class KeptErrors {
public:
    KeptErrors()
        : m_before(std::cerr.rdbuf(m_text.rdbuf()))
        , m_handler(qInstallMessageHandler(&keepMessage)) {}
    ~KeptErrors() {
        std::cerr.rdbuf(m_before);
        qInstallMessageHandler(m_handler);
        const QMutexLocker lock(&g_saidMutex);
        std::cerr << m_text.str() << g_said << std::flush;
        g_said.clear();
    }
    KeptErrors(const KeptErrors&) = delete;
    KeptErrors& operator=(const KeptErrors&) = delete;

private:
    std::ostringstream m_text;
    std::streambuf* m_before;
    QtMessageHandler m_handler;
};

/// One live view, from its first drawing to its last.
class LiveView : public QObject {
public:
    LiveView(CommandContext& context, std::unique_ptr<StoreReader> reader, Screen& screen,
             QString run)
        : m_context(context)
        , m_reader(std::move(reader))
        , m_screen(screen) {
        follow(run.isEmpty() ? m_reader.newestLive() : run);
        wire();
    }

    /// Until the person leaves or a signal comes; returns the exit code.
    int exec();
    QString run() const { return m_run; }

private:
    void wire();
    void follow(const QString& run);
    /// Handles the keys that were pressed, and draws what has changed. True: it is over.
    bool refresh();
    void draw();
    void perform(const WatchAction& action);
    void send(const SendCommand& command);
    void logIn();
    void setMessage(const std::string& message, Ink ink);

    CommandContext& m_context;
    WatchReader m_reader;
    Screen& m_screen;
    QString m_run;
    WatchView m_view;
    bool m_hasChanged = true;
    bool m_isLeft = false;
    bool m_asksForLogin = false;
    int64_t m_drawnNs = 0; ///< CLOCK_MONOTONIC
};

void LiveView::wire() {
    Engine& engine = m_context.engine();
    const auto change = [this](const QString& run) { m_hasChanged |= run == m_run; };
    connect(&engine, &Engine::samplesAppended, this, change);
    connect(&engine, &Engine::liveChanged, this, change);
    connect(&engine, &Engine::attemptEnded, this, change);
    connect(&engine, &Engine::runsChanged, this, [this] { m_hasChanged = true; });
    connect(&engine, &Engine::failed, this, [this](const QString& run, const QString& why) {
        if (run == m_run || run.isEmpty())
            setMessage(why.toStdString(), Ink::kBad);
    });
}

void LiveView::follow(const QString& run) {
    m_run = run;
    m_view.isList = run.isEmpty();
    m_view.scroll = 0;
    m_hasChanged = true;
    if (!run.isEmpty())
        m_context.engine().attach(run);
}

void LiveView::setMessage(const std::string& message, Ink ink) {
    m_view.message = message;
    m_view.messageInk = ink;
    m_hasChanged = true;
}

void LiveView::draw() {
    const LiveState live = m_run.isEmpty() ? LiveState() : m_context.engine().live(m_run);
    const WatchData& data =
        m_reader.read(m_run, live, m_view, m_screen.width(), m_screen.height(), m_screen.glyphs());
    WatchView shown = m_view;
    if (!data.problem.empty() && shown.message.empty()) {
        shown.message = data.problem;
        shown.messageInk = Ink::kBad;
    }
    m_screen.show(drawWatch(data, shown, m_screen.width(), m_screen.height(), m_screen.glyphs()));
    m_drawnNs = monotonicNowNs();
    m_hasChanged = false;
}

void LiveView::perform(const WatchAction& action) {
    if (std::holds_alternative<LeaveWatch>(action))
        m_isLeft = true;
    else if (const auto* command = std::get_if<SendCommand>(&action))
        send(*command);
    else if (const auto* open = std::get_if<OpenRun>(&action))
        follow(open->run);
    else if (std::holds_alternative<LogIn>(action))
        m_asksForLogin = true;
}

void LiveView::send(const SendCommand& command) {
    const std::string name = commandKindName(command.kind);
    setMessage(name + " is under way", Ink::kAccent);
    const auto answer = m_context.engine().ask(CommandRequest{m_run, command.kind, command.args});
    whenAnswered(answer, this, [this, name](const Result<CommandState>& state) {
        if (!state)
            return setMessage(state.error().message, Ink::kBad);
        const std::string words = state->message.empty() ? "" : ": " + state->message;
        if (state->progress == CommandProgress::kRefused)
            return setMessage(name + " was refused" + words, Ink::kBad);
        setMessage(name + " took effect" +
                       (state->step < 0 ? "" : " after step " + std::to_string(state->step)) +
                       words,
                   Ink::kGood);
    });
}

/// Asks in the plain terminal, as the questions are lines.
void LiveView::logIn() {
    m_asksForLogin = false;
    std::vector<std::string> nodes;
    for (const LiveState::NodeLink& node : m_context.engine().live(m_run).nodes)
        if (node.link == LiveState::Link::kRefused)
            nodes.push_back(node.node);
    if (nodes.empty())
        return setMessage("no node of the run refuses the login", Ink::kDim);
    m_screen.suspend();
    const bool isIn = openAsking(m_context, nodes);
    m_screen.resume();
    setMessage(isIn ? "the login is accepted" : "the login is still refused",
               isIn ? Ink::kGood : Ink::kBad);
}

bool LiveView::refresh() {
    bool isKey = false;
    while (const auto key = m_screen.nextKey()) {
        isKey = true;
        perform(pressKey(m_view, m_reader.data(), *key));
    }
    const int64_t pauseNs = monotonicNowNs() - m_drawnNs;
    const bool isDue = pauseNs >= std::chrono::nanoseconds(kShortestPause).count();
    if (isKey || (m_hasChanged && isDue) || pauseNs >= kLongestPauseNs)
        draw();
    return m_isLeft || m_asksForLogin;
}

int LiveView::exec() {
    for (;;) {
        const Interruption interruption;
        QSocketNotifier keys(STDIN_FILENO, QSocketNotifier::Read);
        QObject::connect(&keys, &QSocketNotifier::activated, this, [this] { refresh(); });
        bool isOver = false;
        awaitUntil([&] {
            isOver = refresh();
            return isOver || interruption.isRequested();
        });
        if (interruption.isRequested())
            return interruption.exitCode();
        if (m_isLeft)
            return 0;
        logIn();
    }
}

int runWatch(CommandContext& context, const std::string& id) {
    const std::string attempt = "watch" + (id.empty() ? "" : " " + id);
    if (context.json())
        return printError(context,
                          {ErrorCode::kInvalid,
                           attempt + ": it draws in the terminal and has no JSON; `ringmaster show "
                                     "RUN --json` has how a run is"});
    QString run;
    if (!id.empty()) {
        const auto found = context.resolve(id);
        if (!found)
            return printError(context, found.error());
        run = found->id;
    }
    auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    int code = 0;
    {
        const KeptErrors kept;
        auto screen = Screen::open(attempt);
        if (!screen)
            return printError(context, screen.error());
        LiveView view(context, std::move(*reader), **screen, run);
        code = view.exec();
        run = view.run();
    }
    if (const auto after = run.isEmpty() ? Result<RunSummary>(fail(ErrorCode::kNotFound, ""))
                                         : context.resolve(run.toStdString());
        after && !hasEnded(after->state))
        std::cerr << "The run goes on. Come back with: ringmaster watch " << run.toStdString()
                  << std::endl;
    return code;
}

} // namespace

void addWatch(CommandLine& line) {
    struct Options {
        std::string run;
    };
    auto& o = line.keep<Options>();
    auto* watch =
        line.add("watch", "Show a run live in the terminal, with charts, ranks and commands",
                 [&o](CommandContext& context) { return runWatch(context, o.run); });
    watch->add_option("RUN", o.run,
                      "Id, start of an id, or name of a run; default: the newest that trains, "
                      "else one is chosen from a list");
    line.mayOnlyRead(*watch);
}

} // namespace rm::cli
