// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/flow/flow.h"

#include "app/ui/models/runs_model.h"
#include "tests/gui/flow/node_processes.h"
#include "tests/gui/flow/run_view.h"
#include "tests/support/step_pace.h"

#include <QDir>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QTest>

#include <csignal>

namespace rm::test {

namespace {

QString replaced(QString toml, const QString& key, const QString& value) {
    const QRegularExpression line("^" + key + " = .*$", QRegularExpression::MultilineOption);
    return toml.replace(line, key + " = " + value);
}

QString madeSmall(QString toml, const QString& name, int steps, const QString& width) {
    const std::pair<const char*, QString> changes[] = {
        {"name", '"' + name + '"'}, {"layers", "2"},       {"heads", "2"},
        {"width", width},           {"context", "32"},     {"steps", QString::number(steps)},
        {"batch_size", "8"},        {"every", "50"},       {"batches", "2"},
        {"sample_tokens", "16"},    {"warmup_steps", "10"}};
    for (const auto& [key, value] : changes)
        toml = replaced(toml, key, value);
    return toml;
}

tl::unexpected<Error> late(const QString& what, const QString& seen) {
    return fail(ErrorCode::kUnavailable, (what + ": " + seen).toStdString());
}

} // namespace

Flow::Flow() {
    qputenv("HOME", m_home.path().toUtf8());
    for (const char* name : {"CONFIG", "DATA", "STATE", "CACHE"})
        qputenv((QByteArray("XDG_") + name + "_HOME").constData(),
                path(QString(name).toLower()).toUtf8());
    qunsetenv("SSH_AUTH_SOCK");
    paceOwnRanks();
    QDir(m_home.path()).mkpath(".ssh");
    connect(&m_gaps, &GapMeter::ticked, this, &Flow::look);
}

Flow::~Flow() {
    closeProgram();
    for (const QString& home : {m_home.path(), m_server ? m_server->home() : m_home.path()})
        for (const NodeProcess& process : processesAt(home))
            ::kill(process.pid, SIGKILL);
}

Result<std::unique_ptr<Flow>> Flow::prepare(SshServer::Options options) {
    std::unique_ptr<Flow> flow(new Flow);
    if (auto started = flow->startServer(std::move(options)); !started)
        return tl::unexpected<Error>(started.error());
    if (auto opened = flow->openProgram(); !opened)
        return tl::unexpected<Error>(opened.error());
    return flow;
}

Result<void> Flow::startServer(SshServer::Options options) {
    const auto key = makeSshKey(path("key"));
    if (!key)
        return tl::unexpected<Error>(key.error());
    options.authorizedKey = *key;
    options.environment << paceOf();
    auto server = SshServer::start(options);
    if (!server)
        return tl::unexpected<Error>(server.error());
    m_server = std::move(*server);
    return {};
}

Result<void> Flow::openProgram() {
    auto program = Program::start();
    if (!program)
        return tl::unexpected<Error>(program.error());
    m_program = std::move(*program);
    m_hand = std::make_unique<Hand>(window());
    // The window has heard of it by then: so even what is there for a moment is seen.
    connect(&m_program->engine(), &Engine::liveChanged, this, &Flow::look);
    if (!QTest::qWaitForWindowExposed(&window()))
        return late("open the window", "it is not shown");
    m_gaps.watch();
    return {};
}

void Flow::closeProgram() {
    if (!m_program)
        return;
    m_gaps.lookAway();
    window().close();
    m_hand.reset();
    m_program.reset();
}

Result<void> Flow::changeHostKey() {
    const Blind blind(m_gaps);
    return m_server->changeHostKey();
}

void Flow::look() {
    if (const QString now = state(); m_states.isEmpty() || m_states.back() != now)
        m_states << now;
    if (const QWidget* progress = m_hand->visible("launchProgress"))
        for (const QString& text : textsOn(*progress))
            if (!m_amounts.contains(text))
                m_amounts << text;
}

bool Flow::has(const QStringList& seen, const QString& pattern) {
    return !seen.filter(QRegularExpression(pattern)).isEmpty();
}

QString Flow::seen() const {
    return "states: " + m_states.join(" | ") + "; progress: " + m_amounts.join(" | ");
}

void Flow::forgetSeen() {
    m_states.clear();
    m_amounts.clear();
}

QString Flow::state() const {
    return stateOf(page());
}

qint64 Flow::newestStep() const {
    const QList<qint64> steps = lossSteps(page());
    return steps.isEmpty() ? 0 : steps.back();
}

Result<void> Flow::editSpec(const QString& name, int steps, const QString& width) {
    if (auto opened = m_hand->click("asFile"); !opened)
        return opened;
    const auto* editor = qobject_cast<QPlainTextEdit*>(m_hand->visible("specToml"));
    if (!editor)
        return late("edit the spec", "there is no text to edit");
    const QString toml = madeSmall(editor->toPlainText(), name, steps, width);
    if (auto pasted = m_hand->paste("specToml", toml); !pasted)
        return pasted;
    return m_hand->click("closeFile");
}

Result<void> Flow::launch() {
    if (auto clicked = m_hand->click("launch"); !clicked)
        return clicked;
    const auto runs = [this] { return page().isVisible() && state().startsWith("Running"); };
    if (!QTest::qWaitFor(runs, kStartMs))
        return late("launch", textsOn(window()).join(" | "));
    return {};
}

Result<void> Flow::openRun(const QString& name) {
    if (auto clicked = m_hand->click("railRuns"); !clicked)
        return clicked;
    if (auto clicked = m_hand->clickCell("runsTable", RunsModel::kName, name); !clicked)
        return clicked;
    m_hand->pressReturn();
    if (!QTest::qWaitFor([this] { return page().isVisible(); }, kSoonMs))
        return late("open " + name, "its page does not come");
    return {};
}

QSet<qint64> Flow::livePids() const {
    QSet<qint64> pids;
    for (const LiveState::NodeLink& node : m_program->engine().live(page().run()).nodes)
        for (const RankState& rank : node.state ? node.state->ranks : std::vector<RankState>())
            if (rank.pid > 0)
                pids << rank.pid;
    return pids;
}

QString Flow::straysAt(const QString& home, int ranks) const {
    QStringList wrong;
    if (trainersAt(home).size() != ranks)
        wrong << QString("%1 ranks belong at %2").arg(ranks).arg(home);
    if (ranks > 0 && trainersAt(home) != livePids())
        wrong << "the agent tells of other ranks than those that are there";
    for (const NodeProcess& process : processesAt(home))
        if (ranks == 0 || !wrong.isEmpty())
            wrong << process.command;
    return wrong.join('\n');
}

QString Flow::strays(int ranks, int ranksHere) const {
    return straysAt(m_server->home(), ranks) + straysAt(m_home.path(), ranksHere);
}

} // namespace rm::test
